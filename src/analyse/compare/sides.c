/* sides.c: workers read at the same time and joined. See sides.h. */
#include "analyse/compare/sides.h"

#include <math.h>

#include "analyse/memory/memory_view.h"
#include "base/sort.h"

#define COMPARE_TABLES                                                                     \
    (SELECT_TABLES | TRACE_TABLE(track) | TRACE_TABLE(op) | TRACE_TABLE(comm) |            \
     TRACE_TABLE(meta) | TRACE_TABLE(device) | TRACE_TABLE(memory) | TRACE_TABLE(module) | \
     TRACE_TABLE(module_call) | TRACE_TABLE(flow))

/* ---- one worker -------------------------------------------------------------------------- */

static status read_roles(compared_worker *w, arena *scratch, error *err) {
    const step_spans *s = &w->steps.steps;
    role_ranges ranges;
    step_parts *parts;
    interval window = {s->n ? s->v[0].start : 0, s->n ? s->v[s->n - 1].end : 0};
    TRY(role_ranges_make(w->t, window, scratch, &ranges, err));
    TRY(breakdown_make(&ranges, s, scratch, &parts, err));
    for (uint32_t i = 0; i < s->n; i++) {
        w->steps.of[MEASURE_OWN][i] =
            w->steps.of[MEASURE_STEP][i] - (double)parts[i].ns[ROLE_COMMUNICATION];
        for (int r = 0; r < N_ROLES; r++) w->roles[r] = add_i64(w->roles[r], parts[i].ns[r]);
    }
    return OK;
}

/* Of accelerators where any is recorded, else of the host. */
static status read_memory(compared_worker *w, const params *p, arena *scratch, error *err) {
    memory_view m;
    bool device = false;
    w->memory_bytes = ABSENT_I64;
    if (w->t->memory.n <= 1) return OK;
    TRY(memory_view_init(&m, w->t, p, scratch, err));
    memory_find_peaks(&m);
    for (uint32_t i = 0; i < m.devices.n; i++) {
        const memory_device *d = GROUP_ROW(&m.devices, memory_device, i);
        bool here = !str_eq(d->name, STR("CPU"));
        if (!d->has_totals || (device && !here)) continue;
        if (here && !device) w->memory_bytes = ABSENT_I64;
        device |= here;
        if (w->memory_bytes == ABSENT_I64 || d->peak > w->memory_bytes)
            w->memory_bytes = d->peak;
    }
    return OK;
}

typedef struct {
    compared_worker **v;
    const params *params;
    size_t limit_bytes;
} reading;

static status read_worker(const reading *r, compared_worker *w, arena *scratch, error *err) {
    params own = *r->params;
    own.first_step = w->select.first_step;
    own.last_step = w->select.last_step;
    own.pool = NULL; /* workers take the threads */
    TRY(call_tree_init(&w->tree, w->kept, err));
    TRY(step_owners_make(&w->tree, w->t, &w->select, w->kept, scratch, &w->steps, err));
    TRY(read_roles(w, scratch, err));
    if (w->is_first) TRY(workload_read(&w->select, scratch, &w->workload, err));
    return read_memory(w, &own, scratch, err);
}

static void read_one(void *context, size_t i, int thread) {
    const reading *r = context;
    compared_worker *w = r->v[i];
    arena scratch;
    (void)thread;
    arena_init(&scratch, r->limit_bytes);
    w->done = read_worker(r, w, &scratch, &w->err);
    arena_fini(&scratch);
}

/* ---- both sides -------------------------------------------------------------------------- */

static void free_kept(void *kept) {
    arena_fini(kept);
}

/* The steps of a side: those of the second one are `other_step` where it is given. */
static status choose_steps(selection *s, const params *p, int side, error *err) {
    str given = param_text(p, STR("other_step"));
    step_range steps = params_steps(p);
    if (side == SIDE_A || !given.n) return OK;
    if (str_eq(given, STR("all")))
        steps = (step_range){OPEN_START, OPEN_END};
    else if (!value_parse(VALUE_STEPS, NULL, given, &steps))
        return param_fail(p, STR("other_step"), "A..B|all", err);
    s->first_step = steps.first;
    s->last_step = steps.last;
    s->by_step = !steps_are_all(steps);
    return OK;
}

