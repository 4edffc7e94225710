/* operators.c: which operators cost the time.
 *
 * op_scan gives every call once; here the calls are added up by name, name and input shapes,
 * name and call stack, or type, and the groups are written in the order a reader wants: most
 * device self time first, where there is device work, else most host self time; ties by the
 * bytes of the name, then of the shapes and the stack, so that the answer is the same for
 * any order of events.
 *
 *   host_total   Σ duration of the calls
 *   host_self    host_total without the children that count (op_scan.h)
 *   device_self  Σ device work launched by the op itself, overlapping streams added up
 *   device_total device_self and that of all children
 *   device_inferred  of device_total, what ran for an operator of another step or of a capture:
 *                    it is not a call's of this time
 *   share        self time: of the device over all that the devices did, with or without an
 *                operator; where no operator has any, of the host over that of all ops
 *
 * Producers that hand over sums (table producer_op) are shown as they added up, as long as no
 * window or step is asked for and there are calls to answer that from (producer_ops.h). It does
 * not name kernels (kernels.c) and does not remove recursion from totals: an op inside one of
 * its own name counts in both, as in PyTorch's own tables. */
#include <math.h>

#include "analyse/cost/op_work.h"
#include "analyse/device/step_limit.h"
#include "analyse/kind_names.h"
#include "analyse/operators/matmul_shapes.h"
#include "analyse/operators/op_scan.h"
#include "analyse/operators/op_verdict.h"
#include "analyse/questions/op_phases.h"
#include "analyse/run/summary_answers.h"
#include "analyse/vendor/dynamic_shapes.h"
#include "analyse/vendor/flops_scopes.h"
#include "analyse/vendor/producer_ops.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/traits.h"

#define COL_OP(name) COL(operators, operators, name)

typedef struct {
    uint32_t name, shapes, stack;
} op_key;

typedef struct {
    op_key key;
    str type; /* when grouped by type, the name */
    int64_t calls, max_ns, min_ns, device_max, device_min;
    int64_t host_total, host_self, device_total, device_self, tensor_total, tensor_self;
    int64_t inferred;                               /* of device_total */
    int64_t unsure_total, unsure_self, missed_self; /* matrix cores: not known; could be used */
    work_sum done;                                  /* of the calls whose cost is known */
    bool eligible;
    uint32_t call, work;      /* slices: the longest call, the longest piece of device work */
    int64_t call_ns, work_ns; /* their times */
    str name_text, shapes_text, stack_text;
} op_group;

typedef struct {
    const trace *t;
    selection select;
    group_by group;
    tensor_core_names tensor;
    stacks stacks;
    groups rows;
    uint32_t *by_name; /* name → row + 1, when the name alone is the key */
    int64_t device_self, host_self;
    int64_t device_ns; /* of all device work: what a share of it is of */
    uint32_t alone;    /* name of the work without an operator that takes longest; 0: none */
    int64_t alone_ns;
    bool has_inferred; /* device work may have an operator of another step, or of a capture */
    op_work work;
    bool roofline; /* asked for */
} totals;

/* The family of an op: its namespace, autograd for nodes of the backward graph, else custom.
 * Frameworks without namespaces are one family. */
static str type_of(const trace *t, str name) {
    framework made = format_framework(t->format);
    if (made == FRAMEWORK_JAX) return STR("jax");
    if (made == FRAMEWORK_TENSORFLOW) return STR("tensorflow");
    if (graph_name_is(name)) return graph_name_type(name);
    str head = str_before(name, STR(" "));
    size_t at = SIZE_MAX;
    for (size_t i = str_find(head, STR("::"), 0); i != SIZE_MAX;
         i = str_find(head, STR("::"), i + 2))
        at = i;
    if (at != SIZE_MAX && at) return str_n(name.p, at);
    at = str_find(head, STR(":"), 0);
    if (at != SIZE_MAX && at) return str_n(name.p, at);
    return str_find(name, STR("Backward"), 0) != SIZE_MAX ? STR("autograd") : STR("custom");
}

static bool same_key(const void *row, const void *key) {
    return memcmp(&((const op_group *)row)->key, key, sizeof(op_key)) == 0;
}

static bool same_type(const void *row, const void *type) {
    return str_eq(((const op_group *)row)->type, *(const str *)type);
}

static bool same_top(const void *row, const void *type) {
    return str_eq(((const top_item *)row)->name, *(const str *)type);
}

