/* arrange.h: which tables and rows of a finished answer a reader gets, and in which order. The
 * command line and the server ask with the same words. */
#ifndef TABLE_ARRANGE_H
#define TABLE_ARRANGE_H

#include "table/table.h"

/* Empty texts and zeros: not asked. */
typedef struct {
    str table;  /* keep this table alone */
    str search; /* rows with this text, in all tables that have texts */
    /* rows a line of filter.h asks for, likewise; without `sort` the best fit first */
    str filter;
    str sort; /* "COLUMN[:asc|:desc]", several joined by commas: tables that have the first */
    size_t offset; /* rows to leave out at the beginning */
    size_t limit;  /* rows to keep after them */
} arrangement;

/* Is this an order as `sort` wants it? */
#define ARRANGE_ORDERS "COLUMN, COLUMN:asc, COLUMN:desc"
bool arrange_is_order(str sort);

/* ERR_ARG when a table or column does not exist. total_rows counts before offset and limit. */
status arrange_answer(answer *a, const arrangement *how, error *err) MUST_USE;
/* The order alone; ERR_ARG when no table has the column. */
status arrange_sort(answer *a, str wanted, error *err) MUST_USE;

#endif
