/* mindspore_overview.c: the four cards of MindInsight's first page, as tables.
 *
 * The average step is the producer's own, else the mean of the steps whose parts are known.
 * Types are those a producer gave: on an accelerator that adds up all executions by total,
 * elsewhere by mean, the first five and the rest as Others. The way of the data has, for each
 * part, the number of steps at which it may be the bottleneck. What was recorded: streams,
 * operators, executions, their time. Each is the beginning of a page of its own (steps,
 * operators, pipeline, timeline). */
#include "analyse/vendor/mindspore_overview.h"

#include <math.h>

#include "analyse/rows.h"
#include "analyse/rules.h"
#include "analyse/steps/pipe_view.h"
#include "analyse/vendor/producer_ops.h"
#include "analyse/vendor/step_trace.h"
#include "base/message_ids_advice.h"
#include "base/num.h"
#include "base/sort.h"

enum { FIRST_TYPES = 5 };

/* ---- the average step -------------------------------------------------------------------- */

typedef struct {
    const char *stage;
    int64_t ns, total;
    bool given; /* the producer's own */
} average_part;

static status add_stage(table *t, const average_part *p, error *err) {
    row_overview_step_trace row = row_overview_step_trace_none();
    row.stage = str_of(p->stage);
    row.duration = p->ns;
    if (p->total > 0) row.share = (double)p->ns / (double)p->total;
    row.basis = p->given ? STR("producer") : STR("steps");
    return put_overview_step_trace(t, &row, err);
}

static bool given_average(const trace *t, const char *stage, int64_t *out) {
    for (uint32_t i = 1; i < t->producer_step.n; i++)
        if (t->producer_step.number[i] == ABSENT_I64 &&
            str_eq(trace_str(t, t->producer_step.stage[i]), str_of(stage))) {
            *out = t->producer_step.duration[i];
            return true;
        }
    return false;
}

/* *whole: the average step itself; left alone when there is none. */
static status write_step(const trace *t, arena *a, table *out, average_part *whole,
                         error *err) {
    step_trace s;
    int64_t sum[4] = {0, 0, 0, 0}, n[4] = {0, 0, 0, 0}, mean[4];
    static const char *const stages[] = {"total", "interval", "forward_backward", "tail"};
    if (!step_trace_is_likely(t)) return OK;
    TRY(step_trace_find(t, &(params)PARAMS_WHOLE, a, &s, err));
    for (uint32_t i = 1; i < t->step.n; i++) {
        const step_trace_row *r = &s.rows[i];
        if (!r->known) continue;
        const int64_t parts[] = {sub_i64(t->step.end[i], t->step.start[i]), r->gap,
                                 sub_i64(r->passes.end, r->passes.start), r->tail};
        for (int k = 0; k < 4; k++) {
            if (parts[k] == ABSENT_I64) continue;
            sum[k] = add_i64(sum[k], parts[k]);
            n[k]++;
        }
    }
    for (int k = 0; k < 4; k++) {
        mean[k] = mean_i64(sum[k], n[k]);
        bool given = given_average(t, stages[k], &mean[k]);
        if (!n[k] && !given) continue;
        average_part part_of = {stages[k], mean[k], mean[0], given};
        TRY(add_stage(out, &part_of, err));
        if (k == 0) *whole = part_of;
    }
    return OK;
}

/* Two averages of one run that differ need a word. */
static status note_average(const average_part *whole, int64_t mean_step, arena *a, answer *out,
                           error *err) {
    if (whole->ns == ABSENT_I64 || mean_step == ABSENT_I64 || whole->ns == mean_step) return OK;
    verdict note = {.id = "two_averages",
                    .message = whole->given ? MSG_NOTE_AVERAGE_GIVEN : MSG_NOTE_AVERAGE_TRACED,
                    .severity = SEVERITY_INFO};
    verdict_add(&note, arg_time("traced", whole->ns));
    verdict_add(&note, arg_time("marked", mean_step));
    return answer_note(out, a, &note, err);
}

/* ---- types ------------------------------------------------------------------------------- */

typedef struct {
    const top_item *items;
    bool by_total;
} type_order;

static int64_t weight(const type_order *o, uint32_t i) {
    const top_item *x = &o->items[i];
    return o->by_total || x->calls <= 0 ? x->total : mean_i64(x->total, x->calls);
}

static int compare_types(uint32_t a, uint32_t b, const void *context) {
    int64_t x = weight(context, a), y = weight(context, b);
    if (x != y) return x > y ? -1 : 1;
    return str_cmp(((const type_order *)context)->items[a].name,
                   ((const type_order *)context)->items[b].name);
}

