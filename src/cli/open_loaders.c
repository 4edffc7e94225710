/* open_loaders.c: a worker together with the processes of its data loader (session/loaders.h),
 * for questions that follow batches from process to process. */
#include "analyse/registry.h"
#include "cli/cli.h"
#include "cli/open_int.h"
#include "session/loaders.h"

static void release_merged(void *t) {
    trace_release(t);
}

/* A loader's file that cannot be read is left out, with a complaint: waiting for its batches is
 * then assumed to be the time of the thread that waits. */
static status load_loaders(const options *o, opened_input *x, const span_choice *c,
                           loader_trace *out, uint32_t *n, error *err) {
    for (const worker_entry *w = NULL; (w = loader_after(c->run, c->worker, w)) != NULL;) {
        span_choice loader = plan_loader(c, w);
        trace *t = NULL;
        error why = {0};
        status st = open_load(o, x, &loader, &t, o->strict ? err : &why);
        if (st == ERR_MEMORY) FAIL_MEMORY(err);
        if (st != OK && o->strict) return st;
        if (st != OK) (void)cli_complain(o, &why);
        out[(*n)++] = (loader_trace){st == OK ? t : NULL, w->name};
    }
    return OK;
}

status open_loaders(const options *o, opened_input *x, const span_choice *c, error *err) {
    analysis_trace *to = &x->traces[x->input.n_traces - 1];
    uint32_t n = 0;
    trace *joined;
    if (!analysis_has(o->command.analysis, JOINS_LOADERS)) return OK;
    loader_trace *loaders = ARENA_ARRAY(&x->arena, loader_trace, (size_t)c->run->n_workers + 1);
    if (!loaders) FAIL_MEMORY(err);
    TRY(load_loaders(o, x, c, loaders, &n, err));
    TRY(loaders_join(to->trace, to->worker, loaders, n, &joined, err));
    if (!joined) return OK;
    if (!arena_on_reset(&x->arena, release_merged, joined)) {
        trace_release(joined);
        FAIL_MEMORY(err);
    }
    to->own_slices = to->trace->slice.n;
    to->trace = joined;
    return OK;
}
