/* catalogue.c: the live catalogue: what was seen, what is held, what is given up.
 *
 * Files are entries, numbered for ever by their path. A look through the folder compares each
 * with what was seen before: a new or changed one waits to be read once it has been quiet for
 * two seconds, or has been growing for ten (a recording: for two); one that is gone is dropped.
 * Then a new snapshot replaces the old one under the lock; requests that still hold the old one
 * keep it.
 *
 * Memory: when more is held than the limit, the entry longest unused is dropped first, unread
 * entries before those that were used; one that a request holds now would free nothing, so it
 * is skipped. Reading itself may go above for its own time.
 *
 * A file whose real path lies outside the folder is refused, unless links may be followed. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "io/remote.h"
#include "session/catalogue_int.h"
#include "session/discover_int.h"

#define QUIET_NS INT64_C(2000000000)
/* A file that never is quiet is read as it is after so long (TACHO_PATIENCE), then after twice
 * as long, …. A recording is whole at any moment (tacho/format.h), so its first numbers need no
 * patience. */
#define PATIENCE_NS INT64_C(10000000000)
#define RECORDING_PATIENCE_NS QUIET_NS
#define MOST_PATIENCE_NS INT64_C(600000000000)

const char *span_state_name(span_state s) {
    static const char *const names[N_SPAN_STATES] = {"growing", "waiting", "loading",
                                                     "ready",   "failed",  "resting"};
    return names[s];
}

int64_t live_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t live_unix_ns(void) {
    return clock_ns(CLOCK_REALTIME);
}

/* ---- counted things ---------------------------------------------------------------------- */

held_trace *held_retain(held_trace *h) {
    if (h) atomic_fetch_add_explicit(&h->references, 1, memory_order_relaxed);
    return h;
}

void held_release(held_trace *h) {
    if (!h || atomic_fetch_sub_explicit(&h->references, 1, memory_order_acq_rel) != 1) return;
    lod_free(h->lod);
    trace_release(h->trace);
    mem_free(h);
}

snapshot *snapshot_retain(snapshot *s) {
    if (s) atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
    return s;
}

void snapshot_release(snapshot *s) {
    if (!s || atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1) return;
    arena_fini(&s->arena);
    mem_free(s);
}

uint32_t snapshot_entry(const snapshot *s, const span_entry *span) {
    size_t place = (size_t)(span - s->base);
    return place < s->n_spans ? s->entries[place] : 0;
}

void live_emit(live *c, live_event e) {
    if (!c->o.event) return;
    pthread_mutex_lock(&c->events);
    c->o.event(c->o.context, &e);
    pthread_mutex_unlock(&c->events);
}

/* ---- entries ----------------------------------------------------------------------------- */

static void free_entry(entry *e) {
    held_release(e->held);
    held_release(e->summary);
    mem_free(e->error);
    mem_free(e->brief_error);
    mem_free(e->path);
    mem_free(e);
}

static entry *add_entry(live *c, str path) {
    if (c->n_entries == c->cap_entries) {
        uint32_t cap = c->cap_entries * 2 + 64;
        entry **grown = mem_grow(c->entries, cap * sizeof *grown);
        if (!grown) return NULL;
        c->entries = grown;
        c->cap_entries = cap;
    }
    entry *e = mem_zalloc(sizeof *e);
    if (!e) return NULL;
    e->path = mem_alloc(path.n + 1);
    if (!e->path) {
        mem_free(e);
        return NULL;
    }
    memcpy(e->path, path.p, path.n);
    e->path[path.n] = '\0';
    c->entries[c->n_entries++] = e;
    return e;
}

/* The number of a span's entry, made when new; 0 when out of memory. The lock is held. */
static uint32_t entry_of(live *c, const span_entry *span) {
    buf key = {0};
    buf_add_str(&key, span->path);
    if (span->process) buf_printf(&key, "#%lld", (long long)span->process);
    str text = buf_ok(&key) ? buf_str(&key) : STR_NONE;
    uint32_t id = text.p ? intern_find(c->paths, text) : UINT32_MAX;
    bool known = id != UINT32_MAX && id < c->n_entries;
    if (!known && text.p) id = intern_add(c->paths, text);
    buf_fini(&key);
    if (known) return id;
    entry *e = id == c->n_entries ? add_entry(c, span->path) : NULL;
    if (e) e->process = span->process;
    return e ? id : 0;
}

