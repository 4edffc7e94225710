/* summary_filter.c: which steps of a summary are asked about, and what follows for its other
 * rows.
 *
 * Tables of a settled summary ascend by worker, so one walk finds for each step the worker it
 * belongs to (a window counts from the start of each worker's own recording, as everywhere).
 *
 * What was done to a summary is in its facts:
 *   cut               it is cut already: not to be cut again
 *   steps_cut_short   steps of which the window takes only a part, and which count whole
 *   whole_run         tables that are not known by step, a bit each (run_tables)
 * so that an answer can say it however often the summary is used. */
#include "analyse/run/summary_filter.h"

#include "analyse/registry.h"
#include "analyse/rules.h"
#include "analyse/run/summary_answers.h"
#include "base/buf.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

static const char *const run_tables[] = {"collectives", "groups", "transfers", "devices",
                                         "synchronization"};
enum {
    WHOLE_COLLECTIVES = 1,
    WHOLE_GROUPS = 2,
    WHOLE_TRANSFERS = 4,
    WHOLE_DEVICES = 8,
    WHOLE_BLAME = 16
};

bool summary_is_filtered(const params *p) {
    return !window_is_open(params_window(p)) || !steps_are_all(params_steps(p));
}

int64_t run_fact(const summary *s, const char *name) {
    for (uint32_t i = 0; i < SUMMARY_N(s, fact); i++)
        if (str_eq(SUMMARY_ROWS(s, fact)[i].name, str_of(name)))
            return SUMMARY_ROWS(s, fact)[i].value;
    return 0;
}

static status add_fact(summary *s, const char *name, int64_t value, error *err) {
    if (!value) return OK;
    summary_fact *f = summary_add_fact(s);
    if (!f) FAIL_MEMORY(err);
    *f = (summary_fact){.name = summary_text(s, str_of(name)), .value = value};
    if (!f->name.p) FAIL_MEMORY(err);
    return OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

typedef struct {
    const params *p;
    const summary_worker *workers;
    uint32_t n_workers, at;
    int64_t n_cut;           /* steps */
    int64_t lowest, highest; /* number of a chosen step */
} summary_filter_ctx;

static int64_t start_of(summary_filter_ctx *c, str worker) {
    while (c->at < c->n_workers && str_cmp(c->workers[c->at].name, worker) < 0) c->at++;
    bool found = c->at < c->n_workers && str_eq(c->workers[c->at].name, worker);
    return found ? c->workers[c->at].start : 0;
}

static bool is_chosen(summary_filter_ctx *c, const summary_step *s) {
    const params *p = c->p;
    if (s->number < p->first_step || s->number > p->last_step) return false;
    if (window_is_open(params_window(p))) return true;
    time_window w = window_at(params_window(p), start_of(c, s->worker));
    if (s->start >= w.to_ns || s->end <= w.from_ns) return false;
    c->n_cut += s->start < w.from_ns || s->end > w.to_ns;
    return true;
}

static summary_filter_ctx choose_steps(summary *s, const params *p) {
    summary_filter_ctx c = {.p = p,
                            .workers = SUMMARY_ROWS(s, worker),
                            .n_workers = SUMMARY_N(s, worker),
                            .lowest = INT64_MAX,
                            .highest = INT64_MIN};
    summary_step *steps = SUMMARY_ROWS(s, step);
    uint32_t n = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, step); i++) {
        if (!is_chosen(&c, &steps[i])) continue;
        c.lowest = min_i64(c.lowest, steps[i].number);
        c.highest = max_i64(c.highest, steps[i].number);
        steps[n++] = steps[i];
    }
    s->tables[SUMMARY_step].n = n;
    return c;
}

/* The picture of a step that is not asked about. */
static void cut_lanes(summary *s, const summary_filter_ctx *c) {
    summary_lane *v = SUMMARY_ROWS(s, lane);
    uint32_t n = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, lane); i++)
        if (v[i].step >= c->lowest && v[i].step <= c->highest) v[n++] = v[i];
    s->tables[SUMMARY_lane].n = n;
}

