/* minimap_test.c: the strip above every view. */
#include "analyse/timeline/minimap.h"

#include "timeline_trace.h"

static void a_pixel_holds_the_share_of_its_time(void **state) {
    timeline x;
    minimap p;
    timeline_init(&x);
    minimap range = {.from_ns = 0, .to_ns = 400, .width_px = 4};
    assert_int_equal(minimap_make(x.l, &range, &x.a, &p, NULL), OK);
    assert_int_equal(p.shares[MINIMAP_DEVICE][0], (30 * 255 + 50) / 100); /* 40 … 70 of 100 */
    assert_int_equal(p.shares[MINIMAP_DEVICE][1], 0);
    assert_int_equal(p.shares[MINIMAP_DEVICE][2], (50 * 255 + 50) / 100);
    assert_true(p.shares[MINIMAP_DATA][0] > 0);
    assert_int_equal(p.shares[MINIMAP_DATA][1], 0);
    assert_true(p.shares[MINIMAP_HOST][0] > 0);
    assert_null(p.shares[MINIMAP_COMMUNICATION]);
    timeline_fini(&x);
}

static void communication_is_added_up_over_pixels(void **state) {
    fake f;
    minimap p;
    lod *l = NULL;
    fake_init(&f);
    int gpu = fake_stream(&f, 0);
    fake_work(&f, gpu, KIND_KERNEL, "ncclDevKernel_AllReduce_Sum_f32", 50, 200, -1);
    fake_work(&f, gpu, KIND_KERNEL, "gemm", 300, 100, -1);
    const trace *t = fake_seal(&f);
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    minimap range = {.from_ns = 0, .to_ns = 400, .width_px = 4};
    assert_int_equal(minimap_make(l, &range, &f.arena, &p, NULL), OK);
    assert_int_equal(p.shares[MINIMAP_COMMUNICATION][0], 128);
    assert_int_equal(p.shares[MINIMAP_COMMUNICATION][1], 255);
    assert_int_equal(p.shares[MINIMAP_COMMUNICATION][2], 128);
    assert_int_equal(p.shares[MINIMAP_COMMUNICATION][3], 0);
    assert_null(p.shares[MINIMAP_DATA]);
    lod_free(l);
    fake_fini(&f);
}

static void more_pixels_than_nanoseconds_is_fine(void **state) {
    timeline x;
    minimap p;
    timeline_init(&x);
    minimap range = {.from_ns = 40, .to_ns = 43, .width_px = 1000};
    assert_int_equal(minimap_make(x.l, &range, &x.a, &p, NULL), OK);
    for (int i = 0; i < N_MINIMAP_ROWS; i++) assert_non_null(minimap_row_name((minimap_row)i));
    timeline_fini(&x);
}

static void all_of_time_does_not_overflow(void **state) {
    timeline x;
    minimap p;
    timeline_init(&x);
    for (uint32_t width = 1; width <= 1000; width *= 10) {
        minimap range = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .width_px = width};
        assert_int_equal(minimap_make(x.l, &range, &x.a, &p, NULL), OK);
        assert_int_equal(p.shares[MINIMAP_DEVICE][0], width > 1 ? 0 : 1);
    }
    timeline_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pixel_holds_the_share_of_its_time),
        cmocka_unit_test(communication_is_added_up_over_pixels),
        cmocka_unit_test(more_pixels_than_nanoseconds_is_fine),
        cmocka_unit_test(all_of_time_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
