/* picture.h: a part of the timeline as a picture, as the options ask for it. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "cli/open.h"
#include "export/timeline_svg.h"

/* The width is one that a picture may have, and asked of a picture. */
status picture_check(const options *o, error *err) MUST_USE;
/* The part of the trace that was asked for, as offsets; steps are the time that they take. */
status picture_window(const options *o, const trace *t, time_window *out, error *err) MUST_USE;
/* "run · worker": what is in the picture; {NULL, 0} when out of memory. */
str picture_title(opened_input *x);
/* Draws the chosen trace in at most this many bytes. *how: as it was drawn. */
status picture_draw(const options *o, opened_input *x, size_t max_bytes, buf *svg,
                    timeline_svg_options *how, timeline_svg_facts *facts, error *err) MUST_USE;

#endif
