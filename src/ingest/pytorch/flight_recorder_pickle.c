/* flight_recorder_pickle.c: the entries of a dump that is a pickle, from its values.
 *
 * What is around the entries is small and becomes JSON (pickle.h executes nothing), so both
 * forms of a dump take one way. Entries are read from the values of the pickle: a rank makes
 * the same calls over and over, so their stacks, sizes and groups are a few lists that come
 * again and again, though each is written out. A list is made into a row of words that is the
 * same for lists that look the same; only one that was not met before is written as JSON and
 * read. */
#include "base/intern.h"
#include "base/json.h"
#include "base/num.h"
#include "ingest/pytorch/flight_recorder_int.h"

enum {
    MOST_LEVELS = 6,
    LEVEL_OF_FIELDS = 3,
    MOST_WORDS = 4096,   /* of a list that is looked for: 64 frames have some 500 */
    MOST_KEPT = 1 << 22, /* words of all of them */
    SMALL = 1 << 24,     /* numbers below are one value each */
    MOST_KEYS = 64,
    RECENT_TEXTS = 64 /* a power of two */
};
/* A small pickle of lists in lists may stand for a large text: beyond this it is not a dump,
 * and the rest is null. */
#define MOST_TEXT ((size_t)256 << 20)

/* ---- values as JSON ---------------------------------------------------------------------- */

static void write_value(const pickle *p, pickle_value v, int depth, buf *out);

/* `apart`: the key of a list that is left empty; PICKLE_ABSENT: none is. */
static void write_pairs(const pickle *p, pickle_value v, int depth, pickle_value apart,
                        buf *out) {
    pickle_value key, value;
    const char *between = "{";
    for (pickle_iter it = pickle_pairs(p, v); pickle_next_pair(p, &it, &key, &value);) {
        str text;
        if (!pickle_text(p, key, &text)) continue;
        buf_add_cstr(out, between);
        buf_add_json(out, text);
        buf_add_byte(out, ':');
        if (key == apart && pickle_kind_of(value) == PICKLE_KIND_LIST)
            buf_add_cstr(out, "[]");
        else
            write_value(p, value, depth + 1, out);
        between = ",";
    }
    buf_add_cstr(out, *between == '{' ? "{}" : "}");
}

static void write_items(const pickle *p, pickle_value v, int depth, buf *out) {
    pickle_value item;
    const char *between = "[";
    for (pickle_iter it = pickle_items(p, v); pickle_next(p, &it, &item);) {
        buf_add_cstr(out, between);
        write_value(p, item, depth + 1, out);
        between = ",";
    }
    buf_add_cstr(out, *between == '[' ? "[]" : "]");
}

static void write_value(const pickle *p, pickle_value v, int depth, buf *out) {
    pickle_kind kind = pickle_kind_of(v);
    str text;
    int64_t i;
    double d;
    if (depth > MOST_LEVELS || out->n > MOST_TEXT || !buf_ok(out))
        buf_add_cstr(out, "null");
    else if (kind == PICKLE_KIND_DICT)
        write_pairs(p, v, depth, PICKLE_ABSENT, out);
    else if (kind == PICKLE_KIND_LIST)
        write_items(p, v, depth, out);
    else if (pickle_text(p, v, &text))
        buf_add_json(out, text);
    else if (kind == PICKLE_KIND_BOOL && pickle_i64(p, v, &i))
        buf_add_cstr(out, i ? "true" : "false");
    else if (pickle_i64(p, v, &i))
        buf_add_i64(out, i);
    else if (pickle_f64(p, v, &d) && d > -1e300 && d < 1e300)
        buf_add_f64(out, d);
    else
        buf_add_cstr(out, "null");
}

/* All of a dump but its entries, which stay values. */
static void write_dump(recorder *r, buf *out) {
    const pickle *p = r->pickle;
    pickle_value root = pickle_root(p), entries = pickle_key(p, STR("entries")), key, value;
    if (pickle_kind_of(root) != PICKLE_KIND_DICT) {
        write_value(p, root, 0, out);
        return;
    }
    for (pickle_iter it = pickle_pairs(p, root); pickle_next_pair(p, &it, &key, &value);)
        if (key == entries && pickle_kind_of(value) == PICKLE_KIND_LIST && !r->entries)
            r->entries = value;
    write_pairs(p, root, 0, entries, out);
}

