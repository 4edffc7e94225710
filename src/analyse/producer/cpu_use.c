/* cpu_use.c: the samples of minddata_cpu_utilization.
 *
 * Writers disagree about the lengths of their lists. A sample needs two readings, so the first time stamp
 * has no value: lists as long as the time stamps begin with one that means nothing, lists one shorter do
 * not. 2.0 to 2.10 read the machine's line twice for each sample: those lists are twice as long and
 * every second value is empty, and two of them (user, sys) stop in the middle of the run: the second half
 * is not known. Here value k (from 1) of a list belongs to time stamp k, whatever the list's form, and
 * what is not there is left out of the means.
 *
 * A sample belongs to the step of the last batch that was taken at or before it. */
#include "analyse/producer/cpu_use.h"

#include <math.h>

#include "base/json.h"
#include "base/num.h"

#define COL_C(name) COL(pipeline, cpu, name)
#define COL_CS(name) COL(pipeline, cpu_samples, name)

enum { MOST = 1 << 20 };

static size_t list_length(str list) {
    json_iter it = json_open(list);
    str key, value;
    size_t n = 0;
    if (!list.n || *list.p != '[') return 0;
    while (n < MOST && json_next(&it, &key, &value)) n++;
    return n;
}

/* How a list of n values lies beside m time stamps. */
typedef struct {
    size_t first,
        stride; /* value of time stamp k (from 1) stands at first + (k - 1) * stride */
} list_form;

/* machine: the lists that some writers double. A list of m values of such a writer (doubled: another
 * of its lists is longer) is the first half of a doubled one. */
static list_form form_of_list(size_t n, size_t m, bool doubled) {
    if (doubled) return (list_form){2, 2};
    return n + 1 == m ? (list_form){0, 1} : (list_form){1, 1};
}

typedef struct {
    const trace *t;
    const params *p;
    arena *arena;
    str json;
    double *times; /* ms */
    size_t m;
    int64_t *steps; /* of each time stamp */
    bool doubled;
    table *means, *samples;
    str scope, op; /* being written */
} writer;

static str machine_list(const writer *w, const char *name) {
    str info = json_member(w->json, STR("device_info"));
    str list = json_member(info, str_of(name));
    if (!list.n && strcmp(name, "runnable_process") == 0)
        list = json_member(info, STR("runable_processes"));
    return list;
}

static bool step_wanted(const writer *w, size_t k) {
    if (w->p->first_step == ABSENT_I64) return true;
    return w->steps[k] >= w->p->first_step && w->steps[k] <= w->p->last_step;
}

static status add_sample(writer *w, size_t k, const char *kind, double v, error *err) {
    size_t row;
    TRY(table_add_row(w->samples, &row, err));
    table_set_int(w->samples, row, COL_CS(time), (int64_t)((w->times[k] - w->times[0]) * 1e6));
    if (w->steps[k] != ABSENT_I64) table_set_int(w->samples, row, COL_CS(step), w->steps[k]);
    table_set_text(w->samples, row, COL_CS(scope), w->scope);
    if (w->op.n) table_set_text(w->samples, row, COL_CS(operator), w->op);
    table_set_text(w->samples, row, COL_CS(kind), str_of(kind));
    table_set_real(w->samples, row, COL_CS(value), v);
    return OK;
}

/* One list: its samples and its mean. */
static status write_list(writer *w, str list, const char *kind, bool doubled, error *err) {
    size_t n = list_length(list), at = 0, k = 1, counted = 0;
    list_form form = form_of_list(n, w->m, doubled);
    json_iter it = json_open(list);
    str key, value;
    double sum = 0;
    if (!n) return OK;
    for (; at < n && k < w->m && json_next(&it, &key, &value); at++) {
        double v;
        if (at != form.first + (k - 1) * form.stride) continue;
        if (json_f64(value, &v) && step_wanted(w, k)) {
            TRY(add_sample(w, k, kind, v, err));
            sum += v;
            counted++;
        }
        k++;
    }
    size_t row;
    TRY(table_add_row(w->means, &row, err));
    table_set_text(w->means, row, COL_C(scope), w->scope);
    if (w->op.n) table_set_text(w->means, row, COL_C(operator), w->op);
    table_set_text(w->means, row, COL_C(kind), str_of(kind));
    if (counted) table_set_real(w->means, row, COL_C(mean), sum / (double)counted);
    table_set_int(w->means, row, COL_C(samples), (int64_t)counted);
    return OK;
}

static status write_machine(writer *w, error *err) {
    static const char *const kinds[][2] = {
        {"user_utilization", "user"},     {"sys_utilization", "sys"},
        {"io_utilization", "io"},         {"idle_utilization", "idle"},
        {"runnable_process", "runnable"}, {"context_switch_count", "context_switches"}};
    w->scope = STR("machine");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        TRY(write_list(w, machine_list(w, kinds[i][0]), kinds[i][1], w->doubled, err));
    return OK;
}

static status write_use(writer *w, str object, error *err) {
    TRY(write_list(w, json_member(object, STR("user_utilization")), "user", false, err));
    return write_list(w, json_member(object, STR("sys_utilization")), "sys", false, err);
}

