/* memory_stats.c: memory by operator.
 *
 * For each device and operator name: how much its calls allocated and released themselves,
 * and with everything inside them. Events belong to the innermost op on their thread; the
 * totals climb from there to the ops around. Only ops that hold an event somewhere inside
 * are visited: for each device, the events' ops and their ancestors form a small tree, whose
 * nodes are added up from the inside out (a parent's id is smaller than its children's). An
 * op that is alone in one of its own name is the same call and passes its sums on
 * unseen.
 *
 * Nested calls of one name count in each other's totals, as in the operators table.
 *
 * Events without an op, but with a call stack of their own (memory snapshots), are added up in
 * the same way by the frame that names the stack; how often a frame was called is not known. */
#include "analyse/memory/memory_view.h"
#include "analyse/operators/op_scan.h"
#include "base/sort.h"

#define COL_M(name) COL(memory, statistics, name)

typedef struct {
    int64_t increase, allocations, bytes; /* Σ signed; number and Σ of allocations */
} sums;

/* An op with an event of the device somewhere inside; where events have their own call stacks
 * and no op, the frame that names the stack, and the user's frames around it. */
typedef struct {
    uint32_t id, outer; /* slice, or slice.n + frame; index of the one around it + 1 */
    sums self, total;
} node;

typedef struct {
    uint32_t name; /* string, or n_strings + label */
    sums self, total;
    uint32_t most; /* the call that allocated most itself; 0: only stacks are known */
    int64_t most_bytes;
} stat_row;

typedef struct {
    memory_view *m;
    uint8_t *is_call; /* by slice: an op that op_scan visited, no duplicate */
    int64_t *calls;   /* by name: calls inside the selection */
    uint32_t *
        outer_op; /* by slice: the op around it, filled as needed; UINT32_MAX = not known yet */
    uint32_t *node_of; /* by id of a node: index + 1, for the current device */
    groups nodes;
    groups rows;
    uint32_t *row_of; /* by name: row + 1, for the current device */
} stats;

static status count_call(void *context, const op_call *c, error *err) {
    (void)err;
    stats *s = context;
    s->is_call[c->slice] = 1;
    if (c->name < s->m->t->n_strings)
        s->calls[c->name] += select_counts(&s->m->select, c->slice);
    return OK;
}

static uint32_t find_outer_op(stats *s, uint32_t op) {
    const trace *t = s->m->t;
    if (op >= t->slice.n) {
        uint32_t outer = memory_outer_site(s->m, op - t->slice.n);
        return outer ? t->slice.n + outer : 0;
    }
    if (s->outer_op[op] == UINT32_MAX) {
        uint32_t i = t->slice.parent[op];
        while (i && t->slice.kind[i] != KIND_OP) i = t->slice.parent[i];
        s->outer_op[op] = i;
    }
    return s->outer_op[op];
}

/* The node of an op, made with those of all ops around it; index + 1, 0 when out of memory. */
static uint32_t find_node(stats *s, uint32_t op) {
    uint32_t first = 0, inner = 0;
    for (uint32_t i = op; i; i = find_outer_op(s, i)) {
        uint32_t at = s->node_of[i];
        bool is_new = !at;
        if (is_new) {
            uint32_t row = groups_add(&s->nodes);
            if (row == GROUP_NONE) return 0;
            GROUP_ROW(&s->nodes, node, row)->id = i;
            s->node_of[i] = at = row + 1;
        }
        if (inner) GROUP_ROW(&s->nodes, node, inner - 1)->outer = at;
        inner = at;
        if (!first) first = at;
        if (!is_new) break;
    }
    return first;
}

static void add_sums(sums *to, const sums *from) {
    to->increase = add_i64(to->increase, from->increase);
    to->allocations = add_i64(to->allocations, from->allocations);
    to->bytes = add_i64(to->bytes, from->bytes);
}

static status add_event(stats *s, uint32_t row, error *err) {
    const trace *t = s->m->t;
    int64_t bytes = t->memory.bytes[row];
    uint32_t id = t->memory.op[row], site = memory_site(s->m, row);
    if (!id && site) id = t->slice.n + site;
    if (t->memory.kind[row] > MEMORY_FREE || !id || bytes == ABSENT_I64) return OK;
    uint32_t at = find_node(s, id);
    if (!at) FAIL_MEMORY(err);
    sums one = {bytes, bytes > 0, max_i64(bytes, 0)};
    add_sums(&GROUP_ROW(&s->nodes, node, at - 1)->self, &one);
    return OK;
}

static int compare_nodes(uint32_t a, uint32_t b, const void *context) {
    const stats *s = context;
    uint32_t x = GROUP_ROW(&s->nodes, node, a)->id, y = GROUP_ROW(&s->nodes, node, b)->id;
    return x > y ? -1 : x < y;
}

/* Sums from the inside out, then into the rows by name. */
static status add_up(stats *s, error *err) {
    const trace *t = s->m->t;
    uint32_t *order = groups_order(&s->nodes), *scratch = groups_order(&s->nodes);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, s->nodes.n, compare_nodes, s);
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        node *n = GROUP_ROW(&s->nodes, node, order[i]);
        add_sums(&n->total, &n->self);
        s->node_of[n->id] = 0;
        node *outer = n->outer ? GROUP_ROW(&s->nodes, node, n->outer - 1) : NULL;
        bool is_frame = n->id >= t->slice.n;
        if (!is_frame && !s->is_call[n->id] &&
            outer) { /* the outer op of its name stands for it */
            add_sums(&outer->self, &n->self);
            sums children = {sub_i64(n->total.increase, n->self.increase),
                             sub_i64(n->total.allocations, n->self.allocations),
                             sub_i64(n->total.bytes, n->self.bytes)};
            add_sums(&outer->total, &children);
            continue;
        }
        if (outer) add_sums(&outer->total, &n->total);
        uint32_t name =
            is_frame ? t->n_strings + s->m->label_of[n->id - t->slice.n] : t->slice.name[n->id];
        if (!s->row_of[name]) {
            uint32_t row = groups_add(&s->rows);
            if (row == GROUP_NONE) FAIL_MEMORY(err);
            GROUP_ROW(&s->rows, stat_row, row)->name = name;
            s->row_of[name] = row + 1;
        }
        stat_row *r = GROUP_ROW(&s->rows, stat_row, s->row_of[name] - 1);
        add_sums(&r->self, &n->self);
        add_sums(&r->total, &n->total);
        if (!is_frame && n->self.bytes > r->most_bytes) {
            r->most_bytes = n->self.bytes;
            r->most = n->id;
        }
    }
    return OK;
}

