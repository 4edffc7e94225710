/* lod_ready_test.c: boxes that are kept ready are those the tree gives. */
#include <stdio.h>
#include <stdlib.h>

#include "unit/store/lod_helper.h"

/* The same row without what is kept ready. */
static lod_cursor walk(lod *l, uint32_t row, int64_t from, int64_t to, int shift) {
    uint8_t n = l->rows[row].n_ready;
    l->rows[row].n_ready = 0;
    lod_cursor c = lod_begin(l, row, from, to, shift);
    l->rows[row].n_ready = n;
    return c;
}

/* Two threads, slices of all lengths one after the other, some inside others. */
static trace *long_rows(uint32_t seed) {
    scene s;
    char name[32];
    srand(seed);
    scene_init(&s);
    for (int track = 1; track <= 2; track++) {
        uint32_t id = scene_track(&s, 1, track);
        int64_t at = -5000;
        for (int i = 0; i < 12000; i++) {
            int64_t dur = rand() % 50 ? rand() % 40 : rand() % 3000;
            snprintf(name, sizeof name, "n%d", rand() % 20);
            scene_slice(&s, id, KIND_OP, name, at, dur);
            if (i % 3 == 0) scene_slice(&s, id, KIND_OP, "inside", at, dur / 2);
            at += dur + (rand() % 100 ? rand() % 30 : rand() % 20000);
        }
    }
    return scene_done(&s);
}

static void ready_boxes_are_those_of_the_tree(void **state) {
    trace *t = long_rows(21);
    lod *l = lod_of(t);
    uint32_t n_ready = 0;
    for (uint32_t r = 0; r < l->n_rows; r++) {
        const lod_row *row = &l->rows[r];
        for (int shift = 0; shift <= LOD_MAX_SHIFT; shift++) {
            lod_cursor a = lod_begin(l, r, INT64_MIN, INT64_MAX, shift);
            lod_cursor b = walk(l, r, INT64_MIN, INT64_MAX, shift);
            bool ready = shift >= row->ready_shift && shift < row->ready_shift + row->n_ready;
            assert_int_equal(a.ready != NULL, ready);
            n_ready += ready;
            lod_box x, y;
            while (lod_next(&b, &y)) {
                assert_true(lod_next(&a, &x));
                assert_int_equal(x.start_ns, y.start_ns);
                assert_int_equal(x.end_ns, y.end_ns);
                assert_int_equal(x.time_ns, y.time_ns);
                assert_int_equal(x.count, y.count);
                assert_int_equal(t->slice.dur[x.longest], t->slice.dur[y.longest]);
            }
            assert_false(lod_next(&a, &x));
        }
    }
    assert_true(n_ready > 20);
    lod_free(l);
    trace_release(t);
}

static void a_window_of_ready_boxes_is_that_of_the_tree(void **state) {
    trace *t = long_rows(22);
    lod *l = lod_of(t);
    for (int k = 0; k < 2000; k++) {
        uint32_t r = (uint32_t)rand() % l->n_rows;
        if (!l->rows[r].n_ready) continue;
        int shift = l->rows[r].ready_shift + rand() % l->rows[r].n_ready;
        int64_t from = rand() % (1 << 22) - (1 << 16), to = from + 1 + rand() % (1 << 21);
        lod_cursor a = lod_begin(l, r, from, to, shift), b = walk(l, r, from, to, shift);
        lod_box x, y;
        while (lod_next(&b, &y)) {
            assert_true(lod_next(&a, &x));
            assert_int_equal(x.start_ns, y.start_ns);
            assert_int_equal(x.count, y.count);
        }
        assert_false(lod_next(&a, &x));
    }
    lod_free(l);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_boxes_are_those_of_the_tree),
        cmocka_unit_test(a_window_of_ready_boxes_is_that_of_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
