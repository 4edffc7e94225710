/* pipe_rules.c: what is odd about the operators of an input pipeline, and which one holds it
 * up: the rules of MindSpore's own analyser.
 *
 *   cpu_high          more than 75 % of a processor for each worker: more workers may help
 *   cpu_low           less than 20 % with several workers: the others bring little
 *   source_slow       a source fills at most half of its queue: more workers may speed reading
 *                     up
 *   device_starves    the queue in front of the device was empty in more than 60 % of the
 *                     samples
 *   slower_than_input its input queue is fuller than its own by more than half
 *   bottleneck        the operator nearest to the consumer that either keeps its workers busy
 *                     (cpu_high: raise the workers), or does not while its input is nearly
 *                     empty (below a tenth) or its output fuller than its input by more than
 *                     half (raise prefetch_size)
 *
 * Operators that only pass rows on are left out (Shuffle, Repeat, Zip, …); Batch has no queue
 * rule, and what is in front of the device is not a bottleneck. The input of an operator is the
 * queue of its first child; what is not known breaks no rule. */
#include <math.h>

#include "analyse/analysis.h"
#include "analyse/rules.h"
#include "analyse/steps/pipe_view.h"

#define COL_R(name) COL(pipeline, findings, name)

#define CPU_HIGH 75.0
#define CPU_LOW 20.0
#define SOURCE_LOW 0.5
#define DEVICE_EMPTY 0.6
#define QUEUE_APART 0.5
#define INPUT_EMPTY 0.1

/* One operator with what the rules look at; NaN: not known. */
typedef struct {
    const pipe_item *item;
    str type;
    int32_t workers;
    double cpu;           /* percent of one processor, for each worker */
    double input, output; /* use of the queues */
    double input_empty;
} pipe_op;

typedef struct {
    const trace *t;
    arena *arena;
    table *out;
} writer;

static bool type_is(str type, const char *word) {
    size_t n = strlen(word);
    return str_starts(type, str_of(word)) &&
           (type.n == n || str_eq(str_from(type, n), STR("Op")));
}

static bool passes_rows_on(str type) {
    static const char *const words[] = {"Barrier", "Concat", "EpochCtrl", "Rename", "Repeat",
                                        "Shuffle", "Skip",   "Take",      "Zip"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (type_is(type, words[i])) return true;
    return false;
}

static pipe_op look_at(const trace *t, const pipe_view *v, const pipe_item *p) {
    int32_t workers = t->pipe_op.workers[p->row];
    pipe_op o = {.item = p,
                 .type = trace_str(t, t->pipe_op.name[p->row]),
                 .workers = workers,
                 .output = p->usage,
                 .input = (double)NAN,
                 .input_empty = (double)NAN};
    o.cpu = workers > 0 ? p->cpu / workers : (double)NAN;
    if (p->n_children) {
        o.input = v->v[p->first_child].usage;
        o.input_empty = v->v[p->first_child].empty_share;
    }
    return o;
}

/* ---- rows -------------------------------------------------------------------------------- */

typedef struct {
    const char *rule;
    uint16_t message;
    double value, limit;
    severity severity;
} finding;

static status add(const writer *w, const pipe_op *o, const finding *f, error *err) {
    verdict *v = ARENA_NEW(w->arena, verdict);
    size_t row;
    if (!v) FAIL_MEMORY(err);
    *v = (verdict){.id = f->rule, .message = f->message, .severity = f->severity};
    verdict_add(v, arg_text("operator", o->item->name));
    verdict_add(v, arg_share("value", f->value));
    verdict_add(v, arg_int("workers", o->workers));
    if (!isnan(o->output)) verdict_add(v, arg_share("output", o->output));
    if (!isnan(o->input)) verdict_add(v, arg_share("input", o->input));
    TRY(table_add_row(w->out, &row, err));
    table_set_text(w->out, row, COL_R(operator), o->item->name);
    table_set_text(w->out, row, COL_R(rule), str_of(f->rule));
    table_set_real(w->out, row, COL_R(value), f->value);
    table_set_real(w->out, row, COL_R(limit), f->limit);
    table_set_sentence(w->out, row, COL_R(finding), v);
    return OK;
}

static status check_cpu(const writer *w, const pipe_op *o, error *err) {
    finding high = {"cpu_high", MSG_PIPE_CPU_HIGH, o->cpu / 100, CPU_HIGH / 100, SEVERITY_INFO},
            low = {"cpu_low", MSG_PIPE_CPU_LOW, o->cpu / 100, CPU_LOW / 100, SEVERITY_INFO};
    if (o->cpu > CPU_HIGH) return add(w, o, &high, err);
    if (o->cpu < CPU_LOW && o->workers > 1) return add(w, o, &low, err);
    return OK;
}

static status check_queues(const writer *w, const pipe_op *o, error *err) {
    finding source = {"source_slow", MSG_PIPE_SOURCE_SLOW, o->output, SOURCE_LOW,
                      SEVERITY_WARNING},
            device = {"device_starves", MSG_PIPE_DEVICE_STARVES, o->input_empty, DEVICE_EMPTY,
                      SEVERITY_WARNING},
            slower = {"slower_than_input", MSG_PIPE_SLOWER_THAN_INPUT, o->input - o->output,
                      QUEUE_APART, SEVERITY_WARNING};
    if (type_is(o->type, "Batch")) return OK;
    if (!o->item->n_children) return o->output <= SOURCE_LOW ? add(w, o, &source, err) : OK;
    if (type_is(o->type, "DeviceQueue"))
        return o->input_empty > DEVICE_EMPTY ? add(w, o, &device, err) : OK;
    return o->input - o->output > QUEUE_APART ? add(w, o, &slower, err) : OK;
}

/* ---- the bottleneck ---------------------------------------------------------------------- */

static bool is_busy(const pipe_op *o) {
    return o->cpu > CPU_HIGH;
}

static bool is_starved(const pipe_op *o) {
    return o->cpu < CPU_LOW && (o->input < INPUT_EMPTY || o->output - o->input > QUEUE_APART);
}

static bool may_be_bottleneck(const pipe_op *o) {
    return !passes_rows_on(o->type) && !type_is(o->type, "DeviceQueue");
}

status pipe_rules_write(const trace *t, const pipe_view *v, arena *a, answer *out, error *err) {
    writer w = {.t = t, .arena = a, .out = answer_table(out, a, "findings")};
    pipe_op worst = {.item = NULL};
    if (!w.out) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < v->n; i++) {
        pipe_op o = look_at(t, v, &v->v[i]);
        if (passes_rows_on(o.type)) continue;
        TRY(check_cpu(&w, &o, err));
        TRY(check_queues(&w, &o, err));
    }
    /* Nearest to the consumer is the smallest number. */
    for (uint32_t i = 0; i < v->n; i++) {
        pipe_op o = look_at(t, v, &v->v[i]);
        if (!may_be_bottleneck(&o) || !(is_busy(&o) || is_starved(&o))) continue;
        if (!worst.item || t->pipe_op.id[o.item->row] < t->pipe_op.id[worst.item->row])
            worst = o;
    }
    if (!worst.item) return OK;
    bool busy = is_busy(&worst);
    finding f = {"bottleneck", busy ? MSG_PIPE_BOTTLENECK_BUSY : MSG_PIPE_BOTTLENECK_STARVED,
                 worst.cpu / 100, (busy ? CPU_HIGH : CPU_LOW) / 100, SEVERITY_WARNING};
    return add(&w, &worst, &f, err);
}
