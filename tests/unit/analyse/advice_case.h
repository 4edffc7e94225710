/* advice_case.h: one fake trace and the advice about it; times are written in microseconds.
 *
 *     advice_case c;
 *     case_begin(&c);
 *     case_step(&c, 1, 0, 1000);
 *     case_kernel(&c, "gemm", 10, 100, 400);          launched at 10, runs from 100 for 400
 *     case_ask(&c);
 *     assert_fires(&c, "small_grid", 300 * US);       id and what it saves
 *     case_end(&c);
 */
#ifndef TESTS_ADVICE_CASE_H
#define TESTS_ADVICE_CASE_H

#include "fake_trace.h"

#define US ((int64_t)1000)
#define NOT_ESTIMATED ABSENT_I64

typedef struct {
    fake f;
    arena arena;
    int host, gpu;
    answer out;
    const table *t;
} advice_case;

static inline void case_begin(advice_case *c) {
    fake_init(&c->f);
    arena_init(&c->arena, 0);
    c->host = fake_thread(&c->f);
    c->gpu = fake_stream(&c->f, 0);
    c->f.t.device.n = 2;
    FAKE_SET(&c->f, device, id, 1, 0);
    FAKE_SET(&c->f, device, type, 1, DEVICE_CUDA);
    FAKE_SET(&c->f, device, compute_major, 1, 9);
    FAKE_SET(&c->f, device, compute_minor, 1, 0);
    FAKE_SET(&c->f, device, memory, 1, 1000000);
}

static inline void case_end(advice_case *c) {
    arena_fini(&c->arena);
    fake_fini(&c->f);
}

static inline void case_step(advice_case *c, int64_t number, int64_t start, int64_t end) {
    fake_step(&c->f, number, start * US, end * US);
}

static inline int case_host(advice_case *c, uint8_t kind, const char *name, int64_t start,
                            int64_t dur) {
    return fake_add(&c->f, c->host, kind, name, start * US, dur * US);
}

/* A kernel that is launched by a call of 5 µs; its handle. */
static inline int case_kernel(advice_case *c, const char *name, int64_t launched, int64_t start,
                              int64_t dur) {
    int call = case_host(c, KIND_RUNTIME, "cudaLaunchKernel", launched, 5);
    return fake_work(&c->f, c->gpu, KIND_KERNEL, name, start * US, dur * US, call);
}

static inline void case_ask(advice_case *c) {
    params p = fake_params();
    c->out = fake_ask(analyse_advise, fake_seal(&c->f), &p, &c->arena);
    c->t = fake_table(&c->out, "advice");
}

/* The row of a rule; SIZE_MAX when it did not fire. */
static inline size_t case_row(const advice_case *c, const char *id) {
    for (size_t i = 0; i < c->t->n_rows; i++)
        if (str_eq(c->t->columns[0].v.s[i], str_of(id))) return i;
    return SIZE_MAX;
}

static inline void case_list(const advice_case *c) {
    for (size_t i = 0; i < c->t->n_rows; i++)
        print_message("fired: %.*s\n", STR_ARG(c->t->columns[0].v.s[i]));
}

/* A named value of a rule that fired. */
static inline arg case_value(const advice_case *c, const char *id, const char *name) {
    size_t row = case_row(c, id);
    assert_true(row != SIZE_MAX);
    const verdict *v = c->t->columns[fake_column(c->t, "values")].v.sentence[row];
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return v->args[i];
    fail_msg("%s has no value %s", id, name);
    return v->args[0];
}

static inline void assert_fires(const advice_case *c, const char *id, int64_t saves) {
    size_t row = case_row(c, id);
    if (row == SIZE_MAX) {
        case_list(c);
        fail_msg("%s did not fire", id);
    }
    if (saves == NOT_ESTIMATED)
        assert_true(fake_null(c->t, row, "saves"));
    else if (!fake_null(c->t, row,
                        "included_in")) { /* a part of it is another rule's already */
        assert_true(fake_int(c->t, row, "saves") < saves);
        assert_int_equal(case_value(c, id, "time").u.i, saves); /* the evidence has all of it */
    } else
        assert_int_equal(fake_int(c->t, row, "saves"), saves);
}

static inline void assert_silent(const advice_case *c, const char *id) {
    if (case_row(c, id) != SIZE_MAX) fail_msg("%s fired", id);
}

#endif
