/* timeline.h: what the timeline shows, for other clients than the page: as fine and as large as
 * wanted. */
#ifndef SERVE_TIMELINE_H
#define SERVE_TIMELINE_H

#include "serve/service.h"

/* The answer of /viewport to an opened request, with any width, and any size (0: as over
 * HTTP). */
status timeline_picture(request_ctx *x, uint32_t width_px, uint32_t max_bytes,
                        error *err) MUST_USE;
/* Everything about one slice, as /slice answers, appended to the reply; without the comparison
 * with others of its name, which looks at all of them. */
status timeline_slice(request_ctx *x, uint32_t id, error *err) MUST_USE;

#endif
