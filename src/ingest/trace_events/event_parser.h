/* event_parser.h: the trace-event tokenizer: reads a list of JSON events once and calls `emit`
 * for each.
 *
 * Writers of traces lay events out in the same few ways again and again: after the value of a
 * key come the same bytes (comma, white space, next key, colon, also across the end of an
 * event). The tokenizer remembers them. A place in the file is a node (phase, category, key,
 * keys of args so far); each node keeps the byte strings that followed its values, and a hit
 * jumps straight to the next value with its meaning known. A miss takes the general path, which
 * reads anything and learns.
 *
 * Nothing is assumed about a producer, and an event like no other costs only the general
 * path. */
#ifndef INGEST_EVENT_PARSER_H
#define INGEST_EVENT_PARSER_H

#include "store/builder.h"

enum { /* which members an event had */
       EVENT_NAME = 1,
       EVENT_TS = 2,
       EVENT_DUR = 4,
       EVENT_PID = 8,
       EVENT_TID = 16,
       EVENT_ID = 32,
       EVENT_BAD_TIME = 64, /* ts or dur is not a time that fits */
};

enum { MAX_ARG_FIELDS = 64 };

typedef struct {
    char ph;           /* phase, 0 when it had none */
    char scope;        /* "s" of an instant */
    bool enclosing;    /* "bp":"e" */
    uint32_t category; /* string id, 0 = none */
    uint32_t has;      /* EVENT_* bits */
    uint32_t name;
    int64_t ts_ns, dur_ns;
    ident pid, tid, id;
    uint64_t offset; /* of the event in the input */
    /* Arguments in order; values[i].place is their path, keys[i] their name. */
    size_t n_values;
    raw_value values[MAX_VALUES];
    uint32_t keys[MAX_VALUES];
    /* Arguments the reader asked for: bit f of `fields` is set and at[f] is the index. */
    uint64_t fields;
    uint16_t at[MAX_ARG_FIELDS];
    bool duplicate; /* a key of args came twice */
    /* When not 0: every event with this number has the same first n_cached values. */
    uint64_t args_cache;
    uint32_t n_cached;
} event;

typedef struct event_parser event_parser;

typedef struct {
    str text;
    bool escaped; /* JSON's escapes are in it and have to be decoded */
    bool quotes;  /* quotes are in it that should have been escaped */
} event_parser_name;

/* What a producer writes in its own way. It is undone while reading: a text that differs in
 * every event would fill the table of strings and cost a look-up each. */
typedef struct {
    /* Finds the end of the name that opens at p (after its quote) in the bytes from start to
     * end: one past the closing quote, and in *name what the producer meant. NULL when they end
     * first. This and `thread` may be NULL: they are written as everybody does. */
    const char *(*name)(const char *start, const char *p, const char *end,
                        event_parser_name *name);
    /* The part of a clean name that does not differ in every event; the name itself when all of
     * it does. From a word, a space and digits the same is cut for any digits. NULL where there
     * is nothing to cut. */
    str (*cut)(str name);
    /* A thread id in quotes, from its quote: one past the closing one and its number, NULL when
     * it is not such an id. */
    const char *(*thread)(const char *p, const char *end, int64_t *id);
    /* Arguments (bits of event.fields) that are texts such as "12.345 us": kept as the
     * number. */
    uint64_t time_fields;
} event_spelling;

typedef struct {
    /* Number (1 … MAX_ARG_FIELDS-1) of an argument the reader wants, 0 = none. */
    uint8_t (*field_of)(str key);
    /* Takes one event; the event is reused afterwards. Not OK ends the parse. */
    status (*emit)(void *context, event *e);
    void *context;
    /* NULL for trace-event JSON as everybody writes it. */
    const event_spelling *spelling;
} parser_sink;

/* One for each thread. Damage is counted in `part`. NULL when out of memory. */
event_parser *event_parser_new(builder *b, part *p, parser_sink sink);
void event_parser_free(event_parser *l);

typedef enum {
    PARSE_CLEAN,      /* all bytes read, between two events */
    PARSE_INCOMPLETE, /* the last event is cut: read again from `stop` with more bytes */
    PARSE_END,        /* the list was closed; `stop` is after the bracket */
    PARSE_DAMAGED,    /* the event at `stop` is not JSON */
    PARSE_UNDECIDED,  /* it is damaged when nothing follows; with more bytes it may be
                         complete */
    PARSE_FAILED,     /* emit failed or out of memory: status in `failure` */
} parse_result;

/* Reads events from p, which is between two events (or at the start) of a list, to end. `base`
 * is the offset of p in the input. SOURCE_PAD bytes after `end` must be readable. *stop: first
 * byte not used. */
parse_result event_parser_parse(event_parser *l, const char *p, const char *end, uint64_t base,
                                const char **stop);
status event_parser_failure(const event_parser *l);

/* The first place at or after p that looks like the start of an event after another event, or
 * NULL when there is none before `end`. */
const char *event_parser_next_border(const char *p, const char *end);

/* String id of a JSON string's inside, decoded; damage counted. UINT32_MAX when out of
 * memory. */
uint32_t event_parser_string(event_parser *l, str inside, uint64_t offset);
/* String id of any JSON value as normal text; damage counted. */
uint32_t event_parser_raw(event_parser *l, str text, uint64_t offset);

#endif
