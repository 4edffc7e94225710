/* layout_int.h: what the layout*.c files share: the memory of the tokenizer and its parts.
 *
 *   layout.c         the loop: a value, the gap behind it by prediction, the next value
 *   layout_learn.c   nodes and gaps: finds them, remembers them
 *   layout_phrase.c  values that come again and again, with the gaps between them
 *   layout_echo.c    all the arguments of an event, once more
 *   layout_walk.c    a gap by the general path, token by token
 *   layout_value*    values: numbers, times, ids, words
 *   layout_text.c    texts as ids, and what follows which
 *   layout_repair.c  strings with unescaped quotes, borders of events */
#ifndef INGEST_LAYOUT_INT_H
#define INGEST_LAYOUT_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "ingest/layout.h"
#include "ingest/scan.h"

enum {
    MAX_GAP_BYTES = 160, /* a longer gap is read by the general path each time */
    MAX_GAPS = 8,        /* alternatives behind one value; the oldest is forgotten */
    MAX_PHRASE_BYTES = 128,
    MAX_PHRASES = 6,      /* alternatives at one place */
    MAX_PHRASE_TEXTS = 4, /* arguments in a phrase */
    MAX_ECHO_BYTES = 320,
    MAX_ECHO_VALUES = 12,
};

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
} known;

typedef struct {
    node *next;
    known ending;         /* what was known at the event's end, when `ends` */
    uint32_t front;       /* scan_front(n) */
    uint16_t n, begin_at; /* where the next event's bracket is, when `ends` */
    bool ends;
    char bytes[MAX_GAP_BYTES + 2 * SCAN_FRONT];
} gap;

typedef struct {
    const node *at;
    uint32_t id;
} phrase_text;

/* Values that stood here before, each with the gap behind it: one comparison reads them all. */
typedef struct {
    node *next;
    uint64_t wide; /* scan_wide(n) */
    uint32_t n;
    uint32_t has; /* EVENT_* bits of name, pid and tid when they are among the values */
    uint32_t name;
    ident pid, tid;
    uint64_t
        mix; /* what its strings do to layout.history: moved by `shift` bits, mixed with this */
    uint8_t shift, n_texts;
    bool whole; /* what follows is not added any more */
    phrase_text texts[MAX_PHRASE_TEXTS];
    char bytes[MAX_PHRASE_BYTES + SCAN_WIDE];
} phrase;

/* The arguments of the last event that had some and a name with a number, as written and as read. */
typedef struct {
    const node *from; /* of the first argument; NULL when there was no such event yet */
    node *at;         /* of the name */
    uint64_t fields;
    uint32_t n, name, n_values;
    uint64_t number; /* counts them */
    raw_value values[MAX_ECHO_VALUES];
    uint32_t keys[MAX_ECHO_VALUES];
    uint16_t field_at[MAX_ARG_FIELDS];
    char bytes[MAX_ECHO_BYTES + SCAN_EQUAL_PAD];
} echo;

/* Which of several byte strings stands somewhere is told by one byte, at a place where they differ. */
typedef struct {
    uint8_t at, which[16];
} chooser;

struct node {
    known at; /* with this key's own place when it is an argument */
    uint32_t key;
    uint32_t before;    /* place before this key */
    uint8_t field;      /* event_field */
    uint8_t arg_field;  /* the reader's number, 0 = none */
    uint64_t field_bit; /* its bit in event.fields */
    uint64_t salt;      /* chooses its guesses */
    bool duplicate;
    bool time_text; /* "12.345 us" in the dialect */
    bool cuts;      /* a name whose number the dialect may cut off */
    /* The last process or thread id here, as written with the byte behind it. */
    uint64_t memo_word, memo_mask;
    int64_t memo_value;
    uint8_t memo_bytes;
    bool spare;        /* is overwritten soon: nothing may point to it, it learns nothing */
    uint8_t surprises; /* how badly the texts before a string tell which it is */
    uint8_t n_gaps, oldest;
    chooser gap_at;
    gap *gaps[MAX_GAPS];
    bool phrased; /* its values may be parts of phrases: names, processes, threads, strings */
    bool
        opens; /* the first argument, in a dialect whose names have numbers: echoes begin here */
    bool alone; /* its phrases are of one value: what follows varies too much */
    uint8_t n_phrases, next_phrase; /* the next to be forgotten */
    chooser phrase_at;
    uint8_t unknown; /* counts values that are no phrase of a full node */
    uint8_t misses;  /* how badly the phrases foretell what comes */
    phrase *phrases[MAX_PHRASES];
};

