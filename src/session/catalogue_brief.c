/* catalogue_brief.c: summaries of the files of the live catalogue.
 *
 * Files of a run of many workers are read side by side, each by one thread of the reader's
 * pool: they are many, and of each little remains. A summary found in the cache costs a few
 * hundred microseconds. Requests for a trace come first: all threads stop after their current
 * file.
 *
 *     none ── asked for, or one of many ──> waiting ──> making ──> ready, failed
 *                                              ^                     │
 *                                              └── the file changed ─┘  (the old one stays)
 *
 * A file that changed while it was read is summarized again when it is quiet. */
#include "session/catalogue_int.h"

#define BETWEEN_NS INT64_C(100000000)

static span_state catalogue_brief_state_of(const entry *e) {
    return (span_state)atomic_load_explicit(&e->progress.state, memory_order_relaxed);
}

/* The lock is held. */
static entry *next_brief(const live *c) {
    for (uint32_t i = 1; i < c->n_entries; i++) {
        entry *e = c->entries[i];
        if (e->present && e->brief == BRIEF_WAITING &&
            catalogue_brief_state_of(e) != SPAN_GROWING)
            return e;
    }
    return NULL;
}

bool live_has_summaries(const live *c) {
    return c->o.reduce && next_brief(c);
}

static bool is_over(void *context, uint64_t done, uint64_t total) {
    const live *c = context;
    (void)done;
    (void)total;
    return atomic_load(&c->quit);
}

static status read_summary(live *c, const entry *e, trace *known, held_trace **out,
                           error *err) {
    load_options how = {.threads = 1,
                        .no_cache = c->o.no_cache,
                        .process = e->process,
                        .memory_limit_bytes = c->o.memory_limit_bytes,
                        .progress = is_over,
                        .progress_context = c,
                        .reduce = c->o.reduce,
                        .who = {.worker = e->worker, .rank = e->rank},
                        .known = known};
    loaded_trace l = {.trace = NULL};
    held_trace *h = mem_zalloc(sizeof *h);
    if (!h) FAIL_MEMORY(err);
    atomic_init(&h->references, 1);
    status st = trace_load(e->path, &how, &l, err);
    h->trace = l.trace;
    if (st != OK) {
        held_release(h);
        return st;
    }
    h->bytes = trace_size_bytes(h->trace);
    *out = h;
    return OK;
}

/* Puts what was made into its entry; returns what is to be released. The lock is held. */
static held_trace *catalogue_brief_settle(live *c, entry *e, held_trace *h, const error *err) {
    held_trace *old = e->summary;
    if (h) {
        h->generation = ++c->generations;
        mem_free(e->brief_error);
        e->brief_error = NULL;
    } else {
        live_keep_error(&e->brief_error, err);
    }
    e->summary = h;
    return old;
}

/* Tells that there are more; at most ten times a second, unless it was the last. */
static void catalogue_brief_tell(live *c, bool last) {
    int64_t now = live_now_ns(), before = atomic_load(&c->last_summary_ns);
    if (!last && now - before < BETWEEN_NS) return;
    if (!atomic_compare_exchange_strong(&c->last_summary_ns, &before, now) && !last) return;
    live_emit(c, (live_event){.what = LIVE_SUMMARIES});
}

static void make_one(live *c, entry *e) {
    error err = {.status = OK};
    held_trace *h = NULL, *from;
    pthread_mutex_lock(&c->lock);
    int64_t mtime = e->mtime_ns;
    uint64_t size = e->size_bytes;
    /* What is held may be of an older state of the file; then its state says so. */
    from = catalogue_brief_state_of(e) == SPAN_READY ? held_retain(e->held) : NULL;
    pthread_mutex_unlock(&c->lock);
    status st = read_summary(c, e, from ? from->trace : NULL, &h, &err);
    held_release(from);
    pthread_mutex_lock(&c->lock);
    held_trace *old = st == ERR_CANCELLED ? NULL : catalogue_brief_settle(c, e, h, &err);
    bool moved = e->mtime_ns != mtime || e->size_bytes != size;
    e->brief = moved || st == ERR_CANCELLED ? BRIEF_WAITING : h ? BRIEF_READY : BRIEF_FAILED;
    c->version++;
    pthread_mutex_unlock(&c->lock);
    held_release(old);
}

static void make_some(void *context, size_t i, int thread) {
    live *c = context;
    (void)i;
    (void)thread;
    while (!atomic_load(&c->quit)) {
        pthread_mutex_lock(&c->lock);
        entry *e = live_is_asked(c) ? NULL : next_brief(c);
        if (e) e->brief = BRIEF_MAKING;
        pthread_mutex_unlock(&c->lock);
        if (!e) return;
        make_one(c, e);
        catalogue_brief_tell(c, false);
    }
}

void live_make_summaries(live *c) {
    int n = pool_threads(c->pool);
    pool_for(c->pool, (size_t)n, make_some, c);
    (void)live_make_room(c, NULL);
    catalogue_brief_tell(c, true);
}
