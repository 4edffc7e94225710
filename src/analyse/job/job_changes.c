/* job_changes.c: what is to be different in a job; see job_changes.h. */
#include "analyse/job/job_changes.h"

#include "analyse/lexicon.h"
#include "base/bisect.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

enum { WORK_MARK = 1 };

typedef struct {
    ranks_replay *r;
    const params *params;
    arena *arena;
} reader;

/* A change on all ranks: its place. On each it touches nothing until that is filled in. */
static uint32_t add_change(reader *x, str text, job_scope scope) {
    ranks_replay *r = x->r;
    uint32_t c = r->n_changes++;
    r->scope[c] = scope;
    for (uint32_t i = 0; i < r->jg->n_ranks; i++) {
        scenario *s = &r->scenarios[i];
        s->v[s->n++] = (scenario_change){.kind = CHANGE_TO_LISTED, .text = text, .factor = 1};
    }
    return c;
}

/* ---- what takes part of a rank's time ---------------------------------------------------- */

/* The steps a list is about: those of the job in which `late` is above 0; NULL: all. */
typedef struct {
    const job *job;
    const int64_t *late;
} step_filter;

static bool is_wanted(const step_filter *f, int64_t number) {
    if (!f->late) return true;
    uint32_t i = SEARCH_FIRST(k, 0u, f->job->n_steps, f->job->number[k] < number);
    return i < f->job->n_steps && f->job->number[i] == number && f->late[i] > 0;
}

static bool in_step(const why_graph *g, const step_filter *f, int64_t time) {
    uint32_t i = SEARCH_FIRST(k, 0u, g->n_steps, g->points[g->steps[k].start].start <= time);
    return i && time < g->points[g->steps[i - 1].end].start &&
           is_wanted(f, g->steps[i - 1].number);
}

/* Marks device work of the steps that is not a collective's; its time. */
static status mark_work(const reader *x, job_rank *rank, const step_filter *f,
                        scenario_change *v, int64_t *ns, error *err) {
    const why_graph *g = &rank->graph;
    uint16_t *marks = ARENA_ARRAY(x->arena, uint16_t, (size_t)g->n_works + 1);
    if (!marks) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < g->n_works; k++) {
        uint32_t step = g->works[k].step;
        if (!step || !is_wanted(f, g->steps[step - 1].number)) continue;
        if (comm_kernel_row(&rank->names, k)) continue;
        marks[k] = WORK_MARK;
        *ns = add_i64(*ns, g->t->slice.dur[g->t->kernel.slice[k]]);
    }
    v->work_marks = marks;
    v->mark = WORK_MARK;
    return OK;
}

static bool is_of_part(const trace *t, uint32_t slice, late_cause part) {
    uint8_t kind = t->slice.kind[slice];
    if (part == LATE_DATA) return kind == KIND_DATA;
    if (part == LATE_HOST) return kind == KIND_STEP;
    return kind == KIND_RUNTIME && lexicon_means(trace_slice_name(t, slice), MEANS_ALLOCATES);
}

/* Lists the calls of a part that begin in the steps; their time. */
static status list_calls(const reader *x, const job_rank *rank, const step_filter *f,
                         late_cause part, scenario_change *v, int64_t *ns, error *err) {
    const trace *t = rank->t;
    uint32_t n = 0, *list = ARENA_ARRAY(x->arena, uint32_t, (size_t)t->slice.n + 1);
    if (!list) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (!is_of_part(t, i, part) || !in_step(&rank->graph, f, t->slice.start[i])) continue;
        list[n++] = i;
        *ns = add_i64(*ns, t->slice.dur[i]);
    }
    v->listed = list;
    v->n_calls = n;
    return OK;
}

/* ---- changes of the job ------------------------------------------------------------------ */

/* What is left of the step's range without the waiting: scaling it does not touch a wait. */
static int64_t own_time(const job *j, uint32_t worker, const int64_t *late) {
    int64_t own = 0;
    for (uint32_t i = 0; i < j->late.n_cells; i++) {
        const step_cell *c = &j->late.cells[i];
        if (c->worker == worker && late[c->step] > 0) own = add_i64(own, c->own);
    }
    return own;
}

/* What makes the rank late takes as long as usual. Without a device its host computes. */
static status set_usual(const reader *x, uint32_t change, uint32_t rank, error *err) {
    job_rank *of = &x->r->jg->ranks[rank];
    const job *j = x->r->job;
    scenario_change *v = &x->r->scenarios[rank].v[change];
    for (uint32_t i = 0; i < j->n_causes; i++) {
        const job_cause *c = &j->causes[i];
        step_filter f = {j, c->late_by_step};
        int64_t ns = 0;
        if (c->group || c->worker != of->place || !c->sum) continue;
        bool on_host = c->part == LATE_COMPUTE && of->t->kernel.n <= 1;
        late_cause part = on_host ? LATE_HOST : c->part;
        TRY(part == LATE_COMPUTE ? mark_work(x, of, &f, v, &ns, err)
                                 : list_calls(x, of, &f, part, v, &ns, err));
        if (part == LATE_HOST) ns = own_time(j, c->worker, c->late_by_step);
        if (ns > 0) v->factor = (double)max_i64(0, sub_i64(ns, c->sum)) / (double)ns;
        return OK;
    }
    return OK;
}

