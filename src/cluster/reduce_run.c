/* reduce_run.c: all workers of a run to one summary.
 *
 * Files are dealt largest first by a counter all threads of all processes take from: whoever is
 * done takes the next, so that no thread waits while there is work. A thread loads a trace,
 * reduces it and adds the summary to its own; a file that fails becomes a row `failure`.
 *
 * Then the processes find out together what concerns all workers (comm_resolve.h): collectives
 * go to the process their key falls to, what was transfer comes back, clocks are solved by
 * process 0. At the end all summaries are merged in a tree. Every step works on sets whose
 * order does not matter, so the result is the same for any number of threads and processes. */
#include "cluster/reduce_run.h"

#include <string.h>

#include "analyse/run/reduce.h"
#include "base/bisect.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/sort.h"
#include "session/load.h"

/* Tables that grow with names, not with workers: folded now and then. */
#define NAME_TABLES                                                   \
    (SUMMARY_BIT(op) | SUMMARY_BIT(kernel) | SUMMARY_BIT(histogram) | \
     SUMMARY_BIT(worker_time) | SUMMARY_BIT(advice))
#define FOLD_ROWS 65536

typedef struct {
    const reduce_options *o;
    uint32_t *order; /* workers, the largest file first */
    summary **own;   /* one for each thread */
    pthread_mutex_t lock;
    uint64_t n_failed;
    status failed; /* of this process; ERR_MEMORY and the like */
    error err;
    arena arena;
} reduce_run_ctx;

/* ---- files ------------------------------------------------------------------------------- */

static const span_entry *span_of(const reduce_run_ctx *r, const worker_entry *w) {
    int64_t number;
    if (r->o->span.n && str_to_i64(r->o->span, &number) && number > 0)
        return worker_span(w, (uint32_t)number);
    return &w->spans[w->n_spans - 1];
}

static int compare_files(uint32_t a, uint32_t b, const void *context) {
    const reduce_run_ctx *r = context;
    const worker_entry *w = r->o->run->workers;
    uint64_t x = span_of(r, &w[a])->size_bytes, y = span_of(r, &w[b])->size_bytes;
    if (x != y) return x > y ? -1 : 1;
    return (a > b) - (a < b);
}

/* Says that a file is done, and keeps why it failed. */
static status reduce_run_report(reduce_run_ctx *r, summary *to, const char *path,
                                const error *failed, error *err) {
    buf reason = {0};
    status st = OK;
    pthread_mutex_lock(&r->lock);
    if (r->o->done) r->o->done(r->o->context, path, failed, &reason);
    if (failed) r->n_failed++;
    pthread_mutex_unlock(&r->lock);
    if (failed) st = summary_fail_file(to, str_of(path), buf_str(&reason), err);
    buf_fini(&reason);
    return st;
}

static status reduce_file(reduce_run_ctx *r, uint32_t worker, summary *to, error *err) {
    const worker_entry *w = &r->o->run->workers[worker];
    const span_entry *span = span_of(r, w);
    const char *path = span->path.p;
    error failed = {0};
    loaded_trace l = {.trace = NULL};
    load_options how = {.threads = 1,
                        .no_cache = r->o->no_cache,
                        .process = span->process,
                        .memory_limit_bytes = r->o->memory_limit_bytes,
                        .reduce = reduce_worker,
                        .who = {.worker = w->name, .rank = w->rank}};
    status st = trace_load(path, &how, &l, &failed);
    if (st != OK) return reduce_run_report(r, to, shown_path(str_of(path)).p, &failed, err);
    st = summary_append(to, l.trace->summary, SUMMARY_ALL, err);
    trace_release(l.trace);
    TRY(st);
    if (SUMMARY_N(to, histogram) > FOLD_ROWS) TRY(summary_settle(to, err));
    return reduce_run_report(r, to, path, NULL, err);
}

static void work(void *context, size_t i, int thread) {
    reduce_run_ctx *r = context;
    (void)thread;
    for (;;) {
        int64_t n = transport_take(r->o->transport);
        if (n < 0 || n >= run_whole(r->o->run)) return;
        error err = {0};
        status st = reduce_file(r, r->order[n], r->own[i], &err);
        if (st == OK) continue;
        pthread_mutex_lock(&r->lock);
        if (r->failed == OK) error_copy(&r->err, &err);
        r->failed = st;
        pthread_mutex_unlock(&r->lock);
        return;
    }
}

