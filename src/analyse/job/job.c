/* job.c: the bottleneck of a job of many ranks, from their summaries.
 *
 * Linear in ranks × steps but for sorts; per cause one number for each step is kept. */
#include "analyse/job/job.h"

#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/schema.h"

bool job_is_meant(const analysis_input *in) {
    return in->n_traces > 1 || input_is_summary(in);
}

str job_part_name(late_cause part) {
    return part == LATE_NETWORK ? STR("communication") : late_name(part);
}

static int64_t median_ns(arena *a, const int64_t *v, uint32_t n) {
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, 2 * (size_t)n + 2);
    if (!pairs || !n) return 0;
    for (uint32_t i = 0; i < n; i++) pairs[i] = (sort_pair){(uint64_t)max_i64(0, v[i]), i};
    sort_radix(pairs, pairs + n, n);
    return (int64_t)pairs[(n - 1) / 2].key;
}

/* ---- stages ------------------------------------------------------------------------------ */

/* Every batch of a step passes each link once. */
static void find_batches(job *j) {
    j->micro = 1;
    for (uint32_t i = 0; i < j->groups.n; i++) {
        const comm_group *g = &j->groups.v[i];
        if (g->source != ABSENT_I64 && g->source < g->target)
            j->micro = max_i64(j->micro, mean_i64(g->calls, j->n_steps));
    }
}

static status measure_stages(job *j, error *err) {
    const stragglers *l = &j->late;
    int64_t *own = ARENA_ARRAY(j->arena, int64_t, (size_t)l->n_cells + 1);
    j->stages = ARENA_ARRAY(j->arena, job_stage, (size_t)j->groups.n_stages + 1);
    if (!own || !j->stages) FAIL_MEMORY(err);
    for (uint32_t s = 0; s < j->groups.n_stages; s++) {
        job_stage *stage = &j->stages[s];
        stage->ranks = j->groups.in_stage[s];
        uint32_t n = 0, n_usual = 0;
        for (uint32_t i = 0; i < l->n_cells; i++) {
            const step_cell *c = &l->cells[i];
            if (j->groups.stage_of[c->worker] != s) continue;
            own[n++] = c->own;
            if (c->late) continue;
            n_usual++;
            for (int k = 0; k < N_LATE; k++)
                stage->part[k] = add_i64(stage->part[k], max_i64(0, c->part[k]));
        }
        stage->own = median_ns(j->arena, own, n);
        for (int k = 0; k < N_LATE; k++) stage->part[k] = mean_i64(stage->part[k], n_usual);
        stage->waiting = max_i64(0, sub_i64(j->recorded, stage->own));
        if (stage->own > j->stages[j->longest].own) j->longest = s;
    }
    return OK;
}

/* ---- causes ------------------------------------------------------------------------------ */

static status add_cause(job *j, uint32_t worker, const comm_group *g, error *err) {
    job_cause *c = &j->causes[j->n_causes++];
    *c = (job_cause){.worker = worker, .group = g, .part = LATE_NETWORK};
    c->late_by_step = ARENA_ARRAY(j->arena, int64_t, (size_t)j->n_steps + 1);
    if (!c->late_by_step) FAIL_MEMORY(err);
    if (!g) return OK;
    int64_t each = mean_i64(max_i64(0, g->excess), j->n_steps);
    for (uint32_t i = 0; i < j->n_steps; i++) c->late_by_step[i] = each;
    c->lost = g->waiting;
    return OK;
}

/* The longest that another worker of the step was blocked. */
static int64_t blocked_elsewhere(const job *j, const step_cell *late) {
    int64_t most = 0;
    for (uint32_t i = 0; i < j->late.n_cells; i++) {
        const step_cell *c = &j->late.cells[i];
        if (c->step == late->step && c->worker != late->worker)
            most = max_i64(most, sub_i64(c->total, c->own));
    }
    return most;
}

/* The others wait for a late rank at least once for as long as it is late; for one whose time
 * is hidden in a bubble they do not. Where partners are not known, they wait for
 * the rank that costs most while they are blocked. Cells are by worker. */
static void set_late(job *j, job_cause *c) {
    const step_cell *v = j->late.cells;
    const straggler *accused = j->culprit.rank;
    uint32_t n = j->late.n_cells;
    uint32_t first = SEARCH_FIRST(i, 0u, n, v[i].worker < c->worker);
    int64_t late = 0;
    for (uint32_t i = first; i < n && v[i].worker == c->worker; i++)
        late = add_i64(late, v[i].late);
    double counts = late > 0 ? (double)min_i64(late, c->lost) / (double)late : 0;
    bool guess =
        !c->lost && accused && accused->worker == c->worker && comm_has_unknown_points(j->s);
    for (uint32_t i = first; i < n && v[i].worker == c->worker; i++) {
        int64_t ns = real_i64((double)v[i].late * counts);
        if (guess && v[i].late) ns = min_i64(v[i].late, blocked_elsewhere(j, &v[i]));
        c->late_by_step[v[i].step] = ns;
    }
}