/* Is there a step of the worker that starts then? `at` only goes forward over the workers. */
static bool has_step(const summary *s, uint32_t *at, str worker, int64_t start) {
    const summary_step *v = SUMMARY_ROWS(s, step);
    uint32_t n = SUMMARY_N(s, step);
    while (*at < n && str_cmp(v[*at].worker, worker) < 0) ++*at;
    for (uint32_t i = *at; i < n && str_eq(v[i].worker, worker); i++)
        if (v[i].start == start) return true;
    return false;
}

status summary_filter_workers(summary *s, const params *p, error *err) {
    TRY(summary_settle(s, err));
    summary_filter_ctx c = choose_steps(s, p);
    cut_lanes(s, &c);
    summary_comm *comms = SUMMARY_ROWS(s, comm);
    uint32_t at = 0;
    bool inside = false;
    for (uint32_t i = 0; i < SUMMARY_N(s, comm); i++) {
        bool same = i && comms[i].step != ABSENT_I64 && comms[i].step == comms[i - 1].step &&
                    str_eq(comms[i].worker, comms[i - 1].worker);
        if (!same) inside = has_step(s, &at, comms[i].worker, comms[i].step);
        comms[i].counts = inside && comms[i].step != ABSENT_I64;
        if (!comms[i].counts) comms[i].step_number = ABSENT_I64;
    }
    /* `step` stays until here: the next collective is compared with it. */
    for (uint32_t i = 0; i < SUMMARY_N(s, comm); i++)
        if (!comms[i].counts) comms[i].step = ABSENT_I64;
    TRY(add_fact(s, "cut", 1, err));
    TRY(add_fact(s, "steps_cut_short", c.n_cut, err));
    TRY(add_fact(s, "whole_run", SUMMARY_N(s, device) ? WHOLE_DEVICES : 0, err));
    return summary_settle(s, err);
}

/* ---- a resolved run ---------------------------------------------------------------------- */

/* The times in collectives of the steps that stayed, and their sums by worker. */
static void cut_sync(summary *s) {
    summary_step_sync *v = SUMMARY_ROWS(s, step_sync);
    summary_sync *sums = SUMMARY_ROWS(s, sync);
    uint32_t n = 0, at = 0, k = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, step_sync); i++)
        if (has_step(s, &at, v[i].worker, v[i].start)) v[n++] = v[i];
    s->tables[SUMMARY_step_sync].n = n;
    for (uint32_t i = 0; i < SUMMARY_N(s, sync); i++) {
        sums[i].transfer = sums[i].waiting = 0;
        while (k < n && str_cmp(v[k].worker, sums[i].worker) < 0) k++;
        for (; k < n && str_eq(v[k].worker, sums[i].worker); k++) {
            sums[i].transfer = add_i64(sums[i].transfer, v[k].transfer);
            sums[i].waiting = add_i64(sums[i].waiting, v[k].waiting);
        }
    }
}

static void cut_arrivals(summary *s, const summary_filter_ctx *c) {
    summary_arrival *v = SUMMARY_ROWS(s, arrival);
    uint32_t n = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, arrival); i++)
        if (v[i].step >= c->lowest && v[i].step <= c->highest) v[n++] = v[i];
    s->tables[SUMMARY_arrival].n = n;
}

/* The end of the arrivals at the same meeting. */
static uint32_t match_end(const summary *s, uint32_t first) {
    const summary_arrival *v = SUMMARY_ROWS(s, arrival);
    uint32_t end = first + 1;
    while (end < SUMMARY_N(s, arrival) && v[end].lost == v[first].lost &&
           v[end].lot == v[first].lot)
        end++;
    return end;
}

/* Meetings of several among the arrivals that are kept. */
static int64_t count_meetings(const summary *s) {
    int64_t n = 0;
    for (uint32_t i = 0, end; i < SUMMARY_N(s, arrival); i = end) {
        end = match_end(s, i);
        n += end - i > 1;
    }
    return n;
}

static summary_blame *blame_of(summary *s, str worker) {
    for (uint32_t i = 0; i < SUMMARY_N(s, blame); i++)
        if (str_eq(SUMMARY_ROWS(s, blame)[i].worker, worker)) return &SUMMARY_ROWS(s, blame)[i];
    return NULL;
}

