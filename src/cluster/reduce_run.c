/* reduce_run.c: all workers of a run to one summary.
 *
 * Files are dealt largest first by a counter all threads of all processes take from: a thread
 * that is done takes the next, so that no thread waits while there is work. All processes look
 * the number up in the list of process 0 (file_list.h). A thread loads a trace, reduces it and
 * adds the summary to its own. What another process could not read, process 0 tries again: it
 * saw the file when it made the list. What fails there, too, becomes a row `failure`.
 *
 * Then the processes find out together what concerns all workers (comm_resolve.h): collectives
 * go to the process their key falls to, what was transfer comes back, clocks are solved by
 * process 0. At the end all summaries are merged in a tree. Every step works on sets whose
 * order does not matter, so the result is the same for any number of threads and processes. */
#include "cluster/reduce_run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analyse/run/reduce.h"
#include "base/bisect.h"
#include "base/mem.h"
#include "base/pool.h"
#include "session/load.h"

/* Tables that grow with names, not with workers: folded from time to time. */
#define NAME_TABLES                                                   \
    (SUMMARY_BIT(op) | SUMMARY_BIT(kernel) | SUMMARY_BIT(histogram) | \
     SUMMARY_BIT(worker_time) | SUMMARY_BIT(advice))
#define FOLD_ROWS 65536

typedef struct {
    const reduce_options *o;
    file_list list;
    uint32_t *again; /* process 0, second round: numbers of files that were not read */
    uint32_t n_again;
    _Atomic uint32_t next_again;
    summary **own; /* one for each thread */
    pthread_mutex_t lock;
    status failed; /* of this process; ERR_MEMORY or similar */
    error err;
    arena *arena; /* guarded by lock while threads run */
} reduce_run_ctx;

/* ---- files ------------------------------------------------------------------------------- */

static bool has_vanished(const listed_file *f, const error *failed) {
    return failed->message == MSG_CANNOT_OPEN && access(f->path.p, F_OK) != 0 &&
           errno == ENOENT;
}

/* Stores what became of a file, and reports it. */
static status note_outcome(reduce_run_ctx *r, listed_file *f, file_state state,
                           const error *failed) {
    buf reason = {0}, sentence = {0};
    pthread_mutex_lock(&r->lock);
    if (r->o->done) r->o->done(r->o->context, failed, &reason, &sentence);
    f->state = state;
    f->reason = arena_str(r->arena, buf_str(&reason));
    f->sentence = arena_str(r->arena, buf_str(&sentence));
    bool ok = f->reason.p && f->sentence.p && buf_ok(&reason) && buf_ok(&sentence);
    pthread_mutex_unlock(&r->lock);
    buf_fini(&reason);
    buf_fini(&sentence);
    return ok ? OK : ERR_MEMORY;
}

static status reduce_file(reduce_run_ctx *r, listed_file *f, summary *to, error *err) {
    error failed = {0};
    loaded_trace l = {.trace = NULL};
    load_options how = {.threads = 1,
                        .no_cache = r->o->no_cache,
                        .process = f->process,
                        .strict = r->o->strict,
                        .memory_limit_bytes = r->o->memory_limit_bytes,
                        .reduce = reduce_worker,
                        .who = {.worker = f->worker, .rank = f->rank}};
    if (trace_load(f->path.p, &how, &l, &failed) != OK)
        return note_outcome(r, f, has_vanished(f, &failed) ? FILE_VANISHED : FILE_UNREADABLE,
                            &failed);
    file_state state = trace_is_damaged(l.trace) ? FILE_DAMAGED : FILE_READ;
    status st = summary_append(to, l.trace->summary, SUMMARY_ALL, err);
    trace_release(l.trace);
    TRY(st);
    if (SUMMARY_N(to, histogram) > FOLD_ROWS) TRY(summary_settle(to, err));
    return note_outcome(r, f, state, NULL);
}

/* The next file for a thread; NULL: no more. */
static listed_file *take_file(reduce_run_ctx *r) {
    if (!r->again) {
        int64_t n = transport_take(r->o->transport);
        return n >= 0 && n < r->list.n ? &r->list.files[n] : NULL;
    }
    uint32_t i = atomic_fetch_add(&r->next_again, 1);
    return i < r->n_again ? &r->list.files[r->again[i]] : NULL;
}

static void work(void *context, size_t i, int thread) {
    reduce_run_ctx *r = context;
    (void)thread;
    for (listed_file *f; (f = take_file(r));) {
        error err = {0};
        /* A process with an old view of a file would read only a part of it. */
        bool stale = r->o->transport->rank != 0 && !listed_file_is_same(f);
        if (stale) {
            f->state = FILE_CHANGED;
            continue;
        }
        status st = reduce_file(r, f, r->own[i], &err);
        if (st == OK) continue;
        pthread_mutex_lock(&r->lock);
        if (r->failed == OK) error_copy(&r->err, &err);
        r->failed = st;
        pthread_mutex_unlock(&r->lock);
        return;
    }
}

static status run_threads(reduce_run_ctx *r, uint32_t n_threads, error *err) {
    pool *p = pool_new((int)n_threads);
    if (!p) FAIL_MEMORY(err);
    pool_for(p, n_threads, work, r);
    pool_free(p);
    if (r->failed == OK) return OK;
    if (r->err.message == MSG_NONE) FAIL_MEMORY(err);
    if (err) error_copy(err, &r->err);
    return r->failed;
}

/* Process 0: which files it has to read itself: all that no process has read, but those it
 * failed to read itself. */
