/* advice_cpu.c: programs that compute on the CPU: facts and rules.
 *
 * A trace without device work is one of such a program if its operators were recorded, nothing
 * was launched, and no operator is one of a GPU; where a GPU is described, some operator must
 * be one of the CPU alone, since the program may use the GPU and its half of the recording may
 * be missing. Rules about devices are not for such a program, and lack nothing.
 *
 * Threads inside an operator (OpenMP) leave no event. What the products reach is compared with
 * nothing: the CPU is not known. It is reported, so that the user can compare. */
#include "analyse/advise/advice.h"
#include "analyse/cost/op_cost.h"
#include "analyse/lexicon.h"
#include "analyse/operators/tensor_core.h"
#include "analyse/steps/lost_work.h"
#include "store/traits.h"

/* ---- facts ------------------------------------------------------------------------------- */

bool advice_is_eager(const advice_facts *f) {
    return f->dialect == FOR_PYTORCH || f->dialect == FOR_PADDLE;
}

/* An operator that takes less hardly matters compared with the cost of calling it. */
#define SMALL_OPERATOR_NS 20000

typedef struct {
    advice_facts *f;
    name_meanings means;
    /* of the thread that is looked at */
    int64_t rated_until;
    int64_t own_ns; /* in operators that are in no other one */
    uint32_t own;   /* the last of these, 0 = none, and how many are inside it */
    int64_t inside;
    bool autograd;
    /* of all */
    intervals at;  /* operators of threads without autograd */
    bool cpu, gpu; /* operators of one of them alone */
    int64_t float32_ns;
} cpu_scan;

/* Is it in an operator that means any of these? */
static bool is_inside(cpu_scan *s, uint32_t slice, uint64_t any) {
    const trace *t = s->f->t;
    for (int up = 0; up < 64 && (slice = t->slice.parent[slice]) != 0; up++)
        if (t->slice.kind[slice] == KIND_OP && name_meanings_of(&s->means, slice) & any)
            return true;
    return false;
}

static bool is_in_operator(const trace *t, uint32_t slice) {
    for (int up = 0; up < 64 && (slice = t->slice.parent[slice]) != 0; up++)
        if (t->slice.kind[slice] == KIND_OP) return true;
    return false;
}

/* The rate of the outermost product whose shapes tell its operations. */
static void rate(cpu_scan *s, uint32_t slice, uint32_t row) {
    const trace *t = s->f->t;
    if (!row || t->slice.start[slice] < s->rated_until) return;
    op_cost cost = op_cost_of(trace_slice_name(t, slice), trace_str(t, t->op.shapes[row]),
                              trace_str(t, t->op.types[row]), trace_str(t, t->op.inputs[row]));
    if (!(cost.flops > 0)) return;
    s->rated_until = slice_end(t, slice);
    s->f->cpu.rated_flops += cost.flops;
    s->f->cpu.rated_ns = add_i64(s->f->cpu.rated_ns, t->slice.dur[slice]);
    if (advice_is_float32(trace_str(t, t->op.types[row])))
        s->float32_ns = add_i64(s->float32_ns, t->slice.dur[slice]);
}

/* Recording an operator takes about as long: 2.1 to 4.6 µs (the more, the busier the machine)
 * by the steps of a program of 5,000 operators with torch.profiler and without it. */
static int64_t recorded_ns(const trace *t) {
    return trace_has(t, TRAIT_TORCH_PROFILER) ? 2000 : 1000;
}

/* The last operator in no other one is over: is it small? */
static void end_own(cpu_scan *s) {
    cpu_work *c = &s->f->cpu;
    const trace *t = s->f->t;
    if (!s->own) return;
    int64_t ns = sub_i64(t->slice.dur[s->own], mul_i64(s->inside, recorded_ns(t)));
    s->own_ns = add_i64(s->own_ns, t->slice.dur[s->own]);
    s->own = 0;
    c->n_own++;
    if (ns >= SMALL_OPERATOR_NS) return;
    c->n_small++;
    c->small_ns = add_i64(c->small_ns, max_i64(0, ns));
}

static void count(cpu_scan *s, uint32_t slice) {
    s->f->cpu.n_ops++;
    if (is_in_operator(s->f->t, slice)) {
        s->inside++;
        return;
    }
    end_own(s);
    s->own = slice;
    s->inside = 0;
}

/* A copy that makes a tensor contiguous is about the layout of images inside a convolution;
 * elsewhere the program has turned its axes. */
static bool is_layout(const trace *t, uint32_t slice) {
    static const char *const own[] = {"reorder", "mkldnn"}, *const around[] = {"conv"};
    if (str_has_any_nocase(trace_slice_name(t, slice), own, N_OF(own))) return true;
    for (int up = 0; up < 64 && (slice = t->slice.parent[slice]) != 0; up++)
        if (t->slice.kind[slice] == KIND_OP &&
            str_has_any_nocase(trace_slice_name(t, slice), around, N_OF(around)))
            return true;
    return false;
}

