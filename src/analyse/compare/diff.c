/* diff.c: what changed between two runs, and why.
 *
 * Both runs are taken apart on one tree of calls (sides.h), the differences are put together to
 * causes (causes.h). Everything is the mean of a step, so that parts add up; what is too small
 * to be a cause is left as `unexplained`. */
#include "analyse/compare/diff_int.h"
#include "analyse/compare/parity.h"
#include "base/message_ids_advice.h"

/* In the means over all ranks what one of them changed is small, and what the others wait for
 * it is communication: its causes are looked for in its own steps. */
static status explain_alone(diff *d, error *err) {
    const rank_change *r = d->ranks.alone;
    compared_side sides[N_SIDES];
    if (!r) return OK;
    TRY(sides_of_workers(r->of[SIDE_A], r->of[SIDE_B], d->arena, sides, &d->alone_tree, err));
    return causes_make(&d->alone_tree, sides, d->arena, &d->alone, err);
}

static status compare(diff *d, const params *p, error *err) {
    TRY(sides_read(d->in, d->in->against, p, d->arena, d->sides, &d->tree, err));
    TRY(causes_make(&d->tree, d->sides, d->arena, &d->causes, err));
    TRY(program_changes_make(&d->tree, d->sides, &d->causes, d->arena, &d->program, err));
    TRY(changes_make(d->sides, &d->causes, d->arena, d->measured, err));
    TRY(rank_changes_make(d->sides, d->arena, &d->ranks, err));
    TRY(explain_alone(d, err));
    d->change_ns = sub_i64(d->sides[SIDE_B].mean_ns, d->sides[SIDE_A].mean_ns);
    return OK;
}

static status write_ranks(diff *d, error *err) {
    table *t = answer_table(d->out, d->arena, "ranks");
    if (!t) FAIL_MEMORY(err);
    return rank_changes_write(&d->ranks, t, err);
}

static status write_tables(diff *d, error *err) {
    TRY(diff_write_program(d, err));
    TRY(diff_write_causes(d, err));
    table *changes = answer_table(d->out, d->arena, "changes");
    if (!changes) FAIL_MEMORY(err);
    TRY(changes_write(d->measured, changes, err));
    TRY(diff_write_steps(d, err));
    if (d->ranks.n > 1) TRY(write_ranks(d, err));
    TRY(diff_write_breakdown(d, err));
    TRY(diff_write_operators(d, err));
    TRY(diff_write_kernels(d, err));
    TRY(diff_write_graphs(d, err));
    table *parity = answer_table(d->out, d->arena, "parity");
    if (!parity) FAIL_MEMORY(err);
    return parity_write(d->sides, &d->causes, parity, err);
}

/* The first of the inputs that is a summary; NULL: there is none. */
static const analysis_input *find_summary(const analysis_input *in) {
    if (input_is_summary(in)) return in;
    if (input_is_summary(in->against)) return in->against;
    for (uint32_t i = 0; i < in->n_also; i++)
        if (input_is_summary(&in->also[i])) return &in->also[i];
    return NULL;
}

static str given_name(const analysis_input *in) {
    const analysis_trace *t = &in->traces[0];
    return t->path.n ? t->path : t->run.n ? t->run : t->worker;
}

/* Says what to do instead, with the names that were given. */
static status refuse_summary(const analysis_input *in, const analysis_input *summary,
                             error *err) {
    FAIL(err, ERR_ARG, NOPOS, MSG_DIFF_SUMMARY, arg_text("path", given_name(summary)),
         arg_text("a", given_name(in)), arg_text("b", given_name(in->against)));
}

status analyse_diff(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) {
    diff d = {.in = in, .arena = a, .out = out};
    if (!in->against) FAIL0(err, ERR_ARG, NOPOS, MSG_DIFF_NEEDS_TWO);
    if (find_summary(in)) return refuse_summary(in, find_summary(in), err);
    TRY(answer_begin("diff", in, a, out, err));
    TRY(compare(&d, p, err));
    TRY(write_tables(&d, err));
    diff_judge(&d, &out->verdict);
    answer_finish(out, p);
    return OK;
}
