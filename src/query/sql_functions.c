/* sql_functions.c: what SQL lacks for traces: stacks, intervals, percentiles, readable numbers.
 *
 *   stack(slice)                     frames it was called from, innermost first, joined by ;
 *   path(slice)                      names of the slices around it and its own, outermost first
 *   overlap(start, dur, start, dur)  ns that two intervals share; overlaps(…) is 1 or 0
 *   union_time(start, dur)           aggregate: ns that are covered, however often
 *   percentile(x, p), median(x)      aggregates; p is 0 … 100
 *   format_time(ns), format_bytes(n), short_name(kernel)
 *
 * NULL in, NULL out; aggregates pass NULL over. */
#include <math.h>
#include <stdlib.h>

#include "analyse/kind_names.h"
#include "base/counted.h"
#include "base/fmt.h"
#include "query/sqlite_int.h"

enum { MOST_FRAMES = 1000, MOST_TEXT = 64 << 20 }; /* more than SQLite takes: it says so */

/* Texts made here become SQLite's. */
static void give_buf(sqlite3_context *to, buf *b) {
    if (buf_ok(b))
        sqlite3_result_text64(to, b->p ? b->p : "", b->n, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_error_nomem(to);
    buf_fini(b);
}

static bool any_null(int n, sqlite3_value **v) {
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(v[i]) == SQLITE_NULL) return true;
    return false;
}

/* ---- where a slice is -------------------------------------------------------------------- */

#define STACK_TABLES                                                                   \
    (TRACE_TABLE(slice) | TRACE_TABLE(kernel) | TRACE_TABLE(op) | TRACE_TABLE(frame) | \
     TRACE_TABLE(track))

/* The slice that was asked about; 0: none, or it cannot be read. */
static uint32_t slice_asked(sqlite3_context *to, sqlite3_value *v) {
    query *q = sqlite3_user_data(to);
    error err = {0};
    sqlite3_int64 id = sqlite3_value_int64(v);
    if (id <= 0 || id >= q->rows.t->slice.n) return 0;
    if (trace_require(q->rows.t, STACK_TABLES, &err) == OK) return (uint32_t)id;
    sqlite3_result_error_code(to, pending_fail(q, &err));
    return 0;
}

static void put_frames(const trace *t, uint32_t frame, buf *out) {
    for (int n = 0; frame && n < MOST_FRAMES && out->n <= MOST_TEXT;
         n++, frame = t->frame.parent[frame]) {
        if (out->n) buf_add_byte(out, ';');
        buf_add_str(out, trace_str(t, t->frame.name[frame]));
    }
}

static void put_python(const trace *t, uint32_t slice, buf *out) {
    for (int n = 0; slice && n < MOST_FRAMES && out->n <= MOST_TEXT;
         slice = t->slice.parent[slice]) {
        if (t->slice.kind[slice] != KIND_PYTHON && t->slice.kind[slice] != KIND_MODULE)
            continue;
        if (out->n) buf_add_byte(out, ';');
        buf_add_str(out, trace_slice_name(t, slice));
        n++;
    }
}

/* For device work the stack of its operator, or of the call that launched it. */
static void stack_function(sqlite3_context *to, int n, sqlite3_value **v) {
    const trace *t = ((query *)sqlite3_user_data(to))->rows.t;
    uint32_t slice = slice_asked(to, v[0]);
    buf out = {0};
    (void)n;
    if (!slice) return;
    uint32_t kernel = trace_kernel_of(t, slice);
    if (kernel && t->kernel.op[kernel])
        slice = t->kernel.op[kernel];
    else if (kernel && t->kernel.launch[kernel])
        slice = t->kernel.launch[kernel];
    for (uint32_t at = slice, k = 0; at && !out.n && k < MOST_FRAMES; k++) {
        uint32_t op = trace_op_of(t, at);
        if (op && t->op.frame[op]) put_frames(t, t->op.frame[op], &out);
        at = t->slice.parent[at];
    }
    if (!out.n) put_python(t, slice, &out);
    if (out.n || !buf_ok(&out))
        give_buf(to, &out);
    else
        buf_fini(&out);
}

