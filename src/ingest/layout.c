/* layout.c: the predicting tokenizer. See layout.h for the idea.
 *
 *   …"dur": 217.387,\n    "args": {\n      "External id": 2049,"Record function id": 0, …
 *           ^value ^------------- gap -----------------^value^------- gap -------^value
 *
 * A gap is everything between two values. "ph", "cat", "s" and "bp" are not values but part of the
 * gap: their words are few, so a node knows its phase and category without reading them.
 * Invariants: an event is emitted once, when its closing bracket was read; everything up to
 * `checkpoint` has been emitted, so a parse that runs out of bytes starts again there.
 * Reading words beyond `end` is allowed (the source pads), using them is not: each token's end is
 * compared with `end` before it counts. */
#include "ingest/layout.h"

#include <math.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "ingest/scan.h"

enum {
    MAX_GAP_BYTES = 160,      /* a longer gap is read by the general path each time */
    MAX_GAPS = 8,             /* alternatives behind one value; the oldest is forgotten */
    MAX_NODES = 1 << 16,      /* beyond it keys are read by the general path each time */
    MAX_FOLDED_BYTES = 512,   /* of a category */
    MAX_REPAIR_BYTES = 65536, /* of a string with unescaped quotes */
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
    uint16_t n, begin_at; /* where the next event's bracket is, when `ends` */
    bool ends;
    char bytes[MAX_GAP_BYTES + SCAN_EQUAL_PAD];
} gap;

struct node {
    known at; /* with this key's own place when it is an argument */
    uint32_t key;
    uint32_t before;    /* place before this key */
    uint8_t field;      /* event_field */
    uint8_t arg_field;  /* the reader's number, 0 = none */
    uint64_t field_bit; /* its bit in event.fields */
    bool duplicate;
    bool time_text; /* "12.345 us" in the dialect */
    /* The last process or thread id here, as written with the byte behind it. */
    uint64_t memo_word, memo_mask;
    int64_t memo_value;
    uint8_t memo_bytes;
    bool spare; /* is overwritten soon: nothing may point to it, it learns nothing */
    uint8_t n_gaps, oldest;
    gap *gaps[MAX_GAPS];
};

/* What is remembered of a string id. */
enum { SEEN = 1, SEEN_BAD_UTF8 = 2, SEEN_CONTROL = 4, SEEN_RAW = 8, SEEN_REPAIRED = 16 };

/* Damage met in an event. It counts when the event is whole: an event that is cut by the end of the
 * bytes is read again. */
typedef struct {
    uint64_t offset;
    uint32_t example;
    cause cause;
} pending_loss;

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
    vec pending;    /* pending_loss */
    buf scratch;
    event e;
    uint64_t base;
    const char *start; /* of the bytes at hand */
    status failure;
    bool comma;                   /* the bytes ended behind a comma of the list */
    const char *string_start;     /* of the last value when it was a string, else NULL */
    uint64_t border_from, border; /* offsets: the next border of two events from here on */
};

layout *layout_new(builder *b, part *p, layout_sink sink) {
    layout *l = mem_zalloc(sizeof *l);
    if (!l) return NULL;
    l->b = b;
    l->part = p;
    l->strings = builder_strings(b);
    l->sink = sink;
    l->node_list = VEC_INIT(node *);
    l->seen = VEC_INIT(uint8_t);
    l->pending = VEC_INIT(pending_loss);
    arena_init(&l->memory, 0);
    return l;
}

void layout_free(layout *l) {
    if (!l) return;
    arena_fini(&l->memory);
    map_fini(&l->nodes);
    map_fini(&l->normal_ids);
    map_fini(&l->repairs);
    vec_fini(&l->node_list);
    vec_fini(&l->seen);
    vec_fini(&l->pending);
    buf_fini(&l->scratch);
    mem_free(l);
}

status layout_failure(const layout *l) {
    return l->failure;
}

static uint64_t offset_of(const layout *l, const char *p) {
    return l->base + (uint64_t)(p - l->start);
}

static void lose(layout *l, cause c, uint64_t offset, uint32_t example) {
    pending_loss *p = vec_push(&l->pending);
    if (p)
        *p = (pending_loss){offset, example, c};
    else
        l->failure = ERR_MEMORY;
}

static void count_pending(layout *l) {
    for (size_t i = 0; i < l->pending.n; i++) {
        const pending_loss *p = &VEC(&l->pending, pending_loss)[i];
        part_lost(l->part, p->cause, p->offset, p->example);
    }
    l->pending.n = 0;
}

