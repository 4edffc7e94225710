/* critical.c: what decides the length of a step.
 *
 * The path of every step (critical_path.h) is one row for each of its pieces; sums over all steps
 * say what lies on it by kind and by name. A kernel that is not on the path may become slower
 * or faster without any effect on the step. */
#include "analyse/rules.h"
#include "analyse/run/job.h"
#include "analyse/scan/group.h"
#include "analyse/why/critical_path.h"
#include "base/map.h"
#include "base/message_ids_advice.h"
#include "base/num.h"
#include "base/sort.h"

#define COL_P(name) COL(critical, path, name)
#define COL_K(name) COL(critical, by_kind, name)
#define COL_N(name) COL(critical, by_name, name)

typedef struct {
    uint8_t kind;
    uint32_t name; /* string of the trace, 0: none */
    int64_t ns, n;
    uint32_t slice; /* of the longest piece */
    int64_t longest_ns;
} path_sum;

typedef struct {
    const trace *t;
    arena *arena;
    answer *out;
    step_spans spans;
    why_graph graph;
    comm_names names;
    path_pieces pieces;
    map row_of; /* kind and name → row of sums */
    groups sums;
    int64_t kind_ns[N_PATH_KINDS], kind_n[N_PATH_KINDS];
    int64_t all_ns;
    table *by_kind, *by_name, *path; /* the short ones first */
} critical;

/* ---- adding up --------------------------------------------------------------------------- */

static uint32_t piece_name(const critical *c, const path_piece *p) {
    return p->slice ? c->t->slice.name[p->slice] : 0;
}

static status add_up(critical *c, const path_piece *p, error *err) {
    int64_t ns = sub_i64(p->end, p->start);
    uint64_t key = (uint64_t)p->kind << 32 | piece_name(c, p);
    uint32_t *row = map_at(&c->row_of, key);
    if (!row) FAIL_MEMORY(err);
    if (*row == MAP_NONE) {
        uint32_t made = groups_add(&c->sums);
        *row = made == GROUP_NONE ? 0 : made;
        if (made == GROUP_NONE) FAIL_MEMORY(err);
        *GROUP_ROW(&c->sums, path_sum, made) =
            (path_sum){.kind = p->kind, .name = piece_name(c, p)};
    }
    path_sum *s = GROUP_ROW(&c->sums, path_sum, *row);
    s->ns = add_i64(s->ns, ns);
    s->n++;
    if (ns > s->longest_ns) {
        s->longest_ns = ns;
        s->slice = p->slice;
    }
    c->kind_ns[p->kind] = add_i64(c->kind_ns[p->kind], ns);
    c->kind_n[p->kind]++;
    c->all_ns = add_i64(c->all_ns, ns);
    return OK;
}

static status write_piece(critical *c, table *t, int64_t step, const path_piece *p,
                          error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_int(t, row, COL_P(step), step);
    table_set_text(t, row, COL_P(kind), path_kind_name(p->kind));
    if (p->slice) {
        table_set_text(t, row, COL_P(name), trace_slice_name(c->t, p->slice));
        table_set_int(t, row, COL_P(track), trace_track_of(c->t, p->slice));
        table_set_int(t, row, COL_P(slice), p->slice);
    }
    table_set_int(t, row, COL_P(start), sub_i64(p->start, c->t->start_ns));
    table_set_int(t, row, COL_P(duration), sub_i64(p->end, p->start));
    return OK;
}

static status write_path(critical *c, error *err) {
    for (uint32_t i = 0; i < c->graph.n_steps; i++) {
        TRY(critical_path_find(&c->graph, &c->names, i, c->arena, &c->pieces, err));
        for (size_t k = 0; k < c->pieces.n; k++) {
            TRY(add_up(c, &c->pieces.v[k], err));
            TRY(write_piece(c, c->path, c->graph.steps[i].number, &c->pieces.v[k], err));
        }
    }
    return OK;
}

/* ---- sums -------------------------------------------------------------------------------- */

static int64_t per_step(const critical *c, int64_t sum) {
    return mean_i64(sum, max_i64(1, c->graph.n_steps));
}

static double share_of_path(const critical *c, int64_t ns) {
    return c->all_ns > 0 ? (double)ns / (double)c->all_ns : 0;
}

static status write_kinds(critical *c, error *err) {
    table *t = c->by_kind;
    for (int k = 0; k < N_PATH_KINDS; k++) {
        size_t row;
        if (!c->kind_n[k]) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_K(kind), path_kind_name((path_kind)k));
        table_set_int(t, row, COL_K(time), per_step(c, c->kind_ns[k]));
        table_set_real(t, row, COL_K(share), share_of_path(c, c->kind_ns[k]));
        table_set_int(t, row, COL_K(pieces), c->kind_n[k]);
    }
    return OK;
}

static int compare_sums(uint32_t a, uint32_t b, const void *context) {
    const critical *c = context;
    const path_sum *x = GROUP_ROW(&c->sums, path_sum, a), *y = GROUP_ROW(&c->sums, path_sum, b);
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return str_cmp(trace_str(c->t, x->name), trace_str(c->t, y->name));
}

