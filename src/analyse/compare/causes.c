/* causes.c: see causes.h. One pass over the nodes for the ratio of the hosts, one for the
 * causes; parents come before their children. */
#include "analyse/compare/causes.h"

#include <math.h>

#include "analyse/compare/changed_calls.h"
#include "analyse/compare/matched.h"
#include "analyse/compare/shape_change.h"
#include "base/sort.h"

enum {
    HOST_SURE_TIMES = 4
};                                    /* spreads beyond which a call of the host is an
                                         outlier */
static const double HOST_SURE = 0.04; /* and the share of a step */
static const double SURE_TIMES = 2.5; /* spreads beyond which any other cause is certain */
static const double LEAST = 0.003;    /* of a step: what is less is left to `unexplained` */

typedef struct {
    change_kind kind;
    uint32_t key; /* node or name, by kind */
} cause_key;

typedef struct {
    cause_key key;
    change_cause cause;
} cause_row;

typedef struct {
    const call_tree *tree;
    const compared_side *sides;
    double steps[N_SIDES], step_ns; /* step_ns: the mean of the first run */
    changed_calls calls;
    double *top_ns;        /* by outermost changed node: what it and all inside it cost more */
    bool replays[N_SIDES]; /* the run replays graphs */
    bool same_kernels;     /* both runs launch the same ones, whatever launches them */
    groups rows;           /* cause_row */
    change_causes *out;
} causes_ctx;

static const call_node *node_at(const causes_ctx *x, uint32_t n) {
    return call_tree_node(x->tree, n);
}

/* The variance of a part of the calls: theirs by the square of their share. */
static double scaled(double share, double variance) {
    return share * share * variance;
}

/* ---- putting together -------------------------------------------------------------------- */

static bool same_cause(const void *row, const void *key) {
    const cause_row *r = row;
    const cause_key *k = key;
    return r->key.kind == k->kind && r->key.key == k->key;
}

static change_cause *cause_at(causes_ctx *x, change_kind kind, uint32_t key, uint32_t where) {
    bool is_new;
    cause_key k = {kind, key};
    uint32_t at = groups_at(&x->rows, hash_pair(kind, key), same_cause, &k, &is_new);
    if (at == GROUP_NONE) return NULL;
    cause_row *r = GROUP_ROW(&x->rows, cause_row, at);
    if (is_new) {
        r->key = k;
        r->cause.kind = kind;
        r->cause.where = where;
    }
    return &r->cause;
}

static void show_slowest(change_cause *c, const call_node *n) {
    for (int s = 0; s < N_SIDES; s++) {
        c->slowest[s] = n->cost[s].slowest;
        c->worker[s] = n->cost[s].worker;
    }
}

static status add_part(causes_ctx *x, change_cause *c, uint32_t node, double before,
                       double after, double variance, error *err) {
    if (!c) FAIL_MEMORY(err);
    const call_node *n = node_at(x, node);
    c->ns[SIDE_A] += before;
    c->ns[SIDE_B] += after;
    c->variance += variance;
    if (fabs(after - before) <= c->most_ns) return OK;
    c->most_ns = fabs(after - before);
    c->most = node;
    show_slowest(c, n);
    return OK;
}

static void add_counts(const causes_ctx *x, change_cause *c, const call_node *n) {
    for (int s = 0; s < N_SIDES; s++) {
        c->calls[s] += (double)n->cost[s].calls / x->steps[s];
        c->kernels[s] += (double)n->cost[s].kernels / x->steps[s];
    }
}

/* ---- more or fewer calls ----------------------------------------------------------------- */