static void count_flags(layout *l, unsigned flags, uint64_t offset, uint32_t example) {
    static const struct {
        unsigned flag;
        cause cause;
    } table[] = {
        {JSON_BAD_ESCAPE, CAUSE_BAD_ESCAPE},   {JSON_CONTROL, CAUSE_CONTROL_CHARACTER},
        {JSON_BAD_LITERAL, CAUSE_BAD_LITERAL}, {JSON_TRAILING_COMMA, CAUSE_TRAILING_COMMA},
        {JSON_BAD_UTF8, CAUSE_BAD_UTF8},       {JSON_TOO_DEEP, CAUSE_TOO_DEEP}};
    /* Brackets that do not match: kept as text, like a literal that JSON does not know. */
    if ((flags & (JSON_BROKEN | JSON_TOO_DEEP)) == JSON_BROKEN) flags |= JSON_BAD_LITERAL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (flags & table[i].flag) lose(l, table[i].cause, offset, example);
}

/* ---- strings ---- */

static uint8_t *seen_slot(layout *l, uint32_t id) {
    if (id >= l->seen.n) {
        if (vec_reserve(&l->seen, id + 1024 - l->seen.n) != OK) return NULL;
        size_t n = l->seen.cap;
        memset(VEC(&l->seen, uint8_t) + l->seen.n, 0, n - l->seen.n);
        l->seen.n = n;
    }
    return &VEC(&l->seen, uint8_t)[id];
}

/* First look at a string: is it clean text? */
static void look_at_string(layout *l, uint32_t id, uint8_t *slot) {
    str s = intern_get(l->strings, id);
    uint8_t flags = SEEN;
    for (size_t i = 0; i < s.n; i++)
        if ((uint8_t)s.p[i] < 0x20) flags |= SEEN_CONTROL;
    if (!utf8_valid(s)) flags |= SEEN_BAD_UTF8;
    *slot = (uint8_t)(*slot | flags);
}

/* A string without backslash, as it stands. */
static inline uint32_t plain_string(layout *l, str s, const char *at) {
    uint32_t id = intern_add(l->strings, s);
    uint8_t *slot = id < l->seen.n ? &VEC(&l->seen, uint8_t)[id] : NULL;
    if (__builtin_expect(!slot || (*slot & (SEEN | SEEN_BAD_UTF8 | SEEN_CONTROL)) != SEEN, 0)) {
        if (id == UINT32_MAX || !(slot = seen_slot(l, id))) {
            l->failure = ERR_MEMORY;
            return 0;
        }
        if (!(*slot & SEEN)) look_at_string(l, id, slot);
        if (*slot & SEEN_BAD_UTF8) lose(l, CAUSE_BAD_UTF8, offset_of(l, at), id);
        if (*slot & SEEN_CONTROL) lose(l, CAUSE_CONTROL_CHARACTER, offset_of(l, at), id);
    }
    return id;
}

/* A string with backslashes. */
static uint32_t escaped_string(layout *l, str inside, const char *at) {
    buf_clear(&l->scratch);
    unsigned flags = json_decode(inside, &l->scratch);
    if (!utf8_valid(buf_str(&l->scratch))) flags |= JSON_BAD_UTF8;
    uint32_t id =
        buf_ok(&l->scratch) ? intern_add(l->strings, buf_str(&l->scratch)) : UINT32_MAX;
    if (id == UINT32_MAX) {
        l->failure = ERR_MEMORY;
        return 0;
    }
    count_flags(l, flags, offset_of(l, at), id);
    return id;
}

uint32_t layout_string(layout *l, str inside, uint64_t offset) {
    if (!inside.p) inside = STR(""); /* of a member that is not there */
    l->start = inside.p;
    l->base = offset;
    uint32_t id = memchr(inside.p, '\\', inside.n) ? escaped_string(l, inside, inside.p)
                                                   : plain_string(l, inside, inside.p);
    count_pending(l);
    return id;
}

/* First look at a raw value: make it normal JSON and remember the id of that. */
static uint32_t look_at_raw(layout *l, uint32_t id, uint8_t *slot) {
    buf_clear(&l->scratch);
    unsigned flags = json_normal(intern_get(l->strings, id), &l->scratch);
    uint32_t normal =
        buf_ok(&l->scratch) ? intern_add(l->strings, buf_str(&l->scratch)) : UINT32_MAX;
    uint32_t *at = normal != UINT32_MAX ? map_at(&l->normal_ids, id) : NULL;
    if (!at) {
        l->failure = ERR_MEMORY;
        return 0;
    }
    *at = normal;
    *slot |= SEEN_RAW;
    if (flags) {
        uint32_t *r = map_at(&l->repairs, id);
        if (!r) {
            l->failure = ERR_MEMORY;
            return 0;
        }
        *r = flags;
        *slot |= SEEN_REPAIRED;
    } else if (normal == id) {
        return id;
    }
    if (normal != id) *slot |= SEEN_REPAIRED; /* look up the normal form next time */
    return normal;
}

