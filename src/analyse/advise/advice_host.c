/* advice_host.c: rules about the host: it is late with data or launches, it blocks, its steps
 * differ, it is being watched.
 *
 * What each rule looks at, its threshold and when it stays silent are in advice_rules.def. */
#include "analyse/advise/advice.h"
#include "analyse/kind_names.h"
#include "analyse/lexicon.h"

/* ---- data -------------------------------------------------------------------------------- */

/* Processes that load a batch in the time of the rest of the step. */
static int64_t workers_needed(const advice_facts *f) {
    int64_t load = advice_per_step(f, f->data.ns), rest = sub_i64(f->step_ns, load);
    if (rest <= 0) return 16;
    return min_i64(16, max_i64(2, (load + rest - 1) / rest));
}

static bool loader_is_slow(const advice_facts *f, double limit, advice *out) {
    int64_t ns = f->part_ns[ROLE_DATA_LOADER];
    if (advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    out->change.how = REPLAY_DATA;
    advice_point_to(f, out, &f->data);
    return true;
}

bool advice_data_loader_no_workers(const advice_facts *f, double limit, advice *out) {
    if (!f->single_loader.n || f->worker_loader.n || !loader_is_slow(f, limit, out))
        return false;
    verdict_add(&out->words, arg_int("workers", workers_needed(f)));
    return true;
}

bool advice_data_loader_slow(const advice_facts *f, double limit, advice *out) {
    if ((f->single_loader.n && !f->worker_loader.n) || advice_interval_is_long(f)) return false;
    return loader_is_slow(f, limit, out);
}

/* ---- a device that waits ----------------------------------------------------------------- */

#define LEAST_NAMED \
    0.005 /* share of the step that other rules have: less is not worth a word */

str advice_gap_name(const advice_facts *f, const idle_piece *p) {
    if (!p->after) {
        uint32_t step = trace_step_at(f->t, sub_i64(p->range.end, 1));
        return step && f->t->step.slice[step] ? trace_slice_name(f->t, f->t->step.slice[step])
                                              : STR_NONE;
    }
    uint32_t op = f->t->kernel.op[p->after];
    return trace_slice_name(f->t, op ? op : f->t->kernel.slice[p->after]);
}

/* What of a piece no other rule is about: not what pauses and the allocator take of a host that
 * is late, and not the device's own time from one piece of work to the next. */
static int64_t own_ns(const advice_facts *f, const idle_piece *p) {
    if (p->cause == IDLE_HOST_LATE)
        return max_i64(0, sub_i64(idle_piece_ns(p), advice_taken_ns(f, p->range)));
    return idle_piece_is_between(p) ? 0 : idle_piece_ns(p);
}

/* The sum over a cause. */
static int64_t sum_own_ns(const advice_facts *f, idle_cause why) {
    int64_t ns = 0;
    for (size_t i = 0; i < f->idle.n; i++)
        if (f->idle.v[i].cause == why) ns = add_i64(ns, own_ns(f, &f->idle.v[i]));
    return ns;
}

/* The words have all idle time of the cause, as every other answer does; the saving is the part
 * of it that the rule is about. */
static void cost_idle(const advice_facts *f, advice *out, idle_cause why,
                      int64_t own_per_step) {
    int64_t all = advice_per_step(f, f->idle.ns[why]);
    advice_cost(f, out, all);
    out->saves = own_per_step;
    if (advice_share(f, sub_i64(all, own_per_step)) >= LEAST_NAMED)
        verdict_add(&out->words, arg_time("others", sub_i64(all, own_per_step)));
}

/* Points to the longest piece of this cause. */
static void point_to_gap(const advice_facts *f, idle_cause why, advice *out) {
    const idle_piece *longest = NULL;
    int64_t most = 0;
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_piece *p = &f->idle.v[i];
        if (p->cause != why) continue;
        int64_t ns = own_ns(f, p);
        event_list_add_gap(&out->events, f->t, p, ns);
        if (longest && ns <= most) continue;
        longest = p;
        most = ns;
    }
    if (!longest) return;
    out->place = longest->range;
    out->name = advice_gap_name(f, longest);
    verdict_add(&out->words, arg_time("longest", most));
    if (out->name.n) verdict_add(&out->words, arg_text("next", out->name));
}

