/* select.c: which events a question is about.
 *
 * Two independent cuts, both may be given. A window [from, to) clips times by overlap and
 * counts a call where it starts, so adjoining windows add up to the whole. A range of steps
 * takes or leaves whole events by the step they belong to (trace_step_of).
 *
 * It does not decide what a step is (the seal found them) nor adjust steps for device work
 * (steps are adjusted in breakdown.c, for the overview alone). */
#include "analyse/select.h"

#include "base/num.h"

void select_init(selection *s, const trace *t, const params *p) {
    *s = select_window(t, window_at(params_window(p), t->start_ns));
    s->first_step = p->first_step;
    s->last_step = p->last_step;
    s->by_step = !steps_are_all(params_steps(p));
}

selection select_window(const trace *t, time_window w) {
    return (selection){.t = t,
                       .from_ns = w.from_ns,
                       .to_ns = w.to_ns,
                       .first_step = OPEN_START,
                       .last_step = OPEN_END,
                       .by_time = !window_is_open(w)};
}

selection select_all(const trace *t) {
    return select_window(t, WINDOW_OPEN);
}

/* `step`: a row of table step, 0: none. */
static bool is_chosen(const selection *s, uint32_t step) {
    return step && s->t->step.number[step] >= s->first_step &&
           s->t->step.number[step] <= s->last_step;
}

bool select_step(const selection *s, int64_t time_ns) {
    return !s->by_step || is_chosen(s, trace_step_at(s->t, time_ns));
}

static bool holds(const selection *s, int64_t time_ns) {
    return time_ns >= s->from_ns && time_ns < s->to_ns;
}

static bool work_in_step(const selection *s, uint32_t kernel) {
    return is_chosen(s, trace_step_of_work(s->t, kernel));
}

static bool slice_in_step(const selection *s, uint32_t slice) {
    return is_chosen(s, trace_step_of(s->t, slice));
}

bool select_counts(const selection *s, uint32_t slice) {
    return (!s->by_time || holds(s, s->t->slice.start[slice])) &&
           (!s->by_step || slice_in_step(s, slice));
}

int64_t select_ns(const selection *s, uint32_t slice) {
    const trace *t = s->t;
    if (s->by_step && !slice_in_step(s, slice)) return 0;
    if (!s->by_time) return t->slice.dur[slice];
    return select_clip(s, t->slice.start[slice], slice_end(t, slice));
}

int64_t select_clip(const selection *s, int64_t start_ns, int64_t end_ns) {
    int64_t from = max_i64(start_ns, s->from_ns), to = min_i64(end_ns, s->to_ns);
    return to > from ? sub_i64(to, from) : 0;
}

bool select_work_counts(const selection *s, uint32_t kernel) {
    return (!s->by_time || holds(s, s->t->slice.start[s->t->kernel.slice[kernel]])) &&
           (!s->by_step || work_in_step(s, kernel));
}

int64_t select_work_ns(const selection *s, uint32_t kernel) {
    const trace *t = s->t;
    uint32_t slice = t->kernel.slice[kernel];
    if (s->by_step && !work_in_step(s, kernel)) return 0;
    if (!s->by_time) return t->slice.dur[slice];
    return select_clip(s, t->slice.start[slice], slice_end(t, slice));
}
