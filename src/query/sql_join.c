/* sql_join.c: span_join(a, b [, partition]): the pairs of intervals of a and b that overlap,
 * with the time they share.
 *
 *     SELECT sum(dur) FROM span_join('kernel', 'SELECT id, start, dur FROM step')
 *     SELECT * FROM span_join('slice', 'slice', 'track') WHERE a_id <> b_id
 *
 * a and b are the names of tables or the texts of queries, with columns start and dur, an id if
 * pairs are to be distinguished, and the partition's column: then both must have the same
 * value.
 *
 * Both lists are sorted by partition and start. For each a, the b that may overlap it begin at
 * the first whose end, or that of one before it, is after a's start (the ends so far ascend),
 * and stop at the first that starts at or after a's end. */
#include <stdlib.h>

#include "base/bisect.h"
#include "base/counted.h"
#include "base/message_ids_query.h"
#include "query/sqlite_int.h"

enum { COLUMN_START, COLUMN_DUR, COLUMN_A, COLUMN_B, COLUMN_PARTITION, COLUMN_FIRST_ARGUMENT };
enum { N_ARGUMENTS = 3, MOST_SPANS = 1 << 28 };

typedef struct {
    int64_t partition, start, end, id;
    int64_t ends_so_far; /* the latest end up to here, of the partition */
} span;

typedef struct {
    span *v;
    size_t n, cap;
} span_list;

typedef struct {
    sqlite3_vtab base;
    query *q;
} join_vtab;

typedef struct {
    sqlite3_vtab_cursor base;
    span_list a, b;
    size_t i, k;
    sqlite3_int64 row;
} join_cursor;

/* ---- the lists --------------------------------------------------------------------------- */

static int compare_spans(const void *x, const void *y) {
    const span *a = x, *b = y;
    if (a->partition != b->partition) return a->partition < b->partition ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void finish_list(span_list *l) {
    bool sorted = true;
    for (size_t i = 1; i < l->n && sorted; i++)
        sorted = compare_spans(&l->v[i - 1], &l->v[i]) <= 0;
    if (!sorted) qsort(l->v, l->n, sizeof *l->v, compare_spans);
    for (size_t i = 0; i < l->n; i++) {
        bool first = i == 0 || l->v[i - 1].partition != l->v[i].partition;
        int64_t before = first ? INT64_MIN : l->v[i - 1].ends_so_far;
        l->v[i].ends_so_far = before > l->v[i].end ? before : l->v[i].end;
    }
}

static bool add_span(span_list *l, span s) {
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 256;
        span *grown = cap <= MOST_SPANS ? counted_grow(l->v, cap * sizeof *grown) : NULL;
        if (!grown) return false;
        l->v = grown;
        l->cap = cap;
    }
    l->v[l->n++] = s;
    return true;
}

static int column_named(sqlite3_stmt *s, const char *name) {
    for (int i = 0; i < sqlite3_column_count(s); i++)
        if (sqlite3_stricmp(sqlite3_column_name(s, i), name) == 0) return i;
    return -1;
}

/* A name of a table, as a query for its columns; else the text itself. */
static char *as_query(str text, const char *partition) {
    bool name = text.n != 0;
    for (size_t i = 0; i < text.n; i++)
        name &= (text.p[i] >= 'a' && text.p[i] <= 'z') ||
                (text.p[i] >= '0' && text.p[i] <= '9') || text.p[i] == '_';
    if (!name) return sqlite3_mprintf("%.*s", (int)text.n, text.p);
    if (!partition)
        return sqlite3_mprintf("SELECT id, start, dur FROM \"%.*w\"", (int)text.n, text.p);
    return sqlite3_mprintf("SELECT id, start, dur, \"%w\" FROM \"%.*w\"", partition,
                           (int)text.n, text.p);
}

