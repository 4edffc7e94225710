/* chain.c: the longest chain of waiting in a step; see chain.h. */
#include "analyse/run/chain.h"

#include <math.h>

#include "base/num.h"

enum { MOST_LEGS = 4096 };
#define LEAST_WAIT \
    200 /* that part of the step; shorter ones are how clocks and calls scatter */

/* ---- legs -------------------------------------------------------------------------------- */

static bool is_wait(const lane *v, int64_t least) {
    return v->kind == LANE_WAIT && sub_i64(v->end, v->start) >= least;
}

/* The last time before `at` that this worker waited; NULL: it did not. */
static const lane *last_wait(const lane_list *l, uint32_t worker, int64_t at, int64_t least) {
    for (uint32_t i = l->first[worker + 1]; i > l->first[worker]; i--) {
        const lane *v = &l->v[i - 1];
        if (is_wait(v, least) && v->end <= add_i64(at, least) && v->start < at) return v;
    }
    return NULL;
}

/* What the worker mostly did in its leg. */
static void name_leg(const lane_list *l, chain_leg *leg) {
    int64_t ns[N_LANES] = {0};
    for (uint32_t i = l->first[leg->worker]; i < l->first[leg->worker + 1]; i++) {
        const lane *v = &l->v[i];
        int64_t here = sub_i64(min_i64(v->end, leg->end), max_i64(v->start, leg->start));
        if (here > 0 && v->kind != LANE_WAIT) ns[v->kind] = add_i64(ns[v->kind], here);
    }
    leg->kind = STAGE_OTHER;
    for (int k = 0; k < N_LANES; k++)
        if (ns[k] > ns[leg->kind]) leg->kind = k;
    leg->kind_ns = ns[leg->kind];
}

/* Who else waited in the same collective. */
static void count_waiting(const lane_list *l, const lane *wait, chain_leg *leg) {
    leg->name = wait->name;
    for (uint32_t i = 0; i < l->n; i++) {
        const lane *v = &l->v[i];
        if (v->kind != LANE_WAIT || v->lot != wait->lot || v->whom != wait->whom) continue;
        leg->waiting++;
        leg->waited = max_i64(leg->waited, sub_i64(v->end, v->start));
    }
}

static uint32_t last_worker(const lane_list *l, uint32_t n_workers) {
    uint32_t last = UINT32_MAX;
    int64_t end = INT64_MIN;
    for (uint32_t w = 0; w < n_workers; w++)
        for (uint32_t i = l->first[w]; i < l->first[w + 1]; i++) {
            if (l->v[i].end <= end) continue;
            end = l->v[i].end;
            last = w;
        }
    return last;
}

static void reverse(chain *c) {
    for (uint32_t i = 0; i < c->n / 2; i++) {
        chain_leg leg = c->v[i];
        c->v[i] = c->v[c->n - 1 - i];
        c->v[c->n - 1 - i] = leg;
    }
}

status chain_find(const lane_list *l, uint32_t n_workers, arena *a, chain *out, error *err) {
    uint32_t worker = last_worker(l, n_workers);
    int64_t at = l->end, least = max_i64(1, sub_i64(l->end, l->start) / LEAST_WAIT);
    const lane *by = NULL; /* the wait through which the walk came here */
    uint32_t n_still = 0;  /* ranks in a row at the same moment */
    *out = (chain){.v = ARENA_ARRAY(a, chain_leg, MOST_LEGS + 1)};
    if (!out->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n; i++)
        out->all_ns[l->v[i].kind] =
            add_i64(out->all_ns[l->v[i].kind], sub_i64(l->v[i].end, l->v[i].start));
    while (worker != UINT32_MAX && out->n < MOST_LEGS) {
        const lane *wait = last_wait(l, worker, at, least);
        uint32_t first = l->first[worker];
        bool has_lanes = first < l->first[worker + 1];
        int64_t start = wait ? min_i64(at, wait->end) : has_lanes ? l->v[first].start : at;
        chain_leg *leg = &out->v[out->n];
        *leg = (chain_leg){.worker = worker, .start = min_i64(start, at), .end = at};
        name_leg(l, leg);
        if (by) count_waiting(l, by, leg);
        n_still = leg->end > leg->start ? 0 : n_still + 1;
        out->n += n_still == 0;
        if (!wait) break;
        /* By the clocks' error two may wait for each other. */
        out->broken |= wait->whom == UINT32_MAX || wait->whom == worker || n_still > n_workers;
        if (out->broken) break;
        worker = wait->whom;
        at = start;
        by = wait;
    }
    reverse(out);
    return OK;
}

/* ---- what is hidden ---------------------------------------------------------------------- */

static int64_t kind_time(const lane_list *l, uint32_t worker, int kind) {
    int64_t ns = 0;
    for (uint32_t i = l->first[worker]; i < l->first[worker + 1]; i++)
        if (l->v[i].kind == kind) ns = add_i64(ns, sub_i64(l->v[i].end, l->v[i].start));
    return ns;
}

/* The kind of work that takes it longest beyond what it takes the others on average. */
static int longest_beyond(const chain *c, const lane_list *l, uint32_t n_workers,
                          uint32_t worker) {
    int64_t most = 0;
    int best = N_LANES;
    for (int k = 0; k < LANE_TRANSFER; k++) {
        int64_t own = kind_time(l, worker, k);
        int64_t beyond = sub_i64(own, sub_i64(c->all_ns[k], own) / max_i64(1, n_workers - 1));
        if (beyond <= most) continue;
        most = beyond;
        best = k;
    }
    return best;
}

double chain_share(const chain *c, const lane_list *l, uint32_t n_workers, uint32_t worker) {
    int kind = longest_beyond(c, l, n_workers, worker);
    int64_t all = kind < N_LANES ? kind_time(l, worker, kind) : 0, on = 0;
    if (c->broken || !c->n || all <= 0) return NAN;
    for (uint32_t k = 0; k < c->n; k++) {
        const chain_leg *leg = &c->v[k];
        if (leg->worker != worker) continue;
        for (uint32_t i = l->first[worker]; i < l->first[worker + 1]; i++) {
            const lane *v = &l->v[i];
            int64_t here = sub_i64(min_i64(v->end, leg->end), max_i64(v->start, leg->start));
            if (v->kind == kind && here > 0) on = add_i64(on, here);
        }
    }
    return (double)on / (double)all;
}
