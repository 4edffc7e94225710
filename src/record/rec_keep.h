/* rec_keep.h: memory from the system itself.
 *
 * A child made by clone or _Fork while another thread is in malloc finds the locks of the C
 * library locked for ever. So what a child needs to record comes from here. */
#ifndef RECORD_REC_KEEP_H
#define RECORD_REC_KEEP_H

#include <stddef.h>

/* Zeroes that stay as long as the program; NULL when there are none. rec_lock. */
void *rec_keep(size_t bytes);
/* Zeroes of whole pages, and the end of them; the same number of bytes is given to both. */
void *rec_pages(size_t bytes);
void rec_pages_free(void *pages, size_t bytes);

#endif