/* One operator has most of the time: to launch less would not help. */
static void say_operator(const host_operator *kept, advice *out) {
    verdict_add(&out->words, arg_text("operator", kept->name));
    verdict_add(&out->words, arg_time("inside", kept->ns));
    if (kept->on_cpu) verdict_add(&out->words, arg_int("on_cpu", 1));
}

bool advice_host_late(const advice_facts *f, double limit, advice *out) {
    int64_t late = sum_own_ns(f, IDLE_HOST_LATE), compiler = 0;
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_piece *p = &f->idle.v[i];
        if (p->cause == IDLE_HOST_LATE)
            compiler = add_i64(compiler,
                               intervals_ns_in(&f->compiler_at, p->range.start, p->range.end));
    }
    int64_t ns = advice_per_step(f, late);
    if (advice_share(f, ns) < limit) return false;
    cost_idle(f, out, IDLE_HOST_LATE, ns);
    out->bounded = true;
    if (!advice_replays(f)) out->change.how = REPLAY_GRAPH;
    point_to_gap(f, IDLE_HOST_LATE, out);
    if (compiler > late / 2) {
        verdict_add(&out->words, arg_int("compiles", 1));
        return true;
    }
    host_operator kept = advice_host_operator(f, ns / 2);
    if (kept.name.n) {
        say_operator(&kept, out);
        return true;
    }
    advice_say_fusing(f, out);
    if (advice_replays(f)) verdict_add(&out->words, arg_int("replays", 1));
    if (f->optimizer_at.n && !f->uses.n[USE_FUSED_OPTIMIZER]) /* it trains */
        verdict_add(&out->words, arg_int("optimizer", 1));
    return true;
}

bool advice_dependency_wait(const advice_facts *f, double limit, advice *out) {
    int64_t ns = advice_per_step(f, sum_own_ns(f, IDLE_DEPENDENCY));
    if (advice_share(f, ns) < limit) return false;
    cost_idle(f, out, IDLE_DEPENDENCY, ns);
    point_to_gap(f, IDLE_DEPENDENCY, out);
    if (device_is_cpu(f->t)) verdict_add(&out->words, arg_int("cpu", 1));
    return true;
}

/* Is the call in an operator that reads one value? It has only a few frames around it. Some
 * producers show calls in a separate process: there the time decides. */
static bool is_in_item(const advice_facts *f, uint32_t slice) {
    const trace *t = f->t;
    int64_t start = slice ? t->slice.start[slice] : 0, end = slice ? slice_end(t, slice) : 0;
    for (int up = 0; slice && up < 64; up++) {
        slice = t->slice.parent[slice];
        if (slice && t->slice.kind[slice] == KIND_OP)
            return lexicon_means(trace_slice_name(t, slice), MEANS_READS_VALUE);
    }
    return end > start && intervals_ns_in(&f->item_at, start, end) == end - start;
}

/* A copy the host waits for, outside of a read of one value. */
static bool is_copy(str name) {
    return lexicon_means(name, MEANS_COPY_CALL);
}

block_sort advice_block_sort(const advice_facts *f, uint32_t slice) {
    const trace *t = f->t;
    if (slice && t->slice.kind[slice] == KIND_SYNC) return BLOCK_VALUE;
    if (is_in_item(f, slice)) return BLOCK_ITEM;
    return slice && is_copy(trace_slice_name(t, slice)) ? BLOCK_COPY : BLOCK_OTHER;
}

/* What blocking calls of one sort cost; names the worst. */
static bool is_blocked(const advice_facts *f, block_sort which, double limit, advice *out) {
    int64_t sum = 0, n = 0;
    const idle_piece *worst = NULL;
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_piece *p = &f->idle.v[i];
        if (p->cause != IDLE_BLOCKED || advice_block_sort(f, p->slice) != which) continue;
        sum = add_i64(sum, idle_piece_ns(p));
        n++;
        event_list_add_slice(&out->events, f->t, p->slice, idle_piece_ns(p));
        if (!worst || idle_piece_ns(p) > idle_piece_ns(worst)) worst = p;
    }
    int64_t ns = advice_per_step(f, sum);
    if (!worst) return false;
    out->unsure = advice_share(f, ns) < limit;
    advice_cost(f, out, ns);
    out->change = (advice_change){.how = REPLAY_BLOCKING, .mark = (uint16_t)which};
    advice_point(f, out, worst->slice);
    verdict_add(&out->words, arg_text("call", out->name));
    verdict_add(&out->words, arg_real("count", (double)n / (double)f->steps.n));
    return true;
}

