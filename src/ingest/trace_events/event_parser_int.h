/* event_parser_int.h: what the files of the tokenizer share: its memory and its parts.
 *
 *   event_parser.c          the loop: a value, the gap after it by prediction, the next value
 *   event_parser_learn.c    nodes and gaps: finds them, remembers them
 *   event_value_run.c       values that come again and again, with the gaps between them
 *   event_args_cache.c      all the arguments of an event, once more
 *   event_parser_walk.c     a gap by the general path, token by token
 *   event_parser_value*     values: numbers, times, ids, words
 *   event_parser_text.c     texts as ids, and what follows which
 *   event_parser_repair.c   strings with unescaped quotes, borders of events */
#ifndef INGEST_EVENT_PARSER_INT_H
#define INGEST_EVENT_PARSER_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/trace_events/event_parser.h"
#include "ingest/util/scan.h"

enum {
    MAX_GAP_BYTES = 160, /* a longer gap is read by the general path each time */
    MAX_GAPS = 8,        /* alternatives after one value; the oldest is forgotten */
    MAX_RUN_BYTES = 128,
    MAX_RUNS = 6,      /* alternatives at one place */
    MAX_RUN_TEXTS = 4, /* arguments in one */
    MAX_CACHED_BYTES = 320,
    MAX_CACHED_VALUES = 12,
};

/* What the tokenizer predicts with. Each saves time and changes nothing else: bench/predictors
 * builds the program without one of them (-DWITHOUT=number) and measures what it saves. */
enum {
    THE_GAPS = 1, /* and with them the value runs, which are made of gaps */
    THE_VALUE_RUNS,
    THE_ARGS_CACHE,
    THE_NEXT_TEXTS,
    THE_TEXT_CACHE,
    THE_NAME_PREFIXES, /* and with them the args cache, which waits for such a name */
};
#ifndef WITHOUT
#define WITHOUT 0
#endif

typedef enum { IN_LIST, IN_EVENT, IN_ARGS } context;
typedef enum {
    FIELD_ARG = 0,
    FIELD_NAME,
    FIELD_TS,
    FIELD_DUR,
    FIELD_PID,
    FIELD_TID,
    FIELD_ID
} event_field;

typedef struct node node;

/* What is known at a place in an event besides its values. */
typedef struct {
    uint32_t category, place;
    uint8_t context;
    char ph, scope;
    bool enclosing;
} event_state;

typedef struct {
    node *next;
    event_state ending;   /* what was known at the event's end, when `ends` */
    uint32_t front;       /* scan_front(n) */
    uint16_t n, begin_at; /* where the next event's bracket is, when `ends` */
    bool ends;
    char bytes[MAX_GAP_BYTES + 2 * SCAN_FRONT];
} gap;

typedef struct {
    const node *at;
    uint32_t id;
} run_text;

/* Values seen here before, each with the gap after it: one comparison reads them all. */
typedef struct {
    node *next;
    uint64_t wide; /* scan_wide(n) */
    uint32_t n;
    uint32_t has; /* EVENT_* bits of name, pid and tid when they are among the values */
    uint32_t name;
    ident pid, tid;
    /* What its strings do to event_parser.history: moved by `shift` bits, mixed with this. */
    uint64_t mix;
    uint8_t shift, n_texts;
    bool whole; /* what follows is not added any more */
    run_text texts[MAX_RUN_TEXTS];
    char bytes[MAX_RUN_BYTES + SCAN_WIDE];
} value_run;

/* The arguments of the last event that had some and a name with a number, as written and as
 * read. */
typedef struct {
    const node *from; /* of the first argument; NULL when there was none yet */
    node *at;         /* of the name */
    uint64_t fields;
    uint32_t n, name, n_values;
    uint64_t number; /* counts them */
    raw_value values[MAX_CACHED_VALUES];
    uint32_t keys[MAX_CACHED_VALUES];
    uint16_t field_at[MAX_ARG_FIELDS];
    char bytes[MAX_CACHED_BYTES + SCAN_EQUAL_PAD];
} args_cache;

/* One byte, at a place where they differ, tells which of several byte strings is present. */
typedef struct {
    uint8_t at, which[16];
} chooser;

struct node {
    event_state at; /* with this key's own place when it is an argument */
    uint32_t key;
    uint32_t before;    /* place before this key */
    uint8_t field;      /* event_field */
    uint8_t arg_field;  /* the reader's number, 0 = none */
    uint64_t field_bit; /* its bit in event.fields */
    uint64_t salt;      /* chooses its places in next_texts */
    bool duplicate;
    bool time_text;    /* "12.345 us" in the dialect */
    bool cuts;         /* a name whose number the dialect may cut off */
    bool spare;        /* is overwritten soon: nothing may point to it, it learns nothing */
    uint8_t surprises; /* how badly the texts before a string tell which it is */
    uint8_t n_gaps, oldest;
    chooser gap_at;
    gap *gaps[MAX_GAPS];
    bool has_runs; /* its values may be parts of runs: names, processes, threads, strings */
    /* The first argument, where names have numbers that are cut: cached arguments begin
     * here. */
    bool opens;
    bool alone;               /* its runs are of one value: what follows varies too much */
    uint8_t n_runs, next_run; /* the next to be forgotten */
    chooser run_at;
    uint8_t unknown; /* counts values that are in no run of a full node */
    uint8_t misses;  /* how badly the runs foretell what comes */
    value_run *runs[MAX_RUNS];
};

