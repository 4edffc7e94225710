/* pipe_view.c: the operators of an input pipeline, flattened and judged.
 *
 * Three rules, over all operators but the root, an unknown usage counting as 0:
 *   1. an operator is slow when some child's queue is fuller than its own by more than 0.1;
 *   2. a source is slow when its queue is less full than the lower limit;
 *   3. when every queue is at least as full as the upper limit, none of them is slow, but the
 *   consumer of the root is.
 * Means and usages are plain means of the samples: MindSpore's own tables have the same
 * figures. */
#include "analyse/steps/pipe_view.h"

#include <math.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"

#define NONE UINT32_MAX

/* Is the operator shown? */
static bool is_shown(const trace *t, uint32_t row) {
    return t->pipe_op.role[row] == PIPE_OPERATOR &&
           (t->pipe_op.capacity[row] != ABSENT_I64 || t->pipe_op.id[row] == 0);
}

/* The shown operator that a row feeds, 0 = none; `known` keeps what was found, so that a long
 * way through operators that are not shown is walked once. Parents make no circle (the seal
 * and the file check see to it). */
static uint32_t shown_parent(const trace *t, uint32_t row, uint32_t *known) {
    uint32_t found = row;
    do found = known[found] != NONE ? known[found] : t->pipe_op.parent[found];
    while (found && !is_shown(t, found));
    while (row && row != found && known[row] == NONE) {
        known[row] = found;
        row = t->pipe_op.parent[row];
    }
    return found;
}

static status name_items(const trace *t, pipe_view *v, arena *a, error *err) {
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t row = v->v[i].row;
        str type = trace_str(t, t->pipe_op.name[row]);
        v->v[i].name =
            t->pipe_op.id[row] == ABSENT_I64
                ? type
                : arena_printf(a, "%.*s_%lld", STR_ARG(type), (long long)t->pipe_op.id[row]);
        if (!v->v[i].name.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* Breadth first: each round takes the children of the operators taken before, as the file lists
 * them. */
static status order_items(const trace *t, arena *a, pipe_view *v, error *err) {
    uint32_t n = t->pipe_op.n;
    uint32_t *known = ARENA_ARRAY(a, uint32_t, n), *first = ARENA_ARRAY(a, uint32_t, n),
             *next = ARENA_ARRAY(a, uint32_t, n);
    v->v = ARENA_ARRAY(a, pipe_item, n);
    if (!known || !first || !next || !v->v) FAIL_MEMORY(err);
    memset(known, 0xff, n * sizeof *known);
    /* Backwards, so that lists are in the order of the file. */
    for (uint32_t row = n; row-- > 1;) {
        if (!is_shown(t, row)) continue;
        uint32_t parent = shown_parent(t, row, known);
        next[row] = first[parent];
        first[parent] = row;
    }
    for (uint32_t row = first[0]; row; row = next[row])
        v->v[v->n++] =
            (pipe_item){.row = row, .parent = NONE, .first_child = NONE, .next_sibling = NONE};
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t last = NONE;
        for (uint32_t row = first[v->v[i].row]; row; row = next[row]) {
            v->v[v->n] =
                (pipe_item){.row = row, .parent = i, .first_child = NONE, .next_sibling = NONE};
            if (last == NONE)
                v->v[i].first_child = v->n;
            else
                v->v[last].next_sibling = v->n;
            v->v[i].n_children++;
            last = v->n++;
        }
    }
    return name_items(t, v, a, err);
}

typedef struct {
    int64_t sum, n, empty;
} queue_sum;

static status measure(const trace *t, arena *a, pipe_view *v, error *err) {
    queue_sum *sums = ARENA_ARRAY(a, queue_sum, t->pipe_op.n);
    if (!sums) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->queue_sample.n; i++) {
        uint32_t op = t->queue_sample.pipe_op[i];
        if (!op || op >= t->pipe_op.n || t->queue_sample.size[i] == ABSENT_I64) continue;
        sums[op].sum = add_i64(sums[op].sum, t->queue_sample.size[i]);
        sums[op].n++;
        sums[op].empty += t->queue_sample.size[i] == 0;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const queue_sum *s = &sums[v->v[i].row];
        int64_t capacity = t->pipe_op.capacity[v->v[i].row];
        v->v[i].n_samples = s->n;
        v->v[i].mean = s->n ? (double)s->sum / (double)s->n : (double)NAN;
        v->v[i].empty_share = s->n ? (double)s->empty / (double)s->n : (double)NAN;
        v->v[i].usage = s->n && capacity > 0 ? v->v[i].mean / (double)capacity : (double)NAN;
    }
    return OK;
}