bool advice_blocking_sync(const advice_facts *f, double limit, advice *out) {
    if (!is_blocked(f, BLOCK_OTHER, limit, out)) return false;
    verdict_add(&out->words, arg_text("module", device_module(f->t)));
    return true;
}

bool advice_item_sync(const advice_facts *f, double limit, advice *out) {
    if (!is_blocked(f, BLOCK_ITEM, limit, out)) return false;
    verdict_add(&out->words, arg_real("reads", (double)f->item.n / (double)f->steps.n));
    return true;
}

bool advice_value_wait(const advice_facts *f, double limit, advice *out) {
    int64_t ns = advice_per_step(f, f->value_wait_ns);
    if (!f->value_wait.n || advice_share(f, ns) < limit) return false;
    advice lost = {.saves = ABSENT_I64};
    bool costs = is_blocked(f, BLOCK_VALUE, 0, &lost);
    advice_cost(f, out, ns);
    out->saves = costs ? lost.saves : ABSENT_I64;
    out->severity = SEVERITY_WARNING;
    advice_point_to(f, out, &f->value_wait);
    verdict_add(&out->words, arg_text("call", out->name));
    verdict_add(&out->words, arg_real("count", (double)f->value_wait.n / (double)f->steps.n));
    verdict_add(&out->words, arg_time("longest", f->t->slice.dur[f->value_wait.longest]));
    return true;
}

/* ---- the optimizer ----------------------------------------------------------------------- */

/* Time the device was idle while the host was in the optimizer, except for collectives. */
static int64_t idle_in_optimizer(const advice_facts *f) {
    int64_t sum = 0;
    size_t s = 0;
    for (size_t i = 0; i < f->idle.n; i++) {
        interval gap = f->idle.v[i].range;
        if (f->idle.v[i].cause == IDLE_COMMUNICATION) continue;
        while (s < f->stages.n && f->stages.v[s].range.end <= gap.start) s++;
        for (size_t k = s; k < f->stages.n && f->stages.v[k].range.start < gap.end; k++) {
            const stage_segment *v = &f->stages.v[k];
            if (v->stage != STAGE_OPTIMIZER) continue;
            sum = add_i64(sum, sub_i64(min_i64(gap.end, v->range.end),
                                       max_i64(gap.start, v->range.start)));
        }
    }
    return sum;
}