/* Damage met in an event. It counts when the event is whole: an event that is cut by the end of
 * the bytes is read again. */
typedef struct {
    uint64_t offset;
    uint32_t example;
    cause cause;
} pending_loss;

/* The text that followed some others: n bytes of the interner; n has NEXT_TEXT_RAW when it is a
 * bracketed value. */
typedef struct {
    const char *text;
    uint32_t n, id;
} next_text;

/* What comes before the number of a name that the dialect cuts: its quote, the word, a
 * space. */
typedef struct {
    char bytes[32 + SCAN_EQUAL_PAD];
    uint32_t n, id; /* of the word */
} name_prefix;

enum { PREFIX_BITS = 4 };
enum { NEXT_TEXT_BITS = 14 }; /* a step of a large model has some 6,000 of them */
enum { TEXT_CACHE_BITS = 11 };
enum {
    A_SURPRISE = 4,
    MANY_SURPRISES = 128
}; /* of node.surprises; one is forgotten by four hits */
#define NEXT_TEXT_RAW 0x80000000u
/* How an id enters event_parser.history: it goes out of sight after eight more. */
enum { FOLLOW_BITS = 8 };
#define FOLLOW_FACTOR 0xD6E8FEB86659FD93ull

struct event_parser {
    builder *b;
    part *part;
    intern *strings;
    parser_sink sink;
    arena memory; /* nodes and gaps */
    map nodes;    /* hash of identity → index in node_list */
    vec node_list;
    node spare[2]; /* in turn: the node of the last value is needed until the next is found */
    bool spare_turn;
    vec seen;              /* uint8_t by string id */
    map normal_ids;        /* raw text id → id of its normal form */
    map repairs;           /* raw text id → JSON_* flags */
    next_text *next_texts; /* 1 << NEXT_TEXT_BITS, by what came before */
    next_text *text_cache; /* 1 << TEXT_CACHE_BITS texts, by how they begin */
    uint64_t history;
    vec pending; /* pending_loss */
    buf scratch;
    name_prefix prefixes[1 << PREFIX_BITS]; /* by how they begin */
    uint32_t n_escapes; /* texts with escapes in the two tables, kept in `memory` */
    args_cache args_cache;
    const char *args_from; /* the first argument of the event that may become one, NULL: none */
    const node *args_node; /* its node */
    node *args_next;       /* of the value after the last look at the cache */
    uint64_t args_event;   /* the offset of its event */
    event e;
    uint64_t base;
    const char *start; /* of the current bytes */
    status failure;
    bool comma;                   /* the bytes ended after a comma of the list */
    const char *string_start;     /* of the last value when it was a string, else NULL */
    uint64_t border_from, border; /* offsets: the next border of two events from here on */
};

static inline uint64_t parser_offset(const event_parser *l, const char *p) {
    return l->base + (uint64_t)(p - l->start);
}

WRAPS static inline uint64_t parser_mix(uint32_t id) {
    return id * FOLLOW_FACTOR;
}

/* The text that followed the last ones at this place before. */
WRAPS static inline next_text *parser_next_text(event_parser *l, const node *n) {
    uint64_t h = (l->history ^ n->salt) * 0x9E3779B97F4A7C15ull;
    return &l->next_texts[h >> (64 - NEXT_TEXT_BITS)];
}

/* Do the texts before it tell which string is here? */
static inline bool parser_asks_next(const node *n) {
    if (WITHOUT == THE_NEXT_TEXTS) return false;
    return n->surprises < MANY_SURPRISES || WITHOUT == THE_TEXT_CACHE;
}

/* The string that began like the one after the quote at p when it was last met: by its first
 * sixteen bytes, or by all of them when it is shorter. */
WRAPS static inline next_text *parser_cached_text(event_parser *l, const char *p) {
    uint64_t a = scan_word(p + 1), b = scan_word(p + 9);
    uint64_t quote_a = scan_match(a, '"'), quote_b = scan_match(b, '"');
    if (quote_a) { /* bits below the quote's highest */
        a &= ~quote_a & (quote_a - 1);
        b = 0;
    } else if (quote_b) {
        b &= ~quote_b & (quote_b - 1);
    }
    uint64_t h = (a ^ (b << 29 | b >> 35)) * 0x9E3779B97F4A7C15ull;
    return &l->text_cache[h >> (64 - TEXT_CACHE_BITS)];
}

/* The bracketed value that began like the one at p when it was last met, by twenty-four bytes.
 * A short value is looked up by what follows it, too, which is mostly the same. */
