/* timeline_svg.h: a part of the timeline as a picture: what the page shows of it, as one SVG
 * file that follows the reader's light or dark theme and needs nothing else.
 *
 *     TRY(timeline_svg(l, &(timeline_svg_options){.from_ns = a, .to_ns = b, .width_px = 1200},
 *                      &out, &facts, err));
 *
 * Tracks are those that the page opens at first, in its order, without those that have nothing
 * in this part. Boxes of several events are paler the less of their time is busy. Where rows
 * are too many, the deep ones are stripes; where tracks are, the last are left out, and the
 * picture says how many. */
#ifndef EXPORT_TIMELINE_SVG_H
#define EXPORT_TIMELINE_SVG_H

#include "store/lod.h"
#include "text/text.h"

enum {
    TIMELINE_SVG_LEAST_PX = 400,
    TIMELINE_SVG_MOST_PX = 8000,
    TIMELINE_SVG_PX = 1400,
    TIMELINE_SVG_BYTES = 2 << 20
};

typedef struct {
    lang words;
    str title;              /* what it is a picture of */
    int64_t from_ns, to_ns; /* absolute; from < to */
    uint32_t width_px;      /* 0: TIMELINE_SVG_PX; kept within least and most */
    size_t max_bytes; /* 0: TIMELINE_SVG_BYTES; not below 24 KiB: coarser boxes, fewer rows */
} timeline_svg_options;

/* What is on it. */
typedef struct {
    uint32_t width_px, height_px;
    uint32_t n_tracks, n_left_out;
    uint32_t n_boxes;
    int64_t bucket_ns; /* shorter events that follow each other are one box */
} timeline_svg_facts;

/* Appends the file. ERR_MEMORY; ERR_FORMAT when a mapped trace is damaged. */
status timeline_svg(const lod *l, const timeline_svg_options *o, buf *out,
                    timeline_svg_facts *facts, error *err) MUST_USE;
/* The same as one sentence, for a reader who does not see it. */
void timeline_svg_describe(buf *out, const trace *t, const timeline_svg_options *o,
                           const timeline_svg_facts *facts);

#endif
