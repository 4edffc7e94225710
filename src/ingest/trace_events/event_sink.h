/* event_sink.h: where trace events arrive, one sink for each thread of the reader, and the
 * dialect that says what they mean. A producer's dialect lives in its own folder; what most
 * producers write the same way is in trace_event.h, for dialects to use. Here is what all of
 * them need: values of arguments, tracks, categories, and rows that mean the same
 * everywhere. */
#ifndef INGEST_EVENT_SINK_H
#define INGEST_EVENT_SINK_H

#include "base/map.h"
#include "ingest/trace_events/event_parser.h"

typedef struct event_sink event_sink;

/* What the root object says about the whole file. */
typedef struct {
    bool has_base;    /* times are relative to a Unix time */
    bool has_devices; /* it describes devices */
} event_root;

/* Where a dialect adds to trace_event_take. Each may be NULL. */
typedef struct {
    /* Kind of an event without a category, or with an unknown one. */
    slice_kind (*bare_kind)(event_sink *s, const event *e);
    /* The row is filled as usual and not added yet: sets right what the producer means. */
    status (*fill_slice)(event_sink *s, const event *e, raw_slice *row);
    void (*fill_kernel)(event_sink *s, const event *e, raw_kernel *kernel);
    status (*fill_op)(event_sink *s, raw_op *op);
    status (*fill_memory)(event_sink *s, const event *e, raw_memory *m);
    status (*fill_label)(event_sink *s, const event *e, raw_label *label);
    bool ends_with_empty; /* an event `{}` ends the list and is not one */
} event_hooks;

/* A producer of trace events. What is not said to may be NULL is always there. */
typedef struct {
    const event_spelling *spelling; /* as in parser_sink; may be NULL */
    uint8_t (*field_of)(str key);   /* as in parser_sink */
    /* Class of a category, CLASS_UNKNOWN or more; asked once for each. May be NULL. */
    uint8_t (*class_of)(event_sink *s, str category);
    /* What it keeps in each sink, as s->state. NULL when out of memory. */
    void *(*new_state)(builder *b, part *p);
    void (*free_state)(void *state);
    /* As parser_sink.emit: the context is the sink. */
    status (*take)(void *sink, event *e);
    event_hooks hooks; /* for trace_event_take */
    bool one_thread;   /* an event must be read before those that follow it in the file */
    /* About so many bytes of plain text will come: makes room for their rows. May be NULL. */
    void (*expect)(event_sink *s, uint64_t bytes);
    /* The events that follow are from another place of the file. May be NULL. */
    status (*begin_piece)(event_sink *s);
    /* A key of the root object; from one thread at a time. May be NULL. */
    status (*root_key)(event_sink *s, str key, str value, error *err);
    /* All events have been taken; names the format. From one thread. */
    status (*finish)(builder *b, const event_root *root, event_sink *const *sinks, int n,
                     error *err);
} dialect;

/* NULL when out of memory. `d` must outlive the sink. */
event_sink *event_sink_new(builder *b, const dialect *d);
void event_sink_free(event_sink *s);

/* ---- for dialects ---- */

/* A category that the dialect does not know; its own classes are larger. */
enum { CLASS_UNKNOWN = 1 };

typedef struct {
    uint32_t id; /* of the string */
    uint16_t row;
    uint8_t class; /* by dialect.class_of; 0 = not asked for yet */
} category_info;

typedef struct {
    uint32_t d[3];
} event_dims;

/* A track that was asked for. */
typedef struct {
    ident pid, tid;
    uint32_t track, has; /* track + 1, 0: none; EVENT_PID and EVENT_TID */
} known_track;
enum { N_KNOWN_TRACKS = 4 };

/* Dialects use the first group; the rest belongs to the functions below and to
 * trace_event.c. */
struct event_sink {
    builder *b;
    part *part;
    event_parser *parser;
    intern *strings;
    const dialect *dialect;
    void *state; /* the dialect's */

    vec categories;           /* category_info, a dozen */
    category_info last[8];    /* one for each remainder of a string id */
    ident last_pid, last_tid; /* of the last event, and its track + 1 */
    uint32_t last_track, last_has;
    known_track tracks[N_KNOWN_TRACKS]; /* by the low bits of the thread */
    vec names;                          /* uint8_t by string id */
    map dims;                           /* string id of a grid or block → row of dim_rows */
    vec dim_rows;                       /* event_dims */
};

