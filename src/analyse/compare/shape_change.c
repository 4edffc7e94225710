/* shape_change.c: see shape_change.h. */
#include "analyse/compare/shape_change.h"

#include <math.h>

#include "analyse/compare/matched.h"
#include "base/hash.h"
#include "store/op_text.h"

/* Sums of hashes over different numbers of steps are equal when what was added up is. */
bool node_sums_differ(const compared_side sides[N_SIDES], uint64_t a, uint64_t b) {
    return hash_times(a, (uint64_t)side_steps(&sides[SIDE_B])) !=
           hash_times(b, (uint64_t)side_steps(&sides[SIDE_A]));
}

bool node_is_reshaped(const compared_side sides[N_SIDES], const call_node *n) {
    const node_cost *c = n->cost;
    return c[SIDE_A].with_shapes && c[SIDE_B].with_shapes && !node_is_changed(sides, n) &&
           node_sums_differ(sides, c[SIDE_A].shapes, c[SIDE_B].shapes);
}

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

/* First dimension of the first tensor of a call, 0 when it has none. */
static int64_t first_dimension(str shapes) {
    op_list all = op_list_open(shapes);
    for (str one; op_list_next(&all, &one);) {
        op_list dims = op_list_open(one);
        int64_t d;
        str dim;
        if (op_list_next(&dims, &dim) && op_item_i64(dim, &d) && d > 0) return d;
    }
    return 0;
}

/* A batch is what grew by the factor of most calls; flattened with another dimension it is
 * larger, so the smallest is taken. */
static void find_batch(const call_tree *tree, const compared_side sides[N_SIDES],
                       change_causes *out) {
    if (isnan(out->factor)) return;
    for (uint32_t i = 1; i < tree->nodes.n; i++) {
        const call_node *n = call_tree_node(tree, i);
        if (!n->cost[SIDE_A].with_shapes || !node_is_reshaped(sides, n)) continue;
        int64_t a = first_dimension(n->cost[SIDE_A].example);
        int64_t b = first_dimension(n->cost[SIDE_B].example);
        if (a <= 0 || fabs((double)b / (double)a - out->factor) > 1e-6 * out->factor) continue;
        if (out->batch[SIDE_A] && a >= out->batch[SIDE_A]) continue;
        out->batch[SIDE_A] = a;
        out->batch[SIDE_B] = b;
    }
}

/* The factor by which most of the calls with other shapes are larger. */
void shapes_compare(const call_tree *tree, const compared_side sides[N_SIDES],
                    change_causes *out) {
    enum { MOST_FACTORS = 64 };
    double factors[MOST_FACTORS], calls[MOST_FACTORS], most = 0;
    uint32_t n = 0;
    out->factor = NAN;
    for (uint32_t i = 1; i < tree->nodes.n; i++) {
        const call_node *node = call_tree_node(tree, i);
        const node_cost *c = node->cost;
        if (!c[SIDE_A].with_shapes || !c[SIDE_B].with_shapes) continue;
        out->compared += (double)c[SIDE_A].with_shapes / side_steps(&sides[SIDE_A]);
        if (!node_is_reshaped(sides, node)) continue;
        double now = (double)c[SIDE_A].with_shapes / side_steps(&sides[SIDE_A]);
        double a = elements(c[SIDE_A].example);
        double b = elements(c[SIDE_B].example);
        out->reshaped += now;
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
        if (calls[k] <= most || 2 * calls[k] <= out->reshaped) continue;
        most = calls[k];
        out->factor = factors[k];
    }
    find_batch(tree, sides, out);
}
