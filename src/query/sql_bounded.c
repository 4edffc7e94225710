/* sql_bounded.c: functions of SQLite of which one call may take minutes.
 *
 * Time is looked at between the steps of SQLite's machine, and a call is one step: searching a
 * megabyte in a megabyte, or a character repeated two billion times by printf, would pass every
 * limit. Where there is one, these functions look at the clock themselves, and refuse arguments
 * whose lengths multiply to more than a call may take. LIKE and GLOB are done here; the others
 * call the original, on a separate database: there is no other way to reach it once its name is
 * taken. */
#include <stdlib.h>

#include "query/sqlite_int.h"

enum { MOST_LETTERS = 1 << 20 };             /* widths and precisions of one printf */
static const int64_t MOST_PRODUCT = 1 << 28; /* bytes times bytes: a tenth of a second */
static const int64_t MOST_PATTERN = 256;     /* SQLite's own words for more follow */
static const char TOO_COMPLEX[] = "LIKE or GLOB pattern too complex";

/* ---- how much a call would do ------------------------------------------------------------ */

typedef bool (*bound_fn)(int n, sqlite3_value **v);

static bool fits_product(int n, sqlite3_value **v) {
    (void)n;
    return (int64_t)sqlite3_value_bytes(v[0]) * sqlite3_value_bytes(v[1]) <= MOST_PRODUCT;
}

/* A width or precision at *p, of the text or of the next argument; 0: none. */
static int64_t letters_at(const char **p, int n, sqlite3_value **v, int *next) {
    int64_t letters = 0;
    if (**p == '*') {
        ++*p;
        if (*next < n) letters = llabs((int)sqlite3_value_int64(v[(*next)++]));
    }
    for (; **p >= '0' && **p <= '9'; ++*p)
        if (letters <= MOST_LETTERS) letters = 10 * letters + (**p - '0');
    return letters;
}

/* All of them together: each is work, also where it writes nothing. */
static bool fits_letters(int n, sqlite3_value **v) {
    const char *p = (const char *)sqlite3_value_text(v[0]);
    int64_t letters = 0;
    int next = 1;
    for (; p && *p && letters <= MOST_LETTERS; p += *p != '\0') {
        if (*p != '%') continue;
        for (p++; *p && strchr("-+ #0!,", *p);) p++;
        letters += letters_at(&p, n, v, &next);
        if (*p == '.') {
            p++;
            letters += letters_at(&p, n, v, &next);
        }
        while (*p == 'l') p++;
        if (!*p) break;
        next += *p != '%' && *p != 'n';
    }
    return letters <= MOST_LETTERS;
}

/* ---- the original ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    int n; /* arguments; -1: any number, one at least */
    bound_fn fits;
} BOUNDED[] = {
    {"instr", 2, fits_product},   {"replace", 3, fits_product},    {"trim", 2, fits_product},
    {"ltrim", 2, fits_product},   {"rtrim", 2, fits_product},      {"printf", -1, fits_letters},
    {"format", -1, fits_letters}, {"json_patch", 2, fits_product},
};
enum { MOST_ARGUMENTS = 32 };

/* One function of a query. */
typedef struct {
    query *q;
    uint32_t which;
    int n;                  /* arguments of `original` */
    sqlite3_stmt *original; /* SELECT name(?,…) */
} bounded;

static void end_bounded(void *context) {
    bounded *b = context;
    sqlite3_finalize(b->original);
    sqlite3_free(b);
}

static int prepare_original(bounded *b, int n) {
    char marks[2 * MOST_ARGUMENTS], sql[sizeof marks + 32];
    int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, rc = SQLITE_OK;
    if (b->original && b->n == n) return SQLITE_OK;
    for (int i = 0; i < n; i++) memcpy(marks + 2 * i, "?,", 2);
    marks[2 * n - 1] = '\0';
    sqlite3_finalize(b->original);
    b->original = NULL;
    b->n = n;
    if (!b->q->originals) rc = sqlite3_open_v2(":memory:", &b->q->originals, how, NULL);
    if (rc != SQLITE_OK) return rc;
    sqlite3_limit(b->q->originals, SQLITE_LIMIT_LENGTH,
                  sqlite3_limit(b->q->db, SQLITE_LIMIT_LENGTH, -1));
    sqlite3_snprintf(sizeof sql, sql, "SELECT %s(%s)", BOUNDED[b->which].name, marks);
    return sqlite3_prepare_v2(b->q->originals, sql, -1, &b->original, NULL);
}