bool advice_optimizer_not_fused(const advice_facts *f, double limit, advice *out) {
    double kernels = f->steps.n ? (double)f->optimizer.n / (double)f->steps.n : 0;
    if (kernels < limit || f->optimizer_fused.n * 2 >= f->optimizer.n) return false;
    int64_t ns = advice_per_step(f, add_i64(f->optimizer.ns, idle_in_optimizer(f)) / 2);
    if (advice_share(f, ns) < 0.01) return false;
    advice_cost(f, out, ns);
    advice_point_to(f, out, &f->optimizer);
    verdict_add(&out->words, arg_real("count", kernels));
    if (f->zero_grad.n > f->optimizer.n / 2) {
        advice_point_to(f, out, &f->zero_grad);
        verdict_add(&out->words, arg_int("zero_grad", 1));
    }
    return true;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* The step, then the longest of the others: the first is alone, and not one of them. */
static void show_steps(const advice_facts *f, uint32_t first, advice *out) {
    for (uint32_t i = 0; i < f->steps.n; i++) {
        const step_span *s = &f->steps.v[i];
        uint32_t slice = s->row ? f->t->step.slice[s->row] : 0;
        int64_t over = sub_i64(step_span_ns(s), f->median_ns);
        if (over <= 0 || (i == 0) != (first == 0)) continue;
        event_list_add(
            &out->events,
            (advice_event){.range = {s->start, s->end}, .cost_ns = over, .slice = slice});
    }
}

static void point_to_step(const advice_facts *f, uint32_t step, advice *out) {
    const step_span *s = &f->steps.v[step];
    out->place = (interval){s->start, s->end};
    show_steps(f, step, out);
    verdict_add(&out->words, arg_id("step", s->number));
    verdict_add(&out->words, arg_time("duration", step_span_ns(s)));
    verdict_add(&out->words, arg_time("median", f->median_ns));
}

/* What the longest step has more of a part than the mean of the others but the first. */
static int64_t part_excess(const advice_facts *f, int part) {
    int64_t sum = 0;
    for (uint32_t i = 1; i < f->steps.n; i++)
        if (i != f->longest) sum = add_i64(sum, f->parts[i].ns[part]);
    return sub_i64(f->parts[f->longest].ns[part], mean_i64(sum, (int64_t)f->steps.n - 2));
}

static int varying_part(const advice_facts *f) {
    int most = 0;
    for (int r = 1; r < N_ROLES; r++)
        if (part_excess(f, r) > part_excess(f, most)) most = r;
    return most;
}

/* Is one twice the mean of the others, or half of it? */
static bool is_other_amount(int64_t one, int64_t all, uint32_t n) {
    int64_t mean = mean_i64(sub_i64(all, one), max_i64(1, (int64_t)n - 1));
    return one > mul_i64(mean, 2) || mul_i64(one, 2) < mean;
}

/* Steps that nothing marks were found from work that repeats: one in which the device has much
 * more or less to do is another part of the program, not a slow step. */
static bool is_other_part(const advice_facts *f, const step_span *s) {
    int64_t n = 0, ns = 0;
    if (!s->row || f->t->step.how[s->row] == STEP_MARKED) return false;
    for (uint32_t i = 0; i < f->steps.n; i++) {
        n = add_i64(n, f->steps.v[i].n_work);
        ns = add_i64(ns, f->steps.v[i].work_ns);
    }
    return is_other_amount(s->n_work, n, f->steps.n) ||
           is_other_amount(s->work_ns, ns, f->steps.n);
}

/* Copies to the host that only the longest step has. */
typedef struct {
    int64_t count, bytes;
} step_copies;

static step_copies copies_of_longest(const advice_facts *f) {
    const trace *t = f->t;
    step_copies longest = {0}, others = {0};
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k], launch = t->kernel.launch[k];
        if (t->slice.kind[slice] != KIND_MEMCPY || !launch ||
            copy_way_of(trace_slice_name(t, slice)) != COPY_TO_HOST)
            continue;
        uint32_t step = advice_step_at(f, t->slice.start[launch]);
        step_copies *to = step == f->longest ? &longest : &others;
        if (step == UINT32_MAX) continue;
        to->count++;
        to->bytes = add_i64(to->bytes, max_i64(0, t->kernel.bytes[k]));
    }
    int64_t rest = max_i64(1, (int64_t)f->steps.n - 1);
    return (step_copies){sub_i64(longest.count, others.count / rest),
                         sub_i64(longest.bytes, others.bytes / rest)};
}

enum { MANY_COPIES = 16, PAUSE_SEEN_NS = 500000 };
#define MANY_BYTES ((int64_t)16 << 20)

/* Many tensors that a step copies to the host and others do not are saved. */
static void say_checkpoint(const advice_facts *f, advice *out) {
    step_copies more = copies_of_longest(f);
    if (more.count < MANY_COPIES || more.bytes < MANY_BYTES) return;
    verdict_add(&out->words, arg_int("saved", more.count));
    verdict_add(&out->words, arg_bytes("saved_bytes", more.bytes));
}

/* Time of the collector of garbage in the longest step, by any thread. */
static int64_t collecting_ns(const advice_facts *f) {
    const trace *t = f->t;
    const step_span *s = &f->steps.v[f->longest];
    int64_t sum = 0;
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (t->slice.start[i] >= s->host_start && t->slice.start[i] < s->host_end &&
            t->slice.dur[i] > PAUSE_SEEN_NS && !kind_is_device(t->slice.kind[i]) &&
            (t->slice.kind[i] == KIND_GARBAGE ||
             lexicon_means(trace_slice_name(t, i), MEANS_COLLECTS_GARBAGE)))
            sum = add_i64(sum, t->slice.dur[i]);
    return sum;
}

