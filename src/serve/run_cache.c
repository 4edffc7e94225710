/* run_cache.c: a handful of joined runs, the one longest unused makes room.
 *
 * One lock; it is not held while a run is made, but its slot says so, and who wants the same
 * waits. A failure frees the slot, and the next one who waits tries itself. */
#include "serve/run_cache.h"

#include <pthread.h>

#include "base/mem.h"

enum { N_SLOTS = 8 };

typedef struct {
    uint64_t key, used;
    trace *run;
    bool making;
} slot;

struct run_cache {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t done;
    slot slots[N_SLOTS];
    uint64_t clock, n_made;
};

run_cache *run_cache_new(void) {
    run_cache *j = mem_zalloc(sizeof *j);
    if (!j) return NULL;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->done, NULL);
    return j;
}

void run_cache_free(run_cache *j) {
    if (!j) return;
    for (int i = 0; i < N_SLOTS; i++) trace_release(j->slots[i].run);
    pthread_cond_destroy(&j->done);
    pthread_mutex_destroy(&j->lock);
    mem_free(j);
}

uint64_t run_cache_made(run_cache *j) {
    pthread_mutex_lock(&j->lock);
    uint64_t n = j->n_made;
    pthread_mutex_unlock(&j->lock);
    return n;
}

static status make(const run_question *q, trace **out, error *err) {
    const trace *first = q->in.traces[0].trace;
    summary *s;
    TRY(run_summary_join(&q->in, q->params, q->limit_bytes, &s, err));
    str format = summary_text(s, first->format);
    status st = q->failures ? summary_merge(s, q->failures, err) : OK;
    if (st != OK || !format.p) {
        summary_free(s);
        return st != OK ? st : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    trace *t = trace_of_summary(s);
    if (!t) FAIL_MEMORY(err);
    t->format = format;
    t->start_ns = first->start_ns;
    t->end_ns = first->end_ns;
    t->base_unix_ns = first->base_unix_ns;
    *out = t;
    return OK;
}

/* The slot of a key, or one to make it in; NULL when all are being made just now. The lock is
 * held. */
static slot *find_slot(run_cache *j, uint64_t key) {
    slot *oldest = NULL;
    for (int i = 0; i < N_SLOTS; i++) {
        slot *s = &j->slots[i];
        if (s->key == key && (s->run || s->making)) return s;
        if (!s->making && (!oldest || s->used < oldest->used)) oldest = s;
    }
    return oldest;
}

status run_cache_get(run_cache *j, const run_question *q, trace **out, error *err) {
    trace *old, *made = NULL;
    slot *s;
    pthread_mutex_lock(&j->lock);
    while (!(s = find_slot(j, q->key)) || s->making) pthread_cond_wait(&j->done, &j->lock);
    s->used = ++j->clock;
    if (s->key == q->key && s->run) {
        *out = trace_retain(s->run);
        pthread_mutex_unlock(&j->lock);
        return OK;
    }
    old = s->run;
    *s = (slot){.key = q->key, .used = j->clock, .making = true};
    pthread_mutex_unlock(&j->lock);
    trace_release(old);
    status st = make(q, &made, err);
    pthread_mutex_lock(&j->lock);
    s->making = false;
    s->run = trace_retain(made); /* or NULL */
    j->n_made += st == OK;
    pthread_cond_broadcast(&j->done);
    pthread_mutex_unlock(&j->lock);
    *out = made;
    return st;
}
