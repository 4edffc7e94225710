/* producer_ops.c: what a producer had added up itself, shown as operators, types, sub-graphs,
 * kernels.
 *
 * A producer gives sums by operator and sums by type, and they may disagree (one counts
 * executions, the other operators); each question is answered from the rows of its own level
 * and only where those are missing from the others. Shares are of the side: AI Core, AI CPU,
 * the host and a GPU run side by side, so a share of all of them would mean nothing. */
#include "analyse/vendor/producer_ops.h"

#include <math.h>

#include "analyse/group.h"
#include "analyse/rows.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/sort.h"

/* ---- names ------------------------------------------------------------------------------- */

bool graph_name_is(str name) {
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    return n < name.n && n > 3 && str_ends(str_n(name.p, n), STR("-op"));
}

str graph_name_short(str name) {
    size_t slash = str_rfind_byte(name, '/');
    return slash == SIZE_MAX || !graph_name_is(name) ? name : str_from(name, slash + 1);
}

str graph_name_type(str name) {
    str s = graph_name_short(name);
    size_t dash = str_rfind_byte(s, '-');
    return dash == SIZE_MAX || dash == 0 ? s : str_n(s.p, dash);
}

str graph_name_subgraph(str name) {
    size_t slash = str_find(name, STR("/"), 0);
    return slash == SIZE_MAX ? str_n("", 0) : str_n(name.p, slash);
}

/* ---- sums -------------------------------------------------------------------------------- */

typedef struct {
    str name, side;
    str full_name, type, info, subgraph;
    str shapes; /* where they tell rows apart */
    int64_t calls, total, max, min, self, dispatch;
    double flops, flops_per_s, vector_flops, vector_flops_per_s;
    uint32_t rows;
} given_row;

typedef struct {
    str name, side, shapes;
} given_key;

static bool same_given(const void *row, const void *key) {
    const given_row *r = row;
    const given_key *k = key;
    return str_eq(r->name, k->name) && str_eq(r->side, k->side) && str_eq(r->shapes, k->shapes);
}

static uint64_t hash_key(const given_key *k) {
    uint64_t side = intern_hash(k->side);
    return hash_pair(intern_hash(k->name),
                     k->shapes.n ? hash_pair(side, intern_hash(k->shapes)) : side);
}

static bool is_by_name(group_by group) {
    return group == GROUP_NAME || group == GROUP_NAME_SHAPE;
}

static int64_t add_known(int64_t a, int64_t b) {
    return a == ABSENT_I64 ? b : b == ABSENT_I64 ? a : add_i64(a, b);
}