/* How many steps lie between two that are much longer than the median; 0: not always as
 * many. */
static int64_t period_of_long(const advice_facts *f, double limit) {
    int64_t last = 0, period = 0, n = 0;
    for (uint32_t i = 1; i < f->steps.n; i++) {
        double over =
            (double)step_span_ns(&f->steps.v[i]) / (double)max_i64(1, f->median_ns) - 1;
        if (over < limit) continue;
        if (n++ && period && sub_i64(i, last) != period) return 0;
        if (n > 1) period = sub_i64(i, last);
        last = i;
    }
    return n > 1 ? period : 0;
}

/* Operators that a step calls, those inside of others left out. */
static int64_t count_operators(const advice_facts *f, const step_span *s) {
    const trace *t = f->t;
    int64_t n = 0;
    for (uint32_t i = 1; i < t->slice.n; i++)
        n += t->slice.kind[i] == KIND_OP && t->slice.kind[t->slice.parent[i]] != KIND_OP &&
             t->slice.start[i] >= s->host_start && t->slice.start[i] < s->host_end;
    return n;
}

/* On the CPU: does the long step do what the others do, and nothing else that is known? Then
 * the machine was busy with other work. */
static bool is_busy_machine(const advice_facts *f, int part) {
    int64_t others = 0;
    if (!f->knows_lines) return false;
    if (part != ROLE_CPU_EXEC) return true; /* a line is named by costly_line */
    for (uint32_t i = 1; i < f->steps.n; i++)
        if (i != f->longest) others = add_i64(others, count_operators(f, &f->steps.v[i]));
    others = mean_i64(others, max_i64(1, (int64_t)f->steps.n - 2));
    return mul_i64(count_operators(f, &f->steps.v[f->longest]), 10) <= mul_i64(others, 11);
}

/* Are they another sort of step, with more to do on the device: one that updates the weights
 * after several that add up gradients, one that evaluates? They come in turn, or are too many
 * to be odd. */
static bool is_other_sort(const advice_facts *f, double limit, int part) {
    int64_t longer = 0, work = 0, n = f->steps.n;
    const step_span *longest = &f->steps.v[f->longest];
    for (uint32_t i = 0; i < f->steps.n; i++) {
        const step_span *s = &f->steps.v[i];
        longer += (double)step_span_ns(s) > (1 + limit) * (double)f->median_ns;
        work = add_i64(work, s->n_work);
    }
    bool has_more = (double)longest->n_work > 1.05 * (double)work / (double)n;
    bool in_turn = period_of_long(f, limit) > 1 || mul_i64(longer, 4) > n;
    return part == ROLE_KERNEL && in_turn && has_more;
}

/* Among fewer steps the odd one cannot be known. */
#define ENOUGH_STEPS 5

