/* catalogue_read.c: the thread that reads files of the live catalogue, one after the other.
 *
 * Next comes what was asked for, in the order of asking; then the last span of each run's first
 * worker, so that every run can be shown soon; then summaries (catalogue_brief.c); then the
 * last spans of the others. Each file is read with all threads of one pool: two files side by
 * side would only take each other's cache.
 *
 * A file that changed while it was read is read again when it is quiet; what was read until
 * then is kept, it is the best there is. */
#include "session/catalogue_int.h"

#include "session/load.h"

#define PROGRESS_NS INT64_C(100000000)

static span_state catalogue_read_state_of(const entry *e) {
    return (span_state)atomic_load_explicit(&e->progress.state, memory_order_relaxed);
}

/* Is a to be read before b? */
static bool comes_first(const entry *a, const entry *b) {
    if ((a->asked != 0) != (b->asked != 0)) return a->asked != 0;
    if (a->asked != b->asked) return a->asked < b->asked;
    return a->main_worker && !b->main_worker;
}

/* The next file to read, 0 when there is none. The lock is held. */
static uint32_t next_entry(const live *c) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->n_entries; i++) {
        const entry *e = c->entries[i];
        if (!e->present || catalogue_read_state_of(e) != SPAN_WAITING) continue;
        if (!best || comes_first(e, c->entries[best])) best = i;
    }
    return best;
}

bool live_is_asked(const live *c) {
    uint32_t id = next_entry(c);
    return id && c->entries[id]->asked;
}

static bool catalogue_read_report(void *context, uint64_t done, uint64_t total) {
    live *c = context;
    pthread_mutex_lock(&c->lock);
    span_progress *p = &c->entries[c->loading_entry]->progress;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&p->done_bytes, done);
    if (total) atomic_store(&p->total_bytes, total);
    int64_t now = live_now_ns();
    if (now - c->last_event_ns >= PROGRESS_NS) {
        c->last_event_ns = now;
        live_emit(c, (live_event){.what = LIVE_PROGRESS, .entry = c->loading_entry});
    }
    return atomic_load(&c->quit);
}

static status read_file(live *c, const entry *e, held_trace **out, error *err) {
    load_options how = {.pool = c->pool,
                        .no_cache = c->o.no_cache,
                        .process = e->process,
                        .memory_limit_bytes = c->o.memory_limit_bytes,
                        .progress = catalogue_read_report,
                        .progress_context = c};
    loaded_trace l = {.trace = NULL};
    held_trace *h = mem_zalloc(sizeof *h);
    if (!h) FAIL_MEMORY(err);
    atomic_init(&h->references, 1);
    status s = trace_load(e->path, &how, &l, err);
    h->trace = l.trace;
    if (s == OK) s = lod_new(h->trace, c->pool, &h->lod, err);
    if (s != OK) {
        held_release(h);
        return s;
    }
    h->bytes = trace_size_bytes(h->trace) + lod_size_bytes(h->lod);
    *out = h;
    return OK;
}

/* ---- giving up --------------------------------------------------------------------------- */

/* The entry to drop first: it is not held, and it is longest unused. The lock is held. */
static entry *find_victim(const live *c, const entry *keep) {
    entry *best = NULL;
    for (uint32_t i = 1; i < c->n_entries; i++) {
        entry *e = c->entries[i];
        if (!e->held || e == keep || atomic_load(&e->held->references) > 1) continue;
        if (!best || e->used < best->used) best = e;
    }
    return best;
}

/* The same of summaries: they go when no trace can. */
static entry *find_brief_victim(const live *c) {
    entry *best = NULL;
    for (uint32_t i = 1; i < c->n_entries; i++) {
        entry *e = c->entries[i];
        if (!e->summary || e->brief != BRIEF_READY || e->brief_asked ||
            atomic_load(&e->summary->references) > 1)
            continue;
        if (!best || e->brief_used < best->brief_used) best = e;
    }
    return best;
}

static uint64_t held_bytes(const live *c) {
    uint64_t n = 0;
    for (uint32_t i = 1; i < c->n_entries; i++)
        n += (c->entries[i]->held ? c->entries[i]->held->bytes : 0) +
             (c->entries[i]->summary ? c->entries[i]->summary->bytes : 0);
    return n;
}

