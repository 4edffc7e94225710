/* speedscope_profile.c: a profile of call stacks from any bytes to a sealed trace that keeps its promises. */
#include "fuzz/fuzz_read.h"
#include "ingest/profiles/profiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)speedscope_head(bytes);
    fuzz_read_twice(ingest_speedscope, bytes, NULL, 1 + size % 97);
    return 0;
}
