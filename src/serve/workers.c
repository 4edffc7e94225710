/* workers.c: a ring of jobs after one mutex. Jobs take milliseconds, so one lock is not a
 * bottleneck. */
#include "serve/workers.h"

#include <pthread.h>
#include <time.h>

#include "base/mem.h"

typedef struct {
    job_fn fn;
    void *context;
} job;

struct workers {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t work;
    job *jobs; /* a ring */
    size_t cap, first, n;
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

static void *workers_run(void *context) {
    workers *w = context;
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        if (is_time(w)) {
            pthread_mutex_unlock(&w->lock);
            w->tick(w->context);
            pthread_mutex_lock(&w->lock);
        } else if (w->n == 0) {
            wait_for_work(w);
        } else {
            job j = w->jobs[w->first];
            w->first = (w->first + 1) % w->cap;
            w->n--;
            pthread_mutex_unlock(&w->lock);
            j.fn(j.context, false);
            pthread_mutex_lock(&w->lock);
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

workers *workers_new(int n_threads, size_t most_jobs, void (*tick)(void *), void *context) {
    pthread_condattr_t monotonic;
    workers *w = mem_zalloc(sizeof *w + (size_t)n_threads * sizeof(pthread_t));
    if (!w) return NULL;
    w->jobs = mem_alloc(most_jobs * sizeof *w->jobs);
    w->cap = most_jobs;
    w->tick = tick;
    w->context = context;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    while (w->jobs && w->n_threads < n_threads &&
           pthread_create(&w->threads[w->n_threads], NULL, workers_run, w) == 0)
        w->n_threads++;
    if (w->n_threads > 0) return w;
    workers_free(w);
    return NULL;
}

bool workers_push(workers *w, job_fn fn, void *context) {
    pthread_mutex_lock(&w->lock);
    bool room = w->n < w->cap && !w->ending;
    if (room) {
        w->jobs[(w->first + w->n++) % w->cap] = (job){fn, context};
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
    while (w->n > 0) {
        job j = w->jobs[w->first];
        w->first = (w->first + 1) % w->cap;
        w->n--;
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
    mem_free(w->jobs);
    mem_free(w);
}
