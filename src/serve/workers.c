/* workers.c: a ring of jobs of each kind after one mutex. Jobs take milliseconds and more, so
 * one lock is not a bottleneck. */
#include "serve/workers.h"

#include <pthread.h>
#include <time.h>

#include "base/mem.h"

typedef struct {
    job_fn fn;
    void *context;
} job;

typedef struct {
    job *jobs;
    size_t first, n;
    int n_running, most_running;
} ring;

struct workers {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t work;
    ring rings[N_JOB_KINDS];
    size_t cap; /* of each ring */
    bool ending;
    time_t next_tick;
    void (*tick)(void *);
    void *context;
    int n_threads;
    pthread_t threads[];
};

/* True for the one thread whose turn it is. The lock is held. */
static bool is_time(workers *w) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!w->tick || now.tv_sec < w->next_tick) return false;
    w->next_tick = now.tv_sec + 1;
    return true;
}

static void wait_for_work(workers *w) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&w->work, &w->lock, &until);
}

static job pop(workers *w, ring *r) {
    job j = r->jobs[r->first];
    r->first = (r->first + 1) % w->cap;
    r->n--;
    return j;
}

/* The ring whose first job may run now; NULL when there is none. The lock is held. */
static ring *next_ring(workers *w) {
    for (int kind = 0; kind < N_JOB_KINDS; kind++) {
        ring *r = &w->rings[kind];
        if (r->n > 0 && r->n_running < r->most_running) return r;
    }
    return NULL;
}

/* The lock is held, but not while the job runs. */
static void run_next(workers *w, ring *r) {
    job j = pop(w, r);
    r->n_running++;
    pthread_mutex_unlock(&w->lock);
    j.fn(j.context, false);
    pthread_mutex_lock(&w->lock);
    r->n_running--;
}

static void *run(void *context) {
    workers *w = context;
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        if (is_time(w)) {
            pthread_mutex_unlock(&w->lock);
            w->tick(w->context);
            pthread_mutex_lock(&w->lock);
            continue;
        }
        ring *r = next_ring(w);
        if (r)
            run_next(w, r);
        else
            wait_for_work(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

workers *workers_new(int n_threads, size_t most_jobs, void (*tick)(void *), void *context) {
    pthread_condattr_t monotonic;
    workers *w = mem_zalloc(sizeof *w + (size_t)n_threads * sizeof(pthread_t));
    if (!w) return NULL;
    w->cap = most_jobs;
    bool room = true;
    for (int kind = 0; kind < N_JOB_KINDS; kind++) {
        ring *r = &w->rings[kind];
        r->jobs = mem_alloc(most_jobs * sizeof *r->jobs);
        r->most_running = kind == JOB_SLOW && n_threads > 1 ? n_threads / 2 : n_threads;
        room &= r->jobs != NULL;
    }
    w->tick = tick;
    w->context = context;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    while (room && w->n_threads < n_threads &&
           pthread_create(&w->threads[w->n_threads], NULL, run, w) == 0)
        w->n_threads++;
    if (w->n_threads > 0) return w;
    workers_free(w);
    return NULL;
}

bool workers_push(workers *w, job_kind kind, job_fn fn, void *context) {
    ring *r = &w->rings[kind];
    pthread_mutex_lock(&w->lock);
    bool room = r->n < w->cap && !w->ending;
    if (room) {
        r->jobs[(r->first + r->n++) % w->cap] = (job){fn, context};
        pthread_cond_signal(&w->work);
    }
    pthread_mutex_unlock(&w->lock);
    return room;
}

void workers_end(workers *w) {
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (; w->n_threads > 0; w->n_threads--) pthread_join(w->threads[w->n_threads - 1], NULL);
    pthread_mutex_lock(&w->lock); /* others may still push, and are refused */
    for (int kind = 0; kind < N_JOB_KINDS; kind++)
        while (w->rings[kind].n > 0) {
            job j = pop(w, &w->rings[kind]);
            pthread_mutex_unlock(&w->lock);
            j.fn(j.context, true);
            pthread_mutex_lock(&w->lock);
        }
    pthread_mutex_unlock(&w->lock);
}

void workers_free(workers *w) {
    if (!w) return;
    workers_end(w);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
    for (int kind = 0; kind < N_JOB_KINDS; kind++) mem_free(w->rings[kind].jobs);
    mem_free(w);
}
