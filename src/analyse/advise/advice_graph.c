/* advice_graph.c: rules about what a producer of compiled graphs measured itself: the interval
 * and the tail of its step trace, the queues and operators of its input pipeline, its operators
 * by type.
 *
 * They are those of MindInsight's helper, which looks for them in this order: a long interval
 * means late data, so first the queue of the host, then the transfer, then the operators of the
 * pipeline; a long tail means gradients and weights; then the operators of the device. The
 * helper hides nearly all of it unless an interval and a slow operator were found; here
 * operators are named when data is late, or when that is unknown. What each rule looks at, its
 * threshold and when it stays silent are in advice_rules.def. */
#include <math.h>

#include "analyse/advise/advice.h"
#include "analyse/lexicon.h"
#include "analyse/vendor/cpu_use.h"
#include "analyse/vendor/producer_ops.h"
#include "base/num.h"
#include "store/traits.h"

/* ---- facts ------------------------------------------------------------------------------- */

static void add_given(given_sum *sum, const top_item *i) {
    sum->ns = add_i64(sum->ns, i->total);
    sum->calls = add_i64(sum->calls, max_i64(0, i->calls));
    if (sum->name.n && i->total <= sum->most) return;
    sum->most = i->total;
    sum->name = i->name;
}

static status sum_types(advice_facts *f, error *err) {
    top_item *items;
    size_t n;
    TRY(producer_types_list(f->t, f->arena, &items, &n, err));
    for (size_t i = 0; i < n; i++) {
        bool core = str_eq(items[i].side, STR("AI Core")),
             cpu = str_eq(items[i].side, STR("AI CPU"));
        if (!core && !cpu) continue;
        add_given(&f->device_types, &items[i]);
        if (core && lexicon_means(items[i].name, MEANS_CONVERTS))
            add_given(&f->conversions, &items[i]);
        if (cpu && !lexicon_means(items[i].name, MEANS_FETCHES_DATA))
            add_given(&f->ai_cpu, &items[i]);
    }
    return OK;
}

/* Is a step one of those that are looked at? Numbers of steps rise: `at` goes along. */
static bool is_looked_at(const advice_facts *f, int64_t number, uint32_t *at) {
    while (*at < f->steps.n && f->steps.v[*at].number < number) (*at)++;
    return *at < f->steps.n && f->steps.v[*at].number == number;
}

/* The longest interval of a step, for the place to look at, and the mean of those that are
 * looked at: the producer's own average may be of other steps. */
static status find_intervals(advice_facts *f, error *err) {
    step_trace s;
    int64_t most = 0, sum = 0, n = 0;
    uint32_t at = 0;
    TRY(step_trace_find(f->t, &(params)PARAMS_WHOLE, f->arena, &s, err));
    for (uint32_t i = 1; i < f->t->step.n; i++) {
        const step_trace_row *r = &s.rows[i];
        if (!r->known || r->gap == ABSENT_I64) continue;
        if (is_looked_at(f, f->t->step.number[i], &at)) {
            sum = add_i64(sum, r->gap);
            n++;
        }
        if (r->gap <= most) continue;
        most = r->gap;
        f->interval_at = (interval){sub_i64(r->passes.start, r->gap), r->passes.start};
    }
    if (n) f->interval_ns = mean_i64(sum, n);
    return OK;
}

bool advice_dialect_of_format(str format, advice_dialect *out) {
    static const advice_dialect dialects[] = {
        [FRAMEWORK_PYTORCH] = FOR_PYTORCH,  [FRAMEWORK_PADDLE] = FOR_PADDLE,
        [FRAMEWORK_MINDSPORE] = FOR_GRAPHS, [FRAMEWORK_MEGENGINE] = FOR_MEGENGINE,
        [FRAMEWORK_JAX] = FOR_JAX,          [FRAMEWORK_TENSORFLOW] = FOR_TENSORFLOW};
    framework f = format_framework(format);
    if (f == FRAMEWORK_NONE) return false;
    *out = dialects[f];
    return true;
}

/* By the format, else by the names of operators. */
static advice_dialect find_dialect(const trace *t) {
    advice_dialect known;
    if (step_trace_is_likely(t)) return FOR_GRAPHS;
    if (advice_dialect_of_format(t->format, &known)) return known;
    for (uint32_t i = 1; i < t->n_strings; i++)
        if (lexicon_means(trace_str(t, i), MEANS_OF_PYTORCH)) return FOR_PYTORCH;
    return FOR_OTHERS;
}

