/* args.c: reads argument records (layout: args.h and docs/FORMAT.md).
 *
 * Integers are differences to the record before, so a record is only found by decoding its
 * block from the start: about 0.1 ms. A reader therefore decodes whole blocks into flat arrays
 * and keeps the last N_SLOTS of them. Slices are sorted by track while records lie in the
 * producer's order; each track walks through the blocks in order, so a handful of blocks is
 * alive at a time and an export decodes each block about once.
 *
 *     slot:  first[record] ──> tags[], payloads[] of its values, first to last key
 *
 * Every byte may be hostile: varints stop at the end of the block, shapes and string ids are
 * compared with their tables, parents of shapes must be smaller. Damage ends a block: the
 * records before it stay readable, those after it are ERR_FORMAT. */
#include "store/args.h"

#include "base/json.h"
#include "base/mem.h"
#include "store/trace.h"

enum { N_SLOTS = 64 };
#define NO_BLOCK UINT32_MAX

typedef struct {
    uint32_t block;
    uint32_t n_records;
    uint64_t used; /* the reader's clock at the last use: the oldest is decoded over */
    size_t cap;    /* values and records there is room for */
    int64_t *payloads;
    uint32_t *first; /* n_records + 1 */
    uint32_t *shapes;
    uint8_t *tags;
} slot;

struct args_reader {
    const trace *t;
    uint64_t clock;
    /* Last integer at each place of the trie, valid where its stamp is that of the block. */
    int64_t *previous;
    uint32_t *stamps;
    uint32_t stamp;
    uint32_t path_shape, n_path; /* the path of the shape seen last */
    uint32_t path[ARGS_MAX_KEYS];
    uint32_t keys[ARGS_MAX_KEYS];
    slot slots[N_SLOTS];
};

status args_reader_new(const trace *t, args_reader **out, error *err) {
    TRY(trace_require(t, TRACE_ARGUMENTS, err));
    args_reader *r = mem_zalloc(sizeof *r);
    if (!r) FAIL_MEMORY(err);
    r->t = t;
    for (int i = 0; i < N_SLOTS; i++) r->slots[i].block = NO_BLOCK;
    r->previous = mem_zalloc(((size_t)t->n_shapes + 1) * sizeof *r->previous);
    r->stamps = mem_zalloc(((size_t)t->n_shapes + 1) * sizeof *r->stamps);
    if (!r->previous || !r->stamps) {
        args_reader_free(r);
        FAIL_MEMORY(err);
    }
    *out = r;
    return OK;
}

void args_reader_free(args_reader *r) {
    if (!r) return;
    for (int i = 0; i < N_SLOTS; i++) mem_free(r->slots[i].payloads);
    mem_free(r->previous);
    mem_free(r->stamps);
    mem_free(r);
}

/* ---- decoding ---------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *p, *end;
} cursor;

static bool take_varint(cursor *c, uint64_t *out) {
    uint64_t v = 0;
    for (uint32_t shift = 0; shift < 64 && c->p < c->end; shift += 7) {
        uint8_t byte = *c->p++;
        if (shift == 63 && byte > 1) return false;
        v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = v;
            return true;
        }
    }
    return false;
}

/* Fills path with the places from the root to the shape; false when there is no such shape. */
static bool find_path(args_reader *r, uint64_t shape) {
    const trace *t = r->t;
    if (shape == r->path_shape && shape != 0) return true;
    if (shape == 0 || shape >= t->n_shapes) return false;
    uint32_t n = 0;
    r->path_shape = 0; /* until the path is whole */
    for (uint32_t s = (uint32_t)shape; s; s = t->shape_parent[s]) {
        if (n == ARGS_MAX_KEYS || t->shape_parent[s] >= s) return false;
        r->path[n++] = s;
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t s = r->path[i];
        r->path[i] = r->path[n - 1 - i];
        r->path[n - 1 - i] = s;
    }
    r->path_shape = (uint32_t)shape;
    r->n_path = n;
    return true;
}

/* What args_put_integer took away. */
WRAPS static int64_t add_difference(int64_t before, int64_t difference) {
    return (int64_t)((uint64_t)before + (uint64_t)difference);
}

