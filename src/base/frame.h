/* frame.h: typed arrays in one answer, for readers that lay their own arrays over the bytes.
 *
 *    0  magic, 8 bytes     8  u32 version, 1     12  u32 length H of the description
 *   16  description, JSON, padded with blanks    16 + H  blocks
 *
 * All numbers are little-endian; every block starts at a multiple of 8 bytes. What the
 * description says, and how a block is made, is its writer's: binary columns (present/), blocks
 * (serve/). */
#ifndef BASE_FRAME_H
#define BASE_FRAME_H

#include "base/buf.h"

/* Bytes that a block of n bytes takes. */
static inline uint64_t frame_room(uint64_t n) {
    return (n + 7) / 8 * 8;
}
/* All that comes before the blocks. The description is freed; if it failed, so does `out`. */
void frame_begin(buf *out, const char magic[8], buf *description);
/* After a block of n bytes. */
void frame_pad(buf *out, uint64_t n);

#endif