/* Row of a group found by the name alone, once for each name. */
static uint32_t find_by_name(totals *o, const op_call *c) {
    if (c->name >= o->t->n_strings) return GROUP_NONE;
    if (o->by_name[c->name]) return o->by_name[c->name] - 1;
    bool is_new = true;
    uint32_t row;
    str type = type_of(o->t, trace_str(o->t, c->name));
    if (o->group == GROUP_SUBGRAPH) type = graph_name_subgraph(trace_str(o->t, c->name));
    if (o->group == GROUP_TYPE || o->group == GROUP_SUBGRAPH)
        row = groups_at(&o->rows, intern_hash(type), same_type, &type, &is_new);
    else
        row = groups_add(&o->rows);
    if (row == GROUP_NONE) return row;
    op_group *g = GROUP_ROW(&o->rows, op_group, row);
    if (is_new) *g = (op_group){.key = {.name = c->name}, .type = type};
    o->by_name[c->name] = row + 1;
    return row;
}

static uint32_t find_group(totals *o, const op_call *c) {
    if (o->by_name) return find_by_name(o, c);
    op_key key = {.name = c->name};
    if (o->group != GROUP_NAME_STACK && c->op_row) key.shapes = o->t->op.shapes[c->op_row];
    if (o->group != GROUP_NAME_SHAPE) key.stack = c->stack;
    bool is_new;
    uint64_t hash = hash_pair(hash_pair(key.name, key.shapes), key.stack);
    uint32_t row = groups_at(&o->rows, hash, same_key, &key, &is_new);
    if (row != GROUP_NONE && is_new) {
        op_group *g = GROUP_ROW(&o->rows, op_group, row);
        *g = (op_group){.key = key};
        g->type = type_of(o->t, trace_str(o->t, key.name));
    }
    return row;
}

/* Device time of the call itself: that of steps without operators is that of other calls. */
static int64_t own_device_ns(const op_call *c) {
    return sub_i64(add_i64(c->device_self, c->device_children),
                   add_i64(c->inferred_self, c->inferred_children));
}

/* Peaks and the unit that did the work are looked for only when they are asked for. The work of
 * a call that is made twice is done once. */
static status add_work(op_group *g, totals *o, const op_call *c, error *err) {
    work_done done = {.ns = c->kernel_ns, .compute_ns = NAN, .memory_ns = NAN};
    if (!c->op_row || trace_is_call_again(o->t, c->slice)) return OK;
    if (o->roofline) {
        TRY(op_work_call(&o->work, c->op_row, &done, err));
    } else {
        TRY(op_work_cost(&o->work, c->op_row, &done.cost, err));
        if (!done.ns) done.ns = o->work.on_device ? own_device_ns(c) : c->ns;
    }
    work_sum_add(&g->done, &done, 1, done.ns);
    return OK;
}

/* Where the group costs most: device work if it has any, else a call. */
static void note_worst(op_group *g, const op_call *c) {
    if (c->longest && (!g->work || c->longest_ns > g->work_ns)) {
        g->work = c->longest;
        g->work_ns = c->longest_ns;
    }
    if (!g->call || c->ns > g->call_ns) {
        g->call = c->slice;
        g->call_ns = c->ns;
    }
}

static status add_call(void *context, const op_call *c, error *err) {
    totals *o = context;
    int64_t device_total = add_i64(c->device_self, c->device_children);
    bool counts = select_counts(&o->select, c->slice);
    if (!counts && !c->ns && !device_total) return OK;
    uint32_t row = find_group(o, c);
    if (row == GROUP_NONE) FAIL_MEMORY(err);
    op_group *g = GROUP_ROW(&o->rows, op_group, row);
    if (counts) {
        g->max_ns = max_i64(g->max_ns, c->ns);
        g->min_ns = g->calls ? min_i64(g->min_ns, c->ns) : c->ns;
        int64_t own = own_device_ns(c);
        g->device_max = max_i64(g->device_max, own);
        g->device_min = g->calls ? min_i64(g->device_min, own) : own;
        g->calls++;
        TRY(add_work(g, o, c, err));
    }
    note_worst(g, c);
    g->host_total = add_i64(g->host_total, c->ns);
    g->host_self = add_i64(g->host_self, op_call_self_ns(c));
    g->device_self = add_i64(g->device_self, c->device_self);
    g->device_total = add_i64(g->device_total, device_total);
    g->inferred = add_i64(g->inferred, add_i64(c->inferred_self, c->inferred_children));
    g->tensor_self = add_i64(g->tensor_self, c->tensor_self);
    g->tensor_total = add_i64(g->tensor_total, add_i64(c->tensor_self, c->tensor_children));
    g->unsure_self = add_i64(g->unsure_self, c->unsure_self);
    g->unsure_total = add_i64(g->unsure_total, add_i64(c->unsure_self, c->unsure_children));
    g->missed_self = add_i64(g->missed_self, c->missed_self);
    g->eligible |= c->eligible;
    o->has_inferred |= c->inferred_self != 0;
    o->device_self = add_i64(o->device_self, c->device_self);
    o->host_self = add_i64(o->host_self, op_call_self_ns(c));
    return OK;
}