static status add_type(table *t, const top_item *i, int64_t whole, error *err) {
    row_overview_operator_types row = row_overview_operator_types_none();
    row.type = i->name;
    if (i->side.n) row.side = i->side;
    row.calls = i->calls;
    row.total = i->total;
    if (i->calls > 0) row.mean = mean_i64(i->total, i->calls);
    if (whole > 0) row.share = (double)i->total / (double)whole;
    return put_overview_operator_types(t, &row, err);
}

static status write_types(const trace *t, arena *a, table *out, error *err) {
    top_item *items;
    size_t n;
    TRY(producer_types_list(t, a, &items, &n, err));
    uint32_t *order = ARENA_ARRAY(a, uint32_t, n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, n + 1);
    if (!order || !scratch) FAIL_MEMORY(err);
    type_order how = {.items = items};
    int64_t whole = 0;
    top_item rest = {.name = STR("Others")};
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        whole = add_i64(whole, items[i].total);
        how.by_total |= str_starts(items[i].side, STR("AI "));
    }
    sort_index(order, scratch, n, compare_types, &how);
    for (uint32_t i = 0; i < n; i++) {
        const top_item *x = &items[order[i]];
        if (i < FIRST_TYPES) TRY(add_type(out, x, whole, err));
        if (i < FIRST_TYPES) continue;
        rest.total = add_i64(rest.total, x->total);
        rest.calls = add_i64(rest.calls, max_i64(0, x->calls));
    }
    return n > FIRST_TYPES ? add_type(out, &rest, whole, err) : OK;
}

/* ---- what was recorded ------------------------------------------------------------------- */

static status add_work(table *t, const char *key, int64_t value, error *err) {
    str text = arena_printf(t->arena, "%lld", (long long)value);
    if (!text.p) FAIL_MEMORY(err);
    row_overview_work row = row_overview_work_none();
    row.key = str_of(key);
    row.value = text;
    return put_overview_work(t, &row, err);
}

/* Operations, operations in a second and their share of the peak, as the producer added them
 * up. */
static status write_flops(const trace *t, table *out, error *err) {
    if (t->resource.n < 2) return OK;
    const struct {
        const char *key;
        double value;
    } facts[] = {
        {"flops", t->resource.flops[1]},
        {"flops_per_s", t->resource.flops_per_s[1]},
        {"flops_utilization", t->resource.utilization[1]},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (isnan(facts[i].value)) continue;
        str text = arena_printf(out->arena, "%.15g", facts[i].value);
        if (!text.p) FAIL_MEMORY(err);
        row_overview_work row = row_overview_work_none();
        row.key = str_of(facts[i].key);
        row.value = text;
        TRY(put_overview_work(out, &row, err));
    }
    return OK;
}

static status write_work(const trace *t, arena *a, table *out, error *err) {
    uint8_t *seen = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    bool tasks =
        t->kind_count[KIND_OP] == 0; /* a compiled graph: its tasks are the operators */
    int64_t operators = 0, executions = 0, total = 0, streams = 0;
    if (!seen) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (t->slice.kind[i] != (tasks ? KIND_KERNEL : KIND_OP)) continue;
        uint32_t name = t->slice.name[i];
        executions++;
        total = add_i64(total, t->slice.dur[i]);
        operators += name < t->n_strings && !seen[name];
        if (name < t->n_strings) seen[name] = 1;
    }
    for (uint32_t i = 1; i < t->track.n; i++)
        streams += t->track.kind[i] == TRACK_STREAM && t->track.end[i] > t->track.first[i];
    TRY(add_work(out, "streams", streams, err));
    TRY(add_work(out, "operators", operators, err));
    TRY(add_work(out, "executions", executions, err));
    TRY(add_work(out, "total_time_ns", total, err));
    return write_flops(t, out, err);
}

/* ---- the front --------------------------------------------------------------------------- */

status mindspore_overview_write(const trace *t, int64_t mean_step, arena *a, answer *out,
                                error *err) {
    average_part whole = {.ns = ABSENT_I64};
    table *step = answer_table(out, a, "step_trace"),
          *types = answer_table(out, a, "operator_types");
    table *flow = answer_table(out, a, "data_flow"), *work = answer_table(out, a, "work");
    if (!step || !types || !flow || !work) FAIL_MEMORY(err);
    TRY(write_step(t, a, step, &whole, err));
    TRY(note_average(&whole, mean_step, a, out, err));
    TRY(write_types(t, a, types, err));
    TRY(pipeline_flow_write(t, flow, err));
    return write_work(t, a, work, err);
}