static void path_function(sqlite3_context *to, int n, sqlite3_value **v) {
    const trace *t = ((query *)sqlite3_user_data(to))->rows.t;
    uint32_t slice = slice_asked(to, v[0]), around[MOST_FRAMES];
    buf out = {0};
    (void)n;
    if (!slice) return;
    n = 0;
    for (; slice && n < MOST_FRAMES; slice = t->slice.parent[slice]) around[n++] = slice;
    while (n-- > 0 && out.n <= MOST_TEXT) {
        buf_add_str(&out, trace_slice_name(t, around[n]));
        if (n) buf_add_cstr(&out, " > ");
    }
    give_buf(to, &out);
}

/* ---- intervals --------------------------------------------------------------------------- */

static int64_t shared_ns(sqlite3_value **v) {
    int64_t start_a = sqlite3_value_int64(v[0]), start_b = sqlite3_value_int64(v[2]);
    int64_t end_a = add_i64(start_a, sqlite3_value_int64(v[1]));
    int64_t end_b = add_i64(start_b, sqlite3_value_int64(v[3]));
    int64_t start = start_a > start_b ? start_a : start_b;
    int64_t end = end_a < end_b ? end_a : end_b;
    return end > start ? sub_i64(end, start) : 0;
}

static void overlap_function(sqlite3_context *to, int n, sqlite3_value **v) {
    if (!any_null(n, v)) sqlite3_result_int64(to, shared_ns(v));
}

static void overlaps_function(sqlite3_context *to, int n, sqlite3_value **v) {
    if (!any_null(n, v)) sqlite3_result_int(to, shared_ns(v) > 0);
}

/* Values of an aggregate so far. */
typedef struct {
    void *v;
    size_t n, cap;
    double p;
    bool is_real, unsorted;
} collected;

static void *add_collected(sqlite3_context *to, collected *c, size_t elem_bytes) {
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 64;
        void *grown = counted_grow(c->v, cap * elem_bytes);
        if (!grown) {
            sqlite3_result_error_nomem(to);
            return NULL;
        }
        c->v = grown;
        c->cap = cap;
    }
    return (char *)c->v + elem_bytes * c->n++;
}

typedef struct {
    int64_t start, end;
} stretch;

static void union_step(sqlite3_context *to, int n, sqlite3_value **v) {
    collected *c = sqlite3_aggregate_context(to, sizeof *c);
    if (!c || any_null(n, v)) return;
    stretch s = {.start = sqlite3_value_int64(v[0])};
    s.end = add_i64(s.start, sqlite3_value_int64(v[1]));
    stretch *last = c->n ? (stretch *)c->v + c->n - 1 : NULL;
    if (s.end <= s.start) return;
    if (last && s.start >= last->start && s.start <= last->end) { /* joins the one before */
        if (s.end > last->end) last->end = s.end;
        return;
    }
    if (last && s.start < last->start) c->unsorted = true;
    stretch *added = add_collected(to, c, sizeof s);
    if (added) *added = s;
}

static int compare_stretches(const void *x, const void *y) {
    const stretch *a = x, *b = y;
    return a->start < b->start ? -1 : a->start > b->start;
}

static void union_final(sqlite3_context *to) {
    collected *c = sqlite3_aggregate_context(to, 0);
    int64_t ns = 0, until = INT64_MIN;
    if (!c) {
        sqlite3_result_int64(to, 0);
        return;
    }
    stretch *s = c->v;
    if (c->unsorted) qsort(s, c->n, sizeof *s, compare_stretches);
    for (size_t i = 0; i < c->n; i++) {
        int64_t start = s[i].start > until ? s[i].start : until;
        if (s[i].end > start) ns = add_i64(ns, sub_i64(s[i].end, start));
        if (s[i].end > until) until = s[i].end;
    }
    counted_free(c->v);
    sqlite3_result_int64(to, ns);
}

