/* memory_growth.c: what rises from step to step.
 *
 * A block counts in the ends of all steps that it outlives. Blocks of one operator, module and
 * line are one group; for each the bytes and the number alive at the end of each step tell
 * whether it grows:
 *
 *     bytes   400  800  800  800  800      warm-up
 *             400  410  420  430  440      keeps (the number rises) or longer (it does not)
 *             400  800  400  800  400      nothing */
#include "analyse/questions/memory_growth.h"

#include "analyse/rows.h"
#include "base/sort.h"

enum { LEAST_STEPS = 4, MOST_GROUP_STEPS = 1 << 26 };

/* Less than this of the peak is not worth a row. */
#define LEAST_SHARE 0.001

/* A block that is alive at the end of the steps first … end - 1. */
typedef struct {
    uint32_t row, first, end;
} long_block;

typedef struct {
    memory_view *m;
    block_groups groups;
    uint32_t device, n_steps;
    long_block *blocks;
    sort_pair *by_group; /* group → block */
    size_t n_blocks;
    int64_t *bytes, *count; /* scratch: of one group, by step */
    uint32_t *step_of;      /* by memory row: steps that have ended before it */
} growth;

typedef struct {
    const char *kind;
    int64_t per_step, first, last;
    uint32_t rises;
} growth_found;

/* Where nothing marks steps, a backward pass begins one. */
static uint32_t count_all_steps(const trace *t, const memory_parts *parts) {
    uint32_t marked = t->step.n ? t->step.n - 1 : 0;
    return marked >= LEAST_STEPS ? marked : parts->phases.n_backwards;
}

static void find_ends(growth *g, const memory_phases *phases) {
    const trace *t = g->m->t;
    uint32_t ended = 0;
    if (g->n_steps >= t->step.n) {
        for (uint32_t i = 1; i < t->memory.n; i++)
            g->step_of[i] = phases->backwards[phases->pass[i]];
        return;
    }
    for (uint32_t i = 1; i < t->memory.n; i++) {
        while (ended < g->n_steps && t->step.end[ended + 1] <= t->memory.time[i]) ended++;
        g->step_of[i] = ended;
    }
}

static status add_block(growth *g, uint32_t row, error *err) {
    uint32_t partner = g->m->t->memory.partner[row];
    long_block b = {.row = row, .first = g->step_of[row]};
    b.end = partner ? g->step_of[partner] : g->n_steps;
    if (b.end <= b.first) return OK;
    block_group *group;
    TRY(block_groups_at(&g->groups, row, &group, err));
    uint32_t index = (uint32_t)(group - GROUP_ROW(&g->groups.rows, block_group, 0));
    g->by_group[g->n_blocks] = (sort_pair){index, (uint32_t)g->n_blocks};
    g->blocks[g->n_blocks++] = b;
    return OK;
}

/* Bytes and blocks of blocks[from … to) at the end of each step. */
static void count_steps(growth *g, size_t from, size_t to) {
    for (uint32_t s = 0; s <= g->n_steps; s++) g->bytes[s] = g->count[s] = 0;
    for (size_t i = from; i < to; i++) {
        const long_block *b = &g->blocks[g->by_group[i].row];
        int64_t bytes = memory_bytes(g->m->t, b->row);
        g->bytes[b->first] = add_i64(g->bytes[b->first], bytes);
        g->bytes[b->end] = sub_i64(g->bytes[b->end], bytes);
        g->count[b->first]++;
        g->count[b->end]--;
    }
    for (uint32_t s = 1; s < g->n_steps; s++) {
        g->bytes[s] = add_i64(g->bytes[s], g->bytes[s - 1]);
        g->count[s] = add_i64(g->count[s], g->count[s - 1]);
    }
}

