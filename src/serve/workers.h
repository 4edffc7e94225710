/* workers.h: threads that take jobs from a queue of limited length. Slow jobs wait in a
 * separate queue and run on at most half of the threads: however many there are, the others
 * continue. */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include "base/status.h"

typedef struct workers workers;

/* `cancelled`: the threads are ending, the job must only clean up. */
typedef void (*job_fn)(void *context, bool cancelled);

/* tick runs about once a second on one of the threads; may be NULL. NULL when out of memory. */
workers *workers_new(int n_threads, size_t most_jobs, void (*tick)(void *), void *context);
typedef enum { JOB_QUICK, JOB_SLOW, N_JOB_KINDS } job_kind;
/* False when the queue is full or the threads are ending: the job will not run. */
bool workers_push(workers *w, job_kind kind, job_fn fn, void *context);
/* Waits for running jobs; those that wait are canceled, and so is what is pushed from now
 * on. */
void workers_end(workers *w);
void workers_free(workers *w); /* ends too; NULL is allowed */

#endif
