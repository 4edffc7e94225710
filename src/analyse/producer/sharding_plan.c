/* sharding_plan.c: how a network was split over the devices: the stages of a pipeline, and the operators
 * with their sharding and their communication groups.
 *
 * Each rank wrote the graph it was given (metadata parallel_strategy, as the file had it). The operators
 * of a stage are those of its first rank; the groups are the union over its ranks, sorted. An attribute
 * `group` is a communication group only on a collective or where ranks stand beside it: a convolution has
 * a `group` too, and MindInsight takes that for one.
 *
 *   name      the full name; for Load and summaries scope/Type-opN, N being the operator's number
 *   shape     attribute `shapes`, else from the type of the output
 *   kind      gradient_aggregation or redistribution, by the name of the instance */
#include "analyse/producer/device_report.h"
#include "analyse/producer/producer_meta.h"
#include "analyse/scan/comm_kind.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"

#define COL_P(name) COL(distributed, parallel_operators, name)

enum { MOST_NODES = 1 << 18, MOST_VALUES = 4096, MOST_DEPTH = 16 };

/* ---- values ------------------------------------------------------------------------------ */

static str attribute(str node, const char *name) {
    json_iter it = json_open(json_member(node, STR("attribute")));
    str key, one;
    for (int n = 0; n < MOST_VALUES && json_next(&it, &key, &one); n++)
        if (str_eq(json_text(json_member(one, STR("name"))), str_of(name)))
            return json_member(one, STR("value"));
    return STR_NONE;
}

/* The scalar of a value: whichever of its forms is there. */
static str scalar(str value) {
    static const char *const forms[] = {"strVal",  "intVal",   "uintVal",
                                        "boolVal", "floatVal", "doubleVal"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        str v = json_member(value, str_of(forms[i]));
        if (v.n) return json_text(v);
    }
    return json_text(json_member(json_member(value, STR("typeVal")), STR("dataType")));
}

/* A value as JSON: numbers bare, texts quoted, lists in brackets. */
static void add_value(buf *out, str value, int depth) {
    str list = json_member(value, STR("values")), one = scalar(value);
    int64_t number;
    if (!list.n || depth >= MOST_DEPTH) {
        if (str_to_i64(one, &number))
            buf_add_i64(out, number);
        else
            buf_add_json(out, one);
        return;
    }
    json_iter it = json_open(list);
    str key, v;
    bool first = true;
    buf_add_byte(out, '[');
    for (int n = 0; n < MOST_VALUES && json_next(&it, &key, &v); n++) {
        if (!first) buf_add_cstr(out, ", ");
        first = false;
        add_value(out, v, depth + 1);
    }
    buf_add_byte(out, ']');
}

/* DT_TENSOR[DT_FLOAT16], DT_TUPLE[…]: the type of an output. */
static void add_type(buf *out, str type, int depth) {
    buf_add_str(out, json_text(json_member(type, STR("dataType"))));
    str elem = json_text(json_member(json_member(type, STR("tensorType")), STR("elemType")));
    if (elem.n) {
        buf_add_byte(out, '[');
        buf_add_str(out, elem);
        buf_add_byte(out, ']');
    }
    json_iter it =
        json_open(json_member(json_member(type, STR("sequenceType")), STR("elemTypes")));
    str key, v;
    bool first = true;
    for (int n = 0; n < MOST_VALUES && depth < MOST_DEPTH && json_next(&it, &key, &v); n++) {
        buf_add_cstr(out, first ? "[" : ", ");
        first = false;
        add_type(out, v, depth + 1);
    }
    if (!first) buf_add_byte(out, ']');
}

/* Shape of a tensor output: [2, 3]. */
static void add_shape(buf *out, str type) {
    str dims = json_member(json_member(json_member(type, STR("tensorType")), STR("shape")),
                           STR("dim"));
    json_iter it = json_open(dims);
    str key, v;
    bool first = true;
    if (!dims.n) return;
    buf_add_byte(out, '[');
    for (int n = 0; n < MOST_VALUES && json_next(&it, &key, &v); n++) {
        if (!first) buf_add_cstr(out, ", ");
        first = false;
        buf_add_str(out, json_text(json_member(v, STR("size"))));
    }
    buf_add_byte(out, ']');
}

