/* seal_infer_test.c: device work of steps without operators gets those of a step that has them.
 *
 * A step is written as its launches: "a" on the first thread, "a'" on the second. Each launch of a sampled
 * step is in a separate operator, called by `op_name`, inside a module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/builder.h"
#include "store/trace.h"

enum { THREAD = 11, OTHER_THREAD = 12, STREAM = 7, STEP_NS = 1000000, LAUNCH_NS = 1000 };

typedef struct {
    builder *b;
    part *p;
    int64_t n_steps, n_launches;
    const char *module;
    const char *shapes;
} program;

static uint32_t text(program *p, const char *s) {
    return intern_add(builder_strings(p->b), str_of(s));
}

static uint32_t track(program *p, int64_t tid) {
    return part_track(p->p, (ident){.v = 1}, (ident){.v = tid});
}

static void add_op(program *p, const char *name, uint32_t on, int64_t start, uint8_t kind) {
    raw_slice slice = {
        .start = start, .dur = LAUNCH_NS / 2, .name = text(p, name), .track = on, .kind = kind};
    raw_op op = {.external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    if (p->shapes) op.shapes = text(p, p->shapes);
    if (kind == KIND_OP) assert_int_equal(part_op(p->p, &op, &slice), OK);
    assert_int_equal(part_slice(p->p, &slice), OK);
}

static void add_launch(program *p, char letter, const char *op, uint32_t on, int64_t start) {
    char name[2] = {letter, 0};
    raw_call call = {.correlation = ++p->n_launches, .external = ABSENT_I64};
    raw_slice slice = {.start = start,
                       .dur = 10,
                       .name = text(p, "launch"),
                       .track = on,
                       .kind = KIND_RUNTIME};
    assert_int_equal(part_call(p->p, &call, &slice), OK);
    assert_int_equal(part_slice(p->p, &slice), OK);
    raw_kernel k = RAW_KERNEL_NONE;
    k.correlation = p->n_launches;
    k.stream = STREAM;
    k.device = 0;
    k.grid[0] = (uint32_t)letter;
    raw_slice work = {.start = start + 100,
                      .dur = 50,
                      .name = text(p, name),
                      .track = part_track(p->p, (ident){.v = 0}, (ident){.v = STREAM}),
                      .kind = KIND_KERNEL};
    assert_int_equal(part_kernel(p->p, &k, &work), OK);
    assert_int_equal(part_slice(p->p, &work), OK);
    if (p->module && op) add_op(p, p->module, on, start - 20, KIND_MODULE);
    if (op) add_op(p, op, on, start - 10, KIND_OP);
}

/* ops NULL: the step's operators were left out; else one letter for each launch, ' ' none. */
static void add_step(program *p, const char *launches, const char *ops) {
    char name[32];
    int64_t start = p->n_steps * STEP_NS, at = start + LAUNCH_NS;
    snprintf(name, sizeof name, "ProfilerStep#%d", (int)p->n_steps++);
    raw_slice step = {.start = start,
                      .dur = STEP_NS,
                      .name = text(p, name),
                      .track = track(p, THREAD),
                      .kind = KIND_STEP};
    assert_int_equal(part_slice(p->p, &step), OK);
    error err = {0};
    if (!ops) assert_int_equal(builder_add_left_out(p->b, start, start + STEP_NS, &err), OK);
    for (const char *c = launches; *c; c++, at += LAUNCH_NS) {
        char op[] = {'o', 'p', '_', ops ? ops[c - launches] : 0, 0};
        bool is_other = c[1] == '\'';
        bool has_op = ops && op[3] != ' ';
        add_launch(p, *c, has_op ? op : NULL, track(p, is_other ? OTHER_THREAD : THREAD), at);
        c += is_other;
    }
}

static int setup(void **state) {
    static program p;
    p = (program){.b = builder_new()};
    assert_non_null(p.b);
    p.p = builder_part(p.b);
    assert_non_null(p.p);
    *state = &p;
    return 0;
}

/* The operators of a step's device work, a letter each: '?' none. */
static const char *ops_of(const trace *t, int64_t step) {
    static char letters[512];
    size_t n = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        int64_t start = t->slice.start[t->kernel.slice[k]];
        if (start / STEP_NS != step) continue;
        letters[n++] = t->kernel.op[k] ? trace_slice_name(t, t->kernel.op[k]).p[3] : '?';
    }
    letters[n] = 0;
    return letters;
}

static uint8_t confidence_of(const trace *t, int64_t step) {
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (t->slice.start[t->kernel.slice[k]] / STEP_NS == step && t->kernel.confidence[k]) {
            assert_int_equal(t->kernel.link[k], LINK_INFERRED);
            assert_int_equal(trace_own_op(t, k), 0);
            return t->kernel.confidence[k];
        }
    return 0;
}

