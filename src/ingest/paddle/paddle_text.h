/* paddle_text.h: the texts of Paddle's trace files that are not what JSON says they are. */
#ifndef INGEST_PADDLE_TEXT_H
#define INGEST_PADDLE_TEXT_H

#include "base/buf.h"
#include "ingest/trace_events/event_parser.h"

/* For parser_dialect: names with their duration after them, `12(Python)` for a thread. */
const char *paddle_name(const char *start, const char *p, const char *end,
                        event_parser_name *out);
const char *paddle_thread(const char *p, const char *end, int64_t *id);

/* The name without its duration: "conv2d[12.345 us]" is "conv2d". Unchanged when it has
 * none. */
str paddle_bare_name(str name);

/* "thread 12:MainThread(Python)" is MainThread; empty when the thread has no name. */
str paddle_thread_name(str label);

/* A Python traceback as text (outermost call first) to frames joined by ';', innermost first,
 * each "file.py(12): function". Nothing when there is no frame in it. */
void paddle_stack(str text, buf *out);

#endif
