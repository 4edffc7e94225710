/* diff.c: what changed between two runs, and why.
 *
 * Both runs are taken apart on one tree of calls (step_owners.h), the differences are put
 * together to causes (causes.h). Everything is the mean of a step, so that parts add up; what is
 * too small to be a cause is left as `unexplained`. */
#include <math.h>

#include "analyse/compare/parity.h"
#include "analyse/rules.h"
#include "analyse/scan/breakdown.h"
#include "base/message_ids_advice.h"
#include "base/message_ids_columns.h"
#include "base/sort.h"

#define COL_S(name) COL(diff, steps, name)
#define COL_C(name) COL(diff, causes, name)
#define COL_B(name) COL(diff, breakdown, name)
#define COL_O(name) COL(diff, operators, name)

#define DIFF_TABLES                                                             \
    (SELECT_TABLES | TRACE_TABLE(track) | TRACE_TABLE(op) | TRACE_TABLE(comm) | \
     TRACE_TABLE(meta) | TRACE_TABLE(device))

typedef struct {
    const analysis_trace *runs[N_SIDES];
    const trace *t[N_SIDES];
    selection select[N_SIDES];
    call_tree tree;
    owned_steps steps[N_SIDES];
    change_causes causes;
    int64_t change_ns; /* of the means */
    arena *arena;
    answer *out;
} diff;

/* ---- steps ------------------------------------------------------------------------------- */

static status write_steps(diff *d, error *err) {
    table *t = answer_table(d->out, d->arena, "steps");
    if (!t) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++) {
        size_t row;
        const owned_steps *o = &d->steps[s];
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_S(run), s ? STR("b") : STR("a"));
        table_set_text(t, row, COL_S(trace),
                       d->runs[s]->run.n ? d->runs[s]->run : d->runs[s]->path);
        table_set_text(t, row, COL_S(worker), d->runs[s]->worker);
        table_set_int(t, row, COL_S(steps), o->steps.n);
        table_set_int(t, row, COL_S(median), o->median_ns);
        table_set_int(t, row, COL_S(mean), o->mean_ns);
        if (o->steps.n > 1)
            table_set_int(t, row, COL_S(spread), (int64_t)llround(sqrt(o->variance)));
    }
    return OK;
}

/* ---- causes ------------------------------------------------------------------------------ */

typedef struct {
    const char *id;
    uint16_t title, what; /* what: for the verdict, before a name */
} cause_words;

static const cause_words WORDS[N_CHANGES] = {
    [CHANGE_WORK_ADDED] = {"work_added", MSG_DIFF_WORK_ADDED, MSG_DIFF_WHAT_WORK_ADDED},
    [CHANGE_WORK_REMOVED] = {"work_removed", MSG_DIFF_WORK_REMOVED, MSG_DIFF_WHAT_WORK_REMOVED},
    [CHANGE_WORK_REPLACED] = {"work_replaced", MSG_DIFF_WORK_REPLACED,
                              MSG_DIFF_WHAT_WORK_REPLACED},
    [CHANGE_SHAPES] = {"shapes_changed", MSG_DIFF_SHAPES, MSG_DIFF_WHAT_SHAPES},
    [CHANGE_OTHER_KERNELS] = {"other_kernels", MSG_DIFF_OTHER_KERNELS,
                              MSG_DIFF_WHAT_OTHER_KERNELS},
    [CHANGE_KERNEL_TIME] = {"kernel_time", MSG_DIFF_KERNEL_TIME, MSG_DIFF_WHAT_KERNEL_TIME},
    [CHANGE_COMMUNICATION] = {"communication", MSG_DIFF_COMMUNICATION,
                              MSG_DIFF_WHAT_COMMUNICATION},
    [CHANGE_SYNCHRONIZATION] = {"synchronization", MSG_DIFF_SYNCHRONIZATION,
                                MSG_DIFF_WHAT_SYNCHRONIZATION},
    [CHANGE_DATA_WAIT] = {"data_wait", MSG_DIFF_DATA_WAIT, MSG_DIFF_WHAT_DATA_WAIT},
    [CHANGE_HOST_GAP] = {"host_gap", MSG_DIFF_HOST_GAP, MSG_DIFF_WHAT_HOST_GAP},
    [CHANGE_HOST_CALL] = {"host_call", MSG_DIFF_HOST_CALL, MSG_DIFF_WHAT_HOST_CALL},
    [CHANGE_HOST_SPEED] = {"host_speed", MSG_DIFF_HOST_SPEED, MSG_DIFF_WHAT_HOST_SPEED},
};

