/* diff_verdict.c: the sentence of a comparison: rules in order, the first that holds. */
#include <math.h>

#include "analyse/compare/diff_int.h"
#include "analyse/compare/parity.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "base/message_ids_columns.h"

/* A snapshot of memory is one step without length. */
static bool has_steps(const diff *d, int side) {
    return d->sides[side].n_steps && d->sides[side].mean_ns > 0;
}

static bool is_only_memory(const void *facts, verdict *v) {
    const diff *d = facts;
    const double *peak = d->measured[CHANGED_MEMORY].of;
    if (has_steps(d, SIDE_A) || has_steps(d, SIDE_B)) return false;
    if (isnan(peak[SIDE_A]) || isnan(peak[SIDE_B])) return false;
    verdict_add(v, arg_bytes("a", round_i64(peak[SIDE_A])));
    verdict_add(v, arg_bytes("b", round_i64(peak[SIDE_B])));
    return true;
}

static bool no_steps(const void *facts, verdict *v) {
    const diff *d = facts;
    bool a = has_steps(d, SIDE_A), b = has_steps(d, SIDE_B);
    if (!a && !b) verdict_add(v, arg_int("both", 1));
    if (a != b) verdict_add(v, arg_text("run", a ? STR("B") : STR("A")));
    return !a || !b;
}

static void add_means(const diff *d, verdict *v) {
    double a = (double)d->sides[SIDE_A].mean_ns;
    verdict_add(v, arg_time("a", d->sides[SIDE_A].mean_ns));
    verdict_add(v, arg_time("b", d->sides[SIDE_B].mean_ns));
    if (a > 0) verdict_add(v, arg_share("share", fabs((double)d->change_ns) / a));
}

/* Another program, or another kind of recording: times of nothing that both do. */
static bool is_unrelated(const void *facts, verdict *v) {
    const diff *d = facts;
    if (d->causes.in_common) return false;
    verdict_add(v, arg_time("a", d->sides[SIDE_A].mean_ns));
    verdict_add(v, arg_time("b", d->sides[SIDE_B].mean_ns));
    return true;
}

static bool is_other_work(const void *facts, verdict *v) {
    const diff *d = facts;
    const change_causes *c = &d->causes;
    if (!parity_is_other_work(c)) return false;
    verdict_add(v, arg_time("a", d->sides[SIDE_A].mean_ns));
    verdict_add(v, arg_time("b", d->sides[SIDE_B].mean_ns));
    verdict_add(v, arg_share("share", c->reshaped / c->compared));
    if (isnan(c->factor)) return true;
    verdict_add(v, arg_real("factor", c->factor));
    verdict_add(v, arg_time("each", round_i64((double)d->sides[SIDE_B].mean_ns / c->factor)));
    return true;
}

/* Is it certain, and at least 1 % of the step? */
static bool counts(const diff *d, const change_cause *c) {
    return c->certain && fabs(cause_ns(c)) >= 0.01 * (double)d->sides[SIDE_A].mean_ns;
}

/* The first certain cause; NULL: there is none. */
static const change_cause *first_cause(const diff *d) {
    return d->causes.n && counts(d, &d->causes.v[0]) ? &d->causes.v[0] : NULL;
}

/* The first one that makes the step longer where it is longer, or shorter where it is
 * shorter. */
static const change_cause *cause_of_change(const diff *d) {
    for (uint32_t i = 0; i < d->causes.n; i++) {
        const change_cause *c = &d->causes.v[i];
        if (counts(d, c) && (cause_ns(c) > 0) == (d->change_ns > 0)) return c;
    }
    return NULL;
}

/* What the means are of, where it is more than one worker or run. */
static void add_basis(const diff *d, verdict *v) {
    uint32_t ranks = d->sides[SIDE_A].n_ranks, others = d->sides[SIDE_B].n_ranks;
    if (ranks > 1 || others > 1)
        verdict_add(v, arg_int("ranks", ranks > others ? ranks : others));
    if (d->sides[SIDE_A].n_runs > 1) verdict_add(v, arg_int("runs", d->sides[SIDE_A].n_runs));
}

