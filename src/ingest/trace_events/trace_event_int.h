/* trace_event_int.h: what the readers of trace events share: values of arguments, and the rows that
 * mean the same in every dialect. `field` is a number the dialect's own field_of gave. */
#ifndef INGEST_TRACE_EVENT_INT_H
#define INGEST_TRACE_EVENT_INT_H

#include "base/map.h"
#include "ingest/trace_events/trace_event.h"

typedef struct {
    uint32_t id;
    uint16_t row;
    uint8_t class;
} category_info;

/* A process or thread that stands for a stream of a device, or for several of them together. */
typedef struct {
    ident pid, tid;
    bool is_thread; /* of the process; else all threads that have no row of their own */
    int32_t device;
    int64_t stream; /* ABSENT_I64: what several do, told again */
    bool copies;    /* all it does are copies */
} stream_process;

/* A track that was asked for. */
typedef struct {
    ident pid, tid;
    uint32_t track, has; /* track + 1, 0: none; EVENT_PID and EVENT_TID */
} known_track;
enum { N_KNOWN_TRACKS = 4 };

struct event_sink {
    builder *b;
    part *part;
    event_parser *parser;
    intern *strings;
    vec categories;           /* category_info, a dozen */
    category_info last[8];    /* one for each remainder of a string id */
    ident last_pid, last_tid; /* of the last event, and its track + 1 */
    uint32_t last_track, last_has;
    known_track tracks[N_KNOWN_TRACKS]; /* by the low bits of the thread */
    vec names;                          /* uint8_t by string id */
    map dims;                           /* string id of a grid or block → row of dim_rows */
    vec dim_rows;
    bool kineto;
    bool ascend;         /* tasks of an Ascend were seen */
    uint8_t device_type; /* by the categories, 0 when they name none */
    uint64_t devices;    /* numbers of devices that did something, one bit each */
    bool tensorflow;     /* names tell the streams: of processes, or of threads of a device */
    vec streams;         /* stream_process */
    struct paddle_facts *paddle; /* NULL: the words are Kineto's */
    const dialect *dialect;      /* NULL: Kineto and Chrome */
    void *state;                 /* the dialect's */
};

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

/* Track of the event; UINT32_MAX when out of memory. Events of one thread follow each other. */
uint32_t event_new_track(event_sink *s, const event *e);
static inline uint32_t event_track(event_sink *s, const event *e) {
    uint32_t has = e->has & (EVENT_PID | EVENT_TID);
    if (has == s->last_has && s->last_track && e->pid.v == s->last_pid.v &&
        e->tid.v == s->last_tid.v && e->pid.text == s->last_pid.text &&
        e->tid.text == s->last_tid.text)
        return s->last_track - 1;
    return event_new_track(s, e);
}
/* Row of its category. */
uint16_t event_category(event_sink *s, const event *e);
/* Why this event cannot be kept, CAUSE_NONE when it can. A begin without a name can when
 * `nameless`. */
cause event_odd_fault(const event *e, bool nameless);
#define EVENT_TIME_LIMIT ((int64_t)1 << 61)
static inline cause event_fault(const event *e, bool nameless) {
    uint32_t has = e->has & (EVENT_NAME | EVENT_TS | EVENT_BAD_TIME);
    bool usual = has == (EVENT_NAME | EVENT_TS) && e->ts_ns > -EVENT_TIME_LIMIT &&
                 e->ts_ns < EVENT_TIME_LIMIT;
    if (e->has & EVENT_DUR) usual &= (uint64_t)e->dur_ns < (uint64_t)EVENT_TIME_LIMIT;
    return usual ? CAUSE_NONE : event_odd_fault(e, nameless);
}
status event_drop(event_sink *s, const event *e, cause why) MUST_USE;
status event_take_counter(event_sink *s, event *e) MUST_USE;
status event_take_instant(event_sink *s, event *e) MUST_USE;
/* An arrow's id as a number: of a text its hash. */
int64_t event_arrow_id(const event_sink *s, const event *e);
/* Drops the earlier one of two arguments with the same key, where there are such. */
status event_drop_earlier(event_sink *s, event *e) MUST_USE;
static inline MUST_USE status event_drop_duplicates(event_sink *s, event *e) {
    return __builtin_expect(e->duplicate, 0) ? event_drop_earlier(s, e) : OK;
}

#endif
