/* op_cost.c: what one call of an operator must compute and move; formulas of what is not a
 * product, and the lookup in op_cost.def.
 *
 * A figure that cannot be known from what was recorded stays NaN: a wrong one would be shown as
 * a rate that no device can reach. */
#include "analyse/cost/op_cost.h"

#include <math.h>

#include "analyse/cost/op_cost_int.h"
#include "base/num.h"

double cost_all_bytes(const op_args *in) {
    double sum = 0;
    for (int i = 0; i < in->n; i++)
        if (in->arg[i].tensor) sum += tensor_bytes(&in->arg[i]);
    return sum;
}

bool cost_has_result(const op_args *in, int inputs) {
    int n = 0;
    for (int i = 0; i < in->n; i++) n += in->arg[i].tensor;
    return inputs > 0 && n > inputs && op_args_tensor(in, in->n - 1);
}

/* ---- elementwise ---- */

/* Dimension i from the last, 1 where there is none. */
static int64_t from_last(const op_arg *a, int i) {
    return i < a->rank ? a->dim[a->rank - 1 - i] : 1;
}

/* Elements of the broadcast shape of all tensors; NaN when they do not fit together. */
static double broadcast_elements(const op_args *in) {
    double n = 1;
    bool any = false;
    for (int d = 0; d < OP_MOST_DIMS; d++) {
        int64_t size = 1;
        for (int i = 0; i < in->n; i++) {
            const op_arg *a = op_args_tensor(in, i);
            if (!a) continue;
            any = true;
            int64_t own = from_last(a, d);
            if (own != 1 && size != 1 && own != size) return NAN;
            if (own != 1) size = own;
        }
        n *= (double)size;
    }
    return any ? n : NAN;
}

/* Floating types have priority over integers, and other tensors over those of one value. */
static int rank_of(const op_arg *a) {
    bool whole = str_find(a->type, STR("int"), 0) != SIZE_MAX ||
                 str_find(a->type, STR("char"), 0) != SIZE_MAX || str_eq(a->type, STR("bool"));
    return (a->rank ? 2 : 0) + !whole;
}

static double widest_item(const op_args *in) {
    const op_arg *best = NULL;
    for (int i = 0; i < in->n; i++) {
        const op_arg *a = op_args_tensor(in, i);
        if (!a) continue;
        int over = best ? rank_of(a) - rank_of(best) : 1;
        if (over > 0 || (!over && a->item_bytes > best->item_bytes)) best = a;
    }
    return best ? best->item_bytes : NAN;
}

static void cost_ELEMENTWISE(const cost_call *c, op_cost *out) {
    double n = broadcast_elements(c->in);
    double item = c->p[1] == BOOL ? 1 : widest_item(c->in);
    if (c->in_place && c->in->n) item = c->in->arg[0].item_bytes;
    if (c->p[3] > 0) item += c->p[3];
    if (cost_has_result(c->in, c->p[2])) item = 0;
    out->flops = n * c->p[0];
    out->bytes = cost_all_bytes(c->in) + n * item;
}

/* ---- normalization, softmax, reduction ---- */

static void cost_NORM(const cost_call *c, op_cost *out) {
    const op_arg *x = cost_tensor(c, 1);
    if (!x) return;
    out->flops = x->elements * c->p[0];
    out->bytes = cost_all_bytes(c->in) + tensor_bytes(x);
}

static void cost_NORM_BACK(const cost_call *c, op_cost *out) {
    const op_arg *w = cost_tensor(c, 2);
    cost_NORM(c, out);
    if (w) out->bytes += 2 * tensor_bytes(w);
}

/* Elements after reducing the dimensions that input i names; all of them when it names none. */
static double reduced_elements(const op_args *in, int i, const op_arg *x) {
    int64_t dims[OP_MOST_VALUES];
    int n = op_args_numbers(in, i, dims);
    double left = x->elements;
    if (!n || !(x->elements > 0) || (in->n == 2 && str_eq(in->arg[i].type, STR("Scalar"))))
        return 1;
    for (int k = 0; k < n; k++) {
        int64_t d = dims[k] < 0 ? dims[k] + x->rank : dims[k];
        if (d >= 0 && d < x->rank && x->dim[d]) left /= (double)x->dim[d];
    }
    return left;
}

