/* counted.h: memory that counts against the limit of the question a thread works on. SQLite's
 * own is taken from here, too, so a question has one limit for all it does. */
#ifndef BASE_COUNTED_H
#define BASE_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calling thread may have so many bytes more from here on; 0: as many as there are. */
void counted_limit(uint64_t limit_bytes);
/* Was something refused because of it since then? */
bool counted_is_full(void);

/* NULL when there is none or the limit is reached. Not cleared. */
void *counted_alloc(size_t size_bytes);
void *counted_grow(void *p, size_t size_bytes);
void counted_free(void *p);
size_t counted_size(const void *p);

#endif
