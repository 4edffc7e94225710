/* lod_series_test.c: counters and memory curves, each by itself. */
#include "unit/store/lod_helper.h"

static void series_are_distinguished_and_keep_their_order(void **state) {
    scene s;
    scene_init(&s);
    uint32_t a = scene_track(&s, 1, 1), b = scene_track(&s, 1, 2);
    for (int i = 0; i < 100; i++) {
        scene_counter(&s, a, "x", i, i);
        scene_counter(&s, a, "y", i, -i);
        scene_counter(&s, b, "x", i, 7);
        scene_memory(&s, a, 0, i, 1000 + i);
        scene_memory(&s, a, 1, i, 2000);
    }
    scene_counter(&s, a, "x", 200, NAN);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    assert_int_equal(l->n_series, 5);
    for (uint32_t k = 0; k < l->n_series; k++) {
        const lod_series *r = &l->series[k];
        assert_int_equal(r->end - r->first, 100);
        for (uint32_t i = r->first; i < r->end; i++)
            assert_int_equal(l->point_time[i], i - r->first);
        if (!r->track) assert_int_equal(r->device_type, DEVICE_CUDA);
        str name = trace_str(t, r->name);
        if (str_eq(name, STR("y"))) assert_true(r->min == -99 && r->max == 0);
        if (str_eq(name, STR("x")) && r->min != 7) assert_true(r->min == 0 && r->max == 99);
        if (!r->track && r->device == 0) assert_true(r->min == 1000 && r->max == 1099);
    }
    lod_free(l);
    trace_release(t);
}

static void totals_that_were_not_written_make_no_curve(void **state) {
    scene s;
    scene_init(&s);
    uint32_t a = scene_track(&s, 1, 1);
    scene_memory(&s, a, 0, 1, ABSENT_I64);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    assert_int_equal(l->n_series, 0);
    lod_free(l);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_are_distinguished_and_keep_their_order),
        cmocka_unit_test(totals_that_were_not_written_make_no_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
