/* causes.c: see causes.h. One pass over the nodes for the ratio of the hosts, one for the
 * causes; parents come before their children. */
#include "analyse/compare/causes.h"

#include <math.h>

#include "analyse/compare/matched.h"
#include "base/sort.h"
#include "store/op_text.h"

enum { HOST_SURE_TIMES = 4 };         /* spreads beyond which a call of the host stands out */
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
    double sure;                    /* spreads beyond which a cause is certain */
    uint32_t *anchor;               /* by node: the innermost around it that did not change */
    uint32_t *top;  /* and what of it that changed lies just inside; 0: nothing */
    double *top_ns; /* by such a node: what it and all inside it cost more */
    groups rows;    /* cause_row */
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

static void show_costliest(change_cause *c, const call_node *n) {
    for (int s = 0; s < N_SIDES; s++) {
        c->costliest[s] = n->cost[s].costliest;
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
    show_costliest(c, n);
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
    for (int s = 0; s < N_SIDES; s++) {
        const node_cost *c = &n->cost[s];
        double all = (double)c->device_ns + (double)c->host_ns + (double)c->gap_ns;
        rest[s] = (1 - m->share[s]) * all / x->steps[s];
    }
    change_cause *c = cause_at(x, CHANGE_WORK_ADDED, x->anchor[node], x->anchor[node]);
    if (!c) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++) {
        if (x->top[node] == node) c->calls[s] += (double)n->cost[s].calls / x->steps[s];
        c->kernels[s] += (double)n->cost[s].kernels / x->steps[s];
    }
    x->top_ns[x->top[node]] += rest[SIDE_B] - rest[SIDE_A];
    double variance = 0;
    for (int s = 0; s < N_SIDES; s++)
        variance += scaled(1 - m->share[s], m->device_variance[s] + m->host_variance[s]);
    return add_part(x, c, node, rest[SIDE_A], rest[SIDE_B], variance, err);
}

/* ---- the device's part ------------------------------------------------------------------- */

/* Sums of hashes over different numbers of steps are equal when what was added up is. */
static bool differ(const causes_ctx *x, uint64_t a, uint64_t b) {
    return a * (uint64_t)x->steps[SIDE_B] != b * (uint64_t)x->steps[SIDE_A];
}

static bool has_other_shapes(const causes_ctx *x, const call_node *n) {
    const node_cost *c = n->cost;
    return c[SIDE_A].with_shapes && c[SIDE_B].with_shapes && !node_is_changed(x->sides, n) &&
           differ(x, c[SIDE_A].shapes, c[SIDE_B].shapes);
}

static change_cause *device_cause(causes_ctx *x, uint32_t node) {
    const call_node *n = node_at(x, node);
    const node_cost *c = n->cost;
    if (n->flags & NODE_COMMUNICATES) return cause_at(x, CHANGE_COMMUNICATION, 0, 0);
    if (has_other_shapes(x, n)) return cause_at(x, CHANGE_SHAPES, n->name, node);
    bool same_number = !differ(x, (uint64_t)c[SIDE_A].kernels, (uint64_t)c[SIDE_B].kernels);
    if (!node_is_changed(x->sides, n) &&
        (!same_number || differ(x, c[SIDE_A].names, c[SIDE_B].names)))
        return cause_at(x, CHANGE_OTHER_KERNELS, n->name, node);
    return cause_at(x, CHANGE_KERNEL_TIME, 0, 0);
}

static status add_device(causes_ctx *x, uint32_t node, const matched *m, error *err) {
    if (m->device[SIDE_A] == 0 && m->device[SIDE_B] == 0) return OK;
    change_cause *c = device_cause(x, node);
    if (!c) FAIL_MEMORY(err);
    add_counts(x, c, node_at(x, node));
    return add_part(x, c, node, m->device[SIDE_A], m->device[SIDE_B],
                    scaled(m->share[SIDE_A], m->device_variance[SIDE_A]) +
                        scaled(m->share[SIDE_B], m->device_variance[SIDE_B]),
                    err);
}

/* ---- the host's part --------------------------------------------------------------------- */

/* Is more than half of the wait before this call, where it grew, that with which steps begin? */
static bool begins_steps(const call_node *n) {
    const node_cost *c =
        &n->cost[n->cost[SIDE_B].gap_ns >= n->cost[SIDE_A].gap_ns ? SIDE_B : SIDE_A];
    return 2 * (double)c->first_ns > (double)c->gap_ns;
}

