/* memory_oom.c: why an allocation failed, and what held the memory then.
 *
 * One row for each failure, up to MOST_ROWS: a program that runs on fails again and
 * again. What held the memory is listed for the last one. */
#include "analyse/questions/memory_oom.h"

#include "analyse/rows.h"

enum { MOST_ROWS = 1000 };

/* Totals of the device before the event. */
static memory_moment moment_before(const memory_view *m, uint32_t row) {
    const trace *t = m->t;
    const memory_device *d = memory_device_of(m, row);
    memory_moment at = {.device_type = d->type,
                        .device = d->id,
                        .row = row,
                        .allocated = ABSENT_I64,
                        .reserved = ABSENT_I64};
    for (uint32_t i = row + 1; COUNT_DOWN(i) && i;) {
        if (m->device_of[i] != m->device_of[row]) continue;
        if (at.allocated == ABSENT_I64) at.allocated = t->memory.allocated[i];
        if (at.reserved == ABSENT_I64) at.reserved = t->memory.reserved[i];
        if (at.allocated != ABSENT_I64) break;
    }
    return at;
}

static bool is_known(int64_t v) {
    return v != ABSENT_I64;
}

static const char *cause_of(const memory_grower *grows, const memory_failure *f,
                            uint32_t steps) {
    if (is_known(f->unused) && is_known(f->requested) && f->unused >= f->requested)
        return "fragmentation";
    int64_t grown = mul_i64(grows->per_step_bytes, steps);
    int64_t needed = is_known(f->missing) ? f->missing : f->requested;
    bool enough = is_known(needed) && grown >= needed;
    return grown > 0 && enough ? "growth" : "size";
}

static status write_failure(memory_view *m, table *to, uint32_t row, const memory_grower *grows,
                            memory_failure *f, error *err) {
    const trace *t = m->t;
    memory_moment at = moment_before(m, row);
    const memory_device *d = memory_device_of(m, row);
    row_memory_oom out = row_memory_oom_none();
    *f = (memory_failure){
        .requested = memory_bytes(t, row), .unused = ABSENT_I64, .missing = ABSENT_I64};
    if (is_known(at.reserved) && is_known(at.allocated))
        f->unused = max_i64(0, sub_i64(at.reserved, at.allocated));
    if (is_known(d->capacity) && is_known(at.allocated))
        f->missing = sub_i64(add_i64(at.allocated, f->requested), d->capacity);
    f->cause = cause_of(grows, f, t->step.n ? t->step.n - 1 : 0);
    out.device = d->name;
    out.time = sub_i64(t->memory.time[row], t->start_ns);
    out.requested = f->requested;
    out.allocated = at.allocated;
    out.reserved = at.reserved;
    out.unused = f->unused;
    out.capacity = d->capacity;
    if (is_known(f->missing) && f->missing > 0) out.missing = f->missing;
    out.cause = str_of(f->cause);
    return put_memory_oom(to, &out, err);
}

static status write_contents(memory_view *m, const memory_parts *parts, uint32_t row, table *to,
                             memory_failure *f, error *err) {
    block_groups b;
    TRY(block_groups_init(&b, m, parts, err));
    for (uint32_t i = 1; i < m->t->memory.n; i++) {
        block_group *g;
        if (m->device_of[i] != m->device_of[row] || !memory_is_held(m->t, i, row)) continue;
        TRY(block_groups_at(&b, i, &g, err));
        g->bytes = add_i64(g->bytes, memory_bytes(m->t, i));
        g->blocks++;
    }
    const uint32_t *order = block_groups_by_size(&b);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < b.rows.n; i++) {
        const block_group *g = GROUP_ROW(&b.rows, block_group, order[i]);
        row_memory_oom_contents out = row_memory_oom_contents_none();
        out.category = memory_part_name(g->part);
        out.op = g->op;
        if (g->module.n) out.module = g->module;
        out.line = g->line;
        out.bytes = g->bytes;
        out.allocations = g->blocks;
        TRY(put_memory_oom_contents(to, &out, err));
        if (i) continue;
        f->holder = g->line.n ? g->line : g->op;
        f->holder_bytes = g->bytes;
    }
    return OK;
}

status memory_write_oom(memory_view *m, const memory_parts *parts, const memory_grower *grows,
                        memory_failure *last, error *err) {
    const trace *t = m->t;
    table *to = answer_table(m->out, m->arena, "oom");
    table *contents = answer_table(m->out, m->arena, "oom_contents");
    uint32_t row = 0, n = 0;
    *last = (memory_failure){.requested = ABSENT_I64};
    if (!to || !contents) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->memory.n && n < MOST_ROWS; i++) {
        if (t->memory.kind[i] != MEMORY_OOM) continue;
        TRY(write_failure(m, to, i, grows, last, err));
        row = i;
        n++;
    }
    return row ? write_contents(m, parts, row, contents, last, err) : OK;
}