/* Takes one trace out so that the rest fits; NULL when it does, or when all are in use. */
static held_trace *drop_one(live *c, const entry *fresh) {
    held_trace *dropped = NULL;
    pthread_mutex_lock(&c->lock);
    if (held_bytes(c) > c->o.memory_limit_bytes) {
        bool wanted = fresh && (fresh->asked || fresh->used);
        entry *e = find_victim(c, wanted ? fresh : NULL);
        entry *b = e ? NULL : find_brief_victim(c);
        if (e) {
            dropped = e->held;
            e->held = NULL;
            atomic_store(&e->progress.state, SPAN_RESTING);
            c->version++;
        } else if (b) {
            dropped = b->summary;
            b->summary = NULL;
            b->brief = BRIEF_NONE;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return dropped;
}

/* `fresh` was just read and is dropped only when no request asked for it. */
bool live_make_room(live *c, const entry *fresh) {
    bool any = false;
    for (held_trace *h; (h = drop_one(c, fresh)) != NULL; any = true) held_release(h);
    return any;
}

void live_trim(live *c) {
    if (live_make_room(c, NULL)) live_emit(c, (live_event){.what = LIVE_CHANGED});
}

/* ---- reading ----------------------------------------------------------------------------- */

void live_keep_error(error **slot, const error *err) {
    if (!*slot) *slot = mem_zalloc(sizeof **slot);
    if (*slot) error_copy(*slot, err);
}

/* Puts what was read into its entry; returns what it held before. The lock is held. */
static held_trace *catalogue_read_settle(live *c, entry *e, held_trace *h, const error *err) {
    held_trace *old = e->held;
    e->held = h;
    if (h) {
        h->generation = ++c->generations;
        mem_free(e->error);
        e->error = NULL;
    } else {
        live_keep_error(&e->error, err);
    }
    atomic_store(&e->progress.state, h ? SPAN_READY : SPAN_FAILED);
    c->version++;
    return old;
}

static void read_entry(live *c, uint32_t id) {
    error err = {.status = OK};
    held_trace *h = NULL;
    pthread_mutex_lock(&c->lock);
    entry *e = c->entries[id];
    int64_t mtime = e->mtime_ns;
    uint64_t size = e->size_bytes;
    pthread_mutex_unlock(&c->lock);
    c->loading_entry = id;
    c->last_event_ns = 0;
    live_emit(c, (live_event){.what = LIVE_CHANGED});
    status s = read_file(c, e, &h, &err);
    if (s == ERR_CANCELLED) return;
    pthread_mutex_lock(&c->lock);
    held_trace *old = catalogue_read_settle(c, e, h, &err);
    held_trace *own = held_retain(h);
    bool renewed = h && e->read_time_ns && (e->read_time_ns != mtime || e->read_bytes != size);
    if (h) {
        e->read_time_ns = mtime;
        e->read_bytes = size;
    }
    /* Changed meanwhile: the next look finds it as it is then. */
    bool moved = e->mtime_ns != mtime || e->size_bytes != size;
    if (moved) e->mtime_ns = -1;
    pthread_mutex_unlock(&c->lock);
    if (moved) live_rescan(c);
    held_release(old);
    live_emit(c, (live_event){.what = h ? LIVE_READY : LIVE_FAILED,
                              .entry = id,
                              .held = own,
                              .renewed = renewed});
    held_release(own);
    (void)live_make_room(c, e);
    pthread_mutex_lock(&c->lock);
    e->asked = 0;
    pthread_mutex_unlock(&c->lock);
    live_emit(c, (live_event){.what = LIVE_CHANGED});
}

/* One turn; false when there is nothing to do. The lock is held, and let go meanwhile. */
static bool read_next(live *c) {
    uint32_t id = next_entry(c);
    const entry *e = id ? c->entries[id] : NULL;
    bool briefs = (!e || (!e->asked && !e->main_worker)) && live_has_summaries(c);
    if (!briefs && !id) return false;
    if (!briefs) {
        atomic_store(&c->entries[id]->progress.done_bytes, 0);
        atomic_store(&c->entries[id]->progress.state, SPAN_LOADING);
        c->version++;
    }
    pthread_mutex_unlock(&c->lock);
    if (briefs)
        live_make_summaries(c);
    else
        read_entry(c, id);
    pthread_mutex_lock(&c->lock);
    return true;
}

bool live_read(live *c) {
    pthread_mutex_lock(&c->lock);
    bool any = read_next(c);
    pthread_mutex_unlock(&c->lock);
    return any;
}

void *live_read_thread(void *context) {
    live *c = context;
    pthread_mutex_lock(&c->lock);
    while (!atomic_load(&c->quit))
        if (!read_next(c)) pthread_cond_wait(&c->work, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}
