/* op_work.c: what the calls of operators computed and moved, and in which time.
 *
 * The kernels of a call are those of its slice and of all slices inside it: slices of a track
 * come in the order of their start, so these are a range of ids, and with the kernels sorted by
 * operator a range of kernels.
 *
 *     linear ── addmm ── kernel       addmm claims the kernel; linear finds nothing left
 *     conv2d ── … ── cudnn_x ── kernel   cudnn_x is unknown: conv2d claims it
 *            └─ add_ ── kernel          has its own
 *
 * Claims are made from the last slice of a track to the first, so children come before their
 * parents. A call whose children already explain half of its figures claims nothing: what is
 * left is something else.
 *
 * Rates are of whole kernels, whatever window is asked for: a call counts where it begins. */
#include "analyse/cost/op_work.h"

#include <math.h>

#include "analyse/cost/op_cost_paged.h"
#include "analyse/cost/paddle_flops.h"
#include "base/bisect.h"
#include "base/num.h"
#include "store/traits.h"

typedef struct {
    uint32_t name, shapes, types, inputs;
    op_cost cost;
} cost_memo;

static bool same_memo(const void *row, const void *key) {
    return memcmp(row, key, 4 * sizeof(uint32_t)) == 0;
}

/* Kernels of the calls themselves: an operator of another time did this work, too, but once for
 * each. */
static status list_work(op_work *w, error *err) {
    const trace *t = w->t;
    uint32_t *own = ARENA_ARRAY(w->arena, uint32_t, (size_t)t->kernel.n + 1);
    if (!own) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++) own[k] = trace_own_op(t, k);
    return work_by_host(t, own, w->arena, &w->work, err);
}

status op_work_init(op_work *w, const selection *s, const params *p, arena *a, error *err) {
    const trace *t = s->t;
    *w = (op_work){.t = t, .select = s, .arena = a};
    TRY(trace_require(t, OP_WORK_TABLES, err));
    TRY(device_peaks_find(t, p, &w->peaks, err));
    TRY(lexicon_init(&w->lexicon, t, a, err));
    TRY(list_work(w, err));
    TRY(groups_init(&w->costs, a, sizeof(cost_memo), err));
    w->named = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!w->named) FAIL_MEMORY(err);
    w->on_device = t->kernel.n > 1;
    return OK;
}

static op_cost cost_from_texts(const trace *t, const cost_memo *m) {
    str name = trace_str(t, m->name), shapes = trace_str(t, m->shapes);
    str types = m->types ? trace_str(t, m->types) : STR_NONE;
    str inputs = m->inputs ? trace_str(t, m->inputs) : STR_NONE;
    if (!shapes.n || shapes.p[0] != '{') return op_cost_of(name, shapes, types, inputs);
    double flops = paddle_flops(name, shapes);
    op_cost c = {.flops = flops > 0 ? flops : NAN, .bytes = NAN};
    c.type = (uint8_t)lexicon_input_type(types);
    c.matrix = str_starts(name, STR("matmul"));
    return c;
}

enum { COSTS_UNKNOWN, COSTS_NOTHING, COSTS_BY_SHAPE, COSTS_BY_BATCH }; /* of a name */

/* Most operators are views and have no formula: one look at their name is enough. Names without
 * a namespace may be Paddle's. */
static uint8_t how_cost(op_work *w, uint32_t op_row) {
    uint32_t name = w->t->slice.name[w->t->op.slice[op_row]];
    if (!w->t->op.shapes[op_row] || name >= w->t->n_strings) return COSTS_NOTHING;
    if (!w->named[name]) {
        str text = trace_str(w->t, name);
        bool plain = str_find(text, STR("::"), 0) == SIZE_MAX;
        w->named[name] = op_cost_is_paged(text)       ? COSTS_BY_BATCH
                         : plain || op_cost_has(text) ? COSTS_BY_SHAPE
                                                      : COSTS_NOTHING;
    }
    return w->named[name];
}

/* The innermost range around the call that says how long the texts of its batch are. */
static op_cost cost_in_batch(const trace *t, uint32_t op_row) {
    enum { MOST_AROUND = 256 }; /* frames of Python may be around it, too */
    paged_batch batch;
    uint32_t n = 0;
    for (uint32_t i = t->slice.parent[t->op.slice[op_row]]; i && n < MOST_AROUND;
         i = t->slice.parent[i], n++)
        if (paged_batch_read(trace_slice_name(t, i), &batch))
            return op_cost_paged(&batch, trace_str(t, t->op.shapes[op_row]),
                                 trace_str(t, t->op.types[op_row]));
    return (op_cost){.flops = NAN, .bytes = NAN};
}

