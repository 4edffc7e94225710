/* trace_source.h: one worker's trace and where it came from: what session/ found and analyse/ is asked
 * about. */
#ifndef STORE_TRACE_SOURCE_H
#define STORE_TRACE_SOURCE_H

#include "store/trace.h"

typedef struct {
    const trace *trace;
    str worker;           /* name from the file or the metadata */
    int64_t rank;         /* ABSENT_I64 when unknown */
    str path, run, span;  /* for the answer's `trace` object */
    uint32_t run_workers; /* workers of its run, asked about or not; 0 = not known */
} trace_source;

#endif