/* SQLite's words and code, as if it had been called here. */
static void tell(const bounded *b, sqlite3_context *to, int rc) {
    if (rc == SQLITE_NOMEM)
        sqlite3_result_error_nomem(to);
    else if (rc == SQLITE_TOOBIG)
        sqlite3_result_error_toobig(to);
    else
        sqlite3_result_error(to, sqlite3_errmsg(b->q->originals), -1);
}

static void call_original(bounded *b, sqlite3_context *to, int n, sqlite3_value **v) {
    int rc = prepare_original(b, n);
    for (int i = 0; i < n && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_value(b->original, i + 1, v[i]);
    if (rc == SQLITE_OK) rc = sqlite3_step(b->original);
    if (rc == SQLITE_ROW)
        sqlite3_result_value(to, sqlite3_column_value(b->original, 0));
    else
        tell(b, to, rc);
    if (!b->original) return;
    (void)sqlite3_reset(b->original);
    (void)sqlite3_clear_bindings(b->original);
}

static void bounded_function(sqlite3_context *to, int n, sqlite3_value **v) {
    bounded *b = sqlite3_user_data(to);
    if (n < 1 || n > MOST_ARGUMENTS) return;
    if (guard_is_late(b->q))
        sqlite3_result_error(to, "interrupted", -1);
    else if (!BOUNDED[b->which].fits(n, v))
        sqlite3_result_error(to, "too much for one call", -1);
    else
        call_original(b, to, n, v);
}

/* ---- patterns ---------------------------------------------------------------------------- */

/* The character after which the next one stands for itself; false: it is not one character. */
static bool escape_of(sqlite3_value *v, unsigned *letter) {
    const unsigned char *p = sqlite3_value_text(v);
    int n = p ? sqlite3_value_bytes(v) : 0;
    *letter = n == 1 ? p[0] : 0;
    return n == 1 && p[0] < 0x80;
}

/* True: the function has its result. */
static bool is_refused(query *q, sqlite3_context *to, int n, sqlite3_value **v) {
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(v[i]) == SQLITE_NULL) return true;
    if (guard_is_late(q))
        sqlite3_result_error(to, "interrupted", -1);
    else if (sqlite3_value_bytes(v[0]) > MOST_PATTERN)
        sqlite3_result_error(to, TOO_COMPLEX, -1);
    else
        return false;
    return true;
}

static void like_function(sqlite3_context *to, int n, sqlite3_value **v) {
    unsigned escape = 0;
    if (is_refused(sqlite3_user_data(to), to, n, v)) return;
    if (n == 3 && !escape_of(v[2], &escape)) {
        sqlite3_result_error(to, "ESCAPE expression must be a single character", -1);
        return;
    }
    const char *pattern = (const char *)sqlite3_value_text(v[0]);
    const char *text = (const char *)sqlite3_value_text(v[1]);
    if (pattern && text) sqlite3_result_int(to, sqlite3_strlike(pattern, text, escape) == 0);
}

static void glob_function(sqlite3_context *to, int n, sqlite3_value **v) {
    if (is_refused(sqlite3_user_data(to), to, n, v)) return;
    const char *pattern = (const char *)sqlite3_value_text(v[0]);
    const char *text = (const char *)sqlite3_value_text(v[1]);
    if (pattern && text) sqlite3_result_int(to, sqlite3_strglob(pattern, text) == 0);
}

/* ---- adding them ------------------------------------------------------------------------- */

static int add_bounded(query *q, uint32_t which) {
    enum { HOW = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    bounded *b = sqlite3_malloc(sizeof *b);
    if (!b) return SQLITE_NOMEM;
    *b = (bounded){.q = q, .which = which};
    return sqlite3_create_function_v2(q->db, BOUNDED[which].name, BOUNDED[which].n, HOW, b,
                                      bounded_function, NULL, NULL, end_bounded);
}

int bounded_add(query *q) {
    enum { HOW = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    if (!q->options.limit_ns) return SQLITE_OK;
    int rc = sqlite3_create_function(q->db, "like", 2, HOW, q, like_function, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function(q->db, "like", 3, HOW, q, like_function, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function(q->db, "glob", 2, HOW, q, glob_function, NULL, NULL);
    for (uint32_t i = 0; i < N_OF(BOUNDED) && rc == SQLITE_OK; i++) rc = add_bounded(q, i);
    return rc;
}
