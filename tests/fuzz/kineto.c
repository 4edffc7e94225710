/* kineto.c: the whole reader of trace-event JSON, from bytes to a sealed trace. Two threads with
 * small pieces find as many rows of everything as one thread with one piece, and the trace keeps its
 * promises. */
#include "ingest/pytorch/kineto.h"
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    fuzz_read_twice(ingest_trace_json, text, fuzz_two(), 40 + size % 97);
    return 0;
}
