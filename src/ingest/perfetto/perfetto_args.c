/* perfetto_args.c: interned words, and the arguments of events (debug annotations).
 *
 * Each sequence numbers its own words, which are forgotten when it says that it begins again.
 * An argument is a number, a text, JSON, or a tree of such; a tree is kept as JSON text. A
 * number that a column has no room for (beyond 63 bits, a fraction) is kept as its digits. */
#include "base/json.h"
#include "ingest/perfetto/perfetto_int.h"

/* ---- words ---- */

enum { N_TABLE_BITS = 3 };

static uint64_t word_key(word_table table, uint64_t iid) {
    return iid << N_TABLE_BITS | (uint64_t)table;
}

static word_memo *find_word_memo(reader *r, uint64_t key) {
    return &r->words[(key ^ key >> 10) % N_MEMOS];
}

uint32_t words_find(reader *r, const sequence *q, word_table table, uint64_t iid) {
    uint64_t key = word_key(table, iid);
    word_memo *m = find_word_memo(r, key);
    if (m->id && m->key == key && m->state == q->state) return m->id;
    uint32_t id = map_get(&q->words, key);
    if (id == MAP_NONE) return 0;
    *m = (word_memo){key, q->state, id};
    return id;
}

/* "train.py:12 step": the file, its line, the function. */
static uint32_t place_text(reader *r, str file, str function, uint64_t line) {
    buf_clear(&r->text);
    buf_add_str(&r->text, file);
    if (line) buf_printf(&r->text, ":%llu", (unsigned long long)line);
    if (function.n && r->text.n) buf_add_byte(&r->text, ' ');
    buf_add_str(&r->text, function);
    r->failed |= !buf_ok(&r->text);
    return r->failed ? 0 : perfetto_string(r, buf_str(&r->text));
}

static status add_word(reader *r, sequence *q, word_table table, str entry) {
    pb_reader w = pb_open(entry);
    pb_field f;
    uint64_t iid = 0, line = 0;
    str text = STR_NONE, function = STR_NONE;
    while (pb_next(&w, &f)) {
        if (f.tag == PB_VARINT(1)) iid = f.v;
        if (f.tag == PB_BYTES(2)) text = pb_bytes(&f);
        if (f.tag == PB_BYTES(3)) function = pb_bytes(&f);
        if (f.tag == PB_VARINT(4)) line = f.v;
    }
    if (!iid || iid >> (64 - N_TABLE_BITS)) return OK;
    uint32_t id =
        table == WORDS_PLACE ? place_text(r, text, function, line) : perfetto_string(r, text);
    uint32_t *at = map_at(&q->words, word_key(table, iid));
    if (!at || r->failed) return ERR_MEMORY;
    find_word_memo(r, word_key(table, iid))->id = 0;
    *at = id;
    return OK;
}

status words_take(reader *r, sequence *q, str interned) {
    static const struct {
        uint32_t tag;
        word_table table;
    } tables[] = {{PB_BYTES(1), WORDS_CATEGORY},
                  {PB_BYTES(2), WORDS_NAME},
                  {PB_BYTES(3), WORDS_KEY},
                  {PB_BYTES(4), WORDS_PLACE},
                  {PB_BYTES(29), WORDS_VALUE}};
    pb_reader w = pb_open(interned);
    pb_field f;
    while (pb_next(&w, &f))
        for (size_t i = 0; i < N_OF(tables); i++)
            if (f.tag == tables[i].tag) TRY(add_word(r, q, tables[i].table, pb_bytes(&f)));
    return OK;
}

/* ---- arguments ---- */

static status place_of(reader *r, uint32_t parent, uint32_t key, uint32_t *out) {
    place_memo *m = &r->places[(parent * 31 + key) % N_MEMOS];
    if (!m->place || m->above != parent || m->key != key)
        *m = (place_memo){parent, key, builder_shape(r->b, parent, key)};
    *out = m->place;
    return m->place ? OK : ERR_MEMORY;
}

static status field_of(reader *r, uint32_t key, uint8_t *out) {
    uint8_t *slot = vec_at(&r->key_fields, key);
    if (!slot) return ERR_MEMORY;
    if (!*slot)
        *slot = (uint8_t)(r->sink->dialect->field_of(intern_get(r->sink->strings, key)) + 1);
    *out = (uint8_t)(*slot - 1);
    return OK;
}