static double add_real(double a, double b) {
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static given_row read_row(const trace *t, uint32_t i) {
#define TEXT(column) trace_str(t, t->producer_op.column[i])
    given_row r = {.name = TEXT(name),
                   .side = TEXT(side),
                   .full_name = TEXT(full_name),
                   .type = TEXT(type),
                   .info = TEXT(info),
                   .subgraph = TEXT(subgraph),
                   .calls = t->producer_op.calls[i],
                   .total = t->producer_op.total[i],
                   .max = t->producer_op.max[i],
                   .min = t->producer_op.min[i],
                   .self = t->producer_op.self[i],
                   .dispatch = t->producer_op.dispatch[i],
                   .flops = t->producer_op.flops[i],
                   .flops_per_s = t->producer_op.flops_per_s[i],
                   .vector_flops = t->producer_op.vector_flops[i],
                   .vector_flops_per_s = t->producer_op.vector_flops_per_s[i],
                   .rows = 1};
#undef TEXT
    if (!r.side.n) r.side = STR("device");
    if (!r.full_name.n) r.full_name = r.name;
    return r;
}

static void join_row(given_row *to, const given_row *r) {
    to->calls = add_known(to->calls, r->calls);
    to->total = add_known(to->total, r->total);
    to->self = add_known(to->self, r->self);
    to->dispatch = add_known(to->dispatch, r->dispatch);
    to->flops = add_real(to->flops, r->flops);
    to->vector_flops = add_real(to->vector_flops, r->vector_flops);
    to->max =
        to->max == ABSENT_I64 || r->max == ABSENT_I64 ? ABSENT_I64 : max_i64(to->max, r->max);
    to->min =
        to->min == ABSENT_I64 || r->min == ABSENT_I64 ? ABSENT_I64 : min_i64(to->min, r->min);
    to->flops_per_s = to->vector_flops_per_s = NAN; /* rates do not add up */
    if (!str_eq(to->type, r->type)) to->type = STR_NONE;
    if (!str_eq(to->subgraph, r->subgraph)) to->subgraph = STR_NONE;
    to->rows++;
}

/* Has the side rows of this level? */
static bool side_has(const trace *t, str side, uint8_t level) {
    for (uint32_t i = 1; i < t->producer_op.n; i++)
        if (t->producer_op.level[i] == level && str_eq(read_row(t, i).side, side)) return true;
    return false;
}

/* The rows of a question, added up by key: levels are kept separate. */
static status sum_rows(const trace *t, group_by group, groups *out, error *err) {
    str side = STR_NONE;
    bool has_types = false;
    for (uint32_t i = 1; i < t->producer_op.n; i++) {
        given_row r = read_row(t, i);
        uint8_t level = t->producer_op.level[i];
        if (level == PRODUCER_KERNEL) continue;
        if (!str_eq(r.side, side) || !side.p) {
            side = r.side;
            has_types = side_has(t, side, PRODUCER_TYPE);
        }
        bool wanted_type = group == GROUP_TYPE && has_types;
        if (!wanted_type && group != GROUP_TYPE && level == PRODUCER_TYPE &&
            !side_has(t, side, PRODUCER_OPERATOR))
            wanted_type = true; /* types are all there is */
        if (wanted_type != (level == PRODUCER_TYPE)) continue;
        if (group == GROUP_TYPE) r.name = r.full_name = r.type;
        if (group == GROUP_SUBGRAPH)
            r.name = r.full_name = r.subgraph.n ? r.subgraph : STR("-");
        if (group == GROUP_NAME_SHAPE) r.shapes = trace_str(t, t->producer_op.shapes[i]);
        given_key key = {is_by_name(group) ? r.full_name : r.name, r.side, r.shapes};
        bool is_new;
        str shown = r.name;
        r.name = key.name; /* what makes one row; the shown name follows below */
        uint32_t at = groups_at(out, hash_key(&key), same_given, &key, &is_new);
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        given_row *to = GROUP_ROW(out, given_row, at);
        if (is_new)
            *to = r;
        else
            join_row(to, &r);
        if (is_new && is_by_name(group)) to->full_name = shown; /* swapped back when written */
    }
    return OK;
}

static int compare_given(uint32_t a, uint32_t b, const void *context) {
    const given_row *x = GROUP_ROW((const groups *)context, given_row, a),
                    *y = GROUP_ROW((const groups *)context, given_row, b);
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    int c = str_cmp(x->name, y->name);
    if (!c) c = str_cmp(x->side, y->side);
    return c ? c : str_cmp(x->shapes, y->shapes);
}

static void set_given_times(row_operators_operators *row, const given_row *r) {
    bool host = str_eq(r->side, STR("host"));
    row->calls = r->calls;
    if (r->total == ABSENT_I64) return;
    int64_t mean = r->calls > 0 ? mean_i64(r->total, r->calls) : r->total;
    row->mean = mean;
    if (!host) row->device_mean = mean;
    *(host ? &row->host_total : &row->device_total) = r->total;
    *(host ? &row->host_self : &row->device_self) = r->self;
    row->max = r->max;
    row->min = r->min;
    if (r->dispatch != ABSENT_I64 && r->calls > 0)
        row->dispatch_mean = mean_i64(r->dispatch, r->calls);
}

/* What the shares of the rows are of. */
typedef struct {
    int64_t total; /* of the side */
    double peak;   /* operations the device can do in a second; NaN: not known */
    bool by_name;
} given_whole;

static status write_row(table *t, const given_row *r, const given_whole *w, error *err) {
    row_operators_operators row = row_operators_operators_none();
    row.name = w->by_name ? r->full_name : r->name;
    row.full_name = r->name;
    row.side = r->side;
    if (r->type.n) row.type = r->type;
    if (r->info.n && r->rows == 1) row.info = r->info;
    if (r->subgraph.n) row.subgraph = r->subgraph;
    if (r->shapes.n) row.shapes = r->shapes;
    set_given_times(&row, r);
    if (w->total > 0 && r->total != ABSENT_I64) row.share = (double)r->total / (double)w->total;
    row.flops_utilization = r->flops_per_s / w->peak;
    row.flops = r->flops;
    row.flops_per_s = r->flops_per_s;
    row.vector_flops = r->vector_flops;
    row.vector_flops_per_s = r->vector_flops_per_s;
    return put_operators_operators(t, &row, err);
}

/* Total of a side among the rows. */
static int64_t side_total(const groups *rows, str side) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const given_row *r = GROUP_ROW(rows, given_row, i);
        if (str_eq(r->side, side)) sum = add_i64(sum, max_i64(0, r->total));
    }
    return sum;
}

