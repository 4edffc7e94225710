/* step_limit.c: what limits a step: the largest part of the device's time. */
#include "analyse/device/step_limit.h"

#include "base/message_ids_advice.h"

str limit_name(limit_kind by) {
    static const char *const names[N_LIMITS] = {"unknown", "device",        "cpu",
                                                "data",    "communication", "dependency"};
    return str_of(names[by]);
}

static limit_kind limit_of_cause(uint8_t why) {
    static const limit_kind limits[N_IDLE_CAUSES] = {[IDLE_HOST_LATE] = LIMIT_CPU,
                                                     [IDLE_BLOCKED] = LIMIT_CPU,
                                                     [IDLE_DEPENDENCY] = LIMIT_DEPENDENCY,
                                                     [IDLE_DATA] = LIMIT_DATA,
                                                     [IDLE_COMMUNICATION] = LIMIT_COMMUNICATION,
                                                     [IDLE_PROFILER] = LIMIT_CPU,
                                                     [IDLE_UNKNOWN] = LIMIT_UNKNOWN};
    return limits[why];
}

/* Does most of the idle time come before the first or after the last device work, in a
 * recording that nothing divides into steps? Then it says little about the time in between. */
static bool is_edge(const step_spans *steps, const idle_pieces *idle) {
    int64_t edges = 0, all = 0;
    for (size_t i = 0; i < idle->n; i++) {
        const idle_piece *p = &idle->v[i];
        all = add_i64(all, idle_piece_ns(p));
        if (!p->before || !p->after) edges = add_i64(edges, idle_piece_ns(p));
    }
    return !steps->marked && edges > all / 2;
}

step_limit step_limit_of(const trace *t, const step_spans *steps, const idle_pieces *idle) {
    int64_t ns[N_LIMITS] = {0}, all = 0, busy;
    limit_kind most = LIMIT_UNKNOWN;
    for (uint32_t i = 0; i < steps->n; i++) all = add_i64(all, step_span_ns(&steps->v[i]));
    if (t->kernel.n <= 1 || all <= 0 || steps->cold.ns) return (step_limit){LIMIT_UNKNOWN, 0};
    busy = all;
    for (int c = 0; c < N_IDLE_CAUSES; c++) {
        limit_kind by = limit_of_cause((uint8_t)c);
        ns[by] = add_i64(ns[by], idle->ns[c]);
        busy = sub_i64(busy, idle->ns[c]);
    }
    if (busy >= all / 2) return (step_limit){LIMIT_DEVICE, (double)busy / (double)all};
    if (is_edge(steps, idle)) return (step_limit){LIMIT_UNKNOWN, 0};
    for (int i = 0; i < N_LIMITS; i++)
        if (ns[i] > ns[most]) most = (limit_kind)i;
    return (step_limit){most, (double)ns[most] / (double)all};
}

status step_limit_find(const trace *t, const step_spans *steps, arena *a, step_limit *out,
                       error *err) {
    idle_pieces idle = {0};
    step_spans known;
    TRY(step_spans_with_ops(steps, a, &known, err));
    if (t->kernel.n > 1 && !steps->cold.ns)
        TRY(idle_pieces_find(t, &known, NULL, a, &idle, err));
    *out = step_limit_of(t, &known, &idle);
    return OK;
}

void step_limit_name(const step_limit *l, verdict *v) {
    if (l->by != LIMIT_UNKNOWN) verdict_add(v, arg_text("limited_by", limit_name(l->by)));
}

status step_limit_say(const trace *t, const selection *s, arena *a, verdict *v, error *err) {
    static const uint16_t words[N_LIMITS] = {[LIMIT_CPU] = MSG_LIMIT_CPU,
                                             [LIMIT_DATA] = MSG_LIMIT_DATA,
                                             [LIMIT_COMMUNICATION] = MSG_LIMIT_COMMUNICATION,
                                             [LIMIT_DEPENDENCY] = MSG_LIMIT_DEPENDENCY};
    step_spans steps;
    step_limit limit;
    if (t->kernel.n <= 1) return OK;
    TRY(trace_require(t, IDLE_CAUSES_TABLES, err));
    TRY(step_spans_make(t, s, a, &steps, err));
    TRY(step_limit_find(t, &steps, a, &limit, err));
    step_limit_name(&limit, v);
    if (!words[limit.by]) return OK;
    verdict_add(v, arg_words("limit", words[limit.by]));
    if (!steps.marked && !verdict_value(v, "recording"))
        step_spans_say(&steps, step_span_ns(&steps.v[0]), v);
    v->severity = SEVERITY_INFO;
    return OK;
}