/* The name a cause goes by: of work its place, when that has a name. What replaces calls all over
 * the step has none. */
static str cause_name(const diff *d, const change_cause *c) {
    bool is_work = c->kind <= CHANGE_WORK_REPLACED;
    if (c->kind == CHANGE_WORK_REPLACED && !c->where) return STR_NONE;
    return call_tree_text(&d->tree, is_work && c->where ? c->where : c->most);
}

static void add_times(verdict *v, const change_cause *c) {
    verdict_add(v, arg_time("a", llround(c->ns[SIDE_A])));
    verdict_add(v, arg_time("b", llround(c->ns[SIDE_B])));
}

static verdict *title_of(const diff *d, const change_cause *c) {
    verdict *v = arena_alloc(d->arena, sizeof *v);
    str name = cause_name(d, c);
    if (!v) return NULL;
    *v = (verdict){.id = WORDS[c->kind].id, .message = WORDS[c->kind].title};
    if (name.n) verdict_add(v, arg_text("name", name));
    add_times(v, c);
    if (c->kind == CHANGE_HOST_SPEED) verdict_add(v, arg_real("ratio", d->causes.host_ratio));
    return v;
}

/* Counts of a cause that is about work; otherwise how sure its size is. */
static verdict *evidence_of(const diff *d, const change_cause *c) {
    verdict *v = arena_alloc(d->arena, sizeof *v);
    str most = call_tree_text(&d->tree, c->most);
    if (!v) return NULL;
    bool counts = c->kind <= CHANGE_COMMUNICATION;
    *v = (verdict){.id = WORDS[c->kind].id,
                   .message = counts ? MSG_DIFF_EVIDENCE_COUNTS : MSG_DIFF_EVIDENCE_TIME};
    if (counts) {
        verdict_add(v, arg_int("calls_a", llround(c->calls[SIDE_A])));
        verdict_add(v, arg_int("calls_b", llround(c->calls[SIDE_B])));
        verdict_add(v, arg_int("kernels_a", llround(c->kernels[SIDE_A])));
        verdict_add(v, arg_int("kernels_b", llround(c->kernels[SIDE_B])));
    }
    if (most.n) verdict_add(v, arg_text("most", most));
    verdict_add(v, arg_time("spread", llround(2 * sqrt(c->variance))));
    return v;
}

static status write_cause(diff *d, table *t, const change_cause *c, error *err) {
    size_t row;
    verdict *title = title_of(d, c), *evidence = evidence_of(d, c);
    if (!title || !evidence) FAIL_MEMORY(err);
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_C(id), str_of(WORDS[c->kind].id));
    table_set_sentence(t, row, COL_C(title), title);
    table_set_sentence(t, row, COL_C(evidence), evidence);
    table_set_int(t, row, COL_C(change), llround(cause_ns(c)));
    if (d->steps[SIDE_A].mean_ns > 0)
        table_set_real(t, row, COL_C(share), cause_ns(c) / (double)d->steps[SIDE_A].mean_ns);
    table_set_int(t, row, COL_C(certain), c->certain);
    str name = cause_name(d, c);
    if (name.n) table_set_text(t, row, COL_C(name), name);
    if (c->costliest[SIDE_A]) table_set_int(t, row, COL_C(slice_a), c->costliest[SIDE_A]);
    if (c->costliest[SIDE_B]) table_set_int(t, row, COL_C(slice_b), c->costliest[SIDE_B]);
    return OK;
}

static status write_causes(diff *d, error *err) {
    static const verdict rest = {.id = "unexplained", .message = MSG_DIFF_UNEXPLAINED};
    table *t = answer_table(d->out, d->arena, "causes");
    int64_t left = d->change_ns;
    size_t row;
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < d->causes.n; i++) {
        TRY(write_cause(d, t, &d->causes.v[i], err));
        left = sub_i64(left, llround(cause_ns(&d->causes.v[i])));
    }
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_C(id), STR("unexplained"));
    table_set_sentence(t, row, COL_C(title), &rest);
    table_set_int(t, row, COL_C(change), left);
    if (d->steps[SIDE_A].mean_ns > 0)
        table_set_real(t, row, COL_C(share), (double)left / (double)d->steps[SIDE_A].mean_ns);
    return OK;
}

