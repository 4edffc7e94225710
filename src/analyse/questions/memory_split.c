/* memory_split.c: what the peak of each device is made of, and who made it.
 *
 *   parts          by category, adding up to what the allocator had reserved
 *   part_contents  the blocks of these parts by operator, module and line
 *
 * What the blocks do not account for (older than the recording, free, estimated) is in `parts`
 * only. */
#include "analyse/questions/memory_split.h"

#include "analyse/questions/memory_blocks.h"
#include "analyse/rows.h"
#include "base/sort.h"

typedef struct {
    memory_view *m;
    const memory_parts *parts;
    block_groups groups;
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

static int compare_groups(uint32_t a, uint32_t b, const void *context) {
    const splitter *s = context;
    const block_group *x = GROUP_ROW(&s->groups.rows, block_group, a);
    const block_group *y = GROUP_ROW(&s->groups.rows, block_group, b);
    if (x->device != y->device) return s->rank[x->device] < s->rank[y->device] ? -1 : 1;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return block_group_compare(x, y);
}

static status write_groups(splitter *s, table *to, error *err) {
    uint32_t *order = groups_order(&s->groups.rows), *scratch = groups_order(&s->groups.rows);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, s->groups.rows.n, compare_groups, s);
    for (uint32_t i = 0; i < s->groups.rows.n; i++) {
        const block_group *g = GROUP_ROW(&s->groups.rows, block_group, order[i]);
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
    TRY(block_groups_init(&s->groups, m, s->parts, err));
    for (uint32_t i = 1; i < m->t->memory.n; i++) {
        const memory_device *d = memory_device_of(m, i);
        block_group *g;
        if (!d->has_totals || !memory_is_held(m->t, i, d->peak_row)) continue;
        TRY(block_groups_at(&s->groups, i, &g, err));
        g->bytes = add_i64(g->bytes, memory_bytes(m->t, i));
        g->blocks++;
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
