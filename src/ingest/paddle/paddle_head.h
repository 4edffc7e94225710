/* paddle_head.h: what the first bytes of a Paddle trace say: that it is one, and which
 * recording of its process it holds. */
#ifndef INGEST_PADDLE_HEAD_H
#define INGEST_PADDLE_HEAD_H

#include "base/str.h"

/* Do these bytes begin a `.paddle_trace.pb`? */
bool paddle_pb_head(str head);
/* Number of the recording (span_indx, span_index), from 0; false when it is missing. */
bool paddle_json_span(str head, int64_t *number);
bool paddle_pb_span(str head, int64_t *number);

#endif