/* ---- percentiles ------------------------------------------------------------------------- */

static void percentile_step(sqlite3_context *to, int n, sqlite3_value **v) {
    collected *c = sqlite3_aggregate_context(to, sizeof *c);
    int type = sqlite3_value_numeric_type(v[0]);
    if (!c || (type != SQLITE_INTEGER && type != SQLITE_FLOAT)) return;
    c->p = n > 1 ? sqlite3_value_double(v[1]) : 50;
    c->is_real |= type == SQLITE_FLOAT;
    double *added = add_collected(to, c, sizeof *added);
    if (added) *added = sqlite3_value_double(v[0]);
}

static int compare_reals(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* Between the two nearest values in proportion; of whole numbers a whole number. */
static void percentile_final(sqlite3_context *to) {
    collected *c = sqlite3_aggregate_context(to, 0);
    if (!c) return;
    double *v = c->v, p = c->p < 0 ? 0 : c->p > 100 ? 100 : c->p;
    if (c->n) {
        qsort(v, c->n, sizeof *v, compare_reals);
        double at = p / 100 * (double)(c->n - 1);
        size_t low = (size_t)at, high = low + 1 < c->n ? low + 1 : low;
        double value = v[low] + (v[high] - v[low]) * (at - (double)low);
        if (c->is_real)
            sqlite3_result_double(to, value);
        else
            sqlite3_result_int64(to, round_i64(value));
    }
    counted_free(c->v);
}

/* ---- readable ---------------------------------------------------------------------------- */

static void format_time_function(sqlite3_context *to, int n, sqlite3_value **v) {
    buf out = {0};
    if (any_null(n, v)) return;
    fmt_duration(&out, sqlite3_value_int64(v[0]));
    give_buf(to, &out);
}

static void format_bytes_function(sqlite3_context *to, int n, sqlite3_value **v) {
    buf out = {0};
    if (any_null(n, v)) return;
    fmt_bytes(&out, sqlite3_value_int64(v[0]));
    give_buf(to, &out);
}

static void short_name_function(sqlite3_context *to, int n, sqlite3_value **v) {
    str name = value_str(v[0]);
    (void)n;
    if (!name.p) return;
    name = kernel_short_name(name);
    sqlite3_result_text64(to, name.p, name.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* ---- adding them ------------------------------------------------------------------------- */

typedef void (*value_fn)(sqlite3_context *, int, sqlite3_value **);

static const struct {
    const char *name;
    int n;
    value_fn value, step;
    void (*last)(sqlite3_context *);
} FUNCTIONS[] = {
    {"stack", 1, stack_function, NULL, NULL},
    {"path", 1, path_function, NULL, NULL},
    {"overlap", 4, overlap_function, NULL, NULL},
    {"overlaps", 4, overlaps_function, NULL, NULL},
    {"union_time", 2, NULL, union_step, union_final},
    {"percentile", 2, NULL, percentile_step, percentile_final},
    {"median", 1, NULL, percentile_step, percentile_final},
    {"format_time", 1, format_time_function, NULL, NULL},
    {"format_bytes", 1, format_bytes_function, NULL, NULL},
    {"short_name", 1, short_name_function, NULL, NULL},
};

int functions_add(query *q) {
    for (size_t i = 0; i < N_OF(FUNCTIONS); i++) {
        int rc = sqlite3_create_function(
            q->db, FUNCTIONS[i].name, FUNCTIONS[i].n, SQLITE_UTF8 | SQLITE_DETERMINISTIC, q,
            FUNCTIONS[i].value, FUNCTIONS[i].step, FUNCTIONS[i].last);
        if (rc != SQLITE_OK) return rc;
    }
    return SQLITE_OK;
}

const char *function_name(uint32_t i) {
    static const char *const others[] = {"arg", "span_join"};
    if (i < N_OF(FUNCTIONS)) return FUNCTIONS[i].name;
    return i - N_OF(FUNCTIONS) < N_OF(others) ? others[i - N_OF(FUNCTIONS)] : NULL;
}
