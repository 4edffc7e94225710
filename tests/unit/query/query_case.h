/* query_case.h: a trace for SQL and a way to ask it: three threads of nested operators, a stream
 * of kernels, and steps, with names that repeat. */
#ifndef TESTS_QUERY_CASE_H
#define TESTS_QUERY_CASE_H

#include "base/message_ids_query.h"
#include "query/query.h"
#include "unit/analyse/built_trace.h"

enum { CASE_THREADS = 3, CASE_STEPS = 4, CASE_OPS = 250 };

typedef struct {
    built built;
    analysis_input in;
    query *q;
    query_options options;
    arena arena;
    answer answer;
    error err;
} query_case;

/* Each step of 1 ms has 250 operators of 4 us on each thread, every other one with a child, and
 * as many kernels of 3 us, which overlap in pairs. */
static inline void case_fill(built *x) {
    char name[32];
    built_init(x);
    for (int step = 0; step < CASE_STEPS; step++) {
        int64_t begin = 1000000 * step;
        snprintf(name, sizeof name, "ProfilerStep#%d", step);
        built_slice(x, 1, KIND_STEP, name, begin, 1000000);
        for (int i = 0; i < CASE_OPS; i++) {
            int64_t at = begin + 4000 * i;
            for (int thread = 1; thread <= CASE_THREADS; thread++) {
                snprintf(name, sizeof name, "op_%d", (i + thread) % 17);
                built_slice(x, thread, KIND_OP, name, at, 3000 + i % 5);
                if (i % 2) built_slice(x, thread, KIND_OP, "child", at + 500, 1000);
            }
            snprintf(name, sizeof name, "kernel_%d", i % 7);
            built_slice(x, 9, KIND_KERNEL, name, at + 700 * (i % 2), 3000);
        }
    }
    built_seal(x);
}

static inline void case_open(query_case *c, query_options o) {
    memset(c, 0, sizeof *c);
    case_fill(&c->built);
    if (!o.params.to_ns && !o.params.from_ns) o.params = (params)PARAMS_WHOLE;
    c->options = o;
    c->in = (analysis_input){.traces = &c->built.at, .n_traces = 1};
    arena_init(&c->arena, 0);
    assert_int_equal(query_open(&c->in, &c->options, &c->q, &c->err), OK);
}

static inline void case_close(query_case *c) {
    query_close(c->q);
    arena_fini(&c->arena);
    built_fini(&c->built);
}

static inline status case_ask(query_case *c, const char *sql) {
    memset(&c->err, 0, sizeof c->err);
    return query_ask(c->q, str_of(sql), &c->arena, &c->answer, &c->err);
}

static inline const table *case_table(query_case *c, const char *sql) {
    if (case_ask(c, sql) != OK)
        fail_msg("%s: message %u %.*s", sql, c->err.message,
                 c->err.n_args ? (int)c->err.args[0].u.text.n : 0,
                 c->err.n_args ? c->err.args[0].u.text.p : "");
    return c->answer.tables[0];
}

/* The one number of a result. */
static inline int64_t case_int(query_case *c, const char *sql) {
    const table *t = case_table(c, sql);
    if (t->n_rows != 1 || t->columns[0].type != TYPE_INT) fail_msg("%s: not a number", sql);
    return table_is_null(t, 0, 0) ? ABSENT_I64 : t->columns[0].v.i[0];
}

static inline bool case_is_text(query_case *c, const char *sql, const char *text) {
    const table *t = case_table(c, sql);
    return t->n_rows == 1 && t->columns[0].type == TYPE_TEXT &&
           str_eq(t->columns[0].v.s[0], str_of(text));
}

#endif
