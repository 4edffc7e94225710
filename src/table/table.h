/* table.h: the only result type: named, typed columns with units.
 *
 * An analysis makes tables; only present/ knows how to write them. A table lives in the arena
 * it was made in; text values are borrowed from the trace or from that arena. */
#ifndef TABLE_TABLE_H
#define TABLE_TABLE_H

#include "base/arena.h"
#include "base/status.h"

typedef enum {
    TYPE_INT,
    TYPE_REAL,
    TYPE_TEXT,
    TYPE_BOOL,
    TYPE_BIG,      /* JSON string: Unix ns, addresses */
    TYPE_SENTENCE, /* words to be: present_resolve makes them a text in the reader's language */
    TYPE_VALUES,   /* the named values of a sentence: it makes them a text that is JSON */
} column_type;
typedef enum {
    UNIT_NONE,
    UNIT_NS,      /* times: shown as 12.5 ms */
    UNIT_BYTES,   /* sizes: shown as 1.5 MB */
    UNIT_SHARE,   /* 0…1: shown as 34.0 % */
    UNIT_COUNT,   /* plain whole number with thousands separators */
    UNIT_FLOPS,   /* floating-point operations */
    UNIT_FLOPS_S, /* per second */
    UNIT_BYTES_S,
    UNIT_FLOPS_B, /* operations per byte: plain real, two decimals */
    UNIT_PER_SM,  /* plain real with two decimals */
    UNIT_BY_ROW,  /* what the column `unit` of the row says: ns, bytes, share, count, … */
    UNIT_WORDS,   /* a text of one or more sentences */
    UNIT_JSON,    /* a text that is a JSON object */
    UNIT_SLICE,   /* the id of a slice, which a page can show */
} column_unit;

/* A sentence to be: message id, named values, severity. Words come from text/. */
typedef enum { SEVERITY_GOOD, SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL } severity;
/* "good", "info", "warning", "critical". */
const char *severity_name(severity s);
typedef struct {
    const char *id; /* stable: "gpu_idle_data_loader" */
    uint16_t message;
    severity severity;
    uint32_t n_args;
    arg args[MAX_ARGS];
} verdict;

typedef struct {
    const char *name; /* as in the contract: "host_total" */
    column_type type;
    column_unit unit;
    uint16_t help; /* message id of the definition, 0 = none */
    uint16_t rank; /* 1 = most important; 0 = by place, after those with a rank */
    union {
        int64_t *i; /* INT, BIG (address as bits), BOOL */
        double *d;
        str *s;
        const verdict **sentence; /* SENTENCE, VALUES; borrowed */
    } v;
    uint8_t *null; /* 1 = not recorded; NULL when no value is null */
} column;

/* How a screen shows a table: what of it when there is more than fits, and as what. */
typedef enum {
    SCREEN_ROWS,   /* the first rows */
    SCREEN_TOP,    /* columns "key": the rows with the largest keys */
    SCREEN_TREE,   /* columns "depth": names indented, whole levels from the root on */
    SCREEN_SERIES, /* columns "x y": a curve when there are more rows than shown */
    SCREEN_CHART,  /* columns "x y by": a curve for each `by`, never rows */
} screen_form;
typedef struct {
    uint16_t place; /* among the tables of a screen, from 1; 0 = not on it */
    uint16_t rows;  /* at most; 0 = as many as fit */
    screen_form form;
    const char *columns; /* separated by blanks, NULL or "" when the form needs none */
} table_screen;

typedef struct table {
    const char *name;
    uint32_t n_columns;
    column *columns;
    size_t n_rows;     /* rows held */
    size_t total_rows; /* rows there are, before limit */
    size_t cap_rows;
    arena *arena;
    table_screen screen;
} table;

/* Description of a column for table_new. */
typedef struct {
    const char *name;
    column_type type;
    column_unit unit;
    uint16_t help;
} column_spec;

