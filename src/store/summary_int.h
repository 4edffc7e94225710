/* summary_int.h: summary.def as tables at run time, for merging and for the file. */
#ifndef STORE_SUMMARY_INT_H
#define STORE_SUMMARY_INT_H

#include "store/summary.h"

typedef enum { CELL_INT, CELL_REAL, CELL_TEXT } summary_cell;
typedef enum {
    HOW_KEY,
    HOW_SUM,
    HOW_MIN,
    HOW_MAX,
    HOW_WORST, /* a number; the next column is its HOW_WHO */
    HOW_WHO,
} summary_how;

typedef struct {
    const char *name; /* "step.start" */
    size_t offset;    /* in the row */
    int table;
    summary_cell cell;
    summary_how how;
} summary_column;

typedef struct {
    const char *name;
    size_t row_bytes;
    int first; /* column */
} summary_table;

enum {
#define VALUE(table, name, type, how) SUMMARY_COLUMN_##table##_##name,
#include "store/summary.def"
    N_SUMMARY_COLUMNS
};

extern const summary_column SUMMARY_COLUMNS[N_SUMMARY_COLUMNS];
extern const summary_table SUMMARY_TABLES[N_SUMMARIES];

/* One past the last column of a table. */
static inline int summary_end(int table) {
    return table + 1 < N_SUMMARIES ? SUMMARY_TABLES[table + 1].first : (int)N_SUMMARY_COLUMNS;
}

/* The texts of a row that was copied from elsewhere become the summary's own. */
status summary_copy_texts(summary *to, int table, char *row, error *err) MUST_USE;

#endif