/* Damage met in an event. It counts when the event is whole: an event that is cut by the end of the
 * bytes is read again. */
typedef struct {
    uint64_t offset;
    uint32_t example;
    cause cause;
} pending_loss;

/* The text that followed some others: n bytes of the interner; n has GUESS_RAW when it is a
 * bracketed value. */
typedef struct {
    const char *text;
    uint32_t n, id;
} guess;

/* What stands before the number of a name that the dialect cuts: its quote, the word, a space. */
typedef struct {
    char bytes[32 + SCAN_EQUAL_PAD];
    uint32_t n, id; /* of the word */
} stem;

enum { STEM_BITS = 4 };
enum { GUESS_BITS = 14 }; /* a step of a large model has some 6,000 of them */
enum { RECENT_BITS = 11 };
enum {
    A_SURPRISE = 4,
    MANY_SURPRISES = 128
}; /* of node.surprises; one is forgotten by four hits */
#define GUESS_RAW 0x80000000u
/* How an id enters layout.history: it goes out of sight after eight more. */
enum { FOLLOW_BITS = 8 };
#define FOLLOW_FACTOR 0xD6E8FEB86659FD93ull

struct layout {
    builder *b;
    part *part;
    intern *strings;
    layout_sink sink;
    arena memory; /* nodes and gaps */
    map nodes;    /* hash of identity → index in node_list */
    vec node_list;
    node spare[2]; /* in turn: the node of the last value is needed until the next is found */
    bool spare_turn;
    vec seen;       /* uint8_t by string id */
    map normal_ids; /* raw text id → id of its normal form */
    map repairs;    /* raw text id → JSON_* flags */
    guess *guesses; /* 1 << GUESS_BITS, by what came before */
    guess *recent;  /* 1 << RECENT_BITS strings, by how they begin */
    uint64_t history;
    vec pending; /* pending_loss */
    buf scratch;
    /* The last text with clean escapes as it was written, and its id; 0 = none yet. */
    char escaped[128];
    size_t n_escaped;
    uint32_t escaped_id;
    stem stems[1 << STEM_BITS]; /* by how they begin */
    uint32_t n_escapes;         /* such texts among `recent` and `guesses`, kept in `memory` */
    echo echo;
    const char *echo_from; /* the first argument of the event that may become one, NULL: none */
    const node *echo_node; /* its node */
    node *echo_next;       /* of the value behind the last look for an echo */
    uint64_t echo_event;   /* the offset of its event */
    event e;
    uint64_t base;
    const char *start; /* of the bytes at hand */
    status failure;
    bool comma;                   /* the bytes ended behind a comma of the list */
    const char *string_start;     /* of the last value when it was a string, else NULL */
    uint64_t border_from, border; /* offsets: the next border of two events from here on */
};

static inline uint64_t layout_offset(const layout *l, const char *p) {
    return l->base + (uint64_t)(p - l->start);
}

/* The text that followed the last ones at this place before. */
static inline guess *layout_guess(layout *l, const node *n) {
    uint64_t h = (l->history ^ n->salt) * 0x9E3779B97F4A7C15ull;
    return &l->guesses[h >> (64 - GUESS_BITS)];
}

/* The string that began like the one behind the quote at p when it was last met: by its first sixteen
 * bytes, or by all of them when it is shorter. */
