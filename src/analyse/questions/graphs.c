/* graphs.c: what replayed graphs consist of: the operators and modules in which their kernels
 * were captured.
 *
 * The times are those of the replays, what they belong to is inferred (graph_match.h). The
 * parts are of the replays whose capture is known, and add up to the time of their kernels. */
#include <math.h>

#include "analyse/group.h"
#include "analyse/operators/graph_match.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "analyse/select.h"
#include "base/intern.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

typedef struct {
    str op, module, around;
    int64_t kernels, ns;
} part;

typedef struct {
    const trace *t;
    selection select;
    graph_replays replays;
    groups parts, operators; /* part; of the operators without modules */
    uint32_t n_shown, n_matched, n_disagree;
    int64_t kernels, ns, shown_ns; /* of those matched; span of all */
} question;

static bool same_part(const void *row, const void *key) {
    const part *x = row, *y = key;
    return str_eq(x->op, y->op) && str_eq(x->module, y->module) && str_eq(x->around, y->around);
}

static status add_to(groups *to, part key, int64_t ns, error *err) {
    uint64_t hash = hash_pair(intern_hash(key.op), intern_hash(key.module));
    bool is_new;
    uint32_t at = groups_at(to, hash, same_part, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    part *p = GROUP_ROW(to, part, at);
    if (is_new) *p = key;
    p->kernels++;
    p->ns = add_i64(p->ns, ns);
    return OK;
}

static status add_kernel(question *q, uint32_t k, const captured_launch *as, error *err) {
    int64_t ns = q->t->slice.dur[q->t->kernel.slice[k]];
    q->kernels++;
    q->ns = add_i64(q->ns, ns);
    TRY(add_to(&q->operators, (part){.op = as->op}, ns, err));
    return add_to(&q->parts, (part){.op = as->op, .module = as->module, .around = as->around},
                  ns, err);
}

static status write_replay(question *q, table *to, const graph_replay *r, error *err) {
    const trace *t = q->t;
    row_graphs_graphs row = row_graphs_graphs_none();
    uint32_t step = trace_step_of(t, r->call);
    if (step) row.step = t->step.number[step];
    row.start = sub_i64(r->range.start, t->start_ns);
    row.duration = sub_i64(r->range.end, r->range.start);
    row.busy = r->busy_ns;
    row.kernels = r->n;
    if (!isnan(r->agree)) row.agree = r->agree;
    row.capture = r->capture        ? STR("known")
                  : isnan(r->agree) ? STR("not_recorded")
                                    : STR("differs");
    row.slice = r->call;
    return put_graphs_graphs(to, &row, err);
}

static status add_replay(question *q, graph_replay *r, error *err) {
    q->n_shown++;
    q->shown_ns = add_i64(q->shown_ns, sub_i64(r->range.end, r->range.start));
    q->n_matched += r->capture != NULL;
    q->n_disagree += !r->capture && !isnan(r->agree);
    for (uint32_t i = 0; i < r->n && r->capture; i++)
        TRY(add_kernel(q, r->kernels[i], &r->capture->v[i], err));
    return OK;
}

static double share_of(int64_t ns, int64_t whole) {
    return whole > 0 ? (double)ns / (double)whole : (double)NAN;
}

static status write_part(const question *q, table *to, const part *p, error *err) {
    row_graphs_parts row = row_graphs_parts_none();
    if (p->op.n) row.op = p->op;
    if (p->module.n) row.module = p->module;
    if (p->around.n) row.parent = p->around;
    row.kernels = p->kernels;
    row.time = p->ns;
    row.mean = mean_i64(p->ns, q->n_matched);
    row.share = share_of(p->ns, q->ns);
    return put_graphs_parts(to, &row, err);
}

static status write_operator(const question *q, table *to, const part *p, error *err) {
    row_graphs_operators row = row_graphs_operators_none();
    if (p->op.n) row.op = p->op;
    row.kernels = p->kernels;
    row.time = p->ns;
    row.mean = mean_i64(p->ns, q->n_matched);
    row.share = share_of(p->ns, q->ns);
    return put_graphs_operators(to, &row, err);
}

static bool part_before(const part *x, const part *y) {
    if (x->ns != y->ns) return x->ns > y->ns;
    int order = str_cmp(x->op, y->op);
    return order ? order < 0 : str_cmp(x->module, y->module) < 0;
}

static int compare_parts(uint32_t a, uint32_t b, const void *context) {
    const groups *g = context;
    const part *x = GROUP_ROW(g, part, a), *y = GROUP_ROW(g, part, b);
    return part_before(x, y) ? -1 : part_before(y, x);
}

typedef status (*write_row)(const question *q, table *to, const part *p, error *err);

/* All of them, the longest first; *most: that one, NULL: there is none. */
static status write_sorted(const question *q, const groups *g, write_row write, table *to,
                           const part **most, error *err) {
    uint32_t *order = groups_order(g),
             *scratch = ARENA_ARRAY(g->arena, uint32_t, (size_t)g->n + 1);
    *most = NULL;
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, g->n, compare_parts, g);
    for (uint32_t i = 0; i < g->n; i++) TRY(write(q, to, GROUP_ROW(g, part, order[i]), err));
    if (g->n) *most = GROUP_ROW(g, part, order[0]);
    return OK;
}