/* All that the devices did, and the longest of what belongs to no operator. */
static status add_all_work(totals *o, arena *a, error *err) {
    const trace *t = o->t;
    int64_t *ns = ARENA_ARRAY(a, int64_t, (size_t)t->n_strings + 1);
    if (!ns) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t name = t->slice.name[t->kernel.slice[k]];
        int64_t own = select_work_ns(&o->select, k);
        o->device_ns = add_i64(o->device_ns, own);
        if (!t->kernel.op[k] && name < t->n_strings) ns[name] = add_i64(ns[name], own);
    }
    for (uint32_t i = 1; i < t->n_strings; i++) {
        if (ns[i] <= o->alone_ns) continue;
        o->alone = i;
        o->alone_ns = ns[i];
    }
    return OK;
}

static int compare_groups(uint32_t a, uint32_t b, const void *context) {
    const totals *o = context;
    const op_group *x = GROUP_ROW(&o->rows, op_group, a), *y = GROUP_ROW(&o->rows, op_group, b);
    if (o->device_self && x->device_self != y->device_self)
        return x->device_self > y->device_self ? -1 : 1;
    if (x->host_self != y->host_self) return x->host_self > y->host_self ? -1 : 1;
    int names = str_cmp(x->name_text, y->name_text);
    if (names) return names;
    int shapes = str_cmp(x->shapes_text, y->shapes_text);
    return shapes ? shapes : str_cmp(x->stack_text, y->stack_text);
}

static status make_texts(totals *o, arena *a, error *err) {
    for (uint32_t i = 0; i < o->rows.n; i++) {
        op_group *g = GROUP_ROW(&o->rows, op_group, i);
        bool by_type = o->group == GROUP_TYPE || o->group == GROUP_SUBGRAPH;
        g->name_text = by_type ? g->type : trace_str(o->t, g->key.name);
        g->shapes_text = g->key.shapes ? trace_str(o->t, g->key.shapes) : STR("[]");
        if (!g->key.stack) continue;
        g->stack_text = stacks_text(&o->stacks, g->key.stack, a);
        if (!g->stack_text.p) FAIL_MEMORY(err);
    }
    return OK;
}

static double share_of(int64_t part, int64_t whole) {
    return whole ? (double)part / (double)whole : NAN;
}

static void set_times(table *t, size_t row, const totals *o, const op_group *g) {
    table_set_int(t, row, COL_OP(calls), g->calls);
    if (g->calls) {
        table_set_int(t, row, COL_OP(mean), mean_i64(g->host_total, g->calls));
        table_set_int(t, row, COL_OP(max), g->max_ns);
        table_set_int(t, row, COL_OP(min), g->min_ns);
    }
    table_set_int(t, row, COL_OP(host_total), g->host_total);
    table_set_int(t, row, COL_OP(host_self), g->host_self);
    table_set_real(t, row, COL_OP(share),
                   o->device_self ? share_of(g->device_self, o->device_ns)
                                  : share_of(g->host_self, o->host_self));
}

/* Device columns stay null in a trace without device work: it was not recorded. */
static void set_device(table *t, size_t row, const op_group *g) {
    table_set_int(t, row, COL_OP(device_total), g->device_total);
    table_set_int(t, row, COL_OP(device_self), g->device_self);
    if (g->calls) {
        table_set_int(t, row, COL_OP(device_mean),
                      mean_i64(sub_i64(g->device_total, g->inferred), g->calls));
        table_set_int(t, row, COL_OP(device_max), g->device_max);
        table_set_int(t, row, COL_OP(device_min), g->device_min);
    }
    table_set_real(t, row, COL_OP(tensor_core_self_share),
                   tensor_core_share(g->tensor_self, g->unsure_self, g->device_self));
    table_set_real(t, row, COL_OP(tensor_core_total_share),
                   tensor_core_share(g->tensor_total, g->unsure_total, g->device_total));
}

static void set_work(table *t, size_t row, const work_sum *w) {
    if (w->has_flops) table_set_real(t, row, COL_OP(flops), w->flops);
    if (w->has_bytes) table_set_int(t, row, COL_OP(bytes), work_bytes(w));
    table_set_real(t, row, COL_OP(flops_per_s), work_flops_per_s(w));
    table_set_real(t, row, COL_OP(bytes_per_s), work_bytes_per_s(w));
    table_set_real(t, row, COL_OP(intensity), work_intensity(w));
    table_set_real(t, row, COL_OP(peak_share), work_peak_share(w));
    table_set_real(t, row, COL_OP(bandwidth_share), work_bandwidth_share(w));
    table_set_text(t, row, COL_OP(bound), work_bound(w));
}

