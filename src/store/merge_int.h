/* merge_int.h: what the two files of merging share. */
#ifndef STORE_MERGE_INT_H
#define STORE_MERGE_INT_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/merge.h"
#include "store/trace_int.h"

/* One input, and what its rows, strings and ids become. */
typedef struct {
    const trace *t;
    str name;
    bool helper;
    int64_t shift_ns;
    uint32_t *strings;           /* id → id */
    uint16_t *categories;        /* row → row */
    uint32_t rows[N_TABLES];     /* added to a row; row 0 stays */
    uint32_t *sorted[N_TABLES];  /* row → row, for the tables that are sorted by time */
    uint32_t n_blocks, n_shapes; /* argument blocks before its first; shapes likewise */
    int64_t correlation, external, sequence, flow; /* added to ids that are not negative */
    map devices;                                   /* number → place in device_ids + 1 */
    vec device_ids;                                /* int32_t: the new numbers */
    uint8_t types[256];                            /* device_type → device_type */
} merge_source;

typedef struct {
    trace *t;
    merge_source *in;
    uint32_t n;
    intern *strings;
    uint32_t format;                                        /* string id */
    uint32_t words[DEVICE_UNKNOWN - DEVICE_NAMED], n_words; /* string ids of named devices */
    arena scratch;
    error *err;
} merge_ctx;

/* n rows with row 0, zero, at the disposal of the result. */
status merge_table(merge_ctx *m, int table, size_t n) MUST_USE;
/* A string of the result; UINT32_MAX when out of memory. */
uint32_t merge_text(merge_ctx *m, str text);

/* Before the columns are copied: numbers of devices, distances between ids. */
status merge_plan_ids(merge_ctx *m) MUST_USE;
/* The words of devices that have no number of ours, and what each input's types become. */
void merge_types(merge_ctx *m);
status merge_device_words(merge_ctx *m) MUST_USE;
/* The new number of a device of this input. */
int32_t merge_device(const merge_source *in, int32_t id);
/* After them: numbers and names of processes. */
status merge_processes(merge_ctx *m) MUST_USE;
/* Metadata: what all inputs agree about, and who was merged. */
status merge_metas(merge_ctx *m) MUST_USE;

/* A column of the result, to be written. */
#define MERGED(m, table, column) ((void *)(uintptr_t)(m)->t->table.column)

#endif
