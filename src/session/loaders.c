/* loaders.c: a worker and the processes of its data loader as one trace. */
#include "session/loaders.h"

#include "store/merge.h"

const worker_entry *loader_after(const run_entry *r, const worker_entry *owner,
                                 const worker_entry *after) {
    const worker_entry *w = after ? after + 1 : r->workers;
    for (; w < r->workers + r->n_workers; w++)
        if (w->role == WORKER_LOADER && str_eq(w->owner, owner->name)) return w;
    return NULL;
}

status loaders_join(const trace *own, str name, const loader_trace *loaders, uint32_t n,
                    trace **out, error *err) {
    arena scratch;
    uint32_t taken = 1, n_clockless;
    status st = OK;
    *out = NULL;
    if (own->base_unix_ns == ABSENT_I64) return OK;
    arena_init(&scratch, 0);
    merge_input *in = ARENA_ARRAY(&scratch, merge_input, (size_t)n + 1);
    if (in) in[0] = (merge_input){.trace = own, .name = name};
    for (uint32_t i = 0; in && i < n; i++)
        if (loaders[i].trace && loaders[i].trace->base_unix_ns != ABSENT_I64)
            in[taken++] = (merge_input){loaders[i].trace, loaders[i].name, true};
    if (!in)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    else if (taken > 1)
        st = trace_merge(in, taken, out, &n_clockless, err);
    arena_fini(&scratch);
    return st;
}
