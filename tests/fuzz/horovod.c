/* horovod.c: timelines of Horovod, from bytes to a sealed trace. Two threads with small pieces find
 * what one finds, and the trace keeps its promises. */
#include "fuzz/fuzz_read.h"
#include "ingest/horovod/horovod_timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    (void)horovod_head(text);
    fuzz_read_twice(ingest_horovod, text, fuzz_two(), 40 + size % 97);
    return 0;
}
