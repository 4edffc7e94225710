/* measures.c: the samples of a baseline, and what two baselines have in common.
 *
 * A moment of a step in which a device works is the device's, any other the host's, so the two
 * add up to the step. Rows of the tables are sorted (store/summary.h): by worker and number,
 * and names by their bytes, so that two of them are walked side by side. */
#include "analyse/check/measures.h"

#include <math.h>

#include "base/num.h"
#include "base/sort.h"

/* ---- samples ----------------------------------------------------------------------------- */

typedef struct {
    int64_t number;
    double ns[N_PARTS]; /* sums over workers */
    int64_t n;
} step_sample;

static int compare_numbers(uint32_t a, uint32_t b, const void *context) {
    const summary_step *rows = context;
    return rows[a].number < rows[b].number ? -1 : rows[a].number > rows[b].number;
}

/* What rank of the order goes into which sample: steps of one number, of different workers. */
static void add_step(step_sample *to, const summary_step *s) {
    double device = (double)add_i64(add_i64(s->kernel, s->memcpy_ns),
                                    add_i64(s->memset_ns, s->communication));
    to->number = s->number;
    to->ns[PART_DEVICE] += device;
    to->ns[PART_RUNTIME] += (double)s->runtime;
    to->ns[PART_DATA] += (double)s->data_loader;
    to->ns[PART_OPERATORS] += (double)s->cpu_exec;
    to->ns[PART_OTHER] += (double)s->other;
    to->n++;
}

static bool is_measured(const summary_step *s) {
    return s->end > s->start && !(s->bare == 1);
}

/* Samples by the number of the step. */
static status collect(const summary *of, arena *a, step_sample **out, uint32_t *n_out,
                      error *err) {
    uint32_t n = SUMMARY_N(of, step);
    const summary_step *rows = SUMMARY_ROWS(of, step);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    step_sample *v = ARENA_ARRAY(a, step_sample, (size_t)n + 1);
    if (!order || !scratch || !v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, compare_numbers, rows);
    *n_out = 0;
    for (uint32_t i = 0; i < n; i++) {
        const summary_step *s = &rows[order[i]];
        if (!is_measured(s)) continue;
        bool next = !*n_out || v[*n_out - 1].number != s->number;
        add_step(&v[next ? (*n_out)++ : *n_out - 1], s);
    }
    *out = v;
    return OK;
}

static measured measured_of(const double *v, uint32_t n) {
    measured m = {.known = n > 0, .samples = noise_of_reals(v, n)};
    m.value = m.samples.mean;
    return m;
}

static status measure_steps(measures *m, arena *a, const step_sample *v, uint32_t n,
                            error *err) {
    double *step = ARENA_ARRAY(a, double, (size_t)n + 1);
    double *host = ARENA_ARRAY(a, double, (size_t)n + 1);
    double *part = ARENA_ARRAY(a, double, (size_t)n + 1);
    if (!step || !host || !part) FAIL_MEMORY(err);
    for (int p = 0; p < N_PARTS; p++) {
        for (uint32_t i = 0; i < n; i++) {
            part[i] = v[i].ns[p] / (double)v[i].n;
            step[i] += part[i];
            if (p != PART_DEVICE) host[i] += part[i];
        }
        m->part[p] = noise_of_reals(part, n);
        if (p == PART_DEVICE) m->v[MEASURE_DEVICE] = measured_of(part, n);
    }
    m->v[MEASURE_STEP] = measured_of(step, n);
    m->v[MEASURE_HOST] = measured_of(host, n);
    bool has_device = false;
    for (uint32_t i = 0; i < SUMMARY_N(m->of, worker); i++)
        has_device |= SUMMARY_ROWS(m->of, worker)[i].has_device == 1;
    /* Without a device the step is the host's: said once. */
    if (!has_device) m->v[MEASURE_DEVICE].known = m->v[MEASURE_HOST].known = false;
    return OK;
}

/* ---- the other measures ------------------------------------------------------------------ */

/* The device with the most; reserved where the allocator says it, else allocated. */
static void measure_memory(measures *m) {
    int64_t reserved = 0, allocated = 0;
    for (uint32_t i = 0; i < SUMMARY_N(m->of, peak); i++) {
        const summary_peak *p = &SUMMARY_ROWS(m->of, peak)[i];
        if (str_starts(p->device, STR("cpu")) || str_starts(p->device, STR("CPU"))) continue;
        reserved = max_i64(reserved, p->reserved);
        allocated = max_i64(allocated, p->allocated);
    }
    int64_t most = reserved > 0 ? reserved : allocated;
    m->v[MEASURE_MEMORY] = (measured){.known = most > 0, .value = (double)most};
}

/* Over all workers: a step of a rank. */
static status measure_kernels(measures *m, arena *a, error *err) {
    uint32_t n = SUMMARY_N(m->of, launch);
    double *v = ARENA_ARRAY(a, double, (size_t)n + 1);
    if (!v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) v[i] = (double)SUMMARY_ROWS(m->of, launch)[i].pieces;
    m->v[MEASURE_KERNELS] = measured_of(v, n);
    return OK;
}

