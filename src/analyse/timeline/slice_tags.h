/* slice_tags.h: what a slice belongs to besides its name, for the colors of the timeline.
 *
 *   stage    data loading, forward, backward, optimizer: stage + 1, of the moment it starts;
 *            device work has that of its launch
 *   module   the innermost module around it, the string of its name; backward work has the
 *            module of the matching forward operator, device work that of its operator
 *   line     the line of the program, the string of its frame; device work that of its launch
 *
 * 0 when it belongs to none. */
#ifndef ANALYSE_SLICE_TAGS_H
#define ANALYSE_SLICE_TAGS_H

#include "analyse/operators/line_of.h"
#include "analyse/steps/stages.h"
#include "base/map.h"

typedef enum { TAG_NONE, TAG_STAGE, TAG_MODULE, TAG_LINE } tag_kind;

typedef struct {
    const trace *t;
    tag_kind kind;
    stage_segments stages;
    map forward; /* of TAG_MODULE: backward slice → forward slice */
    line_view lines;
} tagger;

status tagger_begin(const trace *t, tag_kind kind, arena *a, tagger *out, error *err) MUST_USE;
void tagger_end(tagger *g);
uint32_t tag_of(tagger *g, uint32_t slice);

#endif
