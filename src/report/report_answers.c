/* report_answers.c: which questions are asked about a run: those of asked.def, the steps one by
 * one, the path of the step that stands for all, and the comparison. */
#include <stdio.h>

#include "base/sort.h"
#include "report/report_int.h"
#include "serve/facts.h"

enum { MOST_STEPS = 100, MOST_CUTS = 8 };

typedef enum { ASKED_ONE = 1, ASKED_ALL = 2, ASKED_BOTH = 3 } asked_whose;

static const struct {
    asked_whose whose;
    str key, question;
} ASKED_ROWS[] = {
#define ASKED(whose, key, question) {ASKED_##whose, STR(key), STR(question)},
#include "report/asked.def"
};
enum { N_ASKED = sizeof ASKED_ROWS / sizeof *ASKED_ROWS };

uint64_t report_count(const report *r, const report_run *run) {
    return (uint64_t)N_ASKED * (run->n_workers + (run->job ? 1u : 0u)) + run->n_workers +
           (r->n_runs > 1 ? 2u : 0u);
}

static status ask_rows(report *r, asked_of about, asked_whose whose, error *err) {
    for (uint32_t i = 0; i < N_ASKED; i++)
        if (ASKED_ROWS[i].whose & whose)
            TRY(report_keep(r, about, ASKED_ROWS[i].key, ASKED_ROWS[i].question, true, err));
    return OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* The same questions, cut to steps. */
static status ask_cut(report *r, asked_of about, int64_t first, int64_t last, error *err) {
    char steps[48], key[160], asked[256];
    if (first == last)
        snprintf(steps, sizeof steps, "step=%lld", (long long)first);
    else
        snprintf(steps, sizeof steps, "step=%lld..%lld", (long long)first, (long long)last);
    for (uint32_t i = 0; i < N_ASKED; i++) {
        str k = ASKED_ROWS[i].key, q = ASKED_ROWS[i].question;
        bool grouped = str_find(k, STR("?"), 0) != SIZE_MAX;
        if (!(ASKED_ROWS[i].whose & ASKED_ONE) || str_starts(k, STR("info"))) continue;
        snprintf(key, sizeof key, "%.*s%c%s", STR_ARG(k), grouped ? '&' : '?', steps);
        snprintf(asked, sizeof asked, "%.*s&%s", STR_ARG(q), steps);
        TRY(report_keep(r, about, str_of(key), str_of(asked), true, err));
    }
    return OK;
}

/* Steps that are inside as a whole can be chosen, each and all of them. */
static status ask_detail(report *r, asked_of about, const trace *t, error *err) {
    step_range d = r->o->detail;
    int64_t first = INT64_MAX, last = INT64_MIN;
    uint32_t n = 0;
    if (steps_are_all(d)) return OK;
    for (uint32_t i = 1; i < t->step.n; i++) {
        int64_t number = t->step.number[i];
        if (number < d.first || number > d.last) continue;
        if (number < first) first = number;
        if (number > last) last = number;
        if (n++ < MOST_CUTS) TRY(ask_cut(r, about, number, number, err));
    }
    if (n > 1) TRY(ask_cut(r, about, first, last, err));
    return OK;
}

uint64_t report_count_cuts(const report *r, const trace *t) {
    step_range d = r->o->detail;
    uint64_t n = 0;
    if (steps_are_all(d)) return 0;
    for (uint32_t i = 1; i < t->step.n; i++)
        n += t->step.number[i] >= d.first && t->step.number[i] <= d.last;
    return (n < MOST_CUTS ? n : MOST_CUTS) + (n > 1);
}

/* What the picture of one step is made of, of as many steps as fit. */
static status ask_segments(report *r, asked_of about, const trace *t, error *err) {
    char key[64], asked[96];
    for (uint32_t i = 1; i < t->step.n && i <= MOST_STEPS; i++) {
        long long number = (long long)t->step.number[i];
        snprintf(key, sizeof key, "steps?step=%lld&table=segments", number);
        snprintf(asked, sizeof asked, "steps?step=%lld&table=segments&limit=0", number);
        TRY(report_keep(r, about, str_of(key), str_of(asked), true, err));
    }
    return OK;
}

typedef struct {
    const int64_t *number, *length;
} step_rows;

static int compare_lengths(uint32_t a, uint32_t b, const void *context) {
    const step_rows *s = context;
    if (s->length[a] != s->length[b]) return s->length[a] < s->length[b] ? -1 : 1;
    return s->number[a] < s->number[b] ? -1 : s->number[a] > s->number[b];
}

/* The step whose recorded length is the median, the lower one of two, as the page chooses it;
 * its path lasts to the start of the next step, where that is known. ERR_NOT_FOUND: there
 * is none. */
static status find_typical(const table *steps, arena *a, int64_t *number, bool *next) {
    uint32_t step = table_column(steps, STR("step"));
    uint32_t length = table_column(steps, STR("recorded"));
    size_t n = steps->n_rows;
    if (step == UINT32_MAX || length == UINT32_MAX || !n) return ERR_NOT_FOUND;
    step_rows rows = {steps->columns[step].v.i, steps->columns[length].v.i};
    uint32_t *order = ARENA_ARRAY(a, uint32_t, n), *scratch = ARENA_ARRAY(a, uint32_t, n);
    if (!order || !scratch) return ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, compare_lengths, &rows);
    *number = rows.number[order[(n - 1) / 2]];
    *next = false;
    for (size_t i = 0; i < n; i++) *next |= sub_i64(rows.number[i], *number) == 1;
    return OK;
}

