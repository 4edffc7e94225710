/* built_trace.h: small traces made through the store's own builder, for tables that fake_trace.h does not
 * have: what a producer added up, step traces, input pipelines. */
#ifndef TESTS_BUILT_TRACE_H
#define TESTS_BUILT_TRACE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/analysis.h"
#include "store/builder.h"

typedef struct {
    builder *b;
    part *p;
    trace *t;
    arena arena;
    analysis_trace at;
    params params;
    answer answer;
} built;

static inline void built_init(built *x) {
    *x = (built){.b = builder_new()};
    x->p = builder_part(x->b);
    x->params = (params)PARAMS_WHOLE;
    arena_init(&x->arena, 0);
}

static inline uint32_t built_str(built *x, const char *s) {
    return s ? intern_add(builder_strings(x->b), str_of(s)) : 0;
}

static inline void built_slice(built *x, int tid, uint8_t kind, const char *name, int64_t start,
                               int64_t dur) {
    raw_slice row = {.start = start, .dur = dur, .kind = kind, .name = built_str(x, name)};
    row.track = part_track(x->p, (ident){.v = 1}, (ident){.v = tid});
    if (kind == KIND_KERNEL) {
        raw_kernel k = {.correlation = ABSENT_I64, .external = ABSENT_I64};
        assert_int_equal(part_kernel(x->p, &k, &row), OK);
    }
    assert_int_equal(part_slice(x->p, &row), OK);
}

static inline void built_meta(built *x, const char *key, const char *json) {
    assert_int_equal(builder_add_meta(x->b, built_str(x, key), built_str(x, json), NULL), OK);
}

/* A row of a table that readers fill as it is. */
#define BUILT_PUT(x, table, row) assert_int_equal(builder_put_##table((x)->b, &(row), NULL), OK)

static inline void built_seal(built *x) {
    assert_int_equal(builder_seal(x->b, NULL, &x->t, NULL), OK);
    builder_free(x->b);
    x->at = (analysis_trace){.trace = x->t, .rank = ABSENT_I64};
}

static inline status built_ask(built *x, analysis_fn run, error *err) {
    analysis_input in = {.traces = &x->at, .n_traces = 1};
    return run(&in, &x->params, &x->arena, &x->answer, err);
}

static inline const table *built_table(const built *x, const char *name) {
    for (uint32_t i = 0; i < x->answer.n_tables; i++)
        if (strcmp(x->answer.tables[i]->name, name) == 0) return x->answer.tables[i];
    fail_msg("no table %s", name);
    return NULL;
}

static inline int64_t built_int(const table *t, size_t row, const char *col) {
    uint32_t c = table_column(t, str_of(col));
    assert_true(row < t->n_rows && c != UINT32_MAX);
    return table_is_null(t, row, c) ? ABSENT_I64 : t->columns[c].v.i[row];
}

static inline double built_real(const table *t, size_t row, const char *col) {
    uint32_t c = table_column(t, str_of(col));
    assert_true(row < t->n_rows && c != UINT32_MAX);
    return table_is_null(t, row, c) ? (double)NAN : t->columns[c].v.d[row];
}

static inline bool built_is(const table *t, size_t row, const char *col, const char *text) {
    uint32_t c = table_column(t, str_of(col));
    assert_true(row < t->n_rows && c != UINT32_MAX);
    return table_is_null(t, row, c) ? !text
                                    : text && str_eq(t->columns[c].v.s[row], str_of(text));
}

static inline void built_param(built *x, const char *name, const char *value) {
    x->params.extra[x->params.n_extra].name = str_of(name);
    x->params.extra[x->params.n_extra++].value = str_of(value);
}

static inline void built_fini(built *x) {
    trace_release(x->t);
    arena_fini(&x->arena);
}

#endif
