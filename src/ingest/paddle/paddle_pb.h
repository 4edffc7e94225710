/* paddle_pb.h: Paddle's protobuf trace, `*.paddle_trace.pb` (Paddle 2 and 3). */
#ifndef INGEST_PADDLE_PB_H
#define INGEST_PADDLE_PB_H

#include "ingest/ingest.h"

status ingest_paddle_pb(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

#endif
