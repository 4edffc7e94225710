/* held_device_test.c: work from before the recording that nothing is recorded of. */
#include "fake_trace.h"

#include "analyse/steps/held_device.h"
#include "analyse/steps/step_spans.h"

enum { MS = 1000000 };

/* A kernel on `gpu`, launched at one time and started at another. */
static void add_work(fake *f, int host, int gpu, int64_t launched, int64_t start, int64_t dur) {
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", launched, 1000);
    fake_work(f, gpu, KIND_KERNEL, "gemm", start, dur, call);
}

static int64_t held_until(fake *f) {
    arena a;
    int64_t until = 0;
    arena_init(&a, 0);
    assert_int_equal(held_device_until(fake_seal(f), &a, &until, NULL), OK);
    arena_fini(&a);
    return until;
}

static void device_is_held_until_the_late_start_of_its_first_work(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, MS);
    add_work(&f, host, gpu, 100000, 100 * MS, 50 * MS);
    add_work(&f, host, gpu, 200000, 150 * MS, 50 * MS);
    assert_int_equal(held_until(&f), 100 * MS);
    fake_fini(&f);
}

static void device_is_not_held_when_its_first_work_starts_at_once(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, MS);
    add_work(&f, host, gpu, 100000, 120000, 50 * MS);
    add_work(&f, host, gpu, 200000, 100 * MS, 50 * MS); /* late, but not the stream's first */
    assert_int_equal(held_until(&f), INT64_MIN);
    fake_fini(&f);
}

/* The second stream waits for the first, whose work is recorded. */
static void device_is_not_held_by_recorded_work(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0), other = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, MS);
    add_work(&f, host, gpu, 100000, 120000, 99 * MS);
    add_work(&f, host, other, 200000, 99 * MS + 130000, 50 * MS);
    assert_int_equal(held_until(&f), INT64_MIN);
    fake_fini(&f);
}

/* What is launched late in the recording may have waited for anything. */
static void device_is_not_held_from_before_when_the_launch_comes_late(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, MS);
    add_work(&f, host, gpu, 120 * MS, 126 * MS, 50 * MS);
    assert_int_equal(held_until(&f), INT64_MIN);
    fake_fini(&f);
}

/* Launches of the recording whose work is missing are what it may have waited for. */
static void device_is_not_held_when_its_records_were_lost(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, MS);
    for (int i = 0; i < 12; i++)
        fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 10000 + i * 5000, 2000);
    add_work(&f, host, gpu, 100000, 100 * MS, 50 * MS);
    assert_int_equal(held_until(&f), INT64_MIN);
    fake_fini(&f);
}

static void recording_begins_when_the_device_is_free(void **state) {
    fake f;
    arena a;
    step_spans s;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, MS);
    add_work(&f, host, gpu, 100000, 100 * MS, 50 * MS);
    arena_init(&a, 0);
    const trace *t = fake_seal(&f);
    selection all = select_all(t);
    assert_int_equal(step_spans_make(t, &all, &a, &s, NULL), OK);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.v[0].start, 100 * MS);
    assert_int_equal(s.v[0].end, 150 * MS);
    assert_int_equal(s.held_until, 100 * MS);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_held_until_the_late_start_of_its_first_work),
        cmocka_unit_test(device_is_not_held_when_its_first_work_starts_at_once),
        cmocka_unit_test(device_is_not_held_by_recorded_work),
        cmocka_unit_test(device_is_not_held_from_before_when_the_launch_comes_late),
        cmocka_unit_test(device_is_not_held_when_its_records_were_lost),
        cmocka_unit_test(recording_begins_when_the_device_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
