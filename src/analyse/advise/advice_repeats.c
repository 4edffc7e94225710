/* advice_repeats.c: the same few operators again and again, and batches that are too small:
 * what one call on all of it would do.
 *
 *   pattern   the outermost operators of a thread as a sequence of names; where a short part of
 *             it comes many times in a row, that is a pattern: 100 × index, index, index_add
 *   passes    forward and backward passes in one step
 *
 * All but the first are gone when they are one: the host's time, and of each kernel what every
 * kernel takes however little it does. In a program that computes on the CPU, operators are
 * both: of each what the shortest take is gone. */
#include "analyse/advise/advice.h"
#include "analyse/group.h"
#include "analyse/lexicon.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/intern.h"

enum {
    MOST_PATTERN = 16,         /* operators: a layer of a model has more */
    LEAST_COPIES = 8,          /* in a row */
    LEAST_TOTAL = 32,          /* in a step: layers are fewer */
    LEAST_KERNEL_NS = 2000,    /* a kernel takes about this however little it does */
    LEAST_OPERATOR_NS = 20000, /* a call that computes takes longer (advice_cpu.c) */
    NAMED_CALLS = 4,
};

/* Copies in a row, of one thread and step. */
typedef struct {
    uint32_t second; /* slice with which the second copy begins */
    uint32_t first, group;
    int64_t start, until, copies;
} pattern_run;

typedef struct {
    uint32_t n, name[MOST_PATTERN]; /* the rotation that comes first */
    int64_t copies, ns;
    uint32_t first; /* slice */
    stage stage;
    /* Modules around the copies, by what the thread runs through: as many as copies are layers
     * of a model, which cannot be one call. */
    uint32_t module;
    int64_t n_modules, n_in_modules;
} pattern;

typedef struct {
    advice_facts *f;
    uint32_t *slices; /* outermost operators of a thread in a step */
    uint8_t *used;
    uint32_t n;
    groups patterns;
    pattern_run *runs; /* by slice */
    uint32_t n_runs, cap_runs;
} repeat_scan;

static uint32_t name_at(const repeat_scan *s, uint32_t i) {
    return s->f->t->slice.name[s->slices[i]];
}

/* The least rotation of the names. */
static void rotate(const repeat_scan *s, uint32_t at, uint32_t n, pattern *out) {
    uint32_t best = 0;
    for (uint32_t r = 1; r < n; r++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t a = name_at(s, at + (best + i) % n), b = name_at(s, at + (r + i) % n);
            if (b < a) best = r;
            if (a != b) break;
        }
    out->n = n;
    for (uint32_t i = 0; i < n; i++) out->name[i] = name_at(s, at + (best + i) % n);
}

static bool same_pattern(const void *row, const void *key) {
    const pattern *a = row, *b = key;
    return a->n == b->n && memcmp(a->name, b->name, a->n * sizeof *a->name) == 0;
}

/* The module around an operator by its name, which differs between instances; 0: none. */
static uint32_t module_around(const trace *t, uint32_t slice) {
    for (int up = 0; up < 64 && (slice = t->slice.parent[slice]) != 0; up++)
        if (t->slice.kind[slice] == KIND_MODULE) return t->slice.name[slice];
    return 0;
}

static void count_modules(const repeat_scan *s, uint32_t at, uint32_t n, uint32_t copies,
                          pattern *p) {
    for (uint32_t i = 0; i < copies; i++) {
        uint32_t module = module_around(s->f->t, s->slices[at + i * n]);
        if (!module) continue;
        p->n_in_modules++;
        p->n_modules += module != p->module;
        p->module = module;
    }
}

