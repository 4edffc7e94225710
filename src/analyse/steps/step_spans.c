/* step_spans.c: the steps of the overview: host intervals adjusted for device work.
 *
 * A call belongs to a step when all of it is inside its host interval; its device work with it.
 * What had been launched before the first step pushes it back: it belongs to what came before.
 *
 *   host    |── step 1 ──|── step 2 ──|
 *   device       ▒▒▒|███ 1 ███|███ 2 ███|        ▒ launched before the recording of step 1
 *   spans           |─── 1 ───|─── 2 ───|
 *
 * The device may also be busy with work from before the recording that is in no record at all
 * (held_device.h): the first step begins when that is done.
 *
 * The recording often stops while the last step's kernels are still running. After the last
 * step with device work all are left out, and that one too when it has less than 0.8 of the
 * pieces the one before it has. Traces without device work keep their host intervals and all
 * of their steps.
 *
 * The first steps of a program compile, fill caches and wait for the first batches. In our own
 * recordings, which hold them all, and where steps were found, those at the beginning that take
 * more than one and a half times the median of what follows are left out of averages, and
 * those that are a fragment of it; in all others those that take more than three times as long,
 * as no step does later, although the device has no more to do. What the host launched
 * meanwhile runs when the warm-up's work is done, at once: such steps are part of it.
 *
 * Where nothing marks steps, a cold start at the beginning (cold_start.h) is left out if most
 * of the recording comes after it. */
#include "analyse/steps/step_spans.h"

#include "analyse/rules.h"
#include "analyse/steps/held_device.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "store/traits.h"

enum {
    LEAST_TYPICAL = 3, /* steps that must remain to call them typical */
    LEAST_OTHERS = 2,  /* likewise where the first is out of all proportion */
};

typedef struct {
    int64_t first, last; /* start of the first piece, end of the last */
    int64_t n, ns;
} step_work;

/* Does it stand for work, or for waiting for it? Ranges and frames around work last as long as
 * the program likes. */
static bool is_of_work(const trace *t, uint8_t kind) {
    if (trace_has(t, TRAIT_STATIC_GRAPH) && t->kernel.n > 1)
        return kind_is_device(kind); /* the host has another clock */
    if (!t->kind_count[KIND_OP]) return kind != KIND_SPAN && kind != KIND_DEVICE_ANNOTATION;
    return kind == KIND_OP || kind_is_call(kind) || kind == KIND_SYNC ||
           kind == KIND_COLLECTIVE || kind_is_device(kind);
}

/* A program of plain Python has hardly more than samples. */
static void span_samples(const trace *t, step_span *out, bool any) {
    for (uint32_t i = 1; i < t->sample.n; i++) {
        int64_t start = t->sample.time[i], end = add_i64(start, t->sample.dur[i]);
        out->start = any ? min_i64(out->start, start) : start;
        out->end = any ? max_i64(out->end, end) : end;
        any = true;
    }
}

/* One step over all work. */
static void span_whole(const trace *t, step_span *out) {
    bool any = false;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (!is_of_work(t, t->slice.kind[i])) continue;
        int64_t start = t->slice.start[i], end = slice_end(t, i);
        out->start = any ? min_i64(out->start, start) : start;
        out->end = any ? max_i64(out->end, end) : end;
        any = true;
    }
    if (!t->kind_count[KIND_OP] && t->kernel.n < 2) span_samples(t, out, any);
    out->host_start = out->start;
    out->host_end = out->end;
}

/* The step (index + 1) whose host interval holds the call as a whole. */
static uint32_t step_of_call(const step_spans *s, int64_t start, int64_t end) {
    uint32_t low = SEARCH_FIRST(i, 0, s->n, s->v[i].host_start <= start);
    return low && end <= s->v[low - 1].host_end ? low : 0;
}

static uint32_t step_of_work(const trace *t, const step_spans *s, uint32_t kernel) {
    uint32_t call = t->kernel.launch[kernel];
    return call ? step_of_call(s, t->slice.start[call], slice_end(t, call)) : 0;
}

/* What each step launched. */
static void collect_work(const trace *t, const step_spans *s, step_work *work) {
    for (uint32_t i = 0; i < s->n; i++) work[i] = (step_work){INT64_MAX, INT64_MIN, 0, 0};
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k], step = step_of_work(t, s, k);
        if (!step) continue;
        step_work *w = &work[step - 1];
        w->first = min_i64(w->first, t->slice.start[slice]);
        w->last = max_i64(w->last, slice_end(t, slice));
        w->n++;
        w->ns = add_i64(w->ns, t->slice.dur[slice]);
    }
}

/* End of the device work that had been launched before the first step. A stream runs its work
 * in order: what it runs before the first piece of the first step came before. Elsewhere work
 * of no step is earlier when it ends before the first step's begins. */
