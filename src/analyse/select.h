/* select.h: which events a question is about: windows and steps, once for all analyses.
 *
 * --step selects by membership: the step of an event is trace_step_of (store/trace.h).
 * --from/--to clips times by overlap and counts calls by start, so that windows partition: the
 * sum over adjoining windows is the whole. */
#ifndef ANALYSE_SELECT_H
#define ANALYSE_SELECT_H

#include "analyse/analysis.h"
#include "base/num.h"

typedef struct {
    const trace *t;
    int64_t from_ns, to_ns; /* absolute; open: question/window.h */
    int64_t first_step, last_step;
    bool by_step, by_time;
} selection;

/* What a selection reads; for trace_require. */
#define SELECT_TABLES                                                                   \
    (TRACE_TABLE(slice) | TRACE_TABLE(kernel) | TRACE_TABLE(call) | TRACE_TABLE(step) | \
     TRACE_TABLE(sample))

void select_init(selection *s, const trace *t, const params *p);
/* A window in absolute times; the whole trace. */
selection select_window(const trace *t, time_window w);
selection select_all(const trace *t);
/* Does the slice count as a call of this selection? */
bool select_counts(const selection *s, uint32_t slice);
/* Its time inside the selection, in ns (0 when outside). */
int64_t select_ns(const selection *s, uint32_t slice);
/* The same for an interval that is not a slice (time clip only). */
int64_t select_clip(const selection *s, int64_t start_ns, int64_t end_ns);
/* Does the step that holds this host time belong to the selection? */
bool select_step(const selection *s, int64_t time_ns);
/* select_counts and select_ns for a row of table kernel, without searching for it. */
bool select_work_counts(const selection *s, uint32_t kernel);
int64_t select_work_ns(const selection *s, uint32_t kernel);

/* End of a slice; a hostile file's duration cannot overflow it. */
static inline int64_t slice_end(const trace *t, uint32_t slice) {
    return add_i64(t->slice.start[slice], t->slice.dur[slice]);
}

#endif
