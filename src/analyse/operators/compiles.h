/* compiles.h: compilations that the program waited for: what was compiled, which line asked for
 * it, and why once more. */
#ifndef ANALYSE_COMPILES_H
#define ANALYSE_COMPILES_H

#include "analyse/operators/line_of.h"
#include "analyse/rules.h"

typedef struct {
    uint32_t slice; /* the outermost range of it */
    uint32_t site;  /* the line that asked for it: a row of table frame; 0: not known */
    str what;       /* "forward (train.py:12)", or the name of the range */
    str why;        /* what the compiler says of compiling it again; empty: it says nothing */
} compile_event;

/* By track, then start; none is inside of another. */
typedef struct {
    compile_event *v;
    uint32_t n;
} compile_events;

#define COMPILES_TABLES (LINE_TABLES | TRACE_TABLE(instant))

/* Texts and rows are valid while the trace is open and until the arena is reset. */
status compiles_find(const trace *t, arena *a, compile_events *out, error *err) MUST_USE;

/* Their time on the host that begins in an interval; `longest`: one of them, NULL when there is
 * none. */
int64_t compiles_ns_in(const trace *t, const compile_events *c, interval range,
                       const compile_event **longest);

/* Adds what an interval compiled: `compiling` (how long), `what`, `why`, `caller`; nothing
 * when that is less than a quarter of `of_ns`. */
void compiles_say(const trace *t, const compile_events *c, interval range, int64_t of_ns,
                  arena *a, verdict *v);

#endif
