/* run_shapes.c: the batch and the length that a program was recorded with. */
#include "analyse/fits/run_shapes.h"

#include "analyse/operators/op_args.h"
#include "base/num.h"

enum { DEEPEST = 16 }; /* operators around an allocation that are looked at */

static bool read_shapes(const trace *t, uint32_t row, op_args *out) {
    str shapes = trace_str(t, t->op.shapes[row]);
    return shapes.n && op_args_read(shapes, trace_str(t, t->op.types[row]), STR_NONE, out);
}

/* Ids of tokens: the one kind of matrix whose second number is a length. */
static bool is_ids(const op_arg *x) {
    return x->rank == 2 && (str_find(x->type, STR("int"), 0) != SIZE_MAX);
}

static bool tell_length(run_shapes *r, const op_arg *x) {
    if (!x->tensor || x->list || x->rank < 2 || x->dim[0] != r->size.batch) return false;
    if (x->rank == 2 && !is_ids(x)) return false;
    r->is_image = x->rank >= 4;
    r->size.length = x->dim[r->is_image ? x->rank - 1 : 1];
    return r->size.length > 1;
}

static void find_length(run_shapes *r) {
    const trace *t = r->t;
    for (uint32_t row = 1; row < t->op.n; row++) {
        op_args in;
        if (!read_shapes(t, row, &in)) continue;
        for (int i = 0; i < in.n; i++)
            if (tell_length(r, &in.arg[i])) return;
    }
    r->size.length = 0;
}

status run_shapes_find(run_shapes *r, const trace *t, run_size given, arena *a, error *err) {
    *r = (run_shapes){.t = t};
    TRY(batch_shapes_init(&r->batch, t, given.batch, a, err));
    r->size.batch = batch_shapes_size(r->batch);
    if (r->size.batch) find_length(r);
    if (given.length) r->size.length = given.length;
    return OK;
}

/* ---- one allocation ---------------------------------------------------------------------- */

static bool holds_length(const run_shapes *r, const op_arg *x, int d) {
    int64_t joined = mul_i64(r->size.batch, r->size.length);
    return x->dim[d] == r->size.length || (d == 0 && x->dim[d] == joined);
}

static uint8_t lengths_in(const run_shapes *r, const op_arg *x) {
    uint8_t n = 0;
    for (int d = x->dim[0] == r->size.batch && x->rank > 1; d < x->rank; d++)
        n = (uint8_t)(n + holds_length(r, x, d));
    return n < 2 ? n : 2;
}

/* Of one call: the tensor that is as large as the allocation, otherwise the one that holds the
 * length most often. False: it has no tensors. */
static bool read_power(const run_shapes *r, uint32_t row, int64_t bytes, uint8_t *power) {
    op_args in;
    bool any = false;
    *power = 0;
    if (!row || !read_shapes(r->t, row, &in)) return false;
    for (int i = 0; i < in.n; i++) {
        const op_arg *x = &in.arg[i];
        if (!x->tensor || x->list || x->rank <= 0) continue;
        uint8_t n = lengths_in(r, x);
        if (n > *power) *power = n;
        any = true;
        if (x->elements * x->item_bytes != (double)bytes) continue;
        *power = n;
        break;
    }
    return any;
}

/* By the innermost operator that has tensors. */
static uint8_t length_power(const run_shapes *r, uint32_t slice, int64_t bytes) {
    const trace *t = r->t;
    uint8_t power = 0;
    for (int depth = 0; slice && depth < DEEPEST; depth++, slice = t->slice.parent[slice])
        if (read_power(r, trace_op_of(t, slice), bytes, &power)) return power;
    return power;
}

size_guess run_shapes_guess(const run_shapes *r, uint32_t op, int64_t bytes) {
    enum { SCALAR = 512 }; /* bytes: the least an allocator gives */
    size_guess guess = {.batch_power = 1, .length_power = r->is_image ? 2 : 1};
    batch_growth growth = op && r->size.batch ? batch_shapes_growth(r->batch, op) : NO_SIZES;
    if (bytes <= SCALAR || growth == GROWS_NOT) return (size_guess){.known = true};
    if (growth != GROWS) return guess;
    guess.known = true;
    if (!r->is_image) guess.length_power = r->size.length ? length_power(r, op, bytes) : 0;
    return guess;
}
