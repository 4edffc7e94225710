/* op_phases.c: the parts of operators, added up.
 *
 *     conv2d dygraph            ▐██████████████████████▌   operator
 *       conv2d infer_meta        ▐█▌                       part, phase infer_shape
 *       conv2d compute               ▐████████████▌        part, phase compute
 *
 * range_scan gives every range with the device work launched inside it. Rows are keyed by
 * operator (with its shapes when the question is by shape), the name of the part and the name
 * of the range directly around it, which is the operator's own unless parts are nested (Paddle
 * 3 wraps backward operators once more). They come in the order of operators by host time,
 * parts by their own.
 *
 * A trace without such ranges has no such table. */
#include "analyse/questions/op_phases.h"

#include "analyse/group.h"
#include "analyse/operators/range_scan.h"
#include "base/hash.h"
#include "base/sort.h"

#define COL_P(name) COL(operators, phases, name)

enum { MAX_LEVELS = 64 }; /* of parts inside an operator */

typedef struct {
    uint32_t op, shapes, name, parent;
} part_key;

typedef struct {
    part_key key;
    uint32_t op; /* row of ops */
    int64_t calls, host, max, min, device, device_max, device_min;
} part_row;

typedef struct {
    uint32_t op, shapes;
    int64_t host, device;
} op_row;

typedef struct {
    const trace *t;
    const selection *select;
    bool by_shape;
    groups parts, ops;
} phases;

static bool same_part(const void *row, const void *key) {
    return memcmp(&((const part_row *)row)->key, key, sizeof(part_key)) == 0;
}

static bool same_op(const void *row, const void *key) {
    const op_row *x = row;
    const part_key *y = key;
    return x->op == y->op && x->shapes == y->shapes;
}

static uint32_t shapes_of(const phases *q, uint32_t op) {
    uint32_t row = q->by_shape ? trace_op_of(q->t, op) : 0;
    return row ? q->t->op.shapes[row] : 0;
}

/* Row of the operator's own sums; GROUP_NONE when out of memory. */
static uint32_t find_op(phases *q, uint32_t op) {
    part_key key = {.op = q->t->slice.name[op], .shapes = shapes_of(q, op)};
    bool is_new;
    uint32_t at = groups_at(&q->ops, hash_pair(key.op, key.shapes), same_op, &key, &is_new);
    if (at != GROUP_NONE && is_new)
        *GROUP_ROW(&q->ops, op_row, at) = (op_row){.op = key.op, .shapes = key.shapes};
    return at;
}

static status add_part(phases *q, const range_call *c, uint32_t op, error *err) {
    const trace *t = q->t;
    int64_t device = add_i64(c->device_self, c->device_children);
    part_key key = {.op = t->slice.name[op],
                    .shapes = shapes_of(q, op),
                    .name = t->slice.name[c->slice],
                    .parent = t->slice.name[c->parent]};
    bool is_new, counts = select_counts(q->select, c->slice);
    if (!counts && !c->ns && !device) return OK;
    uint64_t hash = hash_pair(hash_pair(key.op, key.shapes), hash_pair(key.name, key.parent));
    uint32_t at = groups_at(&q->parts, hash, same_part, &key, &is_new);
    uint32_t sums = find_op(q, op);
    if (at == GROUP_NONE || sums == GROUP_NONE) FAIL_MEMORY(err);
    part_row *r = GROUP_ROW(&q->parts, part_row, at);
    if (is_new) *r = (part_row){.key = key, .op = sums};
    if (counts) {
        r->max = max_i64(r->max, c->ns);
        r->min = r->calls ? min_i64(r->min, c->ns) : c->ns;
        r->device_max = max_i64(r->device_max, device);
        r->device_min = r->calls ? min_i64(r->device_min, device) : device;
        r->calls++;
    }
    r->host = add_i64(r->host, c->ns);
    r->device = add_i64(r->device, device);
    return OK;
}

static status visit(void *context, const range_call *c, error *err) {
    phases *q = context;
    const trace *t = q->t;
    if (t->slice.kind[c->slice] == KIND_OP) {
        uint32_t at = find_op(q, c->slice);
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        op_row *row = GROUP_ROW(&q->ops, op_row, at);
        row->host = add_i64(row->host, c->ns);
        row->device = add_i64(row->device, add_i64(c->device_self, c->device_children));
        return OK;
    }
    uint32_t op = c->parent;
    for (int level = 0; op && t->slice.kind[op] != KIND_OP && level < MAX_LEVELS; level++)
        op = t->slice.parent[op];
    return op && t->slice.kind[op] == KIND_OP ? add_part(q, c, op, err) : OK;
}

