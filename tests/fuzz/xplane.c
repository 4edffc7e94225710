/* xplane.c: the reader of XLA's profiles, from bytes to a sealed trace. Small pieces find as many
 * rows of everything as one large one, and the trace keeps its promises. */
#include "ingest/xplane/xplane.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)xplane_head(bytes);
    fuzz_read_twice(ingest_xplane, bytes, NULL, 1 + size % 97);
    return 0;
}
