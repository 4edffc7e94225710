/* advice_pauses.c: the device waits, and nothing was recorded on the host either.
 *
 *   host    ▐ops of step 3▌                              ▐copy▌▐ops of step 4
 *   device     ▐── work ──▌                                 ▐copy▌  ▐── work ──
 *                         |──── pause ───────────────────|
 *
 * A pause is a part of idle time that the CPU causes (idle_causes.h), or without a device of a
 * step, in which no operator, call, data loader or collective ran on any thread, nor a range of
 * the framework's own. Between two operators an interpreter takes tens of
 * microseconds; what lasts HOST_PAUSE_NS is something else: loading, a lock, a file, a sleep.
 * Where the batch is copied to the device right after it, or where a step begins with it, it
 * counts as loading: unless there is a data loader that marks itself, or the program serves and
 * waits for requests. Where the host's work was not recorded (host_coverage.h) there are no
 * pauses. */
#include "analyse/advise/advice.h"

#include "analyse/kind_names.h"
#include "analyse/serving/iterations.h"

/* ---- facts ------------------------------------------------------------------------------- */

/* Without a device: is all that the framework computes there? A log of collectives or of a
 * graph's runtime is silent while it computes. */
static bool records_all_operators(const advice_facts *f) {
    return !(f->has & NEED_DEVICE) && advice_is_eager(f) && f->t->kind_count[KIND_OP] > 0;
}

/* When the framework itself is running: an executor that starts, a graph that is built. */
static intervals framework_ranges(const advice_facts *f) {
    intervals at = intervals_in(f->arena);
    const trace *t = f->t;
    for (uint32_t i = 1; i < t->slice.n && t->kind_count[KIND_FRAMEWORK]; i++)
        if (t->slice.kind[i] == KIND_FRAMEWORK)
            intervals_add(&at, t->slice.start[i], slice_end(t, i));
    intervals_merge(&at);
    return at;
}

/* The part of the device's gaps that the host causes and in which nothing was recorded. */
static intervals silent_gaps(const advice_facts *f) {
    intervals gaps = intervals_in(f->arena);
    for (uint32_t i = 0; i < f->steps.n && records_all_operators(f); i++)
        if (f->parts[i].ns[ROLE_CPU_EXEC] > 0) /* else nothing is known of it */
            intervals_add(&gaps, f->steps.v[i].start, f->steps.v[i].end);
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_piece *p = &f->idle.v[i];
        if (p->cause == IDLE_HOST_LATE) intervals_add(&gaps, p->range.start, p->range.end);
    }
    intervals_merge(&gaps);
    gaps = host_silence(gaps, &f->ranges);
    intervals framework = framework_ranges(f);
    gaps = intervals_minus(&gaps, &framework);
    gaps = intervals_minus(&gaps, &f->coverage.at);
    return intervals_minus(&gaps, &f->overhead_at);
}

static bool copies_to_device(const trace *t, uint32_t work) {
    uint32_t slice = work ? t->kernel.slice[work] : 0;
    if (!slice || t->slice.kind[slice] != KIND_MEMCPY) return false;
    return copy_way_of(trace_slice_name(t, slice)) == COPY_TO_DEVICE;
}

/* Is it the first thing of a step, as far as operators go? */
static bool begins_step(const advice_facts *f, interval pause) {
    uint32_t at = advice_step_at(f, sub_i64(pause.end, 1));
    if (!f->steps.marked || at == UINT32_MAX) return false;
    return intervals_ns_in(&f->ranges.at[ROLE_CPU_EXEC], f->steps.v[at].host_start,
                           pause.start) == 0;
}

static void add_pause(const trace *t, pause_sum *sum, interval pause, const idle_piece *idle) {
    int64_t ns = sub_i64(pause.end, pause.start);
    uint32_t next = idle && idle->after ? t->kernel.slice[idle->after] : 0;
    event_list_add(&sum->top, (advice_event){pause, ns, next, true});
    intervals_add(&sum->at, pause.start, pause.end);
    sum->ns = add_i64(sum->ns, ns);
    sum->n++;
    if (ns <= sub_i64(sum->longest.end, sum->longest.start)) return;
    sum->longest = pause;
    sum->idle = idle;
}

/* Frames of Python in pauses: recording them may be all that happens there. */
static void count_frames(advice_facts *f) {
    const trace *t = f->t;
    bool any = f->n_frames && (f->pause.at.n || f->load_pause.at.n);
    for (uint32_t i = 1; i < t->slice.n && any; i++) {
        int64_t start = t->slice.start[i], end = slice_end(t, i);
        if (t->slice.kind[i] != KIND_PYTHON || end <= start) continue;
        f->n_idle_frames +=
            intervals_ns_in(&f->pause.at, start, end) == sub_i64(end, start) ||
            intervals_ns_in(&f->load_pause.at, start, end) == sub_i64(end, start);
    }
}

