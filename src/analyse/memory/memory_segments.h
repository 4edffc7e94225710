/* memory_segments.h: what of an allocator's segments is free, and whether it could be given
 * back. */
#ifndef ANALYSE_MEMORY_SEGMENTS_H
#define ANALYSE_MEMORY_SEGMENTS_H

#include "analyse/memory/memory_parts.h"

/* `cached`: bytes of segments (of pieces of expandable ones) without a block; `gaps`: free
 * bytes of the others. Both 0 where the recording has no segments. */
status memory_free_space(const trace *t, const memory_moment *at, arena *a, int64_t *cached,
                         int64_t *gaps, error *err) MUST_USE;

#endif