status flight_read_pickle(recorder *r, source *src, const ingest_options *o, buf *json,
                          error *err) {
    TRY(pickle_read(src, o, &r->pickle, err));
    uint64_t n = pickle_input_bytes(r->pickle);
    write_dump(r, json);
    if (pickle_is_cut(r->pickle)) part_lost(r->part, CAUSE_TRUNCATED, n, 0);
    builder_set_input_bytes(r->b, n);
    if (!buf_ok(json)) FAIL_MEMORY(err);
    return OK;
}

/* ---- lists that were met before ---------------------------------------------------------- */

/* A key at one place of the last entry, and what it means. */
typedef struct {
    pickle_value key;
    int field; /* N_FLIGHT_FIELDS: nothing */
} known_key;

typedef struct {
    uint32_t first, n; /* in words */
    uint32_t list;     /* in recorder.lists */
    uint32_t after;    /* known: the one that came after it; itself at first */
} known_list;

typedef struct {
    pickle_value text;
    uint32_t id; /* of the string */
} recent_text;

typedef struct {
    recorder *r;
    const pickle *p;
    pickle_value keys[N_FLIGHT_FIELDS];
    known_key last[MOST_KEYS];
    const pickle_value *row_keys;        /* of the last entry that was a row */
    uint8_t row_places[N_FLIGHT_FIELDS]; /* of its values; MOST_KEYS: it has none */
    recent_text texts[RECENT_TEXTS];
    uint32_t recent[N_FLIGHT_LISTS]; /* known: the last one of each field; MAP_NONE: none */
    map hashes;                      /* of words → known */
    vec known;                       /* known_list */
    vec words; /* uint32_t: of the known lists, followed by those of the current one */
    buf json;
    size_t spent; /* of MOST_TEXT */
} reader;

static bool add_word(reader *x, uint32_t word) {
    uint32_t *place = vec_push(&x->words);
    if (place) *place = word;
    return place != NULL;
}

static bool add_marked(reader *x, pickle_kind kind, uint32_t word) {
    return add_word(x, PICKLE_ABSENT) && add_word(x, (uint32_t)kind) && add_word(x, word);
}

/* The words of a value: equal ones for values that look the same (a number that is not whole,
 * or beyond 63 bits, looks like no other). What is small or a text is its own word; of the
 * rest the first word is one that no value has. False: too many, or no memory. */
static bool add_words(reader *x, size_t first, pickle_value v, int depth) {
    pickle_kind kind = pickle_kind_of(v);
    pickle_value key, item;
    pickle_iter it;
    int64_t i;
    if (depth > MOST_LEVELS || x->words.n - first > MOST_WORDS) return false;
    switch (kind) {
    case PICKLE_KIND_LIST:
        if (!add_marked(x, kind, pickle_count(x->p, v))) return false;
        for (it = pickle_items(x->p, v); pickle_next(x->p, &it, &item);)
            if (!add_words(x, first, item, depth + 1)) return false;
        return true;
    case PICKLE_KIND_DICT:
        if (!add_marked(x, kind, pickle_count(x->p, v))) return false;
        for (it = pickle_pairs(x->p, v); pickle_next_pair(x->p, &it, &key, &item);)
            if (!add_words(x, first, key, depth + 1) || !add_words(x, first, item, depth + 1))
                return false;
        return true;
    case PICKLE_KIND_INT:
        if (pickle_i64(x->p, v, &i) && (i < -SMALL || i >= SMALL))
            return add_marked(x, kind, (uint32_t)i) && add_word(x, (uint32_t)(i >> 32));
        return add_word(x, v);
    default: return add_word(x, v);
    }
}

static str json_of(reader *x, pickle_value v) {
    buf_clear(&x->json);
    if (v != PICKLE_ABSENT && x->spent < MOST_TEXT)
        write_value(x->p, v, LEVEL_OF_FIELDS, &x->json);
    x->spent += x->json.n;
    return buf_str(&x->json);
}

/* A list that was not met before; UINT32_MAX: out of memory. */
static uint32_t read_list(reader *x, int field, pickle_value v) {
    str json = json_of(x, v);
    uint32_t list = buf_ok(&x->json) ? flight_add_list(x->r, field, json) : UINT32_MAX;
    x->r->last_group = STR_NONE; /* the next one is written over it */
    return list;
}

/* The end of the words of v, when they are those at w; NULL: they are not. */
static const uint32_t *match_words(const reader *x, pickle_value v, const uint32_t *w,
                                   const uint32_t *end);

static const uint32_t *match_items(const reader *x, pickle_value v, const uint32_t *w,
                                   const uint32_t *end) {
    const pickle_value *items;
    uint32_t n;
    if (!pickle_run(x->p, v, &items, &n) || w[2] != n) return NULL;
    w += 3;
    for (uint32_t i = 0; i < n && w; i++) w = match_words(x, items[i], w, end);
    return w;
}

