/* select_test.c: windows and steps. */
#include "fake_trace.h"

#include "analyse/select.h"

static void a_window_clips_by_overlap_and_counts_by_start(void **state) {
    fake f;
    fake_init(&f);
    int h = fake_add(&f, fake_thread(&f), KIND_OP, "op", 1000, 100);
    fake_add(&f, 1, KIND_OP, "first", 900, 10); /* the trace starts at 900 */
    const trace *t = fake_seal(&f);
    params p = fake_params();
    p.from_ns = 150, p.to_ns = 170; /* 1050 … 1070 */
    selection s;
    select_init(&s, t, &p);
    assert_true(s.by_time && !s.by_step);
    assert_false(select_counts(&s, f.id[h]));
    assert_int_equal(select_ns(&s, f.id[h]), 20);
    assert_int_equal(select_clip(&s, 1060, 2000), 10);
    assert_int_equal(select_clip(&s, 1070, 2000), 0);
    p.from_ns = 100, p.to_ns = 101; /* a window holds its first nanosecond, not its last */
    select_init(&s, t, &p);
    assert_true(select_counts(&s, f.id[h]));
    p.from_ns = 99, p.to_ns = 100;
    select_init(&s, t, &p);
    assert_false(select_counts(&s, f.id[h]));
    fake_fini(&f);
}

static void without_a_cut_everything_counts_whole(void **state) {
    fake f;
    fake_init(&f);
    int h = fake_add(&f, fake_thread(&f), KIND_OP, "op", 5, 7);
    params p = fake_params();
    selection s;
    select_init(&s, fake_seal(&f), &p);
    assert_false(s.by_time || s.by_step);
    assert_true(select_counts(&s, f.id[h]));
    assert_int_equal(select_ns(&s, f.id[h]), 7);
    fake_fini(&f);
}

static void device_work_belongs_to_the_step_of_its_launch(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 50, 5);
    int known = fake_work(&f, gpu, KIND_KERNEL, "k", 130, 20, call);
    int unknown = fake_work(&f, gpu, KIND_KERNEL, "k", 160, 30, -1);
    fake_step(&f, 1, 0, 100);
    fake_step(&f, 2, 100, 200);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    p.first_step = p.last_step = 1;
    selection s;
    select_init(&s, t, &p);
    assert_int_equal(select_ns(&s, f.id[known]), 20);
    assert_int_equal(select_ns(&s, f.id[unknown]), 0);
    assert_true(select_work_counts(&s, trace_kernel_of(t, f.id[known])));
    assert_int_equal(select_work_ns(&s, trace_kernel_of(t, f.id[known])), 20);
    p.first_step = p.last_step = 2;
    select_init(&s, t, &p);
    assert_int_equal(select_ns(&s, f.id[known]), 0);
    assert_int_equal(select_work_ns(&s, trace_kernel_of(t, f.id[unknown])), 30);
    fake_fini(&f);
}

static void a_time_between_steps_belongs_to_none(void **state) {
    fake f;
    fake_init(&f);
    int h = fake_add(&f, fake_thread(&f), KIND_OP, "between", 105, 3);
    fake_step(&f, 1, 0, 100);
    fake_step(&f, 2, 110, 200);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    p.first_step = 1;
    selection s;
    select_init(&s, t, &p);
    assert_true(s.by_step);
    assert_false(select_counts(&s, f.id[h]));
    assert_true(select_step(&s, 110));
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_clips_by_overlap_and_counts_by_start),
        cmocka_unit_test(without_a_cut_everything_counts_whole),
        cmocka_unit_test(device_work_belongs_to_the_step_of_its_launch),
        cmocka_unit_test(a_time_between_steps_belongs_to_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
