/* ask.c: is what a question is about in the traces?
 *
 * Steps are known by the marks of a trace, by the rows that its producer had already added up,
 * and in summaries; the steps of all ranks count together. The second run of a comparison has
 * its own steps (other_step) or those of the first. Traces of one run may have different
 * lengths: a window is outside only when it is outside of all of them. */
#include "analyse/ask.h"

#include <stdio.h>

#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "base/num.h"
#include "store/summary.h"

/* The steps that exist, and those of them that are asked for. */
typedef struct {
    step_range asked, all, inside; /* first > last: none */
} steps_found;

#define STEPS_NONE ((step_range){OPEN_END, OPEN_START})

static bool has_steps(step_range r) {
    return r.first <= r.last;
}

static void take_step(step_range *to, int64_t number) {
    to->first = min_i64(to->first, number);
    to->last = max_i64(to->last, number);
}

static void find_step(steps_found *f, int64_t number) {
    if (number == ABSENT_I64) return;
    take_step(&f->all, number);
    if (number >= f->asked.first && number <= f->asked.last) take_step(&f->inside, number);
}

#define STEP_TABLES                                                            \
    (TRACE_TABLE(step) | TRACE_TABLE(producer_step) | TRACE_TABLE(step_part) | \
     TRACE_TABLE(queue_sample) | TRACE_TABLE(comm_cost) | TRACE_TABLE(link) |  \
     TRACE_TABLE(op_run))

static status find_trace_steps(const trace *t, steps_found *f, error *err) {
    const summary *s = t->summary;
    for (uint32_t i = 0; s && i < SUMMARY_N(s, step); i++)
        find_step(f, SUMMARY_ROWS(s, step)[i].number);
    if (s) return OK;
    TRY(trace_require(t, STEP_TABLES, err));
    for (uint32_t i = 1; i < t->step.n; i++) find_step(f, t->step.number[i]);
    for (uint32_t i = 1; i < t->producer_step.n; i++) find_step(f, t->producer_step.number[i]);
    for (uint32_t i = 1; i < t->step_part.n; i++) find_step(f, t->step_part.number[i]);
    for (uint32_t i = 1; i < t->queue_sample.n; i++) find_step(f, t->queue_sample.step[i]);
    for (uint32_t i = 1; i < t->comm_cost.n; i++) find_step(f, t->comm_cost.step[i]);
    for (uint32_t i = 1; i < t->link.n; i++) find_step(f, t->link.step[i]);
    for (uint32_t i = 1; i < t->op_run.n; i++) find_step(f, t->op_run.step[i]);
    return OK;
}

static status find_steps(const analysis_input *in, step_range asked, steps_found *out,
                         error *err) {
    *out = (steps_found){.asked = asked, .all = STEPS_NONE, .inside = STEPS_NONE};
    for (uint32_t i = 0; i < in->n_traces; i++)
        TRY(find_trace_steps(in->traces[i].trace, out, err));
    return OK;
}

/* ---- what is wrong ----------------------------------------------------------------------- */

/* The steps as they are written: 99, 3.., 3..5. */
static arg asked_arg(step_range s, char text[48]) {
    int n = 0;
    text[0] = '\0';
    if (s.first != OPEN_START) n = snprintf(text, 48, "%lld", (long long)s.first);
    if (s.first != s.last) n += snprintf(text + n, 48 - (size_t)n, "..");
    if (s.first != s.last && s.last != OPEN_END)
        (void)snprintf(text + n, 48 - (size_t)n, "%lld", (long long)s.last);
    return arg_cstr("steps", text);
}

static status check_steps(const analysis_input *in, step_range asked, error *err) {
    steps_found f;
    char text[48];
    if (steps_are_all(asked)) return OK;
    TRY(find_steps(in, asked, &f, err));
    if (has_steps(f.inside)) return OK;
    if (!has_steps(f.all))
        FAIL(err, ERR_ARG, NOPOS, MSG_NO_STEPS_AT_ALL, asked_arg(asked, text));
    arg one =
        f.all.first == f.all.last ? arg_int("one", 1) : (arg){.name = "one", .type = ARG_NONE};
    FAIL(err, ERR_ARG, NOPOS, MSG_NO_SUCH_STEP, asked_arg(asked, text),
         arg_id("first", f.all.first), arg_id("last", f.all.last), one);
}

/* The longest of the traces. */
static int64_t length_of(const analysis_input *in) {
    int64_t longest = 0;
    for (uint32_t i = 0; i < in->n_traces; i++) {
        const trace *t = in->traces[i].trace;
        longest = max_i64(longest, sub_i64(t->end_ns, t->start_ns));
    }
    return longest;
}

static status check_window(const analysis_input *in, time_window w, error *err) {
    int64_t length = length_of(in);
    if (w.from_ns == OPEN_START || w.from_ns < length || w.from_ns == 0) return OK;
    FAIL(err, ERR_ARG, NOPOS, MSG_OUTSIDE_TRACE, arg_time("from", w.from_ns),
         arg_time("length", length));
}

/* Which run of two. */
static status name_run(status s, const analysis_input *in, error *err) {
    if (s != OK && err && in->n_traces) error_add_file(err, in->traces[0].path);
    return s;
}