static status list_unread(reduce_run_ctx *r, const file_state *tried, error *err) {
    r->again = ARENA_ARRAY(r->arena, uint32_t, r->list.n + 1);
    if (!r->again) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->list.n; i++)
        if (!listed_file_is_read(&r->list.files[i]) && tried[i] == FILE_UNREAD)
            r->again[r->n_again++] = i;
    return OK;
}

/* Every file was read by some process, or has a row `failure` with its name. */
static status account(reduce_run_ctx *r, uint32_t n_threads, error *err) {
    file_state *tried = ARENA_ARRAY(r->arena, file_state, r->list.n + 1);
    if (!tried) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->list.n; i++) tried[i] = r->list.files[i].state;
    TRY(file_list_gather(r->o->transport, &r->list, err));
    if (r->o->transport->rank != 0) return OK;
    TRY(list_unread(r, tried, err));
    if (r->n_again) TRY(run_threads(r, n_threads, err));
    for (uint32_t i = 0; i < r->list.n; i++) {
        const listed_file *f = &r->list.files[i];
        if (listed_file_is_read(f)) continue;
        TRY(summary_fail_file(r->own[0], shown_path(f->path), f->reason, err));
    }
    return OK;
}

/* All files of this process into own[0]. */
static status reduce_files(reduce_run_ctx *r, uint32_t n_threads, error *err) {
    const reduce_options *o = r->o;
    if (o->transport->rank == 0) TRY(file_list_make(r->arena, o->run, o->span, &r->list, err));
    TRY(file_list_share(o->transport, r->arena, &r->list, err));
    TRY(run_threads(r, n_threads, err));
    TRY(account(r, n_threads, err));
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

static status gather(transport *t, summary *s,
                     status (*join)(void *context, str bytes, error *err), error *err) {
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

static status make_steps(steps *s, int n, error *err) {
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

static int owner_of(const summary *all, str worker) {
    const summary_fact *f = SUMMARY_ROWS(all, fact);
    uint32_t at = SEARCH_FIRST(i, 0, SUMMARY_N(all, fact), str_cmp(f[i].name, worker) < 0);
    return at < SUMMARY_N(all, fact) && str_eq(f[at].name, worker) ? (int)f[at].value : 0;
}

/* What a comm_keeper found out about the ranges goes back to the process that read the
 * worker. */
static status return_moved(transport *t, steps *s, error *err) {
    for (uint32_t i = 0; i < SUMMARY_N(s->moved, moved); i++) {
        const summary_moved *m = &SUMMARY_ROWS(s->moved, moved)[i];
        int owner = owner_of(s->worker_order, m->worker);
        if (owner < 0 || owner >= t->size) continue;
        summary_moved *row = summary_add_moved(s->parts[owner]);
        if (!row) FAIL_MEMORY(err);
        *row = *m;
        row->worker = summary_text(s->parts[owner], m->worker);
        row->whom = summary_text(s->parts[owner], m->whom);
        if (!row->worker.p || !row->whom.p) FAIL_MEMORY(err);
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
    TRY(gather(t, s->worker_order, join_summary, err));
    TRY(tell_all(t, s->worker_order, err));
    TRY(comm_resolve_split(own, s->parts, (uint32_t)t->size, err));
    TRY(send_parts(t, s->parts, s->comms, err));
    TRY(comm_keeper_open(&k, s->worker_order, s->comms, r->arena, err));
    TRY(comm_keeper_samples(&k, s->samples, err));
    TRY(gather(t, s->samples, join_samples, err));
    if (t->rank == 0) {
        TRY(clocks_solve(s->worker_order, s->samples, r->arena, s->clocks, err));
        TRY(summary_settle(s->clocks, err));
    }
    TRY(tell_all(t, s->clocks, err));
    TRY(comm_keeper_resolve(&k, s->clocks, s->moved, s->found, err));
    summary_drop(s->comms, SUMMARY_ALL);
    TRY(return_moved(t, s, err));
    TRY(comm_owner_finish(own, s->back, r->arena, err));
    if (t->rank == 0) TRY(summary_append(own, s->clocks, SUMMARY_ALL, err));
    TRY(summary_append(own, s->found, SUMMARY_ALL, err));
    TRY(comm_resolve_trim(own, err));
    return gather(t, own, join_run, err);
}

static status run_all(reduce_run_ctx *r, uint32_t n_threads, error *err) {
    steps s = {.n = 0};
    for (uint32_t i = 0; i < n_threads; i++)
        if (!(r->own[i] = summary_new())) FAIL_MEMORY(err);
    TRY(reduce_files(r, n_threads, err));
    status st = make_steps(&s, r->o->transport->size, err);
    if (st == OK) st = resolve_together(r, r->own[0], &s, err);
    free_steps(&s);
    return st;
}

status reduce_run(const reduce_options *o, arena *a, reduce_result *out, error *err) {
    reduce_run_ctx r = {.o = o, .arena = a};
    uint32_t n_threads = o->threads > 0 ? (uint32_t)o->threads : 1;
    pthread_mutex_init(&r.lock, NULL);
    r.own = ARENA_ARRAY(a, summary *, n_threads);
    status st = r.own ? run_all(&r, n_threads, err) : ERR_MEMORY;
    *out = (reduce_result){.list = r.list};
    if (st == OK && o->transport->rank == 0) {
        out->all = r.own[0];
        r.own[0] = NULL;
    }
    for (uint32_t i = 0; i < n_threads && r.own; i++) summary_free(r.own[i]);
    pthread_mutex_destroy(&r.lock);
    return st;
}