static status add_run(repeat_scan *s, uint32_t at, uint32_t n, uint32_t end, error *err) {
    const trace *t = s->f->t;
    uint32_t copies = (end - at) / n, first = s->slices[at];
    uint32_t last = s->slices[at + copies * n - 1];
    bool is_new = false;
    pattern key = {.n = 0};
    for (uint32_t i = at; i < end; i++) s->used[i] = 1;
    rotate(s, at, n, &key);
    uint32_t g = groups_at(&s->patterns,
                           intern_hash(str_n((const char *)key.name, n * sizeof *key.name)),
                           same_pattern, &key, &is_new);
    if (g == GROUP_NONE) FAIL_MEMORY(err);
    pattern *p = GROUP_ROW(&s->patterns, pattern, g);
    if (is_new) {
        *p = key;
        p->first = first;
        p->stage = stage_at(&s->f->stages, t->slice.start[first]);
    }
    p->copies += copies;
    count_modules(s, at, n, copies, p);
    p->ns = add_i64(p->ns, sub_i64(slice_end(t, last), t->slice.start[first]));
    if (s->n_runs == s->cap_runs) {
        uint32_t cap = s->cap_runs ? 2 * s->cap_runs : 64;
        pattern_run *more =
            arena_grow(s->f->arena, s->runs, s->cap_runs * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        s->runs = more;
        s->cap_runs = cap;
    }
    s->runs[s->n_runs++] = (pattern_run){s->slices[at + n],  first, g, t->slice.start[first],
                                         slice_end(t, last), copies};
    return OK;
}

/* Short patterns first: four times ab is not two times abab. */
static status find_runs(repeat_scan *s, error *err) {
    for (uint32_t n = 1; n <= MOST_PATTERN && n * LEAST_COPIES <= s->n; n++)
        for (uint32_t i = 0; i + n < s->n; i++) {
            uint32_t k = i;
            while (k + n < s->n && !s->used[k] && !s->used[k + n] &&
                   name_at(s, k) == name_at(s, k + n))
                k++;
            if (k - i >= n * (LEAST_COPIES - 1)) TRY(add_run(s, i, n, k + n, err));
            i = k;
        }
    s->n = 0;
    return OK;
}

/* Other rules tell of loading, and of the optimizer on a device. */
static bool is_looked_at(const advice_facts *f, uint32_t slice) {
    stage in = stage_at(&f->stages, f->t->slice.start[slice]);
    return in != STAGE_DATA && (in != STAGE_OPTIMIZER || f->has & NEED_CPU);
}

static status scan_thread(repeat_scan *s, uint32_t track, error *err) {
    const trace *t = s->f->t;
    uint32_t step = UINT32_MAX;
    int64_t until = INT64_MIN;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        if (t->slice.kind[i] != KIND_OP || t->slice.start[i] < until) continue;
        uint32_t at = advice_step_at(s->f, t->slice.start[i]);
        until = slice_end(t, i);
        if (at != step) TRY(find_runs(s, err));
        step = at;
        if (at == UINT32_MAX || !is_looked_at(s->f, i)) continue;
        s->used[s->n] = 0;
        s->slices[s->n++] = i;
    }
    return find_runs(s, err);
}

/* ---- what would be gone ------------------------------------------------------------------ */

/* Calls from `slices` on until `until`: the work launched there is marked, and what is left of
 * its time when it is part of other work. */
static double mark_work(const advice_facts *f, merged_sum *sum) {
    const trace *t = f->t;
    int64_t ns = 0, left = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t launch = t->kernel.launch[k];
        uint32_t i = SEARCH_FIRST(c, 0u, sum->n_calls, sum->calls[c] <= launch);
        if (!launch || !i || t->slice.start[launch] >= sum->until[i - 1] ||
            trace_track_of(t, launch) != trace_track_of(t, sum->calls[i - 1]))
            continue;
        int64_t dur = t->slice.dur[t->kernel.slice[k]];
        f->work_marks[k] |= sum->mark;
        sum->kernels += f->work_marks[k] & WORK_COMPUTES ? 1 : 0;
        ns = add_i64(ns, dur);
        left = add_i64(left, max_i64(0, sub_i64(dur, LEAST_KERNEL_NS)));
    }
    sum->kernel_ns = ns;
    return ns > 0 ? (double)left / (double)ns : 0;
}

static status init_sum(advice_facts *f, merged_sum *sum, uint32_t n, error *err) {
    sum->calls = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    sum->until = ARENA_ARRAY(f->arena, int64_t, (size_t)n + 1);
    if (!sum->calls || !sum->until) FAIL_MEMORY(err);
    return OK;
}

/* What operators of a run do beyond what every call takes: one call would still do it. */
static int64_t computing_ns(const trace *t, const pattern_run *run) {
    uint32_t track = trace_track_of(t, run->second);
    int64_t ns = 0, after = INT64_MIN;
    for (uint32_t i = run->second; i < t->track.end[track] && t->slice.start[i] < run->until;
         i++) {
        if (t->slice.kind[i] != KIND_OP || t->slice.start[i] < after) continue;
        after = slice_end(t, i);
        ns = add_i64(ns, max_i64(0, sub_i64(t->slice.dur[i], LEAST_OPERATOR_NS)));
    }
    return ns;
}

/* The backward pass of a pattern has about as many copies, or a few for each. */
static bool belongs_to(const pattern *p, const pattern *main) {
    return p == main ||
           (p->stage != main->stage && mul_i64(p->copies, 10) >= mul_i64(main->copies, 9) &&
            p->copies <= mul_i64(main->copies, 3));
}

