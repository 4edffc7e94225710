/* mindspore_plan.c: how a network was split over the devices: parallel_strategy_#.json.
 *
 *   {"config": {"stageId": 0, "parallelType": "auto_parallel"},
 *    "graph": {"node": [{"name": "1", "fullName": "Default/AllReduce-op1",
 *                        "opType": "AllReduce", "scope": "Default",
 *                        "instanceName": "grad_mirror_w",
 *                        "attribute": [{"name": "group", "value": {"strVal": "g"}}],
 *                        "input": [{"name": "2"}], "outputType": {…}}],
 *              "parameters": [{"name": "w"}], "constVals": [{"key": "c"}]}}
 *
 * Every rank wrote the graph it was given; its nodes are the rows of table plan_op.
 *
 *   name      the full name; for Load and summaries scope/Type-opN, N being the operator's
 *             number
 *   shape     attribute `shapes`, else from the type of the output
 *   kind      gradient_aggregation or redistribution, by the name of the instance
 *   inputs    those that are a node, a parameter or a constant */
#include <stdio.h>

#include "base/intern.h"
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

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

/* ---- nodes ------------------------------------------------------------------------------- */

typedef struct {
    ms *m;
    map known; /* hashes of the names of nodes, parameters and constants */
    buf text;  /* of the cell being written */
    bool failed;
} plan;

/* The cell that was written. */
static uint32_t take(plan *p) {
    uint32_t id = buf_ok(&p->text) ? ms_string(p->m, buf_str(&p->text)) : MS_NO_STRING;
    buf_clear(&p->text);
    p->failed |= id == MS_NO_STRING;
    return id;
}

static uint32_t take_text(plan *p, str text) {
    buf_add_str(&p->text, text);
    return take(p);
}

static uint32_t take_name(plan *p, str node, int64_t number) {
    str type = json_text(json_member(node, STR("opType"))),
        full = json_text(json_member(node, STR("fullName"))),
        scope = json_text(json_member(node, STR("scope")));
    bool by_scope = str_eq(type, STR("Load")) || str_ends(type, STR("Summary"));
    if (full.n && !by_scope) return take_text(p, full);
    buf_printf(&p->text, "%.*s/%.*s-op%lld", STR_ARG(scope), STR_ARG(type), (long long)number);
    return take(p);
}

static uint32_t take_kind(plan *p, str node) {
    str instance = json_text(json_member(node, STR("instanceName")));
    if (str_find(instance, STR("grad_mirror"), 0) != SIZE_MAX)
        return take_text(p, STR("gradient_aggregation"));
    if (str_find(instance, STR("redistribution"), 0) != SIZE_MAX)
        return take_text(p, STR("redistribution"));
    return 0;
}

static uint32_t take_inputs(plan *p, str node) {
    json_iter it = json_open(json_member(node, STR("input")));
    str key, one;
    for (int n = 0; n < MOST_VALUES && json_next(&it, &key, &one); n++) {
        str name = json_text(json_member(one, STR("name")));
        if (map_get(&p->known, intern_hash(name)) == MAP_NONE) continue;
        if (p->text.n) buf_add_cstr(&p->text, ", ");
        buf_add_str(&p->text, name);
    }
    return take(p);
}

static status put_node(plan *p, str node, int64_t number, error *err) {
    str shapes = attribute(node, "shapes"), shard = attribute(node, "in_strategy"),
        type = json_member(node, STR("outputType"));
    row_plan_op row = row_plan_op_none();
    row.id = take_text(p, json_text(json_member(node, STR("name"))));
    row.name = take_name(p, node, number);
    row.type = take_text(p, json_text(json_member(node, STR("opType"))));
    row.scope = take_text(p, json_text(json_member(node, STR("scope"))));
    row.kind = take_kind(p, node);
    if (shapes.n)
        add_value(&p->text, shapes, 0);
    else
        add_shape(&p->text, type);
    row.shape = take(p);
    add_type(&p->text, type, 0);
    row.data_type = take(p);
    if (shard.n) add_value(&p->text, shard, 0);
    row.sharding = take(p);
    row.group = take_text(p, scalar(attribute(node, "group")));
    row.group_ranks = take_text(p, scalar(attribute(node, "group_ranks")));
    row.inputs = take_inputs(p, node);
    if (p->failed) FAIL_MEMORY(err);
    return builder_put_plan_op(p->m->b, &row, err);
}

/* What an input may be. */
static status know_names(plan *p, str graph, error *err) {
    static const char *const lists[][2] = {
        {"node", "name"}, {"parameters", "name"}, {"constVals", "key"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_iter it = json_open(json_member(graph, str_of(lists[i][0])));
        str key, one;
        for (int n = 0; n < MOST_NODES && json_next(&it, &key, &one); n++) {
            str name = json_text(json_member(one, str_of(lists[i][1])));
            uint32_t *at = map_at(&p->known, intern_hash(name));
            if (!at) FAIL_MEMORY(err);
            *at = 1;
        }
    }
    return OK;
}

static status put_nodes(plan *p, str graph, error *err) {
    json_iter it = json_open(json_member(graph, STR("node")));
    str key, node;
    TRY(know_names(p, graph, err));
    for (int64_t n = 1; n < MOST_NODES && json_next(&it, &key, &node); n++)
        if (json_text(json_member(node, STR("name"))).n) TRY(put_node(p, node, n, err));
    return OK;
}

static status take_config(ms *m, str config, error *err) {
    str mode = json_text(json_member(config, STR("parallelType")));
    int64_t stage;
    if (json_i64(json_member(config, STR("stageId")), &stage) && stage >= 0 &&
        stage < INT32_MAX)
        m->parallel.stage = stage + 1;
    if (mode.n) m->parallel.mode = ms_string(m, mode);
    if (m->parallel.mode == MS_NO_STRING) FAIL_MEMORY(err);
    return OK;
}

status read_strategy(ms *m, str text, error *err) {
    buf json = {0};
    plan p = {.m = m};
    status st = ms_normal(m, text, &json, err);
    if (st == OK) st = take_config(m, json_member(buf_str(&json), STR("config")), err);
    if (st == OK) st = put_nodes(&p, json_member(buf_str(&json), STR("graph")), err);
    map_fini(&p.known);
    buf_fini(&p.text);
    buf_fini(&json);
    return st;
}