static status add_workers(compared_side *side, int which, const analysis_input *in,
                          const params *p, arena *a, error *err) {
    for (uint32_t i = 0; i < in->n_traces; i++) {
        compared_worker *w = &side->v[side->n];
        *w = (compared_worker){.from = &in->traces[i], .t = in->traces[i].trace};
        w->run = side->n_runs;
        w->is_first = side->n == 0;
        TRY(trace_require(w->t, COMPARE_TABLES, err));
        select_init(&w->select, w->t, p);
        TRY(choose_steps(&w->select, p, which, err));
        w->kept = ARENA_NEW(a, arena);
        if (!w->kept) FAIL_MEMORY(err);
        arena_init(w->kept, a->limit_bytes);
        if (!arena_on_reset(a, free_kept, w->kept)) FAIL_MEMORY(err);
        side->n++;
    }
    side->n_runs++;
    return OK;
}

static status side_init(compared_side *side, int which, const analysis_input *in,
                        const params *p, arena *a, error *err) {
    uint32_t n = in->n_traces;
    for (uint32_t i = 0; i < in->n_also; i++) n += in->also[i].n_traces;
    *side = (compared_side){.v = ARENA_ARRAY(a, compared_worker, (size_t)n + 1)};
    if (!side->v) FAIL_MEMORY(err);
    TRY(add_workers(side, which, in, p, a, err));
    side->n_ranks = side->n;
    for (uint32_t i = 0; i < in->n_also; i++)
        TRY(add_workers(side, which, &in->also[i], p, a, err));
    return OK;
}

static status join(compared_side *side, int which, call_tree *tree, arena *a, error *err) {
    double so_far = 0;
    for (uint32_t i = 0; i < side->n; i++) {
        compared_worker *w = &side->v[i];
        tree_origin origin = {which, i, w->run == 0, w->steps.steps.n};
        TRY(call_tree_merge(tree, &w->tree, &origin, a, err));
        so_far += w->steps.steps.n;
        side->n_steps += w->steps.steps.n;
        side->sum_ns = add_i64(side->sum_ns, w->steps.sum_ns);
        side->calls += w->steps.calls;
        side->kernels += w->steps.kernels;
        if (i + 1 < side->n && side->v[i + 1].run == w->run) continue;
        call_tree_end_run(tree, which, so_far);
        so_far = 0;
    }
    side->mean_ns = side->n_steps ? side->sum_ns / side->n_steps : 0;
    return OK;
}

status sides_read(const analysis_input *a, const analysis_input *b, const params *p,
                  arena *keep, compared_side out[N_SIDES], call_tree *tree, error *err) {
    reading r = {.params = p, .limit_bytes = keep->limit_bytes};
    uint32_t n = 0;
    TRY(side_init(&out[SIDE_A], SIDE_A, a, p, keep, err));
    TRY(side_init(&out[SIDE_B], SIDE_B, b, p, keep, err));
    r.v = ARENA_ARRAY(keep, compared_worker *, (size_t)out[0].n + out[1].n + 1);
    if (!r.v) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++)
        for (uint32_t i = 0; i < out[s].n; i++) r.v[n++] = &out[s].v[i];
    pool_for(p->pool, n, read_one, &r);
    for (uint32_t i = 0; i < n; i++) {
        if (r.v[i]->done == OK) continue;
        if (err) error_copy(err, &r.v[i]->err);
        return r.v[i]->done;
    }
    TRY(call_tree_init(tree, keep, err));
    for (int s = 0; s < N_SIDES; s++) TRY(join(&out[s], s, tree, keep, err));
    return OK;
}

status sides_of_workers(const compared_worker *a, const compared_worker *b, arena *keep,
                        compared_side out[N_SIDES], call_tree *tree, error *err) {
    const compared_worker *of[N_SIDES] = {a, b};
    TRY(call_tree_init(tree, keep, err));
    for (int s = 0; s < N_SIDES; s++) {
        compared_worker *w = ARENA_NEW(keep, compared_worker);
        if (!w) FAIL_MEMORY(err);
        *w = *of[s];
        w->run = 0;
        out[s] = (compared_side){.v = w, .n = 1, .n_runs = 1, .n_ranks = 1};
        TRY(join(&out[s], s, tree, keep, err));
    }
    return OK;
}

/* ---- samples ----------------------------------------------------------------------------- */

typedef struct {
    double sum;
    uint32_t n;
} running;

static running sum_of(const compared_worker *w, measure m) {
    running r = {0, 0};
    for (uint32_t i = 0; i < w->steps.steps.n; i++) {
        if (isnan(w->steps.of[m][i])) continue;
        r.sum += w->steps.of[m][i];
        r.n++;
    }
    return r;
}

