/* advice_device.c: rules about kernels: too small for the device, or slower than they need be.
 *
 * Shares are of the time of all kernels that are not communication, summed: a kernel that could
 * be faster matters as much as it takes. What each rule looks at, its threshold and when it
 * stays silent are in advice_rules.def. */
#include "analyse/advise/advice.h"
#include "analyse/kind_names.h"
#include "analyse/lexicon.h"
#include "analyse/operators/matmul_shapes.h"

/* Share of the kernel time; 0 when there is none. */
static double kernel_share(const advice_facts *f, int64_t ns) {
    return f->kernel.ns > 0 ? (double)ns / (double)f->kernel.ns : 0;
}

static void add_kernel_share(const advice_facts *f, advice *out, int64_t ns) {
    verdict_add(&out->words, arg_share("kernel_share", kernel_share(f, ns)));
}

/* Is the device work a kernel, not a copy? */
static bool is_kernel(const trace *t, uint32_t k) {
    return t->slice.kind[t->kernel.slice[k]] == KIND_KERNEL;
}

static advice_change faster(uint16_t mark, double factor) {
    return (advice_change){.how = REPLAY_WORK, .mark = mark, .factor = factor};
}

/* The kernels of this name, which are marked. */
static tally kernels_named(const advice_facts *f, uint32_t name) {
    const trace *t = f->t;
    tally found = {0};
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (t->slice.name[slice] != name || !is_kernel(t, k)) continue;
        tally_add(t, &found, slice);
        f->work_marks[k] |= WORK_SMALL_GRID;
    }
    return found;
}

/* The name of the kernels that lose the most time by having fewer blocks than the device has
 * SMs. */
static uint32_t smallest_grid(const advice_facts *f) {
    uint32_t worst = 0;
    for (uint32_t i = 1; i < f->t->n_strings; i++)
        if (f->name_lost[i] > f->name_lost[worst]) worst = i;
    return worst;
}

#define FREE_UNITS 0.2 /* of the SMs: fewer are the end of a grid, and not a loss */

/* Does a kernel matter, and is there something to gain? */
static bool is_too_small(const advice_facts *f, uint32_t name, double limit) {
    int64_t ns = f->name_ns[name];
    return ns && kernel_share(f, ns) >= limit &&
           f->name_lost[name] >= FREE_UNITS * (double)ns &&
           kernel_share(f, advice_ns(f->name_lost[name])) >= limit / 2;
}

bool advice_small_grid(const advice_facts *f, double limit, advice *out) {
    uint32_t name = smallest_grid(f);
    int64_t ns = f->name_ns[name];
    if (!is_too_small(f, name, limit)) return false;
    advice_cost(f, out, advice_per_step(f, advice_ns(f->name_lost[name])));
    tally named = kernels_named(f, name);
    advice_point_to(f, out, &named);
    out->change = faster(WORK_SMALL_GRID, 1 - f->name_lost[name] / (double)ns);
    add_kernel_share(f, out, ns);
    verdict_add(&out->words, arg_text("kernel", trace_str(f->t, name)));
    verdict_add(&out->words, arg_text("unit", device_unit(f->t)));
    verdict_add(&out->words, arg_share("blocks", 1 - f->name_lost[name] / (double)ns));
    return true;
}

bool advice_sm_efficiency_low(const advice_facts *f, double limit, advice *out) {
    const device_metrics *worst = NULL;
    double filled = 1;
    if (is_too_small(f, smallest_grid(f), advice_limit.small_grid)) return false;
    for (uint32_t i = 0; i < f->devices.n; i++) {
        const device_metrics *d = &f->devices.v[i];
        double ratio = f->fill[i].ns > 0 ? f->fill[i].used / f->fill[i].ns : 1;
        if (ratio < filled) {
            filled = ratio;
            worst = d;
        }
    }
    if (!worst || !(filled < limit)) return false;
    advice_cost(f, out, advice_ns((double)f->part_ns[ROLE_KERNEL] * (1 - filled)));
    out->change = faster(WORK_COMPUTES, filled);
    verdict_add(&out->words, arg_share("filled", filled));
    verdict_add(&out->words, arg_id("device", worst->device));
    verdict_add(&out->words, arg_text("unit", device_unit(f->t)));
    return true;
}