/* Type_id of an operator by its number. */
static str operator_name(const writer *w, int64_t id) {
    const trace *t = w->t;
    for (uint32_t i = 1; i < t->pipe_op.n; i++)
        if (t->pipe_op.role[i] == PIPE_OPERATOR && t->pipe_op.id[i] == id)
            return arena_printf(w->arena, "%.*s_%lld",
                                STR_ARG(trace_str(t, t->pipe_op.name[i])), (long long)id);
    return arena_printf(w->arena, "%lld", (long long)id);
}

static status write_operators(writer *w, error *err) {
    json_iter it = json_open(json_member(w->json, STR("op_info")));
    str key, value;
    w->scope = STR("operator");
    for (int n = 0; n < 4096 && json_next(&it, &key, &value); n++) {
        int64_t id;
        if (!json_i64(json_member(value, STR("op_id")), &id) || id < 0)
            continue; /* -1: main thread */
        w->op = operator_name(w, id);
        if (!w->op.p) FAIL_MEMORY(err);
        TRY(write_use(w, json_member(value, STR("metrics")), err));
    }
    w->op = STR_NONE;
    return OK;
}

/* The step of a time: that of the last batch at or before it; before the first 0. */
static int64_t step_at(const trace *t, double ms) {
    int64_t step = 0, first = ABSENT_I64;
    bool any = false;
    for (uint32_t i = 1; i < t->queue_sample.n; i++) {
        uint32_t op = t->queue_sample.pipe_op[i];
        if (!op || t->pipe_op.role[op] != PIPE_HOST_QUEUE ||
            t->queue_sample.time[i] == ABSENT_I64)
            continue;
        any = true;
        if (first == ABSENT_I64) first = t->queue_sample.step[i];
        if ((double)t->queue_sample.time[i] <= ms * 1e6)
            step = t->queue_sample.step[i] - first + 1;
    }
    return any ? step : ABSENT_I64;
}

static status read_times(writer *w, error *err) {
    str list = json_member(w->json, STR("time_stamp")), key, value;
    size_t n = list_length(list);
    json_iter it = json_open(list);
    w->times = ARENA_ARRAY(w->arena, double, n + 1);
    w->steps = ARENA_ARRAY(w->arena, int64_t, n + 1);
    if (!w->times || !w->steps) FAIL_MEMORY(err);
    while (w->m < n && json_next(&it, &key, &value)) {
        double v = 0;
        (void)!json_f64(value, &v);
        w->times[w->m] = v;
        w->steps[w->m] = w->m < 4096 ? step_at(w->t, v) : ABSENT_I64;
        w->m++;
    }
    static const char *const lists[] = {"idle_utilization", "io_utilization",
                                        "context_switch_count"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        w->doubled |= w->m && list_length(machine_list(w, lists[i])) == 2 * w->m;
    return OK;
}

status cpu_use_write(const trace *t, const params *p, arena *a, answer *out, error *err) {
    writer w = {.t = t, .p = p, .arena = a, .json = trace_meta(t, STR("cpu_utilization"))};
    w.means = answer_table(out, a, "cpu");
    w.samples = answer_table(out, a, "cpu_samples");
    if (!w.means || !w.samples) FAIL_MEMORY(err);
    if (!w.json.n) return OK;
    TRY(read_times(&w, err));
    TRY(write_machine(&w, err));
    w.scope = STR("process");
    TRY(write_use(&w, json_member(w.json, STR("process_info")), err));
    return write_operators(&w, err);
}

/* Mean of a list whose every stride-th value from `first` counts. */
static double list_mean(str list, list_form form) {
    json_iter it = json_open(list);
    str key, value;
    double sum = 0, v;
    size_t at = 0, n = 0;
    for (; at < MOST && json_next(&it, &key, &value); at++) {
        if (at < form.first || (at - form.first) % form.stride || !json_f64(value, &v))
            continue;
        sum += v;
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

double cpu_busy_share(const trace *t) {
    str json = trace_meta(t, STR("cpu_utilization"));
    size_t m = list_length(json_member(json, STR("time_stamp")));
    str idle = json_member(json_member(json, STR("device_info")), STR("idle_utilization"));
    size_t n = list_length(idle);
    if (!n || !m) return (double)NAN;
    return 1 - list_mean(idle, form_of_list(n, m, n == 2 * m)) / 100;
}

double cpu_of_operator(const trace *t, int64_t id) {
    str json = trace_meta(t, STR("cpu_utilization")), key, value;
    size_t m = list_length(json_member(json, STR("time_stamp")));
    json_iter it = json_open(json_member(json, STR("op_info")));
    for (int n = 0; n < 4096 && json_next(&it, &key, &value); n++) {
        int64_t own;
        if (!json_i64(json_member(value, STR("op_id")), &own) || own != id) continue;
        str metrics = json_member(value, STR("metrics"));
        str user = json_member(metrics, STR("user_utilization")),
            sys = json_member(metrics, STR("sys_utilization"));
        return list_mean(user, form_of_list(list_length(user), m, false)) +
               list_mean(sys, form_of_list(list_length(sys), m, false));
    }
    return (double)NAN;
}
