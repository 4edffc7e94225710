/* io_helper.h: what the tests of io/ share: texts, compressed forms of them, files, reading
 * all. */
#ifndef UNIT_IO_HELPER_H
#define UNIT_IO_HELPER_H

#include "base/buf.h"
#include "io/source_int.h"

/* n bytes that look like a trace and hardly repeat at a distance; the same for the same seed.
 * */
buf text_of(size_t n, uint32_t seed);
buf gzip_of(str s, int level);
buf zstd_of(str s, int level);
/* A separate file in the folder for temporary files; remove it with file_gone. */
char *file_of(str s);
void file_gone(char *path);

typedef struct {
    size_t want, keep; /* keep: of each piece, at most its own length */
    int threads;
    bool hold_all; /* releases every piece only at the end, checking them again */
} read_plan;
/* Reads all of s and closes it. Fails the test when a piece is not what the pieces before it
 * and the header promise; what was read is returned. */
buf read_all(source *s, read_plan plan, uint16_t *damage);
buf read_memory_all(str s, read_plan plan, uint16_t *damage);

/* A stream over s, read to its end in portions of `portion`, and freed. */
buf stream_all(stream *(*make)(reader *), str s, size_t portion, uint16_t *damage);

/* Each byte changed in turn (one of 1,999) leaves the same bytes, in portions of any size. */
void assert_portions_agree_on_damage(stream *(*make)(reader *), buf *packed);

#endif