WRAPS static inline next_text *parser_cached_raw(event_parser *l, const char *p) {
    uint64_t a = scan_word(p), b = scan_word(p + 8), c = scan_word(p + 16);
    uint64_t h = (a ^ (b << 29 | b >> 35)) * 0x9E3779B97F4A7C15ull;
    h = (h ^ c ^ h >> 32) * 0x9E3779B97F4A7C15ull;
    return &l->text_cache[h >> (64 - TEXT_CACHE_BITS)];
}

/* Where the prefix of the name whose quote is at p is kept. */
WRAPS static inline name_prefix *parser_prefix_of(event_parser *l, const char *p) {
    uint32_t h = (uint32_t)scan_word(p) * 0x9E3779B9u; /* the quote and three bytes */
    return &l->prefixes[h >> (32 - PREFIX_BITS)];
}

/* Bytes to the end, as far as a text can reach: less than NEXT_TEXT_RAW. */
static inline uint32_t parser_left(const char *p, const char *end) {
    return end - p < INT32_MAX ? (uint32_t)(end - p) : INT32_MAX;
}

/* Is this the string whose quote is at p? */
static inline bool parser_is_text(const next_text *g, const char *p, const char *end) {
    return g->id && g->n + 2u <= parser_left(p, end) && p[1 + g->n] == '"' &&
           scan_equal(p + 1, g->text, g->n);
}

/* Is this the bracketed value at p? It ends where its own brackets do. */
static inline bool parser_is_raw(const next_text *g, const char *p, const char *end) {
    uint32_t bytes = g->n ^ NEXT_TEXT_RAW;
    return bytes <= parser_left(p, end) && scan_equal(p, g->text, bytes);
}

/* ---- event_parser_text.c ---- */
/* Notes damage of the event being read; it counts when the event is whole. */
void parser_lose(event_parser *l, cause c, uint64_t offset, uint32_t example);
/* The event is whole: its damage counts. */
void parser_count_pending(event_parser *l);
/* Id of a string without backslashes that is at `at`. This and the next two: 0 and
 * l->failure when out of memory. */
uint32_t parser_plain(event_parser *l, str s, const char *at);
/* Id of the inside of a string with backslashes. */
uint32_t parser_escaped(event_parser *l, str inside, const char *at);
/* Id of an array, object, literal or odd number. */
uint32_t parser_raw_text(event_parser *l, str text, const char *at);
/* The string whose quote is at p, a value of n: its id, and *next one past the closing quote.
 * *next is NULL when the bytes end first. */
uint32_t parser_new_string(event_parser *l, node *n, const char *p, const char *end,
                           const char **next);
/* The same for the bracketed value at p, which g is to predict the next time. */
uint32_t parser_new_raw(event_parser *l, const char *p, const char *end, next_text *g,
                        const char **next);

/* ---- event_parser_learn.c ---- */
/* The node of a key at a place; NULL when out of memory. */
node *parser_find_node(event_parser *l, const event_state *k, str key);
/* Remembers what came after a value of `from`. */
void parser_remember(event_parser *l, node *from, const gap *g);
/* Makes a chooser for n texts. */
void parser_choose(chooser *c, const str *texts, size_t n);
/* The number that the chooser has for what is at p. */
static inline uint8_t *parser_chosen(chooser *c, const char *p) {
    return &c->which[(uint8_t)p[c->at] & 15];
}

/* ---- event_value_run.c ---- */
/* Remembers the value of n that was just read, from `value` to `stop`, and the gap after
 * it. */
void parser_learn_run(event_parser *l, node *n, str value, const gap *g);
/* Makes one of a run of n and the one that followed it. */
void parser_join_runs(node *n, value_run *first, const value_run *second,
                      const node *of_second);

/* ---- event_args_cache.c ---- */
/* The name of `at`, the last value read, ends what began at l->args_from: `stop` is after
 * it. */
void parser_keep_args(event_parser *l, node *at, const char *stop);

/* ---- event_parser_walk.c ---- */
typedef enum {
    WALK_VALUE,
    WALK_END,
    WALK_CLEAN,
    WALK_MORE,
    WALK_SYNTAX,
    WALK_UNDECIDED,
    WALK_FAILED
} walk_result;

/* A walk over one gap by the general path. */
typedef struct {
    event_parser *l;
    const char *p, *end;
    const char *checkpoint; /* at the event that is being read, or after the last */
    event_state k;
    bool comma, fresh; /* a comma was read; nothing yet in this bracket */
    bool learn;
    gap g;
    node *next;
} walk;

/* From the end of a value of `from_node` (or from the list, NULL) to the next value. */
walk_result parser_walk_gap(walk *w, node *from_node);
/* Hands the event over; false when the sink failed or anything did before. */
bool parser_emit(event_parser *l, const event_state *k);

/* ---- event_parser_repair.c ---- */
typedef enum {
    REPAIR_NONE,      /* no quote ends it */
    REPAIR_DONE,      /* *after: where reading continues */
    REPAIR_UNDECIDED, /* more bytes are needed */
} repair_result;

/* The last value was a string (l->string_start) that ended at a quote which was not its end:
 * takes the text up to the quote that is. */
repair_result parser_repair(event_parser *l, const node *n, const char *end,
                            const char **after);

#endif
