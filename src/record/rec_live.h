/* rec_live.h: how this process is doing now: steps, device, memory.
 *
 * The program's threads leave numbers here as events pass; the helper makes a page of them once
 * a second, for `tacho watch` and for metrics. */
#ifndef RECORD_REC_LIVE_H
#define RECORD_REC_LIVE_H

#include <tacho/live.h>

#include "record/rec_int.h"

/* A recording begins: it has had no steps. rec_cycle_lock. */
void rec_live_begin(void);
/* A mark of a step. One thread at a time. */
typedef enum {
    REC_STEP_BEGINS,  /* everything before it is void */
    REC_STEP_ENDED,   /* the one before it */
    REC_STEP_SAMPLED, /* the same, and hooks slowed it down that other steps do not have */
} rec_step_how;
void rec_live_step(uint64_t number, uint64_t tick, rec_step_how how);
/* Device work that has ended; Unix ns. */
void rec_live_device(int32_t device, int64_t start_ns, int64_t end_ns);
/* What an allocator of a device has handed out; any thread. */
void rec_live_memory(int32_t device, int64_t allocated_bytes);
/* Evidence was written. Called by the helper, or under the lock of triggers. */
void rec_live_triggered(const char *why);
/* The page, once a second. Called by the helper. */
void rec_live_tick(const rec_file *f);
/* The page as it would be written now. Called by the helper. */
void rec_live_look(const rec_file *f, tacho_live_page *out);
/* The recording has ended: the page must not look like that of a live process. */
void rec_live_end(void);
void rec_live_forked(void);

/* The last steps, the newest first: number, end, and length (-1: not known). */
typedef struct {
    uint64_t number, tick;
    int64_t end_ns, length_ns; /* end_ns: CLOCK_MONOTONIC */
    bool is_sampled;
} rec_step;
enum { REC_STEPS_KEPT = 1024 };
/* How many steps there were so far. */
uint64_t rec_live_n_steps(void);
/* The i-th of them; false when it is not kept any more. */
bool rec_live_step_at(uint64_t i, rec_step *out);
/* The median length of up to 64 steps before the i-th; -1 when there are fewer than `least`. */
int64_t rec_live_median(uint64_t i, int least);

#endif
