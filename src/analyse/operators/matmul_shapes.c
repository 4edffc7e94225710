/* matmul_shapes.c: the shapes a matrix product was called with, and whether an odd one is
 * slow.
 *
 * Device work is added up by the string of the op's input shapes (a handful of distinct
 * ones), then each string is read once. */
#include "analyse/operators/matmul_shapes.h"

#include "analyse/group.h"
#include "analyse/operators/op_args.h"

/* Sizes of a·b, when they fit together. */
static bool multiply(const op_arg *a, const op_arg *b, matmul_size *out) {
    if (a->rank < 2 || b->rank < 2 || a->dim[a->rank - 1] != b->dim[b->rank - 2]) return false;
    *out = (matmul_size){.batch = 1,
                         .m = a->dim[a->rank - 2],
                         .k = a->dim[a->rank - 1],
                         .n = b->dim[b->rank - 1]};
    for (int i = 0; i < a->rank - 2; i++)
        if (__builtin_mul_overflow(out->batch, a->dim[i], &out->batch)) return false;
    return true;
}

bool matmul_read(str shapes, matmul_size *out) {
    op_args in;
    if (!op_args_read(shapes, STR_NONE, STR_NONE, &in)) return false;
    for (int i = 0; i + 1 < in.n; i++) {
        const op_arg *a = op_args_tensor(&in, i), *b = op_args_tensor(&in, i + 1);
        if (a && b && multiply(a, b, out)) return true;
    }
    return false;
}

double matmul_flops(const matmul_size *s) {
    return 2.0 * (double)s->batch * (double)s->m * (double)s->k * (double)s->n;
}

int64_t matmul_odd_dimension(const matmul_size *s) {
    int64_t worst = 0;
    const int64_t dims[] = {s->m, s->k, s->n};
    for (int i = 0; i < 3; i++)
        if (dims[i] > 8 && dims[i] % 8) worst = max_i64(worst, dims[i]);
    return worst;
}

typedef struct {
    uint32_t shapes; /* string id */
    uint32_t last_op;
    int64_t ns, calls;
} shape_group;

static bool same_shapes(const void *row, const void *key) {
    return ((const shape_group *)row)->shapes == *(const uint32_t *)key;
}

static bool add_work(groups *rows, const selection *s, uint32_t kernel) {
    const trace *t = s->t;
    uint32_t op = t->kernel.op[kernel], op_row = trace_op_of(t, op);
    if (!op_row || !t->op.shapes[op_row]) return true;
    uint32_t shapes = t->op.shapes[op_row];
    bool is_new;
    uint32_t at = groups_at(rows, hash_u64(shapes), same_shapes, &shapes, &is_new);
    if (at == GROUP_NONE) return false;
    shape_group *g = GROUP_ROW(rows, shape_group, at);
    g->shapes = shapes;
    g->ns = add_i64(g->ns, select_work_ns(s, kernel));
    g->calls += g->last_op != op; /* an op may launch several kernels, one after the other */
    g->last_op = op;
    return true;
}

static bool compare_rates(const groups *rows, const trace *t, matmul_odd *out) {
    double odd_flops = 0, even_flops = 0, odd_ns = 0, even_ns = 0, all_ns = 0, most = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const shape_group *g = GROUP_ROW(rows, shape_group, i);
        matmul_size size;
        all_ns += (double)g->ns;
        if (!matmul_read(trace_str(t, g->shapes), &size)) continue;
        double flops = matmul_flops(&size) * (double)g->calls, ns = (double)g->ns;
        int64_t odd = matmul_odd_dimension(&size);
        if (odd && ns > most) {
            most = ns;
            out->dimension = odd;
        }
        *(odd ? &odd_flops : &even_flops) += flops;
        *(odd ? &odd_ns : &even_ns) += ns;
    }
    if (odd_ns <= 0 || even_ns <= 0 || odd_flops <= 0) return false;
    out->time_share = odd_ns / all_ns;
    out->slowdown = (even_flops / even_ns) / (odd_flops / odd_ns);
    return true;
}

bool matmul_find_odd(const selection *s, uint32_t op_name, arena *a, matmul_odd *out) {
    const trace *t = s->t;
    groups rows;
    matmul_odd found = {0};
    if (groups_init(&rows, a, sizeof(shape_group), NULL) != OK) return false;
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (t->kernel.op[k] && t->slice.name[t->kernel.op[k]] == op_name &&
            !add_work(&rows, s, k))
            return false;
    if (!compare_rates(&rows, t, &found)) return false;
    *out = found;
    return true;
}