static void cost_REDUCE(const cost_call *c, op_cost *out) {
    const op_arg *x = op_args_tensor(c->in, 0);
    if (!x) return;
    if (op_args_tensor(c->in, 1)) { /* aten::max of two tensors */
        static const int8_t each[5] = {1, SAME, 2, -1, -1};
        cost_ELEMENTWISE(&(cost_call){c->in, each, c->name, false}, out);
        return;
    }
    out->flops = x->elements * c->p[0];
    out->bytes = tensor_bytes(x) + reduced_elements(c->in, c->p[1], x) * x->item_bytes;
}

/* ---- what moves ---- */

static void cost_STREAM(const cost_call *c, op_cost *out) {
    const op_arg *x = cost_tensor(c, 1);
    if (!x) return;
    out->flops = x->elements * c->p[0];
    out->bytes = cost_all_bytes(c->in);
}

static void cost_LISTS(const cost_call *c, op_cost *out) {
    if (!c->in->n || !c->in->arg[0].list) return;
    out->flops = c->in->arg[0].elements * c->p[0];
    out->bytes = tensor_bytes(&c->in->arg[0]) * c->p[1];
}

static void cost_MOVE(const cost_call *c, op_cost *out) {
    out->flops = 0;
    out->bytes = cost_all_bytes(c->in) * c->p[0];
}

static void cost_COPY(const cost_call *c, op_cost *out) {
    const op_arg *to = op_args_tensor(c->in, 0), *from = op_args_tensor(c->in, 1);
    if (!to || !from) return;
    out->flops = 0;
    out->bytes = tensor_bytes(to) + tensor_bytes(from);
}

static void cost_FILL(const cost_call *c, op_cost *out) {
    const op_arg *x = cost_tensor(c, 0);
    if (!x) return;
    out->flops = 0;
    out->bytes = tensor_bytes(x);
}

static void cost_ROWS(const cost_call *c, op_cost *out) {
    const op_arg *rows = cost_tensor(c, 0), *index = cost_tensor(c, 1);
    if (!rows || !index || rows->rank != 2) return;
    double moved = index->elements * (double)rows->dim[1];
    out->flops = moved * c->p[2];
    out->bytes = tensor_bytes(index) + 2 * moved * rows->item_bytes;
}

static void cost_ROWS_BACK(const cost_call *c, op_cost *out) {
    const op_arg *grad = cost_tensor(c, 0), *index = cost_tensor(c, 1);
    int64_t size[OP_MOST_VALUES];
    if (!grad || !index || !grad->rank || op_args_numbers(c->in, c->p[2], size) != 1 ||
        size[0] < 0)
        return;
    double table = (double)size[0] * (double)grad->dim[grad->rank - 1];
    out->flops = grad->elements;
    out->bytes = tensor_bytes(grad) + tensor_bytes(index) + table * grad->item_bytes;
}

static void cost_SELECT(const cost_call *c, op_cost *out) {
    const op_arg *x = cost_tensor(c, 0), *index = cost_tensor(c, 2);
    int64_t dim[OP_MOST_VALUES];
    if (!x || !index || op_args_numbers(c->in, c->p[1], dim) != 1) return;
    int64_t d = dim[0] < 0 ? dim[0] + x->rank : dim[0];
    if (d < 0 || d >= x->rank || !x->dim[d]) return;
    out->flops = 0;
    out->bytes = tensor_bytes(index) +
                 2 * x->elements / (double)x->dim[d] * index->elements * x->item_bytes;
}

static void cost_AT_INDEX(const cost_call *c, op_cost *out) {
    const op_arg *x = cost_tensor(c, 0), *index = cost_tensor(c, 1);
    if (!x || !index) return;
    out->flops = 0;
    out->bytes = tensor_bytes(index) + 2 * index->elements * x->item_bytes;
}