static void set_worst(table *t, size_t row, const trace *of, uint32_t slice) {
    if (!slice) return;
    table_set_int(t, row, COL_OP(slice), slice);
    table_set_int(t, row, COL_OP(at), sub_i64(of->slice.start[slice], of->start_ns));
}

static status write_group(table *t, const totals *o, const op_group *g, error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_OP(name), graph_name_short(g->name_text));
    table_set_text(t, row, COL_OP(full_name), g->name_text);
    str graph = graph_name_is(g->name_text) ? graph_name_subgraph(g->name_text) : STR_NONE;
    if (graph.n) table_set_text(t, row, COL_OP(subgraph), graph);
    table_set_text(t, row, COL_OP(side), STR("host"));
    table_set_text(t, row, COL_OP(type), g->type);
    set_times(t, row, o, g);
    if (o->t->kernel.n > 1) set_device(t, row, g);
    if (o->has_inferred) table_set_int(t, row, COL_OP(device_inferred), g->inferred);
    table_set_int(t, row, COL_OP(tensor_core_eligible), g->eligible);
    set_work(t, row, &g->done);
    set_worst(t, row, o->t, g->work ? g->work : g->call);
    table_set_text(t, row, COL_OP(shapes), g->shapes_text);
    table_set_text(t, row, COL_OP(stack), g->stack_text);
    return OK;
}

/* The chart: types with the longest mean, from the given sums or from the groups written. */
enum { TOP_TYPES = 20 };

static status write_top(const totals *o, bool given, answer *out, arena *a, error *err) {
    top_item *items;
    size_t n = 0;
    if (given) {
        TRY(producer_types_list(o->t, a, &items, &n, err));
        return top_list_write(out, a, items, n, TOP_TYPES, err);
    }
    groups types;
    TRY(groups_init(&types, a, sizeof(top_item), err));
    for (uint32_t i = 0; i < o->rows.n; i++) {
        const op_group *g = GROUP_ROW(&o->rows, op_group, i);
        bool is_new;
        uint32_t at = groups_at(&types, intern_hash(g->type), same_top, &g->type, &is_new);
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        top_item *to = GROUP_ROW(&types, top_item, at);
        if (is_new) *to = (top_item){.name = g->type, .side = STR("host")};
        to->calls = add_i64(to->calls, g->calls);
        to->total = add_i64(to->total, o->device_self ? g->device_self : g->host_self);
    }
    items = types.n ? GROUP_ROW(&types, top_item, 0) : NULL;
    return top_list_write(out, a, items, types.n, TOP_TYPES, err);
}

static status init_totals(totals *o, const trace *t, const params *p, arena *a, error *err) {
    *o = (totals){.t = t, .group = p->group};
    select_init(&o->select, t, p);
    TRY(tensor_core_init(&o->tensor, t, a, err));
    TRY(op_work_init(&o->work, &o->select, p, a, err));
    o->roofline = param_flag(p, STR("roofline"));
    TRY(groups_init(&o->rows, a, sizeof(op_group), err));
    TRY(stacks_init(&o->stacks, t, a, err));
    if (o->group == GROUP_NAME_SHAPE || o->group == GROUP_NAME_STACK ||
        o->group == GROUP_NAME_SHAPE_STACK)
        return OK;
    o->by_name = ARENA_ARRAY(a, uint32_t, (size_t)t->n_strings + 1);
    if (!o->by_name) FAIL_MEMORY(err);
    return OK;
}