static void set_state(entry *e, span_state s) {
    atomic_store_explicit(&e->progress.state, (int)s, memory_order_relaxed);
}

static span_state catalogue_state_of(const entry *e) {
    return (span_state)atomic_load_explicit(&e->progress.state, memory_order_relaxed);
}

static status name_entry(live *c, entry *e, const worker_entry *w, error *err) {
    uint32_t id = intern_add(c->names, w->name);
    if (id == UINT32_MAX) FAIL_MEMORY(err);
    e->worker = intern_get(c->names, id);
    e->rank = w->rank;
    return OK;
}

static int64_t first_patience_ns(const live *c, const span_entry *span) {
    return str_ends(span->path, STR(".tacho")) ? RECORDING_PATIENCE_NS : c->patience_ns;
}

/* It is not being written: it is old enough, or did not change since it was looked at, which
 * says more about a file whose time is in the future (another machine's clock). A file that is
 * written all the time, such as a log of profiles that a job appends to, has to be read some
 * time, too: its complete part is shown. */
static bool is_quiet(const live *c, entry *e, const span_entry *span, bool changed) {
    int64_t now = live_now_ns();
    if (changed || !e->changed_ns) e->changed_ns = now;
    if (sub_i64(live_unix_ns(), span->mtime_ns) >= QUIET_NS ||
        now - e->changed_ns >= QUIET_NS) {
        e->growing_since_ns = 0;
        return true;
    }
    if (!e->growing_since_ns) {
        e->growing_since_ns = now;
        e->patience_ns = first_patience_ns(c, span);
    }
    if (now - e->growing_since_ns < e->patience_ns) return false;
    e->growing_since_ns = now;
    e->patience_ns = min_i64(2 * e->patience_ns, MOST_PATIENCE_NS);
    return true;
}

/* A file as it was found; tells whether anything about it is new. */
static bool update_entry(live *c, entry *e, const span_entry *span) {
    bool changed = e->size_bytes != span->size_bytes || e->mtime_ns != span->mtime_ns;
    bool known = e->mtime_ns != 0 || e->size_bytes != 0;
    bool quiet = is_quiet(c, e, span, changed);
    span_state before = catalogue_state_of(e);
    bool grows = e->growing_since_ns != 0;
    bool turned = atomic_exchange(&e->progress.grows, grows) != grows;
    e->present = true;
    if (known && !changed && before != SPAN_GROWING) return turned;
    e->size_bytes = span->size_bytes;
    e->mtime_ns = span->mtime_ns;
    atomic_store(&e->progress.total_bytes, span->size_bytes);
    if (before == SPAN_LOADING && !quiet) return turned; /* looked at again when it is read */
    if (!quiet) {
        set_state(e, SPAN_GROWING);
    } else {
        bool wanted = (e->latest && (e->main_worker || !e->of_many)) || e->asked || e->used;
        set_state(e, wanted ? SPAN_WAITING : SPAN_RESTING);
        if (e->brief != BRIEF_NONE || (e->of_many && e->latest && c->o.reduce))
            e->brief = BRIEF_WAITING;
        pthread_cond_signal(&c->work);
    }
    return before != catalogue_state_of(e) || changed || turned;
}

/* ---- a look through the folder ----------------------------------------------------------- */

/* The real path of the file is below the root. */
static bool is_inside(const live *c, const char *path) {
    char real[PATH_MAX];
    if (!c->root || c->o.follow_links) return true;
    if (!realpath(path, real)) return true; /* it is gone: reading will tell */
    size_t n = strlen(c->root);
    if (strcmp(c->root, "/") == 0) return true;
    return strncmp(real, c->root, n) == 0 && real[n] == '/';
}

typedef struct {
    live *c;
    snapshot *s;
    vec refused; /* refused_path */
} look;

