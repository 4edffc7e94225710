/* source.h: bytes from a file, a pipe, a gzip or zstd stream, as a sequence of pieces.
 *
 * Bytes are read or inflated into buffers of the source: what a parser sees is its own,
 * whatever becomes of the file. A piece is followed by at least SOURCE_PAD readable bytes, so
 * that a parser may look ahead in words. gzip (several members) and zstd (several frames) are
 * recognized by magic, never by name.
 *
 *     source *s;
 *     TRY(source_open(path, &s, err));
 *     for (piece pc; (st = source_next(s, 4 << 20, keep, &pc, err)) == OK && pc.n > 0;) {
 *         keep = parse(pc.p, pc.n);     bytes of an event cut by the border
 *         source_release(s, &pc);
 *     }
 *     source_close(s);
 */
#ifndef IO_SOURCE_H
#define IO_SOURCE_H

#include "base/status.h"

#define SOURCE_PAD 256

typedef struct source source;

typedef enum { CODEC_NONE = 0, CODEC_GZIP, CODEC_ZSTD } codec;

/* path "-" is standard input; a URL (remote.h) is read over the network. Empty files open;
 * folders, pipes and devices are ERR_ARG: who puts one among files of a run would have it
 * waited for. */
status source_open(const char *path, source **out, error *err) MUST_USE;
/* The same for a path that the user named: it may be a pipe or a device, and is waited for. */
status source_open_named(const char *path, source **out, error *err) MUST_USE;
/* From here on only files below the folder are opened, wherever links lead: ERR_NOT_FOUND for
 * others, for standard input and for URLs. The folder is a real path that lives as long as
 * anything is opened; NULL: any file again. No other thread may run. */
void source_confine(const char *folder);
const char *source_confined(void); /* that folder, or NULL */
/* Is this open file or folder below it? Check the descriptor, not the path: the path may be
 * swapped in between. True where nothing is confined. */
bool source_is_within(int fd);
/* Bytes in memory (tests, fuzzing); they must live as long as the source. Padding is not
 * needed. */
status source_open_memory(str bytes, source **out, error *err) MUST_USE;
/* Every piece must have been released or is invalid from here on. NULL is allowed. */
void source_close(source *s);

/* The first bytes, up to n, without taking them: fewer only when there are no more. To be
 * called before the first source_next; valid until then. */
status source_peek(source *s, size_t n, str *head, error *err) MUST_USE;

/* To be called before the first source_next. With n ≥ 2 a thread of the source reads and
 * inflates ahead of the reader, up to three pieces of the size of the first `want`. When no
 * thread can be had, the source works without. */
void source_set_threads(source *s, int n);

codec source_codec(const source *s);
/* The open file, for libraries that read it themselves: opened by its path once more it may be
 * another. -1: it has none. Valid until source_close. */
int source_descriptor(const source *s);
/* Size on disk, or 0 when not known (a pipe); bytes of it consumed so far (for progress). */
uint64_t source_file_bytes(const source *s);
uint64_t source_bytes_consumed(const source *s);

/* The next `want` bytes, fewer only at the end, as one contiguous piece. `keep` bytes from the
 * end of the previous piece (at most all of it) are repeated at its start and not counted in
 * `want`, so that an event cut by a border is whole again; the previous piece may have been
 * released before. n == 0: the end, nothing is repeated. The piece is valid until
 * source_release is called with it; several may be outstanding (parallel parsing), any thread
 * may release. Only one thread may call source_next at a time. The same `want` every time is
 * the fast case. A damaged or cut compressed stream ends early: everything before the damage is
 * delivered, then n == 0 and source_damage says what happened. ERR_IO when the system fails to
 * read; it stays. */
typedef struct {
    const char *p;
    size_t n;
    uint64_t offset; /* of p in the decompressed stream */
    void *buffer;    /* private */
} piece;
status source_next(source *s, size_t want, size_t keep, piece *out, error *err) MUST_USE;
/* Sets pc->n to 0; releasing the piece that said "the end" does nothing. */
void source_release(source *s, piece *pc);

/* True when the stream ended before its end or was damaged; known once source_next said the
 * end. */
bool source_damaged(const source *s);
/* The reason, a message without values; MSG_NONE when there is no damage. */
uint16_t source_damage(const source *s);

#endif
