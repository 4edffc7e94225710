/* step_window.c: a range of steps as a stretch of time. */
#include "analyse/timeline/step_window.h"

bool steps_window(const trace *t, step_range steps, time_window *out) {
    int64_t from = INT64_MAX, to = INT64_MIN, done = INT64_MIN;
    for (uint32_t i = 1; i < t->step.n; i++) {
        if (t->step.number[i] < steps.first || t->step.number[i] > steps.last) continue;
        from = min_i64(from, t->step.start[i]);
        to = max_i64(to, t->step.end[i]);
    }
    if (from >= to) return false;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t launch = t->kernel.launch[k];
        if (launch && t->slice.start[launch] >= from && t->slice.start[launch] < to)
            done = max_i64(done, trace_slice_end(t, t->kernel.slice[k]));
    }
    to = min_i64(max_i64(to, done), t->end_ns);
    *out = (time_window){sub_i64(from, t->start_ns), sub_i64(to, t->start_ns)};
    return true;
}
