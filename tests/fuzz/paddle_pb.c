/* paddle_pb.c: the reader of Paddle's protobuf, from bytes to a sealed trace. Small pieces find as many
 * rows of everything as one large one, and the trace keeps its promises. */
#include "ingest/paddle/paddle_pb.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    fuzz_read_twice(ingest_paddle_pb, bytes, NULL, 1 + size % 97);
    return 0;
}
