/* advice_lines.c: what a step consists of outside of the model: the line of the program that
 * takes most, whatever it does.
 *
 * Forward, backward and optimizer are what a step is for, and other rules judge them, as they
 * judge loaders that mark themselves: there only the time in Python's own modules counts,
 * which do not belong to a model (traceback of the detection of anomalies, copy, json). All
 * other time of the thread that runs the program belongs to one of its lines (line_of.h); in a
 * program with a device only the part during which the device waits for the host. Nothing needs
 * to be known of what the line calls: saving, logging, tokenizing, counting. What samples say
 * of the thread there (a file, a lock, another process) and the function that the line calls
 * are its description.
 *
 * The interpreter's lock is the other thing that samples alone show: a thread that waits for it
 * is slowed down everywhere, by a line of another thread. */
#include "analyse/advise/advice.h"
#include "analyse/kind_names.h"
#include "analyse/operators/line_of.h"
#include "base/bisect.h"

enum { MOST_COSTLY_LINES = 256, LEAST_SAMPLES = 20 };

typedef struct {
    uint32_t name; /* string of the line */
    uint32_t site; /* a frame of it */
    int64_t ns;
} line_time;

/* Adds up times by the name of a frame. */
typedef struct {
    const trace *t;
    line_time v[MOST_COSTLY_LINES];
    uint32_t n;
} line_times;

static void add_time(line_times *l, uint32_t frame, int64_t ns) {
    uint32_t name = frame ? l->t->frame.name[frame] : 0, i = 0;
    if (!name) return;
    while (i < l->n && l->v[i].name != name) i++;
    if (i == MOST_COSTLY_LINES) return;
    if (i == l->n) l->v[l->n++] = (line_time){name, frame, 0};
    l->v[i].ns = add_i64(l->v[i].ns, ns);
}

static const line_time *most_of(const line_times *l) {
    const line_time *most = NULL;
    for (uint32_t i = 0; i < l->n; i++)
        if (!most || l->v[i].ns > most->ns) most = &l->v[i];
    return most;
}

typedef struct {
    advice_facts *f;
    line_view lines;
    uint32_t track; /* the thread that runs the program */
    line_times sites, callees;
    uint32_t name; /* of the line that is looked at; 0: all of them */
    bool in_model; /* where only frames of Python's own modules count */
} line_scan;

/* ---- the thread -------------------------------------------------------------------------- */

/* The thread with stacks that spends most time in operators. */
static uint32_t find_thread(const advice_facts *f) {
    const trace *t = f->t;
    uint32_t found = 0;
    int64_t most = -1;
    for (uint32_t i = 1; i < t->track.n; i++) {
        if (t->track.kind[i] != TRACK_THREAD) continue;
        int64_t ns = 0, until = INT64_MIN;
        for (uint32_t k = t->track.first[i]; k < t->track.end[i]; k++) {
            if (t->slice.kind[k] != KIND_OP || t->slice.start[k] < until) continue;
            ns = add_i64(ns, t->slice.dur[k]);
            until = slice_end(t, k);
        }
        if (ns > most) {
            most = ns;
            found = i;
        }
    }
    return found;
}

/* ---- time outside of the model ----------------------------------------------------------- */

/* What of the steps counts with a device: its waits for the host. */
static intervals only_waits(const advice_facts *f, intervals steps) {
    if (!(f->has & NEED_DEVICE)) return steps;
    intervals waits = intervals_in(f->arena);
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_piece *p = &f->idle.v[i];
        if (p->cause == IDLE_HOST_LATE || p->cause == IDLE_BLOCKED)
            intervals_add(&waits, p->range.start, p->range.end);
    }
    intervals_merge(&waits);
    return intervals_and(&steps, &waits);
}

/* Steps without marked loading: in the stages that have other rules, or outside of them. */
static intervals time_of(const advice_facts *f, bool in_model) {
    intervals steps = intervals_in(f->arena), stages = intervals_in(f->arena);
    for (uint32_t i = 0; i < f->steps.n; i++)
        intervals_add(&steps, f->steps.v[i].host_start, f->steps.v[i].host_end);
    for (size_t i = 0; i < f->stages.n; i++)
        intervals_add(&stages, f->stages.v[i].range.start, f->stages.v[i].range.end);
    intervals_merge(&steps);
    intervals_merge(&stages);
    steps = in_model ? intervals_and(&steps, &stages) : intervals_minus(&steps, &stages);
    steps = intervals_minus(&steps, &f->ranges.at[ROLE_DATA_LOADER]);
    return only_waits(f, steps);
}