/* Value n of the slot, which is at this place of the trie. */
static bool decode_value(args_reader *r, cursor *c, uint32_t place, slot *s, uint32_t n) {
    uint64_t v;
    if (!take_varint(c, &v)) return false;
    uint64_t rest = v >> 2;
    s->tags[n] = (uint8_t)(v & 3);
    switch ((args_tag)(v & 3)) {
    case ARGS_INTEGER: {
        int64_t before = r->stamps[place] == r->stamp ? r->previous[place] : 0;
        s->payloads[n] = add_difference(before, args_unzigzag(rest));
        r->previous[place] = s->payloads[n];
        r->stamps[place] = r->stamp;
        return true;
    }
    case ARGS_STRING:
    case ARGS_RAW: s->payloads[n] = (int64_t)rest; return rest < r->t->n_strings;
    case ARGS_DECIMAL:
        if (rest > ARGS_MAX_DIGITS || !take_varint(c, &v)) return false;
        s->tags[n] = (uint8_t)(ARGS_DECIMAL | rest << 2);
        s->payloads[n] = args_unzigzag(v);
        return true;
    }
    return false;
}

/* Decodes until the end of the block or the first damage. */
static void decode_block(args_reader *r, slot *s, cursor c) {
    if (++r->stamp == 0) { /* wrapped: old stamps would look new */
        memset(r->stamps, 0, r->t->n_shapes * sizeof *r->stamps);
        r->stamp = 1;
    }
    uint32_t n_values = 0;
    s->n_records = 0;
    s->first[0] = 0;
    while (c.p < c.end && s->n_records < ARGS_MAX_INDEX) {
        uint64_t shape;
        if (!take_varint(&c, &shape) || !find_path(r, shape)) return;
        /* A value takes at least a byte: there cannot be more of them than bytes in the
         * block. */
        uint32_t n = n_values;
        for (uint32_t i = 0; i < r->n_path; i++, n++)
            if (!decode_value(r, &c, r->path[i], s, n)) return;
        if (shape == ARGS_SHAPE_RAW && s->tags[n_values] != ARGS_RAW) return;
        n_values = n;
        s->shapes[s->n_records++] = (uint32_t)shape;
        s->first[s->n_records] = n_values;
    }
}

static bool reserve_slot(slot *s, size_t n) {
    if (s->cap >= n) return true;
    size_t one = sizeof *s->payloads + sizeof *s->first + sizeof *s->shapes + sizeof *s->tags;
    int64_t *p = mem_alloc((n + 1) * one);
    if (!p) return false;
    mem_free(s->payloads);
    s->payloads = p;
    s->first = (uint32_t *)(p + n + 1);
    s->shapes = s->first + n + 1;
    s->tags = (uint8_t *)(s->shapes + n + 1);
    s->cap = n;
    return true;
}

static status load_block(args_reader *r, uint32_t block, slot **out, error *err) {
    slot *oldest = &r->slots[0];
    for (int i = 0; i < N_SLOTS; i++) {
        slot *s = &r->slots[i];
        if (s->block == block) {
            *out = s;
            return OK;
        }
        if (s->used < oldest->used) oldest = s;
    }
    uint64_t from = r->t->arg_block[block], to = r->t->arg_block[block + 1];
    if (to < from || to - from > ARGS_BLOCK_BYTES + ARGS_RECORD_BYTES)
        FAIL(err, ERR_FORMAT, from, MSG_ARGS_DAMAGED, arg_int("record", block));
    oldest->block = NO_BLOCK;
    if (!reserve_slot(oldest, (size_t)(to - from))) FAIL_MEMORY(err);
    decode_block(r, oldest, (cursor){r->t->arg_bytes + from, r->t->arg_bytes + to});
    oldest->block = block;
    *out = oldest;
    return OK;
}

status args_read(args_reader *r, uint32_t record, args_record *out, error *err) {
    if (record == 0) {
        *out = (args_record){0};
        return OK;
    }
    uint32_t block = record >> 16, index = record & 0xFFFF;
    slot *s = NULL;
    if (block < r->t->n_arg_blocks) TRY(load_block(r, block, &s, err));
    if (!s || index == 0 || index > s->n_records || !find_path(r, s->shapes[index - 1]))
        FAIL(err, ERR_FORMAT, NOPOS, MSG_ARGS_DAMAGED, arg_int("record", record));
    s->used = ++r->clock;
    uint32_t first = s->first[index - 1], n = s->first[index] - first;
    for (uint32_t i = 0; i < n; i++) r->keys[i] = r->t->shape_key[r->path[i]];
    *out = (args_record){
        .n = n,
        .keys = r->keys,
        .tags = s->tags + first,
        .payloads = s->payloads + first,
        .raw = s->shapes[index - 1] == ARGS_SHAPE_RAW,
    };
    return OK;
}

/* ---- with other ids ---------------------------------------------------------------------- */

static void add_varint(buf *out, uint64_t v) {
    uint8_t bytes[ARGS_VARINT_BYTES], *end = bytes;
    args_put_varint(&end, v);
    buf_add(out, bytes, (size_t)(end - bytes));
}

