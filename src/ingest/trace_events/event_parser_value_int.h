/* event_parser_value_int.h: the values of an event, as far as they are what they usually are:
 * inline, for the loop in event_parser.c alone. The rest is in event_parser_value.c and
 * event_parser_text.c. */
#ifndef INGEST_EVENT_PARSER_VALUE_INT_H
#define INGEST_EVENT_PARSER_VALUE_INT_H

#include "base/json.h"
#include "ingest/trace_events/event_parser_int.h"

/* What seldom happens when a value is added: too many, or a key for the second time. False when
 * there is no room for it: values and places must stay one path, so the first ones are kept. */
bool parser_odd_room(event_parser *l, const node *n);
/* A time that the quick scan could not read: whole, negative or very long ones, with an
 * exponent or in quotes. */
const char *parser_other_time(event_parser *l, const char *p, const char *end, int64_t *ns,
                              uint32_t bit);
/* A process, thread or arrow id that is not a plain number. */
const char *parser_odd_ident(event_parser *l, node *n, const char *p, const char *end,
                             ident *out);
/* A bare word: true, false, null, or something that JSON does not know. */
const char *parser_word(event_parser *l, const node *n, const char *p, const char *end);
/* A name in the dialect's way. */
const char *parser_dialect_name(event_parser *l, const char *p, const char *end);
/* A time as text in the dialect's way, NULL when it is another text. */
const char *parser_dialect_time(event_parser *l, const node *n, const char *p, const char *end);

/* Appends an argument value to the event. Without a number of the reader's the field is 0,
 * whose place in `at` is never read. */
static inline void parser_add(event_parser *l, const node *n, uint8_t tag, uint8_t digits,
                              int64_t v) {
    event *e = &l->e;
    if (__builtin_expect(e->n_values == MAX_VALUES || n->duplicate, 0) &&
        !parser_odd_room(l, n))
        return;
    size_t i = e->n_values++;
    e->values[i] = (raw_value){.place = n->at.place, .tag = tag, .digits = digits, .v = v};
    e->keys[i] = n->key;
    e->fields |= n->field_bit;
    e->at[n->arg_field] = (uint16_t)i;
}

static inline void parser_follow(event_parser *l, uint32_t id) {
    l->history = l->history << FOLLOW_BITS ^ parser_mix(id);
}

/* The string whose quote is at p: its id, and *next one past the closing quote. *next is NULL
 * when the bytes end first. Where the texts before it do not tell which it is, they are not
 * asked first: the table next_texts is large, and to look into it for nothing costs more than
 * to compare. */
static inline uint32_t parser_read_string(event_parser *l, node *n, const char *p,
                                          const char *end, const char **next) {
    uint32_t id;
    const next_text *g =
        parser_asks_next(n) ? parser_next_text(l, n) : parser_cached_text(l, p);
    if (__builtin_expect(parser_is_text(g, p, end), 1)) {
        id = g->id;
        *next = p + 2 + g->n;
        if (n->surprises > 0 && n->surprises < MANY_SURPRISES) n->surprises--;
    } else {
        id = parser_new_string(l, n, p, end, next);
    }
    parser_follow(l, id);
    return id;
}

/* A name that is a known word and a number which the dialect cuts off: one past its closing
 * quote, NULL when it is another. */
static inline const char *parser_prefix(event_parser *l, const char *p, const char *end) {
    const name_prefix *s = parser_prefix_of(l, p);
    if (!s->n || !scan_equal(p, s->bytes, s->n)) return NULL;
    const char *number = p + s->n;
    unsigned digits = scan_count(scan_less_zero(number));
    if (digits - 1 >= 7 || number[digits] != '"' || number + digits >= end) return NULL;
    l->e.name = s->id;
    l->e.has |= EVENT_NAME;
    l->string_start = p;
    parser_follow(l, s->id);
    return number + digits + 1;
}

