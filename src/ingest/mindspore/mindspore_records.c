/* mindspore_records.c: what MindSpore 2.7 and later write while operators run, in addition to
 * mindspore.op_range.
 *
 *   mindspore.record_shapes   a call: fields 0 name, 1 shapes of its inputs (2,3;4), 2 their
 *                             types
 *   operator_details.csv      Name, Input Shapes: the same without types
 *   mindspore.memory_usage    an allocation or a release: 100 fixed bytes, field 13 its
 *                             operator
 *
 *      0 i32 device    28 u64 address    68 u64 used by an event      92 u32 stream
 *      4 u64 thread    36 u64 size       76 u64 freed eagerly         96 u8 from persistent
 *     12 u64 process   44 u64 used       84 u64 stream (a pointer)       memory; a byte each:
 *     20 u64 time      52 u64 peak                                       persistent, mode, type
 *                      60 u64 reserved   a size of 2^64 - 1 is a release
 *
 * Calls of record_shapes have no times: they are counted by name, shapes and types, in a
 * separate table. A release has no size: it is that of the allocation at its address. A table
 * made of one of these files, when it is there, has had its say; record_shapes says more than
 * its table. */
#include "base/num.h"
#include "base/sort.h"
#include "ingest/mindspore/mindspore_int.h"

bool ms_next_field(str *fields, unsigned *key, str *value) {
    if (fields->n < 6) return false;
    uint64_t n = read_le(fields->p + 2, 4);
    if (n > fields->n - 6) return false;
    *key = (unsigned)read_le(fields->p, 2);
    *value = str_n(fields->p + 6, (size_t)n);
    *fields = str_from(*fields, 6 + (size_t)n);
    return true;
}

bool ms_next_record(ms *m, ms_records *r, size_t least, str *value) {
    unsigned type;
    size_t at = r->whole - r->rest.n;
    if (r->rest.n < 6) return false;
    if (ms_next_field(&r->rest, &type, value) && value->n >= least) return true;
    ms_lost(m, CAUSE_TRUNCATED, at, STR_NONE);
    r->rest = STR_NONE;
    return false;
}

/* ---- shapes ------------------------------------------------------------------------------ */

typedef struct {
    ms *m;
    vec sums; /* row_producer_op */
    map by_call;
    buf info;
} shape_sums;

static status add_call(shape_sums *s, str name, str shapes, str types, error *err) {
    ms *m = s->m;
    part_count(m->part, 1, 0);
    if (!name.n) {
        ms_lost(m, CAUSE_MISSING_NAME, NOPOS, shapes);
        return OK;
    }
    buf_clear(&s->info);
    if (shapes.n) ms_add_member(&s->info, STR("Input Shapes"), shapes);
    if (types.n) ms_add_member(&s->info, STR("Input Data Types"), types);
    if (s->info.n) buf_add_byte(&s->info, '}');
    uint32_t id = ms_string(m, name),
             info = buf_ok(&s->info) ? ms_string(m, buf_str(&s->info)) : MS_NO_STRING;
    if (id == MS_NO_STRING || info == MS_NO_STRING) FAIL_MEMORY(err);
    uint32_t *at = map_at(&s->by_call, (uint64_t)info << 32 | id);
    if (!at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) {
        row_producer_op *g = vec_push(&s->sums);
        *at = (uint32_t)s->sums.n - 1;
        if (!g) FAIL_MEMORY(err);
        *g = row_producer_op_none();
        g->name = g->full_name = g->type = id;
        g->info = info;
        g->calls = 0;
        g->level = PRODUCER_OPERATOR;
    }
    VEC(&s->sums, row_producer_op)[*at].calls++;
    return OK;
}

static status end_sums(shape_sums *s, status st, error *err) {
    uint32_t side = st == OK ? ms_string(s->m, STR("PyNative")) : 0;
    if (side == MS_NO_STRING)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    for (size_t i = 0; i < s->sums.n && st == OK; i++) {
        row_producer_op *g = &VEC(&s->sums, row_producer_op)[i];
        g->side = side;
        st = ms_put_op(s->m, g, err);
    }
    vec_fini(&s->sums);
    map_fini(&s->by_call);
    buf_fini(&s->info);
    return st;
}

status read_record_shapes(ms *m, str text, error *err) {
    shape_sums s = {.m = m, .sums = VEC_INIT(row_producer_op)};
    ms_records all = {.rest = text, .whole = text.n};
    status st = OK;
    for (str value; st == OK && ms_next_record(m, &all, 0, &value);) {
        str part_of[3] = {STR_NONE, STR_NONE, STR_NONE}, field;
        for (unsigned key; ms_next_field(&value, &key, &field);)
            if (key < 3) part_of[key] = field;
        st = add_call(&s, part_of[0], part_of[1], part_of[2], err);
    }
    return end_sums(&s, st, err);
}