static str phase_of(str name) {
    static const struct {
        str part, phase;
    } words[] = {
        {STR("infer_shape"), STR("infer_shape")}, {STR("infer_meta"), STR("infer_shape")},
        {STR("infermeta"), STR("infer_shape")},   {STR("compute"), STR("compute")},
        {STR("kernel launch"), STR("compute")},   {STR("node_creation"), STR("node_creation")},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_find(name, words[i].part, 0) != SIZE_MAX) return words[i].phase;
    return STR("other");
}

static const op_row *op_of(const phases *q, const part_row *p) {
    return GROUP_ROW(&q->ops, op_row, p->op);
}

static int compare_ids(const trace *t, uint32_t a, uint32_t b) {
    return a == b ? 0 : str_cmp(trace_str(t, a), trace_str(t, b));
}

static int compare(uint32_t a, uint32_t b, const void *context) {
    const phases *q = context;
    const part_row *x = GROUP_ROW(&q->parts, part_row, a),
                   *y = GROUP_ROW(&q->parts, part_row, b);
    int64_t of_x = op_of(q, x)->host, of_y = op_of(q, y)->host;
    if (of_x != of_y) return of_x > of_y ? -1 : 1;
    int c = compare_ids(q->t, x->key.op, y->key.op);
    if (!c) c = compare_ids(q->t, x->key.shapes, y->key.shapes);
    if (c) return c;
    if (x->host != y->host) return x->host > y->host ? -1 : 1;
    c = compare_ids(q->t, x->key.name, y->key.name);
    return c ? c : compare_ids(q->t, x->key.parent, y->key.parent);
}

static double share_of(int64_t part, int64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void set_times(table *t, size_t row, const part_row *p, const op_row *op) {
    table_set_int(t, row, COL_P(calls), p->calls);
    table_set_int(t, row, COL_P(host_total), p->host);
    if (p->calls) {
        table_set_int(t, row, COL_P(host_mean), mean_i64(p->host, p->calls));
        table_set_int(t, row, COL_P(host_max), p->max);
        table_set_int(t, row, COL_P(host_min), p->min);
    }
    table_set_real(t, row, COL_P(host_share), share_of(p->host, op->host));
}

static void set_device(table *t, size_t row, const part_row *p, const op_row *op) {
    table_set_int(t, row, COL_P(device_total), p->device);
    if (p->calls) {
        table_set_int(t, row, COL_P(device_mean), mean_i64(p->device, p->calls));
        table_set_int(t, row, COL_P(device_max), p->device_max);
        table_set_int(t, row, COL_P(device_min), p->device_min);
    }
    table_set_real(t, row, COL_P(device_share), share_of(p->device, op->device));
}

static status write_row(const phases *q, table *t, const part_row *p, error *err) {
    size_t row;
    const op_row *op = op_of(q, p);
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_P(op), trace_str(q->t, p->key.op));
    table_set_text(t, row, COL_P(name), trace_str(q->t, p->key.name));
    table_set_text(t, row, COL_P(parent), trace_str(q->t, p->key.parent));
    table_set_text(t, row, COL_P(phase), phase_of(trace_str(q->t, p->key.name)));
    set_times(t, row, p, op);
    if (q->t->kernel.n > 1) set_device(t, row, p, op);
    table_set_text(t, row, COL_P(shapes),
                   p->key.shapes ? trace_str(q->t, p->key.shapes) : STR("[]"));
    return OK;
}

status op_phases_write(const selection *s, const params *p, arena *a, answer *out, error *err) {
    phases q = {.t = s->t,
                .select = s,
                .by_shape = p->group == GROUP_NAME_SHAPE || p->group == GROUP_NAME_SHAPE_STACK};
    if (!s->t->kind_count[KIND_OP_PHASE]) return OK; /* not recorded: no table */
    table *t = answer_table(out, a, "phases");
    if (!t) FAIL_MEMORY(err);
    TRY(groups_init(&q.parts, a, sizeof(part_row), err));
    TRY(groups_init(&q.ops, a, sizeof(op_row), err));
    range_scan scan = {.t = s->t,
                       .select = s,
                       .arena = a,
                       .kinds = 1u << KIND_OP | 1u << KIND_OP_PHASE | 1u << KIND_FRAMEWORK |
                                1u << KIND_ANNOTATION | 1u << KIND_COLLECTIVE,
                       .visit = visit,
                       .context = &q};
    TRY(range_scan_run(&scan, err));
    uint32_t *order = groups_order(&q.parts), *scratch = groups_order(&q.parts);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, q.parts.n, compare, &q);
    for (uint32_t i = 0; i < q.parts.n; i++)
        TRY(write_row(&q, t, GROUP_ROW(&q.parts, part_row, order[i]), err));
    return OK;
}
