/* loaders.h: a worker and the processes of its data loader, which are recorded into separate
 * files, as one trace. What a step waited for may be in one of them. */
#ifndef SESSION_LOADERS_H
#define SESSION_LOADERS_H

#include "session/discover.h"

/* The next process of a data loader that works for a worker, after `after` (NULL: the first);
 * NULL when there is no more. */
const worker_entry *loader_after(const run_entry *r, const worker_entry *owner,
                                 const worker_entry *after);

typedef struct {
    const trace *trace; /* NULL: it could not be read, and is left out */
    str name;
} loader_trace;

/* *out is to be released; it begins with the rows of the worker and has its length and its
 * steps. NULL when there is nothing to join: times of different files need a time of day. */
status loaders_join(const trace *own, str name, const loader_trace *loaders, uint32_t n,
                    trace **out, error *err) MUST_USE;

#endif
