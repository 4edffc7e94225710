/* rank_changes.c: see rank_changes.h. */
#include "analyse/compare/rank_changes.h"

#include <math.h>

#include "analyse/rows.h"
#include "base/sort.h"

/* What a rank changes at least to be named, of a step; hosts of a run differ, too. */
static const double LEAST_ALONE = 0.05;
static const double OTHERS_LESS = 1.0 / 3; /* of that: what the others change at most */

/* ---- pairs ------------------------------------------------------------------------------- */

static bool is_same_worker(const compared_worker *a, const compared_worker *b) {
    if (a->from->rank != ABSENT_I64 && b->from->rank != ABSENT_I64)
        return a->from->rank == b->from->rank;
    return a->from->worker.n && str_eq(a->from->worker, b->from->worker);
}

/* The index of the same worker on the other side; UINT32_MAX: it does not exist. */
static uint32_t find_same(const compared_worker *w, const compared_side *side,
                          const uint8_t *taken) {
    for (uint32_t i = 0; i < side->n_ranks; i++)
        if (!taken[i] && is_same_worker(w, &side->v[i])) return i;
    return UINT32_MAX;
}

/* Ranks and names say nothing about a run with one worker, or where no name is on both sides:
 * then the place counts. */
static bool has_common(const compared_side sides[N_SIDES], const uint8_t *none_taken) {
    const compared_side *a = &sides[SIDE_A], *b = &sides[SIDE_B];
    if (a->n_ranks == 1 && b->n_ranks == 1) return false;
    for (uint32_t i = 0; i < a->n_ranks; i++)
        if (find_same(&a->v[i], b, none_taken) != UINT32_MAX) return true;
    return false;
}

/* The same rank in all runs of the first side: their means as samples. */
static status rank_runs(const compared_side *side, const compared_worker *w, arena *a,
                        noise_samples *out, error *err) {
    double *v = ARENA_ARRAY(a, double, (size_t)side->n_runs + 1);
    uint32_t n = 0;
    if (!v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < side->n && n < side->n_runs; i++) {
        const compared_worker *other = &side->v[i];
        if (other->steps.steps.n && (other == w || (other->run && is_same_worker(w, other))))
            v[n++] = worker_mean(other, MEASURE_OWN);
    }
    *out = noise_of_reals(v, n);
    return OK;
}

static status measure_rank(rank_change *r, const compared_side *first, arena *a, error *err) {
    noise_samples x = worker_samples(r->of[SIDE_A], MEASURE_OWN), runs;
    noise_samples y = worker_samples(r->of[SIDE_B], MEASURE_OWN);
    r->own.change = y.mean - x.mean;
    r->known = noise_compare(&x, &y, 0, &r->own);
    if (first->n_runs < 2) return OK;
    TRY(rank_runs(first, r->of[SIDE_A], a, &runs, err));
    noise_change between;
    if (!noise_compare_runs(&runs, &y, &between)) return OK;
    r->known = true;
    r->own = between;
    return OK;
}

static status pair_up(const compared_side sides[N_SIDES], arena *a, rank_changes *out,
                      error *err) {
    const compared_side *x = &sides[SIDE_A], *y = &sides[SIDE_B];
    uint8_t *taken = ARENA_ARRAY(a, uint8_t, (size_t)y->n_ranks + 1);
    out->v = ARENA_ARRAY(a, rank_change, (size_t)x->n_ranks + y->n_ranks + 1);
    if (!taken || !out->v) FAIL_MEMORY(err);
    bool by_name = has_common(sides, taken);
    for (uint32_t i = 0; i < x->n_ranks; i++) {
        rank_change *r = &out->v[out->n++];
        uint32_t at = by_name ? find_same(&x->v[i], y, taken) : i < y->n_ranks ? i : UINT32_MAX;
        r->of[SIDE_A] = &x->v[i];
        if (at == UINT32_MAX) continue;
        taken[at] = 1;
        r->of[SIDE_B] = &y->v[at];
        TRY(measure_rank(r, x, a, err));
        out->n_both++;
    }
    for (uint32_t i = 0; i < y->n_ranks; i++)
        if (!taken[i]) out->v[out->n++].of[SIDE_B] = &y->v[i];
    return OK;
}

/* ---- order ------------------------------------------------------------------------------- */

static bool is_pair(const rank_change *r) {
    return r->of[SIDE_A] && r->of[SIDE_B];
}

static int compare_ranks(uint32_t a, uint32_t b, const void *context) {
    const rank_change *v = context, *x = &v[a], *y = &v[b];
    if (is_pair(x) != is_pair(y)) return is_pair(x) ? -1 : 1;
    double p = fabs(x->own.change), q = fabs(y->own.change);
    return p > q ? -1 : p < q;
}

static status put_in_order(rank_changes *out, arena *a, error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)out->n + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)out->n + 1);
    rank_change *v = ARENA_ARRAY(a, rank_change, (size_t)out->n + 1);
    if (!order || !scratch || !v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < out->n; i++) order[i] = i;
    sort_index(order, scratch, out->n, compare_ranks, out->v);
    for (uint32_t i = 0; i < out->n; i++) v[i] = out->v[order[i]];
    out->v = v;
    return OK;
}

static const rank_change *find_alone(const rank_changes *r, double step_ns) {
    if (r->n_both < 2 || !r->v[0].known || !noise_is_real(&r->v[0].own)) return NULL;
    double most = fabs(r->v[0].own.change), next = fabs(r->v[1].own.change);
    return most >= LEAST_ALONE * step_ns && next < OTHERS_LESS * most ? &r->v[0] : NULL;
}

status rank_changes_make(const compared_side sides[N_SIDES], arena *a, rank_changes *out,
                         error *err) {
    *out = (rank_changes){.n = 0};
    TRY(pair_up(sides, a, out, err));
    TRY(put_in_order(out, a, err));
    out->alone = find_alone(out, (double)sides[SIDE_A].mean_ns);
    return OK;
}

/* ---- the table --------------------------------------------------------------------------- */

static int64_t communication_of(const compared_worker *w) {
    return mean_i64(w->roles[ROLE_COMMUNICATION], max_i64(1, w->steps.steps.n));
}

static void set_pair(row_diff_ranks *row, const rank_change *r) {
    const compared_worker *a = r->of[SIDE_A], *b = r->of[SIDE_B];
    double device = worker_mean(b, MEASURE_DEVICE) - worker_mean(a, MEASURE_DEVICE);
    row->change = sub_i64(b->steps.mean_ns, a->steps.mean_ns);
    if (!isnan(device)) row->device_change = round_i64(device);
    row->communication_change = sub_i64(communication_of(b), communication_of(a));
    row->own_change = round_i64(r->own.change);
    if (!r->known) return;
    row->own_low = round_i64(r->own.low);
    row->own_high = round_i64(r->own.high);
}

static status write_rank(const rank_change *r, table *t, error *err) {
    const compared_worker *a = r->of[SIDE_A], *b = r->of[SIDE_B], *one = a ? a : b;
    row_diff_ranks row = row_diff_ranks_none();
    row.rank = one->from->rank;
    row.worker = one->from->worker;
    if (a) row.a = a->steps.mean_ns;
    if (b) row.b = b->steps.mean_ns;
    if (a) row.communication_a = communication_of(a);
    if (b) row.communication_b = communication_of(b);
    if (a && b) set_pair(&row, r);
    return put_diff_ranks(t, &row, err);
}

status rank_changes_write(const rank_changes *r, table *out, error *err) {
    for (uint32_t i = 0; i < r->n; i++) TRY(write_rank(&r->v[i], out, err));
    return OK;
}
