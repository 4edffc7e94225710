/* open_loaders.c: a worker and the processes of its data loader as one trace.
 *
 * They are recorded into files of their own. What a step waited for may be in one of them, so
 * questions about that look at them together; rows of the worker keep their numbers. */
#include "analyse/registry.h"
#include "cli/open_int.h"
#include "store/merge.h"

static void release_merged(void *t) {
    trace_release(t);
}

/* Files of a loader that cannot be read, or tell no time of day, are left out: waiting for their
 * batches is then assumed to be the time of the thread that waits. */
static status load_loaders(const options *o, opened_input *x, const span_choice *c,
                           merge_input *in, uint32_t *n, error *err) {
    for (const worker_entry *w = NULL; (w = run_loader_of(c->run, c->worker, w)) != NULL;) {
        span_choice loader = {.run = c->run, .worker = w};
        trace *t;
        loader.span = worker_span(w, c->span->number);
        status st = open_load(o, x, &loader, &t, o->strict ? err : NULL);
        if (st == ERR_MEMORY || (st != OK && o->strict)) return st;
        if (st == OK && t->base_unix_ns != ABSENT_I64)
            in[(*n)++] = (merge_input){t, w->name, true};
    }
    return OK;
}

status open_loaders(const options *o, opened_input *x, const span_choice *c, error *err) {
    analysis_trace *to = &x->traces[x->input.n_traces - 1];
    uint32_t n = 1, n_clockless;
    trace *merged;
    if (!analysis_joins_loaders(o->command.analysis) || to->trace->base_unix_ns == ABSENT_I64 ||
        !run_loader_of(c->run, c->worker, NULL))
        return OK;
    merge_input *in = ARENA_ARRAY(&x->arena, merge_input, (size_t)c->run->n_workers + 1);
    if (!in) FAIL_MEMORY(err);
    in[0] = (merge_input){.trace = to->trace, .name = to->worker};
    TRY(load_loaders(o, x, c, in, &n, err));
    if (n == 1) return OK;
    TRY(trace_merge(in, n, &merged, &n_clockless, err));
    if (!arena_on_reset(&x->arena, release_merged, merged)) FAIL_MEMORY(err);
    to->trace = merged;
    return OK;
}
