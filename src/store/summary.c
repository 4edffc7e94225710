/* summary.c: rows of summaries, and how they merge.
 *
 * All tables are described by summary.def: what a row is made of and how rows of equal keys
 * become one. Nothing here knows a single table. Appending copies rows, with the texts into the
 * summary's own interner; settling sorts an index by the key columns and folds neighbors. The
 * folds are commutative and associative (sums of numbers that are not negative stop at the
 * largest number, whatever the order), and the order of keys is total: so the result depends on
 * the rows alone. */
#include "store/summary.h"

#include <stddef.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/schema.h"
#include "store/summary_int.h"

const summary_column SUMMARY_COLUMNS[N_SUMMARY_COLUMNS] = {
#define VALUE(table, name, type, how)                                                 \
    {#table "." #name, offsetof(summary_##table, name), SUMMARY_##table, CELL_##type, \
     HOW_##how},
#include "store/summary.def"
};

enum {
#define SUMMARY(table, doc) FIRST_##table,
#define VALUE(table, name, type, how) PLACE_##table##_##name,
#include "store/summary.def"
};

const summary_table SUMMARY_TABLES[N_SUMMARIES] = {
/* FIRST_x counts the tables before it, too. */
#define SUMMARY(table, doc) \
    [SUMMARY_##             \
        table] = {#table, sizeof(summary_##table), (int)FIRST_##table - (int)SUMMARY_##table},
#include "store/summary.def"
};

summary *summary_new(void) {
    summary *s = mem_zalloc(sizeof *s);
    intern *texts = s ? intern_new() : NULL;
    if (!texts) {
        mem_free(s);
        return NULL;
    }
    s->texts = texts;
    return s;
}

void summary_free(summary *s) {
    if (!s) return;
    for (int i = 0; i < N_SUMMARIES; i++) mem_free(s->tables[i].rows);
    intern_free(s->texts);
    mem_free(s);
}

str summary_text(summary *s, str text) {
    uint32_t id = intern_add(s->texts, text);
    if (id == UINT32_MAX) return STR_NONE;
    str t = intern_get(s->texts, id);
    return t.p ? t : STR("");
}

static status make_room(summary *s, int table, size_t more, error *err) {
    summary_rows *r = &s->tables[table];
    size_t want = (size_t)r->n + more, cap = r->cap ? r->cap : 16;
    if (want <= r->cap) return OK;
    while (cap < want) cap *= 2;
    if (cap > UINT32_MAX / 2) FAIL_MEMORY(err);
    char *rows = mem_grow(r->rows, cap * SUMMARY_TABLES[table].row_bytes);
    if (!rows) FAIL_MEMORY(err);
    r->rows = rows;
    r->cap = (uint32_t)cap;
    return OK;
}

void *summary_add(summary *s, int table) {
    size_t bytes = SUMMARY_TABLES[table].row_bytes;
    if (make_room(s, table, 1, NULL) != OK) return NULL;
    char *row = s->tables[table].rows + bytes * s->tables[table].n++;
    memset(row, 0, bytes);
    for (int c = SUMMARY_TABLES[table].first; c < summary_end(table); c++)
        if (SUMMARY_COLUMNS[c].cell == CELL_TEXT)
            *(str *)(void *)(row + SUMMARY_COLUMNS[c].offset) = STR("");
    s->settled = false;
    return row;
}

void summary_drop(summary *s, uint64_t tables) {
    for (int i = 0; i < N_SUMMARIES; i++)
        if (tables >> i & 1) s->tables[i].n = 0;
}

uint64_t summary_size_bytes(const summary *s) {
    uint64_t n = sizeof *s;
    for (int i = 0; i < N_SUMMARIES; i++)
        n += (uint64_t)s->tables[i].cap * SUMMARY_TABLES[i].row_bytes;
    return n;
}

/* ---- merging ----------------------------------------------------------------------------- */

status summary_copy_texts(summary *to, int table, char *row, error *err) {
    for (int c = SUMMARY_TABLES[table].first; c < summary_end(table); c++) {
        if (SUMMARY_COLUMNS[c].cell != CELL_TEXT) continue;
        str *text = (str *)(void *)(row + SUMMARY_COLUMNS[c].offset);
        *text = summary_text(to, *text);
        if (!text->p) FAIL_MEMORY(err);
    }
    return OK;
}

status summary_append(summary *to, const summary *from, uint64_t tables, error *err) {
    for (int i = 0; i < N_SUMMARIES; i++) {
        const summary_rows *r = &from->tables[i];
        size_t bytes = SUMMARY_TABLES[i].row_bytes;
        if (!(tables >> i & 1) || !r->n) continue;
        TRY(make_room(to, i, r->n, err));
        for (uint32_t k = 0; k < r->n; k++) {
            char *row = to->tables[i].rows + bytes * to->tables[i].n;
            memcpy(row, r->rows + bytes * k, bytes);
            TRY(summary_copy_texts(to, i, row, err));
            to->tables[i].n++;
        }
        to->settled = false;
    }
    return OK;
}

static int compare_cells(const summary_column *c, const char *a, const char *b) {
    const void *x = a + c->offset, *y = b + c->offset;
    if (c->cell == CELL_TEXT) {
        const str *s = x, *t = y;
        /* One interner: equal texts lie in the same place. */
        return s->p == t->p && s->n == t->n ? 0 : str_cmp(*s, *t);
    }
    if (c->cell == CELL_REAL) return memcmp(x, y, sizeof(double));
    int64_t v, w;
    memcpy(&v, x, sizeof v);
    memcpy(&w, y, sizeof w);
    return (v > w) - (v < w);
}

static int compare_rows(int table, const char *a, const char *b) {
    for (int c = SUMMARY_TABLES[table].first; c < summary_end(table); c++) {
        const summary_column *column = &SUMMARY_COLUMNS[c];
        int order = column->how == HOW_KEY ? compare_cells(column, a, b) : 0;
        if (order) return order;
    }
    return 0;
}

static int64_t fold_numbers(summary_how how, int64_t a, int64_t b) {
    if (a == ABSENT_I64) return b;
    if (b == ABSENT_I64) return a;
    if (how == HOW_SUM) return add_i64(a, b);
    return how == HOW_MIN ? min_i64(a, b) : max_i64(a, b);
}

/* The texts after a WORST; the last column of a table is followed by another's. */
static int compare_who(const summary_column *worst, const char *a, const char *b) {
    const summary_column *end = SUMMARY_COLUMNS + N_SUMMARY_COLUMNS;
    for (const summary_column *c = worst + 1; c < end && c->how == HOW_WHO; c++) {
        int order = compare_cells(c, a, b);
        if (order) return order;
    }
    return 0;
}

/* Of two rows that are one, the second goes into the first. */
static void fold_row(int table, char *into, const char *from) {
    bool takes = false; /* the WHO of the WORST before it */
    for (int c = SUMMARY_TABLES[table].first; c < summary_end(table); c++) {
        const summary_column *column = &SUMMARY_COLUMNS[c];
        void *x = into + column->offset;
        const void *y = from + column->offset;
        if (column->how == HOW_WHO && takes) memcpy(x, y, sizeof(str));
        if (column->how == HOW_KEY || column->how == HOW_WHO) continue;
        int64_t a, b;
        memcpy(&a, x, sizeof a);
        memcpy(&b, y, sizeof b);
        if (column->how == HOW_WORST) {
            takes = b > a || (a == b && compare_who(column, from, into) < 0);
        }
        a = fold_numbers(column->how, a, b);
        memcpy(x, &a, sizeof a);
    }
}

typedef struct {
    const summary_rows *rows;
    int table;
} summary_sort_ctx;

static int compare_index(uint32_t a, uint32_t b, const void *context) {
    const summary_sort_ctx *s = context;
    size_t bytes = SUMMARY_TABLES[s->table].row_bytes;
    return compare_rows(s->table, s->rows->rows + bytes * a, s->rows->rows + bytes * b);
}

/* Strictly ascending already? */
static bool is_settled(const summary_sort_ctx *s) {
    for (uint32_t i = 1; i < s->rows->n; i++)
        if (compare_index(i - 1, i, s) >= 0) return false;
    return true;
}

static status settle_table(summary *s, int table, error *err) {
    summary_rows *r = &s->tables[table];
    summary_sort_ctx how = {r, table};
    size_t bytes = SUMMARY_TABLES[table].row_bytes;
    if (r->n < 2 || is_settled(&how)) return OK;
    uint32_t *index = mem_alloc(2 * (size_t)r->n * sizeof *index);
    char *rows = mem_alloc(r->cap * bytes);
    if (!index || !rows) {
        mem_free(index);
        mem_free(rows);
        FAIL_MEMORY(err);
    }
    for (uint32_t i = 0; i < r->n; i++) index[i] = i;
    sort_index(index, index + r->n, r->n, compare_index, &how);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const char *row = r->rows + bytes * index[i];
        if (n && compare_rows(table, rows + bytes * (n - 1), row) == 0)
            fold_row(table, rows + bytes * (n - 1), row);
        else
            memcpy(rows + bytes * n++, row, bytes);
    }
    mem_free(index);
    mem_free(r->rows);
    r->rows = rows;
    r->n = n;
    return OK;
}

status summary_settle(summary *s, error *err) {
    if (s->settled) return OK;
    for (int i = 0; i < N_SUMMARIES; i++) TRY(settle_table(s, i, err));
    s->settled = true;
    return OK;
}

status summary_merge(summary *to, const summary *from, error *err) {
    TRY(summary_append(to, from, SUMMARY_ALL, err));
    return summary_settle(to, err);
}

status summary_fail_file(summary *s, str path, str reason, error *err) {
    summary_failure *f = summary_add_failure(s);
    if (!f) FAIL_MEMORY(err);
    f->path = summary_text(s, path);
    f->reason = summary_text(s, reason);
    if (!f->path.p || !f->reason.p) FAIL_MEMORY(err);
    return OK;
}

/* ---- histograms -------------------------------------------------------------------------- */

/* 0 … 15 ns have a bucket each, then eight for each power of two. */
uint32_t summary_bucket(int64_t ns) {
    if (ns < 16) return ns > 0 ? (uint32_t)ns : 0;
    uint32_t power = 63 - (uint32_t)__builtin_clzll((uint64_t)ns);
    return 16 + (power - 4) * 8 + (uint32_t)((uint64_t)ns >> (power - 3) & 7);
}

int64_t summary_bucket_ns(uint32_t bucket) {
    if (bucket < 16) return bucket;
    uint32_t power = 4 + (bucket - 16) / 8;
    if (power > 62) return INT64_MAX;
    return (int64_t)((uint64_t)(8 + (bucket - 16) % 8) << (power - 3));
}

/* 0 … 127 ns have a bucket each, then 64 for each power of two. */
uint32_t summary_fine_bucket(int64_t ns) {
    if (ns < 128) return ns > 0 ? (uint32_t)ns : 0;
    uint32_t power = 63 - (uint32_t)__builtin_clzll((uint64_t)ns);
    return 128 + (power - 7) * 64 + (uint32_t)((uint64_t)ns >> (power - 6) & 63);
}

int64_t summary_fine_bucket_ns(uint32_t bucket) {
    if (bucket < 128) return bucket;
    uint32_t power = 7 + (bucket - 128) / 64;
    if (power > 62) return INT64_MAX;
    uint64_t width = (uint64_t)1 << (power - 6);
    return (int64_t)((64 + (bucket - 128) % 64) * width + width / 2);
}
