/* pipeline.c: does the data arrive in time, and if not, which part of its way is slow.
 *
 *     operators ──> host queue ──> transfer ──> data queue ──> forward and backward
 *
 * `queues` has the fill of the two queues for each batch, `flow` how many batches found them
 * empty and where the bottleneck may be, `operators` the pipeline's own operators with their
 * queues, and `queue_samples` the history of each queue. `suggestions` names the parameter to
 * change for each slow operator, by its class. `dataset_stages` is what operators say of their
 * own time.
 *
 * Producers without such queues still tell something: the time the training thread spends in
 * its data loader (`loading`, by step), the workers that load, and counters named after a
 * queue. */
#include <math.h>

#include "analyse/intervals.h"
#include "analyse/questions/pipe_stages.h"
#include "analyse/rules.h"
#include "analyse/select.h"
#include "analyse/steps/pipe_view.h"
#include "analyse/vendor/cpu_use.h"
#include "base/message_ids_advice.h"

#define COL_Q(name) COL(pipeline, queues, name)
#define COL_S(name) COL(pipeline, queue_samples, name)
#define COL_O(name) COL(pipeline, operators, name)
#define COL_F(name) COL(pipeline, flow, name)
#define COL_L(name) COL(pipeline, loading, name)
#define COL_H(name) COL(pipeline, suggestions, name)

#define EMPTY_LIMIT \
    0.3 /* share of batches that found the host queue empty: more is a warning */
#define LOADING_LIMIT 0.1

typedef struct {
    const trace *t;
    arena *arena;
    selection select;
    pipe_view view;
    queue_counts host, data;
    int64_t loading_ns, step_ns; /* in all steps */
    int64_t slowest_step, slowest_ns;
    int64_t n_steps, last_step; /* that were looked at */
    str slow_names;
    pipe_stage longest;
} question;

/* ---- queues ------------------------------------------------------------------------------ */

static bool step_wanted(const question *q, int64_t step) {
    return !q->select.by_step || step == ABSENT_I64 ||
           (step >= q->select.first_step && step <= q->select.last_step);
}

static status write_batch(const question *q, uint32_t i, table *out, error *err) {
    const trace *t = q->t;
    size_t row;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_Q(queue),
                   trace_str(t, t->pipe_op.name[t->queue_sample.pipe_op[i]]));
#define SET(column)                              \
    if (t->queue_sample.column[i] != ABSENT_I64) \
    table_set_int(out, row, COL_Q(column), t->queue_sample.column[i])
    SET(step);
    SET(size);
    SET(capacity);
    SET(get);
    SET(push);
    SET(total);
#undef SET
    return OK;
}

static status write_sample(const question *q, uint32_t i, str operator, table * out,
                           error *err) {
    const trace *t = q->t;
    size_t row;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_S(operator), operator);
    table_set_int(out, row, COL_S(time), t->queue_sample.time[i]);
    if (t->queue_sample.size[i] != ABSENT_I64)
        table_set_int(out, row, COL_S(size), t->queue_sample.size[i]);
    if (t->queue_sample.capacity[i] != ABSENT_I64)
        table_set_int(out, row, COL_S(capacity), t->queue_sample.capacity[i]);
    return OK;
}

/* Counters that say how full a queue is, from any tool. */
static status write_counters(const question *q, table *out, error *err) {
    const trace *t = q->t;
    for (uint32_t i = 1; i < t->counter.n; i++) {
        str name = trace_str(t, t->counter.name[i]);
        size_t row;
        if (str_find_nocase(name, STR("queue"), 0) == SIZE_MAX ||
            t->counter.time[i] < q->select.from_ns || t->counter.time[i] >= q->select.to_ns)
            continue;
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL_S(operator), name);
        table_set_int(out, row, COL_S(time), sub_i64(t->counter.time[i], t->start_ns));
        if (fabs(t->counter.value[i]) < 9e15)
            table_set_int(out, row, COL_S(size), real_i64(t->counter.value[i]));
    }
    return OK;
}