static int read_rows(sqlite3_stmt *s, const char *partition, span_list *out) {
    int start = column_named(s, "start"), dur = column_named(s, "dur");
    int id = column_named(s, "id"), part = partition ? column_named(s, partition) : -1;
    int rc;
    if (start < 0 || dur < 0 || (partition && part < 0)) return SQLITE_MISMATCH;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        bool none = sqlite3_column_type(s, start) == SQLITE_NULL ||
                    sqlite3_column_type(s, dur) == SQLITE_NULL ||
                    (part >= 0 && sqlite3_column_type(s, part) == SQLITE_NULL);
        span one = {.start = sqlite3_column_int64(s, start),
                    .id = id < 0 ? (int64_t)out->n + 1 : sqlite3_column_int64(s, id),
                    .partition = part < 0 ? 0 : sqlite3_column_int64(s, part)};
        one.end = add_i64(one.start, sqlite3_column_int64(s, dur));
        if (!none && one.end > one.start && !add_span(out, one)) return SQLITE_NOMEM;
    }
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int fail_list(query *q, int rc, const char *partition) {
    error err = {0};
    if (rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT || q->pending.status != OK) return rc;
    arg needed = arg_text("column", str_of(partition ? partition : "id"));
    arg reason = arg_cstr("reason", sqlite3_errmsg(q->db));
    bool columns = rc == SQLITE_MISMATCH;
    (void)error_set(&err, ERR_ARG, NOPOS, columns ? MSG_QUERY_SPAN_COLUMNS : MSG_QUERY_SPAN_SQL,
                    1, columns ? &needed : &reason);
    return pending_fail(q, &err);
}

static int read_list(query *q, str text, const char *partition, span_list *out) {
    sqlite3_stmt *s = NULL;
    char *sql = as_query(text, partition);
    if (!sql) return SQLITE_NOMEM;
    int rc = sqlite3_prepare_v2(q->db, sql, -1, &s, NULL);
    if (rc == SQLITE_OK) rc = s ? read_rows(s, partition, out) : SQLITE_MISMATCH;
    if (rc != SQLITE_OK) rc = fail_list(q, rc, partition);
    sqlite3_finalize(s);
    sqlite3_free(sql);
    if (rc == SQLITE_OK) finish_list(out);
    return rc;
}

/* ---- the pairs --------------------------------------------------------------------------- */

/* The first b that may overlap this a. */
static size_t first_candidate(const span_list *b, const span *a) {
    return SEARCH_FIRST(
        i, (size_t)0, b->n,
        b->v[i].partition < a->partition ||
            (b->v[i].partition == a->partition && b->v[i].ends_so_far <= a->start));
}

/* On to the pair at (i, k) or after it. */
static void find_pair(join_cursor *c) {
    while (c->i < c->a.n) {
        const span *a = &c->a.v[c->i];
        for (; c->k < c->b.n; c->k++) {
            const span *b = &c->b.v[c->k];
            if (b->partition != a->partition || b->start >= a->end) break;
            if (b->end > a->start) return;
        }
        if (++c->i < c->a.n) c->k = first_candidate(&c->b, &c->a.v[c->i]);
    }
}

static int connect_join(sqlite3 *db, void *aux, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **message) {
    (void)db, (void)argc, (void)argv, (void)message;
    int rc = guard_declare(aux, "CREATE TABLE t(start INTEGER, dur INTEGER, a_id INTEGER, "
                                "b_id INTEGER, partition INTEGER, a HIDDEN, b HIDDEN, "
                                "partition_column HIDDEN)");
    if (rc != SQLITE_OK) return rc;
    join_vtab *v = counted_alloc(sizeof *v);
    if (!v) return SQLITE_NOMEM;
    *v = (join_vtab){.q = aux};
    *out = &v->base;
    return SQLITE_OK;
}

static int disconnect_join(sqlite3_vtab *v) {
    counted_free(v);
    return SQLITE_OK;
}

