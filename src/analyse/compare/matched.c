/* matched.c: see matched.h. */
#include "analyse/compare/matched.h"

#include <math.h>

/* How often it is used: calls, or kernels where nothing on the host is known. */
static double uses(const node_cost *c) {
    return (double)(c->calls ? c->calls : c->kernels);
}

static double uses_per_step(const compared_side sides[N_SIDES], const call_node *n, int side) {
    return uses(&n->cost[side]) / side_steps(&sides[side]);
}

bool node_is_changed(const compared_side sides[N_SIDES], const call_node *n) {
    double a = uses_per_step(sides, n, SIDE_A), b = uses_per_step(sides, n, SIDE_B);
    return fabs(a - b) > 1e-9 * fmax(a, b);
}

/* The variance of a side's mean. Steps of its workers are correlated, so more workers do not
 * increase the confidence. */
static double variance_within(const compared_side *s, double squares) {
    double freedom = (double)s->n_steps - s->n;
    return freedom > 0 ? squares / freedom / side_steps_each(s) : 0;
}

double node_calls_variance(const compared_side *s, const node_cost *c) {
    return variance_within(s, c->call_squares);
}

/* Variance of a run's mean. */
static double variance_between(const compared_side *s, const run_sums *r) {
    double n = s->n_runs;
    return n > 1 ? fmax(0, r->squares - r->sum * r->sum / n) / (n - 1) : 0;
}

/* The means of both sides are no more certain than runs of the first one's program are
 * repeatable. */
static void find_variances(const compared_side sides[N_SIDES], const call_node *n, matched *m) {
    const compared_side *a = &sides[SIDE_A];
    const node_cost *c = &n->cost[SIDE_A];
    double device = variance_between(a, &c->device_runs);
    double host = variance_between(a, &c->host_runs);
    for (int s = 0; s < N_SIDES; s++) {
        double runs = s == SIDE_A ? a->n_runs : 1;
        const compared_side *side = &sides[s];
        m->device_variance[s] =
            fmax(device / runs, variance_within(side, n->cost[s].device_squares));
        m->host_variance[s] = fmax(host / runs, variance_within(side, n->cost[s].host_squares));
    }
}

matched node_match(const compared_side sides[N_SIDES], const call_node *n) {
    matched m;
    double u[N_SIDES] = {uses_per_step(sides, n, SIDE_A), uses_per_step(sides, n, SIDE_B)};
    for (int s = 0; s < N_SIDES; s++) {
        const node_cost *c = &n->cost[s];
        double k = side_steps(&sides[s]), share = u[s] > 0 ? fmin(u[0], u[1]) / u[s] : 0;
        if (u[0] <= 0 && u[1] <= 0) share = 1; /* no call, but time before or in it */
        m.share[s] = share;
        m.device[s] = share * (double)c->device_ns / k;
        m.host[s] = share * (double)c->host_ns / k;
        m.gap[s] = share * (double)c->gap_ns / k;
    }
    find_variances(sides, n, &m);
    return m;
}

/* ---- how much faster or slower a host is ------------------------------------------------- */

status host_ratio_find(const call_tree *tree, const compared_side sides[N_SIDES], arena *a,
                       double *out, error *err) {
    uint32_t n_nodes = tree->nodes.n, n = 0;
    noise_weighted *w = ARENA_ARRAY(a, noise_weighted, (size_t)n_nodes + 1);
    if (!w) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n_nodes; i++) {
        matched m = node_match(sides, call_tree_node(tree, i));
        double before = m.host[SIDE_A] + m.gap[SIDE_A], after = m.host[SIDE_B] + m.gap[SIDE_B];
        if (before < 1000 || call_tree_node(tree, i)->flags & (NODE_BLOCKS | NODE_ALLOCATES))
            continue;
        w[n++] = (noise_weighted){after / before, before};
    }
    return noise_weighted_median(w, n, 1, a, out, err);
}
