/* trace_json.h: reads a whole file of trace events in the words of a dialect. */
#ifndef INGEST_TRACE_JSON_H
#define INGEST_TRACE_JSON_H

#include "ingest/ingest.h"
#include "ingest/trace_events/event_sink.h"

/* The most sinks that dialect.finish is given. */
enum { TRACE_EVENTS_MAX_THREADS = 64 };

/* ERR_FORMAT when it holds no list of events. */
status ingest_trace_events(source *src, const ingest_options *o, builder *b, const dialect *d,
                           error *err) MUST_USE;

#endif
