/* block_list.c: the buffers pieces lie in, used again and again.
 *
 *     base            data                         data + n
 *      │   headroom    │  bytes of the stream       │ pad │        one mem_map
 *
 * Touching fresh memory costs more than inflating into it (1.9 µs a page where it was
 * measured), so a block without references goes to a free list and keeps its pages. The list
 * holds as many as were ever in use at once and no more: a reader that takes pieces in waves
 * would otherwise pay for fresh pages with every wave. A block too small for a request, or far
 * too large (an event of many MiB is over), is unmapped rather than kept.
 *
 * Pieces are released by any thread, hence the lock. It does not know what the bytes mean. */
#include "base/mem.h"
#include "io/source_int.h"

void block_list_init(block_list *l) {
    *l = (block_list){0};
    pthread_mutex_init(&l->lock, NULL);
}

static void free_block(block *b) {
    mem_unmap(b->base, b->mapped_bytes);
    mem_free(b);
}

void block_list_fini(block_list *l) {
    while (l->free) {
        block *b = l->free;
        l->free = b->next;
        free_block(b);
    }
    pthread_mutex_destroy(&l->lock);
}

static block *make_block(size_t mapped_bytes) {
    block *b = mem_zalloc(sizeof *b);
    if (!b) return NULL;
    b->base = mem_map(mapped_bytes);
    if (!b->base) {
        mem_free(b);
        return NULL;
    }
    b->mapped_bytes = mapped_bytes;
    return b;
}

block *block_take(block_list *l, size_t front, size_t room) {
    size_t bytes;
    if (front < BLOCK_HEADROOM) front = BLOCK_HEADROOM;
    if (__builtin_add_overflow(front, room, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)SOURCE_PAD, &bytes))
        return NULL;
    pthread_mutex_lock(&l->lock);
    block *b = l->free;
    if (b) l->free = b->next;
    pthread_mutex_unlock(&l->lock);
    if (b && (b->mapped_bytes < bytes || b->mapped_bytes / 4 > bytes)) {
        free_block(b);
        b = NULL;
    }
    if (!b) b = make_block(bytes);
    if (!b) return NULL;
    b->next = NULL;
    b->data = b->base + front;
    b->n = 0;
    b->refs = 1;
    return b;
}

void block_hold(block_list *l, block *b) {
    pthread_mutex_lock(&l->lock);
    b->refs++;
    pthread_mutex_unlock(&l->lock);
}

void block_drop(block_list *l, block *b) {
    if (!b) return;
    pthread_mutex_lock(&l->lock);
    if (--b->refs == 0) {
        b->next = l->free;
        l->free = b;
    }
    pthread_mutex_unlock(&l->lock);
}
