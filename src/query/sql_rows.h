/* sql_rows.h: the rows of a trace's table that fit a list of conditions, in order: binary
 * search where the columns are sorted, an index where a column is asked for again and again,
 * otherwise a scan that compares numbers, never texts. Knows nothing of SQLite. */
#ifndef QUERY_SQL_ROWS_H
#define QUERY_SQL_ROWS_H

#include "base/map.h"
#include "base/sort.h"
#include "query/sql_columns.h"

typedef enum {
    IS_EQUAL,
    IS_NOT,
    IS_LESS,
    IS_AT_MOST,
    IS_MORE,
    IS_AT_LEAST,
    IS_NULL,
    IS_NOT_NULL,
    IS_LIKE, /* of names and words, with a function that judges one text */
    IS_GLOB,
    N_CONDITIONS
} condition_op;

/* A value to compare with; of LIKE and GLOB its text is the pattern. */
typedef struct {
    enum { VALUE_IS_NULL, VALUE_IS_INT, VALUE_IS_REAL, VALUE_IS_TEXT, VALUE_IS_BLOB } type;
    int64_t i;
    double d;
    str text; /* borrowed; as the text of a number, too, for columns of texts */
} sql_value;

typedef struct {
    uint8_t column;
    condition_op op;
    sql_value value;
} condition;

/* Does the text fit the pattern of LIKE (or GLOB)? */
typedef bool (*match_fn)(void *context, condition_op op, const char *pattern, str text);

enum { MAX_CONDITIONS = 12 };

/* Rows by the value of one column. */
typedef struct {
    uint32_t n_asked;
    uint32_t *first; /* dense values: rows[first[v]] … rows[first[v + 1]] */
    uint32_t *rows;
    sort_pair *pairs; /* any values, sorted */
    size_t n;
} column_index;

typedef struct {
    const sql_table *tables;
    const trace *t;
    match_fn match;
    void *match_context;
    selection chosen; /* rows outside of it are hidden */
    bool is_cut;
    map strings;           /* hash → first string */
    uint32_t *same_hash;   /* the next string with the same hash */
    column_index *indexes; /* N_TABLES × MAX_SQL_COLUMNS */
    arena *arena;          /* of the indexes */
    uint64_t n_seen;
} row_source;

/* A condition made ready for comparing. */
typedef struct {
    const sql_column *column;
    condition_op op;
    enum { TEST_NEVER, TEST_ALWAYS, TEST_INT, TEST_REAL, TEST_SET, TEST_NULL } how;
    int64_t i;
    double d;
    uint8_t *set; /* by string id or word: 1 yes, 2 no, 0 not asked yet (LIKE) */
    str pattern;
} row_test;

/* UP and DOWN: by row; SORTED: by the values of a column, which are counted into their
 * places. */
typedef enum { ORDER_ANY, ORDER_UP, ORDER_DOWN, ORDER_SORTED, ORDER_SORTED_DOWN } row_order;

typedef struct {
    row_source *from;
    const sql_table *table;
    cell_reader cells;
    row_test tests[MAX_CONDITIONS];
    uint32_t n_tests;
    row_order order;
    uint32_t low, high;            /* rows */
    int64_t start_low, start_high; /* of slices: starts in [low, high), absolute */
    bool by_track;                 /* bounds of start are searched track by track, … */
    uint32_t all_low, all_high;    /* … between these rows */
    uint32_t track, track_end;     /* those still to come */
    bool is_narrow;                /* what is sorted has found the rows of one value */
    const uint32_t *list;          /* rows in order, instead of low … high */
    const sort_pair *pairs;        /* the same */
    size_t at, n_list;
    uint32_t row; /* 0: at the end */
    uint32_t *sorted;
} row_walk;

void rows_init(row_source *s, const sql_table *tables, const trace *t, arena *a);
void rows_fini(row_source *s);

/* Starts a walk at its first row. sorted_by: the column of ORDER_SORTED. ERR_MEMORY,
 * ERR_FORMAT. sql_walk_end in any case. */
typedef struct {
    const condition *conditions;
    uint32_t n;
    row_order order;
    uint8_t sorted_by;
} walk_plan;
status sql_walk_begin(row_walk *w, row_source *s, const sql_table *table, const walk_plan *plan,
                      error *err) MUST_USE;
void sql_walk_next(row_walk *w);
void sql_walk_end(row_walk *w);

/* Rows a plan would look at and give, as estimates for the planner; no trace is read. */
typedef struct {
    double cost, rows;
    bool one; /* at most one row */
} walk_cost;
walk_cost sql_walk_estimate(const row_source *s, const sql_table *table, const condition *c,
                            uint32_t n);
/* Can the rows come in this order without sorting? `one_track`: a condition names the track. */
bool walk_can_order(const sql_table *table, uint8_t column, bool one_track);
bool walk_can_sort(const row_source *s, const sql_table *table, uint8_t column);
/* Is this a condition that a walk tests itself? */
bool walk_can_test(const sql_table *table, uint8_t column, condition_op op);

#endif
