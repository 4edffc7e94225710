/* cpu_use.c: how busy the processors were while an input pipeline ran (table cpu_sample).
 *
 * Samples of one list are together: its mean follows from them, and what was not read is
 * left out of it. A sample belongs to the step of the last batch that was taken at or before
 * it. */
#include "analyse/vendor/cpu_use.h"

#include <math.h>

#include "analyse/rows.h"
#include "base/bisect.h"
#include "base/map.h"
#include "base/num.h"

/* A batch that was taken from the queue of the host, as the file lists them. */
typedef struct {
    int64_t earliest; /* time of this one or of one after it */
    int64_t step;     /* the first is 1 */
} batch;

typedef struct {
    const trace *t;
    const params *p;
    arena *arena;
    batch *batches;
    uint32_t n_batches;
    map operators; /* number of an operator -> row of table pipe_op */
    table *means, *samples;
} writer;

static bool is_batch(const trace *t, uint32_t i) {
    uint32_t op = t->queue_sample.pipe_op[i];
    return op && op < t->pipe_op.n && t->pipe_op.role[op] == PIPE_HOST_QUEUE &&
           t->queue_sample.time[i] != ABSENT_I64 && t->queue_sample.step[i] != ABSENT_I64;
}

static status collect_batches(writer *w, error *err) {
    const trace *t = w->t;
    int64_t first = 0, earliest = INT64_MAX;
    w->batches = ARENA_ARRAY(w->arena, batch, t->queue_sample.n);
    if (!w->batches) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->queue_sample.n; i++) {
        if (!is_batch(t, i)) continue;
        if (!w->n_batches) first = t->queue_sample.step[i];
        w->batches[w->n_batches++] =
            (batch){.earliest = t->queue_sample.time[i],
                    .step = add_i64(sub_i64(t->queue_sample.step[i], first), 1)};
    }
    for (uint32_t i = w->n_batches; COUNT_DOWN(i);)
        w->batches[i].earliest = earliest = min_i64(earliest, w->batches[i].earliest);
    return OK;
}

/* The step of a time: that of the last batch at or before it; before the first 0. */
static int64_t step_at(const writer *w, int64_t time) {
    uint32_t n = SEARCH_FIRST(i, 0, w->n_batches, w->batches[i].earliest <= time);
    return !w->n_batches ? ABSENT_I64 : n ? w->batches[n - 1].step : 0;
}

static status collect_operators(writer *w, error *err) {
    const trace *t = w->t;
    for (uint32_t i = 1; i < t->pipe_op.n; i++) {
        if (t->pipe_op.role[i] != PIPE_OPERATOR) continue;
        uint32_t *at = map_at(&w->operators, (uint64_t)t->pipe_op.id[i]);
        if (!at) FAIL_MEMORY(err);
        if (*at == MAP_NONE) *at = i;
    }
    return OK;
}

/* Type_id of an operator by its number. */
static str operator_name(const writer *w, int64_t id) {
    const trace *t = w->t;
    uint32_t row = map_get(&w->operators, (uint64_t)id);
    return row == MAP_NONE
               ? arena_printf(w->arena, "%lld", (long long)id)
               : arena_printf(w->arena, "%.*s_%lld",
                              STR_ARG(trace_str(t, t->pipe_op.name[row])), (long long)id);
}

/* What the samples of a list have in common. */
typedef struct {
    uint8_t scope;
    int64_t op;
    str operator, kind;
    double sum;
    int64_t n;
} list;

static str scope_word(uint8_t scope) {
    return scope == CPU_OPERATOR  ? STR("operator")
           : scope == CPU_PROCESS ? STR("process")
                                  : STR("machine");
}

static status write_sample(writer *w, uint32_t i, list *l, error *err) {
    double v = w->t->cpu_sample.value[i];
    int64_t step = step_at(w, w->t->cpu_sample.time[i]);
    bool wanted =
        w->p->first_step == ABSENT_I64 || (step >= w->p->first_step && step <= w->p->last_step);
    if (isnan(v) || !wanted) return OK;
    l->sum += v;
    l->n++;
    row_pipeline_cpu_samples row = row_pipeline_cpu_samples_none();
    row.time = w->t->cpu_sample.elapsed[i];
    row.step = step;
    row.scope = scope_word(l->scope);
    if (l->operator.n) row.operator_ = l->operator;
    row.kind = l->kind;
    row.value = v;
    return put_pipeline_cpu_samples(w->samples, &row, err);
}

static status write_mean(const writer *w, const list *l, error *err) {
    row_pipeline_cpu row = row_pipeline_cpu_none();
    row.scope = scope_word(l->scope);
    if (l->operator.n) row.operator_ = l->operator;
    row.kind = l->kind;
    if (l->n) row.mean = l->sum / (double)l->n;
    row.samples = l->n;
    return put_pipeline_cpu(w->means, &row, err);
}

static bool same_list(const trace *t, uint32_t a, uint32_t b) {
    return t->cpu_sample.scope[a] == t->cpu_sample.scope[b] &&
           t->cpu_sample.op[a] == t->cpu_sample.op[b] &&
           t->cpu_sample.kind[a] == t->cpu_sample.kind[b];
}

/* The list that begins with this sample, one past its last. */
static status write_list(writer *w, uint32_t first, uint32_t *end, error *err) {
    const trace *t = w->t;
    list l = {.scope = t->cpu_sample.scope[first],
              .op = t->cpu_sample.op[first],
              .kind = trace_str(t, t->cpu_sample.kind[first])};
    if (l.scope == CPU_OPERATOR) {
        l.operator= operator_name(w, l.op);
        if (!l.operator.p) FAIL_MEMORY(err);
    }
    uint32_t i = first;
    for (; i < t->cpu_sample.n && same_list(t, first, i); i++) TRY(write_sample(w, i, &l, err));
    *end = i;
    return write_mean(w, &l, err);
}

static status write_lists(writer *w, error *err) {
    TRY(collect_batches(w, err));
    TRY(collect_operators(w, err));
    for (uint32_t i = 1; i < w->t->cpu_sample.n;) TRY(write_list(w, i, &i, err));
    return OK;
}

status cpu_use_write(const trace *t, const params *p, arena *a, answer *out, error *err) {
    writer w = {.t = t, .p = p, .arena = a};
    w.means = answer_table(out, a, "cpu");
    w.samples = answer_table(out, a, "cpu_samples");
    if (!w.means || !w.samples) FAIL_MEMORY(err);
    TRY(trace_require(t, TRACE_TABLE(cpu_sample), err));
    status st = write_lists(&w, err);
    map_fini(&w.operators);
    return st;
}

double cpu_busy_share(const trace *t) {
    double sum = 0;
    int64_t n = 0;
    for (uint32_t i = 1; i < t->cpu_sample.n; i++) {
        if (t->cpu_sample.scope[i] != CPU_MACHINE || isnan(t->cpu_sample.value[i]) ||
            t->cpu_sample.op[i] != ABSENT_I64 ||
            !str_eq(trace_str(t, t->cpu_sample.kind[i]), STR("idle")))
            continue;
        sum += t->cpu_sample.value[i];
        n++;
    }
    return n ? 1 - sum / (double)n / 100 : (double)NAN;
}
