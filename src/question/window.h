/* window.h: the part of a trace that a question is about: an interval or a range of steps.
 *
 * An end that was not given is open: OPEN_START or OPEN_END, both in offsets and in absolute
 * times, so comparisons need no special case. Offsets count from the start of the trace; they
 * become absolute here and nowhere else. */
#ifndef QUESTION_WINDOW_H
#define QUESTION_WINDOW_H

#include "base/num.h"

#define OPEN_START INT64_MIN
#define OPEN_END INT64_MAX

typedef struct {
    int64_t from_ns, to_ns; /* [from, to) */
} time_window;

typedef struct {
    int64_t first, last; /* by number, both included */
} step_range;

#define WINDOW_OPEN ((time_window){OPEN_START, OPEN_END})
#define STEPS_ALL ((step_range){OPEN_START, OPEN_END})

static inline bool window_is_open(time_window w) {
    return w.from_ns == OPEN_START && w.to_ns == OPEN_END;
}
static inline bool steps_are_all(step_range s) {
    return s.first == OPEN_START && s.last == OPEN_END;
}

/* An offset as a time of the trace; an open one stays open. */
static inline int64_t offset_to_time(int64_t offset_ns, int64_t start_ns) {
    bool open = offset_ns == OPEN_START || offset_ns == OPEN_END;
    return open ? offset_ns : add_i64(start_ns, offset_ns);
}
static inline time_window window_at(time_window offsets, int64_t start_ns) {
    return (time_window){offset_to_time(offsets.from_ns, start_ns),
                         offset_to_time(offsets.to_ns, start_ns)};
}
/* Its open ends become those of `whole`. */
static inline time_window window_closed(time_window w, time_window whole) {
    return (time_window){w.from_ns == OPEN_START ? whole.from_ns : w.from_ns,
                         w.to_ns == OPEN_END ? whole.to_ns : w.to_ns};
}

#endif
