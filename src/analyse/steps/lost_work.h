/* lost_work.h: was there something to record at all, and did the device's records arrive?
 *
 * A trace with launches and without any of the work they started is not one of a program that
 * leaves its device alone: the profiler lost the records. Then that is the answer, whatever
 * else was found. */
#ifndef ANALYSE_LOST_WORK_H
#define ANALYSE_LOST_WORK_H

#include "analyse/analysis.h"

typedef struct {
    int64_t launches; /* host calls that start kernels or graphs */
    int64_t missing;  /* of them, those whose work was not recorded */
    bool all;         /* nearly all, and no kernel was recorded */
    bool captured;    /* a graph was captured: its launches only write the graph */
    bool graphs;      /* graphs are launched: some of the launches may be a capture of them */
    int64_t replays;  /* launches of graphs */
    uint32_t *lost_replays; /* of them, those without any work: slices, by row */
    int64_t n_lost_replays;
} lost_work;

/* Fewer launches say nothing; a smaller share of them that is missing is not worth a word. */
#define LOST_FEW 10
#define LOST_SHARE 0.1

/* Does a call of this name start kernels? */
bool launch_name(str name);
/* Are enough records missing to be worth a word, for no other reason that is known? */
bool lost_work_matters(const lost_work *w);
status lost_work_count(const trace *t, arena *a, lost_work *out, error *err) MUST_USE;

/* What a verdict and the notes say of it. The verdict is replaced when nothing was recorded,
 * when the file is cut before the device's half, when a graph was captured and next to nothing
 * ran, or when all records of the device are missing; true then. */
status lost_work_judge(const trace *t, arena *a, answer *out, bool *replaced,
                       error *err) MUST_USE;

#endif
