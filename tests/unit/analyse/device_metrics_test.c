/* device_metrics_test.c: utilization, SM efficiency, occupancy. */
#include "fake_trace.h"

#include "analyse/device/device_metrics.h"

static void add(fake *f, int gpu, const char *name, const int64_t at[2], double blocks,
                double occupancy) {
    int k = fake_work(f, gpu, KIND_KERNEL, name, at[0], at[1], -1);
    f->slices[k].blocks_per_sm = blocks;
    f->slices[k].occupancy = occupancy;
}
#define ADD(f, gpu, start, dur, blocks, occupancy) \
    add(f, gpu, "elementwise_kernel", (const int64_t[]){start, dur}, blocks, occupancy)

static device_metrics_list measure(fake *f, int64_t from, int64_t to) {
    device_metrics_list list;
    assert_int_equal(
        device_metrics_make(fake_seal(f), (interval){from, to}, &f->arena, &list, NULL), OK);
    return list;
}

/* The original's case: ops 100–220, five kernels on device 1. */
static void overlapping_kernels_fill_the_device_at_most_once(void **state) {
    fake f;
    fake_init(&f);
    int gpu = fake_stream(&f, 1);
    ADD(&f, gpu, 130, 10, 0.5, 0.6);
    ADD(&f, gpu, 135, 15, 0.6, 0.1);
    ADD(&f, gpu, 150, 0, 0.3, 0.2);
    ADD(&f, gpu, 145, 25, 0.3, 1.0);
    ADD(&f, gpu, 200, 20, 10.5, 0.3);
    device_metrics_list list = measure(&f, 100, 220);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.v[0].device, 1);
    assert_near(list.v[0].utilization, 60.0 / 120);
    assert_near(list.v[0].sm_efficiency,
                (.5 * 5 + 1 * 5 + .6 * 5 + .9 * 5 + .3 * 20 + 1 * 20) / 120);
    assert_near(list.v[0].occupancy, (6 + 1.5 + 25 + 6) / 70);
    assert_near(list.v[0].tensor_core_share, 0);
    fake_fini(&f);
}

static void kernels_outside_the_steps_leave_values_unknown(void **state) {
    fake f;
    fake_init(&f);
    int gpu = fake_stream(&f, 1);
    ADD(&f, gpu, 60, 20, 0.5, 0.6);
    ADD(&f, gpu, 240, 25, 10.5, 0.3);
    device_metrics_list list = measure(&f, 100, 200);
    assert_int_equal(list.n, 1);
    assert_near(list.v[0].utilization, 0);
    assert_true(isnan(list.v[0].sm_efficiency) && isnan(list.v[0].occupancy));
    fake_fini(&f);
}

static void many_devices_are_distinguished_and_ascend(void **state) {
    fake f;
    fake_init(&f);
    for (int i = 0; i < 100; i++) {
        int gpu = fake_stream(&f, 99 - i);
        ADD(&f, gpu, 0, 99 - i, 1, 1);
    }
    add(&f, 1, "ampere_h16816gemm", (const int64_t[]){99, 99}, 1, 1); /* device 99 */
    fake_work(&f, 1, KIND_MEMCPY, "copies do not count", 300, 1000, -1);
    device_metrics_list list = measure(&f, 0, 1000);
    assert_int_equal(list.n, 100);
    for (int i = 0; i < 99; i++) {
        assert_int_equal(list.v[i].device, i);
        assert_near(list.v[i].utilization, i / 1000.0);
    }
    assert_near(list.v[99].tensor_core_share, 0.5);
    fake_fini(&f);
}

static void an_empty_range_divides_by_nothing(void **state) {
    fake f;
    fake_init(&f);
    ADD(&f, fake_stream(&f, 0), 60, 20, 0.5, 0.6);
    device_metrics_list list = measure(&f, 100, 100);
    assert_near(list.v[0].utilization, 0);
    assert_true(isnan(list.v[0].sm_efficiency));
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_kernels_fill_the_device_at_most_once),
        cmocka_unit_test(kernels_outside_the_steps_leave_values_unknown),
        cmocka_unit_test(many_devices_are_distinguished_and_ascend),
        cmocka_unit_test(an_empty_range_divides_by_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