/* ---- categories, operators, kernels ------------------------------------------------------ */

static status mean_roles(diff *d, int side, int64_t out[N_ROLES], error *err) {
    const step_spans *s = &d->steps[side].steps;
    int64_t sums[N_ROLES] = {0};
    role_ranges ranges;
    step_parts *parts;
    interval window = {s->n ? s->v[0].start : 0, s->n ? s->v[s->n - 1].end : 0};
    TRY(role_ranges_make(d->t[side], window, d->arena, &ranges, err));
    TRY(breakdown_make(&ranges, s, d->arena, &parts, err));
    for (uint32_t i = 0; i < s->n; i++)
        for (int r = 0; r < N_ROLES; r++) sums[r] = add_i64(sums[r], parts[i].ns[r]);
    mean_parts(sums, s->n, out, N_ROLES);
    return OK;
}

static status write_breakdown(diff *d, error *err) {
    table *t = answer_table(d->out, d->arena, "breakdown");
    int64_t ns[N_SIDES][N_ROLES];
    if (!t) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++) TRY(mean_roles(d, s, ns[s], err));
    for (int r = 0; r < N_ROLES; r++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_B(category), role_name((role)r));
        table_set_int(t, row, COL_B(a), ns[SIDE_A][r]);
        table_set_int(t, row, COL_B(b), ns[SIDE_B][r]);
        table_set_int(t, row, COL_B(change), sub_i64(ns[SIDE_B][r], ns[SIDE_A][r]));
    }
    return OK;
}

static int64_t per_step(const diff *d, int side, int64_t sum) {
    return mean_i64(sum, max_i64(1, d->steps[side].steps.n));
}

/* Changed: other calls, or a time that differs by a twentieth and by more than 2 µs a step. */
static str status_word(const double calls[N_SIDES], const int64_t ns[N_SIDES]) {
    double change = fabs((double)ns[SIDE_B] - (double)ns[SIDE_A]);
    if (calls[SIDE_A] <= 0 && calls[SIDE_B] > 0) return STR("added");
    if (calls[SIDE_B] <= 0 && calls[SIDE_A] > 0) return STR("removed");
    if (fabs(calls[SIDE_A] - calls[SIDE_B]) > 1e-9) return STR("changed");
    return change > 2000 && change > 0.05 * (double)max_i64(ns[0], ns[1]) ? STR("changed")
                                                                          : STR("same");
}

static status sum_names(diff *d, groups *sums, error *err) {
    TRY(groups_init(sums, d->arena, sizeof(name_sum), err));
    for (uint32_t i = 0; i < d->tree.nodes.n; i++) {
        const call_node *n = call_tree_node(&d->tree, i);
        name_sum *s = name_sum_at(sums, n->name);
        if (!s) FAIL_MEMORY(err);
        for (int k = 0; k < N_SIDES; k++) {
            const node_cost *c = &n->cost[k];
            s->calls[k] += c->calls ? c->calls : c->kernels; /* of no known call: device work */
            s->device_ns[k] = add_i64(s->device_ns[k], c->device_ns);
            s->host_ns[k] = add_i64(s->host_ns[k], add_i64(c->host_ns, c->gap_ns));
        }
    }
    return OK;
}

/* Columns of both tables are the same; of kernels nothing on a host is known. */
_Static_assert((int)N_COL_diff_operators == (int)N_COL_diff_kernels, "one writer for both");

static status write_sum(diff *d, table *t, const name_sum *s, bool on_host, error *err) {
    double calls[N_SIDES];
    int64_t device[N_SIDES], host[N_SIDES], all[N_SIDES];
    size_t row;
    for (int k = 0; k < N_SIDES; k++) {
        calls[k] = (double)s->calls[k] / (double)max_i64(1, d->steps[k].steps.n);
        device[k] = per_step(d, k, s->device_ns[k]);
        host[k] = per_step(d, k, s->host_ns[k]);
        all[k] = add_i64(device[k], host[k]);
    }
    if (calls[SIDE_A] + calls[SIDE_B] <= 0 && !all[SIDE_A] && !all[SIDE_B]) return OK;
    TRY(table_add_row(t, &row, err));
    if (s->name) table_set_text(t, row, COL_O(name), intern_get(d->tree.names, s->name));
    table_set_real(t, row, COL_O(calls_a), calls[SIDE_A]);
    table_set_real(t, row, COL_O(calls_b), calls[SIDE_B]);
    table_set_int(t, row, COL_O(device_a), device[SIDE_A]);
    table_set_int(t, row, COL_O(device_b), device[SIDE_B]);
    if (on_host) table_set_int(t, row, COL_O(host_a), host[SIDE_A]);
    if (on_host) table_set_int(t, row, COL_O(host_b), host[SIDE_B]);
    table_set_int(t, row, COL_O(change), sub_i64(all[SIDE_B], all[SIDE_A]));
    table_set_text(t, row, COL_O(status), status_word(calls, all));
    return OK;
}