/* ---- operators --------------------------------------------------------------------------- */

/* What a rank wrote, found once. */
typedef struct {
    str graph, nodes, config;
    int64_t stage;
} rank_plan;

typedef struct {
    uint32_t row; /* of the table */
    str group;
} row_group;

typedef struct {
    arena *arena;
    const analysis_input *in;
    const rank_plan *plans; /* by trace */
    int64_t stage;
    const uint32_t *ranks; /* indices of the traces of the stage */
    uint32_t n_ranks;
    table *out;
    map rows;  /* hash of a collective's number -> its row */
    map known; /* hashes of the numbers of operators and the names of constants */
} plan;

static str take(plan *p, buf *text) {
    str s = text->n ? arena_str(p->arena, buf_str(text)) : str_n("", 0);
    buf_clear(text);
    return s;
}

static bool is_collective(str node) {
    str type = json_text(json_member(node, STR("opType")));
    return comm_type_of(type) != COMM_OTHER || attribute(node, "group_ranks").n;
}

static str group_of(str node) {
    return is_collective(node) ? scalar(attribute(node, "group")) : STR_NONE;
}

static uint64_t node_key(str node) {
    str id = json_text(json_member(node, STR("name")));
    return hash_bytes64(id.p, id.n);
}

static int compare_groups(uint32_t a, uint32_t b, const void *context) {
    const row_group *x = (const row_group *)context + a, *y = (const row_group *)context + b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return str_cmp(x->group, y->group);
}

/* The groups of all ranks of the stage; how many when `out` is NULL. */
static uint32_t list_groups(const plan *p, row_group *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        json_iter it = json_open(p->plans[p->ranks[i]].nodes);
        str key, node;
        for (int k = 0; k < MOST_NODES && json_next(&it, &key, &node); k++) {
            str group = group_of(node);
            uint32_t row = group.n ? map_get(&p->rows, node_key(node)) : MAP_NONE;
            if (row == MAP_NONE || n == UINT32_MAX) continue;
            if (out) out[n] = (row_group){row, group};
            n++;
        }
    }
    return n;
}

/* Union over the ranks, sorted, joined by commas. */
static status write_groups(plan *p, error *err) {
    uint32_t n = list_groups(p, NULL);
    row_group *found = ARENA_ARRAY(p->arena, row_group, (size_t)n + 1);
    uint32_t *order = ARENA_ARRAY(p->arena, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(p->arena, uint32_t, (size_t)n + 1);
    if (!found || !order || !scratch) FAIL_MEMORY(err);
    list_groups(p, found);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, compare_groups, found);
    buf text = {0};
    bool ok = true;
    for (uint32_t i = 0; i < n && ok;) {
        uint32_t row = found[order[i]].row;
        str last = STR_NONE;
        for (; i < n && found[order[i]].row == row; i++) {
            if (last.n && str_eq(found[order[i]].group, last)) continue;
            if (text.n) buf_add_cstr(&text, ", ");
            last = found[order[i]].group;
            buf_add_str(&text, last);
        }
        ok = buf_ok(&text);
        str joined = take(p, &text);
        ok &= joined.p != NULL;
        table_set_text(p->out, row, COL_P(group), joined);
    }
    buf_fini(&text);
    if (!ok) FAIL_MEMORY(err);
    return OK;
}

static bool is_named_by_scope(str type) {
    return str_eq(type, STR("Load")) || str_ends(type, STR("Summary"));
}

static str node_name(plan *p, str node, int64_t number) {
    str type = json_text(json_member(node, STR("opType"))),
        full = json_text(json_member(node, STR("fullName"))),
        scope = json_text(json_member(node, STR("scope")));
    if (full.n && !is_named_by_scope(type)) return full;
    return arena_printf(p->arena, "%.*s/%.*s-op%lld", STR_ARG(scope), STR_ARG(type),
                        (long long)number);
}

