/* diff_tables.c: the tables of a comparison, but for parity, changes and ranks. */
#include <math.h>

#include "analyse/compare/diff_int.h"
#include "analyse/compare/forward_names.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "base/message_ids_columns.h"
#include "base/sort.h"

/* ---- steps ------------------------------------------------------------------------------- */

static status write_run(diff *d, table *t, int side, uint32_t run, error *err) {
    run_steps s;
    TRY(side_run(&d->sides[side], run, d->arena, &s, err));
    const analysis_trace *from = s.first->from;
    row_diff_steps row = row_diff_steps_none();
    row.run = side ? STR("b") : STR("a");
    row.trace = from->run.n ? from->run : from->path;
    if (s.n_workers == 1) row.worker = from->worker;
    row.workers = s.n_workers;
    row.steps = s.n_steps;
    row.median = s.median_ns;
    row.mean = s.mean_ns;
    if (s.n_steps > 1) row.spread = round_i64(sqrt(s.variance));
    return put_diff_steps(t, &row, err);
}

status diff_write_steps(diff *d, error *err) {
    table *t = answer_table(d->out, d->arena, "steps");
    if (!t) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++)
        for (uint32_t run = 0; run < d->sides[s].n_runs; run++)
            TRY(write_run(d, t, s, run, err));
    return OK;
}

/* ---- causes ------------------------------------------------------------------------------ */

static const cause_words WORDS[N_CHANGES] = {
    [CHANGE_WORK_ADDED] = {"work_added", MSG_DIFF_WORK_ADDED, MSG_DIFF_WHAT_WORK_ADDED},
    [CHANGE_WORK_REMOVED] = {"work_removed", MSG_DIFF_WORK_REMOVED, MSG_DIFF_WHAT_WORK_REMOVED},
    [CHANGE_WORK_REPLACED] = {"work_replaced", MSG_DIFF_WORK_REPLACED,
                              MSG_DIFF_WHAT_WORK_REPLACED},
    [CHANGE_SHAPES] = {"shapes_changed", MSG_DIFF_SHAPES, MSG_DIFF_WHAT_SHAPES},
    [CHANGE_OTHER_KERNELS] = {"other_kernels", MSG_DIFF_OTHER_KERNELS,
                              MSG_DIFF_WHAT_OTHER_KERNELS},
    [CHANGE_KERNEL_TIME] = {"kernel_time", MSG_DIFF_KERNEL_TIME, MSG_DIFF_WHAT_KERNEL_TIME},
    [CHANGE_GRAPH] = {"graph_launch", MSG_DIFF_GRAPH, MSG_DIFF_WHAT_GRAPH},
    [CHANGE_COMMUNICATION] = {"communication", MSG_DIFF_COMMUNICATION,
                              MSG_DIFF_WHAT_COMMUNICATION},
    [CHANGE_SYNCHRONIZATION] = {"synchronization", MSG_DIFF_SYNCHRONIZATION,
                                MSG_DIFF_WHAT_SYNCHRONIZATION},
    [CHANGE_DATA_WAIT] = {"data_wait", MSG_DIFF_DATA_WAIT, MSG_DIFF_WHAT_DATA_WAIT},
    [CHANGE_MEMORY] = {"memory", MSG_DIFF_MEMORY, MSG_DIFF_WHAT_MEMORY},
    [CHANGE_HOST_GAP] = {"host_gap", MSG_DIFF_HOST_GAP, MSG_DIFF_WHAT_HOST_GAP},
    [CHANGE_HOST_CALL] = {"host_call", MSG_DIFF_HOST_CALL, MSG_DIFF_WHAT_HOST_CALL},
    [CHANGE_HOST_SPEED] = {"host_speed", MSG_DIFF_HOST_SPEED, MSG_DIFF_WHAT_HOST_SPEED},
};