/* The frame that the line calls on the way to this one; 0: it is the innermost itself. In the
 * model it is that of Python's own module. */
static uint32_t callee_of(const line_scan *s, uint32_t frame) {
    const trace *t = s->f->t;
    while (s->in_model && s->lines.owner[t->frame.parent[frame]] == OWNER_STDLIB)
        frame = t->frame.parent[frame];
    if (s->in_model) return frame;
    uint32_t site = line_site(&s->lines, frame), below = 0;
    for (int up = 0; up < 512 && frame && frame != site; up++) {
        below = frame;
        frame = t->frame.parent[frame];
    }
    return frame == site ? below : 0;
}

static status add_piece(void *context, const line_piece *p, error *err) {
    line_scan *s = context;
    (void)err;
    uint32_t site = line_site(&s->lines, p->frame);
    int64_t ns = sub_i64(p->range.end, p->range.start);
    if (!site || (s->in_model && s->lines.owner[p->frame] != OWNER_STDLIB)) return OK;
    if (!s->name) {
        add_time(&s->sites, site, ns);
        return OK;
    }
    if (s->f->t->frame.name[site] != s->name) return OK;
    line_cost *c = &s->f->line;
    add_time(&s->callees, callee_of(s, p->frame), ns);
    event_list_add(&c->top, (advice_event){p->range, ns, 0, true});
    intervals_add(&c->at, p->range.start, p->range.end);
    return OK;
}

static status cut(line_scan *s, error *err) {
    line_cutter cutter = {&s->lines, add_piece, s};
    for (int k = 0; k < 2; k++) {
        s->in_model = k == 1;
        intervals at = time_of(s->f, s->in_model);
        if (at.failed) FAIL_MEMORY(err);
        for (size_t i = 0; i < at.n; i++)
            TRY(line_cut(&cutter, s->track, (interval){at.v[i].start, at.v[i].end}, err));
    }
    return OK;
}

/* In how many steps it runs. */
static uint32_t count_steps(const advice_facts *f, const intervals *at) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->steps.n; i++)
        n += intervals_ns_in(at, f->steps.v[i].host_start, f->steps.v[i].host_end) > 0;
    return n;
}

/* What the thread mostly does there, if it does not run. */
static uint8_t state_there(const line_scan *s, const intervals *at) {
    const trace *t = s->f->t;
    int64_t ns[N_SAMPLE_STATES] = {0}, all = 0;
    for (uint32_t i = 1; i < t->sample.n; i++) {
        uint32_t site = line_site(&s->lines, t->sample.frame[i]);
        int64_t from = t->sample.time[i];
        if (t->sample.track[i] != s->track || !site || t->frame.name[site] != s->name ||
            t->sample.state[i] >= N_SAMPLE_STATES)
            continue;
        int64_t part = intervals_ns_in(at, from, add_i64(from, t->sample.dur[i]));
        ns[t->sample.state[i]] = add_i64(ns[t->sample.state[i]], part);
        all = add_i64(all, part);
    }
    for (uint8_t i = SAMPLE_LOCK; i <= SAMPLE_CHILD; i++)
        if (ns[i] > all / 2) return i;
    return SAMPLE_RUNNING;
}

static status find_line(line_scan *s, error *err) {
    line_cost *c = &s->f->line;
    TRY(cut(s, err));
    const line_time *most = most_of(&s->sites);
    if (!most) return OK;
    s->name = most->name;
    TRY(cut(s, err));
    intervals_merge(&c->at);
    if (c->at.failed) FAIL_MEMORY(err);
    c->ns = most->ns;
    c->name = line_short(s->f->t, most->site, s->f->arena);
    if (!c->name.p) FAIL_MEMORY(err);
    c->function = line_function(s->f->t, most->site);
    c->steps = count_steps(s->f, &c->at);
    c->state = state_there(s, &c->at);
    const line_time *callee = most_of(&s->callees);
    if (!callee || callee->ns < most->ns / 2) return OK;
    c->callee = line_function(s->f->t, callee->site);
    if (s->f->t->frame.file[callee->site]) {
        c->where = line_short(s->f->t, callee->site, s->f->arena);
        if (!c->where.p) FAIL_MEMORY(err);
    }
    c->traces = s->lines.owner[callee->site] == OWNER_STDLIB &&
                str_has_any_nocase(c->where, (const char *const[]){"traceback.py"}, 1);
    return OK;
}