static void judge(const question *q, const part *most, verdict *v) {
    *v = (verdict){
        .id = "no_graphs", .message = MSG_VERDICT_NO_GRAPHS, .severity = SEVERITY_INFO};
    if (!q->n_shown) return;
    *v = (verdict){.id = q->n_matched ? "graphs" : "graphs_unknown",
                   .message = q->n_matched ? MSG_VERDICT_GRAPHS : MSG_VERDICT_GRAPHS_UNKNOWN,
                   .severity = SEVERITY_INFO};
    verdict_add(v, arg_int("count", q->n_shown));
    verdict_add(v, arg_time("mean", mean_i64(q->shown_ns, q->n_shown)));
    if (q->n_disagree) verdict_add(v, arg_int("differ", q->n_disagree));
    if (!most) return;
    verdict_add(v, arg_int("known", q->n_matched));
    verdict_add(v, arg_int("kernels", q->kernels));
    if (most->op.n) verdict_add(v, arg_text("op", most->op));
    verdict_add(v, arg_share("share", share_of(most->ns, q->ns)));
}

status analyse_graphs(const analysis_input *in, const params *p, arena *a, answer *out,
                      error *err) {
    question q = {.t = in->traces[0].trace};
    const trace *captured = in->against ? in->against->traces[0].trace : q.t;
    graph_captures captures;
    const part *most, *part_most;
    TRY(answer_begin("graphs", in, a, out, err));
    TRY(trace_require(q.t, SELECT_TABLES, err));
    select_init(&q.select, q.t, p);
    TRY(graph_captures_find(captured, a, &captures, err));
    TRY(graph_replays_find(q.t, a, &q.replays, err));
    graph_replays_match(q.t, &q.replays, &captures);
    TRY(groups_init(&q.parts, a, sizeof(part), err));
    TRY(groups_init(&q.operators, a, sizeof(part), err));
    table *graphs = answer_table(out, a, "graphs"),
          *operators = answer_table(out, a, "operators"),
          *parts = answer_table(out, a, "parts");
    if (!graphs || !operators || !parts) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q.replays.n; i++) {
        graph_replay *r = &q.replays.v[i];
        int64_t at = q.t->slice.start[r->call];
        if (!select_step(&q.select, at) || at < q.select.from_ns || at >= q.select.to_ns)
            continue;
        TRY(write_replay(&q, graphs, r, err));
        TRY(add_replay(&q, r, err));
    }
    TRY(write_sorted(&q, &q.operators, write_operator, operators, &most, err));
    TRY(write_sorted(&q, &q.parts, write_part, parts, &part_most, err));
    judge(&q, most, &out->verdict);
    answer_finish(out, p);
    return OK;
}
