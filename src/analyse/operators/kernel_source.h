/* kernel_source.h: where a compiler's kernels come from (table kernel_source). */
#ifndef ANALYSE_KERNEL_SOURCE_H
#define ANALYSE_KERNEL_SOURCE_H

#include "store/trace.h"

/* name → row, for all names of the trace; NULL when no kernel has a source. */
status kernel_sources_by_name(const trace *t, arena *a, const uint32_t **out, error *err);
/* The row of one name, 0: none. */
uint32_t kernel_source_of(const trace *t, uint32_t name);
/* "file:line", or the file where the line is not known; .p is NULL when out of memory. */
str kernel_source_place(const trace *t, uint32_t row, arena *a);

#endif