static const char *kind_of(str node) {
    str instance = json_text(json_member(node, STR("instanceName")));
    if (str_find(instance, STR("grad_mirror"), 0) != SIZE_MAX) return "gradient_aggregation";
    if (str_find(instance, STR("redistribution"), 0) != SIZE_MAX) return "redistribution";
    return NULL;
}

/* Everything that is a value of the node, as text. */
static status set_values(plan *p, size_t row, str node, error *err) {
    str shapes = attribute(node, "shapes"), shard = attribute(node, "in_strategy"),
        ranks = attribute(node, "group_ranks"), type = json_member(node, STR("outputType"));
    buf text = {0};
    str cells[4];
    bool ok = true;
    for (int i = 0; i < 4; i++) {
        if (i == 0 && shapes.n) add_value(&text, shapes, 0);
        if (i == 0 && !shapes.n) add_shape(&text, type);
        if (i == 1) add_type(&text, type, 0);
        if (i == 2 && shard.n) add_value(&text, shard, 0);
        if (i == 3 && ranks.n) buf_add_str(&text, scalar(ranks));
        ok &= buf_ok(&text);
        cells[i] = take(p, &text);
        ok &= cells[i].p != NULL;
    }
    buf_fini(&text);
    if (!ok) FAIL_MEMORY(err);
    if (cells[0].n) table_set_text(p->out, row, COL_P(shape), cells[0]);
    if (cells[1].n) table_set_text(p->out, row, COL_P(data_type), cells[1]);
    if (cells[2].n) table_set_text(p->out, row, COL_P(sharding), cells[2]);
    if (cells[3].n) table_set_text(p->out, row, COL_P(group_ranks), cells[3]);
    return OK;
}

/* Operators and constants of the first rank: an input that is neither is not shown. */
static status know_names(plan *p, error *err) {
    const rank_plan *first = &p->plans[p->ranks[0]];
    const struct {
        str list;
        const char *key;
    } lists[] = {{first->nodes, "name"},
                 {json_member(first->graph, STR("parameters")), "name"},
                 {json_member(first->graph, STR("constVals")), "key"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_iter it = json_open(lists[i].list);
        str key, one;
        for (int n = 0; n < MOST_NODES && json_next(&it, &key, &one); n++) {
            str name = json_text(json_member(one, str_of(lists[i].key)));
            uint32_t *at = map_at(&p->known, hash_bytes64(name.p, name.n));
            if (!at) FAIL_MEMORY(err);
            *at = 1;
        }
    }
    return OK;
}

/* Names of the inputs, joined. */
static status set_inputs(plan *p, size_t row, str node, error *err) {
    json_iter it = json_open(json_member(node, STR("input")));
    str key, one;
    buf text = {0};
    for (int n = 0; n < MOST_VALUES && json_next(&it, &key, &one); n++) {
        str name = json_text(json_member(one, STR("name")));
        if (map_get(&p->known, hash_bytes64(name.p, name.n)) == MAP_NONE) continue;
        if (text.n) buf_add_cstr(&text, ", ");
        buf_add_str(&text, name);
    }
    bool ok = buf_ok(&text);
    str joined = take(p, &text);
    buf_fini(&text);
    if (!ok || !joined.p) FAIL_MEMORY(err);
    if (joined.n) table_set_text(p->out, row, COL_P(inputs), joined);
    return OK;
}

static status write_node(plan *p, str node, int64_t number, error *err) {
    size_t row;
    const char *kind = kind_of(node);
    str id = json_text(json_member(node, STR("name"))), name = node_name(p, node, number);
    if (!name.p) FAIL_MEMORY(err);
    TRY(table_add_row(p->out, &row, err));
    table_set_int(p->out, row, COL_P(stage), p->stage);
    table_set_text(p->out, row, COL_P(id), id);
    table_set_text(p->out, row, COL_P(name), name);
    table_set_text(p->out, row, COL_P(type), json_text(json_member(node, STR("opType"))));
    table_set_text(p->out, row, COL_P(scope), json_text(json_member(node, STR("scope"))));
    if (kind) table_set_text(p->out, row, COL_P(kind), str_of(kind));
    TRY(set_values(p, row, node, err));
    TRY(set_inputs(p, row, node, err));
    uint32_t *at = is_collective(node) ? map_at(&p->rows, node_key(node)) : &(uint32_t){0};
    if (!at) FAIL_MEMORY(err);
    *at = sat_u32(row);
    return OK;
}

static status write_operators(plan *p, error *err) {
    json_iter it = json_open(p->plans[p->ranks[0]].nodes);
    str key, node;
    status st = know_names(p, err);
    for (int64_t n = 1; st == OK && n < MOST_NODES && json_next(&it, &key, &node); n++)
        if (json_text(json_member(node, STR("name"))).n) st = write_node(p, node, n, err);
    if (st == OK) st = write_groups(p, err);
    map_fini(&p->rows);
    map_fini(&p->known);
    return st;
}

/* ---- stages ------------------------------------------------------------------------------ */

static status write_stage(const plan *p, table *out, error *err) {
    const analysis_trace *first = &p->in->traces[p->ranks[0]];
    str mode = json_text(json_member(p->plans[p->ranks[0]].config, STR("parallelType")));
    buf ranks = {0};
    size_t row;
    if (!mode.n) mode = json_text(producer_text(first, STR("parallel_mode")));
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        if (i) buf_add_cstr(&ranks, ", ");
        buf_add_i64(&ranks, p->in->traces[p->ranks[i]].rank);
    }
    str text = buf_ok(&ranks) ? arena_str(p->arena, buf_str(&ranks)) : STR_NONE;
    buf_fini(&ranks);
    if (!text.p) FAIL_MEMORY(err);
    TRY(table_add_row(out, &row, err));
    table_set_int(out, row, COL(distributed, parallel_stages, stage), p->stage);
    if (mode.n) table_set_text(out, row, COL(distributed, parallel_stages, mode), mode);
    table_set_text(out, row, COL(distributed, parallel_stages, ranks), text);
    return OK;
}