/* An array, object, literal or odd number. */
static uint32_t raw_text(layout *l, str text, const char *at) {
    uint32_t id = intern_add(l->strings, text);
    uint8_t *slot = id == UINT32_MAX ? NULL : seen_slot(l, id);
    if (!slot) {
        l->failure = ERR_MEMORY;
        return 0;
    }
    if (__builtin_expect((*slot & (SEEN_RAW | SEEN_REPAIRED)) == SEEN_RAW, 1)) return id;
    uint32_t normal = id;
    if (!(*slot & SEEN_RAW))
        normal = look_at_raw(l, id, slot);
    else
        normal = map_get(&l->normal_ids, id);
    uint32_t flags = map_get(&l->repairs, id);
    if (flags != MAP_NONE) count_flags(l, flags, offset_of(l, at), id);
    return normal;
}

uint32_t layout_raw(layout *l, str text, uint64_t offset) {
    if (!text.p) text = STR("");
    l->start = text.p;
    l->base = offset;
    uint32_t id = raw_text(l, text, text.p);
    count_pending(l);
    return id;
}

/* ---- values ---- */

/* What seldom happens when a value is added: too many, or a key for the second time. False when
 * there is no room for it: values and places must stay one path, so the first ones are kept. */
static bool has_odd_room(layout *l, const node *n) {
    event *e = &l->e;
    if (e->n_values == MAX_VALUES) {
        lose(l, CAUSE_ARGUMENTS_DROPPED, e->offset, n->key);
        return false;
    }
    e->duplicate = true;
    lose(l, CAUSE_DUPLICATE_KEY, e->offset, n->key);
    return true;
}

/* Appends an argument value to the event. Without a number of the reader's the field is 0, whose
 * place in `at` nobody reads. */
static inline void add_value(layout *l, const node *n, uint8_t tag, uint8_t digits, int64_t v) {
    event *e = &l->e;
    if (__builtin_expect(e->n_values == MAX_VALUES || n->duplicate, 0) && !has_odd_room(l, n))
        return;
    size_t i = e->n_values++;
    e->values[i] = (raw_value){.place = n->at.place, .tag = tag, .digits = digits, .v = v};
    e->keys[i] = n->key;
    e->fields |= n->field_bit;
    e->at[n->arg_field] = (uint16_t)i;
}

/* The string that starts behind the quote at p: its id, and *next one past the closing quote.
 * *next is NULL when the bytes end first. */
static inline uint32_t read_string(layout *l, const char *p, const char *end,
                                   const char **next) {
    const char *close = scan_string(p + 1, end);
    if (__builtin_expect(close < end && *close == '"', 1)) {
        *next = close + 1;
        return plain_string(l, str_n(p + 1, (size_t)(close - p - 1)), p);
    }
    close = json_string_end(p + 1, end);
    *next = close ? close + 1 : NULL;
    return close ? escaped_string(l, str_n(p + 1, (size_t)(close - p - 1)), p) : 0;
}

/* Microseconds as written → nanoseconds. False when it is no time that fits. */
static inline bool to_ns(const scanned *s, int64_t *ns) {
    static const int64_t scale[] = {1000, 100, 10, 1};
    if (s->digits <= 3) return !__builtin_mul_overflow(s->v, scale[s->digits], ns);
    int64_t divisor = 1;
    for (int i = 3; i < s->digits; i++) divisor *= 10;
    int64_t half = s->v < 0 ? -divisor / 2 : divisor / 2;
    int64_t sum;
    if (__builtin_add_overflow(s->v, half, &sum)) return false;
    *ns = sum / divisor;
    return true;
}