/* All files of this process into mine[0]. */
static status reduce_files(reduce_run_ctx *r, uint32_t n_threads, error *err) {
    uint32_t n = run_whole(r->o->run), *scratch = ARENA_ARRAY(&r->arena, uint32_t, n + 1);
    r->order = ARENA_ARRAY(&r->arena, uint32_t, n + 1);
    pool *p = pool_new((int)n_threads);
    if (!p || !r->order || !scratch) {
        pool_free(p);
        FAIL_MEMORY(err);
    }
    for (uint32_t i = 0; i < n; i++) r->order[i] = i;
    sort_index(r->order, scratch, n, compare_files, r);
    pool_for(p, n_threads, work, r);
    pool_free(p);
    if (r->failed != OK) {
        if (err) error_copy(err, &r->err);
        return r->failed;
    }
    for (uint32_t i = 1; i < n_threads; i++) {
        TRY(summary_append(r->own[0], r->own[i], SUMMARY_ALL, err));
        summary_free(r->own[i]);
        r->own[i] = NULL;
    }
    return summary_settle(r->own[0], err);
}

/* ---- together ---------------------------------------------------------------------------- */

static status put_summary(void *context, buf *out, error *err) {
    return summary_encode(context, STR_NONE, out, err);
}

static status join_into(summary *to, str bytes, error *err) {
    summary *other;
    TRY(summary_decode(bytes, "-", &other, err));
    status st = summary_append(to, other, SUMMARY_ALL, err);
    summary_free(other);
    return st;
}

static status join_summary(void *context, str bytes, error *err) {
    TRY(join_into(context, bytes, err));
    return summary_settle(context, err);
}

static status join_samples(void *context, str bytes, error *err) {
    TRY(join_into(context, bytes, err));
    return clock_samples_trim(context, err);
}

static status join_run(void *context, str bytes, error *err) {
    TRY(join_into(context, bytes, err));
    return comm_resolve_trim(context, err);
}

static status reduce_run_gather(transport *t, summary *s,
                                status (*join)(void *context, str bytes, error *err),
                                error *err) {
    transport_tree tree = {put_summary, join, s};
    return transport_gather(t, &tree, err);
}

/* What process 0 has becomes what all have. */
static status tell_all(transport *t, summary *s, error *err) {
    buf bytes = {0};
    status st = OK;
    if (t->size == 1) return OK;
    if (t->rank == 0) st = put_summary(s, &bytes, err);
    if (st == OK) st = transport_broadcast(t, &bytes, err);
    if (st == OK && t->rank != 0) {
        summary_drop(s, SUMMARY_ALL);
        st = join_summary(s, buf_str(&bytes), err);
    }
    buf_fini(&bytes);
    return st;
}

/* parts[i] goes to process i; what comes is added to `to`. Frees the parts. */
static status send_parts(transport *t, summary **parts, summary *to, error *err) {
    size_t n = (size_t)t->size;
    status st = OK;
    buf *give = mem_zalloc(n * sizeof *give), *take = mem_zalloc(n * sizeof *take);
    if (!give || !take) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    for (size_t i = 0; i < n && st == OK; i++) {
        st = put_summary(parts[i], &give[i], err);
        summary_drop(parts[i], SUMMARY_ALL);
    }
    if (st == OK) st = transport_exchange(t, give, take, err);
    for (size_t i = 0; i < n && give && take; i++) {
        buf_fini(&give[i]);
        if (st == OK) st = join_into(to, buf_str(&take[i]), err);
        buf_fini(&take[i]);
    }
    mem_free(give);
    mem_free(take);
    return st == OK ? summary_settle(to, err) : st;
}

/* Summaries for one step, freed together. */
typedef struct {
    summary **parts; /* one for each process */
    summary *worker_order, *comms, *samples, *clocks, *moved, *back, *found;
    int n;
} steps;

static void free_steps(steps *s) {
    for (int i = 0; i < s->n && s->parts; i++) summary_free(s->parts[i]);
    mem_free(s->parts);
    summary *all[] = {s->worker_order, s->comms, s->samples, s->clocks,
                      s->moved,        s->back,  s->found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) summary_free(all[i]);
}

static status reduce_run_make_steps(steps *s, int n, error *err) {
    summary **all[] = {&s->worker_order, &s->comms, &s->samples, &s->clocks,
                       &s->moved,        &s->back,  &s->found};
    s->n = n;
    s->parts = mem_zalloc((size_t)n * sizeof *s->parts);
    bool ok = s->parts != NULL;
    for (int i = 0; i < n && ok; i++) ok = (s->parts[i] = summary_new()) != NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all && ok; i++)
        ok = (*all[i] = summary_new()) != NULL;
    if (!ok) FAIL_MEMORY(err);
    return OK;
}

