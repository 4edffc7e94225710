/* read_ahead.c: a thread that fills the next blocks while the reader works on the last.
 *
 * Inflating and parsing each take about as long, so side by side they take as long as the
 * slower one. The queue is short (three blocks): it only has to cover the jitter between the
 * two, and a long one would push the text out of the cache before it is parsed.
 *
 * One mutex guards queue, end and failure; the stream and its reader belong to the thread
 * alone. A block changes hands through the queue, which orders the thread's writes before the
 * reader's reads. The end, its damage and a failure are seen only after every block before them
 * was taken. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/source_int.h"

#define QUEUE_BLOCKS 3

struct read_ahead {
    stream *from;
    reader *in;
    block_list *blocks;
    size_t room, next_room; /* of a block; of the one filled next */
    pthread_t thread;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t filled, emptied;
    block *queue[QUEUE_BLOCKS];
    unsigned head, n;
    bool ended, stop;
    uint16_t damage;
    status failed;
    error why;
};

/* Puts a block into the queue; false when the source is being closed. */
static bool put_block(read_ahead *a, block *b) {
    pthread_mutex_lock(&a->lock);
    while (a->n == QUEUE_BLOCKS && !a->stop) pthread_cond_wait(&a->emptied, &a->lock);
    bool go_on = !a->stop;
    if (go_on) {
        a->queue[(a->head + a->n++) % QUEUE_BLOCKS] = b;
        pthread_cond_signal(&a->filled);
    }
    pthread_mutex_unlock(&a->lock);
    if (!go_on) block_drop(a->blocks, b);
    return go_on;
}

static void tell_end(read_ahead *a, status st, const error *why) {
    pthread_mutex_lock(&a->lock);
    a->ended = true;
    a->damage = a->from->damage;
    a->failed = st;
    if (st != OK) {
        /* Through error_set: text values must point into the copy, not into the original. */
        (void)error_set(&a->why, why->status, why->offset, why->message, why->n_args,
                        why->args);
    }
    pthread_cond_signal(&a->filled);
    pthread_mutex_unlock(&a->lock);
}

/* Fills one block and queues it; false when it was the last. */
static bool fill_one(read_ahead *a) {
    error why = {0};
    size_t n = 0, room = a->next_room;
    block *b = block_take(a->blocks, BLOCK_HEADROOM, room);
    a->next_room = a->room;
    status st = b ? a->from->fill(a->from, b->data, room, &n, &why)
                  : error_set(&why, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st != OK || n == 0) {
        block_drop(a->blocks, b);
        tell_end(a, st, &why);
        return false;
    }
    b->n = n;
    if (!put_block(a, b)) return false;
    if (n == room) return true;
    tell_end(a, OK, NULL);
    return false;
}

static void *run_thread(void *context) {
    while (fill_one(context)) {}
    return NULL;
}

read_ahead *read_ahead_start(stream *st, reader *r, block_list *blocks, size_t room,
                             size_t first_room) {
    read_ahead *a = mem_zalloc(sizeof *a);
    if (!a) return NULL;
    a->from = st;
    a->in = r;
    a->blocks = blocks;
    a->room = room;
    a->next_room = first_room;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->filled, NULL);
    pthread_cond_init(&a->emptied, NULL);
    if (r->fd >= 0) r->wake_fd = eventfd(0, EFD_CLOEXEC);
    bool ready = r->fd < 0 || r->wake_fd >= 0;
    if (ready && pthread_create(&a->thread, NULL, run_thread, a) == 0) return a;
    if (r->wake_fd >= 0) close(r->wake_fd);
    r->wake_fd = -1;
    pthread_cond_destroy(&a->emptied);
    pthread_cond_destroy(&a->filled);
    pthread_mutex_destroy(&a->lock);
    mem_free(a);
    return NULL;
}

status read_ahead_next(read_ahead *a, block **out, uint16_t *damage, error *err) {
    status st = OK;
    block *b = NULL;
    pthread_mutex_lock(&a->lock);
    while (a->n == 0 && !a->ended) pthread_cond_wait(&a->filled, &a->lock);
    if (a->n > 0) {
        b = a->queue[a->head];
        a->head = (a->head + 1) % QUEUE_BLOCKS;
        a->n--;
        pthread_cond_signal(&a->emptied);
    } else {
        st = a->failed;
        *damage = a->damage;
    }
    pthread_mutex_unlock(&a->lock);
    /* `why` is not written any more once `ended` was seen. */
    if (st != OK)
        return error_set(err, st, a->why.offset, a->why.message, a->why.n_args, a->why.args);
    *out = b;
    return OK;
}

void read_ahead_stop(read_ahead *a) {
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->emptied);
    pthread_mutex_unlock(&a->lock);
    if (a->in->remote) remote_stop(a->in->remote);
    if (a->in->wake_fd >= 0) {
        uint64_t one = 1;
        ssize_t written = write(a->in->wake_fd, &one, sizeof one);
        (void)written; /* an eventfd at 0 takes it */
    }
    pthread_join(a->thread, NULL);
    if (a->in->wake_fd >= 0) close(a->in->wake_fd);
    a->in->wake_fd = -1;
    for (; a->n > 0; a->n--, a->head = (a->head + 1) % QUEUE_BLOCKS)
        block_drop(a->blocks, a->queue[a->head]);
    pthread_cond_destroy(&a->emptied);
    pthread_cond_destroy(&a->filled);
    pthread_mutex_destroy(&a->lock);
    mem_free(a);
}
