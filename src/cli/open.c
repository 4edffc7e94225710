/* open.c: from the TRACE arguments of a command to sealed traces.
 *
 * One argument is a file, a run or a log folder; --run, --worker and --span choose in it.
 * Several arguments are several workers, for analyses that can look at more than one. With
 * --all-workers every worker of the chosen run joins, the chosen one first, the same cycle of
 * each; then summaries are opened where they can answer (open_summaries.c).
 *
 * session/ does the work; here is only what the command line says about it. Everything opened
 * is held by the arena of `opened`, whose reset gives the traces back. */
#include "cli/open.h"

#include <string.h>
#include <unistd.h>

#include "analyse/summary_answers.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/open_int.h"
#include "cli/progress.h"
#include "session/discover.h"
#include "session/load.h"

static void release_trace(void *t) {
    trace_release(t);
}

static void free_pool(void *p) {
    pool_free(p);
}

/* `info` answers from the small tables and the counts, however large the trace is. */
static uint64_t tables_needed(const options *o) {
    bool info = o->command.analysis && strcmp(o->command.name, "info") == 0;
    return info ? TRACE_TABLE(meta) | TRACE_TABLE(quality) | TRACE_TABLE(device) : 0;
}

static status load_span(const options *o, opened *x, const chosen *c, trace **out, error *err) {
    const span_entry *span = c->span;
    progress p;
    loaded l = {.trace = NULL};
    load_options how = {.pool = x->pool,
                        .no_cache = o->no_cache,
                        .strict = o->strict,
                        .tables = tables_needed(o),
                        .memory_limit_bytes =
                            o->memory_limit == ABSENT_I64 ? 0 : (uint64_t)o->memory_limit,
                        .progress = progress_step,
                        .progress_context = &p};
    progress_begin(&p, o, span->path.p);
    status s = load(span->path.p, &how, &l, err);
    progress_end(&p);
    TRY(s);
    /* A cache that cannot be written costs time, not results: worth a line to a person only. */
    if (l.note.message != MSG_NONE && p.on) (void)cli_complain(o, &l.note);
    if (!arena_on_reset(&x->arena, release_trace, l.trace)) FAIL_MEMORY(err);
    *out = l.trace;
    return OK;
}

static status add_worker(const options *o, opened *x, const chosen *c, error *err) {
    trace *t;
    TRY(load_span(o, x, c, &t, err));
    return chosen_describe(c, t, &x->arena, &x->traces[x->input.n_traces++], err);
}

static status add_path(const options *o, opened *x, const char *path, chosen *c, error *err) {
    catalogue found = {.n_runs = 0};
    choice wanted = {.run = o->run, .worker = o->worker, .span = o->span};
    TRY(discover(&x->arena, path, &found, err));
    return choose(&found, &wanted, c, err);
}

/* Questions about all workers rest on their summaries (summary_answers.h). */
static bool wants_summaries(const options *o, const run_entry *run) {
    params p = options_params(o, NULL);
    return o->command.analysis && summary_is_enough(&p, run->n_workers);
}

/* The other workers of the run, behind the chosen one. */
static status add_others(const options *o, opened *x, const chosen *first, error *err) {
    for (uint32_t i = 0; i < first->run->n_workers; i++) {
        const worker_entry *w = &first->run->workers[i];
        if (w == first->worker) continue;
        chosen c = {.run = first->run, .worker = w};
        c.span = worker_span(w, first->span->number);
        TRY(add_worker(o, x, &c, err));
    }
    return OK;
}

static status make_room(opened *x, size_t n, error *err) {
    x->traces = ARENA_ARRAY(&x->arena, analysis_trace, n);
    if (!x->traces) FAIL_MEMORY(err);
    x->input.traces = x->traces;
    return OK;
}

static status check_count(const options *o, error *err) {
    const char *name = o->command.name;
    bool many = o->command.analysis ? o->command.analysis->all_workers
                                    : strcmp(name, "export") == 0; /* merges them */
    if (o->n_traces == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TRACE, arg_cstr("command", name));
    if (o->n_traces > 1 && !many)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_ONE_TRACE, arg_cstr("command", name),
             arg_int("count", o->n_traces));
    if (o->all_workers && !many)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NOT_ALL_WORKERS, arg_cstr("command", name));
    return OK;
}

static status start_pool(const options *o, opened *x, error *err) {
    int64_t wanted = o->threads == ABSENT_I64 || o->threads == 0 ? pool_cpus() : o->threads;
    x->pool = pool_new((int)min_i64(wanted, 1024));
    if (!x->pool) FAIL_MEMORY(err);
    if (!arena_on_reset(&x->arena, free_pool, x->pool)) {
        x->pool = NULL;
        FAIL_MEMORY(err);
    }
    return OK;
}

status open_traces(const options *o, opened *x, error *err) {
    chosen c;
    *x = (opened){.pool = NULL};
    arena_init(&x->arena, 0);
    TRY(check_count(o, err));
    TRY(start_pool(o, x, err));
    if (o->n_traces == 1) {
        TRY(add_path(o, x, o->traces[0], &c, err));
        TRY(make_room(x, c.run->n_workers, err));
        if (o->all_workers && wants_summaries(o, c.run)) return open_summaries(o, x, &c, err);
        TRY(add_worker(o, x, &c, err));
        return o->all_workers ? add_others(o, x, &c, err) : OK;
    }
    TRY(make_room(x, o->n_traces, err));
    for (uint32_t i = 0; i < o->n_traces; i++) {
        TRY(add_path(o, x, o->traces[i], &c, err));
        TRY(add_worker(o, x, &c, err));
    }
    return OK;
}

void open_end(opened *x) {
    arena_fini(&x->arena);
}