static status ask_path(report *r, asked_of about, request_ctx *x, error *err) {
    analysis_input in = {.traces = x->traces, .n_traces = 1};
    params whole = PARAMS_WHOLE;
    answer a;
    int64_t step;
    bool next;
    char key[64], asked[96];
    whole.pool = r->service.pool;
    const analysis_info *info = registry_find(STR("whatif"));
    error why = {0};
    status st = info ? info->run(&in, &whole, &x->arena, &a, &why) : ERR_NOT_FOUND;
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    if (st != OK) return OK; /* nothing to say about steps that do not exist */
    for (uint32_t i = 0; i < a.n_tables; i++) {
        if (strcmp(a.tables[i]->name, "steps") != 0) continue;
        st = find_typical(a.tables[i], &x->arena, &step, &next);
        if (st == ERR_MEMORY) FAIL_MEMORY(err);
        if (st != OK) return OK;
        int n = next ? snprintf(key, sizeof key, "critical?step=%lld..%lld", (long long)step,
                                (long long)add_i64(step, 1))
                     : snprintf(key, sizeof key, "critical?step=%lld", (long long)step);
        snprintf(asked, sizeof asked, "%.*s&table=path&limit=0", n, key);
        snprintf(key + n, sizeof key - (size_t)n, "&table=path");
        return report_keep(r, about, str_of(key), str_of(asked), true, err);
    }
    return OK;
}

/* ---- a worker, a run --------------------------------------------------------------------- */

static status ask_worker(report *r, asked_of about, error *err) {
    request_ctx x;
    bool answered;
    status st = report_open(r, report_target(r, about, STR("info")), &x, &answered, err);
    if (st == OK && !answered && x.n_held) {
        const trace *t = x.traces[0].trace;
        facts_make(r->service.facts, snapshot_entry(x.snapshot, x.chosen.span), x.held[0],
                   r->service.pool);
        st = ask_path(r, about, &x, err);
        if (st == OK) st = ask_segments(r, about, t, err);
        if (st == OK) st = ask_detail(r, about, t, err);
    }
    request_end(&x);
    return st;
}

/* Against the other run: all ranks, and the worker each begins with. */
static status ask_comparison(report *r, const report_run *run, error *err) {
    if (r->n_runs < 2) return OK;
    const report_run *other = run == &r->runs[0] ? &r->runs[1] : &r->runs[0];
    str name = report_escaped(r, other->name);
    str other_worker = report_escaped(r, other->workers[0]);
    if (!name.p || !other_worker.p) FAIL_MEMORY(err);
    for (uint32_t all = 0; all < (run->job && other->job ? 2u : 1u); all++) {
        str worker = all ? STR("*") : run->workers[0];
        str key = all ? arena_printf(&r->arena, "diff?other=%.*s", STR_ARG(other->name))
                      : arena_printf(&r->arena, "diff?other=%.*s&other_worker=%.*s",
                                     STR_ARG(other->name), STR_ARG(other->workers[0]));
        str asked =
            all ? arena_printf(&r->arena, "diff?limit=2000&other=%.*s", STR_ARG(name))
                : arena_printf(&r->arena, "diff?limit=2000&other=%.*s&other_worker=%.*s",
                               STR_ARG(name), STR_ARG(other_worker));
        if (!key.p || !asked.p) FAIL_MEMORY(err);
        TRY(report_keep(r, (asked_of){run->name, worker}, key, asked, true, err));
    }
    return OK;
}

status report_rank_answers(report *r, const report_run *run, error *err) {
    asked_of all = {run->name, STR("*")};
    if (run->job) return ask_rows(r, all, ASKED_ALL, err);
    /* For a summary, which is one worker that represents many. */
    return report_keep(r, all, STR("distributed"), STR("distributed?map-steps=16&limit=20000"),
                       true, err);
}

status report_answers(report *r, const report_run *run, error *err) {
    for (uint32_t i = 0; i < run->n_workers; i++) {
        asked_of about = {run->name, run->workers[i]};
        TRY(ask_rows(r, about, ASKED_ONE, err));
        TRY(ask_worker(r, about, err));
        TRY(report_timeline(r, about, err));
    }
    return ask_comparison(r, run, err);
}
