/* seal_nest_test.c: which slice encloses which, and on which row it is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

/* An X event on thread `tid` of process 1. */
#define X(cat, name, tid, ts, dur, args)                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"

static void a_slice_is_the_child_of_the_innermost_around_it(void **state) {
    trace *t =
        read_events(EVENTS(X("cpu_op", "a", 1, 0, 100, ""), X("cpu_op", "b", 1, 10, 50, ""),
                           X("cpu_op", "c", 1, 20, 10, ""), X("cpu_op", "d", 1, 30, 30, ""),
                           X("cpu_op", "e", 1, 60, 40, ""), X("cpu_op", "f", 1, 100, 5, "")));
    static const uint32_t parent[] = {0, 0, 1, 2, 2, 1, 0}, depth[] = {0, 0, 1, 2, 2, 1, 0};
    for (uint32_t i = 1; i <= 6; i++) {
        assert_int_equal(t->slice.parent[i], parent[i]);
        assert_int_equal(t->slice.depth[i], depth[i]);
        assert_int_equal(t->slice.row[i], depth[i]);
        assert_int_equal(t->slice.flags[i], 0);
    }
    assert_int_equal(t->track.rows[1], 3);
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    trace_release(t);
}

static void equal_ranges_nest_and_an_empty_one_at_the_end_does_not(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "a", 1, 0, 10, "\"External id\":1"),
                                  X("cpu_op", "b", 1, 0, 10, "\"External id\":2"),
                                  X("cpu_op", "inside", 1, 5, 0, ""),
                                  X("cpu_op", "behind", 1, 10, 0, "")));
    assert_int_equal(t->slice.parent[find_slice(t, "b")], find_slice(t, "a"));
    assert_int_equal(t->slice.parent[find_slice(t, "inside")], find_slice(t, "b"));
    assert_int_equal(t->slice.parent[find_slice(t, "behind")], 0);
    trace_release(t);
}

static void partial_overlap_is_kept_on_a_separate_row_and_counted(void **state) {
    trace *t =
        read_events(EVENTS(X("cpu_op", "a", 1, 0, 10, ""), X("cpu_op", "b", 1, 5, 10, ""),
                           X("cpu_op", "c", 1, 6, 2, "")));
    uint32_t a = find_slice(t, "a"), b = find_slice(t, "b"), c = find_slice(t, "c");
    assert_int_equal(t->slice.parent[b], 0);
    assert_int_equal(t->slice.dur[b], 10000);
    assert_int_equal(t->slice.flags[b], SLICE_SPILLED);
    assert_int_equal(t->slice.flags[a] | t->slice.flags[c], 0);
    assert_int_not_equal(t->slice.row[a], t->slice.row[b]);
    assert_int_equal(t->slice.parent[c], b);
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 1);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

static void overlap_on_a_stream_is_not_damage(void **state) {
    trace *t =
        read_events(EVENTS(X("kernel", "a", 7, 0, 10, ""), X("kernel", "b", 7, 5, 10, "")));
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    assert_int_not_equal(t->slice.row[1], t->slice.row[2]);
    trace_release(t);
}

static void nesting_of_300_levels_has_300_rows(void **state) {
    buf b = {0};
    for (int i = 0; i < 300; i++)
        buf_printf(&b,
                   "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":1,\"tid\":1,"
                   "\"ts\":%d,\"dur\":%d}",
                   i ? "," : "", i, 1000 - 2 * i);
    buf_add_byte(&b, 0);
    trace *t = read_events(b.p);
    for (uint32_t i = 1; i <= 300; i++) {
        assert_int_equal(t->slice.parent[i], i - 1);
        assert_int_equal(t->slice.depth[i], i - 1);
    }
    assert_int_equal(t->track.rows[1], 300);
    trace_release(t);
    buf_fini(&b);
}

static int64_t drawn_end(const trace *t,
                         uint32_t i) { /* an empty slice still takes a nanosecond */
    int64_t dur = t->slice.dur[i];
    return t->slice.start[i] + (dur ? dur : 1);
}

static void of_random_slices_no_two_share_a_row_at_a_time(void **state) {
    uint32_t seed = 5;
    for (int round = 0; round < 20; round++) {
        buf b = {0};
        for (int i = 0; i < 150; i++)
            buf_printf(&b,
                       "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n\",\"pid\":1,\"tid\":%u,"
                       "\"ts\":%u,\"dur\":%u}",
                       i ? "," : "", round % 2 ? "cpu_op" : "kernel", next_random(&seed) % 2,
                       next_random(&seed) % 100, next_random(&seed) % 40);
        buf_add_byte(&b, 0);
        trace *t = read_events(b.p);
        for (uint32_t track = 1; track < t->track.n; track++)
            for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
                uint32_t p = t->slice.parent[i];
                assert_true(t->slice.row[i] < t->track.rows[track]);
                assert_true(p < i && (p == 0 || p >= t->track.first[track]));
                assert_int_equal(t->slice.depth[i], p ? t->slice.depth[p] + 1 : 0);
                if (p) {
                    assert_true(t->slice.row[p] < t->slice.row[i]);
                    assert_true(trace_slice_end(t, p) >= trace_slice_end(t, i) &&
                                t->slice.start[p] <= t->slice.start[i]);
                }
                for (uint32_t k = t->track.first[track]; k < i; k++)
                    assert_true(t->slice.row[k] != t->slice.row[i] ||
                                drawn_end(t, k) <= t->slice.start[i]);
            }
        trace_release(t);
        buf_fini(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_the_child_of_the_innermost_around_it),
        cmocka_unit_test(equal_ranges_nest_and_an_empty_one_at_the_end_does_not),
        cmocka_unit_test(partial_overlap_is_kept_on_a_separate_row_and_counted),
        cmocka_unit_test(overlap_on_a_stream_is_not_damage),
        cmocka_unit_test(nesting_of_300_levels_has_300_rows),
        cmocka_unit_test(of_random_slices_no_two_share_a_row_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
