/* mem.c: heap blocks, and the count of what is mapped (mem_map.c; mem_map_absent.c where
 * nothing can be).
 *
 * Small things come from malloc. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/mem_int.h"

static _Atomic uint64_t mapped; /* bytes of all current maps */
static _Atomic uint64_t ceiling = UINT64_MAX, refusals;

uint64_t mem_mapped_bytes(void) {
    return atomic_load_explicit(&mapped, memory_order_relaxed);
}

void mem_set_ceiling(uint64_t bytes) {
    atomic_store_explicit(&ceiling, bytes ? bytes : UINT64_MAX, memory_order_relaxed);
}

uint64_t mem_refusals(void) {
    return atomic_load_explicit(&refusals, memory_order_relaxed);
}

bool mem_fits(size_t more_bytes) {
    uint64_t most = atomic_load_explicit(&ceiling, memory_order_relaxed);
    uint64_t now = mem_mapped_bytes();
    if (now <= most && more_bytes <= most - now) return true;
    atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    return false;
}

void *mem_alloc(size_t size_bytes) {
    if (fault_point(FAULT_ALLOC)) return NULL;
    return malloc(size_bytes ? size_bytes : 1);
}

void *mem_zalloc(size_t size_bytes) {
    if (fault_point(FAULT_ALLOC)) return NULL;
    return calloc(1, size_bytes ? size_bytes : 1);
}

void *mem_grow(void *p, size_t size_bytes) {
    if (fault_point(FAULT_ALLOC)) return NULL;
    return realloc(p, size_bytes ? size_bytes : 1);
}

void mem_free(void *p) {
    free(p);
}

void mem_count(int64_t bytes) {
    atomic_fetch_add_explicit(&mapped, (uint64_t)bytes, memory_order_relaxed);
}

uint64_t mem_usual_limit_bytes(void) {
    static _Atomic uint64_t limit; /* 0: not looked up yet */
    uint64_t known = atomic_load_explicit(&limit, memory_order_relaxed);
    if (known) return known;
    known = mem_machine_bytes() / 3;
    atomic_store_explicit(&limit, known, memory_order_relaxed);
    return known;
}
