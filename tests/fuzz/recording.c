/* recording.c: a recording made by an enemy. The input is a recording without the zeros: a header of
 * 512 bytes, then pieces of 256 bytes, each the beginning of a chunk. What is read must be a sound
 * trace. */
#include <tacho/format.h>

#include "fuzz/fuzz_trace.h"
#include "ingest/recording/recording.h"

enum { HEADER = 512, PIECE = 256, MOST_PIECES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static _Alignas(64) uint8_t file[TACHO_FILE_HEADER_BYTES + MOST_PIECES * TACHO_CHUNK_BYTES];
    size_t pieces = size > HEADER ? (size - HEADER + PIECE - 1) / PIECE : 0;
    if (pieces > MOST_PIECES) pieces = MOST_PIECES;
    memset(file, 0, TACHO_FILE_HEADER_BYTES + pieces * TACHO_CHUNK_BYTES);
    memcpy(file, data, size < HEADER ? size : HEADER);
    for (size_t i = 0; i < pieces; i++) {
        size_t from = HEADER + i * PIECE, n = size - from < PIECE ? size - from : PIECE;
        memcpy(file + TACHO_FILE_HEADER_BYTES + i * TACHO_CHUNK_BYTES, data + from, n);
    }
    source *s;
    trace *t;
    ingest_options o = {.memory_limit_bytes = 512 << 20};
    builder *b = builder_new();
    str bytes = str_n((const char *)file, TACHO_FILE_HEADER_BYTES + pieces * TACHO_CHUNK_BYTES);
    if (!b || source_open_memory(bytes, &s, NULL) != OK) return 0;
    status st = ingest_recording(s, &o, b, NULL);
    source_close(s);
    if (st == OK && builder_seal(b, NULL, &t, NULL) == OK) {
        check_trace(t);
        trace_release(t);
    }
    builder_free(b);
    return 0;
}