static status add_work(causes_ctx *x, uint32_t node, const matched *m, error *err) {
    const call_node *n = node_at(x, node);
    double rest[N_SIDES];
    for (int s = 0; s < N_SIDES; s++) rest[s] = changed_calls_ns(x->sides, n, s);
    change_cause *c =
        cause_at(x, CHANGE_WORK_ADDED, x->calls.anchor[node], x->calls.anchor[node]);
    if (!c) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++) {
        if (x->calls.top[node] == node) c->calls[s] += (double)n->cost[s].calls / x->steps[s];
        c->kernels[s] += (double)n->cost[s].kernels / x->steps[s];
    }
    x->top_ns[x->calls.top[node]] += rest[SIDE_B] - rest[SIDE_A];
    double variance = 0;
    for (int s = 0; s < N_SIDES; s++) {
        double more = 1 - m->share[s];
        c->device_ns[s] += more * (double)n->cost[s].device_ns / x->steps[s];
        c->device_variance += scaled(more, m->device_variance[s]);
        c->replayed[s] += (double)n->cost[s].replayed / x->steps[s];
        variance += scaled(more, m->device_variance[s] + m->host_variance[s]);
    }
    return add_part(x, c, node, rest[SIDE_A], rest[SIDE_B], variance, err);
}

/* ---- the device's part ------------------------------------------------------------------- */

static change_cause *device_cause(causes_ctx *x, uint32_t node) {
    const call_node *n = node_at(x, node);
    const node_cost *c = n->cost;
    if (n->flags & NODE_COMMUNICATES) return cause_at(x, CHANGE_COMMUNICATION, 0, 0);
    if (node_is_reshaped(x->sides, n)) return cause_at(x, CHANGE_SHAPES, n->name, node);
    bool same_number =
        !node_sums_differ(x->sides, (uint64_t)c[SIDE_A].kernels, (uint64_t)c[SIDE_B].kernels);
    if (!node_is_changed(x->sides, n) &&
        (!same_number || node_sums_differ(x->sides, c[SIDE_A].names, c[SIDE_B].names)))
        return x->calls.inside[node] && !same_number
                   ? cause_at(x, CHANGE_WORK_ADDED, node, node) /* one runs it itself */
                   : cause_at(x, CHANGE_OTHER_KERNELS, n->name, node);
    if (!c[SIDE_A].kernels != !c[SIDE_B].kernels) /* a device against none, however often */
        return cause_at(x, CHANGE_OTHER_KERNELS, n->name, node);
    return cause_at(x, CHANGE_KERNEL_TIME, 0, 0);
}

static status add_device(causes_ctx *x, uint32_t node, const matched *m, error *err) {
    if (m->device[SIDE_A] == 0 && m->device[SIDE_B] == 0) return OK;
    change_cause *c = device_cause(x, node);
    if (!c) FAIL_MEMORY(err);
    double variance = scaled(m->share[SIDE_A], m->device_variance[SIDE_A]) +
                      scaled(m->share[SIDE_B], m->device_variance[SIDE_B]);
    bool is_work = c->kind == CHANGE_WORK_ADDED;
    if (is_work) c->device_variance += variance;
    for (int s = 0; is_work && s < N_SIDES; s++) {
        c->device_ns[s] += m->device[s];
        c->kernels[s] += (double)node_at(x, node)->cost[s].kernels / x->steps[s];
        c->replayed[s] += (double)node_at(x, node)->cost[s].replayed / x->steps[s];
    }
    if (!is_work) add_counts(x, c, node_at(x, node));
    return add_part(x, c, node, m->device[SIDE_A], m->device[SIDE_B], variance, err);
}

/* ---- the host's part --------------------------------------------------------------------- */

/* Is more than half of the wait before this call, where it grew, that with which steps
 * begin? */
static bool begins_steps(const call_node *n) {
    const node_cost *c =
        &n->cost[n->cost[SIDE_B].gap_ns >= n->cost[SIDE_A].gap_ns ? SIDE_B : SIDE_A];
    return 2 * (double)c->first_ns > (double)c->gap_ns;
}

/* Work inside this node that one run alone does; NULL: there is none. */
static change_cause *work_inside(causes_ctx *x, uint32_t node) {
    if (!x->calls.inside[node]) return NULL;
    cause_key key = {CHANGE_WORK_ADDED, node};
    for (uint32_t i = 0; i < x->rows.n; i++)
        if (same_cause(GROUP_ROW(&x->rows, cause_row, i), &key))
            return &GROUP_ROW(&x->rows, cause_row, i)->cause;
    return NULL;
}

/* Does one run replay most of these kernels as a graph, while the other launches them? Where
 * both runs replay graphs, and one has no such kernels at all, its graph lacks them. */
