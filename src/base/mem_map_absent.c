/* mem_map_absent.c: what mem_map.c does, for a machine whose memory grows and never shrinks
 * (WebAssembly).
 *
 * Blocks come from the heap of the C library: what is given back is used again. A block that
 * grows is copied. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem_int.h"

enum { PAGE_BYTES = 4096 };

/* 0 when there is no such size. */
static size_t round_up(size_t size_bytes) {
    if (size_bytes > (size_t)PTRDIFF_MAX - PAGE_BYTES) return 0;
    return size_bytes ? (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES : PAGE_BYTES;
}

void *mem_map(size_t size_bytes) {
    size_t size = round_up(size_bytes);
    if (!size || fault_point(FAULT_ALLOC) || !mem_fits(size)) return NULL;
    void *p = aligned_alloc(PAGE_BYTES, size);
    if (!p) return NULL;
    mem_count((int64_t)size);
    return memset(p, 0, size);
}

void *mem_reserve(size_t size_bytes) {
    return mem_map(size_bytes);
}

void mem_enlarge(void *p, size_t size_bytes) {
    (void)p;
    (void)size_bytes;
}

void *mem_remap(void *p, size_t old_bytes, size_t new_bytes) {
    size_t old_size = round_up(old_bytes), size = round_up(new_bytes);
    if (size == old_size && size) return p;
    void *q = mem_map(new_bytes);
    if (!q) return NULL;
    memcpy(q, p, old_size < size ? old_size : size);
    mem_unmap(p, old_bytes);
    return q;
}

void mem_unmap(void *p, size_t size_bytes) {
    if (!p) return;
    mem_count(-(int64_t)round_up(size_bytes));
    free(p);
}

/* A module of 32 bits has at most 4 GiB, of which the page of a browser gets most. */
uint64_t mem_machine_bytes(void) {
    return UINT64_C(4) << 30;
}