/* By worker: how long the others waited for it. */
static int64_t *find_lost(const job *j) {
    int64_t *lost = ARENA_ARRAY(j->arena, int64_t, (size_t)j->who.n + 1);
    for (uint32_t i = 0; lost && i < SUMMARY_N(j->s, blame); i++) {
        const summary_blame *b = &SUMMARY_ROWS(j->s, blame)[i];
        uint32_t place = worker_order_find(&j->who, b->worker);
        if (place != UINT32_MAX) lost[place] = b->caused;
    }
    return lost;
}

static void sum_up(const job *j, job_cause *c) {
    for (uint32_t i = 0; i < j->n_steps; i++) {
        c->sum = add_i64(c->sum, c->late_by_step[i]);
        c->steps += c->late_by_step[i] > 0;
    }
    c->late = mean_i64(c->sum, c->steps);
}

static int compare_causes(uint32_t a, uint32_t b, const void *context) {
    const job_cause *v = context;
    if (v[a].sum != v[b].sum) return v[a].sum > v[b].sum ? -1 : 1;
    return (v[a].worker > v[b].worker) - (v[a].worker < v[b].worker);
}

static status find_causes(job *j, error *err) {
    const stragglers *l = &j->late;
    size_t most = (size_t)l->n_ranks + j->groups.n + 1;
    job_cause *sorted = ARENA_ARRAY(j->arena, job_cause, most);
    uint32_t *order = ARENA_ARRAY(j->arena, uint32_t, most),
             *scratch = ARENA_ARRAY(j->arena, uint32_t, most);
    j->causes = ARENA_ARRAY(j->arena, job_cause, most);
    int64_t *lost = find_lost(j);
    if (!j->causes || !sorted || !order || !scratch || !lost) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n_ranks; i++) {
        TRY(add_cause(j, l->ranks[i].worker, NULL, err));
        job_cause *c = &j->causes[j->n_causes - 1];
        c->part = l->ranks[i].cause;
        c->lost = lost[c->worker];
        set_late(j, c);
    }
    for (uint32_t g = 0; g < j->groups.n; g++)
        if (j->groups.v[g].slow) TRY(add_cause(j, UINT32_MAX, &j->groups.v[g], err));
    for (uint32_t i = 0; i < j->n_causes; i++) {
        sum_up(j, &j->causes[i]);
        order[i] = i;
    }
    sort_index(order, scratch, j->n_causes, compare_causes, j->causes);
    for (uint32_t i = 0; i < j->n_causes; i++) sorted[i] = j->causes[order[i]];
    j->causes = sorted;
    return OK;
}

static int64_t latest_in(const job *j, uint32_t step, uint32_t first, uint32_t *who) {
    int64_t most = 0;
    for (uint32_t i = first; i < j->n_causes; i++) {
        if (j->causes[i].late_by_step[step] <= most) continue;
        most = j->causes[i].late_by_step[step];
        if (who) *who = i;
    }
    return most;
}

/* Who decides each step, and what is left when the first, the first two … are repaired. */
static status weigh_causes(job *j, error *err) {
    int64_t *left = ARENA_ARRAY(j->arena, int64_t, (size_t)j->n_steps + 1),
            *latest = ARENA_ARRAY(j->arena, int64_t, (size_t)j->n_steps + 1);
    if (!left || !latest) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < j->n_steps; i++) {
        uint32_t who = UINT32_MAX;
        latest[i] = latest_in(j, i, 0, &who);
        if (who != UINT32_MAX) j->causes[who].decided++;
        left[i] = 0;
    }
    /* From the last cause on, what is left after each is the latest of those after it. */
    for (uint32_t k = j->n_causes; COUNT_DOWN(k);) {
        arena scratch;
        arena_init(&scratch, j->arena->limit_bytes);
        int64_t *after = ARENA_ARRAY(&scratch, int64_t, (size_t)j->n_steps + 1);
        for (uint32_t i = 0; after && i < j->n_steps; i++) {
            after[i] = sub_i64(j->step_ns[i], sub_i64(latest[i], left[i]));
            left[i] = max_i64(left[i], j->causes[k].late_by_step[i]);
        }
        if (after) j->causes[k].step_after = median_ns(&scratch, after, j->n_steps);
        arena_fini(&scratch);
        if (!after) FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- whole ------------------------------------------------------------------------------- */

static status read_steps(job *j, error *err) {
    const stragglers *l = &j->late;
    j->n_steps = l->n_steps;
    j->step_ns = ARENA_ARRAY(j->arena, int64_t, (size_t)l->n_steps + 1);
    j->number = ARENA_ARRAY(j->arena, int64_t, (size_t)l->n_steps + 1);
    if (!j->step_ns || !j->number) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n_steps; i++) {
        j->step_ns[i] = l->steps[i].usual;
        j->number[i] = l->steps[i].number;
    }
    j->recorded = median_ns(j->arena, j->step_ns, j->n_steps);
    return OK;
}

