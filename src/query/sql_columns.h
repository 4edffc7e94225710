/* sql_columns.h: the tables and columns of a trace as SQL shows them, made from the description
 * of store/schema.def; nothing is typed by hand but the rules:
 *
 *   id          every table has it: the row. A producer's own `id` is called `number`.
 *   references  are ids of another table, NULL for none. A reference x has a hidden column
 *               x_name where its target has names.
 *   words       what the schema calls an enumeration is its word: kind = 'kernel'.
 *   times       positions count from the start of the trace, as in every answer; in ns.
 *   slices      a table that extends slices has name, start, dur, end, track, step and kind of
 *               its slice.
 *   args        the JSON text of the arguments, hidden.
 * The SQL words from, to and group get an ending: from_id, to_id, group_id, comm_group. */
#ifndef QUERY_SQL_COLUMNS_H
#define QUERY_SQL_COLUMNS_H

#include "analyse/select.h"
#include "store/columns.h"
#include "table/table.h"

typedef enum {
    CELL_INT,
    CELL_REAL,
    CELL_NAME, /* id of a string */
    CELL_WORD, /* number of an enumeration */
    CELL_ARGS  /* argument record */
} cell_kind;

/* How the cell is found: first hops from row to row, then what is read there. */
enum {
    HOP_TRACK = -2,
    READ_ROW = -3,
    READ_END = -4,
    READ_STEP = -5,
    READ_STEP_DUR = -6,
    MAX_HOPS = 3
};

/* The word of an enumeration's number; {NULL, 0} when there is none. */
typedef str (*word_fn)(const trace *t, uint32_t number);

typedef struct {
    const char *name;
    cell_kind kind;
    column_unit unit;
    bool hidden, is_time, zero_is_null, is_big;
    uint8_t n_hops;
    int16_t hops[MAX_HOPS]; /* COLUMN_x of a reference, or HOP_TRACK */
    int16_t read;           /* COLUMN_x or READ_x */
    uint16_t target;        /* TABLE_x whose row an INT is; N_TABLES otherwise */
    word_fn word;
} sql_column;

enum { MAX_SQL_COLUMNS = 48, NO_SQL_COLUMN = 255, MAX_WORDS = 256 };

typedef struct {
    const char *name;
    uint16_t table; /* TABLE_x */
    uint16_t n;
    uint8_t by; /* column that ascends with the rows besides id; NO_SQL_COLUMN */
    uint8_t slice, start, track, parent, time; /* columns of these names, NO_SQL_COLUMN */
    uint64_t needs;                            /* for trace_require */
    sql_column columns[MAX_SQL_COLUMNS];
} sql_table;

/* All of them, in the order of the schema; names are in the arena. ERR_MEMORY. */
status sql_tables_fill(sql_table tables[N_TABLES], arena *a, error *err) MUST_USE;

/* Reads cells of one trace; keeps what neighbors share. */
typedef struct {
    const trace *t;
    uint32_t track; /* of the last slice that was asked about */
} cell_reader;

/* The value as a number (a name's string id, a word's number, a record); ABSENT_I64 for NULL.
 * Not for REAL. */
int64_t cell_int(cell_reader *r, const sql_column *c, uint32_t row);
/* NaN for NULL. */
double cell_real(cell_reader *r, const sql_column *c, uint32_t row);
/* Numbers that cell_int gives are below this; 0: any number. */
uint32_t cell_range(const trace *t, const sql_column *c);

/* The words of an enumeration by its name in schema.h; NULL when it is not one. */
word_fn sql_words(str enumeration);

#endif