bool advice_step_variance(const advice_facts *f, double limit, advice *out) {
    static const char *const words[N_ROLES] = {
        [ROLE_KERNEL] = "kernels",     [ROLE_MEMCPY] = "copies",
        [ROLE_MEMSET] = "copies",      [ROLE_COMMUNICATION] = "exchange",
        [ROLE_RUNTIME] = "calls",      [ROLE_DATA_LOADER] = "loading",
        [ROLE_CPU_EXEC] = "operators", [ROLE_OTHER] = "nothing"};
    const step_span *s = &f->steps.v[f->longest];
    double over = (double)step_span_ns(s) / (double)max_i64(1, f->median_ns) - 1;
    if (f->differ || f->steps.n < ENOUGH_STEPS || over < limit || f->later_ns <= f->median_ns ||
        is_other_part(f, s))
        return false;
    int part = varying_part(f);
    if (is_busy_machine(f, part) || is_other_sort(f, limit, part)) return false;
    /* A slow loader is the cause, and has its own rule. */
    if (part == ROLE_DATA_LOADER &&
        advice_share(f, f->part_ns[part]) >= advice_limit.data_loader_slow)
        return false;
    /* For the average of all steps; the first is none of those that are too long. */
    int64_t later = mul_i64(sub_i64(f->later_ns, f->median_ns), (int64_t)f->steps.n - 1);
    int64_t most = max_i64(0, sub_i64(f->step_ns, f->median_ns));
    advice_cost(f, out, min_i64(most, mean_i64(later, f->steps.n)));
    point_to_step(f, f->longest, out);
    verdict_add(&out->words, arg_int(words[part], 1));
    verdict_add(&out->words, arg_time("more", part_excess(f, part)));
    say_checkpoint(f, out);
    int64_t collecting = collecting_ns(f);
    if (collecting > part_excess(f, part) / 2)
        verdict_add(&out->words, arg_time("collecting", collecting));
    compiles_say(f->t, &f->compiles, (interval){s->host_start, s->host_end},
                 sub_i64(step_span_ns(s), f->median_ns), f->arena, &out->words);
    if (verdict_value(&out->words, "compiling") && f->dialect == FOR_PYTORCH)
        verdict_add(&out->words, arg_int("pytorch", 1));
    int64_t period = period_of_long(f, limit);
    if (period > 1) verdict_add(&out->words, arg_int("period", period));
    if (part == ROLE_OTHER && !f->t->kind_count[KIND_PYTHON] &&
        !verdict_value(&out->words, "saved") && !verdict_value(&out->words, "collecting") &&
        !verdict_value(&out->words, "compiling")) {
        verdict_add(&out->words, arg_int("unseen", 1));
        verdict_add_recorder(&out->words, f->t);
    }
    return true;
}

bool advice_first_step(const advice_facts *f, double limit, advice *out) {
    const step_span *s = &f->steps.v[0];
    double ratio = (double)step_span_ns(s) / (double)max_i64(1, f->median_ns);
    if (f->differ || ratio < limit) return false;
    out->severity = SEVERITY_INFO;
    point_to_step(f, 0, out);
    verdict_add(&out->words, arg_real("ratio", ratio));
    compiles_say(f->t, &f->compiles, (interval){s->host_start, s->host_end},
                 sub_i64(step_span_ns(s), f->median_ns), f->arena, &out->words);
    return true;
}

/* ---- the profiler ------------------------------------------------------------------------ */

#define FRAME_NS 1000 /* an upper bound of what recording a Python call costs */

static int64_t frames_per_step(const advice_facts *f) {
    return f->steps.n ? f->n_frames / f->steps.n : 0;
}

/* What frames in pauses cost at most. */
static int64_t idle_frames_ns(const advice_facts *f) {
    int64_t pauses = add_i64(f->pause.ns, f->load_pause.ns);
    return advice_per_step(f, min_i64(pauses, mul_i64(f->n_idle_frames, FRAME_NS)));
}

int64_t advice_overhead_ns(const advice_facts *f) {
    int64_t own = advice_per_step(f, f->overhead_ns),
            frames = mul_i64(frames_per_step(f), FRAME_NS);
    int64_t idle = f->has & NEED_DEVICE ? sub_i64(f->step_ns, f->busy_ns) : f->step_ns;
    if (f->bare.known)
        frames = max_i64(idle_frames_ns(f),
                         min_i64(frames, sub_i64(f->bare.recorded_mean_ns, f->bare.mean_ns)));
    return max_i64(0, min_i64(idle, add_i64(own, frames)));
}

bool advice_profiler_overhead(const advice_facts *f, double limit, advice *out) {
    int64_t frames = frames_per_step(f), own = advice_per_step(f, f->overhead_ns);
    int64_t estimate = f->bare.sound ? sub_i64(f->bare.recorded_ns, f->bare.step_ns) : 0;
    bool counts = !f->bare.sound || idle_frames_ns(f) > estimate;
    int64_t ns = counts ? advice_overhead_ns(f) : estimate;
    if (advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    if (!counts) verdict_add(&out->words, arg_int("estimated", 1));
    if (frames > 0) verdict_add(&out->words, arg_int("frames", frames));
    if (own > 0) verdict_add(&out->words, arg_time("overhead", own));
    verdict_add_recorder(&out->words, f->t);
    out->saves = ABSENT_I64; /* nothing in a run that is not watched */
    out->severity = SEVERITY_INFO;
    return true;
}