bool advice_occupancy_low(const advice_facts *f, double limit, advice *out) {
    int64_t ns = f->low_occupancy.ns;
    if (!ns || kernel_share(f, ns) < limit) return false;
    advice_cost(f, out, advice_per_step(f, advice_ns(f->low_occupancy_lost)));
    advice_point_to(f, out, &f->low_occupancy);
    out->change = faster(WORK_LOW_OCCUPANCY, 1 - f->low_occupancy_lost / (double)ns);
    add_kernel_share(f, out, ns);
    verdict_add(&out->words, arg_text("kernel", out->name));
    advice_say_fusing(f, out);
    return true;
}

/* What of the piece no other rule tells of: an event of this one. */
static int64_t show_lost(const advice_facts *f, const idle_piece *p, advice *out) {
    int64_t lost = sub_i64(idle_piece_ns(p), advice_taken_ns(f, p->range));
    event_list_add_gap(&out->events, f->t, p, lost);
    return max_i64(0, lost);
}

bool advice_small_kernels(const advice_facts *f, double limit, advice *out) {
    int64_t idle = 0;
    if (advice_replays(f)) return false; /* they are launched together already */
    if (f->small.n < 50 * (int64_t)f->steps.n || !f->steps.n ||
        (double)f->small.n < limit * (double)f->kernel.n)
        return false;
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_piece *p = &f->idle.v[i];
        if (!p->after || (p->cause != IDLE_HOST_LATE && !idle_piece_is_between(p))) continue;
        if (f->t->slice.dur[f->t->kernel.slice[p->after]] < SMALL_KERNEL_NS)
            idle = add_i64(idle, show_lost(f, p, out));
    }
    int64_t ns = advice_per_step(f, idle);
    if (advice_share(f, ns) < 0.05) return false;
    advice_cost(f, out, ns);
    out->bounded = true;
    out->change.how = REPLAY_GRAPH;
    verdict_add(&out->words, arg_int("count", mean_i64(f->kernel.n, f->steps.n)));
    verdict_add(&out->words,
                arg_share("small_share", (double)f->small.n / (double)f->kernel.n));
    verdict_add(&out->words, arg_time("mean", mean_i64(f->kernel.ns, f->kernel.n)));
    advice_say_fusing(f, out);
    return true;
}

/* ---- Tensor Cores ------------------------------------------------------------------------ */

/* The operator that takes most of their time; that of the longest where none launched them. */
static str main_operator(const advice_facts *f, const tally *calls) {
    uint32_t most = 0;
    for (uint32_t i = 1; i < f->t->n_strings; i++)
        if (calls->name_ns[i] > calls->name_ns[most]) most = i;
    return most ? trace_str(f->t, most) : trace_slice_name(f->t, calls->longest);
}

/* `part` of the time of these calls could be saved. */
static bool calls_are_slow(const advice_facts *f, const tally *calls, double limit, double part,
                           advice *out) {
    if (!calls->n || kernel_share(f, calls->ns) < limit) return false;
    advice_cost(f, out, advice_per_step(f, advice_ns((double)calls->ns * part)));
    advice_point_to(f, out, calls);
    out->name = main_operator(f, calls);
    add_kernel_share(f, out, calls->ns);
    verdict_add(&out->words, arg_text("op", out->name));
    verdict_add(&out->words, arg_text("matrix", device_matrix_unit(f->t)));
    verdict_add(&out->words, arg_text("module", device_module(f->t)));
    return true;
}

bool advice_tensor_cores_unused(const advice_facts *f, double limit, advice *out) {
    /* Half of what the makers promise: 8 times on Volta and Turing, 16 times and more since. */
    int64_t speedup = f->major >= 8 ? 8 : 4;
    double left = 1 / (double)speedup;
    if (f->major < 7 || !calls_are_slow(f, &f->tensor_unused, limit, 1 - left, out))
        return false;
    out->change = faster(WORK_TENSOR_UNUSED, left);
    verdict_add(&out->words, arg_int("speedup", speedup));
    /* Volta and Turing know float16 alone; bfloat16 and TF32 came with 8.0. */
    if (f->major == 7) verdict_add(&out->words, arg_int("half_only", 1));
    return true;
}