status part_check(const analysis_input *in, const params *p, error *err) {
    str given = param_text(p, STR("other_step"));
    step_range other = params_steps(p);
    status s = check_window(in, params_window(p), err);
    if (s == OK) s = check_steps(in, params_steps(p), err);
    if (!in->against) return s;
    TRY(name_run(s, in, err));
    if (str_eq(given, STR("all"))) return OK;
    if (given.n && !value_parse(VALUE_STEPS, NULL, given, &other))
        return OK; /* the analysis says what is wrong about it */
    s = check_window(in->against, params_window(p), err);
    if (s == OK) s = check_steps(in->against, other, err);
    return name_run(s, in->against, err);
}

/* ---- what is only partly there ----------------------------------------------------------- */

/* A range without a first step begins at 0 (question/value.c): that says nothing about 0. */
static bool is_partly(const steps_found *f) {
    return (f->asked.first > 0 && f->asked.first < f->all.first) ||
           (f->asked.last != OPEN_END && f->asked.last > f->all.last);
}

static status note_steps(const analysis_input *in, step_range asked, arena *a, answer *out,
                         error *err) {
    steps_found f;
    char text[48];
    if (steps_are_all(asked)) return OK;
    TRY(find_steps(in, asked, &f, err));
    if (!has_steps(f.inside) || !is_partly(&f)) return OK;
    verdict note = {
        .id = "steps_partly", .message = MSG_NOTE_STEPS_PARTLY, .severity = SEVERITY_INFO};
    arg given = asked_arg(asked, text);
    given.u.text = arena_str(a, given.u.text);
    if (!given.u.text.p) FAIL_MEMORY(err);
    verdict_add(&note, given);
    verdict_add(&note, arg_id("first", f.all.first));
    verdict_add(&note, arg_id("last", f.all.last));
    verdict_add(&note, arg_id("from", f.inside.first));
    verdict_add(&note, arg_id("to", f.inside.last));
    return answer_note(out, a, &note, err);
}

static status note_window(const analysis_input *in, time_window w, arena *a, answer *out,
                          error *err) {
    int64_t length = length_of(in);
    if (w.to_ns == OPEN_END || w.to_ns <= length) return OK;
    verdict note = {
        .id = "window_partly", .message = MSG_NOTE_WINDOW_PARTLY, .severity = SEVERITY_INFO};
    verdict_add(&note, arg_time("to", w.to_ns));
    verdict_add(&note, arg_time("length", length));
    return answer_note(out, a, &note, err);
}

static bool is_whole(const params *p) {
    return steps_are_all(params_steps(p)) && window_is_open(params_window(p));
}

/* What the part is called: values that several sentences put into words. */
static status name_part(const analysis_input *in, const params *p, arena *a, verdict *to,
                        error *err) {
    char text[48];
    time_window w = params_window(p);
    if (steps_are_all(params_steps(p))) {
        verdict_add(to, arg_time("from", max_i64(w.from_ns, 0)));
        verdict_add(to, arg_time("to", w.to_ns == OPEN_END ? length_of(in) : w.to_ns));
        return OK;
    }
    arg steps = asked_arg(params_steps(p), text);
    steps.u.text = arena_str(a, steps.u.text);
    if (!steps.u.text.p) FAIL_MEMORY(err);
    verdict_add(to, steps);
    return OK;
}

status part_note(const analysis_input *in, const params *p, arena *a, answer *out, error *err) {
    if (is_whole(p)) return OK;
    bool by_step = !steps_are_all(params_steps(p));
    out->part = (verdict){.id = "part",
                          .message = by_step ? MSG_TEXT_ONLY_STEPS : MSG_TEXT_ONLY_WINDOW,
                          .severity = SEVERITY_INFO};
    TRY(name_part(in, p, a, &out->part, err));
    TRY(note_steps(in, params_steps(p), a, out, err));
    return note_window(in, params_window(p), a, out, err);
}

/* ---- asking ------------------------------------------------------------------------------ */

/* Verdicts which say that something was not recorded, or that there are no steps. */
static bool says_absent(const verdict *v) {
    static const char *const ids[] = {"kernels_not_recorded",
                                      "operators_not_recorded",
                                      "modules_not_recorded",
                                      "memory_not_recorded",
                                      "communication_none",
                                      "pipeline_none",
                                      "roofline_no_shapes",
                                      "steps_none",
                                      "idle_none",
                                      "critical_no_steps",
                                      "whatif_no_steps"};
    for (size_t i = 0; v->id && i < N_OF(ids); i++)
        if (strcmp(v->id, ids[i]) == 0) return true;
    return false;
}

/* For a part of a trace, "not recorded" is only true when the whole trace says the same. */
static status judge_absence(const analysis_info *is, const analysis_input *in, const params *p,
                            arena *a, answer *out, error *err) {
    params whole = *p;
    answer other;
    if (is_whole(p) || !says_absent(&out->verdict)) return OK;
    whole.from_ns = whole.first_step = OPEN_START;
    whole.to_ns = whole.last_step = OPEN_END;
    TRY(is->run(in, &whole, a, &other, err));
    if (other.verdict.id && strcmp(other.verdict.id, out->verdict.id) == 0) return OK;
    out->verdict = (verdict){
        .id = out->verdict.id, .message = MSG_VERDICT_NOT_IN_PART, .severity = SEVERITY_INFO};
    return name_part(in, p, a, &out->verdict, err);
}

status analysis_ask(const analysis_info *is, const analysis_input *in, const params *p,
                    arena *a, answer *out, error *err) {
    TRY(part_check(in, p, err));
    TRY(is->run(in, p, a, out, err));
    TRY(judge_absence(is, in, p, a, out, err));
    return part_note(in, p, a, out, err);
}