/* Takes out what must not be shown, and workers and runs that have nothing left. */
static status refuse_outsiders(look *q, error *err) {
    catalogue *f = &q->s->found;
    uint32_t runs = 0;
    for (uint32_t r = 0; r < f->n_runs; r++) {
        run_entry *run = &f->runs[r];
        uint32_t workers = 0;
        for (uint32_t w = 0; w < run->n_workers; w++) {
            worker_entry *worker = &run->workers[w];
            uint32_t spans = 0;
            for (uint32_t i = 0; i < worker->n_spans; i++) {
                span_entry *span = &worker->spans[i];
                if (is_inside(q->c, span->path.p)) {
                    worker->spans[spans++] = *span;
                    continue;
                }
                refused_path *no = vec_push(&q->refused);
                if (!no) FAIL_MEMORY(err);
                *no = (refused_path){span->path, MSG_LINK_LEADS_OUT};
            }
            worker->n_spans = spans;
            if (spans) run->workers[workers++] = *worker;
        }
        run->n_workers = workers;
        roles_count(run);
        if (workers) f->runs[runs++] = *run;
    }
    f->n_runs = runs;
    return OK;
}

/* The block all spans lie in. */
static void find_block(snapshot *s) {
    const span_entry *first = NULL, *end = NULL;
    for (uint32_t r = 0; r < s->found.n_runs; r++)
        for (uint32_t w = 0; w < s->found.runs[r].n_workers; w++) {
            const worker_entry *worker = &s->found.runs[r].workers[w];
            if (!first || worker->spans < first) first = worker->spans;
            if (!end || worker->spans + worker->n_spans > end)
                end = worker->spans + worker->n_spans;
        }
    s->base = first;
    s->n_spans = first ? (uint32_t)(end - first) : 0;
}

/* Numbers all spans and compares each with what was seen. The lock is held. */
static status match_entries(look *q, bool *changed, error *err) {
    snapshot *s = q->s;
    live *c = q->c;
    for (uint32_t i = 1; i < c->n_entries; i++) c->entries[i]->present = false;
    for (uint32_t r = 0; r < s->found.n_runs; r++)
        for (uint32_t w = 0; w < s->found.runs[r].n_workers; w++) {
            const worker_entry *worker = &s->found.runs[r].workers[w];
            for (uint32_t i = 0; i < worker->n_spans; i++) {
                const span_entry *span = &worker->spans[i];
                uint32_t id = entry_of(c, span);
                if (!id) FAIL_MEMORY(err);
                s->entries[span - s->base] = id;
                entry *e = c->entries[id];
                e->latest = i + 1 == worker->n_spans;
                e->main_worker = w == 0;
                e->of_many = run_whole(&s->found.runs[r]) > LIVE_MANY_WORKERS;
                TRY(name_entry(c, e, worker, err));
                *changed |= update_entry(c, e, span);
            }
        }
    return OK;
}

static void drop_held(held_trace **from, vec *dropped) {
    held_trace **slot = *from ? vec_push(dropped) : NULL;
    if (!slot) return;
    *slot = *from;
    *from = NULL;
}

/* Drops what is gone. The lock is held; traces are given back by the caller, outside of it. */
static void drop_absent(live *c, vec *dropped, bool *changed, live_pace *pace) {
    for (uint32_t i = 1; i < c->n_entries; i++) {
        entry *e = c->entries[i];
        if (e->present) {
            if (catalogue_state_of(e) == SPAN_GROWING) *pace = PACE_GROWING;
            if (e->growing_since_ns && *pace < PACE_WRITTEN) *pace = PACE_WRITTEN;
            continue;
        }
        if (!e->held && !e->summary && e->mtime_ns == 0 && e->size_bytes == 0) continue;
        e->mtime_ns = 0;
        e->size_bytes = 0;
        *changed = true;
        if (catalogue_state_of(e) != SPAN_LOADING) set_state(e, SPAN_RESTING);
        if (e->brief != BRIEF_MAKING) e->brief = BRIEF_NONE;
        drop_held(&e->held, dropped);
        drop_held(&e->summary, dropped);
    }
}

static uint32_t count_spans(const catalogue *c) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < c->n_runs; r++)
        for (uint32_t w = 0; w < c->runs[r].n_workers; w++) n += c->runs[r].workers[w].n_spans;
    return n;
}

/* The runs of a catalogue, with their spans moved to the block at *to. */
static void move_runs(const catalogue *from, run_entry *runs, span_entry **to) {
    for (uint32_t r = 0; r < from->n_runs; r++) {
        runs[r] = from->runs[r];
        for (uint32_t w = 0; w < runs[r].n_workers; w++) {
            worker_entry *worker = &runs[r].workers[w];
            memcpy(*to, worker->spans, worker->n_spans * sizeof **to);
            worker->spans = *to;
            *to += worker->n_spans;
        }
    }
}

