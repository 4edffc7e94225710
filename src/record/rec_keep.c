/* rec_keep.c: see the header.
 *
 * A child has what its parent's threads had written when it was made, each up to some point: a
 * block is known by one pointer, and what is taken from it by one number, so that no such point
 * is a bad one. */
#include "record/rec_keep.h"

#include <stdint.h>
#include <sys/mman.h>

enum { BLOCK_BYTES = 256 << 10, LARGE_BYTES = 32 << 10 };

static struct block {
    size_t used;
    uint8_t bytes[BLOCK_BYTES - sizeof(size_t)];
} * block; /* rec_lock */

void *rec_pages(size_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void rec_pages_free(void *pages, size_t bytes) {
    if (pages) (void)munmap(pages, bytes);
}

void *rec_keep(size_t bytes) {
    bytes = (bytes + 7) / 8 * 8;
    if (bytes > LARGE_BYTES) return rec_pages(bytes);
    if (!block || bytes > sizeof block->bytes - block->used) {
        struct block *new = rec_pages(sizeof *new);
        if (!new) return NULL;
        __atomic_store_n(&block, new, __ATOMIC_RELEASE);
    }
    void *at = block->bytes + block->used;
    __atomic_store_n(&block->used, block->used + bytes, __ATOMIC_RELEASE);
    return at;
}
