/* perfetto.c: Perfetto's packets from any bytes to a sealed trace. Small pieces find as many rows
 * of everything as one large one, and the trace keeps its promises. */
#include "ingest/perfetto/perfetto.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    (void)perfetto_head(bytes);
    fuzz_read_twice(ingest_perfetto, bytes, NULL, 1 + size % 97);
    return 0;
}