/* What the rules of the verdict look at; `order` is the reader's. */
static op_facts find_facts(const totals *o, const uint32_t *order, arena *a) {
    op_facts f = {
        .n_rows = o->rows.n, .has_device = o->device_self > 0, .compute_major = ABSENT_I32};
    int64_t missed = 0, tensor = 0;
    for (uint32_t i = 0; i < o->rows.n; i++) {
        const op_group *g = GROUP_ROW(&o->rows, op_group, i);
        tensor = add_i64(tensor, g->tensor_self);
        missed = add_i64(missed, g->missed_self);
    }
    for (uint32_t i = 1; i < o->t->device.n; i++)
        if (o->t->device.compute_major[i] > f.compute_major)
            f.compute_major = o->t->device.compute_major[i];
    f.matrix_unit = device_matrix_unit(o->t);
    if (!o->rows.n) return f;
    const op_group *top = GROUP_ROW(&o->rows, op_group, order[0]);
    f.top = top->name_text;
    f.top_calls = top->calls;
    f.top_share = f.has_device   ? share_of(top->device_self, o->device_ns)
                  : o->host_self ? share_of(top->host_self, o->host_self)
                                 : 0;
    if (!f.has_device) return f;
    f.missed_share = share_of(missed, o->device_ns);
    f.tensor_share = share_of(tensor, o->device_ns);
    f.alone = o->alone ? trace_str(o->t, o->alone) : STR_NONE;
    f.alone_share = share_of(o->alone_ns, o->device_ns);
    f.has_odd = o->group != GROUP_TYPE && o->group != GROUP_SUBGRAPH &&
                matmul_find_odd(&o->select, top->key.name, a, &f.odd);
    return f;
}

/* The operator that takes most of what the producer had added up: of its devices where any of
 * it is theirs. Its own shares are of one side (AI Core, AI CPU) each. */
static void take_given(const table *t, op_facts *f) {
    int64_t sum[2] = {0}, most[2] = {-1, -1};
    size_t row[2] = {0};
    for (size_t i = 0; i < t->n_rows; i++)
        for (int device = 0; device < 2; device++) {
            uint32_t col = device ? COL_OP(device_total) : COL_OP(host_total);
            if (table_is_null(t, i, col)) continue;
            int64_t ns = t->columns[col].v.i[i];
            sum[device] = add_i64(sum[device], max_i64(0, ns));
            if (ns <= most[device]) continue;
            most[device] = ns;
            row[device] = i;
        }
    int side = sum[1] > 0;
    f->top = STR_NONE;
    f->has_odd = false;
    f->missed_share = 0;
    f->alone = STR_NONE;
    f->has_device = side;
    if (!sum[side]) return;
    bool counted = !table_is_null(t, row[side], COL_OP(calls));
    f->top = t->columns[COL_OP(name)].v.s[row[side]];
    f->top_share = (double)most[side] / (double)sum[side];
    f->top_calls = counted ? t->columns[COL_OP(calls)].v.i[row[side]] : ABSENT_I64;
}

status analyse_operators(const analysis_input *in, const params *p, arena *a, answer *out,
                         error *err) {
    const trace *t = in->traces[0].trace;
    totals o;
    TRY(answer_begin("operators", in, a, out, err));
    if (in->n_traces > 1 || input_is_summary(in)) {
        TRY(summary_operators(in, p, a, out, err));
        answer_finish(out, p);
        return OK;
    }
    TRY(trace_require(t,
                      SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(frame) |
                          TRACE_TABLE(producer_op) | TRACE_TABLE(meta) | TRACE_TABLE(resource),
                      err));
    TRY(init_totals(&o, t, p, a, err));
    bool with_stacks = o.group == GROUP_NAME_STACK || o.group == GROUP_NAME_SHAPE_STACK;
    op_scan scan = {.t = t,
                    .select = &o.select,
                    .tensor = &o.tensor,
                    .arena = a,
                    .stacks = with_stacks ? &o.stacks : NULL,
                    .visit = add_call,
                    .context = &o};
    TRY(op_scan_run(&scan, err));
    TRY(add_all_work(&o, a, err));
    TRY(make_texts(&o, a, err));
    uint32_t *order = groups_order(&o.rows), *scratch = groups_order(&o.rows);
    table *result = answer_table(out, a, "operators");
    if (!order || !scratch || !result) FAIL_MEMORY(err);
    sort_index(order, scratch, o.rows.n, compare_groups, &o);
    bool window = o.select.by_step || o.select.by_time;
    bool given = producer_ops_are_there(t) && !(window && o.rows.n);
    for (uint32_t i = 0; i < o.rows.n && !given; i++)
        TRY(write_group(result, &o, GROUP_ROW(&o.rows, op_group, order[i]), err));
    TRY(op_phases_write(&o.select, p, a, out, err));
    if (given) TRY(producer_ops_write(result, t, o.group, err));
    TRY(write_top(&o, given, out, a, err));
    TRY(flops_scopes_write(t, a, out, err));
    TRY(dynamic_shapes_write(t, p, a, out, err));
    op_facts facts = find_facts(&o, order, a);
    facts.n_rows = sat_u32(result->n_rows);
    if (given) take_given(result, &facts);
    if (!given || facts.top.n) op_judge(&facts, &out->verdict);
    if (facts.has_device) TRY(step_limit_say(t, &o.select, a, &out->verdict, err));
    answer_finish(out, p);
    return OK;
}