static trace *seal(program *p) {
    trace *t = NULL;
    error err = {0};
    assert_int_equal(builder_seal(p->b, NULL, &t, &err), OK);
    builder_free(p->b);
    return t;
}

static void equal_steps_get_the_operators_of_the_sampled_one(void **state) {
    program *p = *state;
    add_step(p, "abca", "1234");
    add_step(p, "abca", NULL);
    add_step(p, "abca", NULL);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 0), "1234");
    assert_int_equal(confidence_of(t, 0), 0);
    assert_string_equal(ops_of(t, 2), "1234");
    assert_int_equal(confidence_of(t, 2), 100);
    trace_release(t);
}

static void a_launch_without_operator_has_none_elsewhere(void **state) {
    program *p = *state;
    add_step(p, "ab", "1 ");
    add_step(p, "ab", NULL);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 1), "1?");
    trace_release(t);
}

static void a_step_unlike_all_sampled_ones_is_unknown(void **state) {
    program *p = *state;
    add_step(p, "abca", "1234");
    add_step(p, "axca", NULL);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 1), "????");
    trace_release(t);
}

static void each_step_finds_the_sampled_one_it_is_like(void **state) {
    program *p = *state;
    add_step(p, "abca", "1234");
    add_step(p, "axca", "5678");
    add_step(p, "abca", NULL);
    add_step(p, "axca", NULL);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 2), "1234");
    assert_string_equal(ops_of(t, 3), "5678");
    trace_release(t);
}

static void where_two_sampled_steps_disagree_operators_stay_unknown(void **state) {
    program *p = *state;
    add_step(p, "abc", "123");
    add_step(p, "abc", NULL);
    add_step(p, "abc", "143");
    add_step(p, "abc", NULL);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 1), "1?3");
    assert_string_equal(ops_of(t, 3), "1?3");
    trace_release(t);
}

static void shapes_that_differ_are_not_guessed(void **state) {
    program *p = *state;
    p->shapes = "[[2, 3]]";
    add_step(p, "ab", "12");
    p->shapes = "[[2, 4]]";
    add_step(p, "ab", "12");
    add_step(p, "ab", NULL);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 2), "??");
    trace_release(t);
}

static void threads_are_compared_one_by_one(void **state) {
    program *p = *state;
    add_step(p, "abx'c", "123 4"); /* where the other thread comes in between does not matter */
    add_step(p, "x'abc", NULL);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 1), "3124");
    trace_release(t);
}

static void operators_that_were_recorded_stay(void **state) {
    program *p = *state;
    add_step(p, "ab", "12");
    add_step(p, "ab", NULL);
    add_launch(p, 'z', "op_9", track(p, THREAD), STEP_NS + 500000);
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 1), "??9"); /* another launch: another sequence */
    trace_release(t);
}

static void long_steps_are_matched_around_a_difference(void **state) {
    program *p = *state;
    char launches[121], ops[121], other[122];
    for (int i = 0; i < 120; i++) launches[i] = ops[i] = (char)(' ' + 1 + i % 90);
    launches[120] = ops[120] = 0;
    for (int i = 0; i < 120; i++) launches[i] = (char)(launches[i] == '\'' ? '~' : launches[i]);
    snprintf(other, sizeof other, "%.60s\x7f%s", launches, launches + 60);
    add_step(p, launches, ops);
    add_step(p, other, NULL);
    trace *t = seal(p);
    const char *found = ops_of(t, 1);
    assert_memory_equal(found, ops, 40);
    assert_int_equal(found[60], '?');
    assert_memory_equal(found + 81, ops + 80, 40);
    assert_in_range(confidence_of(t, 1), 60, 99);
    trace_release(t);
}

static void a_trace_without_left_out_steps_is_as_it_was(void **state) {
    program *p = *state;
    add_step(p, "ab", "12");
    add_step(p, "ab", "  ");
    trace *t = seal(p);
    assert_string_equal(ops_of(t, 1), "??");
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(equal_steps_get_the_operators_of_the_sampled_one, setup),
        cmocka_unit_test_setup(a_launch_without_operator_has_none_elsewhere, setup),
        cmocka_unit_test_setup(a_step_unlike_all_sampled_ones_is_unknown, setup),
        cmocka_unit_test_setup(each_step_finds_the_sampled_one_it_is_like, setup),
        cmocka_unit_test_setup(where_two_sampled_steps_disagree_operators_stay_unknown, setup),
        cmocka_unit_test_setup(shapes_that_differ_are_not_guessed, setup),
        cmocka_unit_test_setup(threads_are_compared_one_by_one, setup),
        cmocka_unit_test_setup(operators_that_were_recorded_stay, setup),
        cmocka_unit_test_setup(long_steps_are_matched_around_a_difference, setup),
        cmocka_unit_test_setup(a_trace_without_left_out_steps_is_as_it_was, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
