/* paddle_flops.c: floating-point operations from names and shapes.
 *
 * The rules are those of Paddle's own counter: matrix products are 2·M·K·N for each matrix of
 * the batch, elementwise operators one for each element of the broadcast shape, activations a
 * fixed number for each element. Argument names are the old ones (X, Y). What the counter takes
 * from an operator's attributes is in no trace, so convolutions and similar operators count 0
 * here as they do there. */
#include "analyse/cost/paddle_flops.h"

#include "store/op_text.h"

enum { MAX_RANK = 16 };

typedef struct {
    double d[MAX_RANK];
    int n;
} shape;

/* The first shape of an argument; n < 0 when it has none. */
static shape first_shape(str shapes, str key) {
    shape s = {.n = -1};
    str value;
    op_list lists = op_list_open(op_list_named(shapes, key));
    if (!op_list_next(&lists, &value)) return s;
    op_list dims = op_list_open(value);
    double d;
    for (s.n = 0; s.n < MAX_RANK && op_list_next(&dims, &value);)
        if (op_item_f64(value, &d)) s.d[s.n++] = d;
    return s;
}

static double count(const shape *s) {
    double n = s->n > 0 ? 1 : 0;
    for (int i = 0; i < s->n; i++) n *= s->d[i];
    return n;
}

/* Dimension i from the last, 1 where there is none. */
static double from_last(const shape *s, int i) {
    return i < s->n ? s->d[s->n - 1 - i] : 1;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double broadcast(const shape *x, const shape *y, int skip) {
    double n = 1;
    int rank = x->n > y->n ? x->n : y->n;
    for (int i = skip; i < rank; i++) n *= larger(from_last(x, i), from_last(y, i));
    return n;
}

static double elementwise(str shapes) {
    shape x = first_shape(shapes, STR("X")), y = first_shape(shapes, STR("Y"));
    return x.n > 0 && y.n > 0 ? broadcast(&x, &y, 0) : 0;
}

static double product(str shapes) {
    shape x = first_shape(shapes, STR("X")), y = first_shape(shapes, STR("Y"));
    if (x.n < 1 || y.n < 1) return 0;
    return 2 * broadcast(&x, &y, 2) * from_last(&x, 1) * from_last(&x, 0) * from_last(&y, 0);
}

static str bare_name(str op) {
    static const str ends[] = {STR(" compute"), STR(" dygraph"),
                               STR(" pybind_imperative_func")};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends(op, ends[i])) return str_n(op.p, op.n - ends[i].n);
    return op;
}

double paddle_flops(str op, str shapes) {
    static const struct {
        const char *name;
        double each; /* for each element of X */
    } unary[] = {
        {"relu", 1}, {"relu6", 1}, {"elu", 1},     {"leaky_relu", 1}, {"prelu", 1},
        {"silu", 1}, {"pool", 1},  {"softmax", 3}, {"gelu", 5},       {"layer_norm", 7},
    };
    static const char *const binary[] = {"elementwise_add", "elementwise_mul",
                                         "elementwise_div"};
    str name = bare_name(op);
    if (shapes.n < 3) return 0;
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
        if (str_eq(name, str_of(unary[i].name))) {
            shape x = first_shape(shapes, STR("X"));
            return unary[i].each * count(&x);
        }
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (str_eq(name, str_of(binary[i]))) return elementwise(shapes);
    if (str_eq(name, STR("matmul")) || str_eq(name, STR("matmul_v2"))) return product(shapes);
    return 0;
}
