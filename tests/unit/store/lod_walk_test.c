/* lod_walk_test.c: rows and series read at every level: totals, borders, stability. */
#include <stdlib.h>

#include "unit/store/lod_helper.h"

/* Counts and times of all boxes are those of the slices, whatever the size of the buckets. */
static void totals_of_a_row_are_the_same_at_every_level(void **state) {
    for (uint32_t seed = 1; seed < 5; seed++) {
        trace *t = random_trace(seed, 3000);
        lod *l = lod_of(t);
        for (uint32_t r = 0; r < l->n_rows; r++) {
            bool instants = lod_is_instants(l, &l->rows[r]);
            int64_t time = 0;
            for (uint32_t i = l->rows[r].first; i < l->rows[r].end; i++)
                time += instants ? 0 : t->slice.dur[l->entries[i].id];
            for (int shift = 0; shift <= LOD_MAX_SHIFT; shift++) {
                lod_cursor c = lod_begin(l, r, INT64_MIN, INT64_MAX, shift);
                uint64_t count = 0;
                int64_t sum = 0, end = INT64_MIN;
                for (lod_box b; lod_next(&c, &b);) {
                    count += b.count;
                    sum += b.time_ns;
                    assert_true(b.start_ns >= end);
                    if (b.count > 1)
                        assert_true((b.end_ns - b.start_ns) >> 1 < INT64_C(1) << shift);
                    end = b.start_ns;
                }
                assert_int_equal(count, l->rows[r].end - l->rows[r].first);
                assert_int_equal(sum, time);
            }
        }
        lod_free(l);
        trace_release(t);
    }
}

/* The same boxes by looking at every slice. */
static void boxes_are_those_of_a_plain_count(void **state) {
    trace *t = random_trace(7, 4000);
    lod *l = lod_of(t);
    for (uint32_t r = 0; r < l->n_rows; r++) {
        if (lod_is_instants(l, &l->rows[r])) continue;
        for (int shift = 0; shift < 26; shift += 3) {
            lod_cursor c = lod_begin(l, r, INT64_MIN, INT64_MAX, shift);
            uint32_t i = l->rows[r].first;
            for (lod_box b; lod_next(&c, &b);) {
                int64_t bucket = t->slice.start[l->entries[i].id] >> shift, longest = -1;
                assert_int_equal(b.start_ns, t->slice.start[l->entries[i].id]);
                uint32_t n = 0;
                while (i < l->rows[r].end) {
                    uint32_t id = l->entries[i].id;
                    bool is_long = t->slice.dur[id] >> shift > 0;
                    if (n && (is_long || t->slice.start[id] >> shift != bucket)) break;
                    if (t->slice.dur[id] > longest) longest = t->slice.dur[id];
                    n++;
                    i++;
                    if (is_long) break;
                }
                assert_int_equal(b.count, n);
                assert_int_equal(t->slice.dur[b.longest], longest);
                assert_int_equal(b.end_ns, trace_slice_end(t, l->entries[i - 1].id));
            }
            assert_int_equal(i, l->rows[r].end);
        }
    }
    lod_free(l);
    trace_release(t);
}

/* A window shows the boxes that the whole row shows there: panning changes nothing. */
static void a_window_shows_the_boxes_of_the_whole(void **state) {
    trace *t = random_trace(3, 2000);
    lod *l = lod_of(t);
    for (int k = 0; k < 300; k++) {
        uint32_t r = (uint32_t)rand() % l->n_rows;
        int shift = rand() % 20;
        int64_t from = rand() % (1 << 24), to = from + 1 + rand() % (1 << 22);
        lod_cursor whole = lod_begin(l, r, INT64_MIN, INT64_MAX, shift);
        lod_cursor window = lod_begin(l, r, from, to, shift);
        lod_box a, b = {.count = 0};
        bool more = lod_next(&window, &b);
        while (lod_next(&whole, &a)) {
            bool touches = a.start_ns < to && (a.end_ns > from || a.start_ns >= from);
            if (touches) assert_true(more && a.start_ns >= b.start_ns);
            if (!more || a.start_ns != b.start_ns) continue;
            assert_int_equal(a.count, b.count);
            assert_int_equal(a.end_ns, b.end_ns);
            assert_int_equal(a.longest, b.longest);
            more = lod_next(&window, &b);
        }
        assert_false(more);
    }
    lod_free(l);
    trace_release(t);
}

static void a_long_slice_is_a_separate_box(void **state) {
    scene s;
    scene_init(&s);
    uint32_t track = scene_track(&s, 1, 1);
    for (int i = 0; i < 20; i++) scene_slice(&s, track, KIND_OP, "short", i * 10, 5);
    scene_slice(&s, track, KIND_OP, "long", 200, 5000);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    lod_cursor c = lod_begin(l, 0, 0, 10000, 10);
    lod_box b;
    assert_true(lod_next(&c, &b));
    assert_int_equal(b.count, 20);
    assert_int_equal(b.time_ns, 100);
    assert_int_equal(b.start_ns, 0);
    assert_int_equal(b.end_ns, 195);
    assert_true(lod_next(&c, &b));
    assert_int_equal(b.count, 1);
    assert_int_equal(b.start_ns, 200);
    assert_int_equal(b.end_ns, 5200);
    assert_false(lod_next(&c, &b));
    c = lod_begin(l, 0, 3000, 3001, 4); /* it is running in the window */
    assert_true(lod_next(&c, &b));
    assert_int_equal(b.start_ns, 200);
    assert_false(lod_next(&c, &b));
    lod_free(l);
    trace_release(t);
}

static void points_keep_smallest_largest_and_last(void **state) {
    trace *t = random_trace(11, 6000);
    lod *l = lod_of(t);
    assert_int_equal(l->n_series, 2);
    for (uint32_t s = 0; s < l->n_series; s++)
        for (int shift = 0; shift < 28; shift++) {
            lod_point_cursor c = lod_points(l, s, INT64_MIN, INT64_MAX, shift);
            uint32_t i = l->series[s].first;
            for (lod_point p; lod_next_point(&c, &p);) {
                double min = INFINITY, max = -INFINITY, last = 0;
                for (uint32_t k = 0; k < p.count; k++, i++) {
                    last = l->point_value[i];
                    if (last < min) min = last;
                    if (last > max) max = last;
                    assert_int_equal(l->point_time[i] >> shift, p.time_ns >> shift);
                }
                assert_true(p.min == min && p.max == max && p.last == last);
            }
            assert_int_equal(i, l->series[s].end);
        }
    lod_free(l);
    trace_release(t);
}

static void the_value_from_before_the_window_comes_first(void **state) {
    scene s;
    scene_init(&s);
    uint32_t track = scene_track(&s, 1, 1);
    scene_counter(&s, track, "c", 10, 1);
    scene_counter(&s, track, "c", 100, 2);
    scene_counter(&s, track, "c", 200, 3);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    lod_point_cursor c = lod_points(l, 0, 150, 190, 0);
    lod_point p;
    assert_true(lod_next_point(&c, &p));
    assert_int_equal(p.time_ns, 100);
    assert_true(p.last == 2);
    assert_false(lod_next_point(&c, &p));
    lod_free(l);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_of_a_row_are_the_same_at_every_level),
        cmocka_unit_test(boxes_are_those_of_a_plain_count),
        cmocka_unit_test(a_window_shows_the_boxes_of_the_whole),
        cmocka_unit_test(a_long_slice_is_a_separate_box),
        cmocka_unit_test(points_keep_smallest_largest_and_last),
        cmocka_unit_test(the_value_from_before_the_window_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
