/* vec.h: a growable column of plain values. Grows by mapping more pages (no copying, no double
 * memory), so pointers into it are valid until the next call that grows it. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#include "base/status.h"

typedef struct {
    void *p;
    size_t n, cap;     /* elements */
    size_t elem_bytes; /* set by VEC_INIT */
    size_t mapped_bytes;
} vec;

#define VEC_INIT(type) ((vec){.elem_bytes = sizeof(type)})
#define VEC(v, type) ((type *)(v)->p)

/* Room for at least n more elements. ERR_MEMORY otherwise; the content is unchanged. */
status vec_reserve(vec *v, size_t n) MUST_USE;
void vec_fini(vec *v);
/* The i-th element. A column that is too short grows, v->n to all it has room for, and what is
 * new is zero. NULL when out of memory. */
void *vec_at(vec *v, size_t i);

/* Pointer to a new last element, not cleared; NULL when out of memory. */
static inline void *vec_push(vec *v) {
    if (__builtin_expect(v->n == v->cap, 0) && vec_reserve(v, 1) != OK) return NULL;
    return (char *)v->p + v->elem_bytes * v->n++;
}

#endif