status advice_graph_find(advice_facts *f, error *err) {
    const trace *t = f->t;
    TRY(trace_require(t,
                      TRACE_TABLE(producer_op) | TRACE_TABLE(producer_step) |
                          TRACE_TABLE(pipe_op) | TRACE_TABLE(queue_sample) |
                          TRACE_TABLE(cpu_sample) | TRACE_TABLE(finding) |
                          TRACE_TABLE(finding_op),
                      err));
    f->average = (device_report_step){.number = ABSENT_I64};
    f->interval_ns = ABSENT_I64;
    for (int i = 0; i < N_REPORT_PARTS; i++) f->average.part[i] = ABSENT_I64;
    f->dialect = find_dialect(t);
    f->host = queue_count(t, PIPE_HOST_QUEUE);
    f->data_queue = queue_count(t, PIPE_DATA_QUEUE);
    f->cpu_busy = cpu_busy_share(t);
    TRY(pipe_view_make(t, (pipe_thresholds){.high = 0.8, .low = 0.6}, f->arena, &f->pipe, err));
    TRY(sum_types(f, err));
    if (t->producer_step.n < 2) return OK;
    device_report own;
    analysis_input one = {.traces = f->in->traces, .n_traces = 1};
    TRY(device_report_make(&one, f->arena, &own, err));
    const device_report_step *average = device_report_average(&own.v[0]);
    if (average) f->average = *average;
    return find_intervals(f, err);
}

/* ---- data -------------------------------------------------------------------------------- */

static int64_t interval_ns(const advice_facts *f) {
    return f->average.part[REPORT_INTERVAL];
}

bool advice_interval_is_long(const advice_facts *f) {
    return interval_ns(f) != ABSENT_I64 &&
           (double)interval_ns(f) > advice_limit.step_interval * 1e6;
}

/* What waiting for data can cost a step: the step trace may be of other steps than the kernels,
 * and while the device works nothing waits. */
static int64_t interval_cost(const advice_facts *f) {
    int64_t own = f->interval_ns == ABSENT_I64 ? interval_ns(f) : f->interval_ns;
    return min_i64(own, max_i64(0, sub_i64(f->step_ns, f->busy_ns)));
}

bool advice_step_interval(const advice_facts *f, double limit, advice *out) {
    if (!advice_interval_is_long(f) || !f->steps.n) return false;
    advice_cost(f, out, interval_cost(f));
    out->place = f->interval_at;
    verdict_add(&out->words, arg_time("interval", interval_ns(f)));
    verdict_add(&out->words, arg_time("limit", real_i64(limit * 1e6)));
    return true;
}

static double empty_share(queue_counts c) {
    return c.batches ? (double)c.empty / (double)c.batches : 0;
}

/* What late data cost, where a step trace tells. */
static void add_interval(const advice_facts *f, advice *out) {
    out->severity = SEVERITY_WARNING;
    if (!advice_interval_is_long(f)) return;
    out->saves = interval_cost(f);
    out->place = f->interval_at;
}

static bool host_queue_is_empty(const advice_facts *f) {
    return f->host.batches && empty_share(f->host) > advice_limit.host_queue_empty;
}

bool advice_host_queue_empty(const advice_facts *f, double limit, advice *out) {
    if (!host_queue_is_empty(f)) return false;
    add_interval(f, out);
    verdict_add(&out->words, arg_int("empty", f->host.empty));
    verdict_add(&out->words, arg_int("batches", f->host.batches));
    verdict_add(&out->words, arg_share("empty_share", empty_share(f->host)));
    verdict_add(&out->words, arg_share("limit", limit));
    return true;
}

bool advice_data_queue_empty(const advice_facts *f, double limit, advice *out) {
    if (!f->host.batches || host_queue_is_empty(f) || (double)f->data_queue.empty <= limit)
        return false;
    add_interval(f, out);
    verdict_add(&out->words, arg_int("empty", f->data_queue.empty));
    verdict_add(&out->words, arg_int("batches", f->data_queue.batches));
    return true;
}

bool advice_host_cpu_busy(const advice_facts *f, double limit, advice *out) {
    if (isnan(f->cpu_busy) || f->cpu_busy <= limit) return false;
    out->severity = SEVERITY_WARNING;
    verdict_add(&out->words, arg_share("busy", f->cpu_busy));
    return true;
}

