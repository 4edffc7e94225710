/* worker_devices_test.c: the devices of a worker. */
#include "analyse/worker_devices.h"

#include "fake_trace.h"

static table *make_table(arena *a) {
    answer out = {.analysis = "distributed"};
    return answer_table(&out, a, "devices");
}

static void used_devices_are_measured_over_the_steps(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int gpu = fake_stream(&f, 1);
    int k = fake_work(&f, gpu, KIND_KERNEL, "gemm", 100, 50, -1);
    f.slices[k].blocks_per_sm = 0.5;
    f.slices[k].occupancy = 0.25;
    f.t.device.n = 3;
    FAKE_SET(&f, device, id, 1, 0);
    FAKE_SET(&f, device, id, 2, 1);
    FAKE_SET(&f, device, type, 2, DEVICE_CUDA);
    FAKE_SET(&f, device, name, 2, fake_str(&f, "H200"));
    FAKE_SET(&f, device, memory, 2, 1000);
    FAKE_SET(&f, device, sm_count, 2, 132);
    FAKE_SET(&f, device, compute_major, 2, 9);
    FAKE_SET(&f, device, compute_minor, 2, 0);
    analysis_trace at = {.trace = fake_seal(&f), .worker = STR("w"), .rank = 7};
    step_span span = {.start = 100, .end = 200};
    step_spans steps = {.v = &span, .n = 1};
    table *t = make_table(&a);
    assert_int_equal(worker_devices_write(t, &at, &steps, NULL), OK);
    assert_int_equal(t->n_rows, 1); /* the other device did nothing */
    assert_text(fake_text(t, 0, "worker"), "w");
    assert_int_equal(fake_int(t, 0, "rank"), 7);
    assert_int_equal(fake_int(t, 0, "device"), 1);
    assert_text(fake_text(t, 0, "name"), "H200");
    assert_int_equal(fake_int(t, 0, "memory_bytes"), 1000);
    assert_text(fake_text(t, 0, "compute_capability"), "9.0");
    assert_int_equal(fake_int(t, 0, "sm_count"), 132);
    assert_true(fake_real(t, 0, "utilization") == 0.5);
    assert_true(fake_real(t, 0, "sm_efficiency") == 0.25);
    assert_true(fake_real(t, 0, "occupancy") == 0.25);
    arena_fini(&a);
    fake_fini(&f);
}

static void a_worker_without_device_work_has_none(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "aten::mm", 0, 10);
    analysis_trace at = {.trace = fake_seal(&f), .worker = STR("w"), .rank = ABSENT_I64};
    step_spans steps = {.n = 0};
    table *t = make_table(&a);
    assert_int_equal(worker_devices_write(t, &at, &steps, NULL), OK);
    assert_int_equal(t->n_rows, 0);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_devices_are_measured_over_the_steps),
        cmocka_unit_test(a_worker_without_device_work_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
