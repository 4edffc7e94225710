/* columns.h: the description of a trace's tables at run time, made from schema.def: for code
 * that walks over all columns instead of naming one. */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

#include "store/trace.h"

typedef enum {
    TYPE_I64,
    TYPE_U64,
    TYPE_F64,
    TYPE_U32,
    TYPE_I32,
    TYPE_U16,
    TYPE_U8,
    TYPE_STR,
    TYPE_REF
} cell_type;

typedef struct {
    const char *name, *table_name, *type_name; /* "start", "slice", "i64" */
    const char *doc;                           /* of schema.def */
    size_t pointer_offset;                     /* of the column's pointer in struct trace */
    uint16_t table, elem_bytes;
    uint8_t type;    /* cell_type */
    uint16_t target; /* TABLE_x of a ref_x, N_TABLES otherwise */
} column_info;

typedef struct {
    const char *name, *doc;
    size_t rows_offset; /* of n in struct trace */
    uint16_t first_column, end_column;
} table_info;

extern const column_info COLUMN_INFO[N_COLUMNS];
extern const table_info TABLE_INFO[N_TABLES];

static inline const void *trace_column(const trace *t, int i_column) {
    return *(const void *const *)((const char *)t + COLUMN_INFO[i_column].pointer_offset);
}
static inline uint32_t trace_rows(const trace *t, int i_table) {
    return *(const uint32_t *)((const char *)t + TABLE_INFO[i_table].rows_offset);
}

#endif