bool advice_float32_matmul(const advice_facts *f, double limit, advice *out) {
    out->change = faster(WORK_TENSOR_FLOAT32, 0.5);
    return f->major >= 8 && calls_are_slow(f, &f->tensor_float32, limit, 0.5, out);
}

/* Time lost to odd dimensions in an operator, over all steps; 0 when there is none. */
static double lost_to_odd(const advice_facts *f, const selection *s, uint32_t op,
                          matmul_odd *odd) {
    if (!matmul_find_odd(s, op, f->arena, odd) || odd->slowdown < 1.5) return 0;
    return (double)f->op_ns[op] * odd->time_share * (1 - 1 / odd->slowdown);
}

/* Have these shapes a dimension that is not a multiple of 8? */
static bool is_odd(const trace *t, uint32_t shapes) {
    matmul_size size;
    return matmul_read(trace_str(t, shapes), &size) && matmul_odd_dimension(&size);
}

/* The device work of calls of this operator with an odd dimension. Calls of one shape are many:
 * a text is read once (1 = even, 2 = odd). Empty when out of memory. */
static tally odd_calls(const advice_facts *f, uint32_t op) {
    const trace *t = f->t;
    tally found = {0};
    uint8_t *known = ARENA_ARRAY(f->arena, uint8_t, (size_t)t->n_strings + 1);
    for (uint32_t k = 1; known && k < t->kernel.n; k++) {
        uint32_t call = t->kernel.op[k], row = call ? trace_op_of(t, call) : 0;
        if (!row || t->slice.name[call] != op || !is_kernel(t, k)) continue;
        uint32_t shapes = t->op.shapes[row];
        if (shapes >= t->n_strings) continue;
        if (!known[shapes]) known[shapes] = is_odd(t, shapes) ? 2 : 1;
        if (known[shapes] != 2) continue;
        tally_add(t, &found, t->kernel.slice[k]);
        f->work_marks[k] |= WORK_ODD;
    }
    return found;
}

bool advice_odd_dimension(const advice_facts *f, double limit, advice *out) {
    selection s;
    matmul_odd odd = {0}, worst = {0};
    double most = 0;
    uint32_t op = 0;
    select_init(&s, f->t, f->params);
    for (uint32_t i = 1; i < f->t->n_strings; i++) {
        /* of those that pass there are at most 1 / limit */
        if (kernel_share(f, f->op_ns[i]) < limit ||
            !lexicon_means(trace_str(f->t, i), MEANS_MATRIX_PRODUCT))
            continue;
        double lost = lost_to_odd(f, &s, i, &odd);
        if (kernel_share(f, advice_ns((double)f->op_ns[i] * odd.time_share)) < limit ||
            lost <= most)
            continue;
        most = lost;
        worst = odd;
        op = i;
    }
    if (!op) return false;
    advice_cost(f, out, advice_per_step(f, advice_ns(most)));
    tally odd_work = odd_calls(f, op);
    advice_point_to(f, out, &odd_work);
    out->change = faster(WORK_ODD, 1 / worst.slowdown);
    out->name = trace_str(f->t, op);
    add_kernel_share(f, out, advice_ns((double)f->op_ns[op] * worst.time_share));
    verdict_add(&out->words, arg_text("op", out->name));
    verdict_add(&out->words, arg_int("dimension", worst.dimension));
    verdict_add(&out->words, arg_int("padded", add_i64(worst.dimension, 63) / 64 * 64));
    verdict_add(&out->words, arg_real("slowdown", worst.slowdown));
    return true;
}

bool advice_layout_conversion(const advice_facts *f, double limit, advice *out) {
    if (!f->layout.n || kernel_share(f, f->layout.ns) < limit) return false;
    advice_cost(f, out, advice_per_step(f, f->layout.ns));
    out->change = faster(WORK_LAYOUT, 0);
    advice_point_to(f, out, &f->layout);
    add_kernel_share(f, out, f->layout.ns);
    verdict_add(&out->words, arg_int("count", mean_i64(f->layout.n, f->steps.n)));
    return true;
}
