/* vec.c: growing a column by mapping more pages.
 *
 * A short column is in pages that were used before (base/pages.h) and is copied when it grows.
 * From 2 MiB on growing never copies: mremap moves page tables, not bytes, so no moment needs
 * twice the memory. Pages that were mapped but never written are not resident, which makes
 * generous steps free: the mapping starts at 64 KiB and doubles up to 64 MiB, then grows by a
 * quarter. */
#include "base/vec.h"

#include <string.h>

#include "base/pages.h"

#define FIRST_STEP ((size_t)64 << 10)
#define DOUBLING_UP_TO ((size_t)64 << 20)

status vec_reserve(vec *v, size_t n) {
    if (v->elem_bytes == 0) BUG("a vec without VEC_INIT");
    if (n <= v->cap - v->n) return OK;
    size_t total, need;
    if (__builtin_add_overflow(v->n, n, &total) ||
        __builtin_mul_overflow(total, v->elem_bytes, &need) || need > SIZE_MAX / 4)
        return ERR_MEMORY;
    size_t old = v->mapped_bytes;
    size_t size = old == 0 ? FIRST_STEP : old < DOUBLING_UP_TO ? old * 2 : old + old / 4;
    if (size < need) size = need;
    if (size > FIRST_STEP) size = (size + FIRST_STEP - 1) & ~(FIRST_STEP - 1);
    void *p = old ? pages_resize(v->p, old, size) : pages_take(size);
    if (!p) return ERR_MEMORY;
    v->p = p;
    v->mapped_bytes = size;
    v->cap = size / v->elem_bytes;
    return OK;
}

void *vec_at(vec *v, size_t i) {
    if (i >= v->n) {
        if (vec_reserve(v, i - v->n + 1) != OK) return NULL;
        memset((char *)v->p + v->n * v->elem_bytes, 0, (v->cap - v->n) * v->elem_bytes);
        v->n = v->cap;
    }
    return (char *)v->p + i * v->elem_bytes;
}

void vec_fini(vec *v) {
    if (v->mapped_bytes) pages_give(v->p, v->mapped_bytes);
    *v = (vec){.elem_bytes = v->elem_bytes};
}
