/* mindspore_cpu.c: how busy the processors were: minddata_cpu_utilization_#.json.
 *
 *   {"time_stamp": [ms], "device_info": {"idle_utilization": [percent], …},
 *    "process_info": {"user_utilization": […], "sys_utilization": […]},
 *    "op_info": [{"op_id": 3, "metrics": {"user_utilization": […], …}}]}
 *
 * Writers disagree about the lengths of their lists. A sample needs two readings, so the
 * first time stamp has no value: lists as long as the time stamps begin with one that means
 * nothing, lists one shorter do not. 2.0 to 2.10 read the machine's line twice for each
 * sample: those lists are twice as long and every second value is empty, and two of them
 * (user, sys) stop in the middle of the run: the second half is not known. Here value k
 * (from 1) of a list belongs to time stamp k, whatever the list's form. */
#include <math.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST = 1 << 20, MOST_OPERATORS = 4096 };

static size_t list_length(str list) {
    json_iter it = json_open(list);
    str key, value;
    size_t n = 0;
    if (!list.n || *list.p != '[') return 0;
    while (n < MOST && json_next(&it, &key, &value)) n++;
    return n;
}

/* How a list of n values goes with m time stamps: the value of time stamp k (from 1) is at
 * first + (k - 1) * stride. */
typedef struct {
    size_t first, stride;
} list_form;

static list_form form_of_list(size_t n, size_t m, bool doubled) {
    if (doubled) return (list_form){2, 2};
    return n + 1 == m ? (list_form){0, 1} : (list_form){1, 1};
}

typedef struct {
    ms *m;
    str json;
    int64_t *times; /* ns */
    size_t n_times;
    bool doubled;
    cpu_scope scope; /* being written */
    int64_t op;
} reader;

static status put_list(const reader *r, str list, const char *kind, bool doubled, error *err) {
    size_t n = list_length(list), at = 0, k = 1;
    list_form form = form_of_list(n, r->n_times, doubled);
    json_iter it = json_open(list);
    str key, value;
    row_cpu_sample row = {
        .scope = (uint8_t)r->scope, .op = r->op, .kind = ms_string(r->m, str_of(kind))};
    if (row.kind == MS_NO_STRING) FAIL_MEMORY(err);
    for (; at < n && k < r->n_times && json_next(&it, &key, &value); at++) {
        if (at != form.first + (k - 1) * form.stride) continue;
        row.time = r->times[k];
        row.elapsed = sub_i64(r->times[k], r->times[0]);
        if (!json_f64(value, &row.value)) row.value = (double)NAN;
        TRY(builder_put_cpu_sample(r->m->b, &row, err));
        k++;
    }
    return OK;
}

/* A list of the machine; one of them was misspelled once. */
static str machine_list(const reader *r, const char *name) {
    str info = json_member(r->json, STR("device_info"));
    str list = json_member(info, str_of(name));
    if (!list.n && strcmp(name, "runnable_process") == 0)
        list = json_member(info, STR("runable_processes"));
    return list;
}

static status put_machine(reader *r, error *err) {
    static const char *const kinds[][2] = {
        {"user_utilization", "user"},     {"sys_utilization", "sys"},
        {"io_utilization", "io"},         {"idle_utilization", "idle"},
        {"runnable_process", "runnable"}, {"context_switch_count", "context_switches"}};
    r->scope = CPU_MACHINE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        TRY(put_list(r, machine_list(r, kinds[i][0]), kinds[i][1], r->doubled, err));
    return OK;
}

static status put_use(const reader *r, str object, error *err) {
    TRY(put_list(r, json_member(object, STR("user_utilization")), "user", false, err));
    return put_list(r, json_member(object, STR("sys_utilization")), "sys", false, err);
}

static status put_operators(reader *r, error *err) {
    json_iter it = json_open(json_member(r->json, STR("op_info")));
    str key, value;
    r->scope = CPU_OPERATOR;
    for (int n = 0; n < MOST_OPERATORS && json_next(&it, &key, &value); n++) {
        if (!json_i64(json_member(value, STR("op_id")), &r->op) || r->op < 0)
            continue; /* -1: main thread */
        TRY(put_use(r, json_member(value, STR("metrics")), err));
    }
    return OK;
}

static status read_times(reader *r, error *err) {
    static const char *const lists[] = {"idle_utilization", "io_utilization",
                                        "context_switch_count"};
    str list = json_member(r->json, STR("time_stamp")), key, value;
    size_t n = list_length(list);
    json_iter it = json_open(list);
    r->times = ARENA_ARRAY(r->m->arena, int64_t, n + 1);
    if (!r->times) FAIL_MEMORY(err);
    for (; r->n_times < n && json_next(&it, &key, &value); r->n_times++)
        if (!scaled_i64(json_text(value), 6, &r->times[r->n_times])) r->times[r->n_times] = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        r->doubled |= r->n_times && list_length(machine_list(r, lists[i])) == 2 * r->n_times;
    return OK;
}

status read_cpu_use(ms *m, str text, error *err) {
    buf json = {0};
    reader r = {.m = m, .op = ABSENT_I64};
    status st = ms_normal(m, text, &json, err);
    r.json = buf_str(&json);
    if (st == OK) st = read_times(&r, err);
    if (st == OK) st = put_machine(&r, err);
    r.scope = CPU_PROCESS;
    if (st == OK) st = put_use(&r, json_member(r.json, STR("process_info")), err);
    if (st == OK) st = put_operators(&r, err);
    buf_fini(&json);
    return st;
}