status read_operator_details(ms *m, str text, error *err) {
    shape_sums s = {.m = m, .sums = VEC_INIT(row_producer_op)};
    csv c = csv_open(text);
    status st = OK;
    bool ok = !m->seen[MS_RECORD_SHAPES] && csv_next(&c);
    size_t name = ok ? csv_find(&c, STR("Name")) : 0,
           shapes = ok ? csv_find(&c, STR("Input Shapes")) : 0;
    while (ok && st == OK && csv_next(&c))
        st = add_call(&s, csv_cell(&c, name), csv_cell(&c, shapes), STR_NONE, err);
    if (c.failed) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&c);
    return end_sums(&s, st, err);
}

/* ---- memory ------------------------------------------------------------------------------ */

enum { USAGE_BYTES = 100, FIELD_OWNER = 13 };

typedef struct {
    int64_t time;
    uint64_t address, size, used, reserved;
    uint32_t owner; /* string id */
    int32_t device;
} usage;

/* An allocation that was not released yet. */
typedef struct {
    int64_t bytes;
    uint32_t frame, block;
} open_block;

static usage parse_usage(ms *m, str value) {
    usage u = {.device = (int32_t)read_le(value.p, 4),
               .time = sat_i64(read_le(value.p + 20, 8)),
               .address = read_le(value.p + 28, 8),
               .size = read_le(value.p + 36, 8),
               .used = read_le(value.p + 44, 8),
               .reserved = read_le(value.p + 60, 8)};
    str fields = str_from(value, USAGE_BYTES), field;
    for (unsigned key; ms_next_field(&fields, &key, &field);)
        if (key == FIELD_OWNER) u.owner = ms_string(m, field);
    return u;
}

static int by_time(uint32_t a, uint32_t b, const void *context) {
    const usage *x = &((const usage *)context)[a], *y = &((const usage *)context)[b];
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return a < b ? -1 : a > b;
}

typedef struct {
    ms *m;
    vec open; /* open_block */
    map at;   /* address -> row + 1 of open, 0 = none */
} blocks;

/* The block at an address changes hands; *block is what it was or becomes. */
static status use_block(blocks *b, const usage *u, bool frees, open_block *block, error *err) {
    uint32_t *at = map_at(&b->at, hash_u64(u->address) ^ (uint32_t)u->device);
    if (!at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) *at = 0;
    if (frees) {
        *block = *at ? VEC(&b->open, open_block)[*at - 1] : (open_block){.bytes = -1};
        *at = 0;
        return OK;
    }
    open_block *to = vec_push(&b->open);
    block->block = ++b->m->memory.n_blocks;
    block->bytes = sat_i64(u->size);
    block->frame = u->owner ? builder_frame(b->m->b, 0, u->owner) : 0;
    if (!to || block->frame == UINT32_MAX || u->owner == MS_NO_STRING) FAIL_MEMORY(err);
    *to = *block;
    *at = (uint32_t)b->open.n;
    return OK;
}

static status add_usage(blocks *b, const usage *u, error *err) {
    bool frees = u->size == UINT64_MAX;
    open_block block = {0};
    if (!frees && u->size > INT64_MAX / 2) {
        ms_lost(b->m, CAUSE_BAD_SYNTAX, NOPOS, STR_NONE);
        return OK;
    }
    TRY(use_block(b, u, frees, &block, err));
    if (block.bytes < 0) return OK; /* allocated before the recording: its size is not known */
    raw_memory *to = vec_push(&b->m->memory.rows);
    if (!to) FAIL_MEMORY(err);
    *to = (raw_memory){.time = u->time,
                       .bytes = frees ? -block.bytes : block.bytes,
                       .allocated = sat_i64(u->used),
                       .reserved = sat_i64(u->reserved),
                       .tie = sat_u32(b->m->memory.rows.n),
                       .frame = block.frame,
                       .block = block.block,
                       .device = u->device,
                       .device_type = DEVICE_ASCEND,
                       .kind = frees ? MEMORY_FREE : MEMORY_ALLOC};
    return OK;
}

static status add_usages(ms *m, const vec *list, error *err) {
    const usage *all = VEC(list, usage);
    uint32_t n = (uint32_t)list->n, *order = ARENA_ARRAY(m->arena, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(m->arena, uint32_t, (size_t)n + 1);
    blocks b = {.m = m, .open = VEC_INIT(open_block)};
    status st = OK;
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, by_time, all);
    for (uint32_t i = 0; i < n && st == OK; i++) st = add_usage(&b, &all[order[i]], err);
    vec_fini(&b.open);
    map_fini(&b.at);
    return st;
}

status read_memory_usage(ms *m, str text, error *err) {
    vec list = VEC_INIT(usage);
    ms_records all = {.rest = text, .whole = text.n};
    status st = OK;
    if (m->seen[MS_OPERATOR_MEMORY]) return OK; /* the table made of it was there */
    for (str value; st == OK && ms_next_record(m, &all, USAGE_BYTES, &value);) {
        usage *u = list.n < UINT32_MAX - 1 ? vec_push(&list) : NULL;
        part_count(m->part, 1, 0);
        if (u)
            *u = parse_usage(m, value);
        else
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    if (st == OK && list.n) ms_drop_totals(m);
    if (st == OK) st = add_usages(m, &list, err);
    vec_fini(&list);
    return st;
}