/* All of its own time. */
static status set_factor(const reader *x, uint32_t change, uint32_t rank, double factor,
                         error *err) {
    job_rank *of = &x->r->jg->ranks[rank];
    scenario_change *v = &x->r->scenarios[rank].v[change];
    step_filter all = {x->r->job, NULL};
    int64_t ns = 0;
    v->factor = factor;
    TRY(mark_work(x, of, &all, v, &ns, err));
    return list_calls(x, of, &all, LATE_HOST, v, &ns, err);
}

/* Each stage takes its share of the device work of all. */
static status set_balance(const reader *x, uint32_t change, error *err) {
    const job *j = x->r->job;
    int64_t sum = 0;
    for (uint32_t s = 0; s < j->groups.n_stages; s++)
        sum = add_i64(sum, j->stages[s].part[LATE_COMPUTE]);
    double mean = (double)sum / (double)max_i64(1, j->groups.n_stages);
    for (uint32_t i = 0; i < x->r->jg->n_ranks; i++) {
        job_rank *of = &x->r->jg->ranks[i];
        scenario_change *v = &x->r->scenarios[i].v[change];
        step_filter all = {j, NULL};
        int64_t ns = 0;
        if (of->place == UINT32_MAX) continue;
        int64_t own = j->stages[j->groups.stage_of[of->place]].part[LATE_COMPUTE];
        TRY(mark_work(x, of, &all, v, &ns, err));
        if (own > 0) v->factor = mean / (double)own;
    }
    return OK;
}

static status read_rank(reader *x, str text, error *err) {
    uint32_t place;
    double factor;
    TRY(job_read_rank(x->r->job, text, &place, &factor, err));
    str shown = arena_printf(x->arena, "rank %.*s", STR_ARG(text));
    if (!shown.p) FAIL_MEMORY(err);
    uint32_t c = add_change(x, shown, (job_scope){0});
    for (uint32_t i = 0; i < x->r->jg->n_ranks; i++) {
        if (x->r->jg->ranks[i].place != place) continue;
        TRY(factor < 0 ? set_usual(x, c, i, err) : set_factor(x, c, i, factor, err));
    }
    return OK;
}

static status read_job_changes(reader *x, error *err) {
    const params *p = x->params;
    if (param_flag(p, STR("no_stragglers"))) {
        uint32_t c = add_change(x, STR("no_stragglers"), (job_scope){.fast_groups = true});
        for (uint32_t i = 0; i < x->r->jg->n_ranks; i++) TRY(set_usual(x, c, i, err));
    }
    if (param_flag(p, STR("balance_stages"))) {
        uint32_t c = add_change(x, STR("balance_stages"), (job_scope){0});
        TRY(set_balance(x, c, err));
    }
    if (param_flag(p, STR("no_bubbles")))
        (void)add_change(x, STR("no_bubbles"), (job_scope){.no_bubbles = true});
    for (uint32_t i = 0; i < p->n_extra; i++)
        if (str_eq(p->extra[i].name, STR("rank"))) TRY(read_rank(x, p->extra[i].value, err));
    return OK;
}

/* ---- whole ------------------------------------------------------------------------------- */

static status check_matches(const ranks_replay *r, error *err) {
    for (uint32_t c = 0; c < r->n_changes; c++) {
        const scenario_change *v = &r->scenarios[0].v[c];
        bool found = !v->pattern.n;
        for (uint32_t i = 0; i < r->jg->n_ranks; i++)
            found |= r->scenarios[i].v[c].calls || r->scenarios[i].v[c].kernels;
        if (!found) FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_NO_MATCH, arg_text("text", v->text));
    }
    return OK;
}

status job_changes_read(ranks_replay *r, const params *p, arena *a, error *err) {
    reader x = {r, p, a};
    r->scenarios = ARENA_ARRAY(a, scenario, (size_t)r->jg->n_ranks + 1);
    if (!r->scenarios) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->jg->n_ranks; i++) {
        TRY(trace_require(r->jg->ranks[i].t, SCENARIO_TABLES, err));
        TRY(scenario_read(p, a, &r->scenarios[i], err));
        r->scenarios[i].of_many = true;
        r->n_changes = r->scenarios[i].n;
    }
    TRY(read_job_changes(&x, err));
    for (uint32_t i = 0; i < r->jg->n_ranks; i++)
        TRY(scenario_match(&r->scenarios[i], &r->jg->ranks[i].graph, a, err));
    return check_matches(r, err);
}