/* By more than chance: with several runs, more than these differ; else 2 % of a step, and more
 * than steps differ. */
static bool is_host_changed(const diff *d) {
    const measured_change *host = &d->measured[CHANGED_HOST];
    if (host->known && !noise_is_real(&host->change)) return false;
    if (d->sides[SIDE_A].n_runs > 1) return measured_is_certain(host);
    for (uint32_t i = 0; i < d->causes.n; i++)
        if (d->causes.v[i].kind == CHANGE_HOST_SPEED)
            return fabs(cause_ns(&d->causes.v[i])) >= 0.02 * (double)d->sides[SIDE_A].mean_ns;
    return false;
}

static arg how_word(double change) {
    return arg_words("how", change > 0 ? MSG_DIFF_HOW_SLOWER : MSG_DIFF_HOW_FASTER);
}

/* Without a second step on each side, or several runs, nothing is known about chance. */
static bool is_unsure(const void *facts, verdict *v) {
    const diff *d = facts;
    const change_cause *c = d->causes.n ? &d->causes.v[0] : NULL;
    double least = 0.02 * (double)d->sides[SIDE_A].mean_ns;
    if (d->measured[CHANGED_STEP].known || fabs((double)d->change_ns) < least) return false;
    add_means(d, v);
    add_basis(d, v);
    diff_say_program(d, v);
    if (!c || c->kind == CHANGE_HOST_SPEED || !diff_cause_name(&d->tree, c).n) return true;
    verdict_add(v, arg_words("what", diff_cause_words(c)->what));
    verdict_add(v, arg_text("name", diff_cause_name(&d->tree, c)));
    return true;
}

/* Is other work among the causes, certain or not? */
static bool is_work_changed(const diff *d) {
    for (uint32_t i = 0; i < d->causes.n; i++) {
        const change_cause *c = &d->causes.v[i];
        if (c->kind <= CHANGE_OTHER_KERNELS &&
            fabs(cause_ns(c)) >= 0.01 * (double)d->sides[SIDE_A].mean_ns)
            return true;
    }
    return false;
}

static bool is_host(const void *facts, verdict *v) {
    const diff *d = facts;
    const measured_change *host = &d->measured[CHANGED_HOST];
    const measured_change *launch = &d->measured[CHANGED_LAUNCH];
    if (d->program.n_counts) return false; /* it is not the same work */
    if (first_cause(d) || is_work_changed(d) || !is_host_changed(d)) return false;
    add_means(d, v);
    verdict_add(v, arg_time("host_a", round_i64(host->of[SIDE_A])));
    verdict_add(v, arg_time("host_b", round_i64(host->of[SIDE_B])));
    verdict_add(v, arg_time("by", round_i64(fabs(measured_ns(host)))));
    verdict_add(v, how_word(measured_ns(host)));
    if (!isnan(measured_ns(launch)) && (measured_ns(launch) > 0) == (measured_ns(host) > 0))
        verdict_add(v, arg_time("launch", round_i64(fabs(measured_ns(launch)))));
    add_basis(d, v);
    return true;
}

/* How much of the change is the same calls on a faster or slower CPU, where that is at least a
 * quarter of it. */
static void add_rest(const diff *d, verdict *v) {
    for (uint32_t i = 0; i < d->causes.n; i++) {
        const change_cause *c = &d->causes.v[i];
        if (c->kind != CHANGE_HOST_SPEED || cause_ns(c) / (double)d->change_ns < 0.25) continue;
        verdict_add(v, arg_words("rest", cause_ns(c) > 0 ? MSG_DIFF_REST_SLOWER
                                                         : MSG_DIFF_REST_FASTER));
        verdict_add(v, arg_time("host", round_i64(fabs(cause_ns(c)))));
    }
}

static void add_noise(const diff *d, verdict *v) {
    const measured_change *step = &d->measured[CHANGED_STEP];
    add_means(d, v);
    if (step->known) verdict_add(v, arg_time("seen", round_i64(step->change.detectable)));
    if (!d->causes.spread_known) verdict_add(v, arg_int("one", 1));
    add_basis(d, v);
}

static bool is_same(const void *facts, verdict *v) {
    const diff *d = facts;
    if (first_cause(d)) return false;
    add_noise(d, v);
    return true;
}