static status add_value(reader *r, uint32_t key, raw_value v) {
    event *e = &r->e;
    uint8_t field = 0;
    uint32_t above = e->n_values ? e->values[e->n_values - 1].place : 0;
    if (e->n_values == MAX_VALUES) {
        part_lost(r->part, CAUSE_ARGUMENTS_DROPPED, e->offset, key);
        return OK;
    }
    TRY(field_of(r, key, &field));
    if (field == FIELD_SKIPPED) return OK;
    TRY(place_of(r, above, key, &v.place));
    for (size_t i = 0; i < e->n_values; i++) e->duplicate |= e->keys[i] == key;
    if (field) {
        e->fields |= 1ull << field;
        e->at[field] = (uint16_t)e->n_values;
    }
    e->keys[e->n_values] = key;
    e->values[e->n_values++] = v;
    return OK;
}

status args_add_text(reader *r, uint32_t key, uint32_t text) {
    return add_value(r, key, (raw_value){.tag = VALUE_STRING, .v = text});
}

/* ---- trees ---- */

static void add_number(buf *out, uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    if (isfinite(v))
        buf_add_f64(out, v);
    else
        buf_add_cstr(out, isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

static void add_pointer(buf *out, uint64_t v) {
    buf_printf(out, "\"0x%llx\"", (unsigned long long)v);
}

/* JSON of another program, if it is such; else its text. */
static void add_foreign_json(buf *out, str text) {
    const char *end = text.p + text.n;
    const char *at = text.n ? json_space(text.p, end) : NULL;
    const char *stop = at && at < end ? json_value_end(at, end) : NULL;
    if (stop && json_space(stop, end) == end)
        (void)json_normal(str_n(at, (size_t)(stop - at)), out);
    else
        buf_add_json(out, text);
}

/* A value that is one field; false when the field is not a value. */
static bool add_plain(reader *r, const sequence *q, const pb_field *f, buf *out) {
    switch (f->tag) {
    case PB_VARINT(2): buf_add_cstr(out, f->v ? "true" : "false"); return true;
    case PB_VARINT(3): buf_add_u64(out, f->v); return true;
    case PB_VARINT(4): buf_add_i64(out, (int64_t)f->v); return true;
    case PB_TAG(5, WIRE_FIXED64): add_number(out, f->v); return true;
    case PB_BYTES(6): buf_add_json(out, pb_bytes(f)); return true;
    case PB_VARINT(7): add_pointer(out, f->v); return true;
    case PB_BYTES(9): add_foreign_json(out, pb_bytes(f)); return true;
    case PB_VARINT(17):
        buf_add_json(out, intern_get(r->sink->strings, words_find(r, q, WORDS_VALUE, f->v)));
        return true;
    default: return false;
    }
}

static str key_of(reader *r, const sequence *q, str annotation) {
    pb_reader w = pb_open(annotation);
    pb_field f;
    while (pb_next(&w, &f)) {
        if (f.tag == PB_BYTES(10)) return pb_bytes(&f);
        if (f.tag == PB_VARINT(1))
            return intern_get(r->sink->strings, words_find(r, q, WORDS_KEY, f.v));
    }
    return STR_NONE;
}

static bool add_old_plain(const pb_field *f, buf *out) {
    switch (f->tag) {
    case PB_VARINT(5): buf_add_i64(out, (int64_t)f->v); return true;
    case PB_TAG(6, WIRE_FIXED64): add_number(out, f->v); return true;
    case PB_VARINT(7): buf_add_cstr(out, f->v ? "true" : "false"); return true;
    case PB_BYTES(8): buf_add_json(out, pb_bytes(f)); return true;
    default: return false;
    }
}

/* The trees that old writers make: {1: kind, 2: keys, 3: values, 4: elements, 5… 8: plain
 * values}. */
static void add_nested(str body, buf *out, int level) {
    pb_reader w = pb_open(body), keys = w;
    pb_field f, key;
    char close = 0;
    while (level < MAX_LEVELS && pb_next(&w, &f)) {
        bool entry = f.tag == PB_BYTES(3), element = f.tag == PB_BYTES(4);
        if (entry || element) {
            buf_add_byte(out, close ? ',' : entry ? '{' : '[');
            if (!close) close = entry ? '}' : ']';
            if (close == '}') {
                key = (pb_field){0};
                while (pb_next(&keys, &key) && key.tag != PB_BYTES(2)) key = (pb_field){0};
                buf_add_json(out, key.tag ? pb_bytes(&key) : STR_NONE);
                buf_add_byte(out, ':');
            }
            add_nested(pb_bytes(&f), out, level + 1);
        } else if (!close && add_old_plain(&f, out)) {
            return;
        }
    }
    if (close)
        buf_add_byte(out, close);
    else
        buf_add_cstr(out, "null");
}

/* Deeper than MAX_LEVELS a tree is null. */
static void add_tree(reader *r, const sequence *q, str annotation, buf *out, int level) {
    pb_reader w = pb_open(annotation);
    pb_field f;
    char close = 0;
    while (level < MAX_LEVELS && pb_next(&w, &f)) {
        bool entry = f.tag == PB_BYTES(11), element = f.tag == PB_BYTES(12);
        if (entry || element) {
            buf_add_byte(out, close ? ',' : entry ? '{' : '[');
            if (!close) close = entry ? '}' : ']';
            if (close == '}') {
                buf_add_json(out, key_of(r, q, pb_bytes(&f)));
                buf_add_byte(out, ':');
            }
            add_tree(r, q, pb_bytes(&f), out, level + 1);
        } else if (!close && f.tag == PB_BYTES(8)) {
            add_nested(pb_bytes(&f), out, level + 1);
            return;
        } else if (!close && add_plain(r, q, &f, out)) {
            return;
        }
    }
    if (close)
        buf_add_byte(out, close);
    else
        buf_add_cstr(out, "null");
}

/* Fractions and JSON: the same bytes are always the same text. */
static text_memo *find_memo(reader *r, const pb_field *value) {
    uint64_t h = value->v;
    if (value->tag == PB_BYTES(9)) {
        uint64_t front = 0, back = 0;
        size_t n = (size_t)value->v;
        memcpy(&front, value->p, n < 8 ? n : 8);
        if (n > 8) memcpy(&back, value->p + n - 8, 8);
        h = (h ^ front) * 31 + back;
    }
    return &r->texts[hash_u64(h) % N_MEMOS];
}

static str bytes_of(const pb_field *value) {
    return value->tag == PB_BYTES(9) ? pb_bytes(value) : str_n(value->p - 8, 8);
}

static status add_raw(reader *r, uint32_t key, str annotation, const sequence *q,
                      const pb_field *value) {
    bool same = value->tag == PB_BYTES(9) || value->tag == PB_TAG(5, WIRE_FIXED64);
    text_memo *m = same ? find_memo(r, value) : NULL;
    if (m && m->p && str_eq(str_n(m->p, m->n), bytes_of(value)))
        return add_value(r, key, (raw_value){.tag = VALUE_RAW, .v = m->id});
    buf_clear(&r->text);
    add_tree(r, q, annotation, &r->text, 0);
    r->failed |= !buf_ok(&r->text);
    if (r->failed) return ERR_MEMORY;
    uint32_t id = perfetto_string(r, buf_str(&r->text));
    if (m) *m = (text_memo){bytes_of(value).p, bytes_of(value).n, id};
    return add_value(r, key, (raw_value){.tag = VALUE_RAW, .v = id});
}

/* ---- one annotation ---- */

static bool fits(const pb_field *f) {
    return f->tag == PB_VARINT(4) || (f->tag == PB_VARINT(3) && f->v <= INT64_MAX);
}

status args_take(reader *r, const sequence *q, str annotation) {
    pb_reader w = pb_open(annotation);
    pb_field f, value = {0};
    uint32_t key = 0, text = 0;
    while (pb_next(&w, &f)) {
        if (f.tag == PB_VARINT(1))
            key = words_find(r, q, WORDS_KEY, f.v);
        else if (f.tag == PB_BYTES(10))
            key = perfetto_string(r, pb_bytes(&f));
        else if (!value.tag)
            value = f;
    }
    if (w.damaged) part_lost(r->part, CAUSE_BAD_SYNTAX, r->e.offset, key);
    if (!key) {
        part_lost(r->part, CAUSE_RECORDER_NAMES, r->e.offset, 0);
        return r->failed ? ERR_MEMORY : OK;
    }
    if (fits(&value))
        return add_value(r, key, (raw_value){.tag = VALUE_INT, .v = (int64_t)value.v});
    if (value.tag == PB_BYTES(6)) text = perfetto_string(r, pb_bytes(&value));
    if (value.tag == PB_VARINT(17)) text = words_find(r, q, WORDS_VALUE, value.v);
    if (r->failed) return ERR_MEMORY;
    if (value.tag == PB_BYTES(6) || text) return args_add_text(r, key, text);
    return value.tag ? add_raw(r, key, annotation, q, &value) : OK;
}