status advice_pauses_find(advice_facts *f, error *err) {
    TRY(host_coverage_find(f->t, &f->steps, &f->ranges, f->arena, &f->coverage, err));
    intervals silent = f->coverage.without_ops ? intervals_in(f->arena) : silent_gaps(f);
    bool serves;
    size_t g = 0;
    f->pause.at = f->load_pause.at = intervals_in(f->arena);
    TRY(iterations_serve(f->t, f->arena, &serves, err));
    TRY(iterations_differ(f->t, f->arena, &f->differ, err));
    for (size_t i = 0; i < silent.n; i++) {
        interval pause = silent.v[i];
        if (sub_i64(pause.end, pause.start) < HOST_PAUSE_NS) {
            f->between_ns = add_i64(f->between_ns, sub_i64(pause.end, pause.start));
            continue;
        }
        while (g + 1 < f->idle.n && f->idle.v[g].range.end < pause.end) g++;
        const idle_piece *idle = f->idle.n ? &f->idle.v[g] : NULL;
        bool loads = !serves && !f->data.n &&
                     ((idle && copies_to_device(f->t, idle->after)) || begins_step(f, pause));
        add_pause(f->t, loads ? &f->load_pause : &f->pause, pause, idle);
    }
    intervals_merge(&f->pause.at);
    intervals_merge(&f->load_pause.at);
    if (silent.failed || f->pause.at.failed || f->load_pause.at.failed) FAIL_MEMORY(err);
    count_frames(f);
    return OK;
}

/* ---- rules ------------------------------------------------------------------------------- */

static bool costs(const advice_facts *f, const pause_sum *sum, double limit) {
    return f->steps.n && sum->n && advice_share(f, advice_per_step(f, sum->ns)) >= limit;
}

static const intervals *load_pauses(const advice_facts *f) {
    return costs(f, &f->load_pause, advice_limit.data_loader_unmarked) ? &f->load_pause.at
                                                                       : NULL;
}

static const intervals *other_pauses(const advice_facts *f) {
    return costs(f, &f->pause, advice_limit.host_pause) ? &f->pause.at : NULL;
}

/* The parts of a gap that other rules report: pauses, and calls of the allocator. */
void advice_taken(const advice_facts *f, const intervals *out[N_TAKEN]) {
    out[0] = load_pauses(f);
    out[1] = other_pauses(f);
    out[2] = advice_allocator_costs(f) ? &f->allocator_at : NULL;
}

int64_t advice_taken_ns(const advice_facts *f, interval range) {
    const intervals *taken[N_TAKEN];
    int64_t sum = 0;
    advice_taken(f, taken);
    for (int i = 0; i < N_TAKEN; i++)
        if (taken[i]) sum = add_i64(sum, intervals_ns_in(taken[i], range.start, range.end));
    return sum;
}

/* The shortest Python frame around most of a pause, of the thread that launches on after it:
 * what the program was doing. 0 without stacks. */
static uint32_t frame_around(const trace *t, interval pause, const idle_piece *idle) {
    uint32_t found = 0, launch = idle && idle->after ? t->kernel.launch[idle->after] : 0;
    int64_t most = round_i64(0.95 * (double)sub_i64(pause.end, pause.start));
    for (uint32_t i = 1; i < t->slice.n && launch; i++) {
        int64_t inside = sub_i64(min_i64(pause.end, slice_end(t, i)),
                                 max_i64(pause.start, t->slice.start[i]));
        if (t->slice.kind[i] != KIND_PYTHON || inside < most ||
            trace_track_of(t, i) != trace_track_of(t, launch))
            continue;
        if (!found || t->slice.dur[i] < t->slice.dur[found]) found = i;
    }
    return found;
}

/* What happens in a few of many steps, or in one of two, is not part of each: of many,
 * step_variance names those that are too long. */
static bool is_rare(const advice_facts *f, const pause_sum *sum) {
    if (f->steps.n == 2) return sum->n < 2;
    return f->has & NEED_STEPS && sum->n < (int64_t)(f->steps.n + 1) / 2;
}

static bool is_paused(const advice_facts *f, const pause_sum *sum, double limit, advice *out) {
    /* On a busy machine a program that computes on the CPU pauses anywhere; a pause that it
     * makes itself is in a line, which costly_line names. */
    if (!costs(f, sum, limit) || is_rare(f, sum) || f->knows_lines) return false;
    advice_cost(f, out, advice_per_step(f, sum->ns));
    uint32_t frame = frame_around(f->t, sum->longest, sum->idle);
    if (frame) {
        out->name = trace_slice_name(f->t, frame);
        verdict_add(&out->words, arg_text("frame", out->name));
    }
    out->place = sum->longest;
    out->events = sum->top;
    verdict_add(&out->words, arg_real("count", (double)sum->n / (double)f->steps.n));
    verdict_add(&out->words,
                arg_time("longest", sub_i64(sum->longest.end, sum->longest.start)));
    if (f->has & NEED_DEVICE) verdict_add(&out->words, arg_text("device", device_noun(f->t)));
    str next = sum->idle ? advice_gap_name(f, sum->idle) : STR_NONE;
    if (next.n) verdict_add(&out->words, arg_text("next", next));
    if (!out->name.n) out->name = next;
    return true;
}

bool advice_data_loader_unmarked(const advice_facts *f, double limit, advice *out) {
    return is_paused(f, &f->load_pause, limit, out);
}

bool advice_host_pause(const advice_facts *f, double limit, advice *out) {
    if (!is_paused(f, &f->pause, limit, out)) return false;
    if (f->n_frames)
        verdict_add(&out->words, arg_int("stacks", 1)); /* and none is around it */
    else
        verdict_add_recorder(&out->words, f->t);
    return true;
}
