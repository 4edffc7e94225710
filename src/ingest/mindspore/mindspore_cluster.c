/* mindspore_cluster.c: what a device says of the others: collectives by link, its part of a step, its
 * operations, how the network was split.
 *
 * These are small tables that questions over all workers read; they are kept as metadata in one shape
 * whatever the version of the file:
 *
 *   hccl            [{step, communication, wait, links: {…}, operators: {…}}]   ms, as the file has them
 *   cluster_steps   {mode, stages, ranks, steps: [{computation_time, …}]}
 *   flops_summary   {FLOPs, FLOPS, …}
 *   parallel        {rank, type, stage, devices, nodes: [{name, type, scope, group, shard, …}]} */
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

static status finish(ms *m, const char *key, buf *json, bool ok, error *err) {
    status st = OK;
    if (!buf_ok(json))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    else if (!ok)
        ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    else
        st = ms_meta(m, key, buf_str(json), err);
    buf_fini(json);
    return st;
}

status read_flops_summary(ms *m, str text, error *err) {
    buf json = {0};
    unsigned flags = json_normal(str_trim(text), &json);
    return finish(m, "flops_summary", &json, !(flags & JSON_BROKEN), err);
}

/* A cell that is JSON in the file is JSON here, anything else is null. */
static void add_json_cell(buf *json, str cell) {
    if (cell.n && (*cell.p == '{' || *cell.p == '['))
        (void)json_normal(cell, json);
    else
        buf_add_cstr(json, "null");
}

static void add_number(buf *json, str cell) {
    double v;
    if (str_to_f64(cell, &v))
        buf_add_f64(json, v);
    else
        buf_add_cstr(json, "null");
}

status read_hccl(ms *m, str text, error *err) {
    csv c = csv_open(text);
    buf json = {0};
    bool ok = csv_next(&c);
    size_t step = csv_find(&c, STR("step_num")), cost = csv_find(&c, STR("communication_cost")),
           wait = csv_find(&c, STR("wait_cost")), links = csv_find(&c, STR("link_info")),
           operators = csv_find(&c, STR("communication_operator_cost"));
    buf_add_byte(&json, '[');
    while (ok && csv_next(&c)) {
        part_count(m->part, 1, 0);
        buf_add_cstr(&json, json.n > 1 ? ", {\"step\": " : "{\"step\": ");
        add_number(&json, csv_cell(&c, step));
        buf_add_cstr(&json, ", \"communication\": ");
        add_number(&json, csv_cell(&c, cost));
        buf_add_cstr(&json, ", \"wait\": ");
        add_number(&json, csv_cell(&c, wait));
        buf_add_cstr(&json, ", \"links\": ");
        add_json_cell(&json, csv_cell(&c, links));
        buf_add_cstr(&json, ", \"operators\": ");
        add_json_cell(&json, csv_cell(&c, operators));
        buf_add_byte(&json, '}');
    }
    buf_add_byte(&json, ']');
    bool failed = c.failed;
    csv_fini(&c);
    if (failed) {
        buf_fini(&json);
        FAIL_MEMORY(err);
    }
    return finish(m, "hccl", &json, ok, err);
}

/* ascend_cluster_analyse_MODE_STAGES_RANKS_RANK.csv */
static void add_mode(buf *json, str name) {
    str rest = name, word = STR_NONE;
    size_t at = str_find(rest, STR("_analyse_"), 0);
    rest = at == SIZE_MAX ? STR_NONE : str_from(rest, at + 9);
    static const char *const keys[] = {"mode", "stages", "ranks"};
    for (int i = 0; i < 3; i++) {
        size_t line = str_find(rest, STR("_"), 0);
        word = line == SIZE_MAX ? STR_NONE : str_n(rest.p, line);
        rest = line == SIZE_MAX ? STR_NONE : str_from(rest, line + 1);
        buf_printf(json, "\"%s\": ", keys[i]);
        if (i == 0)
            buf_add_json(json, word);
        else
            add_number(json, word);
        buf_add_cstr(json, ", ");
    }
}

status read_cluster(ms *m, str text, error *err) {
    csv c = csv_open(text);
    buf json = {0};
    vec names = VEC_INIT(str);
    bool ok = csv_next(&c), first = true;
    for (size_t i = 0; ok && i < csv_n(&c) && i < 64; i++) {
        str *to = vec_push(&names);
        ok = to && (*to = arena_str(m->arena, csv_cell(&c, i))).p;
    }
    buf_add_byte(&json, '{');
    add_mode(&json, str_of(m->file));
    buf_add_cstr(&json, "\"steps\": [");
    while (ok && csv_next(&c)) {
        part_count(m->part, 1, 0);
        buf_add_cstr(&json, first ? "{" : ", {");
        first = false;
        for (size_t i = 0; i < names.n; i++) {
            if (i) buf_add_cstr(&json, ", ");
            buf_add_json(&json, VEC(&names, str)[i]);
            buf_add_cstr(&json, ": ");
            add_number(&json, csv_cell(&c, i));
        }
        buf_add_byte(&json, '}');
    }
    buf_add_cstr(&json, "]}");
    vec_fini(&names);
    csv_fini(&c);
    return finish(m, "cluster_steps", &json, ok, err);
}

status read_strategy(ms *m, str text, error *err) {
    buf json = {0};
    unsigned flags = json_normal(str_trim(text), &json);
    return finish(m, "parallel_strategy", &json, !(flags & JSON_BROKEN), err);
}

status read_dynamic(ms *m, str text, error *err) {
    buf json = {0};
    unsigned flags = json_normal(str_trim(text), &json);
    return finish(m, "dynamic_shape", &json, !(flags & JSON_BROKEN), err);
}
