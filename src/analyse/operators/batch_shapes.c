/* batch_shapes.c: which operators' work grows with the batch, by their input shapes. */
#include "analyse/operators/batch_shapes.h"

#include "analyse/operators/op_args.h"
#include "analyse/select.h"
#include "base/bisect.h"
#include "base/sort.h"

enum {
    MOST_SIZES = 256,
    MOST_VOTES = 4096,
    DEEPEST = 16, /* operators around one that are looked at */
};

typedef struct {
    int64_t size, votes;
} size_vote;

/* What an operator's inputs do. UNCLEAR: a number may be the joined batch or a width. */
struct batch_shapes {
    const trace *t;
    uint8_t *grows; /* by string of shapes: 0 not looked at, else batch_growth */
    int64_t batch;
    int64_t joined[MOST_SIZES], other[MOST_SIZES];
    uint32_t n_joined, n_other;
    size_vote votes[MOST_SIZES];
    uint32_t n_votes;
    int64_t weights[MOST_SIZES][2];
    uint32_t n_weights;
    sort_pair *arrows; /* backward op, row of table flow */
    size_t n_arrows;
};

/* ---- which number it is ------------------------------------------------------------------ */

static bool holds(const int64_t *v, uint32_t n, int64_t size) {
    for (uint32_t i = 0; i < n; i++)
        if (v[i] == size) return true;
    return false;
}

static void add_size(int64_t *v, uint32_t *n, int64_t size) {
    if (*n < MOST_SIZES && !holds(v, *n, size)) v[(*n)++] = size;
}

static void vote(batch_shapes *z, int64_t size) {
    if (size <= 1) return; /* what is added to all of a batch leads with 1 */
    for (uint32_t i = 0; i < z->n_votes; i++) {
        if (z->votes[i].size != size) continue;
        z->votes[i].votes++;
        return;
    }
    if (z->n_votes < MOST_SIZES) z->votes[z->n_votes++] = (size_vote){size, 1};
}

static bool read_op(const trace *t, uint32_t row, op_args *out) {
    str shapes = trace_str(t, t->op.shapes[row]);
    return shapes.n && op_args_read(shapes, STR_NONE, STR_NONE, out);
}

/* A loader works on one sample at a time. */
static bool is_loading(const trace *t, uint32_t slice) {
    for (int depth = 0; slice && depth < DEEPEST; depth++, slice = t->slice.parent[slice])
        if (t->slice.kind[slice] == KIND_DATA) return true;
    return false;
}

static void vote_op(batch_shapes *z, uint32_t row, bool products) {
    op_args in;
    if (!read_op(z->t, row, &in) || is_loading(z->t, z->t->op.slice[row])) return;
    if (!products) {
        for (int i = 0; i < in.n; i++)
            if (in.arg[i].rank >= 3) vote(z, in.arg[i].dim[0]);
        return;
    }
    if (!str_eq(trace_slice_name(z->t, z->t->op.slice[row]), STR("aten::linear"))) return;
    const op_arg *x = op_args_tensor(&in, 0);
    if (x && x->rank == 2) vote(z, x->dim[0]);
}

static int64_t most_voted(const batch_shapes *z) {
    size_vote best = {0, 0};
    for (uint32_t i = 0; i < z->n_votes; i++)
        if (z->votes[i].votes > best.votes ||
            (z->votes[i].votes == best.votes && z->votes[i].size < best.size))
            best = z->votes[i];
    return best.size;
}

/* Calls are looked at evenly: some thousands tell as much as all. */
static void find_batch(batch_shapes *z) {
    uint32_t n = z->t->op.n, by = n / MOST_VOTES + 1;
    for (int products = 0; products < 2 && !z->batch; products++) {
        for (uint32_t row = 1; row < n; row += by) vote_op(z, row, products);
        z->batch = most_voted(z);
    }
}

static void add_joined(batch_shapes *z, const op_arg *x) {
    int64_t product = z->batch;
    if (x->rank < 2 || x->dim[0] != z->batch) return;
    for (int d = 1; d < x->rank; d++) {
        if (x->rank >= 3) add_size(z->other, &z->n_other, x->dim[d]);
        if (__builtin_mul_overflow(product, x->dim[d], &product)) return;
        if (d < x->rank - 1) add_size(z->joined, &z->n_joined, product);
    }
}

static bool is_weight(const batch_shapes *z, int64_t a, int64_t b) {
    for (uint32_t i = 0; i < z->n_weights; i++)
        if ((z->weights[i][0] == a && z->weights[i][1] == b) ||
            (z->weights[i][0] == b && z->weights[i][1] == a))
            return true;
    return false;
}

static void add_weight(batch_shapes *z, const op_arg *x) {
    if (!x || x->rank != 2 || is_weight(z, x->dim[0], x->dim[1])) return;
    if (z->n_weights == MOST_SIZES) return;
    z->weights[z->n_weights][0] = x->dim[0];
    z->weights[z->n_weights++][1] = x->dim[1];
}