/* Are they layers, one after the other? A module that is called again stays the same. */
static bool are_layers(const pattern *p) {
    return p->n_in_modules > p->copies / 2 && p->n_modules > p->n_in_modules / 2;
}

/* Likewise, or the backward pass of layers. */
static bool is_of_layers(const repeat_scan *s, const pattern *p) {
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        const pattern *of = GROUP_ROW(&s->patterns, pattern, i);
        if (are_layers(of) && (of == p || (p->stage == STAGE_BACKWARD && belongs_to(p, of))))
            return true;
    }
    return false;
}

static status name_calls(const advice_facts *f, const pattern *p, str *out, error *err) {
    buf text = {0};
    for (uint32_t i = 0; i < p->n && i < NAMED_CALLS; i++)
        advice_list_call(&text, trace_str(f->t, p->name[i]));
    return advice_end_list(f, &text, p->n > NAMED_CALLS, out, err);
}

static status choose(repeat_scan *s, error *err) {
    advice_facts *f = s->f;
    merged_sum *sum = &f->repeated;
    const pattern *main = NULL;
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        const pattern *p = GROUP_ROW(&s->patterns, pattern, i);
        if (p->copies < LEAST_TOTAL * (int64_t)f->steps.n || is_of_layers(s, p)) continue;
        if (!main || p->ns > main->ns) main = p;
    }
    if (!main) return OK;
    for (uint32_t i = 0; main->stage == STAGE_BACKWARD && i < s->patterns.n; i++) {
        const pattern *p = GROUP_ROW(&s->patterns, pattern, i);
        if (p->stage != STAGE_BACKWARD && p->ns >= main->ns / 4 && belongs_to(main, p))
            main = p; /* it is what the program calls */
    }
    TRY(init_sum(f, sum, s->n_runs, err));
    for (uint32_t i = 0; i < s->n_runs; i++) {
        const pattern_run *run = &s->runs[i];
        const pattern *p = GROUP_ROW(&s->patterns, pattern, run->group);
        if (!belongs_to(p, main)) continue;
        int64_t ns = sub_i64(run->until, run->start);
        sum->calls[sum->n_calls] = run->second;
        sum->until[sum->n_calls++] = run->until;
        sum->ns = add_i64(sum->ns, sub_i64(ns, ns / run->copies));
        if (f->has & NEED_CPU)
            sum->computing_ns = add_i64(sum->computing_ns, computing_ns(f->t, run));
        sum->both |= p != main;
        if (p == main) event_list_add_slice(&sum->top, f->t, run->first, ns);
    }
    sum->mark = WORK_REPEATED;
    sum->factor = mark_work(f, sum);
    sum->copies = main->copies;
    sum->first = main->first;
    sum->in_optimizer = main->stage == STAGE_OPTIMIZER;
    return name_calls(f, main, &sum->names, err);
}

static status find_repeats(advice_facts *f, error *err) {
    const trace *t = f->t;
    repeat_scan s = {.f = f,
                     .slices = ARENA_ARRAY(f->arena, uint32_t, (size_t)t->slice.n + 1),
                     .used = ARENA_ARRAY(f->arena, uint8_t, (size_t)t->slice.n + 1)};
    if (!s.slices || !s.used) FAIL_MEMORY(err);
    TRY(groups_init(&s.patterns, f->arena, sizeof(pattern), err));
    for (uint32_t track = 1; track < t->track.n; track++)
        if (t->track.kind[track] == TRACK_THREAD) TRY(scan_thread(&s, track, err));
    return choose(&s, err);
}

/* ---- passes ------------------------------------------------------------------------------ */

/* The first call of each thread in each pass, ascending: threads share the slices out in
 * order. */
static status list_calls(advice_facts *f, const interval *v, uint32_t n, merged_sum *sum,
                         error *err) {
    const trace *t = f->t;
    TRY(init_sum(f, sum, (uint32_t)min_u64((uint64_t)n * t->track.n, t->slice.n), err));
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (t->track.kind[track] != TRACK_THREAD) continue;
        uint32_t i = t->track.first[track];
        while (i < t->track.end[track]) {
            int64_t start = t->slice.start[i];
            uint32_t at = SEARCH_FIRST(k, 0u, n, v[k].end <= start);
            if (at == n) break;
            if (v[at].start <= start) {
                sum->calls[sum->n_calls] = i;
                sum->until[sum->n_calls++] = v[at].end;
                i = trace_lower_bound(t, track, v[at].end);
            } else {
                i = trace_lower_bound(t, track, v[at].start);
            }
        }
    }
    return OK;
}

