/* memory_oom.h: the tables `oom` and `oom_contents` of the question `memory`: why an allocation
 * failed, and what held the memory then.
 *
 *   fragmentation  as much as was asked for was free, but not in one piece
 *   growth         it would have fit without what grows from step to step
 *   size           neither: the program needs more than there is */
#ifndef ANALYSE_MEMORY_OOM_H
#define ANALYSE_MEMORY_OOM_H

#include "analyse/questions/memory_growth.h"

/* The last failure, for the sentence. */
typedef struct {
    int64_t requested, unused, missing; /* bytes; ABSENT_I64: not known */
    const char *cause;                  /* NULL: nothing failed */
    str holder;                         /* line or operator that held most; empty: not known */
    int64_t holder_bytes;
} memory_failure;

status memory_write_oom(memory_view *m, const memory_parts *parts, const memory_grower *grows,
                        memory_failure *last, error *err) MUST_USE;

#endif
