/* trace_int.h: making a trace, for the rest of store/ (seal fills one from the builder's
 * columns, file.c from a mapped file).
 *
 *     trace *t = trace_alloc();                            one reference, everything zero
 *     *trace_column_slot(t, COLUMN_slice_start) = p;       for every column
 *     *trace_rows_slot(t, TABLE_slice) = n;                for every table; row 0 counts
 *     trace_own_map(t, p, bytes);                          for every block given to the trace
 *     trace_finish(t);                                     last
 *
 * What a sealed trace promises, and file.c checks in files from elsewhere:
 * - every str column < n_strings, every ref_X column < X.n (track.end <= slice.n);
 * - the tracks share the slices out in order: track 1 starts at slice 1, each track at the end
 * of
 *   the one before (an empty track has first == end), the last one ends at slice.n;
 * - slice.parent < its row, frame.parent < its row; module.parent and pipe_op.parent make no
 * circle;
 * - 0 <= slice.dur < 2^62 and |slice.start| < 2^62, so that ends do not overflow;
 * - kernel, op, call, comm and module_call are strictly ascending by slice;
 * - samples ascend by track and time, those of a track do not overlap, their times are bounded
 *   as those of slices;
 * - enumerations hold known values, categories are rows of category. */
#ifndef STORE_TRACE_INT_H
#define STORE_TRACE_INT_H

#include <stdatomic.h>

#include "store/columns.h"

#define TRACE_TIME_LIMIT ((int64_t)1 << 62)

/* NULL when out of memory. */
trace *trace_alloc(void);
/* The trace gives p back with mem_unmap when the last reference goes. NULL is ignored. At most
 * TRACE_MAX_OWNED calls for a trace. */
void trace_own_map(trace *t, void *p, size_t bytes);
/* The same for what pages_take gave. */
void trace_own_pages(trace *t, void *p, size_t bytes);
/* The same for anything else: release(p, bytes) runs then. */
void trace_own(trace *t, void *p, size_t bytes, void (*release)(void *p, size_t bytes));
/* The trace shows the summary and frees it in the end. */
void trace_own_summary(trace *t, struct summary *s);
/* Fills what is counted from the columns: kind_count. */
void trace_finish(trace *t);

const void **trace_column_slot(trace *t, int i_column);
uint32_t *trace_rows_slot(trace *t, int i_table);

enum { TRACE_MAX_OWNED = N_COLUMNS + 64 };

typedef struct {
    void *p;
    size_t bytes;
    void (*release)(void *p, size_t bytes);
} owned_block;

/* What holds the memory of a trace; allocated together with it. */
struct trace_owner {
    _Atomic uint32_t n_references;
    uint32_t n_owned;
    owned_block owned[TRACE_MAX_OWNED];
    /* Set by file.c: checks the tables of the mask once; NULL for a trace made in memory. */
    status (*require)(const trace *t, uint64_t tables, error *err);
    void *file; /* file.c's own */
};

#endif
