/* trace_event.h: one trace event to rows of the builder: what Kineto's categories and Chrome's
 * phases mean in our words. One sink per thread. A producer with words of its own has a dialect,
 * which takes the events in its place. */
#ifndef INGEST_TRACE_EVENT_H
#define INGEST_TRACE_EVENT_H

#include "ingest/trace_events/event_parser.h"

typedef struct event_sink event_sink;

/* Whose words the events are in. */
typedef enum {
    EVENTS_OF_KINETO,
    EVENTS_OF_PADDLE,
    EVENTS_OF_MEGENGINE,
    EVENTS_OF_TENSORFLOW
} event_words;

/* A producer whose events have so little in common with Kineto's that they are taken elsewhere. */
typedef struct {
    const char *format;             /* of the trace */
    uint8_t (*field_of)(str key);   /* as in parser_sink; numbers of its own */
    const parser_dialect *spelling; /* as in parser_sink */
    status (*take)(event_sink *s, event *e);
    size_t state_bytes; /* of its own in each sink, zeroed; event_sink_state */
    void (*init)(void *state);
    void (*fini)(void *state); /* frees what the state holds */
    /* As event_sink_expect; may be NULL. */
    void (*expect)(event_sink *s, uint64_t bytes);
    /* A key of the root object; from one thread at a time. */
    status (*root_key)(builder *b, str key, str value, error *err);
    /* All events have been taken; from one thread. */
    status (*finish)(builder *b, event_sink *const *sinks, int n, error *err);
} dialect;
/* NULL: the events are taken here. */
const dialect *event_dialect(event_words words);

event_sink *event_sink_new(builder *b, event_words words); /* NULL when out of memory */
/* About so many bytes of plain text will come: a dialect makes room for what it makes of them. */
void event_sink_expect(event_sink *s, uint64_t bytes);
void event_sink_free(event_sink *s);
event_parser *event_sink_parser(event_sink *s);
part *event_sink_part(event_sink *s);
/* Paddle: what is known of the clock and of devices; NULL for other words. */
struct paddle_facts *event_sink_paddle(event_sink *s);
/* Of the dialect. */
void *event_sink_state(event_sink *s);
/* What the categories say of the devices: their type (0: nothing), their numbers below 64 one bit
 * each, and whether they are Ascends in the words of torch_npu. */
uint8_t event_sink_device_type(const event_sink *s);
uint64_t event_sink_devices(const event_sink *s);
bool event_sink_is_ascend(const event_sink *s);
/* Has a category of Kineto been seen? */
bool event_sink_is_kineto(const event_sink *s);

#endif