static void look_at(cpu_scan *s, uint32_t slice) {
    cpu_work *c = &s->f->cpu;
    const trace *t = s->f->t;
    uint64_t means = name_meanings_of(&s->means, slice);
    s->cpu |= (means & MEANING(RUNS_ON_CPU)) != 0;
    s->gpu |= (means & MEANING(RUNS_ON_GPU)) != 0;
    s->autograd |= (means & MEANING(ENGINE)) != 0;
    if (advice_step_at(s->f, t->slice.start[slice]) == UINT32_MAX) return;
    count(s, slice);
    if (means & MEANING(MATRIX_OP)) {
        rate(s, slice, trace_op_of(t, slice));
        if (!is_inside(s, slice, MEANING(MATRIX_OP))) {
            tally_add(t, &c->product, slice);
            intervals_add(&c->product_at, t->slice.start[slice], slice_end(t, slice));
        }
    }
    if (means & MEANING(REORDERS) && !is_inside(s, slice, MEANING(REORDERS)) &&
        is_layout(t, slice)) {
        tally_add(t, &c->reorder, slice);
        intervals_add(&c->reorder_at, t->slice.start[slice], slice_end(t, slice));
    }
}

/* Threads that do much, and how much of their time two or more were in an operator. */
static void look_at_thread(cpu_scan *s, uint32_t track) {
    advice_facts *f = s->f;
    const trace *t = f->t;
    s->rated_until = INT64_MIN;
    s->own_ns = 0;
    s->autograd = false;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
        if (t->slice.kind[i] == KIND_OP) look_at(s, i);
    end_own(s);
    if (s->autograd || advice_share(f, advice_per_step(f, s->own_ns)) < 0.1) return;
    f->cpu.n_threads++;
    f->cpu.thread_ns = add_i64(f->cpu.thread_ns, s->own_ns);
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
        if (t->slice.kind[i] == KIND_OP && !is_in_operator(t, i) &&
            advice_step_at(f, t->slice.start[i]) != UINT32_MAX)
            intervals_add(&s->at, t->slice.start[i], slice_end(t, i));
}

/* The first device that is not the CPU; 0: none is described. */
static uint32_t described_gpu(const trace *t) {
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.type[i] != DEVICE_CPU) return i;
    return 0;
}

static status may_be_cpu(const advice_facts *f, bool *out, error *err) {
    lost_work w = {0};
    *out = !(f->has & (NEED_DEVICE | NEED_REQUESTS)) && f->steps.n &&
           f->t->kind_count[KIND_OP] > 0 && !f->coverage.without_ops &&
           !trace_has(f->t, TRAIT_PLAIN_EVENTS) && !trace_has(f->t, TRAIT_ONLY_COLLECTIVES);
    if (*out) TRY(lost_work_count(f->t, f->arena, &w, err));
    *out = *out && !w.launches;
    return OK;
}

static void keep_in_steps(const advice_facts *f, intervals *v) {
    intervals steps = step_moments(&f->steps, f->arena);
    intervals_merge(v);
    *v = intervals_and(v, &steps);
}

status advice_cpu_find(advice_facts *f, error *err) {
    const trace *t = f->t;
    cpu_scan s = {.f = f};
    bool may;
    TRY(may_be_cpu(f, &may, err));
    if (!may) return OK;
    TRY(trace_require(t, TRACE_TABLE(device) | TRACE_TABLE(track), err));
    TRY(name_meanings_init(&s.means, t, f->arena, err));
    f->cpu.product_at = f->cpu.reorder_at = s.at = intervals_in(f->arena);
    for (uint32_t i = 1; i < t->track.n; i++) look_at_thread(&s, i);
    intervals_merge(&s.at);
    f->cpu.gpu = described_gpu(t);
    if (s.gpu || (f->cpu.gpu && !s.cpu)) return OK;
    f->cpu.overlap_ns = max_i64(0, sub_i64(f->cpu.thread_ns, intervals_ns(&s.at)));
    keep_in_steps(f, &f->cpu.product_at);
    keep_in_steps(f, &f->cpu.reorder_at);
    if (s.at.failed || f->cpu.product_at.failed || f->cpu.reorder_at.failed) FAIL_MEMORY(err);
    f->cpu.float32 = s.float32_ns > f->cpu.rated_ns / 2;
    f->has |= NEED_CPU;
    return OK;
}

/* ---- rules ------------------------------------------------------------------------------- */

static void say_framework(const advice_facts *f, advice *out) {
    if (f->dialect == FOR_PYTORCH) verdict_add(&out->words, arg_int("pytorch", 1));
}

