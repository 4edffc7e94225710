/* triton_requests.c: requests of a server from any bytes to a sealed trace that keeps its
 * promises. */
#include "ingest/serving/triton_requests.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)triton_requests_head(bytes);
    fuzz_read_twice(ingest_triton_requests, bytes, NULL, 1 + size % 97);
    return 0;
}
