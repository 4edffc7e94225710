/* csv_cells.h: comma-separated tables in memory: rows of cells, columns found by their names.
 *
 *     csv c = csv_open(text);
 *     while (csv_next(&c)) total += … csv_cell(&c, column) …
 *     csv_fini(&c);
 *
 * Cells may be quoted (RFC 4180), blanks around a cell are not part of it, a row ends with its
 * line unless a quote is open. A missing cell is empty. Cells are valid until the next
 * csv_next. */
#ifndef INGEST_CSV_CELLS_H
#define INGEST_CSV_CELLS_H

#include "base/buf.h"
#include "base/vec.h"

typedef struct {
    str text;
    size_t at;    /* of the next row */
    uint64_t row; /* offset of the current row */
    vec cells;    /* str */
    buf unquoted; /* cells that had doubled quotes */
    bool failed;  /* out of memory: csv_next has said false */
} csv;

csv csv_open(str text);
void csv_fini(csv *c);
/* The next row that is not empty. */
bool csv_next(csv *c);
static inline size_t csv_n(const csv *c) {
    return c->cells.n;
}
/* The i-th cell of the row, empty when there are fewer. */
str csv_cell(const csv *c, size_t i);
/* Which cell of the current row (the header) is one of these names, separated by |; SIZE_MAX:
 * none. */
size_t csv_find(const csv *c, str names);

/* A decimal number times 10^scale, rounded to the nearest; exact for up to 18 digits. False
 * when it is not a number or does not fit. */
bool scaled_i64(str s, int scale, int64_t *out);

#endif
