/* megengine.c: MegEngine's timelines and static profiles, from bytes to a sealed trace. Two threads
 * with small pieces find of a timeline what one finds, and every trace keeps its promises. */
#include "ingest/megengine/megengine.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    fuzz_read_twice(ingest_megengine, text, fuzz_two(), 60 + size % 97);
    trace *t = fuzz_read(ingest_megengine_static, text, NULL, 0);
    if (t) check_trace(t);
    trace_release(t);
    return 0;
}