/* Plain decimal microseconds with any number of digits → ns, rounded at the fourth decimal. */
static bool long_time(str text, int64_t *ns) {
    size_t point = str_find(text, STR("."), 0);
    int64_t us, fraction = 0;
    if (point == SIZE_MAX || !str_to_i64(str_n(text.p, point), &us)) return false;
    for (size_t i = 1; i <= 4; i++) {
        char c = point + i < text.n ? text.p[point + i] : '0';
        if (c < '0' || c > '9') return false;
        fraction = i < 4 ? fraction * 10 + (c - '0') : fraction + (c >= '5');
    }
    for (size_t i = point + 5; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9') return false;
    if (text.p[0] == '-') fraction = -fraction;
    return !__builtin_mul_overflow(us, 1000, ns) && !__builtin_add_overflow(*ns, fraction, ns);
}

/* A time that the quick scan could not read: exponent, quotes, too many digits. */
static const char *odd_time(const char *p, const char *end, int64_t *ns, bool *good) {
    const char *stop = json_value_end(p, end);
    if (!stop) return NULL;
    str text = json_text(str_n(p, (size_t)(stop - p)));
    double us;
    *good = long_time(text, ns);
    if (!*good && str_to_f64(text, &us) && us > -4e15 && us < 4e15) {
        *ns = (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
        *good = true;
    }
    return stop;
}

static inline const char *read_time(layout *l, const char *p, const char *end, int64_t *ns,
                                    uint32_t bit) {
    scanned s;
    const char *stop = scan_number(p, end, &s);
    bool good = stop && to_ns(&s, ns);
    if (__builtin_expect(!good, 0)) stop = odd_time(p, end, ns, &good);
    if (good)
        l->e.has |= bit;
    else if (stop)
        l->e.has |= EVENT_BAD_TIME;
    return stop;
}

/* Remembers a short number with the byte behind it, which makes the comparison exact. */
static void remember_ident(node *n, const char *p, size_t bytes, int64_t value) {
    n->memo_mask = bytes < 8 ? (1ull << (8 * (bytes + 1) - 1) << 1) - 1 : 0;
    n->memo_word = scan_word(p) & n->memo_mask;
    n->memo_value = value;
    n->memo_bytes = (uint8_t)bytes;
}

/* A thread id in the dialect's way, NULL when it is not in it. */
static inline const char *dialect_thread(const layout *l, const char *p, const char *end,
                                         int64_t *id) {
    return l->sink.dialect ? l->sink.dialect->thread(p, end, id) : NULL;
}

static const char *read_new_ident(layout *l, node *n, const char *p, const char *end,
                                  ident *out) {
    scanned s;
    const char *stop = scan_number(p, end, &s);
    if (stop && s.digits == 0) {
        *out = (ident){s.v, false};
        remember_ident(n, p, (size_t)(stop - p), s.v);
    } else if (*p == '"' && (stop = dialect_thread(l, p, end, &s.v))) {
        *out = (ident){s.v, false};
    } else if (*p == '"') {
        uint32_t id = read_string(l, p, end, &stop);
        if (!stop) return NULL;
        int64_t number;
        if (str_to_i64(intern_get(l->strings, id), &number))
            *out = (ident){number, false};
        else
            *out = (ident){id, true};
    } else {
        stop = json_value_end(p, end);
        if (!stop) return NULL;
        *out = (ident){raw_text(l, str_n(p, (size_t)(stop - p)), p), true};
    }
    return stop;
}

/* A process, thread or arrow id. Events of one thread follow each other, so the last one is tried
 * before anything is parsed. */
static inline const char *read_ident(layout *l, node *n, const char *p, const char *end,
                                     ident *out) {
    if (n->memo_mask && (scan_word(p) & n->memo_mask) == n->memo_word &&
        end - p > n->memo_bytes) {
        *out = (ident){n->memo_value, false};
        return p + n->memo_bytes;
    }
    return read_new_ident(l, n, p, end, out);
}

/* A bare word: true, false, null, or something that JSON does not know. */
static const char *read_word(layout *l, const node *n, const char *p, const char *end) {
    const char *stop = json_value_end(p, end);
    if (!stop || stop == end) return NULL; /* the word may go on behind the end */
    str word = str_n(p, (size_t)(stop - p));
    uint32_t id = raw_text(l, word, p); /* counts a word that JSON does not know */
    str normal = intern_get(l->strings, id);
    if (normal.n &&
        normal.p[0] == '"') { /* such a word is kept as a string: JSON stays valid */
        add_value(l, n, VALUE_STRING, 0, intern_add(l->strings, word));
        return stop;
    }
    double number;
    if (word.n > 300 && (!str_to_f64(word, &number) || !isfinite(number)))
        lose(l, CAUSE_NUMBER_RANGE, offset_of(l, p), 0);
    add_value(l, n, VALUE_RAW, 0, id);
    return stop;
}

/* One argument value. Returns its end, NULL when the bytes end first. */
static inline const char *read_arg(layout *l, const node *n, const char *p, const char *end) {
    scanned s;
    const char *stop;
    char c = *p;
    if (c == '"') {
        if (n->time_text && (stop = scan_number(p + 1, end, &s)) && s.exact && s.digits &&
            end - stop > 4 && memcmp(stop, " us\"", 4) == 0) {
            add_value(l, n, VALUE_DECIMAL, s.digits, s.v);
            return stop + 4;
        }
        uint32_t id = read_string(l, p, end, &stop);
        if (!stop) return NULL;
        l->string_start = p;
        add_value(l, n, VALUE_STRING, 0, id);
        return stop;
    }
    if (c == '[' || c == '{') {
        stop = scan_brackets(p, end);
        if (!stop) return NULL;
        add_value(l, n, VALUE_RAW, 0, raw_text(l, str_n(p, (size_t)(stop - p)), p));
        return stop;
    }
    stop = scan_number(p, end, &s);
    if (__builtin_expect(stop != NULL && s.exact, 1)) {
        add_value(l, n, s.digits ? VALUE_DECIMAL : VALUE_INT, s.digits, s.v);
        return stop;
    }
    return read_word(l, n, p, end);
}

/* A name in the dialect's way. */
static const char *read_dialect_name(layout *l, const char *p, const char *end) {
    layout_name n = {0};
    const char *stop = l->sink.dialect->name(l->start, p + 1, end, &n);
    if (!stop) return NULL;
    l->e.name = n.escaped ? escaped_string(l, n.text, p) : plain_string(l, n.text, p);
    l->e.has |= EVENT_NAME;
    if (n.quotes) lose(l, CAUSE_UNESCAPED_QUOTE, offset_of(l, p), l->e.name);
    return stop;
}

static inline const char *read_value(layout *l, node *n, const char *p, const char *end) {
    event *e = &l->e;
    l->string_start = NULL;
    switch (n->field) {
    case FIELD_NAME:
        if (*p == '"' && l->sink.dialect) return read_dialect_name(l, p, end);
        if (*p == '"') {
            const char *stop;
            e->name = read_string(l, p, end, &stop);
            e->has |= EVENT_NAME;
            l->string_start = p;
            return stop;
        }
        return json_value_end(p, end); /* a name that is no string is no name */
    case FIELD_TS: return read_time(l, p, end, &e->ts_ns, EVENT_TS);
    case FIELD_DUR: return read_time(l, p, end, &e->dur_ns, EVENT_DUR);
    case FIELD_PID: e->has |= EVENT_PID; return read_ident(l, n, p, end, &e->pid);
    case FIELD_TID: e->has |= EVENT_TID; return read_ident(l, n, p, end, &e->tid);
    case FIELD_ID: e->has |= EVENT_ID; return read_new_ident(l, n, p, end, &e->id);
    default: return read_arg(l, n, p, end);
    }
}

/* ---- the general path ---- */

static uint64_t identity(const known *k, uint32_t key) {
    return hash_pair(hash_pair((uint64_t)k->category << 32 | key, k->place),
                     (uint64_t)k->context << 24 | (uint64_t)(uint8_t)k->ph << 16 |
                         (uint64_t)(uint8_t)k->scope << 8 | k->enclosing);
}

static bool same_known(const known *a, const known *b) {
    return a->category == b->category && a->place == b->place && a->context == b->context &&
           a->ph == b->ph && a->scope == b->scope && a->enclosing == b->enclosing;
}

static event_field field_of_key(str key) {
    static const struct {
        str key;
        event_field field;
    } table[] = {{STR("name"), FIELD_NAME}, {STR("ts"), FIELD_TS},   {STR("dur"), FIELD_DUR},
                 {STR("pid"), FIELD_PID},   {STR("tid"), FIELD_TID}, {STR("id"), FIELD_ID}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (str_eq(key, table[i].key)) return table[i].field;
    return FIELD_ARG;
}

/* Did this key come before on the path? Only asked when a node is new. */
static bool key_on_path(const layout *l, uint32_t key) {
    for (size_t i = 0; i < l->e.n_values; i++)
        if (l->e.keys[i] == key) return true;
    return false;
}

static bool fill_node(layout *l, node *n, const known *k, uint32_t key) {
    str text = intern_get(l->strings, key);
    n->at = *k;
    n->key = key;
    n->before = k->place;
    n->field = k->context == IN_EVENT ? (uint8_t)field_of_key(text) : FIELD_ARG;
    if (n->field == FIELD_ARG) {
        n->arg_field = k->context == IN_ARGS ? l->sink.field_of(text) : 0;
        n->field_bit = n->arg_field ? 1ull << n->arg_field : 0;
        n->time_text = l->sink.dialect && (l->sink.dialect->time_fields & n->field_bit);
        n->duplicate = key_on_path(l, key);
        n->at.place = builder_shape(l->b, k->place, key);
        if (!n->at.place) return false;
    }
    return true;
}

static node *make_node(layout *l, const known *k, uint32_t key) {
    node *n = ARENA_NEW(&l->memory, node);
    return n && fill_node(l, n, k, key) ? n : NULL;
}

/* A file whose keys never repeat must not fill the memory with nodes. */
static node *spare_node(layout *l, const known *k, uint32_t key) {
    node *n = &l->spare[l->spare_turn];
    l->spare_turn = !l->spare_turn;
    *n = (node){.spare = true};
    return fill_node(l, n, k, key) ? n : NULL;
}

/* The node of a key at a place; NULL when out of memory. */
static node *find_node(layout *l, const known *k, str key_text) {
    uint32_t key = intern_add(l->strings, key_text);
    if (key == UINT32_MAX) return NULL;
    bool full = l->node_list.n >= MAX_NODES;
    for (uint64_t h = identity(k, key);; h++) {
        if (full && map_get(&l->nodes, h) == MAP_NONE) return spare_node(l, k, key);
        uint32_t *at = map_at(&l->nodes, h);
        if (!at) return NULL;
        if (*at == MAP_NONE) {
            *at = 0;
            node **slot = vec_push(&l->node_list);
            if (!slot) return NULL;
            *slot = NULL;
            *at = (uint32_t)(l->node_list.n - 1);
            node *n = make_node(l, k, key);
            VEC(&l->node_list, node *)[l->node_list.n - 1] = n;
            return n;
        }
        node *n = *at < l->node_list.n ? VEC(&l->node_list, node *)[*at] : NULL;
        if (!n) return NULL;
        known before = n->at;
        before.place = n->before;
        if (n->key == key && same_known(&before, k)) return n;
    }
}

static void remember(layout *l, node *from, const gap *g) {
    if (!from || g->n == 0 || from->spare || g->next->spare) return;
    gap *to;
    if (from->n_gaps < MAX_GAPS) {
        to = ARENA_NEW(&l->memory, gap);
        if (!to) return;
        from->gaps[from->n_gaps++] = to;
    } else { /* forget the oldest */
        to = from->gaps[from->oldest];
        from->oldest = (uint8_t)((from->oldest + 1) % MAX_GAPS);
    }
    *to = *g;
}

typedef enum {
    WALK_VALUE,
    WALK_END,
    WALK_CLEAN,
    WALK_MORE,
    WALK_SYNTAX,
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

static bool emit(layout *l, const known *k) {
    event *e = &l->e;
    e->ph = k->ph;
    e->scope = k->scope;
    e->enclosing = k->enclosing;
    e->category = k->category;
    if (__builtin_expect(l->pending.n != 0, 0)) count_pending(l);
    status s = l->sink.emit(l->sink.context, e);
    e->has = 0;
    e->n_values = 0;
    e->fields = 0;
    e->duplicate = false;
    if (s != OK && l->failure == OK) l->failure = s;
    return l->failure == OK;
}

static void begin_event(walk *w, const char *from) {
    size_t at = (size_t)(w->p - from);
    w->g.begin_at = at < MAX_GAP_BYTES ? (uint16_t)at : 0;
    w->checkpoint = w->p;
    count_pending(w->l); /* odd commas before it are not read again */
    w->k = (known){.context = IN_EVENT};
    w->fresh = true;
    w->comma = false;
    w->l->e.duplicate = false;
    w->l->e.offset = offset_of(w->l, w->p);
    w->l->e.has = 0;
    w->l->e.n_values = 0;
    w->l->e.fields = 0;
}

static void odd_comma(walk *w) {
    lose(w->l, CAUSE_TRAILING_COMMA, offset_of(w->l, w->p), 0);
    w->learn = false;
}

/* Between events. */
static walk_result walk_list(walk *w, const char *from) {
    char c = *w->p;
    if (c == ',') {
        if (w->comma) odd_comma(w);
        w->comma = true;
        w->p++;
    } else if (c == '{') {
        begin_event(w, from);
        w->p++;
    } else if (c == ']') {
        if (w->comma) odd_comma(w);
        w->p++;
        return WALK_END;
    } else {
        return WALK_SYNTAX;
    }
    return WALK_VALUE;
}

/* The closing bracket of args or of the event. */
static walk_result walk_close(walk *w) {
    if (w->comma) odd_comma(w);
    w->comma = w->fresh = false; /* the bracket around is no longer empty */
    w->p++;
    if (w->k.context == IN_ARGS) {
        w->k.context = IN_EVENT;
        return WALK_VALUE;
    }
    if (!emit(w->l, &w->k)) return WALK_FAILED;
    w->checkpoint = w->p;
    if (w->g.ends) w->learn = false; /* two events end in one gap: not worth remembering */
    w->g.ends = true;
    w->g.ending = w->k;
    w->k = (known){.context = IN_LIST};
    return WALK_VALUE;
}

static void fold_category(walk *w, str text) {
    size_t before = w->l->pending.n;
    bool escaped = memchr(text.p, '\\', text.n) != NULL;
    w->k.category = escaped ? escaped_string(w->l, text, w->p) : plain_string(w->l, text, w->p);
    if (w->l->pending.n > before) w->learn = false; /* damage is counted each time it is met */
}

typedef enum { FOLDED, NOT_FOLDED, FOLD_CUT } fold_result;

/* Words that belong to the layout: ph, cat, s, bp. FOLDED when the value is now in `known`. When it
 * is something else this time, the way to it must not be learned: the next event would take it. */
static fold_result fold(walk *w, str key) {
    if (w->k.context != IN_EVENT) return NOT_FOLDED;
    bool ph = str_eq(key, STR("ph")), cat = str_eq(key, STR("cat")), s = str_eq(key, STR("s")),
         bp = str_eq(key, STR("bp")), learn = w->learn;
    if (ph || cat || s || bp || str_eq(key, STR("args"))) w->learn = false;
    if ((!ph && !cat && !s && !bp) || *w->p != '"') return NOT_FOLDED;
    const char *close = json_string_end(w->p + 1, w->end);
    const char *behind = close ? json_space(close + 1, w->end) : w->end;
    if (behind == w->end) return FOLD_CUT;
    str text = str_n(w->p + 1, (size_t)(close - w->p - 1));
    if (text.n > MAX_FOLDED_BYTES || (*behind != ',' && *behind != '}')) return NOT_FOLDED;
    char first = text.n ? text.p[0] : 0;
    if (ph) w->k.ph = text.n == 1 ? first : '?';
    if (s) w->k.scope = first;
    if (bp) w->k.enclosing = first == 'e';
    w->learn = learn;
    if (cat) fold_category(w, text);
    w->p = close + 1;
    return FOLDED;
}

/* A key and its colon; ends at a value or behind a folded one. */
static walk_result walk_key(walk *w) {
    const char *close = json_string_end(w->p + 1, w->end);
    if (!close) return WALK_MORE;
    str key = str_n(w->p + 1, (size_t)(close - w->p - 1));
    const char *p = json_space(close + 1, w->end);
    if (p == w->end) return WALK_MORE;
    if (*p != ':') return WALK_SYNTAX;
    p = json_space(p + 1, w->end);
    if (p == w->end) return WALK_MORE;
    if (memchr(key.p, '\\', key.n)) {
        key = intern_get(w->l->strings, escaped_string(w->l, key, key.p));
        w->learn = false;
    }
    w->p = p;
    w->fresh = w->comma = false;
    if (w->k.context == IN_EVENT && *p == '{' && str_eq(key, STR("args"))) {
        w->k.context = IN_ARGS;
        w->fresh = true;
        w->p++;
        return WALK_VALUE;
    }
    fold_result folded = fold(w, key);
    if (folded != NOT_FOLDED) return folded == FOLDED ? WALK_VALUE : WALK_MORE;
    w->next = find_node(w->l, &w->k, key);
    if (!w->next) w->l->failure = ERR_MEMORY;
    return w->next ? WALK_VALUE : WALK_FAILED;
}

/* One token of a gap. WALK_VALUE goes on (or, with w->next set, is at a value). */
static walk_result walk_token(walk *w, const char *from) {
    char c = *w->p;
    if (w->k.context == IN_LIST) return walk_list(w, from);
    if (c == '}') return walk_close(w);
    if (c == ',' && !w->fresh && !w->comma) {
        w->comma = true;
        w->p++;
        return WALK_VALUE;
    }
    if (c == ',' && !w->fresh) { /* two commas */
        odd_comma(w);
        w->p++;
        return WALK_VALUE;
    }
    return c == '"' && (w->comma || w->fresh) ? walk_key(w) : WALK_SYNTAX;
}

/* From behind a value of `from_node` (or from the list, NULL) to the next value. */
static walk_result walk_gap(walk *w, node *from_node) {
    const char *from = w->p;
    w->g.ends = false;
    w->next = NULL;
    w->comma = !from_node && w->l->comma;
    w->fresh = false;
    w->learn = from_node != NULL;
    w->k = from_node ? from_node->at : (known){.context = IN_LIST};
    while (!w->next) {
        w->p = json_space(w->p, w->end);
        if (w->p == w->end) return w->k.context == IN_LIST ? WALK_CLEAN : WALK_MORE;
        walk_result r = walk_token(w, from);
        if (r != WALK_VALUE) return r;
    }
    size_t n = (size_t)(w->p - from);
    if (w->learn && n <= MAX_GAP_BYTES) {
        w->g.n = (uint16_t)n;
        w->g.next = w->next;
        memset(w->g.bytes, 0, sizeof w->g.bytes);
        memcpy(w->g.bytes, from, n);
        remember(w->l, from_node, &w->g);
    }
    return WALK_VALUE;
}

/* ---- repair of strings with unescaped quotes ---- */

/* Does a value end plausibly behind the quote at p? A comma must be followed by a key. */
static bool closes_value(const char *p, const char *end) {
    p = json_space(p + 1, end);
    if (p == end) return false;
    if (*p == '}') return true;
    if (*p != ',') return false;
    p = json_space(p + 1, end);
    if (p == end || *p != '"') return false;
    const char *close = json_string_end(p + 1, end);
    if (!close) return false;
    close = json_space(close + 1, end);
    return close < end && *close == ':';
}

/* How far the string at p may reach: nearby, and not into the next event. With that the answer does
 * not depend on where the bytes end: either there is a border, or whoever asked for the event waits
 * for more bytes. */
static const char *repair_limit(layout *l, const char *p, const char *end) {
    const char *limit = end - p > MAX_REPAIR_BYTES ? p + MAX_REPAIR_BYTES : end;
    uint64_t here = offset_of(l, p);
    if (here < l->border_from || here >= l->border) {
        const char *border = layout_next_border(p, limit);
        l->border_from = here;
        l->border = border ? offset_of(l, border) : here; /* here: not known */
    }
    return l->border > here ? p + (l->border - here) : limit;
}

/* The first quote behind p that closes a value, NULL when there is none. */
static const char *find_end_quote(layout *l, const char *p, const char *end) {
    const char *limit = repair_limit(l, p, end), *close = p;
    while ((close = memchr(close + 1, '"', (size_t)(limit - close - 1))))
        if (close[-1] != '\\' && closes_value(close, end)) return close;
    return NULL;
}

/* The last value was a string that ended at a quote which was not its end: takes the text up to the
 * quote that is. Returns the position behind it, NULL when there is none. */
static const char *repair_string(layout *l, const node *n, const char *end) {
    const char *p = l->string_start;
    if (!p) return NULL;
    const char *close = find_end_quote(l, p, end);
    if (!close) return NULL;
    /* What was found in the piece of it that was taken for the whole is found again. */
    while (l->pending.n &&
           VEC(&l->pending, pending_loss)[l->pending.n - 1].offset >= offset_of(l, p))
        l->pending.n--;
    uint32_t id = escaped_string(l, str_n(p + 1, (size_t)(close - p - 1)), p);
    lose(l, CAUSE_UNESCAPED_QUOTE, offset_of(l, p), id);
    raw_value *last = l->e.n_values ? &l->e.values[l->e.n_values - 1] : NULL;
    if (n->field == FIELD_NAME)
        l->e.name = id;
    else if (last && last->place == n->at.place) /* else it was one too many and not kept */
        last->v = id;
    l->string_start = NULL;
    return close + 1;
}

/* ---- the loop ---- */

/* The remembered gap that stands at p, or NULL. A gap that helped moves one place to the front. */
static inline gap *predict(node *n, const char *p, const char *end) {
    size_t left = (size_t)(end - p);
    for (unsigned i = 0; i < n->n_gaps; i++) {
        gap *g = n->gaps[i];
        if (g->n <= left && scan_equal(p, g->bytes, g->n)) {
            if (i > 0) {
                n->gaps[i] = n->gaps[i - 1];
                n->gaps[i - 1] = g;
            }
            return g;
        }
    }
    return NULL;
}

static layout_result finish(walk *w, walk_result r, const char **stop) {
    layout *l = w->l;
    bool no_event = r == WALK_SYNTAX && w->k.context == IN_LIST;
    if (no_event) w->checkpoint = w->p;
    if (no_event || r == WALK_END || r == WALK_CLEAN) count_pending(l);
    l->comma = r == WALK_CLEAN && w->comma;
    *stop = w->checkpoint;
    switch (r) {
    case WALK_END: *stop = w->p; return LAYOUT_END;
    case WALK_CLEAN: *stop = w->end; return LAYOUT_CLEAN;
    case WALK_MORE: return LAYOUT_INCOMPLETE;
    case WALK_SYNTAX: return LAYOUT_DAMAGED;
    default:
        if (l->failure == OK) l->failure = ERR_MEMORY;
        return LAYOUT_FAILED;
    }
}

/* Is there no value, as in `"ts":,`, rather than one that is cut? */
static bool lacks_value(const char *p) {
    return *p == ',' || *p == ':' || *p == '}' || *p == ']';
}

/* The general path behind a value, with one try to repair a string. */
static walk_result walk_or_repair(walk *w, node *n) {
    const char *from = w->p;
    walk_result r = walk_gap(w, n);
    if (r == WALK_SYNTAX && n && w->p == json_space(from, w->end) && w->l->string_start) {
        const char *behind = repair_string(w->l, n, w->end);
        if (!behind) return WALK_SYNTAX;
        w->p = behind;
        w->l->string_start = NULL;
        r = walk_gap(w, n);
    }
    return r;
}

layout_result layout_parse(layout *l, const char *p, const char *end, uint64_t base,
                           const char **stop) {
    walk w = {.l = l, .p = p, .end = end, .checkpoint = p};
    l->base = base;
    l->start = p;
    l->failure = OK;
    l->pending.n = 0;
    walk_result r = walk_gap(&w, NULL);
    if (r != WALK_VALUE) return finish(&w, r, stop);
    node *n = w.next;
    p = w.p;
    for (;;) {
        const char *value = p;
        p = read_value(l, n, p, end);
        if (__builtin_expect(!p || p >= end, 0)) {
            const char *first = json_space(value, end);
            if (p || first == end) return finish(&w, WALK_MORE, stop);
            if (first == value)
                return finish(&w, lacks_value(value) ? WALK_SYNTAX : WALK_MORE, stop);
            p = first; /* more white space in front of the value than was learned */
            continue;
        }
        gap *g = predict(n, p, end);
        if (__builtin_expect(g != NULL, 1)) {
            if (g->ends) {
                if (!emit(l, &g->ending)) return finish(&w, WALK_FAILED, stop);
                w.checkpoint = p + g->begin_at;
                l->e.offset = offset_of(l, w.checkpoint);
            }
            p += g->n;
            n = g->next;
            continue;
        }
        w.p = p;
        r = walk_or_repair(&w, n);
        if (r != WALK_VALUE) return finish(&w, r, stop);
        n = w.next;
        p = w.p;
    }
}

const char *layout_next_border(const char *p, const char *end) {
    while ((p = memchr(p, '}', (size_t)(end - p)))) {
        const char *q = json_space(p + 1, end);
        bool comma = q < end && *q == ',';
        while (q < end && (*q == ',' || json_is_space(*q))) q++; /* one, or too many */
        if (comma && q < end && *q == '{') {
            const char *key = json_space(q + 1, end);
            if (key < end && *key == '"') return q;
        }
        p++;
    }
    return NULL;
}