/* The arguments in their order; the number of the plan is how many there are. */
static int plan_join(sqlite3_vtab *base, sqlite3_index_info *info) {
    int at[N_ARGUMENTS] = {-1, -1, -1};
    (void)base;
    for (int i = 0; i < info->nConstraint; i++) {
        int argument = info->aConstraint[i].iColumn - COLUMN_FIRST_ARGUMENT;
        if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        at[argument] = i;
    }
    for (int i = 0; i < N_ARGUMENTS && at[i] >= 0; i++) {
        info->aConstraintUsage[at[i]].argvIndex = ++info->idxNum;
        info->aConstraintUsage[at[i]].omit = 1;
    }
    info->estimatedCost = 1e6;
    info->estimatedRows = 100000;
    return SQLITE_OK;
}

static int open_join(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    join_cursor *c = counted_alloc(sizeof *c);
    (void)base;
    if (!c) return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    *out = &c->base;
    return SQLITE_OK;
}

static void forget_lists(join_cursor *c) {
    counted_free(c->a.v);
    counted_free(c->b.v);
    c->a = c->b = (span_list){0};
}

static int close_join(sqlite3_vtab_cursor *base) {
    forget_lists((join_cursor *)base);
    counted_free(base);
    return SQLITE_OK;
}

static int begin_join(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                      sqlite3_value **argv) {
    join_cursor *c = (join_cursor *)base;
    join_vtab *v = (join_vtab *)base->pVtab;
    (void)plan, (void)argc;
    forget_lists(c);
    error err = {0};
    if (number < 2) {
        (void)error_set(&err, ERR_ARG, NOPOS, MSG_QUERY_SPAN_ARGUMENTS, 0, NULL);
        return pending_fail(v->q, &err);
    }
    const char *partition = number > 2 ? (const char *)sqlite3_value_text(argv[2]) : NULL;
    int rc = read_list(v->q, value_str(argv[0]), partition, &c->a);
    if (rc == SQLITE_OK) rc = read_list(v->q, value_str(argv[1]), partition, &c->b);
    if (rc != SQLITE_OK) return rc;
    c->i = 0;
    c->row = 0;
    c->k = c->a.n ? first_candidate(&c->b, &c->a.v[0]) : 0;
    find_pair(c);
    return SQLITE_OK;
}

static int next_pair(sqlite3_vtab_cursor *base) {
    join_cursor *c = (join_cursor *)base;
    c->row++;
    c->k++;
    find_pair(c);
    return SQLITE_OK;
}

static int join_is_over(sqlite3_vtab_cursor *base) {
    const join_cursor *c = (join_cursor *)base;
    return c->i >= c->a.n;
}

static int join_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = ((join_cursor *)base)->row;
    return SQLITE_OK;
}

static int join_cell(sqlite3_vtab_cursor *base, sqlite3_context *to, int i) {
    const join_cursor *c = (join_cursor *)base;
    const span *a = &c->a.v[c->i], *b = &c->b.v[c->k];
    int64_t start = a->start > b->start ? a->start : b->start;
    int64_t end = a->end < b->end ? a->end : b->end;
    int64_t cells[] = {[COLUMN_START] = start,
                       [COLUMN_DUR] = sub_i64(end, start),
                       [COLUMN_A] = a->id,
                       [COLUMN_B] = b->id,
                       [COLUMN_PARTITION] = a->partition};
    if (i < COLUMN_FIRST_ARGUMENT) sqlite3_result_int64(to, cells[i]);
    return SQLITE_OK;
}

static const sqlite3_module MODULE = {
    .xConnect = connect_join,
    .xBestIndex = plan_join,
    .xDisconnect = disconnect_join,
    .xOpen = open_join,
    .xClose = close_join,
    .xFilter = begin_join,
    .xNext = next_pair,
    .xEof = join_is_over,
    .xColumn = join_cell,
    .xRowid = join_row_id,
};

int span_join_add(query *q) {
    return sqlite3_create_module(q->db, "span_join", &MODULE, q);
}
