/* request_log.c: a log of requests from any bytes to a sealed trace that keeps its promises. */
#include "ingest/serving/request_log.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)request_log_head(bytes);
    fuzz_read_twice(ingest_request_log, bytes, NULL, 1 + size % 97);
    return 0;
}
