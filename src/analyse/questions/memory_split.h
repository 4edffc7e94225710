/* memory_split.h: the tables `parts` and `part_contents` of the question `memory`: what the
 * peak of each device is made of, and who made it. */
#ifndef ANALYSE_MEMORY_SPLIT_H
#define ANALYSE_MEMORY_SPLIT_H

#include "analyse/memory/memory_parts.h"
#include "analyse/memory/memory_view.h"

/* What these tables read; for trace_require. */
#define MEMORY_SPLIT_TABLES                                                                   \
    (TRACE_TABLE(slice) | TRACE_TABLE(op) | TRACE_TABLE(frame) | TRACE_TABLE(memory) |        \
     TRACE_TABLE(step) | TRACE_TABLE(module) | TRACE_TABLE(module_call) | TRACE_TABLE(flow) | \
     TRACE_TABLE(kernel) | TRACE_TABLE(track) | TRACE_TABLE(sample) | TRACE_TABLE(source))

/* After memory_find_peaks. `order`: devices as a reader wants them. Sets the largest part of
 * each device's peak. */
status memory_write_parts(memory_view *m, const memory_parts *parts, const uint32_t *order,
                          const params *p, error *err) MUST_USE;

#endif
