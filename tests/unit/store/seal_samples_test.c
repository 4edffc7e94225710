/* seal_samples_test.c: what samplers saw of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/builder.h"
#include "store/trace.h"

static trace *seal(builder *b) {
    trace *t = NULL;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static void add(part *p, int64_t tid, int64_t time, int64_t dur, uint32_t frame) {
    raw_sample row = {.time = time, .dur = dur, .frame = frame, .state = SAMPLE_LOCK};
    row.track = part_track(p, (ident){1, false}, (ident){tid, false});
    assert_int_equal(part_sample(p, &row), OK);
}

static uint32_t frame(builder *b, uint32_t parent, const char *name) {
    return builder_frame(b, parent, intern_add(builder_strings(b), str_of(name)));
}

static void samples_are_sorted_by_thread_and_end_at_the_next(void **state) {
    builder *b = builder_new();
    part *p = builder_part(b), *other = builder_part(b);
    uint32_t outer = frame(b, 0, "train.py(3): main"),
             inner = frame(b, outer, "train.py(9): f");
    add(p, 7, 30, 20, inner);
    add(other, 7, 10, 20, outer);
    add(p, 5, 100, 20, inner);
    add(p, 7, 25, 20, inner);
    trace *t = seal(b);
    static const int64_t times[] = {100, 10, 25, 30}, durs[] = {20, 15, 5, 20};
    assert_int_equal(t->sample.n, 5);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(t->sample.time[i + 1], times[i]);
        assert_int_equal(t->sample.dur[i + 1], durs[i]);
        assert_int_equal(t->track.tid[t->sample.track[i + 1]], i ? 7 : 5);
        assert_int_equal(t->track.kind[t->sample.track[i + 1]], TRACK_THREAD);
        assert_int_equal(t->sample.state[i + 1], SAMPLE_LOCK);
    }
    assert_int_equal(t->frame.line[t->sample.frame[1]], 9);
    assert_int_equal(t->frame.parent[t->sample.frame[1]], t->sample.frame[2]);
    assert_int_equal(t->start_ns, 10);
    assert_int_equal(t->end_ns, 120);
    trace_release(t);
}

static void a_sample_out_of_range_is_counted_as_lost(void **state) {
    builder *b = builder_new();
    part *p = builder_part(b);
    add(p, 1, INT64_MAX, 20, 0);
    add(p, 1, 5, INT64_MAX, 0);
    add(p, 1, 9, -4, 0);
    trace *t = seal(b);
    assert_int_equal(t->sample.n, 3);
    assert_int_equal(t->sample.dur[1], 4);
    assert_int_equal(t->sample.dur[2], 0);
    assert_int_equal(t->quality.cause[1], CAUSE_NUMBER_RANGE);
    trace_release(t);
}

static void two_samples_of_one_moment_do_not_depend_on_their_order(void **state) {
    for (int turn = 0; turn < 2; turn++) {
        builder *b = builder_new();
        part *p = builder_part(b);
        uint32_t frames[2] = {frame(b, 0, turn ? "a" : "b"), frame(b, 0, turn ? "b" : "a")};
        for (int i = 0; i < 2; i++) add(p, 1, 5, 10, frames[i]);
        trace *t = seal(b);
        assert_true(str_eq(trace_str(t, t->frame.name[t->sample.frame[1]]), STR("a")));
        assert_int_equal(t->sample.dur[1], 0);
        assert_int_equal(t->sample.dur[2], 10);
        trace_release(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_sorted_by_thread_and_end_at_the_next),
        cmocka_unit_test(a_sample_out_of_range_is_counted_as_lost),
        cmocka_unit_test(two_samples_of_one_moment_do_not_depend_on_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