static double mean_of(running r) {
    return r.n ? r.sum / r.n : NAN;
}

double worker_mean(const compared_worker *w, measure m) {
    return mean_of(sum_of(w, m));
}

double side_mean(const compared_side *s, measure m) {
    running all = {0, 0};
    for (uint32_t i = 0; i < s->n; i++) {
        running one = sum_of(&s->v[i], m);
        all.sum += one.sum;
        all.n += one.n;
    }
    return mean_of(all);
}

noise_samples worker_samples(const compared_worker *w, measure m) {
    return noise_of_reals(w->steps.of[m], w->steps.steps.n);
}

/* What a step is longer than the mean of its worker, as the mean over all workers with such a
 * step. */
status side_samples(const compared_side *s, measure m, arena *a, noise_samples *out,
                    error *err) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_ranks; i++)
        n = s->v[i].steps.steps.n > n ? s->v[i].steps.steps.n : n;
    running *at = ARENA_ARRAY(a, running, (size_t)n + 1);
    double *v = ARENA_ARRAY(a, double, (size_t)n + 1);
    if (!at || !v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n_ranks; i++) {
        const owned_steps *o = &s->v[i].steps;
        double mean = worker_mean(&s->v[i], m);
        for (uint32_t k = 0; k < o->steps.n; k++) {
            if (isnan(o->of[m][k])) continue;
            at[k].sum += o->of[m][k] - mean;
            at[k].n++;
        }
    }
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++)
        if (at[k].n) v[kept++] = mean_of(at[k]);
    *out = noise_of_reals(v, kept);
    out->mean = side_mean(s, m);
    return OK;
}

status side_run_samples(const compared_side *s, measure m, arena *a, noise_samples *out,
                        error *err) {
    running *runs = ARENA_ARRAY(a, running, (size_t)s->n_runs + 1);
    double *v = ARENA_ARRAY(a, double, (size_t)s->n_runs + 1);
    uint32_t n = 0;
    if (!runs || !v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++) {
        running one = sum_of(&s->v[i], m);
        runs[s->v[i].run].sum += one.sum;
        runs[s->v[i].run].n += one.n;
    }
    for (uint32_t i = 0; i < s->n_runs; i++)
        if (runs[i].n) v[n++] = mean_of(runs[i]);
    *out = noise_of_reals(v, n);
    out->mean = side_mean(s, m);
    return OK;
}

static int compare_reals(uint32_t a, uint32_t b, const void *context) {
    const double *v = context;
    return v[a] < v[b] ? -1 : v[a] > v[b];
}

status side_run(const compared_side *s, uint32_t run, arena *a, run_steps *out, error *err) {
    double *v = ARENA_ARRAY(a, double, (size_t)s->n_steps + 1);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)s->n_steps + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)s->n_steps + 1);
    int64_t sum = 0;
    uint32_t n = 0;
    if (!v || !order || !scratch) FAIL_MEMORY(err);
    *out = (run_steps){.first = NULL};
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->v[i].run != run) continue;
        if (!out->first) out->first = &s->v[i];
        out->n_workers++;
        sum = add_i64(sum, s->v[i].steps.sum_ns);
        for (uint32_t k = 0; k < s->v[i].steps.steps.n; k++, n++) {
            order[n] = n;
            v[n] = s->v[i].steps.of[MEASURE_STEP][k];
        }
    }
    sort_index(order, scratch, n, compare_reals, v);
    out->n_steps = n;
    out->variance = noise_of_reals(v, n).variance;
    if (n) out->mean_ns = sum / n;
    if (n) out->median_ns = round_i64(v[order[(n - 1) / 2]]);
    return OK;
}

status sides_compare(const compared_side sides[N_SIDES], measure m, double size, arena *a,
                     noise_change *out, bool *known, error *err) {
    noise_samples before, after;
    TRY(side_samples(&sides[SIDE_B], m, a, &after, err));
    after.mean /= size;
    after.variance /= size * size;
    if (sides[SIDE_A].n_runs > 1) {
        TRY(side_run_samples(&sides[SIDE_A], m, a, &before, err));
        *known = noise_compare_runs(&before, &after, out);
        return OK;
    }
    TRY(side_samples(&sides[SIDE_A], m, a, &before, err));
    *known = noise_compare(&before, &after, 0, out);
    return OK;
}