static status write_queues(const question *q, table *queues, table *samples, error *err) {
    const trace *t = q->t;
    str *names = ARENA_ARRAY(q->arena, str, t->pipe_op.n);
    if (!names) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->view.n; i++) names[q->view.v[i].row] = q->view.v[i].name;
    for (uint32_t i = 1; i < t->queue_sample.n; i++) {
        uint32_t op = t->queue_sample.pipe_op[i];
        if (!op || op >= t->pipe_op.n) continue;
        if (t->pipe_op.role[op] != PIPE_OPERATOR) {
            if (step_wanted(q, t->queue_sample.step[i])) TRY(write_batch(q, i, queues, err));
        } else if (names[op].n) {
            TRY(write_sample(q, i, names[op], samples, err));
        }
    }
    return write_counters(q, samples, err);
}

/* ---- operators --------------------------------------------------------------------------- */

static const char *slow_word(pipe_slow s) {
    static const char *const words[] = {NULL, "behind_child", "source", "consumer"};
    return words[s];
}

static status write_operators(const question *q, table *out, error *err) {
    const trace *t = q->t;
    for (uint32_t i = 0; i < q->view.n; i++) {
        const pipe_item *p = &q->view.v[i];
        size_t row;
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL_O(operator), p->name);
        if (p->parent != UINT32_MAX)
            table_set_text(out, row, COL_O(parent), q->view.v[p->parent].name);
        if (t->pipe_op.workers[p->row] != ABSENT_I32)
            table_set_int(out, row, COL_O(workers), t->pipe_op.workers[p->row]);
        table_set_real(out, row, COL_O(queue_mean), p->mean);
        if (t->pipe_op.capacity[p->row] != ABSENT_I64)
            table_set_int(out, row, COL_O(queue_capacity), t->pipe_op.capacity[p->row]);
        table_set_real(out, row, COL_O(usage), p->usage);
        table_set_text(out, row, COL_O(bottleneck), str_of(slow_word(p->slow)));
        table_set_text(out, row, COL_O(type), trace_str(t, t->pipe_op.name[p->row]));
        if (t->pipe_op.id[p->row] != ABSENT_I64)
            table_set_int(out, row, COL_O(id), t->pipe_op.id[p->row]);
        table_set_real(out, row, COL_O(empty_share), p->empty_share);
        int32_t workers = t->pipe_op.workers[p->row];
        table_set_real(out, row, COL_O(cpu), p->cpu);
        table_set_real(out, row, COL_O(cpu_per_worker),
                       workers > 0 ? p->cpu / workers : (double)NAN);
        if (t->pipe_op.interval[p->row] != ABSENT_I64)
            table_set_int(out, row, COL_O(interval), t->pipe_op.interval[p->row]);
    }
    return OK;
}

/* ---- suggestions ------------------------------------------------------------------------- */

typedef struct {
    const char *class_name, *parameter;
    uint16_t message;
} advice_class;

/* Sources, generators, maps and batches are tuned by different parameters. */
static advice_class class_of(str type, bool source) {
    if (str_starts(type, STR("Generator")))
        return (advice_class){"generator", "num_parallel_workers, MindRecordDataset",
                              MSG_PIPELINE_GENERATOR};
    if (source) return (advice_class){"dataset", "num_parallel_workers", MSG_PIPELINE_DATASET};
    if (str_starts(type, STR("Map")))
        return (advice_class){"map", "num_parallel_workers", MSG_PIPELINE_MAP};
    if (str_starts(type, STR("Batch")))
        return (advice_class){"batch", "prefetch_size", MSG_PIPELINE_BATCH};
    return (advice_class){"other", "num_parallel_workers", MSG_PIPELINE_OTHER};
}

