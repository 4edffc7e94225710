/* rec_cost.h: what recording costs the program, measured in this run. */
#ifndef RECORD_REC_COST_H
#define RECORD_REC_COST_H

#include "record/rec_int.h"

/* CPU time of this thread: what else runs on the machine does not count. */
static inline int64_t rec_cpu_ns(void) {
    return rec_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* n of a kind took so many ns: into the current file, or the next one. rec_lock is free. */
void rec_cost_add(tacho_cost_kind kind, int64_t ns, uint64_t n);
/* The same while the caller holds rec_lock; `f` is the file that gets it. */
void rec_cost_put(rec_file *f, tacho_cost_kind kind, int64_t ns, uint64_t n);
/* A file begins: it gets what is known already. rec_lock. */
void rec_cost_begin(rec_file *f);
/* CPU time of the recorder's own thread, so far. Called by the helper. */
void rec_cost_helper(rec_file *f);
/* A thread looks for a chunk: shall that be timed, and events be tried in it? rec_lock. */
bool rec_cost_is_due(void);
/* Tries events on this thread, which has just got a chunk. */
void rec_cost_try(void);
/* Tries operators of PyTorch; 0: none were. ns is what all of them cost together. */
uint64_t rec_torch_try(int64_t *ns);
void rec_cost_forked(void);

#endif
