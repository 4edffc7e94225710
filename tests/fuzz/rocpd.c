/* rocpd.c: rocprofv3's databases from any bytes to a sealed trace. */
#include "fuzz/fuzz_read.h"
#include "ingest/rocm/rocm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)rocpd_head(bytes);
    fuzz_read_twice(ingest_rocpd, bytes, NULL, 1 + size % 997);
    return 0;
}