/* The rank that arrived last, and what the others lost to it, in the arrivals that remain. */
static void cut_blame(summary *s) {
    const summary_arrival *v = SUMMARY_ROWS(s, arrival);
    int64_t comm_matches = count_meetings(s);
    for (uint32_t i = 0; i < SUMMARY_N(s, blame); i++)
        SUMMARY_ROWS(s, blame)[i].caused = SUMMARY_ROWS(s, blame)[i].last = 0;
    for (uint32_t i = 0, end; i < SUMMARY_N(s, arrival); i = end) {
        uint32_t latest = i;
        end = match_end(s, i);
        for (uint32_t k = i + 1; k < end; k++)
            if (v[k].late_by > v[latest].late_by) latest = k;
        summary_blame *b = end - i > 1 ? blame_of(s, v[latest].worker) : NULL;
        if (!b) continue;
        b->last++;
        b->caused = add_i64(b->caused, max_i64(0, v[latest].lost));
    }
    for (uint32_t i = 0; i < SUMMARY_N(s, fact); i++)
        if (str_eq(SUMMARY_ROWS(s, fact)[i].name, STR("meetings")))
            SUMMARY_ROWS(s, fact)[i].value = comm_matches;
}

status summary_filter_resolved(summary *s, const params *p, error *err) {
    int64_t whole = 0;
    TRY(summary_settle(s, err));
    summary_filter_ctx c = choose_steps(s, p);
    cut_lanes(s, &c);
    cut_sync(s);
    bool all = count_meetings(s) == run_fact(s, "meetings"); /* else only the worst are kept */
    cut_arrivals(s, &c);
    if (all)
        cut_blame(s);
    else
        whole |= WHOLE_BLAME;
    if (SUMMARY_N(s, call)) whole |= WHOLE_COLLECTIVES;
    if (SUMMARY_N(s, group)) whole |= WHOLE_GROUPS | WHOLE_TRANSFERS;
    if (SUMMARY_N(s, device)) whole |= WHOLE_DEVICES;
    TRY(add_fact(s, "cut", 1, err));
    TRY(add_fact(s, "steps_cut_short", c.n_cut, err));
    TRY(add_fact(s, "whole_run", whole, err));
    return summary_settle(s, err);
}

/* ---- notes ------------------------------------------------------------------------------- */

static status note_whole(const summary *s, arena *a, answer *out, error *err) {
    int64_t whole = run_fact(s, "whole_run");
    verdict note = {
        .id = "whole_recording", .message = MSG_NOTE_WHOLE_RUN, .severity = SEVERITY_INFO};
    buf names = {0};
    bool only_here = registry_of(out)->run == analyse_distributed;
    for (size_t i = 0; only_here && i < sizeof run_tables / sizeof *run_tables; i++) {
        if (!(whole >> i & 1)) continue;
        if (names.n) buf_add_cstr(&names, ", ");
        buf_add_cstr(&names, run_tables[i]);
    }
    str list = names.n && buf_ok(&names) ? arena_str(a, buf_str(&names)) : STR_NONE;
    bool failed = !buf_ok(&names) || (names.n && !list.p);
    buf_fini(&names);
    if (failed) FAIL_MEMORY(err);
    if (!list.n) return OK;
    verdict_add(&note, arg_text("tables", list));
    return answer_note(out, a, &note, err);
}

status summary_filter_notes(const analysis_input *in, const params *p, const summary *s,
                            arena *a, answer *out, error *err) {
    int64_t n = run_fact(s, "steps_cut_short");
    if (n) {
        verdict note = {
            .id = "whole_steps", .message = MSG_NOTE_WHOLE_STEPS, .severity = SEVERITY_WARNING};
        verdict_add(&note, arg_int("count", n));
        verdict_add(&note, arg_int("workers", SUMMARY_FEW_WORKERS));
        TRY(answer_note(out, a, &note, err));
    }
    if (!window_is_open(params_window(p)) && in->n_traces > 1 &&
        !in->traces[0].trace->summary) {
        verdict note = {
            .id = "traces_read", .message = MSG_NOTE_TRACES_READ, .severity = SEVERITY_INFO};
        verdict_add(&note, arg_int("workers", in->n_traces));
        TRY(answer_note(out, a, &note, err));
    }
    return note_whole(s, a, out, err);
}