static inline guess *layout_recent(layout *l, const char *p) {
    uint64_t a = scan_word(p + 1), b = scan_word(p + 9);
    uint64_t quote_a = scan_match(a, '"'), quote_b = scan_match(b, '"');
    if (quote_a) { /* bits below the quote's highest */
        a &= ~quote_a & (quote_a - 1);
        b = 0;
    } else if (quote_b) {
        b &= ~quote_b & (quote_b - 1);
    }
    uint64_t h = (a ^ (b << 29 | b >> 35)) * 0x9E3779B97F4A7C15ull;
    return &l->recent[h >> (64 - RECENT_BITS)];
}

static inline stem *layout_stem_of(layout *l, const char *p) {
    uint32_t h = (uint32_t)scan_word(p) * 0x9E3779B9u; /* the quote and three bytes */
    return &l->stems[h >> (32 - STEM_BITS)];
}

/* Bytes to the end, as far as a text can reach: less than GUESS_RAW. */
static inline uint32_t layout_left(const char *p, const char *end) {
    return end - p < INT32_MAX ? (uint32_t)(end - p) : INT32_MAX;
}

/* Is this the string whose quote is at p? */
static inline bool layout_is_guess(const guess *g, const char *p, const char *end) {
    return g->id && g->n + 2u <= layout_left(p, end) && p[1 + g->n] == '"' &&
           scan_equal(p + 1, g->text, g->n);
}

/* ---- layout_text.c ---- */
void layout_lose(layout *l, cause c, uint64_t offset, uint32_t example);
void layout_count_pending(layout *l);
/* Id of a string without backslash; of the inside of one with backslashes; of an array, object,
 * literal or odd number. `at` is where it stands. 0 and l->failure when out of memory. */
uint32_t layout_plain(layout *l, str s, const char *at);
uint32_t layout_escaped(layout *l, str inside, const char *at);
uint32_t layout_raw_text(layout *l, str text, const char *at);
/* The string whose quote is at p, a value of n: its id, and *next one past the closing quote. *next is
 * NULL when the bytes end first. */
uint32_t layout_new_string(layout *l, node *n, const char *p, const char *end,
                           const char **next);
/* The same for the bracketed value at p. */
uint32_t layout_new_raw(layout *l, const char *p, const char *end, guess *g, const char **next);

/* ---- layout_learn.c ---- */
/* The node of a key at a place; NULL when out of memory. */
node *layout_find_node(layout *l, const known *k, str key);
/* Remembers what stood behind a value of `from`. */
void layout_remember(layout *l, node *from, const gap *g);
/* Makes a chooser for n texts. */
void layout_choose(chooser *c, const str *texts, size_t n);
static inline uint8_t *layout_chosen(chooser *c, const char *p) {
    return &c->which[(uint8_t)p[c->at] & 15];
}

/* ---- layout_phrase.c ---- */
/* Remembers the value of n that was just read, from `value` to `stop`, and the gap behind it. */
void layout_learn_phrase(layout *l, node *n, str value, const gap *g);
/* Makes one of a phrase of n and the one that followed it. */
void layout_join_phrases(node *n, phrase *first, const phrase *second, const node *of_second);

/* ---- layout_echo.c ---- */
/* The name of `at`, the last value read, ends what began at l->echo_from: `stop` is behind it. */
void layout_keep_echo(layout *l, node *at, const char *stop);

/* ---- layout_walk.c ---- */
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
    layout *l;
    const char *p, *end;
    const char *checkpoint; /* at the event that is being read, or behind the last */
    known k;
    bool comma, fresh; /* a comma was read; nothing yet in this bracket */
    bool learn;
    gap g;
    node *next;
} walk;

/* From behind a value of `from_node` (or from the list, NULL) to the next value. */
walk_result layout_walk_gap(walk *w, node *from_node);
/* Hands the event over; false when the sink failed or anything did before. */
bool layout_emit(layout *l, const known *k);

/* ---- layout_repair.c ---- */
typedef enum {
    REPAIR_NONE,      /* no quote ends it */
    REPAIR_DONE,      /* *behind: where reading goes on */
    REPAIR_UNDECIDED, /* more bytes have to be seen */
} repair_result;

/* The last value was a string (l->string_start) that ended at a quote which was not its end: takes
 * the text up to the quote that is. */
repair_result layout_repair(layout *l, const node *n, const char *end, const char **behind);

#endif