const cause_words *diff_cause_words(const change_cause *c) {
    static const cause_words no_graph = {"graph_launch", MSG_DIFF_NO_GRAPH,
                                         MSG_DIFF_WHAT_NO_GRAPH};
    if (c->kind == CHANGE_GRAPH && c->replayed[SIDE_A] > c->replayed[SIDE_B]) return &no_graph;
    return &WORDS[c->kind];
}

/* The name of a cause: for work its place, when that has a name, or the one call that changed.
 * What changed in several places has none. */
str diff_cause_name(const call_tree *tree, const change_cause *c) {
    bool is_work = c->kind <= CHANGE_WORK_REPLACED || c->kind == CHANGE_GRAPH;
    if (!is_work) return call_tree_text(tree, c->most);
    if (c->where) return name_without_engine(call_tree_text(tree, c->where));
    bool is_mixed = c->kind == CHANGE_WORK_REPLACED || c->kind == CHANGE_GRAPH;
    if (is_mixed || c->tops > 1) return STR_NONE;
    return name_without_engine(call_tree_text(tree, c->most));
}

static void add_times(verdict *v, const change_cause *c) {
    verdict_add(v, arg_time("a", round_i64(c->ns[SIDE_A])));
    verdict_add(v, arg_time("b", round_i64(c->ns[SIDE_B])));
}

/* Other work at the top by the change of the program that is most of it; else by the call that
 * changed most, *others saying that it is not alone. */
static str title_name(const diff *d, const change_cause *c, bool *others) {
    str name = diff_cause_name(&d->tree, c);
    *others = false;
    if (c->kind > CHANGE_WORK_REPLACED || c->where || name.n) return name;
    const program_change *p = program_change_of(&d->program, 0, c->ns);
    if (p) return intern_get(d->tree.names, p->name);
    *others = true;
    return name_without_engine(call_tree_text(&d->tree, c->most));
}

static verdict *title_of(const diff *d, const change_cause *c) {
    verdict *v = arena_alloc(d->arena, sizeof *v);
    bool others;
    str name = title_name(d, c, &others);
    if (!v) return NULL;
    *v = (verdict){.id = diff_cause_words(c)->id, .message = diff_cause_words(c)->title};
    const call_node *most = call_tree_node(&d->tree, c->most);
    if (name.n) verdict_add(v, arg_text("name", name));
    if (others) verdict_add(v, arg_int("others", 1));
    if (c->kind == CHANGE_OTHER_KERNELS && most->place) {
        v->message = MSG_DIFF_GRAPH_KERNEL;
        verdict_add(v, arg_text("other", intern_get(d->tree.names, most->cost[SIDE_B].kernel)));
    }
    add_times(v, c);
    if (c->kind == CHANGE_HOST_SPEED && c->ns[SIDE_A] > 0)
        verdict_add(v, arg_real("ratio", c->ns[SIDE_B] / c->ns[SIDE_A]));
    return v;
}

/* Calls of the allocator, and the peaks where they were recorded. */
static void add_memory(const diff *d, const change_cause *c, verdict *v) {
    const measured_change *peak = &d->measured[CHANGED_MEMORY];
    v->message = MSG_DIFF_EVIDENCE_MEMORY;
    verdict_add(v, arg_real("calls_a", c->calls[SIDE_A]));
    verdict_add(v, arg_real("calls_b", c->calls[SIDE_B]));
    if (isnan(measured_ns(peak))) return;
    verdict_add(v, arg_bytes("peak_a", round_i64(peak->of[SIDE_A])));
    verdict_add(v, arg_bytes("peak_b", round_i64(peak->of[SIDE_B])));
}