/* The array or object at p, likewise. */
static inline uint32_t parser_read_raw(event_parser *l, const node *n, const char *p,
                                       const char *end, const char **next) {
    next_text *g = parser_next_text(l, n);
    uint32_t id = g->id;
    if (WITHOUT == THE_NEXT_TEXTS)
        id = parser_new_raw(l, p, end, g, next);
    else if (__builtin_expect(parser_is_raw(g, p, end), 1))
        *next = p + (g->n ^ NEXT_TEXT_RAW);
    else
        id = parser_new_raw(l, p, end, g, next);
    parser_follow(l, id);
    return id;
}

static inline const char *parser_time(event_parser *l, const char *p, const char *end,
                                      int64_t *ns, uint32_t bit) {
    const char *stop = scan_micros(p, end, ns);
    if (__builtin_expect(stop != NULL, 1)) {
        l->e.has |= bit;
        return stop;
    }
    return parser_other_time(l, p, end, ns, bit);
}

/* A process, thread or arrow id. */
static inline const char *parser_ident(event_parser *l, node *n, const char *p, const char *end,
                                       ident *out) {
    scanned s;
    const char *stop = *p == '"' ? NULL : scan_number(p, end, &s);
    if (__builtin_expect(!stop || s.digits, 0)) return parser_odd_ident(l, n, p, end, out);
    *out = (ident){s.v, false};
    return stop;
}

/* One argument value. Returns its end, NULL when the bytes end first. */
static inline const char *parser_arg(event_parser *l, node *n, const char *p, const char *end) {
    scanned s;
    const char *stop;
    char c = *p;
    if (c == '"') {
        if (n->time_text && (stop = parser_dialect_time(l, n, p, end))) return stop;
        uint32_t id = parser_read_string(l, n, p, end, &stop);
        if (!stop) return NULL;
        l->string_start = p;
        parser_add(l, n, VALUE_STRING, 0, id);
        return stop;
    }
    if (c == '[' || c == '{') {
        uint32_t id = parser_read_raw(l, n, p, end, &stop);
        if (!stop) return NULL;
        parser_add(l, n, VALUE_RAW, 0, id);
        return stop;
    }
    stop = scan_number(p, end, &s);
    if (__builtin_expect(stop != NULL && s.exact, 1)) {
        parser_add(l, n, s.digits ? VALUE_DECIMAL : VALUE_INT, s.digits, s.v);
        return stop;
    }
    return parser_word(l, n, p, end);
}

static inline const char *parser_value(event_parser *l, node *n, const char *p,
                                       const char *end) {
    event *e = &l->e;
    l->string_start = NULL;
    switch (n->field) {
    case FIELD_NAME:
        if (n->cuts && WITHOUT != THE_NAME_PREFIXES) {
            const char *stop = parser_prefix(l, p, end);
            if (stop && l->args_from) parser_keep_args(l, n, stop);
            if (stop) return stop;
        }
        if (*p == '"' && l->sink.spelling && l->sink.spelling->name)
            return parser_dialect_name(l, p, end);
        if (*p == '"') {
            const char *stop;
            e->name = parser_read_string(l, n, p, end, &stop);
            e->has |= EVENT_NAME;
            l->string_start = p;
            return stop;
        }
        return json_value_end(p, end); /* a name that is not a string does not count */
    case FIELD_TS: return parser_time(l, p, end, &e->ts_ns, EVENT_TS);
    case FIELD_DUR: return parser_time(l, p, end, &e->dur_ns, EVENT_DUR);
    case FIELD_PID: e->has |= EVENT_PID; return parser_ident(l, n, p, end, &e->pid);
    case FIELD_TID: e->has |= EVENT_TID; return parser_ident(l, n, p, end, &e->tid);
    case FIELD_ID: e->has |= EVENT_ID; return parser_ident(l, n, p, end, &e->id);
    default: return parser_arg(l, n, p, end);
    }
}

#endif