/* Are data late, as far as anything tells? */
static bool data_may_be_late(const advice_facts *f) {
    if (interval_ns(f) != ABSENT_I64 && !advice_interval_is_long(f)) return false;
    return !f->host.batches || host_queue_is_empty(f);
}

typedef enum { PIPE_SOURCE, PIPE_GENERATOR, PIPE_MAP, PIPE_BATCH, PIPE_OTHER } pipe_class;

static pipe_class class_of(const advice_facts *f, const pipe_item *p) {
    str type = trace_str(f->t, f->t->pipe_op.name[p->row]);
    if (str_starts(type, STR("Generator"))) return PIPE_GENERATOR;
    if (!p->n_children) return PIPE_SOURCE;
    if (str_starts(type, STR("Map"))) return PIPE_MAP;
    return str_starts(type, STR("Batch")) ? PIPE_BATCH : PIPE_OTHER;
}

/* The slow operators of a class, nearest to the source first, as the helper writes them. */
static bool name_operators(const advice_facts *f, pipe_class which, advice *out) {
    str names = STR_NONE;
    double least = 2;
    if (!data_may_be_late(f)) return false;
    for (uint32_t i = f->pipe.n; COUNT_DOWN(i);) {
        const pipe_item *p = &f->pipe.v[i];
        if (p->slow != SLOW_BEHIND_CHILD && p->slow != SLOW_SOURCE) continue;
        if (class_of(f, p) != which) continue;
        names = names.n ? arena_printf(f->arena, "%.*s/%.*s", STR_ARG(names), STR_ARG(p->name))
                        : p->name;
        if (!names.p) return false;
        if (p->usage < least) least = p->usage;
    }
    if (!names.n) return false;
    add_interval(f, out);
    out->name = names;
    verdict_add(&out->words, arg_text("operators", names));
    verdict_add(&out->words, arg_share("usage", least > 1 ? 0 : least));
    return true;
}

bool advice_pipeline_dataset(const advice_facts *f, double limit, advice *out) {
    (void)limit;
    return name_operators(f, PIPE_SOURCE, out);
}

bool advice_pipeline_generator(const advice_facts *f, double limit, advice *out) {
    (void)limit;
    return name_operators(f, PIPE_GENERATOR, out);
}

bool advice_pipeline_map(const advice_facts *f, double limit, advice *out) {
    (void)limit;
    return name_operators(f, PIPE_MAP, out);
}

bool advice_pipeline_batch(const advice_facts *f, double limit, advice *out) {
    (void)limit;
    return name_operators(f, PIPE_BATCH, out);
}

bool advice_pipeline_other(const advice_facts *f, double limit, advice *out) {
    (void)limit;
    return name_operators(f, PIPE_OTHER, out);
}

/* ---- operators and the tail -------------------------------------------------------------- */

static double type_share(const advice_facts *f, const given_sum *s) {
    return f->device_types.ns > 0 ? (double)s->ns / (double)f->device_types.ns : 0;
}

static void add_types(const advice_facts *f, const given_sum *s, advice *out) {
    out->severity = SEVERITY_WARNING;
    out->name = s->name;
    verdict_add(&out->words, arg_time("total", s->ns));
    verdict_add(&out->words, arg_share("type_share", type_share(f, s)));
    verdict_add(&out->words, arg_int("calls", s->calls));
    verdict_add(&out->words, arg_text("op", s->name));
}

bool advice_ai_cpu_operators(const advice_facts *f, double limit, advice *out) {
    if (type_share(f, &f->ai_cpu) < limit || !f->ai_cpu.ns) return false;
    if (advice_advisor_names_ai_cpu(f)) return false;
    add_types(f, &f->ai_cpu, out);
    return true;
}

bool advice_type_conversions(const advice_facts *f, double limit, advice *out) {
    if (type_share(f, &f->conversions) < limit || !f->conversions.ns) return false;
    add_types(f, &f->conversions, out);
    return true;
}

bool advice_long_tail(const advice_facts *f, double limit, advice *out) {
    int64_t tail = f->average.part[REPORT_TAIL], total = f->average.part[REPORT_TOTAL];
    bool reported =
        f->collective.n && advice_share(f, f->exposed_ns) >= advice_limit.communication_exposed;
    if (reported || tail <= 0 || total <= 0 || (double)tail < limit * (double)total)
        return false;
    advice_cost(f, out, min_i64(tail, f->step_ns));
    return true;
}
