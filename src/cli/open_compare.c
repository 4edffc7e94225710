/* open_compare.c: the runs of a comparison: its second one, and more of the first program.
 *
 * Each is opened like the first run: all ranks, or the worker that was chosen. --base-runs
 * takes paths separated by commas, each a trace, a run or a folder of runs, all of which count;
 * the first run itself is not counted twice. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message_ids_advice.h"
#include "cli/cli.h"
#include "cli/open_int.h"

bool compare_is_asked(const options *o) {
    const analysis_info *a = o->command.analysis;
    return a && registry_find_param(a->name, STR("other")) && !(o->command.groups & BASELINE);
}

status compare_paths(const options *o, compared_paths *out, error *err) {
    out->other = NULL;
    if (!compare_is_asked(o)) return OK;
    str given = param_text(&o->question.params, STR("other"));
    out->other = o->n_traces == 2 ? o->traces[1] : given.p;
    /* A run can be held against limits alone. */
    if (!out->other && o->n_traces == 1 && analysis_has(o->command.analysis, ALONE_TOO))
        return OK;
    if (!out->other || o->n_traces > 2 || (o->n_traces == 2 && given.p))
        FAIL0(err, ERR_ARG, NOPOS, MSG_DIFF_NEEDS_TWO);
    return OK;
}

/* ---- one more run ------------------------------------------------------------------------ */

/* What was opened is put aside, another run takes its place for a while. */
typedef struct {
    analysis_input input;
    analysis_trace *traces;
    const run_listing *listing;
} put_aside;

static put_aside begin_other(opened_input *x) {
    put_aside was = {x->input, x->traces, x->listing};
    x->input = (analysis_input){.n_traces = 0};
    return was;
}

static analysis_input end_other(opened_input *x, const put_aside *was) {
    analysis_input made = x->input;
    x->input = was->input;
    x->traces = was->traces;
    x->listing = was->listing;
    return made;
}

static status open_second(const options *o, opened_input *x, const char *path, error *err) {
    span_choice c;
    analysis_input *other = ARENA_ARRAY(&x->arena, analysis_input, 1);
    if (!other) FAIL_MEMORY(err);
    options second = *o;
    str worker = param_text(&o->question.params, STR("other_worker"));
    if (worker.p) second.question.worker = worker;
    put_aside was = begin_other(x);
    TRY(open_path(&second, x, path, &c, err));
    TRY(open_run(&second, x, &c, err));
    *other = end_other(x, &was);
    x->input.against = other;
    return OK;
}

/* ---- further runs of the first program --------------------------------------------------- */

static bool is_same_file(str a, str b) {
    char x[PATH_MAX], y[PATH_MAX];
    return realpath(a.p, x) && realpath(b.p, y) && strcmp(x, y) == 0;
}

static status add_input(opened_input *x, const analysis_input *one, error *err) {
    analysis_input *more = ARENA_ARRAY(&x->arena, analysis_input, (size_t)x->input.n_also + 1);
    if (!more) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < x->input.n_also; i++) more[i] = x->input.also[i];
    more[x->input.n_also] = *one;
    x->input.also = more;
    x->input.n_also++;
    return OK;
}

static status open_base_run(const options *o, opened_input *x, const catalogue *in,
                            const run_entry *run, error *err) {
    span_choice c;
    choice wanted = {.run = in->n_runs > 1 ? run->name : STR_NONE,
                     .worker = o->question.worker,
                     .span = o->question.span};
    TRY(span_choose(in, &wanted, &c, err));
    if (is_same_file(c.span->path, x->input.traces[0].path)) return OK;
    put_aside was = begin_other(x);
    TRY(open_run(o, x, &c, err));
    analysis_input one = end_other(x, &was);
    return add_input(x, &one, err);
}

static status open_base_path(const options *o, opened_input *x, str path, error *err) {
    catalogue found = {.n_runs = 0};
    str name = arena_str(&x->arena, path);
    if (!name.p) FAIL_MEMORY(err);
    TRY(run_discover(&x->arena, name.p, &found, err));
    for (uint32_t i = 0; i < found.n_runs; i++)
        TRY(open_base_run(o, x, &found, &found.runs[i], err));
    return OK;
}

/* A path that is there as it was given may hold commas. */
static status open_base_list(const options *o, opened_input *x, str list, error *err) {
    if (access(list.p, F_OK) == 0) return open_base_path(o, x, list, err);
    while (list.n) {
        str one = str_cut(&list, STR(","));
        if (one.n) TRY(open_base_path(o, x, one, err));
    }
    return OK;
}

status open_compared(const options *o, opened_input *x, const compared_paths *paths,
                     error *err) {
    const params *p = &o->question.params;
    TRY(open_second(o, x, paths->other, err));
    for (uint32_t i = 0; i < p->n_extra; i++)
        if (value_same_name(p->extra[i].name, STR("base_runs")))
            TRY(open_base_list(o, x, p->extra[i].value, err));
    return OK;
}