/* More than the noise of the steps, or of the runs, and yet nothing explains it. */
static bool is_machine(const void *facts, verdict *v) {
    const diff *d = facts;
    const measured_change *step = &d->measured[CHANGED_STEP];
    double least = CHANGES_LEAST * (double)d->sides[SIDE_A].mean_ns;
    if (first_cause(d) || !step->known || !noise_is_real(&step->change)) return false;
    if (fabs((double)d->change_ns) < least) return false;
    add_means(d, v);
    verdict_add(v, how_word((double)d->change_ns));
    add_basis(d, v);
    return true;
}

/* Another program, and no certain change of its time. */
static bool is_program(const void *facts, verdict *v) {
    const diff *d = facts;
    double ns = 0;
    if (first_cause(d) || !d->program.n_counts) return false;
    for (uint32_t i = 0; i < d->program.n_counts; i++)
        ns += program_change_ns(&d->program.v[i]);
    verdict_add(v, arg_time(ns < 0 ? "saves" : "adds", round_i64(fabs(ns))));
    diff_say_program(d, v);
    add_noise(d, v);
    add_rest(d, v);
    return true;
}

/* Other work at the top by the change of the program that is most of it, or by the first; all
 * else by its own words and name. */
static void add_cause(const diff *d, const change_cause *c, verdict *v) {
    bool is_work = c->kind <= CHANGE_WORK_REPLACED && !c->where;
    const program_change *p = is_work ? program_change_of(&d->program, 0, c->ns) : NULL;
    verdict_add(v, arg_time("cost", round_i64(fabs(cause_ns(c)))));
    if (!p && is_work && d->program.n_counts) p = &d->program.v[0];
    if (p) {
        diff_say_change(d, p, v);
        return;
    }
    str name = diff_cause_name(&d->tree, c);
    verdict_add(v, arg_words("what", diff_cause_words(c)->what));
    if (name.n)
        verdict_add(v, arg_text("name", name));
    else
        verdict_add(v, arg_int(c->kind == CHANGE_GRAPH ? "all" : "several", 1));
    diff_say_program(d, v);
}

/* What made the rank slower or faster: the largest certain cause of its own steps but
 * communication, in which it waits less, and the others more. NULL: none. */
static const change_cause *cause_of_rank(const diff *d, bool slower) {
    double least = 0.01 * (double)d->sides[SIDE_A].mean_ns;
    for (uint32_t i = 0; i < d->alone.n; i++) {
        const change_cause *c = &d->alone.v[i];
        if (c->certain && c->kind != CHANGE_COMMUNICATION && fabs(cause_ns(c)) >= least &&
            (cause_ns(c) > 0) == slower && diff_cause_name(&d->alone_tree, c).n)
            return c;
    }
    return NULL;
}

/* One rank alone: what it changed by itself, and the cause if there is one. */
static bool is_one_rank(const diff *d, bool slower, verdict *v) {
    const rank_change *r = d->ranks.alone;
    if (!r || (r->own.change > 0) != slower) return false;
    const change_cause *c = cause_of_rank(d, slower);
    const analysis_trace *from = r->of[SIDE_B]->from;
    verdict_add(v, arg_time("a", d->sides[SIDE_A].mean_ns));
    verdict_add(v, arg_time("b", d->sides[SIDE_B].mean_ns));
    verdict_add(v, from->rank != ABSENT_I64 ? arg_int("rank", from->rank)
                                            : arg_text("rank", from->worker));
    verdict_add(v, how_word(r->own.change));
    verdict_add(v, arg_time("own_a", round_i64(worker_mean(r->of[SIDE_A], MEASURE_OWN))));
    verdict_add(v, arg_time("own_b", round_i64(worker_mean(r->of[SIDE_B], MEASURE_OWN))));
    add_basis(d, v);
    if (!c) return true;
    verdict_add(v, arg_words("what", diff_cause_words(c)->what));
    verdict_add(v, arg_text("name", diff_cause_name(&d->alone_tree, c)));
    return true;
}

static bool is_slower_rank(const void *facts, verdict *v) {
    return is_one_rank(facts, true, v);
}