static const uint32_t *match_pairs(const reader *x, pickle_value v, const uint32_t *w,
                                   const uint32_t *end) {
    const pickle_value *keys, *values;
    uint32_t n;
    if (!pickle_row(x->p, v, &keys, &values, &n) || w[2] != n) return NULL;
    w += 3;
    for (uint32_t i = 0; i < n && w; i++)
        w = w < end && *w == keys[i] ? match_words(x, values[i], w + 1, end) : NULL;
    return w;
}

static const uint32_t *match_words(const reader *x, pickle_value v, const uint32_t *w,
                                   const uint32_t *end) {
    if (w == end || v == PICKLE_ABSENT) return NULL;
    if (*w == v) return w + 1;
    if (*w != PICKLE_ABSENT || end - w < 3) return NULL;
    if (w[1] == PICKLE_KIND_LIST) return match_items(x, v, w, end);
    return w[1] == PICKLE_KIND_DICT ? match_pairs(x, v, w, end) : NULL;
}

static bool is_known(const reader *x, uint32_t known, pickle_value v) {
    const known_list *k = &VEC(&x->known, known_list)[known];
    const uint32_t *w = VEC(&x->words, uint32_t) + k->first, *end = w + k->n;
    return match_words(x, v, w + 1, end) == end; /* the first word is the field */
}

/* A rank goes round and round: first the list is tried that came after the last one of this
 * field before, then that one again. MAP_NONE: it is neither. */
static uint32_t guess_list(const reader *x, int field, pickle_value v) {
    uint32_t last = x->recent[field - FLIGHT_GROUP];
    if (last == MAP_NONE) return MAP_NONE;
    uint32_t after = VEC(&x->known, known_list)[last].after;
    if (is_known(x, after, v)) return after;
    return after != last && is_known(x, last, v) ? last : MAP_NONE;
}

static uint32_t follow(reader *x, int field, uint32_t known) {
    uint32_t *last = &x->recent[field - FLIGHT_GROUP];
    if (*last != MAP_NONE) VEC(&x->known, known_list)[*last].after = known;
    *last = known;
    const known_list *k = &VEC(&x->known, known_list)[known];
    x->spent += k->n;
    return k->list;
}

static uint32_t list_of(reader *x, int field, pickle_value v) {
    uint32_t guess = guess_list(x, field, v);
    if (guess != MAP_NONE) return follow(x, field, guess);
    size_t first = x->words.n;
    bool whole = add_word(x, (uint32_t)field) && add_words(x, first, v, LEVEL_OF_FIELDS);
    size_t n = x->words.n - first;
    const uint32_t *words = VEC(&x->words, uint32_t) + first;
    x->words.n = first;
    if (!whole || first > MOST_KEPT) {
        x->spent += n;
        return read_list(x, field, v);
    }
    uint64_t hash = intern_hash(str_n((const char *)words, n * sizeof *words));
    uint32_t *at = map_at(&x->hashes, hash);
    if (!at) return UINT32_MAX;
    if (*at != MAP_NONE) {
        const known_list *k = &VEC(&x->known, known_list)[*at];
        bool same = k->n == n &&
                    memcmp(VEC(&x->words, uint32_t) + k->first, words, n * sizeof *words) == 0;
        return same ? follow(x, field, *at) : read_list(x, field, v);
    }
    *at = (uint32_t)x->known.n;
    known_list *k = vec_push(&x->known);
    if (!k) return UINT32_MAX;
    x->words.n = first + n;
    *k = (known_list){(uint32_t)first, (uint32_t)n, read_list(x, field, v), *at};
    return k->list == UINT32_MAX ? UINT32_MAX : follow(x, field, *at);
}

/* ---- entries ----------------------------------------------------------------------------- */

static int64_t number_of(reader *x, int field, pickle_value v) {
    int64_t i;
    if (pickle_kind_of(v) == PICKLE_KIND_INT && pickle_i64(x->p, v, &i))
        return flight_checked(i, field);
    return flight_number(json_of(x, v), field);
}

static uint32_t text_of(reader *x, pickle_value v) {
    if (pickle_kind_of(v) != PICKLE_KIND_TEXT) return flight_id(x->r, json_of(x, v));
    recent_text *t = &x->texts[v / 8 % RECENT_TEXTS]; /* below, all texts are treated the
                                                         same */
    if (t->text != v) *t = (recent_text){v, flight_id(x->r, json_of(x, v))};
    return t->id;
}