/* A word and what it stands for in some table. */
typedef struct {
    str word;
    uint8_t value;
} event_word;
/* The value of a word of the table, 0 when it is not in it. */
uint8_t event_find_word(const event_word *table, size_t n, str word);

/* `field` is a number that the dialect's field_of gave. */
static inline bool event_has(const event *e, unsigned field) {
    return e->fields >> field & 1;
}

/* event_int of a value that is not a plain integer. */
int64_t event_odd_int(const event_sink *s, const raw_value *v, int64_t absent);
/* Integer value of an argument; numbers in quotes count. */
static inline int64_t event_int(const event_sink *s, const event *e, unsigned field,
                                int64_t absent) {
    if (!event_has(e, field)) return absent;
    const raw_value *v = &e->values[e->at[field]];
    return __builtin_expect(v->tag == VALUE_INT, 1) ? v->v : event_odd_int(s, v, absent);
}
/* Real value of an argument, NaN when it is not a number. */
double event_real(const event_sink *s, const event *e, unsigned field);
/* String id of an argument that is a text or raw JSON, 0 otherwise. */
uint32_t event_text(const event *e, unsigned field);

/* Process and thread of the event, IDENT_NONE when it does not say. */
static inline ident event_pid(const event *e) {
    return e->has & EVENT_PID ? e->pid : IDENT_NONE;
}
static inline ident event_tid(const event *e) {
    return e->has & EVENT_TID ? e->tid : IDENT_NONE;
}

/* event_track for a thread other than that of the last event. */
uint32_t event_new_track(event_sink *s, const event *e);
/* Track of the event; UINT32_MAX when out of memory. Events of one thread follow each other. */
static inline uint32_t event_track(event_sink *s, const event *e) {
    uint32_t has = e->has & (EVENT_PID | EVENT_TID);
    if (has == s->last_has && s->last_track && ident_eq(e->pid, s->last_pid) &&
        ident_eq(e->tid, s->last_tid))
        return s->last_track - 1;
    return event_new_track(s, e);
}

category_info event_find_category(event_sink *s, uint32_t id);
/* Row and class of the event's category. */
static inline category_info event_category(event_sink *s, const event *e) {
    uint32_t id = e->category;
    category_info *last = &s->last[id % (sizeof s->last / sizeof *s->last)];
    if (last->id != id || last->class == 0) *last = event_find_category(s, id);
    return *last;
}

#define EVENT_TIME_LIMIT ((int64_t)1 << 61)
/* event_fault for an event that is not as usual. */
cause event_odd_fault(const event *e, bool nameless);
/* Why this event cannot be kept, CAUSE_NONE when it can. A begin without a name can when
 * `nameless`. */
static inline cause event_fault(const event *e, bool nameless) {
    uint32_t has = e->has & (EVENT_NAME | EVENT_TS | EVENT_BAD_TIME);
    bool usual = has == (EVENT_NAME | EVENT_TS) && e->ts_ns > -EVENT_TIME_LIMIT &&
                 e->ts_ns < EVENT_TIME_LIMIT;
    if (e->has & EVENT_DUR) usual &= (uint64_t)e->dur_ns < (uint64_t)EVENT_TIME_LIMIT;
    return usual ? CAUSE_NONE : event_odd_fault(e, nameless);
}
/* Counts an event that is not kept. */
status event_drop(event_sink *s, const event *e, cause why) MUST_USE;

status event_drop_earlier(event_sink *s, event *e) MUST_USE;
/* Drops the earlier one of two arguments with the same key, where there are such. */
static inline MUST_USE status event_drop_duplicates(event_sink *s, event *e) {
    return __builtin_expect(e->duplicate, 0) ? event_drop_earlier(s, e) : OK;
}

/* Adds a counter with a sample for each argument, and a point in time. */
status event_take_counter(event_sink *s, event *e) MUST_USE;
status event_take_instant(event_sink *s, event *e) MUST_USE;
/* An arrow's id as a number: of a text its hash. */
int64_t event_arrow_id(const event_sink *s, const event *e);
/* Keeps a key of the root object as metadata. */
status event_add_meta(event_sink *s, str key, str value, error *err) MUST_USE;

#endif