/* The runs of the other folder after those of the path; all spans in one block again. */
static status join_also(look *q, error *err) {
    snapshot *s = q->s;
    catalogue more = {0};
    status st = run_discover(&s->arena, q->c->also, &more, err);
    if (st == ERR_NOT_FOUND || st == ERR_IO) return OK; /* nothing there */
    TRY(st);
    uint32_t n_runs = s->found.n_runs + more.n_runs;
    run_entry *runs = ARENA_ARRAY(&s->arena, run_entry, n_runs);
    span_entry *spans =
        ARENA_ARRAY(&s->arena, span_entry, (size_t)count_spans(&s->found) + count_spans(&more));
    if (!runs || !spans) FAIL_MEMORY(err);
    move_runs(&s->found, runs, &spans);
    move_runs(&more, runs + s->found.n_runs, &spans);
    s->found.runs = runs;
    s->found.n_runs = n_runs;
    return OK;
}

static status fill_snapshot(look *q, error *err) {
    snapshot *s = q->s;
    status st = run_discover(&s->arena, q->c->path, &s->found, err);
    if (st == ERR_NOT_FOUND || (st == ERR_IO && q->c->current)) { /* empty, or gone for now */
        s->found = (catalogue){.path = str_of(q->c->path)};
        st = OK;
    }
    TRY(st);
    TRY(refuse_outsiders(q, err));
    if (q->c->also) TRY(join_also(q, err));
    find_block(s);
    s->entries = ARENA_ARRAY(&s->arena, uint32_t, (size_t)s->n_spans + 1);
    s->refused = ARENA_ARRAY(&s->arena, refused_path, q->refused.n + 1);
    if (!s->entries || !s->refused) FAIL_MEMORY(err);
    if (q->refused.n) memcpy(s->refused, q->refused.p, q->refused.n * sizeof *s->refused);
    s->n_refused = (uint32_t)q->refused.n;
    return OK;
}

/* Among the runs in one folder only the newest can still be written. */
static bool is_newest_in_folder(const catalogue *c, const run_entry *run) {
    for (uint32_t i = 0; i < c->n_runs; i++)
        if (run_is_newer(&c->runs[i], run) && str_eq(c->runs[i].path, run->path)) return false;
    return true;
}

/* Finds the runs that are being recorded; returns whether that changed. There are no recorders
 * in a remote folder. Only the watcher's thread looks. */
static bool look_for_recorders(look *q, live_pace *pace) {
    live *c = q->c;
    uint64_t seen = 0;
    for (uint32_t r = 0; r < q->s->found.n_runs && !remote_is_url(c->path); r++) {
        run_entry *run = &q->s->found.runs[r];
        recording_state now = recording_look(run->path.p, live_unix_ns());
        if (!now.n_processes || !is_newest_in_folder(&q->s->found, run)) continue;
        run->recording = now;
        uint64_t parts[] = {seen, hash_bytes64(run->path.p, run->path.n),
                            run->recording.n_processes, (uint64_t)run->recording.n_steps};
        seen = hash_bytes64(parts, sizeof parts);
        if (*pace < PACE_WRITTEN) *pace = PACE_WRITTEN;
    }
    bool is_news = seen != c->recorders_seen;
    c->recorders_seen = seen;
    return is_news;
}

static status look_once(look *q, live_pace *pace, bool *changed, error *err) {
    live *c = q->c;
    vec dropped = VEC_INIT(held_trace *);
    snapshot *old = NULL;
    TRY(fill_snapshot(q, err));
    *changed = look_for_recorders(q, pace);
    pthread_mutex_lock(&c->lock);
    status s = match_entries(q, changed, err);
    if (s == OK) {
        drop_absent(c, &dropped, changed, pace);
        *changed |= c->current == NULL || c->current->n_refused != q->s->n_refused;
        q->s->version = *changed ? ++c->version : c->version;
        old = c->current;
        c->current = q->s;
    }
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < dropped.n; i++) held_release(VEC(&dropped, held_trace *)[i]);
    vec_fini(&dropped);
    snapshot_release(old);
    return s;
}