static bool is_true(const pickle *p, pickle_value v) {
    int64_t i = 0;
    return pickle_kind_of(v) == PICKLE_KIND_BOOL && pickle_i64(p, v, &i) && i;
}

static int field_of(const reader *x, pickle_value key) {
    int field = 0;
    while (field < N_FLIGHT_FIELDS && x->keys[field] != key) field++;
    return field;
}

/* Where the fields of an entry of these keys are; the first of equal ones counts. */
static void learn_row(reader *x, const pickle_value *keys, uint32_t n) {
    x->row_keys = keys;
    memset(x->row_places, MOST_KEYS, sizeof x->row_places);
    for (uint32_t i = n; COUNT_DOWN(i);) {
        int field = field_of(x, keys[i]);
        if (field < N_FLIGHT_FIELDS) x->row_places[field] = (uint8_t)i;
    }
}

/* The first of equal keys counts. Entries are written by one function: nearly all of them have
 * the keys of the last one, and if not all of them, then the key of this place. */
static void find_fields(reader *x, pickle_value entry, pickle_value *out) {
    const pickle_value *keys, *values;
    pickle_value key, value;
    uint32_t n;
    size_t i = 0;
    if (pickle_row(x->p, entry, &keys, &values, &n) && n <= MOST_KEYS) {
        if (keys != x->row_keys) learn_row(x, keys, n);
        for (int f = 0; f < N_FLIGHT_FIELDS; f++)
            out[f] = x->row_places[f] < n ? values[x->row_places[f]] : PICKLE_ABSENT;
        x->spent += n + sizeof(flight_entry);
        return;
    }
    for (int f = 0; f < N_FLIGHT_FIELDS; f++) out[f] = PICKLE_ABSENT;
    for (pickle_iter it = pickle_pairs(x->p, entry); pickle_next_pair(x->p, &it, &key, &value);
         i++) {
        known_key *k = &x->last[i % MOST_KEYS];
        if (k->key != key) *k = (known_key){key, field_of(x, key)};
        if (k->field < N_FLIGHT_FIELDS && out[k->field] == PICKLE_ABSENT) out[k->field] = value;
    }
    x->spent += i + sizeof(flight_entry);
}

static status read_entry(reader *x, pickle_value entry, flight_entry *e) {
    pickle_value v[N_FLIGHT_FIELDS];
    find_fields(x, entry, v);
    for (int f = 0; f < N_FLIGHT_NUMBERS; f++) e->number[f] = number_of(x, f, v[f]);
    e->name = text_of(x, v[FLIGHT_NAME]);
    e->state = text_of(x, v[FLIGHT_STATE]);
    e->retired = is_true(x->p, v[FLIGHT_RETIRED]);
    e->p2p = is_true(x->p, v[FLIGHT_IS_P2P]);
    bool ok = e->name != UINT32_MAX && e->state != UINT32_MAX && buf_ok(&x->json);
    for (int i = 0; i < N_FLIGHT_LISTS && ok; i++) {
        e->list[i] = list_of(x, FLIGHT_GROUP + i, v[FLIGHT_GROUP + i]);
        ok = e->list[i] != UINT32_MAX;
    }
    return ok ? OK : ERR_MEMORY;
}

status flight_pickle_entries(recorder *r, vec *entries) {
    reader x = {
        .r = r, .p = r->pickle, .known = VEC_INIT(known_list), .words = VEC_INIT(uint32_t)};
    pickle_value item;
    status st = OK;
    for (int i = 0; i < N_FLIGHT_LISTS; i++) x.recent[i] = MAP_NONE;
    for (int f = 0; f < N_FLIGHT_FIELDS; f++)
        x.keys[f] = pickle_key(r->pickle, FLIGHT_FIELDS[f]);
    for (int i = 0; i < MOST_KEYS; i++) x.last[i] = (known_key){PICKLE_ABSENT, N_FLIGHT_FIELDS};
    pickle_iter it = pickle_items(r->pickle, r->entries);
    while (st == OK && x.spent < MOST_TEXT && pickle_next(r->pickle, &it, &item)) {
        flight_entry *e = vec_push(entries);
        st = e ? read_entry(&x, item, e) : ERR_MEMORY;
    }
    uint64_t n_lost = pickle_count(r->pickle, r->entries) - entries->n;
    if (st == OK && n_lost) {
        part_count(r->part, n_lost, n_lost);
        part_lost_many(r->part, CAUSE_MISSING_NAME, n_lost);
    }
    map_fini(&x.hashes);
    vec_fini(&x.known);
    vec_fini(&x.words);
    buf_fini(&x.json);
    return st;
}