/* A forward pass and the backward pass after it; of each step all but the first are gone. */
static status find_passes(advice_facts *f, error *err) {
    merged_sum *sum = &f->passes;
    interval *gone = ARENA_ARRAY(f->arena, interval, f->stages.n + 1);
    uint32_t step = UINT32_MAX, n = 0;
    int64_t start = ABSENT_I64, in_step = 0;
    if (!gone) FAIL_MEMORY(err);
    for (size_t i = 0; i < f->stages.n; i++) {
        const stage_segment *v = &f->stages.v[i];
        bool ends = i + 1 == f->stages.n || f->stages.v[i + 1].stage != STAGE_BACKWARD;
        uint32_t at = advice_step_at(f, v->range.start);
        if (at != step) in_step = 0;
        step = at;
        if (at == UINT32_MAX) continue;
        if (v->stage == STAGE_FORWARD && (!i || f->stages.v[i - 1].stage != STAGE_FORWARD))
            start = v->range.start;
        if (v->stage != STAGE_BACKWARD || !ends || start == ABSENT_I64) continue;
        sum->copies++;
        if (in_step++) {
            gone[n] = (interval){start, v->range.end};
            sum->ns = add_i64(sum->ns, sub_i64(gone[n].end, gone[n].start));
            n++;
        }
        start = ABSENT_I64;
    }
    TRY(list_calls(f, gone, n, sum, err));
    sum->mark = WORK_PASS;
    sum->factor = mark_work(f, sum);
    return OK;
}

status advice_repeats_find(advice_facts *f, error *err) {
    if (!(f->has & (NEED_DEVICE | NEED_CPU)) || !f->steps.n) return OK;
    TRY(find_repeats(f, err));
    return f->has & NEED_DEVICE ? find_passes(f, err) : OK;
}

/* ---- rules ------------------------------------------------------------------------------- */

/* Kernels that are longer would not be faster together. */
static bool are_small(const merged_sum *sum) {
    return sum->kernel_ns <= mul_i64(sum->kernels, 2 * SMALL_KERNEL_NS);
}

static bool is_merged(const advice_facts *f, const merged_sum *sum, double limit, advice *out) {
    int64_t ns = advice_per_step(f, sum->ns);
    if (!sum->n_calls || advice_share(f, ns) < limit || !are_small(sum)) return false;
    advice_cost(f, out, ns);
    out->is_cause = true;
    out->change = (advice_change){.how = REPLAY_CALLS,
                                  .mark = sum->mark,
                                  .factor = sum->factor,
                                  .calls = sum->calls,
                                  .until = sum->until,
                                  .n_calls = sum->n_calls};
    verdict_add(&out->words, arg_int("kernels", mean_i64(sum->kernels, f->steps.n)));
    return true;
}

static void say_calls(const advice_facts *f, const merged_sum *sum, advice *out) {
    advice_point(f, out, sum->first);
    out->events = sum->top;
    verdict_add(&out->words, arg_int("count", mean_i64(sum->copies, f->steps.n)));
    verdict_add(&out->words, arg_text("calls", sum->names));
    if (sum->both) verdict_add(&out->words, arg_int("both", 1));
}

bool advice_repeated_calls(const advice_facts *f, double limit, advice *out) {
    if (!is_merged(f, &f->repeated, limit, out)) return false;
    say_calls(f, &f->repeated, out);
    return true;
}

bool advice_cpu_repeated_calls(const advice_facts *f, double limit, advice *out) {
    const merged_sum *sum = &f->repeated;
    int64_t ns = advice_per_step(f, sub_i64(sum->ns, sum->computing_ns));
    if (!sum->n_calls || advice_share(f, ns) < limit || sum->computing_ns > sum->ns / 2)
        return false;
    advice_cost(f, out, ns);
    out->is_cause = true;
    say_calls(f, sum, out);
    if (sum->in_optimizer && f->dialect == FOR_PYTORCH)
        verdict_add(&out->words, arg_int("optimizer", 1));
    return true;
}

bool advice_small_batches(const advice_facts *f, double limit, advice *out) {
    const merged_sum *sum = &f->passes;
    if (sum->copies < 2 * (int64_t)f->steps.n || !f->uses.trains ||
        advice_share(f, sub_i64(f->step_ns, f->busy_ns)) < limit ||
        !is_merged(f, sum, limit, out))
        return false;
    advice_point(f, out, sum->calls[0]);
    verdict_add(&out->words, arg_int("count", mean_i64(sum->copies, f->steps.n)));
    return true;
}
