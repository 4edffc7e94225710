/* op_cost_product.c: what matrix products, convolutions and attention compute and move.
 *
 *   product      every result is a sum of k products: 2·k operations
 *   convolution  likewise, of (channels of the group)·(size of the window) products; the
 *                backward pass does as much for the gradient of the input and again for that
 *                of the weight
 *   attention    scores q·kᵀ and results p·v for every pair of positions that sees each
 *                other: 2·d and 2·dv for each pair and head. The backward pass has five
 *                products instead of two; one of them computes the scores again.
 *
 * A bias costs a thousandth of the product and is not counted, as in PyTorch. */
#include <math.h>

#include "analyse/cost/op_cost_int.h"

static bool is_whole(str type) {
    return str_eq(type, STR("signed char")) || str_eq(type, STR("unsigned char"));
}

/* Types of eight bits and fewer give results of 16 bits: the result's type is not recorded. */
static double result_item(const op_arg *a) {
    return a->item_bytes < 2 ? 2 : a->item_bytes;
}

static void set_product(const op_arg *a, double flops, double results, op_cost *out) {
    bool pairs = str_starts(a->type, STR("c10::Float4")); /* two values in one element */
    if (is_whole(a->type)) out->type = DTYPE_INT;
    out->matrix = true;
    out->flops = pairs ? 2 * flops : flops;
    out->bytes += results * result_item(a);
}

/* Products of all matrices before the last two dimensions; NaN when they do not fit
 * together. */
static double batch_of(const op_arg *a, const op_arg *b) {
    double n = 1;
    int skip = 2, rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = skip; i < rank; i++) {
        int64_t x = i < a->rank ? a->dim[a->rank - 1 - i] : 1;
        int64_t y = i < b->rank ? b->dim[b->rank - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return NAN;
        n *= (double)(x > y ? x : y);
    }
    return n;
}

static void multiply(const op_arg *a, const op_arg *b, op_cost *out) {
    if (!a || !b || !a->rank || !b->rank) return;
    int64_t k = a->dim[a->rank - 1];
    if (k != (b->rank > 1 ? b->dim[b->rank - 2] : b->dim[0])) return;
    double m = a->rank > 1 ? (double)a->dim[a->rank - 2] : 1;
    double n = b->rank > 1 ? (double)b->dim[b->rank - 1] : 1;
    double results = batch_of(a, b) * m * n;
    set_product(a, 2 * results * (double)k, results, out);
}

void cost_PRODUCT(const cost_call *c, op_cost *out) {
    double given = cost_all_bytes(c->in);
    out->bytes = given;
    multiply(cost_tensor(c, 0), cost_tensor(c, 1), out);
    if (cost_has_result(c->in, c->p[2])) out->bytes = given;
}

void cost_any_product(const op_args *in, op_cost *out) {
    for (int i = 0; i + 1 < in->n && isnan(out->flops); i++) {
        const op_arg *a = op_args_tensor(in, i), *b = op_args_tensor(in, i + 1);
        if (!a || !b || a->rank < 2 || b->rank < 2) continue;
        out->bytes = 0;
        multiply(a, b, out);
    }
    out->bytes = cost_all_bytes(in); /* the result is one of the inputs */
}

void cost_LINEAR(const cost_call *c, op_cost *out) {
    const op_arg *x = cost_tensor(c, 0), *w = cost_tensor(c, 1);
    if (!x || !w || !x->rank || w->rank < 1 || w->rank > 2) return;
    int64_t k = x->dim[x->rank - 1];
    if (k != w->dim[w->rank - 1] || !k) return;
    double results = x->elements / (double)k * (w->rank == 2 ? (double)w->dim[0] : 1);
    out->bytes = cost_all_bytes(c->in);
    set_product(x, 2 * results * (double)k, results, out);
}

void cost_GROUPED(const cost_call *c, op_cost *out) {
    const op_arg *a = cost_tensor(c, 0), *b = cost_tensor(c, 1),
                 *ends = op_args_tensor(c->in, 2);
    if (!a || !b || a->rank < 2 || b->rank < 2) return;
    if (a->rank == 3 && b->rank == 3) {
        cost_PRODUCT(c, out);
        return;
    }
    int64_t m = a->dim[a->rank - 2], k = a->dim[a->rank - 1], n = b->dim[b->rank - 1];
    if (k != b->dim[b->rank - 2]) return;
    double results = (double)m * (double)n;
    double groups = a->rank == 2 && b->rank == 2 && ends ? ends->elements : 1;
    out->bytes = cost_all_bytes(c->in);
    set_product(a, 2 * results * (double)k, results * groups, out);
}

/* ---- convolutions ---- */

/* The places of the values that a convolution needs; -1: there is none. */
typedef struct {
    int stride, padding, dilation, extra,
        groups; /* extra: padding of a transposed one's result */
} places;