/* Counts of a cause that is about work; otherwise the confidence in its size. */
static verdict *evidence_of(const diff *d, const change_cause *c) {
    verdict *v = arena_alloc(d->arena, sizeof *v);
    str most = call_tree_text(&d->tree, c->most);
    if (!v) return NULL;
    bool counts = c->kind <= CHANGE_COMMUNICATION;
    *v = (verdict){.id = diff_cause_words(c)->id,
                   .message = counts ? MSG_DIFF_EVIDENCE_COUNTS : MSG_DIFF_EVIDENCE_TIME};
    if (counts) {
        verdict_add(v, arg_int("calls_a", round_i64(c->calls[SIDE_A])));
        verdict_add(v, arg_int("calls_b", round_i64(c->calls[SIDE_B])));
        verdict_add(v, arg_int("kernels_a", round_i64(c->kernels[SIDE_A])));
        verdict_add(v, arg_int("kernels_b", round_i64(c->kernels[SIDE_B])));
    }
    if (c->kind == CHANGE_MEMORY) add_memory(d, c, v);
    if (most.n) verdict_add(v, arg_text("most", most));
    if (!d->causes.spread_known) return v;
    double spread = cause_spread(&d->causes, c);
    verdict_add(v, arg_time("spread", round_i64(spread)));
    if (c->kind == CHANGE_HOST_SPEED && fabs(cause_ns(c)) > spread)
        verdict_add(v, arg_int("machine", 1));
    return v;
}

/* The slices with most of it, and whose they are where a side has several workers. */
static void set_slowest(const diff *d, row_diff_causes *row, const change_cause *c) {
    int64_t *const slices[] = {&row->slice_a, &row->slice_b};
    str *const workers[] = {&row->worker_a, &row->worker_b};
    for (int s = 0; s < N_SIDES; s++) {
        if (!c->slowest[s]) continue;
        *slices[s] = c->slowest[s];
        *workers[s] = d->sides[s].v[c->worker[s]].from->worker;
    }
}

static status write_cause(diff *d, table *t, const change_cause *c, error *err) {
    verdict *title = title_of(d, c), *evidence = evidence_of(d, c);
    if (!title || !evidence) FAIL_MEMORY(err);
    row_diff_causes row = row_diff_causes_none();
    row.id = str_of(diff_cause_words(c)->id);
    row.title = title;
    row.evidence = evidence;
    row.change = round_i64(cause_ns(c));
    if (d->sides[SIDE_A].mean_ns > 0)
        row.share = cause_ns(c) / (double)d->sides[SIDE_A].mean_ns;
    row.certain = c->certain;
    bool others;
    str name = title_name(d, c, &others);
    if (name.n) row.name = name;
    set_slowest(d, &row, c);
    return put_diff_causes(t, &row, err);
}

status diff_write_causes(diff *d, error *err) {
    static const verdict rest = {.id = "unexplained", .message = MSG_DIFF_UNEXPLAINED};
    table *t = answer_table(d->out, d->arena, "causes");
    int64_t left = d->change_ns;
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < d->causes.n; i++) {
        TRY(write_cause(d, t, &d->causes.v[i], err));
        left = sub_i64(left, round_i64(cause_ns(&d->causes.v[i])));
    }
    row_diff_causes row = row_diff_causes_none();
    row.id = STR("unexplained");
    row.title = &rest;
    row.change = left;
    if (d->sides[SIDE_A].mean_ns > 0)
        row.share = (double)left / (double)d->sides[SIDE_A].mean_ns;
    return put_diff_causes(t, &row, err);
}

/* ---- categories, operators, kernels ------------------------------------------------------ */

static void mean_roles(const compared_side *s, int64_t out[N_ROLES]) {
    int64_t sums[N_ROLES] = {0};
    for (uint32_t i = 0; i < s->n; i++)
        for (int r = 0; r < N_ROLES; r++) sums[r] = add_i64(sums[r], s->v[i].roles[r]);
    mean_parts(sums, s->n_steps, out, N_ROLES);
}

status diff_write_breakdown(diff *d, error *err) {
    table *t = answer_table(d->out, d->arena, "breakdown");
    int64_t ns[N_SIDES][N_ROLES];
    if (!t) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++) mean_roles(&d->sides[s], ns[s]);
    for (int r = 0; r < N_ROLES; r++) {
        row_diff_breakdown row = row_diff_breakdown_none();
        row.category = role_name((role)r);
        row.a = ns[SIDE_A][r];
        row.b = ns[SIDE_B][r];
        row.change = sub_i64(ns[SIDE_B][r], ns[SIDE_A][r]);
        TRY(put_diff_breakdown(t, &row, err));
    }
    return OK;
}