static bool is_faster_rank(const void *facts, verdict *v) {
    return is_one_rank(facts, false, v);
}

/* The step became longer, but all that is certain makes it shorter; or the other way around. */
static bool is_against(const void *facts, verdict *v) {
    const diff *d = facts;
    const change_cause *c = first_cause(d);
    if (!c || cause_of_change(d)) return false;
    add_means(d, v);
    add_cause(d, c, v);
    verdict_add(v, how_word(cause_ns(c)));
    add_rest(d, v);
    return true;
}

/* Nothing is certain, and yet the means differ by a tenth: the steps of a run differ more. */
static bool is_unclear(const void *facts, verdict *v) {
    const diff *d = facts;
    const measured_change *step = &d->measured[CHANGED_STEP];
    double least = 0.1 * (double)d->sides[SIDE_A].mean_ns;
    if (first_cause(d) || d->sides[SIDE_A].n_runs > 1 || !step->known) return false;
    if (noise_is_real(&step->change)) return false;
    if (fabs((double)d->change_ns) < least) return false;
    add_means(d, v);
    verdict_add(v, arg_time("seen", round_i64(step->change.detectable)));
    diff_say_program(d, v);
    add_basis(d, v);
    return true;
}

static bool has_cause(const diff *d, bool slower, verdict *v) {
    const change_cause *c = cause_of_change(d);
    if (!c || (d->change_ns > 0) != slower) return false;
    double part = cause_ns(c) / (double)d->change_ns;
    add_means(d, v);
    add_cause(d, c, v);
    if (part < 0.5) {
        verdict_add(v, arg_share("part", part));
        add_rest(d, v);
    }
    if (d->measured[CHANGED_STEP].judgment == CHANGE_CHANCE)
        verdict_add(v, arg_int("unsure", 1));
    add_basis(d, v);
    return true;
}

static bool is_slower(const void *facts, verdict *v) {
    return has_cause(facts, true, v);
}

static bool is_faster(const void *facts, verdict *v) {
    return has_cause(facts, false, v);
}

static const rule rules[] = {
    {"diff_only_memory", MSG_VERDICT_DIFF_ONLY_MEMORY, SEVERITY_INFO, is_only_memory},
    {"diff_no_steps", MSG_VERDICT_DIFF_NO_STEPS, SEVERITY_INFO, no_steps},
    {"diff_unrelated", MSG_VERDICT_DIFF_UNRELATED, SEVERITY_INFO, is_unrelated},
    {"diff_other_workload", MSG_VERDICT_DIFF_OTHER_WORK, SEVERITY_INFO, is_other_work},
    {"diff_one_rank_slower", MSG_VERDICT_DIFF_ONE_RANK, SEVERITY_WARNING, is_slower_rank},
    {"diff_one_rank_faster", MSG_VERDICT_DIFF_ONE_RANK, SEVERITY_GOOD, is_faster_rank},
    {"diff_few_steps", MSG_VERDICT_DIFF_FEW_STEPS, SEVERITY_INFO, is_unsure},
    {"diff_host", MSG_VERDICT_DIFF_HOST, SEVERITY_INFO, is_host},
    {"diff_against", MSG_VERDICT_DIFF_AGAINST, SEVERITY_INFO, is_against},
    {"diff_unclear", MSG_VERDICT_DIFF_UNCLEAR, SEVERITY_INFO, is_unclear},
    {"diff_program", MSG_VERDICT_DIFF_PROGRAM, SEVERITY_INFO, is_program},
    {"diff_machine", MSG_VERDICT_DIFF_MACHINE, SEVERITY_INFO, is_machine},
    {"diff_same", MSG_VERDICT_DIFF_SAME, SEVERITY_GOOD, is_same},
    {"diff_slower", MSG_VERDICT_DIFF_SLOWER, SEVERITY_WARNING, is_slower},
    {"diff_faster", MSG_VERDICT_DIFF_FASTER, SEVERITY_GOOD, is_faster},
};

void diff_judge(const diff *d, verdict *out) {
    rules_apply(rules, sizeof rules / sizeof *rules, d, out);
}
