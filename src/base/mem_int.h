/* mem_int.h: what pages.c, mem_map.c and mem.c need of each other. */
#ifndef BASE_MEM_INT_H
#define BASE_MEM_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages from the kernel that no block uses yet: no fault point, not counted. Never given
 * back. */
void *mem_span(size_t size_bytes);
/* The content of these whole pages is not needed: they are zero when they are touched again. */
void mem_forget(void *p, size_t size_bytes);
/* Memory of the machine, or of the container. */
uint64_t mem_machine_bytes(void);
/* Is there room for them below the ceiling? If not, that counts as refused. */
bool mem_fits(size_t more_bytes);
/* Counts bytes that were mapped, or with a negative number unmapped. */
void mem_count(int64_t bytes);

/* Moves the first n bytes of a map, whole huge pages, to where nothing of a span was touched
 * yet, and unmaps the rest. False when the kernel refuses: the map is still valid, but the span
 * must not be used there. */
bool mem_move(void *p, size_t size_bytes, void *to, size_t n);

#endif
