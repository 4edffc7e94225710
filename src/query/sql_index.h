/* sql_index.h: rows by the value of a column, made when a value of it is asked for again. */
#ifndef QUERY_SQL_INDEX_H
#define QUERY_SQL_INDEX_H

#include "query/sql_rows.h"

/* Rows of one value, ascending; one of the two lists. Valid while the source is. */
typedef struct {
    bool is_there; /* false: no index yet, scan */
    const uint32_t *rows;
    const sort_pair *pairs;
    size_t n;
} index_rows;

/* ERR_MEMORY when the index cannot be made. */
status index_find(row_source *s, const sql_table *table, uint8_t column, int64_t value,
                  index_rows *out, error *err) MUST_USE;

#endif