bool producer_ops_are_there(const trace *t) {
    for (uint32_t i = 1; i < t->producer_op.n; i++)
        if (t->producer_op.level[i] != PRODUCER_KERNEL) return true;
    return false;
}

status producer_ops_write(table *out, const trace *t, group_by group, error *err) {
    groups rows;
    if (group == GROUP_NAME_SHAPE_STACK) group = GROUP_NAME_SHAPE;
    if (group != GROUP_TYPE && group != GROUP_SUBGRAPH && group != GROUP_NAME_SHAPE)
        group = GROUP_NAME;
    TRY(groups_init(&rows, out->arena, sizeof(given_row), err));
    TRY(sum_rows(t, group, &rows, err));
    uint32_t *order = groups_order(&rows), *scratch = groups_order(&rows);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, rows.n, compare_given, &rows);
    str side = STR_NONE;
    given_whole whole = {.by_name = is_by_name(group), .peak = (double)NAN};
    if (t->resource.n > 1) whole.peak = t->resource.peak_flops_per_s[1];
    for (uint32_t i = 0; i < rows.n; i++) {
        const given_row *r = GROUP_ROW(&rows, given_row, order[i]);
        if (!side.p || !str_eq(side, r->side)) whole.total = side_total(&rows, r->side);
        side = r->side;
        TRY(write_row(out, r, &whole, err));
    }
    return OK;
}

status producer_types_list(const trace *t, arena *a, top_item **items, size_t *n, error *err) {
    groups rows;
    TRY(groups_init(&rows, a, sizeof(given_row), err));
    TRY(sum_rows(t, GROUP_TYPE, &rows, err));
    *items = ARENA_ARRAY(a, top_item, (size_t)rows.n + 1);
    if (!*items) FAIL_MEMORY(err);
    *n = 0;
    for (uint32_t i = 0; i < rows.n; i++) {
        const given_row *r = GROUP_ROW(&rows, given_row, i);
        if (r->total == ABSENT_I64) continue; /* only counted, never timed */
        (*items)[(*n)++] = (top_item){r->name, r->side, r->calls, max_i64(0, r->total)};
    }
    return OK;
}

status producer_kernels_write(table *out, const trace *t, error *err) {
    int64_t whole = 0;
    for (uint32_t i = 1; i < t->producer_op.n; i++)
        if (t->producer_op.level[i] == PRODUCER_KERNEL)
            whole = add_i64(whole, max_i64(0, t->producer_op.total[i]));
    for (uint32_t i = 1; i < t->producer_op.n; i++) {
        if (t->producer_op.level[i] != PRODUCER_KERNEL) continue;
        given_row r = read_row(t, i);
        row_kernels_kernels row = row_kernels_kernels_none();
        row.name = r.name;
        if (r.full_name.n) row.op = r.full_name;
        row.calls = r.calls;
        row.total = r.total;
        row.mean = r.calls > 0 ? mean_i64(r.total, r.calls) : r.total;
        row.max = r.max;
        row.min = r.min;
        if (whole > 0) row.share = (double)r.total / (double)whole;
        TRY(put_kernels_kernels(out, &row, err));
    }
    return table_sort(out, COL(kernels, kernels, total), true, err);
}
