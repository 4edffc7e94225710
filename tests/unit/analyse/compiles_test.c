/* compiles_test.c: compilations that a program waited for. */
#include "analyse/operators/compiles.h"

#include "built_trace.h"

enum { MAIN = 1, OTHER = 2 };

static void add_instant(built *x, int tid, const char *name, int64_t time) {
    raw_instant row = {.time = time, .name = built_str(x, name)};
    row.track = part_track(x->p, (ident){.v = 1}, (ident){.v = tid});
    assert_int_equal(part_instant(x->p, &row), OK);
}

static void add_sample(built *x, int tid, int64_t time, int64_t dur, const char *outer,
                       const char *inner) {
    uint32_t frame = builder_frame(x->b, 0, built_str(x, outer));
    raw_sample row = {
        .time = time, .dur = dur, .frame = builder_frame(x->b, frame, built_str(x, inner))};
    row.track = part_track(x->p, (ident){.v = 1}, (ident){.v = tid});
    assert_int_equal(part_sample(x->p, &row), OK);
}

/* Two compilations of one function, the second one because a size has changed; parts of the
 * compiler inside; a third on another thread that only its name tells. */
static void make_trace(built *x) {
    built_init(x);
    built_slice(x, MAIN, KIND_COMPILE, "torch.compile: /home/a/train.py(12): forward", 10, 40);
    built_slice(x, MAIN, KIND_ANNOTATION, "compile_inner (dynamo_timed)", 12, 30);
    built_slice(x, MAIN, KIND_OP, "aten::mm", 60, 5);
    built_slice(x, MAIN, KIND_COMPILE, "torch.compile: /home/a/train.py(12): forward", 100, 60);
    add_instant(x, OTHER, "compiled again: of another thread", 105);
    add_instant(x, MAIN, "compiled again: size of x is 8", 105);
    add_instant(x, MAIN, "compiled again: a second reason", 106);
    add_instant(x, MAIN, "compiled again: after the end", 170);
    built_slice(x, OTHER, KIND_ANNOTATION, "jax.compile(f)", 200, 7);
    add_sample(x, MAIN, 5, 10, "/home/a/train.py(40): main", "/home/a/train.py(41): before");
    add_sample(x, MAIN, 15, 200, "/home/a/train.py(88): main",
               "/usr/lib/python3/site-packages/torch/_dynamo/x.py(9): _compile");
    built_seal(x);
}

static void each_outermost_range_is_one(void **state) {
    built x;
    compile_events c;
    make_trace(&x);
    assert_int_equal(compiles_find(x.t, &x.arena, &c, NULL), OK);
    assert_int_equal(c.n, 3);
    assert_true(str_eq(c.v[0].what, STR("forward (train.py:12)")));
    assert_true(str_eq(c.v[2].what, STR("jax.compile(f)")));
    (void)state;
    built_fini(&x);
}

static void the_line_runs_most_of_the_time(void **state) {
    built x;
    compile_events c;
    make_trace(&x);
    assert_int_equal(compiles_find(x.t, &x.arena, &c, NULL), OK);
    assert_int_equal(x.t->frame.line[c.v[0].site], 88);
    assert_int_equal(x.t->frame.line[c.v[1].site], 88);
    assert_int_equal(c.v[2].site, 0);
    (void)state;
    built_fini(&x);
}

static void the_first_reason_inside_of_it_counts(void **state) {
    built x;
    compile_events c;
    make_trace(&x);
    assert_int_equal(compiles_find(x.t, &x.arena, &c, NULL), OK);
    assert_int_equal(c.v[0].why.n, 0);
    assert_true(str_eq(c.v[1].why, STR("size of x is 8")));
    assert_int_equal(c.v[2].why.n, 0);
    (void)state;
    built_fini(&x);
}

static void an_interval_has_those_that_begin_in_it(void **state) {
    built x;
    compile_events c;
    const compile_event *longest;
    make_trace(&x);
    assert_int_equal(compiles_find(x.t, &x.arena, &c, NULL), OK);
    assert_int_equal(compiles_ns_in(x.t, &c, (interval){0, 101}, &longest), 100);
    assert_ptr_equal(longest, &c.v[1]);
    assert_int_equal(compiles_ns_in(x.t, &c, (interval){60, 100}, &longest), 0);
    assert_null(longest);
    verdict v = {.n_args = 0};
    compiles_say(x.t, &c, (interval){90, 190}, 243, &x.arena, &v);
    assert_int_equal(v.n_args, 3 + 1);
    v.n_args = 0;
    compiles_say(x.t, &c, (interval){90, 190}, 244, &x.arena, &v);
    assert_int_equal(v.n_args, 0);
    (void)state;
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_outermost_range_is_one),
        cmocka_unit_test(the_line_runs_most_of_the_time),
        cmocka_unit_test(the_first_reason_inside_of_it_counts),
        cmocka_unit_test(an_interval_has_those_that_begin_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