static bool is_graph(const causes_ctx *x, const change_cause *c) {
    bool a = c->replayed[SIDE_A] > c->kernels[SIDE_A] / 2;
    bool b = c->replayed[SIDE_B] > c->kernels[SIDE_B] / 2;
    int other = a ? SIDE_B : SIDE_A;
    return a != b && (c->kernels[other] > 0 || !x->replays[other]);
}

static change_cause *host_cause(causes_ctx *x, uint32_t node, double beyond,
                                double gap_beyond) {
    const call_node *n = node_at(x, node);
    bool is_gap = fabs(gap_beyond) > fabs(beyond) / 2;
    if (n->flags & NODE_LOADS || (is_gap && begins_steps(n)))
        return cause_at(x, CHANGE_DATA_WAIT, node, node);
    if (is_gap) return cause_at(x, CHANGE_HOST_GAP, node, node);
    /* A call whose insides changed takes longer around them, too: one cause. */
    change_cause *inside = work_inside(x, node);
    return inside ? inside : cause_at(x, CHANGE_HOST_CALL, node, node);
}

/* What all of a node's host time is about, whatever the speed of the host: collectives that run
 * on it, waits, and launching a graph instead of the operators inside. NULL: nothing of
 * that. */
static change_cause *whole_host_cause(causes_ctx *x, uint32_t node) {
    const call_node *n = node_at(x, node);
    const node_cost *c = n->cost;
    if (n->flags & NODE_COMMUNICATES && !c[SIDE_A].kernels && !c[SIDE_B].kernels)
        return cause_at(x, CHANGE_COMMUNICATION, 0, 0);
    if (n->flags & NODE_BLOCKS) return cause_at(x, CHANGE_SYNCHRONIZATION, n->name, node);
    change_cause *inside = work_inside(x, node);
    return inside && is_graph(x, inside) ? inside : NULL;
}