/* For a time whose reduction cannot be estimated. */
static void leave_open(advice *out) {
    out->saves = ABSENT_I64;
    out->severity = SEVERITY_WARNING;
    out->weighs = true;
}

bool advice_gpu_unused(const advice_facts *f, double limit, advice *out) {
    (void)limit;
    str name = trace_str(f->t, f->t->device.name[f->cpu.gpu]);
    if (!f->cpu.gpu) return false;
    if (name.n) verdict_add(&out->words, arg_text("gpu", name));
    say_framework(f, out);
    leave_open(out);
    return true;
}

static bool products_cost(const advice_facts *f, double limit) {
    return f->cpu.product.n &&
           advice_share(f, advice_per_step(f, intervals_ns(&f->cpu.product_at))) >= limit;
}

bool advice_cpu_operator(const advice_facts *f, double limit, advice *out) {
    host_operator most = advice_host_operator(f, advice_ns(limit * (double)f->step_ns));
    if (!most.name.n) return false;
    if (tensor_core_op(most.name) && products_cost(f, advice_limit.cpu_products)) return false;
    advice_cost(f, out, most.ns);
    verdict_add(&out->words, arg_text("operator", most.name));
    out->name = most.name;
    if (lexicon_means(most.name, MEANS_MAKES_RANDOM)) {
        verdict_add(&out->words, arg_int("random", 1));
        return true;
    }
    leave_open(out);
    return true;
}

bool advice_cpu_products(const advice_facts *f, double limit, advice *out) {
    const cpu_work *c = &f->cpu;
    if (!products_cost(f, limit)) return false;
    advice_cost(f, out, advice_per_step(f, intervals_ns(&c->product_at)));
    leave_open(out);
    advice_point_to(f, out, &c->product);
    verdict_add(&out->words, arg_text("operator", out->name));
    verdict_add(&out->words, arg_real("count", (double)c->product.n / (double)f->steps.n));
    if (c->rated_ns > c->product.ns / 2)
        verdict_add(&out->words, arg_real("rate", c->rated_flops / (double)c->rated_ns));
    if (c->float32 && !f->uses.n[USE_AUTOCAST]) verdict_add(&out->words, arg_int("float32", 1));
    say_framework(f, out);
    return true;
}

bool advice_cpu_reorders(const advice_facts *f, double limit, advice *out) {
    int64_t ns = advice_per_step(f, intervals_ns(&f->cpu.reorder_at));
    if (!f->cpu.reorder.n || advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    advice_point_to(f, out, &f->cpu.reorder);
    verdict_add(&out->words, arg_text("operator", out->name));
    verdict_add(&out->words, arg_real("count", (double)f->cpu.reorder.n / (double)f->steps.n));
    say_framework(f, out);
    return true;
}

#define FEW_OPERATORS 50
#define MUCH_OF_STEP 0.4

bool advice_cpu_small_operators(const advice_facts *f, double limit, advice *out) {
    const cpu_work *c = &f->cpu;
    int64_t n = f->steps.n, cost = recorded_ns(f->t);
    if (!advice_is_eager(f) || !n || c->n_own / n < FEW_OPERATORS || f->uses.n[USE_COMPILER])
        return false;
    int64_t ns = sub_i64(advice_per_step(f, f->between_ns), mul_i64(c->n_own / n, cost));
    int64_t bare = max_i64(f->step_ns / 4, sub_i64(f->step_ns, mul_i64(c->n_ops / n, cost)));
    int64_t small = advice_per_step(f, c->small_ns);
    ns = max_i64(0, ns);
    bool waits = (double)ns >= limit * (double)bare;
    if (!waits && (c->n_small / n < FEW_OPERATORS ||
                   (double)add_i64(ns, small) < MUCH_OF_STEP * (double)bare))
        return false;
    advice_cost(f, out, ns);
    verdict_add(&out->words, arg_int("count", c->n_own / n));
    if (waits)
        verdict_add(&out->words, arg_int("python", 1));
    else
        leave_open(out);
    if (c->n_small / n) {
        verdict_add(&out->words, arg_int("small", c->n_small / n));
        verdict_add(&out->words, arg_time("inside", small));
    }
    if (advice_can_compile(f)) verdict_add(&out->words, arg_int("compile", 1));
    if (f->dialect == FOR_PADDLE) verdict_add(&out->words, arg_int("paddle", 1));
    return true;
}

bool advice_threads_take_turns(const advice_facts *f, double limit, advice *out) {
    const cpu_work *c = &f->cpu;
    if (f->dialect != FOR_PYTORCH || (double)c->n_threads < limit ||
        (double)c->overlap_ns > 0.05 * (double)c->thread_ns)
        return false;
    advice_cost(f, out, advice_per_step(f, c->thread_ns));
    verdict_add(&out->words, arg_int("threads", c->n_threads));
    leave_open(out);
    return true;
}
