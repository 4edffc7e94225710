/* lod_cover_test.c: the share of time in which something ran. */
#include <stdlib.h>

#include "unit/store/lod_helper.h"

static void cover_is_the_union_of_all_streams(void **state) {
    scene s;
    scene_init(&s);
    uint32_t a = scene_track(&s, 0, 7), b = scene_track(&s, 0, 8), c = scene_track(&s, 1, 7);
    uint32_t host = scene_track(&s, 9, 9);
    scene_kernel(&s, a, "k", 0, 100, 100);
    scene_kernel(&s, a, "k", 0, 400, 100);
    scene_kernel(&s, b, "k", 0, 150, 100);
    scene_kernel(&s, c, "k", 1, 200, 250);
    scene_slice(&s, host, KIND_OP, "op", 0, 50);
    scene_slice(&s, host, KIND_OP, "op", 10, 20);
    scene_slice(&s, host, KIND_DATA, "next", 60, 40);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    assert_int_equal(l->n_devices, 2);
    assert_int_equal(lod_covered(&l->devices[0].busy, 0, 1000), 250);
    assert_int_equal(lod_covered(&l->devices[1].busy, 0, 1000), 250);
    assert_int_equal(lod_covered(&l->device, 0, 1000), 400);
    assert_int_equal(lod_covered(&l->device, 0, 150), 50);
    assert_int_equal(lod_covered(&l->device, 450, 460), 10);
    assert_int_equal(lod_covered(&l->device, 600, 700), 0);
    assert_int_equal(lod_covered(&l->device, 200, 100), 0);
    assert_int_equal(lod_covered(&l->device, INT64_MIN, INT64_MAX), 400);
    assert_int_equal(lod_covered(&l->host, 0, 1000), 50);
    assert_int_equal(lod_covered(&l->data, 0, 1000), 40);
    lod_free(l);
    trace_release(t);
}

/* Against counting nanosecond by nanosecond. */
static void cover_is_what_a_plain_count_finds(void **state) {
    enum { END = 1 << 12 };
    static uint8_t busy[END * 2];
    scene s;
    scene_init(&s);
    uint32_t a = scene_track(&s, 0, 7), b = scene_track(&s, 0, 8);
    srand(3);
    for (int i = 0; i < 150; i++) {
        int start = rand() % END, length = rand() % 40;
        scene_kernel(&s, i % 2 ? a : b, "k", 0, start, length);
        for (int k = 0; k < length; k++) busy[start + k] = 1;
    }
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    for (int i = 0; i < 200; i++) {
        int from = rand() % END, to = from + rand() % 500, n = 0;
        for (int k = from; k < to && k < END * 2; k++) n += busy[k];
        assert_int_equal(lod_covered(&l->device, from, to), n);
    }
    lod_free(l);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cover_is_the_union_of_all_streams),
        cmocka_unit_test(cover_is_what_a_plain_count_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
