/* memory_split.c: what the peak of each device is made of, and who made it.
 *
 *   parts          by category, adding up to what the allocator had reserved
 *   part_contents  the blocks of these parts by operator, module and line
 *
 * What the blocks do not account for (older than the recording, free, estimated) is in `parts`
 * only. */
#include "analyse/questions/memory_split.h"

#include "analyse/questions/memory_owner.h"
#include "analyse/rows.h"
#include "base/intern.h"
#include "base/sort.h"

typedef struct {
    uint32_t device;
    uint8_t part;
    str op, module, line;
    int64_t bytes, blocks;
} block_group;

typedef struct {
    memory_view *m;
    const memory_parts *parts;
    memory_owner owner;
    groups rows;          /* block_group */
    const uint32_t *rank; /* by device: place in the reader's order */
} splitter;

static memory_moment peak_of(const memory_device *d) {
    return (memory_moment){.device_type = d->type,
                           .device = d->id,
                           .row = d->peak_row,
                           .allocated = d->peak,
                           .reserved = d->peak_reserved};
}

static status write_split(table *to, memory_device *d, const memory_split *s, error *err) {
    int64_t whole = 0;
    for (int i = 0; i < N_MEMORY_PARTS; i++) whole = add_i64(whole, s->bytes[i]);
    for (uint8_t i = 0; i < N_MEMORY_PARTS; i++) {
        if (!s->bytes[i]) continue;
        row_memory_parts row = row_memory_parts_none();
        row.device = d->name;
        row.category = memory_part_name(i);
        row.bytes = s->bytes[i];
        if (whole > 0) row.share = (double)s->bytes[i] / (double)whole;
        if (s->blocks[i]) row.blocks = s->blocks[i];
        row.estimated = s->estimated[i];
        TRY(put_memory_parts(to, &row, err));
        if (s->bytes[i] <= d->part_bytes || i > PART_UNKNOWN) continue;
        d->part = i;
        d->part_bytes = s->bytes[i];
    }
    return OK;
}

/* ---- who made it ------------------------------------------------------------------------- */

static bool same_group(const void *row, const void *key) {
    const block_group *x = row, *y = key;
    return x->device == y->device && x->part == y->part && str_eq(x->op, y->op) &&
           str_eq(x->module, y->module) && str_eq(x->line, y->line);
}

static status add_block(splitter *s, uint32_t row, error *err) {
    const trace *t = s->m->t;
    int64_t bytes = t->memory.bytes[row];
    bool ok = true, is_new;
    block_group key = {.device = s->m->device_of[row], .part = s->parts->part[row]};
    key.op = memory_name(s->m, row, &ok);
    key.line = memory_owner_line(&s->owner, row, &ok);
    if (memory_op(t, row)) key.module = memory_owner_module(&s->owner, memory_op(t, row));
    if (!ok) FAIL_MEMORY(err);
    uint64_t hash = hash_pair(hash_pair(intern_hash(key.op), intern_hash(key.module)),
                              hash_pair(intern_hash(key.line), key.device << 8 | key.part));
    uint32_t at = groups_at(&s->rows, hash, same_group, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    block_group *g = GROUP_ROW(&s->rows, block_group, at);
    if (is_new) *g = key;
    g->bytes = add_i64(g->bytes, bytes < 0 ? sub_i64(0, bytes) : bytes);
    g->blocks++;
    return OK;
}

static int compare_groups(uint32_t a, uint32_t b, const void *context) {
    const splitter *s = context;
    const block_group *x = GROUP_ROW(&s->rows, block_group, a);
    const block_group *y = GROUP_ROW(&s->rows, block_group, b);
    if (x->device != y->device) return s->rank[x->device] < s->rank[y->device] ? -1 : 1;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    int c = str_cmp(x->op, y->op);
    if (!c) c = str_cmp(x->module, y->module);
    return c ? c : str_cmp(x->line, y->line);
}

static status write_groups(splitter *s, table *to, error *err) {
    uint32_t *order = groups_order(&s->rows), *scratch = groups_order(&s->rows);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, s->rows.n, compare_groups, s);
    for (uint32_t i = 0; i < s->rows.n; i++) {
        const block_group *g = GROUP_ROW(&s->rows, block_group, order[i]);
        row_memory_part_contents row = row_memory_part_contents_none();
        row.device = GROUP_ROW(&s->m->devices, memory_device, g->device)->name;
        row.category = memory_part_name(g->part);
        row.op = g->op;
        if (g->module.n) row.module = g->module;
        row.line = g->line;
        row.bytes = g->bytes;
        row.allocations = g->blocks;
        TRY(put_memory_part_contents(to, &row, err));
    }
    return OK;
}

static status write_contents(splitter *s, table *to, error *err) {
    memory_view *m = s->m;
    TRY(groups_init(&s->rows, m->arena, sizeof(block_group), err));
    TRY(trace_require(m->t, MEMORY_SPLIT_TABLES | LINE_TABLES, err));
    TRY(memory_owner_modules(&s->owner, m->t, m->arena, err));
    TRY(memory_owner_lines(&s->owner, m->t, m->arena, err));
    for (uint32_t i = 1; i < m->t->memory.n; i++) {
        const memory_device *d = memory_device_of(m, i);
        if (d->has_totals && memory_is_held(m->t, i, d->peak_row)) TRY(add_block(s, i, err));
    }
    return write_groups(s, to, err);
}

status memory_write_parts(memory_view *m, const memory_parts *parts, const uint32_t *order,
                          const params *p, error *err) {
    uint32_t *rank = ARENA_ARRAY(m->arena, uint32_t, (size_t)m->devices.n + 1);
    splitter s = {.m = m, .parts = parts, .rank = rank};
    table *to = answer_table(m->out, m->arena, "parts");
    table *contents = answer_table(m->out, m->arena, "part_contents");
    if (!rank || !to || !contents) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < m->devices.n; i++) {
        memory_device *d = GROUP_ROW(&m->devices, memory_device, order[i]);
        rank[order[i]] = i;
        if (!d->has_totals || i >= MEMORY_MOST_DEVICES) continue;
        memory_split split;
        memory_moment at = peak_of(d);
        TRY(memory_split_at(parts, &at, m->arena, &split, err));
        TRY(write_split(to, d, &split, err));
    }
    return params_want(p, "part_contents") ? write_contents(&s, contents, err) : OK;
}