/* ---- the interpreter's lock -------------------------------------------------------------- */

static status find_lock(line_scan *s, error *err) {
    const trace *t = s->f->t;
    lock_cost *c = &s->f->gil;
    intervals steps = step_moments(&s->f->steps, s->f->arena);
    line_times *holders = ARENA_ARRAY(s->f->arena, line_times, 1);
    int64_t all = 0, waits = 0, n = 0;
    if (!holders || steps.failed) FAIL_MEMORY(err);
    holders->t = t;
    for (uint32_t i = 1; i < t->sample.n; i++) {
        int64_t from = t->sample.time[i], dur = t->sample.dur[i];
        int64_t part = intervals_ns_in(&steps, from, add_i64(from, dur));
        if (t->sample.track[i] != s->track) {
            if (t->sample.state[i] == SAMPLE_RUNNING)
                add_time(holders, line_site(&s->lines, t->sample.frame[i]), part);
            continue;
        }
        n++;
        all = add_i64(all, part);
        if (t->sample.state[i] == SAMPLE_GIL) waits = add_i64(waits, part);
    }
    const line_time *holder = most_of(holders);
    if (n < LEAST_SAMPLES || !holder || !all) return OK;
    c->share = (double)waits / (double)all;
    c->holder = line_short(t, holder->site, s->f->arena);
    if (!c->holder.p) FAIL_MEMORY(err);
    return OK;
}

status advice_lines_find(advice_facts *f, error *err) {
    line_scan *s = ARENA_ARRAY(f->arena, line_scan, 1);
    if (!s) FAIL_MEMORY(err);
    s->f = f;
    f->line.at = intervals_in(f->arena);
    /* Most lines of a recording without steps prepare them. */
    if (f->has & NEED_REQUESTS || f->steps.n < 2) return OK;
    TRY(trace_require(f->t, TRACE_TABLE(sample), err));
    if (f->t->sample.n < LEAST_SAMPLES) return OK; /* frames alone tell functions, not lines */
    TRY(trace_require(f->t, LINE_TABLES, err));
    TRY(line_view_init(&s->lines, f->t, f->arena, err));
    s->track = find_thread(f);
    s->sites.t = s->callees.t = f->t;
    if (!s->lines.has_lines || !s->track) return OK;
    f->knows_lines = (f->has & NEED_CPU) != 0;
    TRY(find_line(s, err));
    return find_lock(s, err);
}

/* ---- rules ------------------------------------------------------------------------------- */

bool advice_costly_line(const advice_facts *f, double limit, advice *out) {
    static const char *const states[N_SAMPLE_STATES] = {[SAMPLE_LOCK] = "lock",
                                                        [SAMPLE_FILE] = "file",
                                                        [SAMPLE_SOCKET] = "socket",
                                                        [SAMPLE_SLEEP] = "sleep",
                                                        [SAMPLE_CHILD] = "child"};
    const line_cost *c = &f->line;
    int64_t ns = advice_per_step(f, c->ns);
    if (!c->name.n || advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    out->is_cause = true;
    out->events = c->top;
    out->place = c->top.n ? c->top.v[0].range : out->place;
    out->name = c->callee.n ? c->callee : c->name;
    verdict_add(&out->words, arg_text("line", c->name));
    if (c->function.n) verdict_add(&out->words, arg_text("function", c->function));
    if (c->callee.n) verdict_add(&out->words, arg_text("callee", c->callee));
    if (c->where.n) verdict_add(&out->words, arg_text("where", c->where));
    if (c->traces && f->dialect == FOR_PYTORCH) verdict_add(&out->words, arg_int("anomaly", 1));
    if (c->steps < f->steps.n) verdict_add(&out->words, arg_int("some", c->steps));
    if (states[c->state]) verdict_add(&out->words, arg_int(states[c->state], 1));
    if (f->has & NEED_DEVICE) verdict_add(&out->words, arg_text("device", device_noun(f->t)));
    return true;
}

bool advice_gil_waits(const advice_facts *f, double limit, advice *out) {
    const lock_cost *c = &f->gil;
    if (c->share < limit) return false;
    advice_cost(f, out, advice_ns(c->share * (double)f->step_ns));
    verdict_add(&out->words, arg_text("line", c->holder));
    return true;
}
