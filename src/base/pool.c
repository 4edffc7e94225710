/* pool.c: worker threads that wait for a range of work and share it out among themselves.
 *
 * pool_for publishes a job under the mutex, raises the round and wakes everyone. Each worker,
 * and the caller as worker 0, takes the next grain of indices from an atomic counter until none
 * is left. Grains are taken in ascending order; a grain is one index as long as there are few,
 * so that heavy pieces balance, and up to 1/32 of a worker's share when there are many, so that
 * light ones do not fight over the counter. The caller returns when the last worker has put the
 * job down, therefore a job may live on the caller's stack.
 *
 * A pool that is busy (another thread uses it, or a piece of work calls pool_for itself) is not
 * an error: the second job runs in its caller alone. If the system gives fewer threads than
 * asked for, the pool is smaller. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/mem.h"

#define MAX_THREADS 1024

typedef struct {
    pool_fn fn;
    void *context;
    size_t n, grain;
    _Atomic size_t next;
} job;

typedef struct {
    pool *owner;
    int number;
    pthread_t thread;
} worker;

struct pool {
    atomic_flag busy;
    pthread_mutex_t lock; /* guards the fields down to `quit` */
    pthread_cond_t start, done;
    job *current;
    uint64_t round; /* raised for each job */
    int n_running;  /* workers that have not put the current job down */
    bool quit;
    int n_threads; /* with the caller */
    worker workers[];
};

static void work_on(job *j, int number) {
    for (;;) {
        size_t from = atomic_fetch_add_explicit(&j->next, j->grain, memory_order_relaxed);
        if (from >= j->n) return;
        size_t to = j->n - from < j->grain ? j->n : from + j->grain;
        for (size_t i = from; i < to; i++) j->fn(j->context, i, number);
    }
}

static void *run_worker(void *p) {
    worker *w = p;
    pool *o = w->owner;
    uint64_t seen = 0;
    pthread_mutex_lock(&o->lock);
    for (;;) {
        while (o->round == seen && !o->quit) pthread_cond_wait(&o->start, &o->lock);
        if (o->quit) break;
        seen = o->round;
        job *j = o->current;
        pthread_mutex_unlock(&o->lock);
        work_on(j, w->number);
        pthread_mutex_lock(&o->lock);
        if (--o->n_running == 0) pthread_cond_signal(&o->done);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

pool *pool_new(int n_threads) {
    if (n_threads < 1) n_threads = 1;
    if (n_threads > MAX_THREADS) n_threads = MAX_THREADS;
    pool *p = mem_zalloc(sizeof *p + (size_t)n_threads * sizeof(worker));
    if (!p) return NULL;
    atomic_flag_clear(&p->busy);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->done, NULL);
    p->n_threads = 1;
    for (int i = 1; i < n_threads; i++) {
        worker *w = &p->workers[i];
        *w = (worker){.owner = p, .number = i};
        if (pthread_create(&w->thread, NULL, run_worker, w) != 0) break;
        p->n_threads++;
    }
    return p;
}

void pool_free(pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i < p->n_threads; i++) pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->start);
    pthread_mutex_destroy(&p->lock);
    mem_free(p);
}

int pool_threads(const pool *p) {
    return p ? p->n_threads : 1;
}

void pool_for(pool *p, size_t n, pool_fn fn, void *context) {
    if (!p || p->n_threads == 1 || n < 2 || atomic_flag_test_and_set(&p->busy)) {
        for (size_t i = 0; i < n; i++) fn(context, i, 0);
        return;
    }
    job j = {.fn = fn, .context = context, .n = n};
    j.grain = n / ((size_t)p->n_threads * 32);
    if (j.grain == 0) j.grain = 1;
    atomic_init(&j.next, 0);
    pthread_mutex_lock(&p->lock);
    p->current = &j;
    p->round++;
    p->n_running = p->n_threads - 1;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    work_on(&j, 0);
    pthread_mutex_lock(&p->lock);
    while (p->n_running > 0) pthread_cond_wait(&p->done, &p->lock);
    p->current = NULL;
    pthread_mutex_unlock(&p->lock);
    atomic_flag_clear(&p->busy);
}

static int cpus_of_machine(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN); /* more than CPU_SETSIZE processors */
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int)n;
}

int pool_cpus(void) {
    static atomic_int known; /* 0: not looked up yet */
    int n = atomic_load_explicit(&known, memory_order_relaxed);
    if (n) return n;
    n = cpus_of_machine();
    uint64_t group = cgroup_cpus("/sys/fs/cgroup", "/proc/self/cgroup");
    if (group < (uint64_t)n) n = (int)group;
    atomic_store_explicit(&known, n, memory_order_relaxed);
    return n;
}