status job_make(const analysis_input *in, const params *p, arena *a, job *out, error *err) {
    *out = (job){.arena = a};
    TRY(run_summary_make(in, p, a, &out->s, err));
    TRY(worker_order_make(&out->who, out->s, a, err));
    TRY(comm_groups_find(out->s, &out->who, a, &out->groups, err));
    TRY(stragglers_find(out->s, &out->who, &out->groups, a, &out->late, err));
    TRY(culprit_find(out->s, &out->who, &out->late, a, &out->culprit, err));
    TRY(read_steps(out, err));
    find_batches(out);
    TRY(measure_stages(out, err));
    TRY(find_causes(out, err));
    TRY(weigh_causes(out, err));
    int64_t without = out->n_causes ? out->causes[out->n_causes - 1].step_after : out->recorded;
    out->bubble = max_i64(0, sub_i64(without, out->stages[out->longest].own));
    return OK;
}

/* ---- what if ----------------------------------------------------------------------------- */

/* Longest stage and bubble, with a change. */
static double core_of(const job *j, const job_change *change) {
    double sum = 0, most = 0, sum_before = 0, most_before = (double)j->stages[j->longest].own;
    for (uint32_t s = 0; s < j->groups.n_stages; s++) {
        double own = (double)j->stages[s].own;
        sum_before += own;
        for (int k = 0; k < N_LATE; k++)
            own -= (double)j->stages[s].part[k] * (1 - change->part[k]);
        if (own < 0) own = 0;
        sum += own;
        if (own > most) most = own;
    }
    if (change->balance_stages) most = sum / j->groups.n_stages;
    double bubble = (double)j->bubble, before = sum_before - most_before;
    if (before > 0) bubble *= (sum - most) / before;
    return most + (change->no_bubbles ? 0 : bubble);
}

static double late_with(const job *j, const job_change *change, const job_cause *c,
                        uint32_t step) {
    double late = (double)c->late_by_step[step], f = change->part[c->part];
    if (change->no_stragglers) return 0;
    if (f < 1 || f > 1) late *= f;
    if (c->group || !change->rank) return late;
    double own = change->rank[c->worker];
    if (own < 0) return 0;
    return late + (double)j->stages[j->groups.stage_of[c->worker]].own * (own - 1);
}

/* Ranks that were not late and would be. */
static double new_late(const job *j, const job_change *change) {
    double most = 0;
    for (uint32_t w = 0; change->rank && !change->no_stragglers && w < j->who.n; w++) {
        double late = (double)j->stages[j->groups.stage_of[w]].own * (change->rank[w] - 1);
        if (late > most) most = late;
    }
    return most;
}

int64_t job_replay(const job *j, const job_change *change, int64_t *by_step) {
    job_change as_recorded = JOB_AS_RECORDED;
    double core = core_of(j, change) - core_of(j, &as_recorded), others = new_late(j, change);
    int64_t *out = by_step ? by_step : ARENA_ARRAY(j->arena, int64_t, (size_t)j->n_steps + 1);
    if (!out) return 0;
    for (uint32_t i = 0; i < j->n_steps; i++) {
        double late = others;
        for (uint32_t c = 0; c < j->n_causes; c++) {
            double one = late_with(j, change, &j->causes[c], i);
            if (one > late) late = one;
        }
        double ns = (double)j->step_ns[i] - (double)latest_in(j, i, 0, NULL) + late + core;
        out[i] = ns > 0 ? real_i64(ns) : 0;
    }
    return median_ns(j->arena, out, j->n_steps);
}

int64_t job_stage_gain(const job *j) {
    job_change balanced = JOB_AS_RECORDED;
    balanced.balance_stages = true;
    return j->groups.n_stages > 1
               ? max_i64(0, sub_i64(j->recorded, job_replay(j, &balanced, NULL)))
               : 0;
}