static str name_of(const stats *s, uint32_t name) {
    const trace *t = s->m->t;
    return name < t->n_strings ? trace_str(t, name) : memory_label(s->m, name - t->n_strings);
}

static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const stats *s = context;
    const stat_row *x = GROUP_ROW(&s->rows, stat_row, a), *y = GROUP_ROW(&s->rows, stat_row, b);
    if (x->self.increase != y->self.increase)
        return x->self.increase > y->self.increase ? -1 : 1;
    return str_cmp(name_of(s, x->name), name_of(s, y->name));
}

static status write_rows(stats *s, table *t, str device, error *err) {
    uint32_t *order = groups_order(&s->rows), *scratch = groups_order(&s->rows);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, s->rows.n, compare_rows, s);
    for (uint32_t i = 0; i < s->rows.n; i++) {
        const stat_row *r = GROUP_ROW(&s->rows, stat_row, order[i]);
        size_t row;
        s->row_of[r->name] = 0;
        if (!r->total.increase && !r->total.allocations && !r->self.increase) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_M(op), name_of(s, r->name));
        table_set_text(t, row, COL_M(device), device);
        if (r->name < s->m->t->n_strings)
            table_set_int(t, row, COL_M(calls), s->calls[r->name]);
        table_set_int(t, row, COL_M(size_increase), r->total.increase);
        table_set_int(t, row, COL_M(self_size_increase), r->self.increase);
        table_set_int(t, row, COL_M(allocations), r->total.allocations);
        table_set_int(t, row, COL_M(self_allocations), r->self.allocations);
        table_set_int(t, row, COL_M(allocation_bytes), r->total.bytes);
        table_set_int(t, row, COL_M(self_allocation_bytes), r->self.bytes);
        if (r->most) table_set_int(t, row, COL_M(slice), r->most);
    }
    return OK;
}

/* Memory rows in order of their device. */
static uint32_t *sort_by_device(const memory_view *m, size_t *n) {
    sort_pair *pairs = ARENA_ARRAY(m->arena, sort_pair, (size_t)m->t->memory.n + 1);
    uint32_t *rows = ARENA_ARRAY(m->arena, uint32_t, (size_t)m->t->memory.n + 1);
    if (!pairs || !rows) return NULL;
    for (uint32_t i = 1; i < m->t->memory.n; i++)
        if (memory_is_selected(m, i)) pairs[(*n)++] = (sort_pair){m->device_of[i], i};
    if (!sort_radix_in(m->arena, pairs, *n)) return NULL;
    for (size_t i = 0; i < *n; i++) rows[i] = pairs[i].row;
    return rows;
}

static status find_calls(stats *s, error *err) {
    const trace *t = s->m->t;
    arena *a = s->m->arena;
    tensor_core_names names;
    s->is_call = ARENA_ARRAY(a, uint8_t, (size_t)t->slice.n + 1);
    s->calls = ARENA_ARRAY(a, int64_t, (size_t)t->n_strings + 1);
    s->row_of = ARENA_ARRAY(a, uint32_t, (size_t)t->n_strings + s->m->labels.n + 1);
    s->outer_op = arena_alloc(a, ((size_t)t->slice.n + 1) * sizeof *s->outer_op);
    s->node_of = ARENA_ARRAY(a, uint32_t, (size_t)t->slice.n + t->frame.n + 1);
    if (!s->is_call || !s->calls || !s->row_of || !s->outer_op || !s->node_of) FAIL_MEMORY(err);
    memset(s->outer_op, 0xff, ((size_t)t->slice.n + 1) * sizeof *s->outer_op);
    TRY(tensor_core_init(&names, t, a, err));
    op_scan scan = {.t = t,
                    .select = &s->m->select,
                    .tensor = &names,
                    .arena = a,
                    .visit = count_call,
                    .context = s};
    return op_scan_run(&scan, err);
}

status memory_write_statistics(memory_view *m, error *err) {
    stats s = {.m = m};
    table *t = answer_table(m->out, m->arena, "statistics");
    if (!t) FAIL_MEMORY(err);
    if (m->t->memory.n < 2) return OK;
    TRY(find_calls(&s, err));
    size_t n = 0;
    uint32_t *rows = sort_by_device(m, &n);
    if (!rows) FAIL_MEMORY(err);
    uint32_t n_devices = 0;
    for (size_t first = 0, end; first < n && n_devices < MEMORY_MOST_DEVICES;
         first = end, n_devices++) {
        TRY(groups_init(&s.nodes, m->arena, sizeof(node), err));
        TRY(groups_init(&s.rows, m->arena, sizeof(stat_row), err));
        for (end = first; end < n && m->device_of[rows[end]] == m->device_of[rows[first]];
             end++)
            TRY(add_event(&s, rows[end], err));
        TRY(add_up(&s, err));
        TRY(write_rows(&s, t, memory_device_of(m, rows[first])->name, err));
    }
    return OK;
}
