/* trace_event.h: one trace event to rows of the builder: what Kineto's categories and Chrome's
 * phases mean in our words. One sink per thread. */
#ifndef INGEST_TRACE_EVENT_H
#define INGEST_TRACE_EVENT_H

#include "ingest/layout.h"

typedef struct event_sink event_sink;

/* Whose words the events are in. */
typedef enum { EVENTS_OF_KINETO, EVENTS_OF_PADDLE } event_words;

event_sink *event_sink_new(builder *b, event_words words); /* NULL when out of memory */
void event_sink_free(event_sink *s);
layout *event_sink_layout(event_sink *s);
part *event_sink_part(event_sink *s);
/* Paddle: what is known of the clock and of devices; NULL for other words. */
struct paddle_facts *event_sink_paddle(event_sink *s);
/* Has a category of Kineto been seen? */
bool event_sink_is_kineto(const event_sink *s);

#endif
