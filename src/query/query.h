/* query.h: SQL over a trace, with SQLite's parser and virtual tables over the sealed columns:
 * nothing is copied or imported.
 *
 *     query *q;
 *     TRY(query_open(&input, &options, &q, err));
 *     TRY(query_ask(q, sql, arena, &answer, err));        as often as wanted
 *     query_close(q);
 *
 * Tables are those of store/schema.def (sql_columns.h says how) and the result tables of the
 * analyses. Only reading is allowed; time, memory and rows are limited. A query belongs to one
 * thread from open to close. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "analyse/analysis.h"
#include "text/text.h"

typedef struct query query;

typedef struct {
    params params;        /* window and steps of tables and analyses; the pool */
    lang words;           /* of what analyses say in sentences */
    int64_t limit_ns;     /* of one question; 0: none */
    uint64_t limit_bytes; /* of one question, its result included; 0: none */
    size_t limit_rows;    /* of a result, the rest is left out and said; 0: none */
    /* True: the client no longer waits for the answer, stop. Called occasionally; may be
     * NULL. */
    bool (*is_left)(const void *context);
    const void *context;
} query_options;

/* What a command or a request gets that says nothing else. */
#define QUERY_LIMIT_NS (INT64_C(60) * 1000000000)
#define QUERY_LIMIT_BYTES ((uint64_t)1 << 30)

/* The input is borrowed until query_close. ERR_MEMORY. */
status query_open(const analysis_input *in, const query_options *o, query **out,
                  error *err) MUST_USE;
void query_close(query *q);

/* Answers statements, each of which ends with ;, with a table `result`, `result_2`, … for each
 * that has columns; and lines of .tables, .schema [TABLE], .examples and .help, up to one of
 * .quit. Names and texts are in the arena or valid while the query is open. ERR_ARG with the
 * byte of the text where SQL is wrong, ERR_LIMIT when it takes more than it may. */
status query_ask(query *q, str text, arena *a, answer *out, error *err) MUST_USE;

bool query_is_quit(str line);
/* Is this a whole statement, or does a prompt ask for its next line? */
bool query_is_whole(str text);
/* The i-th word that a prompt may complete to (tables, their columns, functions); NULL after
 * the last. */
const char *query_word(query *q, uint32_t i);
/* Rows of trace tables that were looked at since query_open: what an index saves. */
uint64_t query_rows_seen(const query *q);

/* The i-th example: its question is a message. */
typedef struct {
    uint16_t question;
    const char *sql;
} query_example;
const query_example *query_example_at(uint32_t i);

#endif
