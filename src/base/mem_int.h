/* mem_int.h: what pages.c needs of mem.c. */
#ifndef BASE_MEM_INT_H
#define BASE_MEM_INT_H

#include <stddef.h>
#include <stdint.h>

/* Pages from the kernel that are nobody's yet: no fault point, not counted. Never given back. */
void *mem_span(size_t size_bytes);
/* The content of these whole pages is not needed: they are zero when they are touched again. */
void mem_forget(void *p, size_t size_bytes);
/* More (or fewer) bytes stand. */
void mem_count(int64_t bytes);

#endif
