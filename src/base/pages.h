/* pages.h: blocks of whole pages that are used again and again. For arrays that live for a step
 * of work: what one step gives back the next one takes, without asking the kernel for fresh
 * pages. Those of 32 MiB and more come from mem_map. Thread safe; each call that takes is a
 * fault point. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

/* NULL when there is no memory. pages_take does not clear; the same size goes to pages_give. */
void *pages_take(size_t size_bytes);
void *pages_take_zeroed(size_t size_bytes);
/* A block of new_bytes with the content of p as far as it reaches, the rest not cleared. NULL
 * when there is no memory: then p is still valid. */
void *pages_resize(void *p, size_t old_bytes, size_t new_bytes);
/* NULL is ignored. */
void pages_give(void *p, size_t size_bytes);

#endif
