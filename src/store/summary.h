/* summary.h: what remains of a trace when its events are gone: per step and category times,
 * tables of operators and kernels with histograms, collectives, peaks of memory, advice.
 *
 * Summaries of different workers merge: rows are appended, and settling sorts them and makes
 * one row of those with equal keys (summary.def says how). Settled summaries of the same
 * workers are the same to the byte, whatever the order and the tree in which they were merged:
 * sums are whole numbers that are never negative, everything else is a least or a greatest.
 *
 *     summary *s = summary_new();
 *     summary_step *row = summary_add_step(s);          zeroed, texts empty; NULL: no memory
 *     row->worker = summary_text(s, name);              texts live as long as the summary
 *     TRY(summary_merge(s, other, err));
 *
 * One thread at a time. */
#ifndef STORE_SUMMARY_H
#define STORE_SUMMARY_H

#include "base/buf.h"
#include "base/status.h"

typedef int64_t summary_INT;
typedef double summary_REAL;
typedef str summary_TEXT;

#define SUMMARY(table, doc) typedef struct {
#define VALUE(table, name, type, how) summary_##type name;
#define SUMMARY_END(table) \
    }                      \
    summary_##table;
#include "store/summary.def"

enum {
#define SUMMARY(table, doc) SUMMARY_##table,
#include "store/summary.def"
    N_SUMMARIES
};

typedef struct {
    char *rows;
    uint32_t n, cap;
} summary_rows;

typedef struct summary {
    summary_rows tables[N_SUMMARIES];
    struct intern *texts;
    bool settled;
} summary;

/* SUMMARY_ROWS(s, step)[i], i < SUMMARY_N(s, step). */
#define SUMMARY_ROWS(s, table) ((summary_##table *)(void *)(s)->tables[SUMMARY_##table].rows)
#define SUMMARY_N(s, table) ((s)->tables[SUMMARY_##table].n)

summary *summary_new(void); /* NULL when out of memory */
void summary_free(summary *s);
/* A copy that lives as long as the summary; {NULL, 0} when out of memory. */
str summary_text(summary *s, str text);
void *summary_add(summary *s, int table);

#define SUMMARY(table, doc)                                          \
    static inline summary_##table *summary_add_##table(summary *s) { \
        return (summary_##table *)summary_add(s, SUMMARY_##table);   \
    }
#include "store/summary.def"

/* What it takes in memory, texts left out. */
uint64_t summary_size_bytes(const summary *s);

/* Adds the rows of another, all tables or those of the mask (bit SUMMARY_x). */
#define SUMMARY_BIT(table) ((uint64_t)1 << SUMMARY_##table)
#define SUMMARY_ALL (((uint64_t)1 << N_SUMMARIES) - 1)
status summary_append(summary *to, const summary *from, uint64_t tables, error *err) MUST_USE;
/* Sorts all tables and folds rows of equal keys. */
status summary_settle(summary *s, error *err) MUST_USE;
/* Both. */
status summary_merge(summary *to, const summary *from, error *err) MUST_USE;
/* Forgets the rows of these tables. */
void summary_drop(summary *s, uint64_t tables);

/* A row `failure`: a file that could not be read, and why. */
status summary_fail_file(summary *s, str path, str reason, error *err) MUST_USE;

/* Fixed buckets for durations: eight for each power of two, the same for ever. */
uint32_t summary_bucket(int64_t ns);
/* The shortest duration of a bucket. */
int64_t summary_bucket_ns(uint32_t bucket);

/* Finer ones for the time of a worker, of which there are few: 64 for each power of two. */
uint32_t summary_fine_bucket(int64_t ns);
/* The middle of a bucket: at most 1/128 from any duration in it. */
int64_t summary_fine_bucket_ns(uint32_t bucket);

/* ---- bytes (docs/FORMAT.md, profile 3) ---- */

/* The file's bytes, appended to `out`; settles first. */
status summary_encode(summary *s, str key, buf *out, error *err) MUST_USE;
/* Reads them back; every count, text and sign is checked. `path` is for messages. */
status summary_decode(str bytes, const char *path, summary **out, error *err) MUST_USE;
/* Writes to a temporary name and renames. */
status summary_write(summary *s, const char *path, str key, error *err) MUST_USE;

#endif
