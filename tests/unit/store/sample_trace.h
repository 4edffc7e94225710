/* sample_trace.h: small traces made by hand, for the tests of what reads traces. */
#ifndef TESTS_SAMPLE_TRACE_H
#define TESTS_SAMPLE_TRACE_H

#include "store/trace_int.h"

/* A trace under construction: tables are allocated zeroed, strings are added one by one. */
typedef struct {
    trace *t;
    uint32_t n_strings;
    struct {
        const char *p;
        size_t n;
    } strings[256];
    uint8_t arg_bytes[4096], *arg_at;
    uint32_t n_records;
    uint32_t shape_parent[64], shape_key[64], n_shapes;
} maker;

void maker_init(maker *m);
/* n rows with row 0, all zero but ABSENT in i64 and i32 columns. */
void maker_table(maker *m, int table, uint32_t n);
/* Id of a literal (kept by pointer). */
uint32_t maker_str(maker *m, const char *s);
uint32_t maker_shape(maker *m, uint32_t parent, const char *key);
/* Ends a record written at m->arg_at: its reference. */
uint32_t maker_record(maker *m);
/* Strings, arguments and counts in place: the trace, to be released by the caller. */
trace *maker_done(maker *m);

/* A column of the trace being made, to be filled: SET(m, slice, start)[1] = 5; */
#define SET(m, table, column) ((col_of_##table##_##column *)(uintptr_t)(m)->t->table.column)
#define COLUMN(t, c, type, doc) typedef col_##type col_of_##t##_##c;
#include "store/schema.def"

/* One step of a training run, as in the example of the trace-event notes:
 *   process 1 "python" pid 100: track 1 tid 100: slices 1 ProfilerStep#3 [10,100.5] µs,
 *     2 aten::mm [20,35.25], 3 cudaLaunchKernel [25,29]
 *   process 2 pid 0: track 2 stream 7: slice 4 sgemm [33.125,38.625], launched by 3 for 2
 *   process 3 "Spans": track 3 tid "PyTorch Profiler": slice 5 PyTorch Profiler (0) [0,120]
 * one memory event, one instant, two counter samples, one flow, a device, metadata, arguments. */
trace *sample_trace(void);

#endif