static double usage_of(const pipe_item *i) {
    return isnan(i->usage) ? 0 : i->usage;
}

static void judge_items(pipe_view *v, pipe_thresholds limits) {
    bool all_full = v->n > 1;
    for (uint32_t i = 0; i < v->n; i++) {
        pipe_item *p = &v->v[i];
        if (p->parent == NONE) continue;
        all_full &= usage_of(p) >= limits.high;
        for (uint32_t c = p->first_child; c != NONE; c = v->v[c].next_sibling)
            if (usage_of(&v->v[c]) - usage_of(p) > 0.1) p->slow = SLOW_BEHIND_CHILD;
        if (p->n_children == 0 && usage_of(p) < limits.low) p->slow = SLOW_SOURCE;
    }
    if (!all_full) return;
    for (uint32_t i = 0; i < v->n; i++)
        v->v[i].slow = v->v[i].parent == NONE ? SLOW_CONSUMER : SLOW_NOT;
}

/* ---- processors -------------------------------------------------------------------------- */

/* About the operators of one number. */
typedef struct {
    double user, sys;
    int64_t n_user, n_sys;
} cpu_sum;

static status add_cpu_samples(const trace *t, map *by_id, vec *sums, error *err) {
    for (uint32_t i = 1; i < t->cpu_sample.n; i++) {
        if (t->cpu_sample.scope[i] != CPU_OPERATOR || isnan(t->cpu_sample.value[i])) continue;
        uint32_t *at = map_at(by_id, (uint64_t)t->cpu_sample.op[i]);
        cpu_sum *sum = !at ? NULL : *at == MAP_NONE ? vec_push(sums) : &VEC(sums, cpu_sum)[*at];
        if (!sum) FAIL_MEMORY(err);
        if (*at == MAP_NONE) {
            *sum = (cpu_sum){0};
            *at = (uint32_t)(sums->n - 1);
        }
        str kind = trace_str(t, t->cpu_sample.kind[i]);
        if (str_eq(kind, STR("user"))) {
            sum->user += t->cpu_sample.value[i];
            sum->n_user++;
        } else if (str_eq(kind, STR("sys"))) {
            sum->sys += t->cpu_sample.value[i];
            sum->n_sys++;
        }
    }
    return OK;
}

static status add_cpu_use(const trace *t, pipe_view *v, error *err) {
    map by_id = {0};
    vec sums = VEC_INIT(cpu_sum);
    status st = add_cpu_samples(t, &by_id, &sums, err);
    for (uint32_t i = 0; st == OK && i < v->n; i++) {
        uint32_t at = map_get(&by_id, (uint64_t)t->pipe_op.id[v->v[i].row]);
        const cpu_sum *sum = at == MAP_NONE ? NULL : &VEC(&sums, cpu_sum)[at];
        v->v[i].cpu = sum && sum->n_user && sum->n_sys
                          ? sum->user / (double)sum->n_user + sum->sys / (double)sum->n_sys
                          : (double)NAN;
    }
    map_fini(&by_id);
    vec_fini(&sums);
    return st;
}

status pipe_view_make(const trace *t, pipe_thresholds limits, arena *a, pipe_view *out,
                      error *err) {
    pipe_view v = {.n = 0};
    TRY(order_items(t, a, &v, err));
    TRY(measure(t, a, &v, err));
    TRY(add_cpu_use(t, &v, err));
    judge_items(&v, limits);
    *out = v;
    return OK;
}

queue_counts queue_count(const trace *t, uint8_t role) {
    queue_counts c = {0, 0, 0};
    for (uint32_t i = 1; i < t->queue_sample.n; i++) {
        uint32_t op = t->queue_sample.pipe_op[i];
        int64_t size = t->queue_sample.size[i];
        if (!op || op >= t->pipe_op.n || t->pipe_op.role[op] != role || size == ABSENT_I64)
            continue;
        c.batches++;
        c.empty += size == 0;
        c.full +=
            t->queue_sample.capacity[i] != ABSENT_I64 && size == t->queue_sample.capacity[i];
    }
    return c;
}