/* A table without rows. NULL when out of memory. */
table *table_new(arena *a, const char *name, const column_spec *spec, uint32_t n_columns);
/* Makes room for this many rows at once, where a large table would grow by moving its
 * columns. */
status table_reserve(table *t, size_t n_rows, error *err) MUST_USE;
/* Adds a row in which every value is null; its index by *row. */
status table_add_row(table *t, size_t *row, error *err) MUST_USE;
/* Adds a row from a struct with a member for each column, in their order: int64_t (INT64_MIN is
 * null), double (NaN is), str (without bytes) or a verdict (NULL), each at a multiple of
 * TABLE_ROW_ALIGN bytes. analyse/rows.h makes them of registry.def. */
#define TABLE_ROW_ALIGN 8
status table_put_row(table *t, const void *row, size_t size, error *err) MUST_USE;
void table_set_int(table *t, size_t row, uint32_t col, int64_t v);
void table_set_real(table *t, size_t row, uint32_t col, double v); /* NaN = null */
void table_set_text(table *t, size_t row, uint32_t col, str v); /* borrowed; p == NULL = null */
void table_set_sentence(table *t, size_t row, uint32_t col, const verdict *v); /* borrowed */
bool table_is_null(const table *t, size_t row, uint32_t col);
/* Index of the named column or UINT32_MAX. */
uint32_t table_column(const table *t, str name);

/* Sorts rows by one column (nulls last), ties by the columns from the left (text by bytes);
 * stable. */
status table_sort(table *t, uint32_t col, bool descending, error *err) MUST_USE;
typedef struct {
    uint32_t column;
    bool descending;
} sort_by;
/* The same by several columns, the first counts most. Memory comes from the table's arena. */
status table_sort_by(table *t, const sort_by *keys, uint32_t n_keys, error *err) MUST_USE;
/* Keeps the rows index[0] … index[n - 1], in this order; total_rows stays. */
status table_keep(table *t, const uint32_t *index, size_t n, error *err) MUST_USE;
/* Keeps the rows in which any text column holds `needle` (ASCII case ignored). */
status table_search(table *t, str needle, error *err) MUST_USE;
/* Drops the rows whose first column is the text `key`. */
void table_drop_rows(table *t, str key);
/* Keeps the first n rows (0 = all); total_rows stays. */
void table_limit(table *t, size_t n);
/* Drops a column. */
void table_drop_column(table *t, uint32_t col);

typedef struct {
    const char *what; /* stable key */
    uint16_t message;
    int64_t linked, total;
} quality_link;

/* What an answer is based on. */
typedef struct {
    int64_t events_read;
    uint32_t n_dropped;
    struct dropped {
        const char *cause; /* "negative_duration" */
        uint16_t message;
        bool harmless; /* repaired or kept: it does not make any answer less reliable */
        int64_t count;
    } * dropped;
    uint32_t n_links;
    quality_link *links;
    uint32_t n_notes;
    verdict *notes; /* sentences */
} quality;

/* What was asked: the `trace` object of the answer. Empty texts and INT64_MIN are unknown.
 * Filled by answer_begin (analyse/analysis.h); cli clears path and start under --stable. */
typedef struct {
    str path, format, run, worker, span; /* worker: none when it is about several */
    int64_t start_unix_ns, duration_ns;
    uint32_t ranks;      /* workers the answer is based on */
    uint32_t run_ranks;  /* ranks of the run, 0 or 1 when it is not distributed */
    uint32_t run_traces; /* traces of its folder */
} answer_source;

/* The whole answer of an analysis. */
typedef struct answer {
    const char *analysis;
    answer_source source;
    uint32_t n_tables;
    table *tables[32];
    verdict verdict; /* id NULL when no rule matched */
    verdict cut;     /* said instead: the input ends before its recording; id NULL when whole */
    verdict part;    /* the part of the trace it is about; id NULL: all of it */
    verdict match;   /* how many rows a search found; id NULL: nothing was searched for */
    quality quality;
} answer;

#endif
