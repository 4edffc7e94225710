/* loader.c: threads that draw images into batches, and the bounded queue between them and training.
 *
 * The queue is told to the recorder whenever its length changes: a queue that is always empty means
 * that the loader is too slow, one that is always full that training is. There are as many batches as
 * the queue is long, one more for each worker and one for the trainer; they go round in a circle. */
#include "demo/loader.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacho/tacho.h>
#include <unistd.h>

enum { QUEUE = 8, MOST_BATCHES = 128, SLOW_US = 100000 };

typedef struct {
    loader *l;
    unsigned random;
    int number;
} worker;

struct loader {
    pthread_mutex_t lock; /* guards what follows, up to n_ready */
    pthread_cond_t not_empty, not_full;
    batch *free_batches[MOST_BATCHES], *ready[MOST_BATCHES];
    int n_free, n_ready, first_ready;
    bool ends;
    bool slow;
    int n_workers, n_batches;
    pthread_t threads[64];
    worker workers[64];
    batch *all;
};

static float noise(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f - 0.5f;
}

/* A cross, a square, a stripe or a disc, somewhere near the middle. */
static bool is_inside(int class, int x, int y) {
    switch (class) {
    case 0: return abs(x) <= 1 || abs(y) <= 1;
    case 1: return abs(x) <= 4 && abs(y) <= 4 && (abs(x) >= 3 || abs(y) >= 3);
    case 2: return abs(x - y) <= 1;
    default: return x * x + y * y <= 14;
    }
}

static void draw(float *image, int class, unsigned *state) {
    int cx = SIDE / 2 + (int)(noise(state) * 4), cy = SIDE / 2 + (int)(noise(state) * 4);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            image[y * SIDE + x] =
                (is_inside(class, x - cx, y - cy) ? 0.9f : 0.0f) + 0.6f * noise(state);
}

static void make_batch(worker *w, batch *b) {
    TACHO_SCOPE("decode");
    for (int i = 0; i < BATCH; i++) {
        b->labels[i] = (int)(w->random >> 16) % CLASSES;
        draw(b->images[i], b->labels[i], &w->random);
    }
    if (w->l->slow) usleep(SLOW_US); /* a disk that is far away */
}

static void tell_queue(const loader *l) {
    tacho_queue("batches", l->n_ready, QUEUE);
}

static batch *take_free(loader *l) {
    pthread_mutex_lock(&l->lock);
    while (!l->ends && (l->n_free == 0 || l->n_ready >= QUEUE))
        pthread_cond_wait(&l->not_full, &l->lock);
    batch *b = l->ends ? NULL : l->free_batches[--l->n_free];
    pthread_mutex_unlock(&l->lock);
    return b;
}

static void put_ready(loader *l, batch *b) {
    pthread_mutex_lock(&l->lock);
    l->ready[(l->first_ready + l->n_ready++) % MOST_BATCHES] = b;
    tell_queue(l);
    pthread_cond_signal(&l->not_empty);
    pthread_mutex_unlock(&l->lock);
}

static void *run_worker(void *context) {
    worker *w = context;
    char name[32];
    snprintf(name, sizeof name, "loader %d", w->number);
    tacho_name_thread(name);
    for (batch *b; (b = take_free(w->l)) != NULL;) {
        make_batch(w, b);
        put_ready(w->l, b);
    }
    return NULL;
}

loader *loader_new(int workers, bool slow, unsigned seed) {
    loader *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->n_batches = QUEUE + workers + 1;
    l->all = calloc((size_t)l->n_batches, sizeof *l->all);
    if (!l->all) {
        free(l);
        return NULL;
    }
    l->slow = slow;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->not_empty, NULL);
    pthread_cond_init(&l->not_full, NULL);
    while (l->n_free < l->n_batches) {
        l->free_batches[l->n_free] = &l->all[l->n_free];
        l->n_free++;
    }
    tacho_pipe("generate", NULL, workers);
    tacho_pipe("batches", "generate", workers);
    for (; l->n_workers < workers; l->n_workers++) {
        worker *w = &l->workers[l->n_workers];
        *w = (worker){
            .l = l, .random = seed * 7919u + (unsigned)l->n_workers, .number = l->n_workers};
        if (pthread_create(&l->threads[l->n_workers], NULL, run_worker, w) != 0) break;
    }
    return l;
}

void loader_free(loader *l) {
    pthread_mutex_lock(&l->lock);
    l->ends = true;
    pthread_cond_broadcast(&l->not_full);
    pthread_mutex_unlock(&l->lock);
    for (int i = 0; i < l->n_workers; i++) pthread_join(l->threads[i], NULL);
    free(l->all);
    free(l);
}

void loader_warm_up(loader *l) {
    for (bool enough = false; !enough; usleep(1000)) {
        pthread_mutex_lock(&l->lock);
        enough = l->n_ready >= QUEUE / 2;
        pthread_mutex_unlock(&l->lock);
    }
}

const batch *loader_next(loader *l) {
    pthread_mutex_lock(&l->lock);
    while (l->n_ready == 0) pthread_cond_wait(&l->not_empty, &l->lock);
    batch *b = l->ready[l->first_ready];
    l->first_ready = (l->first_ready + 1) % MOST_BATCHES;
    l->n_ready--;
    tell_queue(l);
    pthread_cond_signal(&l->not_full);
    pthread_mutex_unlock(&l->lock);
    return b;
}

void loader_give_back(loader *l, const batch *b) {
    pthread_mutex_lock(&l->lock);
    l->free_batches[l->n_free++] = &l->all[b - l->all];
    pthread_cond_signal(&l->not_full);
    pthread_mutex_unlock(&l->lock);
}