static status add_host(causes_ctx *x, uint32_t node, const matched *m, error *err) {
    double r = x->out->host_ratio;
    double before = m->host[SIDE_A] + m->gap[SIDE_A], after = m->host[SIDE_B] + m->gap[SIDE_B];
    double before_variance = scaled(m->share[SIDE_A], m->host_variance[SIDE_A]);
    double after_variance = scaled(m->share[SIDE_B], m->host_variance[SIDE_B]);
    double variance = before_variance + after_variance;
    if (before == 0 && after == 0) return OK;
    change_cause *whole = whole_host_cause(x, node);
    if (whole) return add_part(x, whole, node, before, after, variance, err);
    double beyond = after - r * before;
    double spread = sqrt(r * r * before_variance + after_variance);
    change_cause *all = cause_at(x, CHANGE_HOST_SPEED, 0, 0);
    if (fabs(beyond) <= fmax(HOST_SURE * x->step_ns, HOST_SURE_TIMES * spread))
        return add_part(x, all, node, before, after, variance, err);
    TRY(add_part(x, all, node, before, r * before, 0, err));
    double gap_beyond = m->gap[SIDE_B] - r * m->gap[SIDE_A];
    return add_part(x, host_cause(x, node, beyond, gap_beyond), node, r * before, after,
                    spread * spread, err);
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Calls of the allocator: whatever they cost is about memory, if one run makes more of them or
 * if each takes longer. Framework allocators keep what they have, so in most steps there are
 * none. */
static status add_memory(causes_ctx *x, uint32_t node, error *err) {
    const call_node *n = node_at(x, node);
    matched m = node_match(x->sides, n);
    double ns[N_SIDES];
    for (int s = 0; s < N_SIDES; s++)
        ns[s] = ((double)n->cost[s].host_ns + (double)n->cost[s].gap_ns +
                 (double)n->cost[s].device_ns) /
                x->steps[s];
    change_cause *c = cause_at(x, CHANGE_MEMORY, 0, 0);
    if (!c) FAIL_MEMORY(err);
    add_counts(x, c, n);
    return add_part(x, c, node, ns[SIDE_A], ns[SIDE_B],
                    m.host_variance[SIDE_A] + m.host_variance[SIDE_B], err);
}

/* ---- all --------------------------------------------------------------------------------- */

static void find_replays(causes_ctx *x) {
    for (uint32_t i = 1; i < x->tree->nodes.n; i++)
        for (int s = 0; s < N_SIDES; s++) x->replays[s] |= node_at(x, i)->cost[s].replayed > 0;
}

static status add_all(causes_ctx *x, error *err) {
    uint32_t n = x->tree->nodes.n;
    for (uint32_t i = 0; i < n; i++) {
        matched m = node_match(x->sides, node_at(x, i));
        if (node_at(x, i)->flags & NODE_ALLOCATES) {
            TRY(add_memory(x, i, err));
            continue;
        }
        if (node_is_changed(x->sides, node_at(x, i))) TRY(add_work(x, i, &m, err));
        TRY(add_device(x, i, &m, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        matched m = node_match(x->sides, node_at(x, i));
        if (!(node_at(x, i)->flags & NODE_ALLOCATES)) TRY(add_host(x, i, &m, err));
    }
    return OK;
}

/* Work is named by the outermost call that changed most. */
static status name_work(causes_ctx *x, error *err) {
    for (uint32_t i = 0; i < x->rows.n; i++)
        if (GROUP_ROW(&x->rows, cause_row, i)->key.kind == CHANGE_WORK_ADDED)
            GROUP_ROW(&x->rows, cause_row, i)->cause.most_ns = -1;
    for (uint32_t i = 1; i < x->tree->nodes.n; i++) {
        if (x->calls.top[i] != i) continue;
        change_cause *c =
            cause_at(x, CHANGE_WORK_ADDED, x->calls.anchor[i], x->calls.anchor[i]);
        if (!c) FAIL_MEMORY(err);
        c->tops++;
        if (fabs(x->top_ns[i]) <= c->most_ns) continue;
        c->most_ns = fabs(x->top_ns[i]);
        c->most = i;
        show_slowest(c, node_at(x, i));
    }
    return OK;
}

static int compare_causes(uint32_t a, uint32_t b, const void *context) {
    const change_cause *v = context, *x = &v[a], *y = &v[b];
    if (x->certain != y->certain) return x->certain ? -1 : 1;
    double p = fabs(cause_ns(x)), q = fabs(cause_ns(y));
    return p > q ? -1 : p < q;
}

static void judge_cause(const causes_ctx *x, change_cause *c) {
    if (c->kind == CHANGE_WORK_ADDED && node_at(x, c->most)->flags & NODE_LOADS) {
        c->kind = CHANGE_DATA_WAIT; /* another loader */
        c->where = c->most;
    } else if (c->kind == CHANGE_WORK_ADDED) {
        double less = c->ns[SIDE_A], more = c->ns[SIDE_B];
        c->kind = less > more / 20 && more > less / 20 ? CHANGE_WORK_REPLACED
                  : more >= less                       ? CHANGE_WORK_ADDED
                                                       : CHANGE_WORK_REMOVED;
    }
    c->certain = x->out->spread_known && c->kind != CHANGE_HOST_SPEED &&
                 fabs(cause_ns(c)) > cause_spread(x->out, c);
}

/* Kernels that both runs have, of all that one of them has: nine of ten by number. */
static bool has_same_kernels(const causes_ctx *x) {
    double both = 0, all = 0;
    for (uint32_t i = 0; i < x->tree->kernels.n; i++) {
        const name_sum *k = GROUP_ROW(&x->tree->kernels, name_sum, i);
        double a = (double)k->calls[SIDE_A] / x->steps[SIDE_A];
        double b = (double)k->calls[SIDE_B] / x->steps[SIDE_B];
        both += fmin(a, b);
        all += fmax(a, b);
    }
    return all > 0 && both >= 0.9 * all;
}

/* Other work that is only launched otherwise: one run replays most of its kernels as a graph,
 * the other launches them. Its device's part goes to *device; false: it is not such work. */
static bool split_graph(const causes_ctx *x, change_cause *c, change_cause *device) {
    if (c->kind != CHANGE_WORK_ADDED || !is_graph(x, c)) return false;
    *device = *c;
    if (x->same_kernels) device->kind = CHANGE_KERNEL_TIME;
    device->most = 0; /* which of them cost most is the host's */
    device->variance = c->device_variance;
    c->kind = CHANGE_GRAPH;
    c->variance = fmax(0, c->variance - c->device_variance);
    for (int s = 0; s < N_SIDES; s++) {
        device->ns[s] = c->device_ns[s];
        c->ns[s] -= c->device_ns[s];
    }
    return true;
}

/* Is a call or a kernel of some name in both, wherever it is? Two runs without any do the
 * same. */
static status find_common(const causes_ctx *x, arena *a, bool *out, error *err) {
    uint8_t seen = 0,
            *sides = ARENA_ARRAY(a, uint8_t, (size_t)intern_count(x->tree->names) + 1);
    if (!sides) FAIL_MEMORY(err);
    *out = true;
    for (uint32_t i = 1; i < x->tree->nodes.n; i++)
        for (int s = 0; s < N_SIDES; s++) {
            const node_cost *c = &node_at(x, i)->cost[s];
            if (c->calls) sides[node_at(x, i)->name] |= (uint8_t)(1 << s);
        }
    for (uint32_t i = 0; i < x->tree->kernels.n; i++)
        for (int s = 0; s < N_SIDES; s++) {
            const name_sum *k = GROUP_ROW(&x->tree->kernels, name_sum, i);
            if (k->calls[s]) sides[k->name] |= (uint8_t)(1 << s);
        }
    for (uint32_t i = 0; i < intern_count(x->tree->names); i++) {
        if (sides[i] == 3) return OK;
        seen |= sides[i];
    }
    *out = !seen;
    return OK;
}

static bool is_spread_known(const compared_side sides[N_SIDES]) {
    const compared_side *a = &sides[SIDE_A], *b = &sides[SIDE_B];
    return a->n_runs > 1 || (side_steps_each(a) > 1 && side_steps_each(b) > 1);
}

static void keep_cause(const causes_ctx *x, change_cause *c, change_cause *v, uint32_t *n) {
    if (fabs(cause_ns(c)) < LEAST * x->step_ns) return;
    judge_cause(x, c);
    v[(*n)++] = *c;
}

static status write_out(causes_ctx *x, arena *a, error *err) {
    uint32_t n = 2 * x->rows.n, kept = 0;
    change_cause *v = ARENA_ARRAY(a, change_cause, (size_t)n + 1);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    x->out->v = ARENA_ARRAY(a, change_cause, (size_t)n + 1);
    if (!v || !order || !scratch || !x->out->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < x->rows.n; i++) {
        change_cause *c = &GROUP_ROW(&x->rows, cause_row, i)->cause, device;
        if (split_graph(x, c, &device)) keep_cause(x, &device, v, &kept);
        keep_cause(x, c, v, &kept);
    }
    for (uint32_t i = 0; i < kept; i++) order[i] = i;
    sort_index(order, scratch, kept, compare_causes, v);
    for (uint32_t i = 0; i < kept; i++) x->out->v[i] = v[order[i]];
    x->out->n = kept;
    return OK;
}

status causes_make(const call_tree *tree, const compared_side sides[N_SIDES], arena *a,
                   change_causes *out, error *err) {
    causes_ctx x = {.tree = tree, .sides = sides, .out = out};
    *out = (change_causes){.host_ratio = 1, .sure = SURE_TIMES};
    for (int s = 0; s < N_SIDES; s++) x.steps[s] = side_steps(&sides[s]);
    x.step_ns = (double)sides[SIDE_A].mean_ns;
    if (sides[SIDE_A].n_runs > 1)
        out->sure = fmax(SURE_TIMES, noise_t(0.975, sides[SIDE_A].n_runs - 1));
    x.top_ns = ARENA_ARRAY(a, double, (size_t)tree->nodes.n + 1);
    if (!x.top_ns) FAIL_MEMORY(err);
    TRY(changed_calls_find(tree, sides, a, &x.calls, err));
    x.same_kernels = has_same_kernels(&x);
    TRY(find_common(&x, a, &out->in_common, err));
    out->spread_known = is_spread_known(sides);
    TRY(groups_init(&x.rows, a, sizeof(cause_row), err));
    find_replays(&x);
    shapes_compare(tree, sides, out);
    TRY(host_ratio_find(tree, sides, a, &out->host_ratio, err));
    TRY(add_all(&x, err));
    TRY(name_work(&x, err));
    return write_out(&x, a, err);
}