static change_cause *host_cause(causes_ctx *x, uint32_t node, double beyond,
                                double gap_beyond) {
    const call_node *n = node_at(x, node);
    bool is_gap = fabs(gap_beyond) > fabs(beyond) / 2;
    if (n->flags & NODE_LOADS || (is_gap && begins_steps(n)))
        return cause_at(x, CHANGE_DATA_WAIT, node, node);
    if (is_gap) return cause_at(x, CHANGE_HOST_GAP, node, node);
    /* A call whose insides changed takes longer around them, too: one cause. */
    cause_key inside = {CHANGE_WORK_ADDED, node};
    for (uint32_t i = 0; i < x->rows.n; i++)
        if (same_cause(GROUP_ROW(&x->rows, cause_row, i), &inside))
            return &GROUP_ROW(&x->rows, cause_row, i)->cause;
    return cause_at(x, CHANGE_HOST_CALL, node, node);
}

static status add_host(causes_ctx *x, uint32_t node, const matched *m, error *err) {
    const call_node *n = node_at(x, node);
    double r = x->out->host_ratio;
    double before = m->host[SIDE_A] + m->gap[SIDE_A], after = m->host[SIDE_B] + m->gap[SIDE_B];
    double before_variance = scaled(m->share[SIDE_A], m->host_variance[SIDE_A]);
    double after_variance = scaled(m->share[SIDE_B], m->host_variance[SIDE_B]);
    double variance = before_variance + after_variance;
    if (before == 0 && after == 0) return OK;
    if (n->flags & NODE_COMMUNICATES && !n->cost[SIDE_A].kernels && !n->cost[SIDE_B].kernels)
        return add_part(x, cause_at(x, CHANGE_COMMUNICATION, 0, 0), node, before, after,
                        variance, err);
    if (n->flags & NODE_BLOCKS)
        return add_part(x, cause_at(x, CHANGE_SYNCHRONIZATION, n->name, node), node, before,
                        after, variance, err);
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

/* ---- shapes ------------------------------------------------------------------------------ */

/* Elements of the first tensor of a call, 0 when it has none. */
static double elements(str shapes) {
    op_list all = op_list_open(shapes);
    for (str one; op_list_next(&all, &one);) {
        op_list dims = op_list_open(one);
        double product = 1;
        uint32_t n = 0;
        int64_t d;
        for (str dim; op_list_next(&dims, &dim); n++)
            product *= op_item_i64(dim, &d) && d > 0 ? (double)d : 0;
        if (n && product > 0) return product;
    }
    return 0;
}

/* The factor by which most of the calls with other shapes are larger. */
static void find_factor(causes_ctx *x) {
    enum { MOST_FACTORS = 64 };
    double factors[MOST_FACTORS], calls[MOST_FACTORS], most = 0;
    uint32_t n = 0;
    x->out->factor = NAN;
    for (uint32_t i = 1; i < x->tree->nodes.n; i++) {
        const call_node *node = node_at(x, i);
        const node_cost *c = node->cost;
        if (!c[SIDE_A].with_shapes || !c[SIDE_B].with_shapes) continue;
        x->out->compared += (double)c[SIDE_A].with_shapes / x->steps[SIDE_A];
        if (!has_other_shapes(x, node)) continue;
        double now = (double)c[SIDE_A].with_shapes / x->steps[SIDE_A];
        double a = elements(c[SIDE_A].example);
        double b = elements(c[SIDE_B].example);
        x->out->reshaped += now;
        if (a <= 0 || b <= 0 || a == b) continue;
        uint32_t k = 0;
        while (k < n && fabs(factors[k] - b / a) > 1e-6 * factors[k]) k++;
        if (k == MOST_FACTORS) continue;
        if (k == n) {
            factors[n] = b / a;
            calls[n++] = 0;
        }
        calls[k] += now;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (calls[k] <= most || 2 * calls[k] <= x->out->reshaped) continue;
        most = calls[k];
        x->out->factor = factors[k];
    }
}

/* ---- all --------------------------------------------------------------------------------- */

static void find_anchors(causes_ctx *x) {
    for (uint32_t i = 1; i < x->tree->nodes.n; i++) {
        uint32_t parent = node_at(x, i)->parent;
        x->anchor[i] = x->top[parent] ? x->anchor[parent] : parent;
        x->top[i] = x->top[parent]                             ? x->top[parent]
                    : node_is_changed(x->sides, node_at(x, i)) ? i
                                                               : 0;
    }
}

static status add_all(causes_ctx *x, error *err) {
    uint32_t n = x->tree->nodes.n;
    for (uint32_t i = 0; i < n; i++) {
        matched m = node_match(x->sides, node_at(x, i));
        if (node_is_changed(x->sides, node_at(x, i))) TRY(add_work(x, i, &m, err));
        TRY(add_device(x, i, &m, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        matched m = node_match(x->sides, node_at(x, i));
        TRY(add_host(x, i, &m, err));
    }
    return OK;
}

/* Work is named by the outermost call that changed most. */
static status name_work(causes_ctx *x, error *err) {
    for (uint32_t i = 0; i < x->rows.n; i++)
        if (GROUP_ROW(&x->rows, cause_row, i)->key.kind == CHANGE_WORK_ADDED)
            GROUP_ROW(&x->rows, cause_row, i)->cause.most_ns = -1;
    for (uint32_t i = 1; i < x->tree->nodes.n; i++) {
        if (x->top[i] != i) continue;
        change_cause *c = cause_at(x, CHANGE_WORK_ADDED, x->anchor[i], x->anchor[i]);
        if (!c) FAIL_MEMORY(err);
        if (fabs(x->top_ns[i]) <= c->most_ns) continue;
        c->most_ns = fabs(x->top_ns[i]);
        c->most = i;
        show_costliest(c, node_at(x, i));
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
    const compared_side *a = &x->sides[SIDE_A], *b = &x->sides[SIDE_B];
    bool spread_known = a->n_runs > 1 || (side_steps_each(a) > 1 && side_steps_each(b) > 1);
    if (c->kind == CHANGE_WORK_ADDED && node_at(x, c->most)->flags & NODE_LOADS) {
        c->kind = CHANGE_DATA_WAIT; /* another loader */
        c->where = c->most;
    } else if (c->kind == CHANGE_WORK_ADDED) {
        double less = c->ns[SIDE_A], more = c->ns[SIDE_B];
        c->kind = less > more / 20 && more > less / 20 ? CHANGE_WORK_REPLACED
                  : more >= less                       ? CHANGE_WORK_ADDED
                                                       : CHANGE_WORK_REMOVED;
    }
    c->certain = spread_known && c->kind != CHANGE_HOST_SPEED &&
                 fabs(cause_ns(c)) > x->sure * sqrt(c->variance);
}

static status write_out(causes_ctx *x, arena *a, error *err) {
    uint32_t n = x->rows.n, kept = 0;
    change_cause *v = ARENA_ARRAY(a, change_cause, (size_t)n + 1);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    x->out->v = ARENA_ARRAY(a, change_cause, (size_t)n + 1);
    if (!v || !order || !scratch || !x->out->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        change_cause *c = &GROUP_ROW(&x->rows, cause_row, i)->cause;
        if (fabs(cause_ns(c)) < LEAST * x->step_ns) continue;
        judge_cause(x, c);
        v[kept] = *c;
        order[kept] = kept;
        kept++;
    }
    sort_index(order, scratch, kept, compare_causes, v);
    for (uint32_t i = 0; i < kept; i++) x->out->v[i] = v[order[i]];
    x->out->n = kept;
    return OK;
}

status causes_make(const call_tree *tree, const compared_side sides[N_SIDES], arena *a,
                   change_causes *out, error *err) {
    causes_ctx x = {.tree = tree, .sides = sides, .out = out, .sure = SURE_TIMES};
    *out = (change_causes){.host_ratio = 1};
    for (int s = 0; s < N_SIDES; s++) x.steps[s] = side_steps(&sides[s]);
    x.step_ns = (double)sides[SIDE_A].mean_ns;
    if (sides[SIDE_A].n_runs > 1)
        x.sure = fmax(SURE_TIMES, noise_t(0.975, sides[SIDE_A].n_runs - 1));
    x.anchor = ARENA_ARRAY(a, uint32_t, (size_t)tree->nodes.n + 1);
    x.top = ARENA_ARRAY(a, uint32_t, (size_t)tree->nodes.n + 1);
    x.top_ns = ARENA_ARRAY(a, double, (size_t)tree->nodes.n + 1);
    if (!x.anchor || !x.top || !x.top_ns) FAIL_MEMORY(err);
    TRY(groups_init(&x.rows, a, sizeof(cause_row), err));
    find_anchors(&x);
    find_factor(&x);
    TRY(host_ratio_find(tree, sides, a, &out->host_ratio, err));
    TRY(add_all(&x, err));
    TRY(name_work(&x, err));
    return write_out(&x, a, err);
}