/* Largest change first, whatever its sign. */
static int compare_changes(uint32_t a, uint32_t b, const void *context) {
    const table *t = context;
    const int64_t *v = t->columns[COL_O(change)].v.i;
    int64_t x = v[a] < 0 ? -v[a] : v[a], y = v[b] < 0 ? -v[b] : v[b];
    if (x != y) return x > y ? -1 : 1;
    return str_cmp(t->columns[0].v.s[a], t->columns[0].v.s[b]);
}

static status sort_by_change(table *t, error *err) {
    uint32_t *order = ARENA_ARRAY(t->arena, uint32_t, t->n_rows + 1);
    uint32_t *scratch = ARENA_ARRAY(t->arena, uint32_t, t->n_rows + 1);
    if (!order || !scratch) FAIL_MEMORY(err);
    for (size_t i = 0; i < t->n_rows; i++) order[i] = (uint32_t)i;
    sort_index(order, scratch, t->n_rows, compare_changes, t);
    return table_keep(t, order, t->n_rows, err);
}

static status write_sums(diff *d, const char *name, const groups *sums, bool on_host,
                         error *err) {
    table *t = answer_table(d->out, d->arena, name);
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < sums->n; i++)
        TRY(write_sum(d, t, GROUP_ROW(sums, name_sum, i), on_host, err));
    return sort_by_change(t, err);
}

/* Time after the last call of a step belongs to none: a row without a name, so that rows add
 * up. */
static status write_operators(diff *d, error *err) {
    groups sums;
    TRY(sum_names(d, &sums, err));
    return write_sums(d, "operators", &sums, true, err);
}

/* ---- verdict ----------------------------------------------------------------------------- */

static bool no_steps(const void *facts, verdict *v) {
    (void)v;
    const diff *d = facts;
    return !d->steps[SIDE_A].steps.n || !d->steps[SIDE_B].steps.n;
}

static void add_means(const diff *d, verdict *v) {
    double a = (double)d->steps[SIDE_A].mean_ns;
    verdict_add(v, arg_time("a", d->steps[SIDE_A].mean_ns));
    verdict_add(v, arg_time("b", d->steps[SIDE_B].mean_ns));
    if (a > 0) verdict_add(v, arg_share("share", fabs((double)d->change_ns) / a));
}

static bool is_other_work(const void *facts, verdict *v) {
    const diff *d = facts;
    const change_causes *c = &d->causes;
    if (!parity_is_other_work(c)) return false;
    verdict_add(v, arg_time("a", d->steps[SIDE_A].mean_ns));
    verdict_add(v, arg_time("b", d->steps[SIDE_B].mean_ns));
    verdict_add(v, arg_share("share", c->reshaped / c->compared));
    if (isnan(c->factor)) return true;
    verdict_add(v, arg_real("factor", c->factor));
    verdict_add(v, arg_time("each", llround((double)d->steps[SIDE_B].mean_ns / c->factor)));
    return true;
}

/* The first certain cause of at least 1 % of the step; NULL: there is none. */
static const change_cause *first_cause(const diff *d) {
    const change_cause *c = d->causes.n ? &d->causes.v[0] : NULL;
    double least = 0.01 * (double)d->steps[SIDE_A].mean_ns;
    return c && c->certain && fabs(cause_ns(c)) >= least ? c : NULL;
}