/* What the producer counted, where no formula is known: a program that XLA compiled says of
 * each of its operations what it computes and moves. */
static void take_given(const trace *t, uint32_t op_row, op_cost *out) {
    static const str products[] = {STR("dot_general"), STR("conv_general_dilated"),
                                   STR("MatMul"), STR("BatchMatMulV2"), STR("Conv2D")};
    framework made = format_framework(t->format);
    str name = trace_str(t, t->slice.name[t->op.slice[op_row]]);
    out->flops = t->op.flops[op_row];
    if (made != FRAMEWORK_JAX && made != FRAMEWORK_TENSORFLOW) return;
    if (isnan(out->bytes) && t->op.bytes[op_row] > 0) out->bytes = (double)t->op.bytes[op_row];
    out->type = (uint8_t)lexicon_input_type(trace_str(t, t->op.types[op_row]));
    for (size_t i = 0; i < N_OF(products); i++) out->matrix |= str_eq(name, products[i]);
}

status op_work_cost(op_work *w, uint32_t op_row, op_cost *out, error *err) {
    const trace *t = w->t;
    double given = op_row ? t->op.flops[op_row] : NAN;
    *out = (op_cost){.flops = given, .bytes = NAN};
    uint8_t how = op_row ? how_cost(w, op_row) : (uint8_t)COSTS_NOTHING;
    if (how == COSTS_BY_BATCH) *out = cost_in_batch(t, op_row);
    if (how == COSTS_BY_BATCH && isnan(out->flops)) out->flops = given;
    if (how != COSTS_BY_SHAPE) return OK;
    cost_memo key = {t->slice.name[t->op.slice[op_row]],
                     t->op.shapes[op_row],
                     t->op.types[op_row],
                     t->op.inputs[op_row],
                     {.flops = NAN}};
    bool is_new;
    uint64_t hash =
        hash_pair(hash_pair(key.name, key.shapes), hash_pair(key.types, key.inputs));
    uint32_t at = groups_at(&w->costs, hash, same_memo, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    cost_memo *m = GROUP_ROW(&w->costs, cost_memo, at);
    if (is_new) {
        *m = key;
        m->cost = cost_from_texts(t, m);
    }
    *out = m->cost;
    if (isnan(out->flops)) take_given(t, op_row, out);
    return OK;
}

/* ---- the kernels of a call ---- */

typedef struct {
    size_t from, to; /* of w->work.pairs */
} kernel_range;

/* The first slice of the track that begins when this one has ended. */
static uint32_t find_end(const trace *t, uint32_t slice) {
    uint32_t end = trace_lower_bound(t, trace_track_of(t, slice), slice_end(t, slice));
    return end > slice ? end : slice + 1;
}

static size_t find_work(const work_list *w, uint32_t slice) {
    return SEARCH_FIRST(i, 0, w->n, w->pairs[i].key < slice);
}

static kernel_range range_of(const op_work *w, uint32_t slice, uint32_t end) {
    return (kernel_range){find_work(&w->work, slice), find_work(&w->work, end)};
}

/* Work in the device's memory: copies from and to the host have another rate. */
static bool is_kernel(const trace *t, uint32_t k) {
    return t->slice.kind[t->kernel.slice[k]] == KIND_KERNEL;
}

static bool is_inside(const trace *t, uint32_t k) {
    uint32_t slice = t->kernel.slice[k];
    uint8_t kind = t->slice.kind[slice];
    if (kind == KIND_KERNEL || kind == KIND_MEMSET) return true;
    return kind == KIND_MEMCPY &&
           str_find(trace_slice_name(t, slice), STR("DtoD"), 0) != SIZE_MAX;
}

static bool is_matrix_work(lexicon_entry e) {
    return e.class == CLASS_GEMM || e.class == CLASS_CONVOLUTION ||
           e.class == CLASS_ATTENTION || e.class == CLASS_MOE;
}

/* The work of a range that no claim owns yet; `owned` may be NULL: all. Kernels, and only where
 * there are none memsets and copies: a product clears its workspace first, which is not its
 * rate. */
typedef struct {
    int64_t ns;
    uint32_t longest;
    bool sets; /* there are no kernels */
} range_work;

static range_work sum_range(const op_work *w, kernel_range r, const uint32_t *owned) {
    range_work kernels = {0}, sets = {.sets = true};
    for (size_t i = r.from; i < r.to; i++) {
        uint32_t k = w->work.pairs[i].row;
        if ((owned && owned[k]) || !is_inside(w->t, k)) continue;
        range_work *to = is_kernel(w->t, k) ? &kernels : &sets;
        int64_t ns = w->t->slice.dur[w->t->kernel.slice[k]];
        to->ns = add_i64(to->ns, ns);
        if (!to->longest || ns > w->t->slice.dur[w->t->kernel.slice[to->longest]])
            to->longest = k;
    }
    return kernels.longest ? kernels : sets;
}

/* ---- which peak ---- */

/* The type a product computes in and the unit that does it, by its longest kernel. */
static void find_unit(op_work *w, uint32_t longest, work_done *d) {
    op_cost *c = &d->cost;
    d->on_matrix = c->matrix && lexicon_is_narrow(c->type);
    if (!c->matrix || !longest) return;
    lexicon_entry e = lexicon_kernel_row(&w->lexicon, longest);
    if (!is_matrix_work(e)) return;
    if (!c->type) c->type = e.type;
    if (e.matrix == MATRIX_NO) d->on_matrix = false;
    if (e.matrix != MATRIX_YES) return;
    d->on_matrix = true;
    bool rounds = e.type == DTYPE_TF32 || !(device_peak(&w->peaks, DTYPE_FP32, true) > 0);
    if (c->type == DTYPE_FP32 && rounds) c->type = DTYPE_TF32;
}

/* A product of float32 of which it is not known how it is computed has no peak. */
static double peak_of(op_work *w, uint32_t longest, const work_done *d) {
    const op_cost *c = &d->cost;
    if (c->matrix && !d->on_matrix && longest) {
        lexicon_entry e = lexicon_kernel_row(&w->lexicon, longest);
        if (e.matrix != MATRIX_NO) return 0;
    }
    return device_peak(&w->peaks, c->type, d->on_matrix);
}

static void set_least_times(op_work *w, uint32_t longest, work_done *d) {
    find_unit(w, longest, d);
    double peak = peak_of(w, longest, d), rate = w->peaks.bytes_per_s;
    d->compute_ns = peak > 0 ? d->cost.flops / peak * 1e9 : NAN;
    d->memory_ns = rate > 0 ? d->cost.bytes / rate * 1e9 : NAN;
}

status op_work_call(op_work *w, uint32_t op_row, work_done *out, error *err) {
    *out = (work_done){.compute_ns = NAN, .memory_ns = NAN};
    TRY(op_work_cost(w, op_row, &out->cost, err));
    if (!op_row || !op_cost_known(&out->cost)) return OK;
    uint32_t slice = w->t->op.slice[op_row];
    range_work r = sum_range(w, range_of(w, slice, find_end(w->t, slice)), NULL);
    out->ns = r.longest ? r.ns : w->on_device ? 0 : w->t->slice.dur[slice];
    set_least_times(w, r.longest, out);
    return OK;
}

/* ---- claims ---- */

static status add_claim(op_work *w, op_claims *c, const op_claim *one, error *err) {
    if (c->n == c->cap) {
        uint32_t cap = c->cap ? c->cap * 2 : 256;
        op_claim *v = arena_grow(w->arena, c->v, c->cap * sizeof *v, cap * sizeof *v);
        if (!v) FAIL_MEMORY(err);
        c->v = v;
        c->cap = cap;
    }
    c->v[c->n++] = *one;
    return OK;
}

/* Do the claims made inside [.., end) explain half of these figures? The last ones made are the
 * nearest. */
static bool is_explained(const op_work *w, const op_claims *c, uint32_t end,
                         const op_cost *cost) {
    double flops = 0, bytes = 0;
    for (uint32_t i = c->n; COUNT_DOWN(i);) {
        if (w->t->op.slice[c->v[i].op_row] >= end) break;
        if (c->v[i].done.cost.flops > 0) flops += c->v[i].done.cost.flops;
        if (c->v[i].done.cost.bytes > 0) bytes += c->v[i].done.cost.bytes;
    }
    return cost->flops > 0 ? flops >= cost->flops / 2 : bytes > 0 && bytes >= cost->bytes / 2;
}

bool op_work_is_main(op_work *w, const op_claim *c, uint32_t kernel) {
    if (!is_kernel(w->t, kernel)) return false;
    if (!c->done.cost.matrix) return true;
    lexicon_entry e = lexicon_kernel_row(&w->lexicon, kernel);
    return is_matrix_work(e) && (e.matrix != MATRIX_NO || !c->done.on_matrix);
}

/* Marks what the claim owns and adds up the kernels that do its work. */
static void own_range(op_work *w, op_claims *c, kernel_range r, bool sets) {
    op_claim *claim = &c->v[c->n - 1];
    for (size_t i = r.from; i < r.to; i++) {
        uint32_t k = w->work.pairs[i].row;
        if (c->of_kernel[k] || !is_inside(w->t, k)) continue;
        c->of_kernel[k] = c->n;
        int64_t ns = w->t->slice.dur[w->t->kernel.slice[k]];
        if (sets || op_work_is_main(w, claim, k)) claim->main_ns = add_i64(claim->main_ns, ns);
    }
}

static status claim_call(op_work *w, uint32_t op_row, op_claims *c, error *err) {
    const trace *t = w->t;
    uint32_t slice = t->op.slice[op_row];
    op_claim one = {.op_row = op_row};
    TRY(op_work_cost(w, op_row, &one.done.cost, err));
    if (!op_cost_known(&one.done.cost)) return OK;
    uint32_t end = find_end(t, slice);
    kernel_range r = range_of(w, slice, end);
    if ((w->on_device && r.from == r.to) || is_explained(w, c, end, &one.done.cost)) return OK;
    range_work left = sum_range(w, r, c->of_kernel);
    if (w->on_device && !left.longest) return OK;
    one.done.ns = w->on_device ? left.ns : t->slice.dur[slice];
    set_least_times(w, left.longest, &one.done);
    TRY(add_claim(w, c, &one, err));
    own_range(w, c, r, left.sets);
    return OK;
}

static void turn_around(op_claims *c) {
    for (uint32_t i = 0; i < c->n / 2; i++) {
        op_claim last = c->v[c->n - 1 - i];
        c->v[c->n - 1 - i] = c->v[i];
        c->v[i] = last;
    }
}

status op_work_claim(op_work *w, op_claims *out, error *err) {
    const trace *t = w->t;
    uint32_t n = t->kernel.n ? t->kernel.n : 1;
    *out = (op_claims){.of_kernel = ARENA_ARRAY(w->arena, uint32_t, n)};
    if (!out->of_kernel) FAIL_MEMORY(err);
    for (uint32_t row = t->op.n; row-- > 1;) {
        uint32_t slice = t->op.slice[row];
        if (t->slice.kind[slice] != KIND_OP || !t->op.shapes[row] ||
            !select_counts(w->select, slice))
            continue;
        TRY(claim_call(w, row, out, err));
    }
    turn_around(out);
    for (uint32_t k = 1; k < n; k++)
        if (out->of_kernel[k]) out->of_kernel[k] = out->n - out->of_kernel[k] + 1;
    return OK;
}

/* ---- sums ---- */

void work_sum_add(work_sum *s, const work_done *d, double part, int64_t ns) {
    bool flops = !isnan(d->cost.flops), bytes = !isnan(d->cost.bytes);
    bool compute = !isnan(d->compute_ns), memory = !isnan(d->memory_ns);
    if (flops) {
        s->has_flops = true;
        s->flops += d->cost.flops * part;
        s->flops_ns = add_i64(s->flops_ns, ns);
    }
    if (bytes) {
        s->has_bytes = true;
        s->bytes += d->cost.bytes * part;
        s->bytes_ns = add_i64(s->bytes_ns, ns);
    }
    if (flops && bytes) {
        s->has_both = true;
        s->both_flops += d->cost.flops * part;
        s->both_bytes += d->cost.bytes * part;
    }
    if (compute) {
        s->compute_ns += d->compute_ns * part;
        s->compute_of_ns = add_i64(s->compute_of_ns, ns);
    }
    if (memory) {
        s->memory_ns += d->memory_ns * part;
        s->memory_of_ns = add_i64(s->memory_of_ns, ns);
    }
    if (compute && memory) {
        s->has_bound = true;
        s->bound_compute += d->compute_ns * part;
        s->bound_memory += d->memory_ns * part;
    }
}

int64_t work_bytes(const work_sum *s) {
    return round_i64(s->bytes);
}

static double rate_of(bool known, double amount, int64_t ns) {
    return known && ns > 0 ? amount / ((double)ns * 1e-9) : NAN;
}

double work_flops_per_s(const work_sum *s) {
    return rate_of(s->has_flops && s->flops > 0, s->flops, s->flops_ns); /* a copy has none */
}

double work_bytes_per_s(const work_sum *s) {
    return rate_of(s->has_bytes, s->bytes, s->bytes_ns);
}

double work_intensity(const work_sum *s) {
    return s->has_both && s->both_bytes > 0 ? s->both_flops / s->both_bytes : NAN;
}

double work_peak_share(const work_sum *s) {
    return s->compute_of_ns > 0 ? s->compute_ns / (double)s->compute_of_ns : NAN;
}

double work_bandwidth_share(const work_sum *s) {
    return s->memory_of_ns > 0 ? s->memory_ns / (double)s->memory_of_ns : NAN;
}

str work_bound(const work_sum *s) {
    if (!s->has_bound || (s->bound_compute <= 0 && s->bound_memory <= 0)) return STR_NONE;
    return s->bound_compute > s->bound_memory ? STR("compute") : STR("memory");
}