static status write_suggestions(question *q, table *out, error *err) {
    for (uint32_t i = 0; i < q->view.n; i++) {
        const pipe_item *p = &q->view.v[i];
        size_t row;
        if (p->slow == SLOW_NOT || p->slow == SLOW_CONSUMER) continue;
        advice_class c =
            class_of(trace_str(q->t, q->t->pipe_op.name[p->row]), p->n_children == 0);
        verdict *v = ARENA_NEW(q->arena, verdict);
        if (!v) FAIL_MEMORY(err);
        *v = (verdict){.id = c.class_name, .message = c.message, .severity = SEVERITY_INFO};
        verdict_add(v, arg_text("operator", p->name));
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL_H(operator), p->name);
        table_set_text(out, row, COL_H(class), str_of(c.class_name));
        table_set_text(out, row, COL_H(parameter), str_of(c.parameter));
        table_set_sentence(out, row, COL_H(suggestion), v);
        q->slow_names = q->slow_names.n ? arena_printf(q->arena, "%.*s, %.*s",
                                                       STR_ARG(q->slow_names), STR_ARG(p->name))
                                        : p->name;
        if (!q->slow_names.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- flow -------------------------------------------------------------------------------- */

typedef struct {
    const char *stage;
    bool warning;
    const queue_counts *counts;
    int64_t steps; /* where it may be the bottleneck; ABSENT_I64: not reported */
} flow_row;

static status add_flow(table *out, const flow_row *f, error *err) {
    size_t row;
    TRY(table_add_row(out, &row, err));
    table_set_text(out, row, COL_F(stage), str_of(f->stage));
    table_set_text(out, row, COL_F(status), f->warning ? STR("warning") : STR("normal"));
    if (f->steps != ABSENT_I64) table_set_int(out, row, COL_F(steps), f->steps);
    if (!f->counts) return OK;
    table_set_int(out, row, COL_F(empty), f->counts->empty);
    table_set_int(out, row, COL_F(full), f->counts->full);
    table_set_int(out, row, COL_F(batches), f->counts->batches);
    return OK;
}

static bool host_is_slow(const question *q) {
    return (double)q->host.empty > EMPTY_LIMIT * (double)q->host.batches;
}

/* Steps at which a stage may be the bottleneck: data processing where the host queue was empty,
 * the transfer where the data queue was empty although the host's was not, the network
 * elsewhere. */
static status write_flow(const question *q, table *out, error *err) {
    bool host = q->host.batches > 0, data = q->data.batches > 0;
    bool slow = host && host_is_slow(q), transfer = host && !slow && data && q->data.empty > 0;
    if (!host && !data) return OK;
    flow_row rows[] = {
        {"data_processing", slow, NULL, host ? q->host.empty : ABSENT_I64},
        {"host_queue", false, host ? &q->host : NULL, ABSENT_I64},
        {"data_transfer", transfer, NULL,
         data ? max_i64(0, sub_i64(q->data.empty, q->host.empty)) : ABSENT_I64},
        {"data_queue", false, data ? &q->data : NULL, ABSENT_I64},
        {"forward_backward", host && !slow && !transfer, NULL,
         sub_i64(data ? q->data.batches : q->host.batches,
                 data ? q->data.empty : q->host.empty)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool middle = i == 2 || i == 3;
        if (middle && !data) continue; /* without sink mode there is neither */
        TRY(add_flow(out, &rows[i], err));
    }
    return OK;
}

status pipeline_flow_write(const trace *t, table *out, error *err) {
    question q = {.t = t,
                  .host = queue_count(t, PIPE_HOST_QUEUE),
                  .data = queue_count(t, PIPE_DATA_QUEUE)};
    return write_flow(&q, out, err);
}

/* ---- loading by step --------------------------------------------------------------------- */

static status find_loading(const question *q, intervals *out, error *err) {
    const trace *t = q->t;
    *out = intervals_in(q->arena);
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (t->slice.kind[i] == KIND_DATA)
            intervals_add(out, t->slice.start[i], slice_end(t, i));
    intervals_merge(out);
    if (out->failed) FAIL_MEMORY(err);
    return OK;
}

static status write_loading(question *q, table *out, error *err) {
    const trace *t = q->t;
    intervals loading;
    if (!t->kind_count[KIND_DATA]) return OK;
    TRY(find_loading(q, &loading, err));
    for (uint32_t i = 1; i < t->step.n; i++) {
        int64_t start = t->step.start[i], end = t->step.end[i];
        size_t row;
        if (!step_wanted(q, t->step.number[i]) || start < q->select.from_ns ||
            start >= q->select.to_ns || end <= start)
            continue;
        int64_t ns = intervals_ns_in(&loading, start, end);
        q->n_steps++;
        q->last_step = t->step.number[i];
        q->loading_ns = add_i64(q->loading_ns, ns);
        q->step_ns = add_i64(q->step_ns, sub_i64(end, start));
        if (ns > q->slowest_ns) {
            q->slowest_ns = ns;
            q->slowest_step = t->step.number[i];
        }
        TRY(table_add_row(out, &row, err));
        table_set_int(out, row, COL_L(step), t->step.number[i]);
        table_set_int(out, row, COL_L(time), ns);
        table_set_real(out, row, COL_L(share), (double)ns / (double)sub_i64(end, start));
    }
    return OK;
}

/* ---- verdict ----------------------------------------------------------------------------- */

static bool consumer_is_slow(const void *facts, verdict *v) {
    const question *q = facts;
    if (!q->view.n || q->view.v[0].slow != SLOW_CONSUMER) return false;
    verdict_add(v, arg_text("operator", q->view.v[0].name));
    return true;
}

/* What the device waits of the step, where steps tell. */
static void say_wait(const question *q, verdict *v) {
    if (q->step_ns <= 0 || (double)q->loading_ns < LOADING_LIMIT * (double)q->step_ns) return;
    verdict_add(v, arg_share("waits", (double)q->loading_ns / (double)q->step_ns));
    if (q->n_steps == 1) verdict_add(v, arg_id("one", q->last_step));
}

static bool processing_is_slow(const void *facts, verdict *v) {
    const question *q = facts;
    if (!q->host.batches || !host_is_slow(q)) return false;
    say_wait(q, v);
    verdict_add(v, arg_int("count", q->host.empty));
    verdict_add(v, arg_int("total", q->host.batches));
    if (q->slow_names.n) verdict_add(v, arg_text("operators", q->slow_names));
    return true;
}

static bool transfer_is_slow(const void *facts, verdict *v) {
    const question *q = facts;
    if (!q->host.batches || !q->data.empty) return false;
    verdict_add(v, arg_int("count", q->data.empty));
    verdict_add(v, arg_int("total", q->data.batches));
    return true;
}

static bool loader_is_slow(const void *facts, verdict *v) {
    const question *q = facts;
    if (q->step_ns <= 0 || (double)q->loading_ns < LOADING_LIMIT * (double)q->step_ns)
        return false;
    verdict_add(v, arg_share("share", (double)q->loading_ns / (double)q->step_ns));
    verdict_add(v, arg_id("step", q->slowest_step));
    verdict_add(v, arg_time("time", q->slowest_ns));
    return true;
}

static bool queues_are_fine(const void *facts, verdict *v) {
    const question *q = facts;
    int64_t batches = q->host.batches ? q->host.batches : q->data.batches;
    if (!batches) return false;
    verdict_add(v, arg_int("total", batches));
    verdict_add(v, arg_int("count", q->host.batches ? q->host.empty : q->data.empty));
    return true;
}

static bool loader_is_fine(const void *facts, verdict *v) {
    const question *q = facts;
    if (q->step_ns <= 0) return false;
    verdict_add(v, arg_share("share", (double)q->loading_ns / (double)q->step_ns));
    return true;
}

static bool operators_are_slow(const void *facts, verdict *v) {
    const question *q = facts;
    if (!q->slow_names.n) return false;
    say_wait(q, v);
    verdict_add(v, arg_text("operators", q->slow_names));
    return true;
}

static bool stages_are_known(const void *facts, verdict *v) {
    const question *q = facts;
    if (q->view.n || q->longest.total == ABSENT_I64) return false;
    verdict_add(v, arg_text("operation", q->longest.operation));
    verdict_add(v, arg_text("stage", q->longest.stage));
    verdict_add(v, arg_time("time", q->longest.total));
    return true;
}

static bool nothing_is_known(const void *facts, verdict *v) {
    (void)v;
    return !((const question *)facts)->view.n;
}

static const rule rules[] = {
    {"pipeline_slow", MSG_VERDICT_PIPELINE_SLOW, SEVERITY_WARNING, processing_is_slow},
    {"pipeline_transfer", MSG_VERDICT_PIPELINE_TRANSFER, SEVERITY_WARNING, transfer_is_slow},
    {"pipeline_consumer", MSG_VERDICT_PIPELINE_CONSUMER, SEVERITY_GOOD, consumer_is_slow},
    {"pipeline_loader", MSG_VERDICT_PIPELINE_LOADER, SEVERITY_WARNING, loader_is_slow},
    {"pipeline_fine", MSG_VERDICT_PIPELINE_FINE, SEVERITY_GOOD, queues_are_fine},
    {"pipeline_loader_fine", MSG_VERDICT_PIPELINE_LOADER_FINE, SEVERITY_GOOD, loader_is_fine},
    {"pipeline_operators", MSG_VERDICT_PIPELINE_OPERATORS, SEVERITY_INFO, operators_are_slow},
    {"pipeline_stages", MSG_VERDICT_PIPELINE_STAGES, SEVERITY_INFO, stages_are_known},
    {"pipeline_none", MSG_VERDICT_PIPELINE_NONE, SEVERITY_INFO, nothing_is_known},
};

/* ---- the front --------------------------------------------------------------------------- */

static status param_share(const params *p, str name, double *out, error *err) {
    str text = param_text(p, name);
    double v;
    if (!text.p) return OK;
    if (!str_to_f64(text, &v) || !(v >= 0 && v <= 1))
        FAIL(err, ERR_ARG, NOPOS, MSG_PIPELINE_SHARE, arg_text("name", param_written(p, name)),
             arg_text("value", text));
    *out = v;
    return OK;
}

status analyse_pipeline(const analysis_input *in, const params *p, arena *a, answer *out,
                        error *err) {
    question q = {.t = in->traces[0].trace, .arena = a};
    pipe_thresholds limits = {.high = 0.8, .low = 0.6};
    TRY(answer_begin("pipeline", in, a, out, err));
    TRY(trace_require(q.t,
                      SELECT_TABLES | TRACE_TABLE(pipe_op) | TRACE_TABLE(queue_sample) |
                          TRACE_TABLE(counter) | TRACE_TABLE(pipe_stage) |
                          TRACE_TABLE(cpu_sample),
                      err));
    TRY(param_share(p, STR("high"), &limits.high, err));
    TRY(param_share(p, STR("low"), &limits.low, err));
    select_init(&q.select, q.t, p);
    TRY(pipe_view_make(q.t, limits, a, &q.view, err));
    q.host = queue_count(q.t, PIPE_HOST_QUEUE);
    q.data = queue_count(q.t, PIPE_DATA_QUEUE);
    table *queues = answer_table(out, a, "queues"),
          *samples = answer_table(out, a, "queue_samples");
    table *operators = answer_table(out, a, "operators"), *flow = answer_table(out, a, "flow");
    table *suggestions = answer_table(out, a, "suggestions");
    table *loading = answer_table(out, a, "loading");
    if (!queues || !samples || !operators || !flow || !suggestions || !loading)
        FAIL_MEMORY(err);
    TRY(write_queues(&q, queues, samples, err));
    TRY(write_operators(&q, operators, err));
    TRY(write_flow(&q, flow, err));
    TRY(write_suggestions(&q, suggestions, err));
    TRY(write_loading(&q, loading, err));
    TRY(pipe_rules_write(q.t, &q.view, a, out, err));
    TRY(pipe_stages_write(&q.select, a, out, &q.longest, err));
    TRY(cpu_use_write(q.t, p, a, out, err));
    rules_apply(rules, sizeof rules / sizeof *rules, &q, &out->verdict);
    answer_finish(out, p);
    return OK;
}