/* ---- pictures ---- */

static void cost_POOL(const cost_call *c, op_cost *out) {
    const op_arg *x = cost_tensor(c, 0);
    int64_t size[OP_MOST_VALUES], step[OP_MOST_VALUES], pad[OP_MOST_VALUES];
    int n = op_args_numbers(c->in, c->p[1], size),
        n_step = op_args_numbers(c->in, c->p[2], step);
    int n_pad = op_args_numbers(c->in, c->p[3], pad);
    if (!x || !n || n > x->rank) return;
    double results = x->elements, each = 1;
    for (int i = 0; i < n; i++) {
        int64_t in = x->dim[x->rank - n + i], s = n_step ? step[n_step == 1 ? 0 : i] : size[i];
        int64_t p = n_pad ? pad[n_pad == 1 ? 0 : i] : 0;
        if (s <= 0 || size[i] <= 0 || in <= 0 || p < 0 || p > in) return;
        int64_t room = in + 2 * p - size[i];
        if (room < 0) return;
        results *= (double)(room / s + 1) / (double)in;
        each *= (double)size[i];
    }
    out->flops = results * each;
    out->bytes = tensor_bytes(x) + results * (x->item_bytes + c->p[4]);
}

static void cost_RESIZE(const cost_call *c, op_cost *out) {
    const op_arg *x = op_args_tensor(c->in, 0);
    int64_t size[OP_MOST_VALUES];
    int n = op_args_numbers(c->in, c->p[1], size);
    if (!x || !n || n > x->rank || !(x->elements > 0)) return;
    double results = x->elements;
    for (int i = 0; i < n; i++) {
        if (size[i] < 0) return;
        results *= (double)size[i] / (double)x->dim[x->rank - n + i];
    }
    out->flops = c->p[0] ? results * c->p[0] : x->elements;
    out->bytes = tensor_bytes(x) + results * x->item_bytes;
}

/* ---- the table ---- */

typedef struct {
    const char *name;
    cost_formula *formula;
    int8_t p[5];
} cost_row;

static const cost_row cost_rows[] = {
#define COST(name, formula, p0, p1, p2, p3, p4) {name, cost_##formula, {p0, p1, p2, p3, p4}},
#include "analyse/cost/op_cost.def"
};

static const cost_row *find_row(str name) {
    for (size_t i = 0; i < N_OF(cost_rows); i++)
        if (str_eq(name, str_of(cost_rows[i].name))) return &cost_rows[i];
    return NULL;
}

int cost_each(str word) {
    str space = STR("aten::");
    for (size_t i = 0; i < N_OF(cost_rows); i++) {
        const cost_row *r = &cost_rows[i];
        str name = str_of(r->name);
        if (str_starts(name, space) && str_eq(str_from(name, space.n), word))
            return r->formula == cost_ELEMENTWISE || r->formula == cost_NORM ||
                           r->formula == cost_NORM_BACK || r->formula == cost_REDUCE
                       ? r->p[0]
                       : 0;
    }
    return 0;
}

/* The row of an operator, also of one in place. */
static const cost_row *row_of(str name, bool *in_place) {
    const cost_row *row = find_row(name);
    *in_place = !row && name.n && name.p[name.n - 1] == '_';
    return *in_place ? find_row(str_n(name.p, name.n - 1)) : row;
}

static bool is_fused(str name) {
    return str_starts(name, STR("triton_"));
}

bool op_cost_has(str name) {
    bool in_place;
    return row_of(name, &in_place) || is_fused(name);
}

op_cost op_cost_of(str name, str shapes, str types, str inputs) {
    op_cost out = {.flops = NAN, .bytes = NAN, .type = (uint8_t)lexicon_input_type(types)};
    op_args in;
    bool in_place;
    const cost_row *row = row_of(name, &in_place);
    if ((!row && !is_fused(name)) || !op_args_read(shapes, types, inputs, &in)) return out;
    if (row)
        row->formula(&(cost_call){&in, row->p, name, in_place}, &out);
    else
        cost_fused(name, &in, &out);
    return out;
}
