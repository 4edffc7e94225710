/* xplane_cpu_calls_test.c: which call launched which run of a program on the CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/xplane/xplane.h"
#include "unit/ingest/made_profile.h"
#include "unit/ingest/read_helper.h"

#define HELPER "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"

typedef struct {
    plane_writer p;
    buf python, pool;
} profile;

static profile begin_profile(void) {
    return (profile){.p = begin_plane("/host:CPU")};
}

static void put_call(profile *f, const char *function, uint64_t start) {
    if (function) put_event(&f->p, &f->python, function, start, 80);
    put_event(&f->p, &f->python, HELPER, start + 10, 50);
}

/* One instruction, called after its run. */
static void put_run(profile *f, const char *module, int64_t run, uint64_t start) {
    char name[32];
    snprintf(name, sizeof name, "run_%d", (int)run);
    buf e = event_of(&f->p, name, start, 20);
    put_stat_ref(&f->p, &e, 4, "hlo_op", name);
    put_stat_ref(&f->p, &e, 4, "hlo_module", module);
    put_stat_int(&f->p, &e, 4, "run_id", run);
    put_message(&f->pool, 4, &e);
}

static trace *read_profile(profile *f) {
    buf file = {0};
    error err = {0};
    put_line(&f->p, -1, "python", &f->python);
    put_line(&f->p, -2, "tf_XLAEigen/1", &f->pool);
    end_plane(&f->p, &file);
    trace *t = read_with(ingest_xplane, buf_str(&file), (read_how){0}, &err);
    assert_non_null(t);
    buf_fini(&file);
    return t;
}

/* When the call of a run began, in the times of the profile; -1: it has none. */
static int64_t call_of(const trace *t, const char *name) {
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (str_eq(trace_slice_name(t, t->kernel.slice[k]), str_of(name)))
            return t->kernel.launch[k] ? t->slice.start[t->kernel.launch[k]] - 500 - 10 : -1;
    return -2;
}

static void calls_of_a_function_launch_its_runs_in_order(void **state) {
    profile f = begin_profile();
    put_call(&f, "PjitFunction(step)", 1000);
    put_call(&f, "PjitFunction(eval)", 1200);
    put_call(&f, "PjitFunction(step)", 1400);
    put_run(&f, "jit_step", 1, 2000);
    put_run(&f, "jit_step", 2, 2100);
    put_run(&f, "jit_eval", 9, 2200);
    trace *t = read_profile(&f);
    assert_int_equal(call_of(t, "run_1"), 1000);
    assert_int_equal(call_of(t, "run_2"), 1400);
    assert_int_equal(call_of(t, "run_9"), 1200);
    trace_release(t);
}

static void runs_before_the_first_call_belong_to_earlier_ones(void **state) {
    profile f = begin_profile();
    put_run(&f, "jit_step", 1, 500);
    put_call(&f, "PjitFunction(step)", 1000);
    put_run(&f, "jit_step", 2, 1300);
    put_call(&f, "PjitFunction(step)", 1400);
    put_run(&f, "jit_step", 3, 1600);
    trace *t = read_profile(&f);
    assert_int_equal(call_of(t, "run_1"), -1);
    assert_int_equal(call_of(t, "run_2"), 1000);
    assert_int_equal(call_of(t, "run_3"), 1400);
    trace_release(t);
}

/* XLA's names have fewer characters than those of Python. */
static void names_are_compared_by_letters_and_digits(void **state) {
    profile f = begin_profile();
    put_call(&f, "PjitFunction(<lambda>)", 1000);
    put_call(&f, "PjitFunction(jit(f_2))", 1200);
    put_run(&f, "jit__lambda", 1, 2000);
    put_run(&f, "jit_f_2", 2, 2100);
    trace *t = read_profile(&f);
    assert_int_equal(call_of(t, "run_1"), 1000);
    assert_int_equal(call_of(t, "run_2"), 1200);
    trace_release(t);
}

static void calls_outside_of_functions_launch_what_is_left(void **state) {
    profile f = begin_profile();
    put_call(&f, "PjitFunction(step)", 1000);
    put_call(&f, NULL, 1200);
    put_run(&f, "jit_ahead", 5, 2000);
    put_run(&f, "jit_step", 1, 2100);
    trace *t = read_profile(&f);
    assert_int_equal(call_of(t, "run_1"), 1000);
    assert_int_equal(call_of(t, "run_5"), 1200);
    trace_release(t);
}

/* Several devices: the call has the number of the run, and so has one for each device. */
static void a_call_that_names_its_run_is_believed(void **state) {
    profile f = begin_profile();
    const uint64_t starts[] = {1000, 1200};
    for (int i = 0; i < 2; i++) {
        buf e = event_of(&f.p, "CommonPjRtLoadedExecutable::Execute (jit_step)", starts[i], 90);
        put_stat_int(&f.p, &e, 4, "run_id", i ? -3 : -4);
        put_message(&f.python, 4, &e);
    }
    put_run(&f, "jit_step", -3, 2000); /* the later one ran first */
    put_run(&f, "jit_step", -4, 2100);
    trace *t = read_profile(&f);
    assert_int_equal(call_of(t, "run_-3"), 1200 - 10);
    assert_int_equal(call_of(t, "run_-4"), 1000 - 10);
    trace_release(t);
}

static void a_call_without_a_run_is_a_range(void **state) {
    profile f = begin_profile();
    put_call(&f, "PjitFunction(step)", 1000);
    put_call(&f, "PjitFunction(step)", 3000);
    put_run(&f, "jit_step", 1, 2000);
    trace *t = read_profile(&f);
    assert_int_equal(call_of(t, "run_1"), 1000);
    assert_int_equal(t->kind_count[KIND_RUNTIME], 1);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_a_function_launch_its_runs_in_order),
        cmocka_unit_test(runs_before_the_first_call_belong_to_earlier_ones),
        cmocka_unit_test(names_are_compared_by_letters_and_digits),
        cmocka_unit_test(calls_outside_of_functions_launch_what_is_left),
        cmocka_unit_test(a_call_that_names_its_run_is_believed),
        cmocka_unit_test(a_call_without_a_run_is_a_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