/* One value; integers are differences and mean the same in any block. */
static bool copy_value(const args_reader *r, cursor *c, const uint32_t *strings, buf *out) {
    uint64_t v;
    if (!take_varint(c, &v)) return false;
    args_tag tag = (args_tag)(v & 3);
    if (tag == ARGS_STRING || tag == ARGS_RAW) {
        if (v >> 2 >= r->t->n_strings) return false;
        v = (uint64_t)strings[v >> 2] << 2 | tag;
    }
    add_varint(out, v);
    if (tag != ARGS_DECIMAL) return true;
    if (v >> 2 > ARGS_MAX_DIGITS || !take_varint(c, &v)) return false;
    add_varint(out, v);
    return true;
}

static bool copy_record(args_reader *r, cursor *c, const uint32_t *strings, uint32_t add_shapes,
                        buf *out) {
    uint64_t shape;
    if (!take_varint(c, &shape) || !find_path(r, shape)) return false;
    add_varint(out, shape > ARGS_SHAPE_RAW ? shape + add_shapes : shape);
    for (uint32_t i = 0; i < r->n_path; i++)
        if (!copy_value(r, c, strings, out)) return false;
    return true;
}

status args_copy_block(args_reader *r, uint32_t block, const uint32_t *strings,
                       uint32_t add_shapes, buf *out) {
    uint64_t from = r->t->arg_block[block], to = r->t->arg_block[block + 1];
    if (to < from || to - from > ARGS_BLOCK_BYTES + ARGS_RECORD_BYTES) return OK;
    cursor c = {r->t->arg_bytes + from, r->t->arg_bytes + to};
    size_t start = out->n, whole = start;
    for (uint32_t n = 0; c.p < c.end && n < ARGS_MAX_INDEX; n++) {
        if (!copy_record(r, &c, strings, add_shapes, out)) break;
        whole = out->n;
    }
    if (!buf_ok(out)) return ERR_MEMORY;
    out->n = whole;
    return whole - start > ARGS_BLOCK_BYTES + ARGS_RECORD_BYTES ? ERR_LIMIT : OK;
}

/* ---- as JSON ----------------------------------------------------------------------------- */

static void add_decimal(buf *out, int64_t mantissa, uint32_t n_digits) {
    char text[32], *end = text + sizeof text, *p = end;
    uint64_t m = abs_u64(mantissa);
    for (uint32_t i = 0; i <= n_digits || m; i++, m /= 10) {
        if (i == n_digits && i) *--p = '.';
        *--p = (char)('0' + m % 10);
    }
    if (mantissa < 0) *--p = '-';
    buf_add(out, p, (size_t)(end - p));
}

void args_value_json(const trace *t, const args_record *rec, uint32_t i, buf *out) {
    int64_t v = rec->payloads[i];
    switch ((args_tag)(rec->tags[i] & 3)) {
    case ARGS_INTEGER: buf_add_i64(out, v); break;
    case ARGS_STRING: buf_add_json(out, trace_str(t, (uint32_t)v)); break;
    case ARGS_RAW: json_normal(trace_str(t, (uint32_t)v), out); break;
    case ARGS_DECIMAL: add_decimal(out, v, (uint32_t)rec->tags[i] >> 2); break;
    }
}

/* The whole object as the producer wrote it; what is not an object becomes the only member of
 * one. */
static void add_raw_object(const trace *t, const args_record *rec, buf *out) {
    size_t at = out->n;
    args_value_json(t, rec, 0, out);
    if (!buf_ok(out) || (out->n > at && out->p[at] == '{')) return;
    out->n = at;
    buf_add_cstr(out, "{\"args\":");
    args_value_json(t, rec, 0, out);
    buf_add_byte(out, '}');
}

status args_read_json(args_reader *r, uint32_t record, buf *out, error *err) {
    args_record rec;
    TRY(args_read(r, record, &rec, err));
    if (rec.raw) {
        add_raw_object(r->t, &rec, out);
    } else {
        buf_add_byte(out, '{');
        for (uint32_t i = 0; i < rec.n; i++) {
            if (i) buf_add_byte(out, ',');
            buf_add_json(out, trace_str(r->t, rec.keys[i]));
            buf_add_byte(out, ':');
            args_value_json(r->t, &rec, i, out);
        }
        buf_add_byte(out, '}');
    }
    if (!buf_ok(out)) FAIL_MEMORY(err);
    return OK;
}

status trace_args_json(const trace *t, uint32_t record, buf *out, error *err) {
    args_reader *r;
    TRY(args_reader_new(t, &r, err));
    status s = args_read_json(r, record, out, err);
    args_reader_free(r);
    return s;
}