status live_scan(live *c, live_pace *pace, error *err) {
    look q = {.c = c, .s = mem_zalloc(sizeof *q.s), .refused = VEC_INIT(refused_path)};
    bool changed = false;
    *pace = PACE_QUIET;
    if (!q.s) FAIL_MEMORY(err);
    atomic_init(&q.s->references, 1);
    arena_init(&q.s->arena, 0);
    status s = look_once(&q, pace, &changed, err);
    vec_fini(&q.refused);
    if (s != OK) snapshot_release(q.s);
    if (s == OK && changed) live_emit(c, (live_event){.what = LIVE_CHANGED});
    return s;
}

/* ---- questions --------------------------------------------------------------------------- */

snapshot *live_snapshot(live *c) {
    pthread_mutex_lock(&c->lock);
    snapshot *s = snapshot_retain(c->current);
    pthread_mutex_unlock(&c->lock);
    return s;
}

/* Its file is gone: it will not be read. */
static span_state tell_gone(const entry *e, error *err) {
    (void)error_set(err, ERR_NOT_FOUND, NOPOS, MSG_CANNOT_OPEN, 2,
                    (arg[]){arg_cstr("path", e->path), arg_cstr("reason", strerror(ENOENT))});
    return SPAN_FAILED;
}

span_state live_hold(live *c, uint32_t id, held_trace **out, error *err) {
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    entry *e = id < c->n_entries ? c->entries[id] : c->entries[0];
    span_state s = catalogue_state_of(e);
    if (e->held) { /* also while a newer state of the file is read */
        *out = held_retain(e->held);
        e->used = ++c->clock;
        s = SPAN_READY;
    } else if (s == SPAN_FAILED) {
        if (err && e->error) error_copy(err, e->error);
    } else if (!e->present && s != SPAN_LOADING) {
        s = tell_gone(e, err);
    } else {
        if (!e->asked) e->asked = ++c->clock;
        if (s == SPAN_RESTING) set_state(e, s = SPAN_WAITING);
        pthread_cond_signal(&c->work);
    }
    pthread_mutex_unlock(&c->lock);
    return s;
}

span_state live_hold_summary(live *c, uint32_t id, held_trace **out, error *err) {
    static const span_state STATES[] = {[BRIEF_NONE] = SPAN_WAITING,
                                        [BRIEF_WAITING] = SPAN_WAITING,
                                        [BRIEF_MAKING] = SPAN_LOADING,
                                        [BRIEF_READY] = SPAN_WAITING,
                                        [BRIEF_FAILED] = SPAN_FAILED};
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    entry *e = id < c->n_entries ? c->entries[id] : c->entries[0];
    span_state s = STATES[e->brief];
    if (e->summary) {
        *out = held_retain(e->summary);
        e->brief_used = ++c->clock;
        e->brief_asked = false;
        s = SPAN_READY;
    } else if (s == SPAN_FAILED) {
        if (err && e->brief_error) error_copy(err, e->brief_error);
    } else if (!e->present && s != SPAN_LOADING) {
        s = tell_gone(e, err);
    } else if (s == SPAN_WAITING) {
        e->brief = BRIEF_WAITING;
        pthread_cond_signal(&c->work);
    }
    if (!e->summary && s != SPAN_FAILED) e->brief_asked = true;
    pthread_mutex_unlock(&c->lock);
    return s;
}

const span_progress *live_progress(const live *c, uint32_t id) {
    live *m = (live *)(uintptr_t)c;
    pthread_mutex_lock(&m->lock);
    const span_progress *p = &c->entries[id < c->n_entries ? id : 0]->progress;
    pthread_mutex_unlock(&m->lock);
    return p;
}

bool live_error(live *c, uint32_t id, error *err) {
    pthread_mutex_lock(&c->lock);
    const entry *e = c->entries[id < c->n_entries ? id : 0];
    bool failed = e->error && catalogue_state_of(e) == SPAN_FAILED;
    if (failed) error_copy(err, e->error);
    pthread_mutex_unlock(&c->lock);
    return failed;
}

live_totals live_sum(live *c) {
    live_totals t = {.limit_bytes = c->o.memory_limit_bytes};
    pthread_mutex_lock(&c->lock);
    t.version = c->version;
    for (uint32_t i = 1; i < c->n_entries; i++) {
        const entry *e = c->entries[i];
        span_state s = catalogue_state_of(e);
        if (e->held) t.used_bytes += e->held->bytes;
        if (e->summary) t.used_bytes += e->summary->bytes;
        t.n_summaries += e->present && e->brief != BRIEF_NONE;
        t.n_summarised += e->present && (e->brief == BRIEF_READY || e->brief == BRIEF_FAILED);
        if (s != SPAN_GROWING && s != SPAN_WAITING && s != SPAN_LOADING) continue;
        t.total_bytes += atomic_load(&e->progress.total_bytes);
        if (s == SPAN_LOADING) t.done_bytes += atomic_load(&e->progress.done_bytes);
    }
    pthread_mutex_unlock(&c->lock);
    return t;
}

