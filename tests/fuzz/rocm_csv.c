/* rocm_csv.c: a table of rocprofv3 from any bytes to a sealed trace that keeps its promises. */
#include "fuzz/fuzz_read.h"
#include "ingest/rocm/rocm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)rocm_csv_head(bytes);
    fuzz_read_twice(ingest_rocm_csv, bytes, NULL, 1 + size % 97);
    return 0;
}