/* Value of one dimension out of "[1, 2]" or "1"; `fallback` when input i names none. */
static int64_t value_of(const op_args *in, int i, int dim, int64_t fallback) {
    int64_t v[OP_MOST_VALUES];
    int n = op_args_numbers(in, i, v);
    return !n ? fallback : n == 1 ? v[0] : dim < n ? v[dim] : fallback;
}

static bool values_are_sane(int64_t stride, int64_t pad, int64_t spread) {
    const int64_t most = 1 << 20;
    return stride > 0 && stride < most && pad >= 0 && pad < most && spread > 0 && spread < most;
}

/* Positions of the result along one dimension; -1 when that cannot be. */
static int64_t result_size(const op_args *in, const places *at, int dim, int64_t size,
                           int64_t window) {
    int64_t stride = value_of(in, at->stride, dim, 1), pad = value_of(in, at->padding, dim, 0);
    int64_t spread = value_of(in, at->dilation, dim, 1);
    if (!values_are_sane(stride, pad, spread) || window < 1) return -1;
    int64_t room = size + 2 * pad - spread * (window - 1) - 1;
    return room < 0 ? -1 : room / stride + 1;
}

static int64_t wider_size(const op_args *in, const places *at, int dim, int64_t size,
                          int64_t window) {
    int64_t stride = value_of(in, at->stride, dim, 1), pad = value_of(in, at->padding, dim, 0);
    int64_t spread = value_of(in, at->dilation, dim, 1),
            extra = value_of(in, at->extra, dim, 0);
    if (!values_are_sane(stride, pad, spread) || window < 1 || extra < 0) return -1;
    return add_i64((size - 1) * stride - 2 * pad + spread * (window - 1) + 1, extra);
}

static void convolve(const cost_call *c, const places *at, bool transposed, op_cost *out) {
    const op_arg *x = cost_tensor(c, 0), *w = cost_tensor(c, 1);
    int64_t any[OP_MOST_VALUES];
    if (!x || !w || w->rank < 3 || x->rank < w->rank - 1 || x->rank > w->rank || !w->dim[0] ||
        !op_args_numbers(c->in, at->stride, any) || !op_args_numbers(c->in, at->padding, any))
        return; /* a padding given as a word is not recorded */
    int n = w->rank - 2;
    int64_t groups = value_of(c->in, at->groups, 0, 1);
    double channels =
        transposed ? (double)w->dim[1] * (groups > 0 ? (double)groups : 1) : (double)w->dim[0];
    double results = channels * (x->rank == w->rank ? (double)x->dim[0] : 1);
    for (int i = 0; i < n; i++) {
        int64_t size = x->dim[x->rank - n + i], window = w->dim[2 + i];
        int64_t now = transposed ? wider_size(c->in, at, i, size, window)
                                 : result_size(c->in, at, i, size, window);
        if (now < 0) return;
        results *= (double)now;
    }
    double each = w->elements / (double)w->dim[0];
    out->bytes = cost_all_bytes(c->in);
    set_product(x, 2 * (transposed ? x->elements : results) * each, results, out);
}

void cost_CONVOLUTION(const cost_call *c, op_cost *out) {
    convolve(c, &(places){c->p[2], c->p[3], c->p[4], -1, -1}, false, out);
}

void cost_TRANSPOSED(const cost_call *c, op_cost *out) {
    convolve(c, &(places){c->p[2], c->p[3], c->p[4], c->p[3] + 1, 6}, true, out);
}

void cost_EITHER(const cost_call *c, op_cost *out) {
    int s = c->p[2];
    convolve(c, &(places){s, s + 1, s + 2, s + 4, s + 5}, op_args_true(c->in, s + 3), out);
}

/* Which gradients are wanted: "[True, False, True]" is that of the input and of the bias. */
static bool is_wanted(const op_args *in, int mask, int which) {
    if (mask < 0 || mask >= in->n || !in->arg[mask].value.n) return true;
    str text = in->arg[mask].value;
    for (size_t at = 0; at < text.n; at++)
        if ((text.p[at] == 'T' || text.p[at] == 'F') && !which--) return text.p[at] == 'T';
    return true;
}

void cost_CONVOLUTION_BACK(const cost_call *c, op_cost *out) {
    const op_arg *dy = cost_tensor(c, 0), *x = cost_tensor(c, 1), *w = cost_tensor(c, 2);
    if (!dy || !x || !w || w->rank < 3 || !w->dim[0]) return;
    bool transposed = op_args_true(c->in, c->p[4]);
    double each = w->elements / (double)w->dim[0];
    double one = 2 * (transposed ? x->elements : dy->elements) * each;
    double moved = tensor_bytes(dy) + tensor_bytes(x) + tensor_bytes(w);
    int wanted = is_wanted(c->in, c->p[3], 0) + is_wanted(c->in, c->p[3], 1);
    out->bytes = moved * wanted;
    set_product(x, one * wanted, 0, out);
}

