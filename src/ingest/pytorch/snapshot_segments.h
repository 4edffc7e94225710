/* snapshot_segments.h: the segments an allocator had when the history of a snapshot begins.
 *
 *     segment_made, segment_released …   the history, in its order
 *     segment_released …                 the segments it ended with
 *     segment_search_end
 *     while (segment_next(&s, &range)) … */
#ifndef INGEST_SNAPSHOT_SEGMENTS_H
#define INGEST_SNAPSHOT_SEGMENTS_H

#include "base/map.h"
#include "base/vec.h"

typedef struct {
    uint64_t address;
    int64_t bytes;
} segment_range;

typedef struct {
    map alive;       /* address → place in made */
    vec made, edges; /* segment_range, without bytes: gone again; sort_pair */
    size_t at;       /* of the walk: the next edge */
    int64_t covered; /* ranges around it */
} segment_search;

void segment_search_init(segment_search *s);
void segment_search_fini(segment_search *s);
status segment_made(segment_search *s, segment_range r, error *err) MUST_USE;
status segment_released(segment_search *s, segment_range r, error *err) MUST_USE;
status segment_search_end(segment_search *s, error *err) MUST_USE;
/* The next one that was there at the start, by address; false: that was the last. */
bool segment_next(segment_search *s, segment_range *out);

#endif