static rank_plan read_plan(const analysis_trace *at) {
    str whole = producer_text(at, STR("parallel_strategy"));
    rank_plan r = {.graph = json_member(whole, STR("graph")),
                   .config = json_member(whole, STR("config")),
                   .stage = 1};
    int64_t v;
    r.nodes = json_member(r.graph, STR("node"));
    if (json_i64(json_member(r.config, STR("stageId")), &v) && v >= 0 && v < INT32_MAX)
        r.stage = v + 1;
    return r;
}

status sharding_plan_write(const analysis_input *all, arena *a, answer *out, error *err) {
    analysis_input workers;
    TRY(producer_workers(all, a, &workers, err));
    const analysis_input *in = &workers;
    table *stages = answer_table(out, a, "parallel_stages"),
          *operators = answer_table(out, a, "parallel_operators");
    uint32_t *ranks = ARENA_ARRAY(a, uint32_t, (size_t)in->n_traces + 1);
    uint8_t *done = ARENA_ARRAY(a, uint8_t, (size_t)in->n_traces + 1);
    rank_plan *plans = ARENA_ARRAY(a, rank_plan, (size_t)in->n_traces + 1);
    if (!stages || !operators || !ranks || !done || !plans) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_traces; i++) plans[i] = read_plan(&in->traces[i]);
    for (uint32_t i = 0; i < in->n_traces; i++) {
        plan p = {.arena = a,
                  .in = in,
                  .plans = plans,
                  .stage = plans[i].stage,
                  .ranks = ranks,
                  .out = operators};
        if (done[i] || !plans[i].nodes.n) continue;
        for (uint32_t k = i; k < in->n_traces; k++) {
            if (done[k] || !plans[k].nodes.n || plans[k].stage != p.stage) continue;
            done[k] = 1;
            ranks[p.n_ranks++] = k;
        }
        TRY(write_stage(&p, stages, err));
        TRY(write_operators(&p, err));
    }
    return OK;
}