static status write_names(critical *c, error *err) {
    table *t = c->by_name;
    uint32_t *order = groups_order(&c->sums), *scratch = groups_order(&c->sums);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, c->sums.n, compare_sums, c);
    for (uint32_t i = 0; i < c->sums.n; i++) {
        const path_sum *s = GROUP_ROW(&c->sums, path_sum, order[i]);
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_N(kind), path_kind_name(s->kind));
        if (s->name) table_set_text(t, row, COL_N(name), trace_str(c->t, s->name));
        table_set_int(t, row, COL_N(time), per_step(c, s->ns));
        table_set_real(t, row, COL_N(share), share_of_path(c, s->ns));
        table_set_int(t, row, COL_N(pieces), s->n);
        if (s->slice) table_set_int(t, row, COL_N(slice), s->slice);
    }
    return OK;
}

/* ---- words ------------------------------------------------------------------------------- */

static bool is_of_device(int kind) {
    return kind == PATH_DEVICE || kind == PATH_COMMUNICATION || kind == PATH_QUEUE;
}

static int64_t sum_of(const critical *c, bool device) {
    int64_t ns = 0;
    for (int k = 0; k < PATH_UNKNOWN; k++)
        if (is_of_device(k) == device) ns = add_i64(ns, c->kind_ns[k]);
    return ns;
}

/* The largest sum of one side that has a name. */
static void add_most(const critical *c, bool device, verdict *v) {
    const path_sum *most = NULL;
    for (uint32_t i = 0; i < c->sums.n; i++) {
        const path_sum *s = GROUP_ROW(&c->sums, path_sum, i);
        if (!s->name || is_of_device(s->kind) != device || s->kind == PATH_BETWEEN) continue;
        if (!most || s->ns > most->ns) most = s;
    }
    if (!most) return;
    verdict_add(v, arg_text("name", trace_str(c->t, most->name)));
    verdict_add(v, arg_time("time", per_step(c, most->ns)));
    if (most->slice) verdict_add(v, arg_id("slice", most->slice));
}

static bool has_no_path(const void *facts, verdict *v) {
    (void)v;
    return ((const critical *)facts)->all_ns <= 0;
}

static bool decides(const critical *c, bool device, verdict *v) {
    double share = share_of_path(c, sum_of(c, device));
    if (share < 0.6) return false;
    verdict_add(v, arg_share("share", share));
    verdict_add(v, arg_time("step", per_step(c, c->all_ns)));
    add_most(c, device, v);
    double between = share_of_path(c, c->kind_ns[PATH_BETWEEN]);
    if (!device && between >= 0.1) verdict_add(v, arg_share("between", between));
    return true;
}

static bool is_device(const void *facts, verdict *v) {
    return decides(facts, true, v);
}

static bool is_host(const void *facts, verdict *v) {
    return decides(facts, false, v);
}

static bool is_both(const void *facts, verdict *v) {
    const critical *c = facts;
    verdict_add(v, arg_share("device", share_of_path(c, sum_of(c, true))));
    verdict_add(v, arg_share("host", share_of_path(c, sum_of(c, false))));
    verdict_add(v, arg_time("step", per_step(c, c->all_ns)));
    return true;
}

static const rule rules[] = {
    {"critical_no_steps", MSG_VERDICT_CRITICAL_NO_STEPS, SEVERITY_INFO, has_no_path},
    {"critical_host", MSG_VERDICT_CRITICAL_HOST, SEVERITY_WARNING, is_host},
    {"critical_device", MSG_VERDICT_CRITICAL_DEVICE, SEVERITY_GOOD, is_device},
    {"critical_both", MSG_VERDICT_CRITICAL_BOTH, SEVERITY_INFO, is_both},
};

static status find_all(critical *c, const params *p, error *err) {
    selection s;
    c->by_kind = answer_table(c->out, c->arena, "by_kind");
    c->by_name = answer_table(c->out, c->arena, "by_name");
    c->path = answer_table(c->out, c->arena, "path");
    if (!c->by_kind || !c->by_name || !c->path) FAIL_MEMORY(err);
    select_init(&s, c->t, p);
    TRY(step_spans_make(c->t, &s, c->arena, &c->spans, err));
    TRY(why_graph_make(c->t, &c->spans, c->arena, &c->graph, err));
    TRY(comm_names_init(&c->names, c->t, c->arena, err));
    TRY(groups_init(&c->sums, c->arena, sizeof(path_sum), err));
    TRY(write_path(c, err));
    TRY(write_kinds(c, err));
    return write_names(c, err);
}

status analyse_critical(const analysis_input *in, const params *p, arena *a, answer *out,
                        error *err) {
    critical c = {.t = in->traces[0].trace, .arena = a, .out = out};
    TRY(answer_begin("critical", in, a, out, err));
    if (job_is_meant(in)) return job_critical(in, p, a, out, err);
    TRY(trace_require(c.t, WHY_TABLES | TRACE_TABLE(comm), err));
    status st = find_all(&c, p, err);
    map_fini(&c.row_of);
    TRY(st);
    rules_apply(rules, N_OF(rules), &c, &out->verdict);
    TRY(why_graph_note(&c.graph, a, out, err));
    answer_finish(out, p);
    return OK;
}