/* What the devices did of what they could, from step to step. */
static status measure_mfu(measures *m, arena *a, const step_sample *v, uint32_t n, error *err) {
    double busy_s = 0; /* a step of all workers, were they always at the peak */
    uint32_t rows = SUMMARY_N(m->of, model);
    for (uint32_t i = 0; i < rows; i++) {
        const summary_model *row = &SUMMARY_ROWS(m->of, model)[i];
        bool usable = row->steps > 0 && row->peak_flops_per_s > 0 && row->flops > 0;
        if (usable) busy_s += row->flops / (double)row->steps / row->peak_flops_per_s;
    }
    double least_ns = rows ? busy_s / (double)rows * 1e9 : 0;
    double *mfu = ARENA_ARRAY(a, double, (size_t)n + 1);
    if (!mfu) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        double ns = 0;
        for (int p = 0; p < N_PARTS; p++) ns += v[i].ns[p] / (double)v[i].n;
        mfu[i] = ns > 0 ? least_ns / ns : 0;
    }
    if (least_ns > 0 && isfinite(least_ns)) m->v[MEASURE_MFU] = measured_of(mfu, n);
    return OK;
}

status measures_make(const summary *of, arena *a, measures *out, error *err) {
    measures m = {.of = of};
    step_sample *v = NULL;
    uint32_t n = 0;
    TRY(collect(of, a, &v, &n, err));
    m.steps = n;
    for (uint32_t i = 0; i < SUMMARY_N(of, worker); i++)
        m.workers += SUMMARY_ROWS(of, worker)[i].steps > 0;
    TRY(measure_steps(&m, a, v, n, err));
    measure_memory(&m);
    TRY(measure_kernels(&m, a, err));
    TRY(measure_mfu(&m, a, v, n, err));
    *out = m;
    return OK;
}

status measures_add_runs(measures *to, const measures *also, uint32_t n, arena *a, error *err) {
    double *means = ARENA_ARRAY(a, double, (size_t)n + 1);
    if (!means) FAIL_MEMORY(err);
    for (int m = 0; m < N_MEASURES; m++) {
        uint32_t n_known = 0;
        if (!to->v[m].known) continue;
        means[n_known++] = to->v[m].value;
        for (uint32_t i = 0; i < n; i++)
            if (also[i].v[m].known) means[n_known++] = also[i].v[m].value;
        if (n_known < 2) continue;
        to->v[m].runs = noise_of_reals(means, n_known);
        to->v[m].value = to->v[m].runs.mean;
    }
    return OK;
}

/* ---- two runs ---------------------------------------------------------------------------- */

static bool is_timed(const summary_op *o) {
    return o->calls > 0 && o->host_self > 0;
}

status measures_host_ratio(const measures *a, const measures *b, arena *scratch, double *out,
                           error *err) {
    const summary_op *x = SUMMARY_ROWS(a->of, op), *y = SUMMARY_ROWS(b->of, op);
    uint32_t nx = SUMMARY_N(a->of, op), ny = SUMMARY_N(b->of, op), n = 0;
    noise_weighted *v = ARENA_ARRAY(scratch, noise_weighted, (size_t)nx + 1);
    if (!v) FAIL_MEMORY(err);
    for (uint32_t i = 0, k = 0; i < nx && k < ny;) {
        int order_of = str_cmp(x[i].name, y[k].name);
        if (order_of == 0 && is_timed(&x[i]) && is_timed(&y[k])) {
            double before = (double)x[i].host_self / (double)x[i].calls;
            double after = (double)y[k].host_self / (double)y[k].calls;
            v[n++] = (noise_weighted){after / before, (double)x[i].host_self};
        }
        i += order_of <= 0;
        k += order_of >= 0;
    }
    return noise_weighted_median(v, n, 1, scratch, out, err);
}

/* Calls per step. */
static double shape_calls(const measures *m, uint32_t row) {
    return (double)SUMMARY_ROWS(m->of, shape)[row].calls / (double)max_i64(1, m->steps);
}

/* The end of the rows with the name of row `from`. */
static uint32_t name_end(const measures *m, uint32_t from) {
    const summary_shape *v = SUMMARY_ROWS(m->of, shape);
    uint32_t end = from + 1;
    while (end < SUMMARY_N(m->of, shape) && str_eq(v[end].name, v[from].name)) end++;
    return end;
}

typedef struct {
    double compared, same;
} shape_counts;

/* Calls of one name: rows from i and k, to their ends. */
static void count_name(const measures *a, const measures *b, const uint32_t from[2],
                       const uint32_t end[2], shape_counts *to) {
    const summary_shape *x = SUMMARY_ROWS(a->of, shape), *y = SUMMARY_ROWS(b->of, shape);
    double all[2] = {0, 0};
    for (uint32_t i = from[0]; i < end[0]; i++) all[0] += shape_calls(a, i);
    for (uint32_t k = from[1]; k < end[1]; k++) all[1] += shape_calls(b, k);
    to->compared += fmin(all[0], all[1]);
    for (uint32_t i = from[0], k = from[1]; i < end[0] && k < end[1];) {
        if (x[i].shapes == y[k].shapes) to->same += fmin(shape_calls(a, i), shape_calls(b, k));
        bool left = x[i].shapes <= y[k].shapes, right = y[k].shapes <= x[i].shapes;
        i += left;
        k += right;
    }
}

double measures_reshaped(const measures *a, const measures *b) {
    const summary_shape *x = SUMMARY_ROWS(a->of, shape), *y = SUMMARY_ROWS(b->of, shape);
    uint32_t nx = SUMMARY_N(a->of, shape), ny = SUMMARY_N(b->of, shape);
    shape_counts n = {0, 0};
    for (uint32_t i = 0, k = 0; i < nx && k < ny;) {
        uint32_t from[2] = {i, k}, end[2] = {name_end(a, i), name_end(b, k)};
        int order = str_cmp(x[i].name, y[k].name);
        if (order == 0) count_name(a, b, from, end, &n);
        if (order <= 0) i = end[0];
        if (order >= 0) k = end[1];
    }
    return n.compared > 0 ? 1 - n.same / n.compared : NAN;
}