/* Which process read a worker's file: rows `fact` of the roster, by name. */
static status add_owner(summary *all, const summary *own, int rank, error *err) {
    for (uint32_t i = 0; i < SUMMARY_N(own, worker); i++) {
        summary_fact *f = summary_add_fact(all);
        if (!f) FAIL_MEMORY(err);
        f->name = summary_text(all, SUMMARY_ROWS(own, worker)[i].name);
        f->value = rank;
        if (!f->name.p) FAIL_MEMORY(err);
    }
    return OK;
}

static int reduce_run_owner_of(const summary *all, str worker) {
    const summary_fact *f = SUMMARY_ROWS(all, fact);
    uint32_t at = SEARCH_FIRST(i, 0, SUMMARY_N(all, fact), str_cmp(f[i].name, worker) < 0);
    return at < SUMMARY_N(all, fact) && str_eq(f[at].name, worker) ? (int)f[at].value : 0;
}

/* What a comm_keeper found out about the ranges goes back to who read the worker. */
static status return_moved(transport *t, steps *s, error *err) {
    for (uint32_t i = 0; i < SUMMARY_N(s->moved, moved); i++) {
        const summary_moved *m = &SUMMARY_ROWS(s->moved, moved)[i];
        int owner = reduce_run_owner_of(s->worker_order, m->worker);
        if (owner < 0 || owner >= t->size) continue;
        summary_moved *row = summary_add_moved(s->parts[owner]);
        if (!row) FAIL_MEMORY(err);
        *row = *m;
        row->worker = summary_text(s->parts[owner], m->worker);
        if (!row->worker.p) FAIL_MEMORY(err);
    }
    summary_drop(s->moved, SUMMARY_ALL);
    return send_parts(t, s->parts, s->back, err);
}

static status resolve_together(reduce_run_ctx *r, summary *own, steps *s, error *err) {
    transport *t = r->o->transport;
    comm_keeper k;
    TRY(summary_append(s->worker_order, own, SUMMARY_BIT(worker), err));
    TRY(add_owner(s->worker_order, own, t->rank, err));
    TRY(summary_settle(s->worker_order, err));
    TRY(reduce_run_gather(t, s->worker_order, join_summary, err));
    TRY(tell_all(t, s->worker_order, err));
    TRY(comm_resolve_split(own, s->parts, (uint32_t)t->size, err));
    TRY(send_parts(t, s->parts, s->comms, err));
    TRY(comm_keeper_open(&k, s->worker_order, s->comms, &r->arena, err));
    TRY(comm_keeper_samples(&k, s->samples, err));
    TRY(reduce_run_gather(t, s->samples, join_samples, err));
    if (t->rank == 0) {
        TRY(clocks_solve(s->worker_order, s->samples, &r->arena, s->clocks, err));
        TRY(summary_settle(s->clocks, err));
    }
    TRY(tell_all(t, s->clocks, err));
    TRY(comm_keeper_resolve(&k, s->clocks, s->moved, s->found, err));
    summary_drop(s->comms, SUMMARY_ALL);
    TRY(return_moved(t, s, err));
    TRY(comm_owner_finish(own, s->back, &r->arena, err));
    if (t->rank == 0) TRY(summary_append(own, s->clocks, SUMMARY_ALL, err));
    TRY(summary_append(own, s->found, SUMMARY_ALL, err));
    TRY(comm_resolve_trim(own, err));
    return reduce_run_gather(t, own, join_run, err);
}

static status run_all(reduce_run_ctx *r, uint32_t n_threads, error *err) {
    steps s = {.n = 0};
    for (uint32_t i = 0; i < n_threads; i++)
        if (!(r->own[i] = summary_new())) FAIL_MEMORY(err);
    TRY(reduce_files(r, n_threads, err));
    status st = reduce_run_make_steps(&s, r->o->transport->size, err);
    if (st == OK) st = resolve_together(r, r->own[0], &s, err);
    free_steps(&s);
    return st;
}

status reduce_run(const reduce_options *o, reduce_result *out, error *err) {
    reduce_run_ctx r = {.o = o};
    uint32_t n_threads = o->threads > 0 ? (uint32_t)o->threads : 1;
    arena_init(&r.arena, 0);
    pthread_mutex_init(&r.lock, NULL);
    r.own = ARENA_ARRAY(&r.arena, summary *, n_threads);
    status st = r.own ? run_all(&r, n_threads, err) : ERR_MEMORY;
    *out = (reduce_result){.n_files = run_whole(o->run), .n_failed = r.n_failed};
    if (st == OK && o->transport->rank == 0) {
        out->all = r.own[0];
        out->n_failed = SUMMARY_N(out->all, failure);
        r.own[0] = NULL;
    }
    for (uint32_t i = 0; i < n_threads && r.own; i++) summary_free(r.own[i]);
    pthread_mutex_destroy(&r.lock);
    arena_fini(&r.arena);
    return st;
}