/* Rises are more than falls, go on to the end, and lead somewhere. */
static bool judge(const growth *g, growth_found *f) {
    uint32_t n = g->n_steps, begin = 1, falls = 0, last_rise = 0, more = 0;
    *f = (growth_found){.first = g->bytes[begin], .last = g->bytes[n - 1]};
    for (uint32_t s = begin + 1; s < n; s++) {
        int64_t by = sub_i64(g->bytes[s], g->bytes[s - 1]);
        if (by > 0) last_rise = s;
        f->rises += by > 0;
        falls += by < 0;
        more += g->count[s] > g->count[s - 1];
    }
    int64_t total = sub_i64(f->last, f->first);
    f->per_step = total / (int64_t)(n - 1 - begin);
    bool to_the_end = last_rise + 1 + (n - begin) / 3 >= n;
    if (total > 0 && f->rises >= 2 && f->rises > 2 * falls && to_the_end) {
        f->kind = 2 * more >= f->rises ? "keeps" : "longer";
        return true;
    }
    int64_t warm = sub_i64(f->last, g->bytes[0]);
    bool settles = warm > 0 && falls == 0 && last_rise <= begin + (n - begin) / 3;
    f->kind = "warm_up";
    f->first = g->bytes[0];
    f->per_step = 0;
    return settles;
}

static status write_row(growth *g, table *to, const block_group *group, const growth_found *f,
                        error *err) {
    row_memory_growth row = row_memory_growth_none();
    row.device = GROUP_ROW(&g->m->devices, memory_device, g->device)->name;
    row.growth = str_of(f->kind);
    row.op = group->op;
    if (group->module.n) row.module = group->module;
    row.line = group->line;
    row.per_step = f->per_step;
    row.at_first = f->first;
    row.at_last = f->last;
    row.steps = f->rises;
    return put_memory_growth(to, &row, err);
}

static status write_groups(growth *g, table *to, memory_grower *most, error *err) {
    int64_t peak = GROUP_ROW(&g->m->devices, memory_device, g->device)->peak;
    for (size_t from = 0, end; from < g->n_blocks; from = end) {
        growth_found f;
        for (end = from; end < g->n_blocks && g->by_group[end].key == g->by_group[from].key;)
            end++;
        count_steps(g, from, end);
        bool found = judge(g, &f);
        int64_t rise = sub_i64(f.last, f.first);
        if (!found || (double)rise < LEAST_SHARE * (double)peak) continue;
        const block_group *group =
            GROUP_ROW(&g->groups.rows, block_group, g->by_group[from].key);
        TRY(write_row(g, to, group, &f, err));
        if (f.per_step <= most->per_step_bytes) continue;
        most->per_step_bytes = f.per_step;
        most->name = group->line.n ? group->line : group->op;
    }
    sort_by keys[] = {{COL(memory, growth, per_step), true},
                      {COL(memory, growth, at_last), true}};
    return table_sort_by(to, keys, N_OF(keys), err);
}

static status begin(growth *g, const memory_parts *parts, error *err) {
    memory_view *m = g->m;
    arena *a = m->arena;
    size_t rows = (size_t)m->t->memory.n + 1, steps = (size_t)g->n_steps + 1;
    TRY(block_groups_init(&g->groups, m, parts, err));
    g->groups.any_part = true; /* what is new has no part of its own yet */
    g->blocks = ARENA_ARRAY(a, long_block, rows);
    g->by_group = ARENA_ARRAY(a, sort_pair, rows);
    g->step_of = ARENA_ARRAY(a, uint32_t, rows);
    g->bytes = ARENA_ARRAY(a, int64_t, steps);
    g->count = ARENA_ARRAY(a, int64_t, steps);
    if (!g->blocks || !g->by_group || !g->step_of || !g->bytes || !g->count) FAIL_MEMORY(err);
    find_ends(g, &parts->phases);
    return OK;
}

status memory_write_growth(memory_view *m, const memory_parts *parts, uint32_t device,
                           memory_grower *most, error *err) {
    const trace *t = m->t;
    growth g = {.m = m, .device = device, .n_steps = count_all_steps(t, parts)};
    table *to = answer_table(m->out, m->arena, "growth");
    *most = (memory_grower){.per_step_bytes = 0};
    if (!to) FAIL_MEMORY(err);
    if (device == GROUP_NONE || g.n_steps < LEAST_STEPS) return OK;
    TRY(begin(&g, parts, err));
    for (uint32_t i = 1; i < t->memory.n; i++)
        if (m->device_of[i] == device && t->memory.kind[i] == MEMORY_ALLOC &&
            memory_is_followed(t, i))
            TRY(add_block(&g, i, err));
    if ((uint64_t)g.groups.rows.n * g.n_steps > MOST_GROUP_STEPS) return OK;
    if (!sort_radix_in(m->arena, g.by_group, g.n_blocks)) FAIL_MEMORY(err);
    return write_groups(&g, to, most, err);
}