static void wake_watcher(live *c) {
    uint64_t one = 1;
    (void)!write(c->wake_fd, &one, sizeof one);
}

void live_rescan(live *c) {
    pthread_mutex_lock(&c->lock);
    c->rescan = true;
    pthread_mutex_unlock(&c->lock);
    wake_watcher(c);
}

/* ---- life -------------------------------------------------------------------------------- */

static char *copy_text(const char *s) {
    size_t n = strlen(s) + 1;
    char *p = mem_alloc(n);
    if (p) memcpy(p, s, n);
    return p;
}

static int64_t patience_ns(void) {
    const char *text = getenv("TACHO_PATIENCE");
    int64_t seconds;
    bool given = text && str_to_i64(str_of(text), &seconds) && seconds >= 0;
    return given ? min_i64(mul_i64(seconds, 1000000000), MOST_PATIENCE_NS) : PATIENCE_NS;
}

static status set_up(live *c, const live_options *o, error *err) {
    char real[PATH_MAX];
    c->o = *o;
    c->patience_ns = patience_ns();
    if (!c->o.memory_limit_bytes) c->o.memory_limit_bytes = mem_usual_limit_bytes();
    c->path = copy_text(o->path);
    c->also = o->also ? copy_text(o->also) : NULL;
    c->paths = intern_new();
    c->names = intern_new();
    c->pool = pool_new(o->threads > 0 ? o->threads : pool_cpus());
    if (!c->path || (o->also && !c->also) || !c->paths || !c->names || !c->pool ||
        !add_entry(c, STR("")))
        FAIL_MEMORY(err);
    set_state(c->entries[0], SPAN_RESTING);
    if (realpath(o->path, real)) {
        struct stat st;
        if (stat(real, &st) == 0 && S_ISDIR(st.st_mode)) c->root = copy_text(real);
    }
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->wake_fd < 0) FAIL_MEMORY(err);
    return OK;
}

status live_start(live *c, error *err) {
    c->started_reader = pthread_create(&c->reader, NULL, live_read_thread, c) == 0;
    c->started_watcher =
        c->started_reader && pthread_create(&c->watcher, NULL, live_watch_thread, c) == 0;
    if (!c->started_watcher) FAIL_MEMORY(err);
    return OK;
}

status live_look(live *c, bool *again, error *err) {
    live_pace pace = PACE_GROWING;
    status s = live_scan(c, &pace, err);
    *again = pace != PACE_QUIET;
    return s;
}

status live_open(const live_options *o, live **out, error *err) {
    live *c = mem_zalloc(sizeof *c);
    if (!c) FAIL_MEMORY(err);
    c->wake_fd = -1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->events, NULL);
    pthread_cond_init(&c->work, NULL);
    status s = set_up(c, o, err);
    live_pace pace;
    c->o.event = NULL; /* the listener has no catalogue yet */
    if (s == OK) s = live_scan(c, &pace, err);
    c->o.event = o->event;
    if (s != OK) {
        live_close(c);
        return s;
    }
    *out = c;
    return OK;
}

void live_stop(live *c) {
    if (!c) return;
    atomic_store(&c->quit, true);
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    if (c->wake_fd >= 0) wake_watcher(c);
    if (c->started_watcher) pthread_join(c->watcher, NULL);
    if (c->started_reader) pthread_join(c->reader, NULL);
    c->started_watcher = c->started_reader = false;
}

void live_close(live *c) {
    if (!c) return;
    live_stop(c);
    for (uint32_t i = 0; i < c->n_entries; i++) free_entry(c->entries[i]);
    mem_free(c->entries);
    snapshot_release(c->current);
    if (c->wake_fd >= 0) close(c->wake_fd);
    if (c->pool) pool_free(c->pool);
    if (c->paths) intern_free(c->paths);
    if (c->names) intern_free(c->names);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->events);
    mem_free(c->path);
    mem_free(c->also);
    mem_free(c->root);
    mem_free(c);
}