static int64_t end_of_earlier(const trace *t, const step_spans *s, const step_work *first) {
    int64_t end = s->v[0].host_start, waiting = end;
    uint32_t until = 0; /* last slice of the stream, + 1 */
    bool open = false;  /* the stream has not reached a piece of a step yet */
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (slice >= until) {
            until = t->track.end[trace_track_of(t, slice)];
            open = true;
            waiting = end;
        }
        uint32_t step = step_of_work(t, s, k);
        if (step == 1 && open) end = max_i64(end, waiting);
        if (step) open = false;
        if (step) continue;
        if (open && !t->kernel.launch[k]) waiting = max_i64(waiting, slice_end(t, slice));
        if (slice_end(t, slice) < first->first) end = max_i64(end, slice_end(t, slice));
    }
    return end;
}

static void adjust(step_spans *s, const step_work *work, int64_t previous) {
    for (uint32_t i = 0; i < s->n; i++) {
        step_span *v = &s->v[i];
        v->start = max_i64(previous, v->host_start);
        v->end = max_i64(v->host_end, work[i].n ? work[i].last : v->start);
        v->end = max_i64(v->end, v->start);
        v->n_work = work[i].n;
        v->work_ns = work[i].ns;
        previous = v->end;
    }
}

/* Number of steps to keep. */
static uint32_t count_complete(const step_spans *s) {
    uint32_t keep = s->n;
    if (s->n < 2) return keep;
    while (keep > 1 && !s->v[keep - 1].n_work) keep--;
    if (keep > 1 && s->v[keep - 2].n_work * 8 > s->v[keep - 1].n_work * 10) keep--;
    return keep;
}

bool steps_are_ours(const trace *t) {
    return trace_has(t, TRAIT_OWN_RECORDER);
}

static int compare_durations(uint32_t a, uint32_t b, const void *context) {
    const step_span *v = context;
    int64_t x = step_span_ns(&v[a]), y = step_span_ns(&v[b]);
    return x != y ? (x < y ? -1 : 1) : a < b ? -1 : a > b;
}

/* Nothing marks them: the first one may begin with the recording, whatever ran then. */
static bool are_found(const trace *t) {
    return t->step.n > 1 && t->step.how[1] != STEP_MARKED;
}

/* Out of all proportion to a later step with as much device work: it did something else. */
static bool is_one_time(const step_span *first, const step_span *typical) {
    int64_t extra = sub_i64(step_span_ns(first), step_span_ns(typical));
    return step_span_ns(first) > mul_i64(step_span_ns(typical), 3) && typical->n_work > 0 &&
           first->n_work <= mul_i64(typical->n_work, 2) &&
           sub_i64(first->work_ns, typical->work_ns) < extra / 2;
}

/* What merely looks like the beginning of a step: a small part of its length and its work. */
static bool is_fragment(const step_span *first, const step_span *typical) {
    return step_span_ns(first) < step_span_ns(typical) / 10 &&
           first->n_work < typical->n_work / 2;
}

/* Is a later step, after the first half, nearly as long? Then it was no one-time work. */
static bool comes_again(const step_spans *s, const step_span *first) {
    for (uint32_t i = s->n / 2; i < s->n; i++)
        if (step_span_ns(&s->v[i]) > step_span_ns(first) / 2) return true;
    return false;
}

/* Number of leading steps, at most half of them, each too long for the median of all that
 * follow it. `order` holds 2 n numbers. One sort serves all: without its first steps the sorted
 * order of a list is what remains of it. */
static uint32_t count_warm_up(const step_spans *s, bool begins_cold, uint32_t *order) {
    for (uint32_t i = 0; i < s->n; i++) order[i] = i;
    sort_index(order, order + s->n, s->n, compare_durations, s->v);
    uint32_t warm = 0;
    while (warm < s->n / 2 && s->n - warm - 1 >= LEAST_OTHERS) {
        uint32_t left = s->n - warm - 1, seen = 0, i = 0;
        for (; i < s->n; i++)
            if (order[i] > warm && seen++ == left / 2) break;
        const step_span *first = &s->v[warm], *typical = &s->v[order[i]];
        bool longer = mul_i64(step_span_ns(first), 2) > mul_i64(step_span_ns(typical), 3);
        bool once = is_one_time(first, typical) && !comes_again(s, first);
        bool odd = longer || is_fragment(first, typical);
        if (!(begins_cold && left >= LEAST_TYPICAL && odd) && !once) break;
        warm++;
    }
    return warm;
}

/* Its work waited for that of an earlier step and then took less than the host had needed. */
static bool catches_up(const step_span *v) {
    return v->start > v->host_start &&
           mul_i64(step_span_ns(v), 3) < mul_i64(sub_i64(v->host_end, v->host_start), 2);
}

/* Number of steps of which the device caught up with the warm-up's work; 0 where it never did:
 * then nothing shows what a step takes. */
static uint32_t count_catching_up(const step_spans *s, uint32_t warm) {
    uint32_t n = 0;
    while (warm && warm + n < s->n && catches_up(&s->v[warm + n])) n++;
    return s->n - warm - n >= LEAST_TYPICAL ? n : 0;
}