static void find_joined(batch_shapes *z) {
    uint32_t n = z->t->op.n, by = n / MOST_VOTES + 1;
    for (uint32_t row = 1; row < n; row += by) {
        op_args in;
        if (!read_op(z->t, row, &in)) continue;
        for (int i = 0; i < in.n; i++) add_joined(z, &in.arg[i]);
        if (str_eq(trace_slice_name(z->t, z->t->op.slice[row]), STR("aten::linear")))
            add_weight(z, op_args_tensor(&in, 1));
    }
}

/* ---- what grows -------------------------------------------------------------------------- */

static uint8_t tensor_grows(const batch_shapes *z, const op_arg *x) {
    bool unique = !holds(z->other, z->n_other, z->batch);
    uint8_t found = GROWS_NOT;
    for (int d = 0; d < x->rank; d++) {
        if (x->dim[d] == z->batch && (d == 0 || (unique && x->rank >= 3))) return GROWS;
        if (!holds(z->joined, z->n_joined, x->dim[d])) continue;
        if (!holds(z->other, z->n_other, x->dim[d])) return GROWS;
        bool activation = z->n_weights && d == 0 && x->rank == 2;
        if (activation && !is_weight(z, x->dim[0], x->dim[1])) return GROWS;
        found = GROWS_UNCLEAR;
    }
    return found;
}

static uint8_t look_at(batch_shapes *z, uint32_t row) {
    uint32_t text = z->t->op.shapes[row];
    op_args in;
    if (z->grows[text]) return z->grows[text];
    uint8_t found = NO_SIZES;
    if (read_op(z->t, row, &in))
        for (int i = 0; i < in.n && found != GROWS; i++) {
            if (in.arg[i].rank <= 0) continue;
            uint8_t one = tensor_grows(z, &in.arg[i]);
            if (found == NO_SIZES || one > found) found = one;
        }
    return z->grows[text] = found;
}

/* By the innermost operator that has any sizes; where these are unclear, by those around it. */
static uint8_t op_grows(batch_shapes *z, uint32_t slice) {
    const trace *t = z->t;
    uint8_t found = NO_SIZES;
    for (int depth = 0; slice && depth < DEEPEST; depth++, slice = t->slice.parent[slice]) {
        uint32_t row = trace_op_of(t, slice);
        uint8_t grows = row && t->op.shapes[row] ? look_at(z, row) : NO_SIZES;
        if (grows == NO_SIZES) continue;
        if (grows == GROWS || found == NO_SIZES) found = grows;
        if (found != GROWS_UNCLEAR) return found;
    }
    return found;
}

/* The forward op that a backward op, or the first one inside it, undoes; 0: not known. */
static uint32_t forward_of(const batch_shapes *z, uint32_t slice) {
    const trace *t = z->t;
    size_t i = SEARCH_FIRST(k, (size_t)0, z->n_arrows, z->arrows[k].key < slice);
    if (i == z->n_arrows) return 0;
    uint32_t to = (uint32_t)z->arrows[i].key;
    bool inside = t->slice.start[to] < slice_end(t, slice) &&
                  trace_track_of(t, to) == trace_track_of(t, slice);
    return inside ? t->flow.from[z->arrows[i].row] : 0;
}

batch_growth batch_shapes_growth(batch_shapes *z, uint32_t slice) {
    uint8_t found = op_grows(z, slice);
    for (int depth = 0; found == GROWS_UNCLEAR && slice && depth < DEEPEST; depth++) {
        uint32_t forward = forward_of(z, slice);
        if (forward && op_grows(z, forward) == GROWS) return GROWS;
        slice = z->t->slice.parent[slice];
    }
    return (batch_growth)found;
}

static status find_arrows(batch_shapes *z, arena *a, error *err) {
    const trace *t = z->t;
    z->arrows = ARENA_ARRAY(a, sort_pair, (size_t)t->flow.n + 1);
    if (!z->arrows) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->flow.n; i++)
        if (t->flow.kind[i] == FLOW_FORWARD_BACKWARD && t->flow.from[i] && t->flow.to[i])
            z->arrows[z->n_arrows++] = (sort_pair){t->flow.to[i], i};
    if (!sort_radix_in(a, z->arrows, z->n_arrows)) FAIL_MEMORY(err);
    return OK;
}

status batch_shapes_init(batch_shapes **out, const trace *t, int64_t batch, arena *a,
                         error *err) {
    batch_shapes *z = ARENA_NEW(a, batch_shapes);
    if (z) *z = (batch_shapes){.t = t, .batch = batch};
    if (z) z->grows = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!z || !z->grows) FAIL_MEMORY(err);
    if (!z->batch) find_batch(z);
    find_joined(z);
    TRY(find_arrows(z, a, err));
    *out = z;
    return OK;
}

int64_t batch_shapes_size(const batch_shapes *z) {
    return z->batch;
}
