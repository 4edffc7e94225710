/* pages.c: base/pages.h without its heap, for bench/predictors: every block is a separate
 * mapping, which the kernel clears, and which grows without being copied. */
#include "base/pages.h"

#include "base/mem.h"

void *pages_take(size_t size_bytes) {
    return mem_map(size_bytes);
}

void *pages_take_zeroed(size_t size_bytes) {
    return mem_map(size_bytes);
}

void *pages_resize(void *p, size_t old_bytes, size_t new_bytes) {
    return mem_remap(p, old_bytes, new_bytes);
}

void pages_give(void *p, size_t size_bytes) {
    if (p) mem_unmap(p, size_bytes);
}
