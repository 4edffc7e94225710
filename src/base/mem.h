/* mem.h: the only door to the system's memory. Everything else uses an arena or a vec.
 * Each call is a fault point: under fault injection the n-th one fails (base/fault.h). */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* NULL when there is no memory. mem_alloc does not clear, mem_zalloc does. */
void *mem_alloc(size_t size_bytes);
void *mem_zalloc(size_t size_bytes);
void *mem_grow(void *p, size_t size_bytes); /* realloc; on NULL the old block is still valid */
void mem_free(void *p);

/* Whole pages from the kernel, zeroed, huge ones from 2 MiB on. Sizes are rounded up to a page
 * by the callee; pass the same size to mem_unmap. mem_remap may move the block and keeps its
 * content without copying. NULL on failure. */
void *mem_map(size_t size_bytes);
void *mem_remap(void *p, size_t old_bytes, size_t new_bytes);
void mem_unmap(void *p, size_t size_bytes);
/* Room for so many bytes, zeroed, in small pages; mem_enlarge asks for huge ones where a part
 * of it is about to be filled. To be given back with mem_unmap. NULL on failure. */
void *mem_reserve(size_t size_bytes);
void mem_enlarge(void *p, size_t size_bytes);
/* Bytes of all current maps, to find leaks: no sanitizer looks for a forgotten map. */
uint64_t mem_mapped_bytes(void);

/* All maps together may have so many bytes from here on; 0: as many as there are. What would be
 * more gets NULL, and is counted. */
void mem_set_ceiling(uint64_t bytes);
uint64_t mem_refusals(void);

/* The limit for traces when none is set: a third of what the machine or the container has,
 * since reading a trace briefly takes up to three times its size. Looked up once. */
uint64_t mem_usual_limit_bytes(void);

#endif
