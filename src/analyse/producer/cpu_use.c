/* cpu_use.c: how busy the processors were while an input pipeline ran (table cpu_sample).
 *
 * Samples of one list are together: its mean follows from them, and what was not read is
 * left out of it. A sample belongs to the step of the last batch that was taken at or before
 * it. */
#include "analyse/producer/cpu_use.h"

#include <math.h>

#include "base/map.h"
#include "base/num.h"

#define COL_C(name) COL(pipeline, cpu, name)
#define COL_CS(name) COL(pipeline, cpu_samples, name)

enum { MOST_TIMES = 4096 };

typedef struct {
    const trace *t;
    const params *p;
    arena *arena;
    map by_time; /* time of a sample -> its place in steps */
    int64_t *steps;
    uint32_t n_steps;
    table *means, *samples;
} writer;

/* The step of a time: that of the last batch at or before it; before the first 0. */
static int64_t cpu_use_step_at(const trace *t, int64_t time) {
    int64_t step = 0, first = ABSENT_I64;
    bool any = false;
    for (uint32_t i = 1; i < t->queue_sample.n; i++) {
        uint32_t op = t->queue_sample.pipe_op[i];
        if (!op || t->pipe_op.role[op] != PIPE_HOST_QUEUE ||
            t->queue_sample.time[i] == ABSENT_I64)
            continue;
        any = true;
        if (first == ABSENT_I64) first = t->queue_sample.step[i];
        if (t->queue_sample.time[i] <= time) step = t->queue_sample.step[i] - first + 1;
    }
    return any ? step : ABSENT_I64;
}

/* Every list has the same times: each is looked for once, and no more than MOST_TIMES of
 * them. */
static status cpu_use_find_step(writer *w, int64_t time, int64_t *step, error *err) {
    uint32_t *at = map_at(&w->by_time, (uint64_t)time);
    if (!at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) {
        *at = w->n_steps < MOST_TIMES ? w->n_steps++ : MOST_TIMES;
        w->steps[*at] = *at < MOST_TIMES ? cpu_use_step_at(w->t, time) : ABSENT_I64;
    }
    *step = w->steps[*at];
    return OK;
}

/* Type_id of an operator by its number. */
static str operator_name(const writer *w, int64_t id) {
    const trace *t = w->t;
    for (uint32_t i = 1; i < t->pipe_op.n; i++)
        if (t->pipe_op.role[i] == PIPE_OPERATOR && t->pipe_op.id[i] == id)
            return arena_printf(w->arena, "%.*s_%lld",
                                STR_ARG(trace_str(t, t->pipe_op.name[i])), (long long)id);
    return arena_printf(w->arena, "%lld", (long long)id);
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

static status cpu_use_write_sample(writer *w, uint32_t i, list *l, error *err) {
    double v = w->t->cpu_sample.value[i];
    int64_t step = ABSENT_I64;
    size_t row;
    TRY(cpu_use_find_step(w, w->t->cpu_sample.time[i], &step, err));
    bool wanted =
        w->p->first_step == ABSENT_I64 || (step >= w->p->first_step && step <= w->p->last_step);
    if (isnan(v) || !wanted) return OK;
    l->sum += v;
    l->n++;
    TRY(table_add_row(w->samples, &row, err));
    table_set_int(w->samples, row, COL_CS(time), w->t->cpu_sample.elapsed[i]);
    if (step != ABSENT_I64) table_set_int(w->samples, row, COL_CS(step), step);
    table_set_text(w->samples, row, COL_CS(scope), scope_word(l->scope));
    if (l->operator.n) table_set_text(w->samples, row, COL_CS(operator), l->operator);
    table_set_text(w->samples, row, COL_CS(kind), l->kind);
    table_set_real(w->samples, row, COL_CS(value), v);
    return OK;
}

static status write_mean(const writer *w, const list *l, error *err) {
    size_t row;
    TRY(table_add_row(w->means, &row, err));
    table_set_text(w->means, row, COL_C(scope), scope_word(l->scope));
    if (l->operator.n) table_set_text(w->means, row, COL_C(operator), l->operator);
    table_set_text(w->means, row, COL_C(kind), l->kind);
    if (l->n) table_set_real(w->means, row, COL_C(mean), l->sum / (double)l->n);
    table_set_int(w->means, row, COL_C(samples), l->n);
    return OK;
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
    for (; i < t->cpu_sample.n && same_list(t, first, i); i++)
        TRY(cpu_use_write_sample(w, i, &l, err));
    *end = i;
    return write_mean(w, &l, err);
}

status cpu_use_write(const trace *t, const params *p, arena *a, answer *out, error *err) {
    writer w = {.t = t, .p = p, .arena = a};
    w.means = answer_table(out, a, "cpu");
    w.samples = answer_table(out, a, "cpu_samples");
    w.steps = ARENA_ARRAY(a, int64_t, MOST_TIMES + 1);
    if (!w.means || !w.samples || !w.steps) FAIL_MEMORY(err);
    TRY(trace_require(t, TRACE_TABLE(cpu_sample), err));
    status st = OK;
    for (uint32_t i = 1; st == OK && i < t->cpu_sample.n;) st = write_list(&w, i, &i, err);
    map_fini(&w.by_time);
    return st;
}

/* Mean of the samples of a kind; NaN when there are none. */
static double cpu_use_mean_of(const trace *t, cpu_scope scope, int64_t op, const char *kind) {
    double sum = 0;
    int64_t n = 0;
    for (uint32_t i = 1; i < t->cpu_sample.n; i++) {
        if (t->cpu_sample.scope[i] != scope || isnan(t->cpu_sample.value[i]) ||
            t->cpu_sample.op[i] != op ||
            !str_eq(trace_str(t, t->cpu_sample.kind[i]), str_of(kind)))
            continue;
        sum += t->cpu_sample.value[i];
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

double cpu_busy_share(const trace *t) {
    return 1 - cpu_use_mean_of(t, CPU_MACHINE, ABSENT_I64, "idle") / 100;
}

double cpu_of_operator(const trace *t, int64_t id) {
    return cpu_use_mean_of(t, CPU_OPERATOR, id, "user") +
           cpu_use_mean_of(t, CPU_OPERATOR, id, "sys");
}
