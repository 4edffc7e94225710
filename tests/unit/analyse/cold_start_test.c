/* cold_start_test.c: calls that take long once are not idle time. */
#include "fake_trace.h"

#include "analyse/steps/cold_start.h"
#include "analyse/steps/step_spans.h"

enum { MS = 1000000 };

/* A kernel right after its launch, which takes `dur`. */
static int add_launch(fake *f, const char *kernel, int64_t at, int64_t dur) {
    int call = fake_add(f, 0, KIND_RUNTIME, "cudaLaunchKernel", at, dur);
    fake_work(f, 1, KIND_KERNEL, kernel, at + dur, 10000, call);
    return call;
}

static void begin(fake *f) {
    fake_init(f);
    (void)fake_thread(f);
    (void)fake_stream(f, 0);
}

static cold_start find(fake *f) {
    cold_start out;
    const trace *t = fake_seal(f);
    assert_int_equal(cold_start_find(t, (interval){0, 100 * MS}, &f->arena, &out, NULL), OK);
    return out;
}

static void code_is_loaded_at_the_first_launch_of_a_kernel(void **state) {
    fake f;
    verdict v = {.id = NULL};
    begin(&f);
    (void)add_launch(&f, "gemm", 0, 10000);
    fake_add(&f, 0, KIND_OP, "aten::relu", 9 * MS, 52 * MS);
    int loads = add_launch(&f, "relu", 10 * MS, 50 * MS);
    (void)add_launch(&f, "relu", 70 * MS, 10000);
    cold_start c = find(&f);
    assert_int_equal(c.ns, 50 * MS);
    assert_int_equal(c.until, 60 * MS);
    assert_int_equal(c.call, f.id[loads]);
    assert_true(cold_start_judge(&f.t, &c, &v));
    assert_string_equal(v.id, "cold_start");
    assert_text(v.args[1].u.text, "aten::relu");
    fake_fini(&f);
}

/* A launch may wait for room in the queue. */
static void a_launch_of_a_known_kernel_is_not_cold(void **state) {
    fake f;
    begin(&f);
    (void)add_launch(&f, "gemm", 0, 10000);
    (void)add_launch(&f, "gemm", 10 * MS, 50 * MS);
    assert_int_equal(find(&f).ns, 0);
    fake_fini(&f);
}

static void calls_that_wait_are_not_cold(void **state) {
    fake f;
    begin(&f);
    (void)add_launch(&f, "gemm", 0, 10000);
    fake_add(&f, 0, KIND_OP, "aten::to", 9 * MS, 32 * MS);
    fake_add(&f, 0, KIND_RUNTIME, "cudaMemcpyAsync", 10 * MS, 30 * MS);
    fake_add(&f, 0, KIND_OP, "aten::to", 50 * MS, 1000);
    fake_add(&f, 0, KIND_OP, "aten::to", 51 * MS, 1000);
    fake_add(&f, 0, KIND_RUNTIME, "cudaStreamSynchronize", 60 * MS, 30 * MS);
    assert_int_equal(find(&f).ns, 0);
    fake_fini(&f);
}

/* The third long cudaFree is what the program does all the time. */
static void only_the_first_calls_of_a_name_are_cold(void **state) {
    fake f;
    begin(&f);
    for (int i = 0; i < 4; i++) fake_add(&f, 0, KIND_RUNTIME, "cudaFree", i * 20 * MS, 15 * MS);
    (void)add_launch(&f, "gemm", 90 * MS, 10000);
    cold_start c = find(&f);
    assert_int_equal(c.ns, 30 * MS);
    assert_int_equal(c.until, 35 * MS);
    fake_fini(&f);
}

static void an_operator_is_cold_when_later_calls_are_short(void **state) {
    fake f;
    for (int long_ones = 1; long_ones <= 4; long_ones += 3) {
        begin(&f);
        for (int i = 0; i < 5; i++)
            fake_add(&f, 0, KIND_OP, "aten::conv2d", i * 20 * MS,
                     i < long_ones ? 18 * MS : 10000);
        fake_add(&f, 0, KIND_OP, "aten::randn", 19 * MS, 500000);
        (void)add_launch(&f, "gemm", 99 * MS, 10000);
        assert_int_equal(find(&f).ns, 0); /* 18 % is too little to be looked at */
        fake_fini(&f);
    }
    begin(&f);
    for (int i = 0; i < 5; i++)
        fake_add(&f, 0, KIND_OP, "aten::conv2d", i ? 70 * MS + i * MS : 0, i ? 10000 : 60 * MS);
    (void)add_launch(&f, "gemm", 99 * MS, 10000);
    assert_int_equal(find(&f).ns, 60 * MS);
    fake_fini(&f);
}

/* Most comes after the cold start: the one step begins there. */
static void a_recording_without_steps_begins_after_its_cold_start(void **state) {
    fake f;
    selection s;
    step_spans out;
    verdict v = {.id = NULL};
    begin(&f);
    fake_add(&f, 0, KIND_OP, "main", 0, 100 * MS);
    fake_add(&f, 0, KIND_RUNTIME, "cudaFree", MS, 39 * MS);
    for (int i = 0; i < 10; i++) (void)add_launch(&f, "gemm", (45 + i) * MS, 10000);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    select_init(&s, t, &p);
    assert_int_equal(step_spans_make(t, &s, &f.arena, &out, NULL), OK);
    assert_int_equal(out.v[0].start, 40 * MS);
    assert_true(out.cold.is_before);
    assert_false(cold_start_judge(t, &out.cold, &v));
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_loaded_at_the_first_launch_of_a_kernel),
        cmocka_unit_test(a_launch_of_a_known_kernel_is_not_cold),
        cmocka_unit_test(calls_that_wait_are_not_cold),
        cmocka_unit_test(only_the_first_calls_of_a_name_are_cold),
        cmocka_unit_test(an_operator_is_cold_when_later_calls_are_short),
        cmocka_unit_test(a_recording_without_steps_begins_after_its_cold_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
