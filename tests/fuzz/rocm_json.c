/* rocm_json.c: rocprofv3's JSON from any bytes to a sealed trace. Small pieces find as many rows
 * of everything as one large one, and the trace keeps its promises. */
#include "fuzz/fuzz_read.h"
#include "ingest/rocm/rocm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)rocm_json_head(bytes);
    fuzz_read_twice(ingest_rocm_json, bytes, NULL, 1 + size % 97);
    return 0;
}