/* ---- attention ---- */

typedef struct {
    double batch, heads, n_q, n_k, d, d_v;
} attention_size;

static bool same_shape(const op_arg *a, const op_arg *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

/* Packed sequences: known when all are as long as the longest. */
static bool read_packed(const cost_call *c, const op_arg *ends, attention_size *s) {
    int64_t q[OP_MOST_VALUES], k[OP_MOST_VALUES];
    if (op_args_numbers(c->in, c->p[4], q) != 1 || op_args_numbers(c->in, c->p[4] + 1, k) != 1)
        return false;
    double n = ends->elements - 1;
    if (n < 1 || s->batch * s->n_q != n * (double)q[0] || s->batch * s->n_k != n * (double)k[0])
        return false;
    s->batch = n;
    s->n_q = (double)q[0];
    s->n_k = (double)k[0];
    return true;
}

static bool read_attention(const cost_call *c, attention_size *s) {
    int at = c->p[0];
    const op_arg *q = op_args_tensor(c->in, at), *k = op_args_tensor(c->in, at + 1);
    const op_arg *v = op_args_tensor(c->in, at + 2), *ends = cost_tensor(c, 3);
    if (!q || !k || !v || q->rank < 3 || q->rank > 4 || k->rank != q->rank ||
        v->rank != q->rank)
        return false;
    int r = q->rank;
    bool heads_first = c->p[2] == HEADS_FIRST;
    int length = heads_first ? r - 2 : r - 3, heads = heads_first ? r - 3 : r - 2;
    s->n_q = (double)q->dim[length];
    s->n_k = (double)k->dim[length];
    s->heads = heads_first && r == 3 ? 1 : (double)q->dim[heads];
    s->batch = heads_first ? (double)q->dim[0] : r == 4 ? (double)q->dim[0] : 1;
    s->d = (double)q->dim[r - 1];
    s->d_v = (double)v->dim[r - 1];
    if (ends && ends->rank == 1) return !heads_first && read_packed(c, ends, s);
    return heads_first || r == 4;
}

/* Pairs of positions that see each other. A causal mask leaves a triangle: of the first keys
 * (PyTorch) or of the last (FlashAttention), which differ where there are more keys than
 * queries. */
static double count_pairs(const attention_size *s, bool causal, bool at_end) {
    double q = s->n_q, k = s->n_k;
    if (!causal) return q * k;
    if (q <= k) return at_end ? q * k - q * q / 2 : q * q / 2;
    return at_end ? k * k / 2 : q * k - k * k / 2;
}

/* NaN when it was not recorded whether there is a mask, or a window limits what is seen. */
static double pairs_of(const cost_call *c, const attention_size *s) {
    int at = c->p[1];
    str mask = at < c->in->n ? c->in->arg[at].value : STR_NONE;
    int64_t window[OP_MOST_VALUES];
    if (!mask.n) return NAN;
    bool flash = str_starts(c->name, STR("flash_attn::"));
    if (flash && op_args_numbers(c->in, at + 1, window) == 1 && window[0] >= 0) return NAN;
    bool first =
        str_eq(mask, STR("1")); /* the efficient kernel's: 1 of the first keys, 2 of the last */
    bool causal = first || str_eq(mask, STR("True")) || str_eq(mask, STR("2"));
    return count_pairs(s, causal, c->p[2] == LENGTH_FIRST && !first);
}

void cost_ATTENTION(const cost_call *c, op_cost *out) {
    attention_size s;
    out->matrix = true;
    if (!read_attention(c, &s)) return;
    out->flops = 2 * s.batch * s.heads * pairs_of(c, &s) * (s.d + s.d_v);
    out->bytes = cost_all_bytes(c->in) +
                 s.batch * s.heads * s.n_q * s.d_v * c->in->arg[c->p[0]].item_bytes;
}

void cost_ATTENTION_BACK(const cost_call *c, op_cost *out) {
    attention_size s;
    out->matrix = true;
    if (!read_attention(c, &s)) return;
    int at = c->p[0];
    const op_arg *q = op_args_tensor(c->in, at), *dq = op_args_tensor(c->in, at + 5);
    double pairs = s.batch * s.heads * pairs_of(c, &s);
    out->flops = pairs * (6 * s.d + 4 * s.d_v);
    out->repeated = 2 * pairs * s.d;
    out->bytes = cost_all_bytes(c->in);
    if (dq && same_shape(q, dq)) return; /* the gradients are among the inputs */
    for (int i = 0; i < 3; i++) out->bytes += tensor_bytes(&c->in->arg[at + i]);
}
