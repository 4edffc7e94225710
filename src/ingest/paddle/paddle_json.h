/* paddle_json.h: Paddle's trace-event JSON (`*.paddle_trace.json`, versions 1.0.0 to 1.0.2,
 * Paddle 2 and 3). */
#ifndef INGEST_PADDLE_JSON_H
#define INGEST_PADDLE_JSON_H

#include "ingest/ingest.h"

status ingest_paddle_json(source *src, const ingest_options *o, builder *b,
                          error *err) MUST_USE;

#endif