static status leave_out_warm_up(step_spans *s, const trace *t, arena *a, error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)s->n * 2 + 1);
    if (!order) FAIL_MEMORY(err);
    s->warm_up = s->v;
    s->n_warm_up = count_warm_up(s, steps_are_ours(t) || are_found(t), order);
    s->n_warm_up += count_catching_up(s, s->n_warm_up);
    s->v += s->n_warm_up;
    s->n -= s->n_warm_up;
    return OK;
}

static void keep_selected(step_spans *s, const selection *select) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        step_span v = s->v[i];
        if (select->by_step && (v.number < select->first_step || v.number > select->last_step))
            continue;
        v.start = max_i64(v.start, select->from_ns);
        v.end = min_i64(v.end, select->to_ns);
        if (select->by_time && v.end <= v.start) continue;
        s->v[n++] = v;
    }
    s->n = n;
}

/* The cold start in the steps that count. In the whole recording where there are none, or where
 * the few that were found are a small part of it: its author wanted to see more than them. */
static status find_cold(const trace *t, step_spans *s, arena *a, error *err) {
    step_span whole = {.n_work = 0};
    if (!s->n) return OK;
    interval steps = {s->v[0].start, s->v[s->n - 1].end};
    span_whole(t, &whole);
    bool is_part = sub_i64(steps.end, steps.start) < sub_i64(whole.end, whole.start) / 5;
    if (s->marked && is_part && are_found(t) && !steps_are_ours(t))
        steps = (interval){whole.start, whole.end};
    TRY(cold_start_find(t, steps, a, &s->cold, err));
    if (s->marked || !s->cold.ns) return OK;
    int64_t rest = sub_i64(steps.end, s->cold.until), work = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++)
        work += t->slice.start[t->kernel.slice[k]] >= s->cold.until;
    s->cold.is_before = rest >= s->cold.of_ns / 2 && work >= (int64_t)t->kernel.n / 2;
    if (s->cold.is_before) s->v[0].start = max_i64(s->v[0].start, s->cold.until);
    return OK;
}

status step_spans_make(const trace *t, const selection *select, arena *a, step_spans *out,
                       error *err) {
    uint32_t n = t->step.n > 1 ? t->step.n - 1 : 1;
    step_spans s = {.v = ARENA_ARRAY(a, step_span, n),
                    .n = n,
                    .marked = t->step.n > 1,
                    .held_until = INT64_MIN};
    step_work *work = ARENA_ARRAY(a, step_work, n);
    if (!s.v || !work) FAIL_MEMORY(err);
    for (uint32_t i = 0; s.marked && i < n; i++) {
        /* Of markers that overlap, a moment belongs to the one that began last. */
        int64_t start = t->step.start[i + 1], end = t->step.end[i + 1];
        if (i + 1 < n) end = min_i64(end, t->step.start[i + 2]);
        s.v[i] = (step_span){.number = t->step.number[i + 1],
                             .row = i + 1,
                             .without_ops = t->step.left_out[i + 1] != 0,
                             .host_start = start,
                             .host_end = end,
                             .start = start,
                             .end = end};
    }
    if (!s.marked) span_whole(t, &s.v[0]);
    int64_t n_work = 0;
    collect_work(t, &s, work);
    for (uint32_t i = 0; i < n; i++) n_work += work[i].n;
    if (n_work) {
        bool cut = s.marked && work[0].n; /* what is not a step is the whole of the recording */
        int64_t earlier = cut ? end_of_earlier(t, &s, &work[0]) : s.v[0].host_start;
        TRY(held_device_until(t, a, &s.held_until, err));
        adjust(&s, work, max_i64(earlier, s.held_until));
        uint32_t keep = count_complete(&s);
        s.left_out = s.v + keep;
        s.n_left_out = s.n - keep;
        s.n = keep;
    }
    if (!select->by_step && !select->by_time) {
        if (s.marked) TRY(leave_out_warm_up(&s, t, a, err));
        TRY(find_cold(t, &s, a, err));
    }
    keep_selected(&s, select);
    *out = s;
    return OK;
}

status step_spans_with_ops(const step_spans *s, arena *a, step_spans *out, error *err) {
    step_span *kept = ARENA_ARRAY(a, step_span, (size_t)s->n + 1);
    uint32_t n = 0;
    if (!kept) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++)
        if (!s->v[i].without_ops) kept[n++] = s->v[i];
    *out = *s;
    if (n == 0 || n == s->n) return OK;
    out->v = kept;
    out->n = n;
    return OK;
}

status step_spans_median(const step_spans *s, arena *a, int64_t *out, error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)s->n * 2 + 1);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++) order[i] = i;
    sort_index(order, order + s->n, s->n, compare_durations, s->v);
    *out = s->n ? step_span_ns(&s->v[order[(s->n - 1) / 2]]) : 0;
    return OK;
}

void step_spans_say(const step_spans *s, int64_t mean_ns, verdict *v) {
    if (!s->marked || !s->n)
        verdict_add(v, arg_time("recording", mean_ns));
    else if (s->n == 1)
        verdict_add(v, arg_id("one", s->v[0].number));
}
