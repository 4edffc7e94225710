/* rec_sample.h: operators of some steps only. */
#ifndef RECORD_REC_SAMPLE_H
#define RECORD_REC_SAMPLE_H

#include "record/rec_int.h"

/* Operators of one step in `every`; 0 and 1: of all. Called at the start of a recording;
 * rec_cycle_lock. */
void rec_sample_set(uint32_t every);
/* Says so in a new file. rec_lock. */
void rec_sample_write(rec_file *f);
/* Decides whether the operators of the step that begins now are kept; `first`: it begins a
 * file. TACHO_STEP_* for its mark. rec_cycle_lock. */
int64_t rec_sample_begin(uint64_t step, bool first, uint64_t flight_ticks);
/* What was decided last, for a mark that does not begin another step. */
int64_t rec_sample_now(void);
/* Puts the hooks in or takes them out as decided. Called by the thread that marked the step;
 * without locks. */
void rec_sample_follow(void);
/* Steps begin again here: what came before was setup. rec_cycle_lock. */
void rec_sample_restart(void);
/* Windows of time where there are no steps. Called by the helper. */
void rec_sample_tick(int64_t now_ns);
/* True when steps differ in what is recorded: the records of the device are looked at soon. */
bool rec_sample_is_used(void);

/* ---- what the device did, from CUPTI's records ---- */
/* A host call with this number began; any thread. */
void rec_sample_call(uint64_t correlation, int64_t start_unix_ns);
/* Work of a call; of the helper. */
void rec_sample_work(uint32_t name, uint32_t kind, const tacho_gpu_slots *w);
/* Compares the steps whose records are all here with those whose operators were kept. Called by
 * the helper. */
void rec_sample_judge(int64_t now_unix_ns);

void rec_sample_forked(void);

#endif
