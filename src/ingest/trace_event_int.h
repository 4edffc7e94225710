/* trace_event_int.h: what the readers of trace events share: values of arguments, and the rows that
 * mean the same in every dialect. `field` is a number the dialect's own field_of gave. */
#ifndef INGEST_TRACE_EVENT_INT_H
#define INGEST_TRACE_EVENT_INT_H

#include "ingest/trace_event.h"

static inline bool event_has(const event *e, unsigned field) {
    return e->fields >> field & 1;
}

/* Integer value of an argument; numbers in quotes count. */
int64_t event_odd_int(const event_sink *s, const raw_value *v, int64_t absent);
static inline int64_t event_int(const event_sink *s, const event *e, unsigned field,
                                int64_t absent) {
    if (!event_has(e, field)) return absent;
    const raw_value *v = &e->values[e->at[field]];
    return __builtin_expect(v->tag == VALUE_INT, 1) ? v->v : event_odd_int(s, v, absent);
}
/* Real value of an argument, NaN when it is none. */
double event_real(const event_sink *s, const event *e, unsigned field);
/* String id of an argument that is a text or raw JSON, 0 otherwise. */
uint32_t event_text(const event *e, unsigned field);
/* The builder's strings. */
intern *event_strings(event_sink *s);
builder *event_builder(event_sink *s);

/* Track of the event; UINT32_MAX when out of memory. */
uint32_t event_track(event_sink *s, const event *e);
/* Row of its category. */
uint16_t event_category(event_sink *s, const event *e);
/* Why this event cannot be kept, CAUSE_NONE when it can. A begin without a name can when
 * `nameless`. */
cause event_fault(const event *e, bool nameless);
status event_drop(event_sink *s, const event *e, cause why) MUST_USE;
status event_take_counter(event_sink *s, event *e) MUST_USE;
status event_take_instant(event_sink *s, event *e) MUST_USE;
/* An arrow's id as a number: of a text its hash. */
int64_t event_arrow_id(const event_sink *s, const event *e);
/* Drops the earlier one of two arguments with the same key, where there are such. */
status event_drop_duplicates(event_sink *s, event *e) MUST_USE;

#endif