static bool is_host(const void *facts, verdict *v) {
    const diff *d = facts;
    if (first_cause(d)) return false;
    for (uint32_t i = 0; i < d->causes.n; i++) {
        const change_cause *c = &d->causes.v[i];
        if (c->kind != CHANGE_HOST_SPEED) continue;
        if (fabs(cause_ns(c)) < 0.02 * (double)d->steps[SIDE_A].mean_ns) return false;
        add_means(d, v);
        verdict_add(v, arg_time("host_a", llround(c->ns[SIDE_A])));
        verdict_add(v, arg_time("host_b", llround(c->ns[SIDE_B])));
        return true;
    }
    return false;
}

static bool is_same(const void *facts, verdict *v) {
    const diff *d = facts;
    if (first_cause(d)) return false;
    add_means(d, v);
    return true;
}

static bool has_cause(const diff *d, bool slower, verdict *v) {
    const change_cause *c = first_cause(d);
    if (!c || (d->change_ns > 0) != slower) return false;
    add_means(d, v);
    str name = cause_name(d, c);
    verdict_add(v, arg_words("what", WORDS[c->kind].what));
    if (name.n) verdict_add(v, arg_text("name", name));
    double cost = cause_ns(c);
    if ((cost > 0) == slower) verdict_add(v, arg_time("cost", llround(fabs(cost))));
    return true;
}

static bool is_slower(const void *facts, verdict *v) {
    return has_cause(facts, true, v);
}

static bool is_faster(const void *facts, verdict *v) {
    return has_cause(facts, false, v);
}

static const rule rules[] = {
    {"diff_no_steps", MSG_VERDICT_DIFF_NO_STEPS, SEVERITY_INFO, no_steps},
    {"diff_other_workload", MSG_VERDICT_DIFF_OTHER_WORK, SEVERITY_INFO, is_other_work},
    {"diff_host", MSG_VERDICT_DIFF_HOST, SEVERITY_INFO, is_host},
    {"diff_same", MSG_VERDICT_DIFF_SAME, SEVERITY_GOOD, is_same},
    {"diff_slower", MSG_VERDICT_DIFF_SLOWER, SEVERITY_WARNING, is_slower},
    {"diff_faster", MSG_VERDICT_DIFF_FASTER, SEVERITY_GOOD, is_faster},
};

/* ---- the question ------------------------------------------------------------------------ */

static status compare(diff *d, error *err) {
    const trace *const t[N_SIDES] = {d->t[SIDE_A], d->t[SIDE_B]};
    const owned_steps *const steps[N_SIDES] = {&d->steps[SIDE_A], &d->steps[SIDE_B]};
    TRY(call_tree_init(&d->tree, d->arena, err));
    for (int s = 0; s < N_SIDES; s++)
        TRY(step_owners_make(&d->tree, s, d->t[s], &d->select[s], d->arena, &d->steps[s], err));
    TRY(causes_make(&d->tree, t, steps, d->arena, &d->causes, err));
    d->change_ns = sub_i64(d->steps[SIDE_B].mean_ns, d->steps[SIDE_A].mean_ns);
    return OK;
}

static status write_tables(diff *d, error *err) {
    const owned_steps *const steps[N_SIDES] = {&d->steps[SIDE_A], &d->steps[SIDE_B]};
    TRY(write_causes(d, err));
    TRY(write_steps(d, err));
    TRY(write_breakdown(d, err));
    TRY(write_operators(d, err));
    TRY(write_sums(d, "kernels", &d->tree.kernels, false, err));
    table *parity = answer_table(d->out, d->arena, "parity");
    if (!parity) FAIL_MEMORY(err);
    return parity_write(d->runs, steps, &d->causes, parity, err);
}

status analyse_diff(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) {
    diff d = {.arena = a, .out = out};
    if (!in->against) FAIL0(err, ERR_ARG, NOPOS, MSG_DIFF_NEEDS_TWO);
    if (input_is_summary(in) || input_is_summary(in->against))
        FAIL0(err, ERR_ARG, NOPOS, MSG_DIFF_SUMMARY);
    for (int s = 0; s < N_SIDES; s++) {
        d.runs[s] = s == SIDE_A ? &in->traces[0] : &in->against->traces[0];
        d.t[s] = d.runs[s]->trace;
        TRY(trace_require(d.t[s], DIFF_TABLES, err));
        select_init(&d.select[s], d.t[s], p);
    }
    TRY(answer_begin("diff", in, a, out, err));
    TRY(compare(&d, err));
    TRY(write_tables(&d, err));
    rules_apply(rules, sizeof rules / sizeof *rules, &d, &out->verdict);
    answer_finish(out, p);
    return OK;
}
