/* pool.h: the worker threads. One pool per process; work is a range cut into grains. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/status.h"

typedef struct pool pool;

/* n_threads ≥ 1 counts the calling thread: 1 starts none. NULL when out of memory. */
pool *pool_new(int n_threads);
void pool_free(pool *p);
int pool_threads(const pool *p);

/* Calls fn(context, i, worker) for every i in [0, n), from any worker (0 … threads-1; 0 is the
 * caller), and returns when all are done. p may be NULL: runs in the caller. Not to be
 * nested. */
typedef void (*pool_fn)(void *context, size_t i, int worker);
void pool_for(pool *p, size_t n, pool_fn fn, void *context);

/* Number of processors this process may use: of the machine, of its affinity, of its container.
 * Looked up once. */
int pool_cpus(void);

#endif
