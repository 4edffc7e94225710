/* compared.c: see compared.h. */
#include "serve/compared.h"

#include "analyse/registry.h"
#include "base/message_ids_advice.h"

enum { MOST_RUNS = 64 };

/* `worker`: of this run; without one it is that of the first run. */
static status add_run(request_ctx *x, str name, str worker, error *err) {
    const request *r = &x->request;
    choice wanted = {.run = name,
                     .worker = worker.p ? worker : r->question.worker,
                     .span = r->question.span};
    span_choice c;
    /* The page asks with the worker of the first run; another run may name its own
     * otherwise. */
    if (worker.p) {
        TRY(span_choose(&x->snapshot->found, &wanted, &c, err));
    } else if (span_choose(&x->snapshot->found, &wanted, &c, NULL) != OK) {
        wanted.worker = STR_NONE;
        TRY(span_choose(&x->snapshot->found, &wanted, &c, err));
    }
    /* The chosen run is not counted twice among the others of its program. */
    if (x->compared.n >= 2 && c.run == x->chosen.run) return OK;
    if (x->compared.n == MOST_RUNS)
        return param_fail(&r->question.params, STR("base_runs"), "1..62", err);
    plan_question q = {.analysis = r->analysis, .question = &r->question};
    run_plan of_one = {.run = c.run, .first = c, .n = 1};
    x->compared.runs[x->compared.n++] = worker.p ? of_one : plan_run(&q, &c);
    return OK;
}

static status add_base_runs(request_ctx *x, str names, error *err) {
    while (names.n) {
        str one = str_cut(&names, STR(","));
        if (one.n) TRY(add_run(x, one, STR_NONE, err));
    }
    return OK;
}

status compared_find(request_ctx *x, error *err) {
    const request *r = &x->request;
    const params *p = &r->question.params;
    if (!r->analysis || !registry_find_param(r->analysis->name, STR("other"))) return OK;
    str other = param_text(p, STR("other")), worker = param_text(p, STR("other_worker"));
    if (!other.p && worker.p) other = x->chosen.run->name; /* two workers of one run */
    /* A run can be held against limits alone. */
    if (!other.p && analysis_has(r->analysis, ALONE_TOO)) return OK;
    if (!other.p) FAIL0(err, ERR_ARG, NOPOS, MSG_DIFF_NEEDS_TWO);
    x->compared.runs = ARENA_ARRAY(&x->arena, run_plan, MOST_RUNS);
    if (!x->compared.runs) FAIL_MEMORY(err);
    x->compared.runs[0] = x->plan;
    x->compared.n = 1;
    TRY(add_run(x, other, worker, err));
    for (uint32_t i = 0; i < p->n_extra; i++)
        if (value_same_name(p->extra[i].name, STR("base_runs")))
            TRY(add_base_runs(x, p->extra[i].value, err));
    return OK;
}

status compared_input(request_ctx *x, analysis_input *in, error *err) {
    const compared_runs *c = &x->compared;
    analysis_input *inputs = ARENA_ARRAY(&x->arena, analysis_input, c->n);
    uint32_t at = 0;
    if (!inputs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->n; i++) {
        inputs[i].traces = x->traces + at;
        inputs[i].n_traces = c->runs[i].n;
        at += c->runs[i].n;
    }
    *in = inputs[0];
    in->against = &inputs[1];
    in->also = inputs + 2;
    in->n_also = c->n - 2;
    return OK;
}