static int64_t per_step(const diff *d, int side, int64_t sum) {
    return mean_i64(sum, max_i64(1, d->sides[side].n_steps));
}

/* Changed: other calls, or a time that differs by a twentieth and by more than 2 µs a step. */
str diff_status_word(const double calls[N_SIDES], const int64_t ns[N_SIDES]) {
    double change = fabs((double)ns[SIDE_B] - (double)ns[SIDE_A]);
    if (calls[SIDE_A] <= 0 && calls[SIDE_B] > 0) return STR("added");
    if (calls[SIDE_B] <= 0 && calls[SIDE_A] > 0) return STR("removed");
    if (fabs(calls[SIDE_A] - calls[SIDE_B]) > 1e-9) return STR("changed");
    return change > 2000 && change > 0.05 * (double)max_i64(ns[0], ns[1]) ? STR("changed")
                                                                          : STR("same");
}

/* The name under which a side's part of a node is shown: a graph's node goes to the operator
 * that launched the graph, or by its kernel, which may differ from the other side's. */
static uint32_t shown_name(const diff *d, const call_node *n, int side) {
    if (n->flags & NODE_OF_CALL) return call_tree_node(&d->tree, n->parent)->name;
    return n->cost[side].place ? n->cost[side].kernel : n->name;
}

static status sum_names(diff *d, groups *sums, error *err) {
    TRY(groups_init(sums, d->arena, sizeof(name_sum), err));
    for (uint32_t i = 0; i < d->tree.nodes.n; i++) {
        const call_node *n = call_tree_node(&d->tree, i);
        for (int k = 0; k < N_SIDES; k++) {
            const node_cost *c = &n->cost[k];
            name_sum *s = name_sum_at(sums, shown_name(d, n, k));
            if (!s) FAIL_MEMORY(err);
            if (!(n->flags & NODE_OF_CALL)) /* of no known call: device work */
                s->calls[k] += c->calls ? c->calls : c->kernels;
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
    for (int k = 0; k < N_SIDES; k++) {
        calls[k] = (double)s->calls[k] / (double)max_i64(1, d->sides[k].n_steps);
        device[k] = per_step(d, k, s->device_ns[k]);
        host[k] = per_step(d, k, s->host_ns[k]);
        all[k] = add_i64(device[k], host[k]);
    }
    if (calls[SIDE_A] + calls[SIDE_B] <= 0 && !all[SIDE_A] && !all[SIDE_B]) return OK;
    row_diff_operators row = row_diff_operators_none();
    if (s->name) row.name = intern_get(d->tree.names, s->name);
    row.calls_a = calls[SIDE_A];
    row.calls_b = calls[SIDE_B];
    row.device_a = device[SIDE_A];
    row.device_b = device[SIDE_B];
    if (on_host) row.host_a = host[SIDE_A];
    if (on_host) row.host_b = host[SIDE_B];
    row.change = sub_i64(all[SIDE_B], all[SIDE_A]);
    row.status = diff_status_word(calls, all);
    return put_diff_operators(t, &row, err);
}

/* Largest change first, whatever its sign. */
static int compare_changes(uint32_t a, uint32_t b, const void *context) {
    const table *t = context;
    const int64_t *v = t->columns[COL(diff, operators, change)].v.i;
    uint64_t x = abs_u64(v[a]), y = abs_u64(v[b]);
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
status diff_write_operators(diff *d, error *err) {
    groups sums;
    TRY(sum_names(d, &sums, err));
    return write_sums(d, "operators", &sums, true, err);
}

status diff_write_kernels(diff *d, error *err) {
    return write_sums(d, "kernels", &d->tree.kernels, false, err);
}
