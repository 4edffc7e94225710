/* speedscope_profile_test.c: speedscope's JSON, from bytes to a sealed trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/profiles/profiles.h"
#include "unit/ingest/read_helper.h"

#define START \
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":["
#define FRAMES                                                                               \
    "],\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"a.py\",\"line\":3},"            \
    "{\"name\":\"work\",\"file\":\"a.py\",\"line\":7},{\"name\":\"work\",\"file\":\"a.py\"," \
    "\"line\":8},{\"name\":\"native\"}]}}"

static trace *read_profile(const char *profile) {
    char text[2048];
    error err;
    int n = snprintf(text, sizeof text, "%s%s%s", START, profile, FRAMES);
    return read_with(ingest_speedscope, str_n(text, (size_t)n), (read_how){0}, &err);
}

static void test_samples_in_a_row_are_one_call(void **state) {
    (void)state;
    trace *t = read_profile("{\"type\":\"sampled\",\"name\":\"T\",\"unit\":\"seconds\","
                            "\"startValue\":1,\"samples\":[[0,1],[0,2],[0,3],[0]],"
                            "\"weights\":[0.5,0.25,1e-9,2]}");
    assert_non_null(t);
    uint32_t main = find_slice(t, "main (a.py)"), work = find_slice(t, "work (a.py)");
    assert_int_equal(t->slice.n, 4);
    assert_int_equal(t->slice.start[main], 1000000000);
    assert_int_equal(t->slice.dur[main], 2750000001);
    assert_int_equal(t->slice.dur[work], 750000000); /* two lines of it: one call */
    assert_int_equal(t->slice.parent[work], main);
    assert_int_equal(t->slice.dur[find_slice(t, "native")], 1);
    assert_int_equal(t->slice.kind[main], KIND_PYTHON);
    assert_true(str_eq(t->format, STR("speedscope")));
    trace_release(t);
}

static void test_events_open_and_close_calls(void **state) {
    (void)state;
    trace *t = read_profile(
        "{\"type\":\"evented\",\"unit\":\"microseconds\",\"endValue\":9,\"events\":["
        "{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"O\",\"frame\":1,\"at\":2.5},"
        "{\"type\":\"C\",\"frame\":1,\"at\":4},{\"type\":\"C\",\"frame\":3,\"at\":5}]}");
    assert_non_null(t);
    assert_int_equal(t->slice.dur[find_slice(t, "work (a.py)")], 1500);
    assert_int_equal(t->slice.dur[find_slice(t, "main (a.py)")], 8000); /* to the end */
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 1);
    trace_release(t);
}

static void test_each_profile_is_a_thread(void **state) {
    (void)state;
    trace *t = read_profile(
        "{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[3]],\"weights\":[2]},"
        "{\"type\":\"sampled\",\"unit\":\"milliseconds\",\"samples\":[[1]],\"weights\":[2]}");
    assert_non_null(t);
    assert_int_equal(t->track.n, 3);
    assert_int_equal(t->slice.dur[find_slice(t, "native")], 2 * SAMPLE_NS);
    assert_int_equal(t->slice.dur[find_slice(t, "work (a.py)")], 2000000);
    trace_release(t);
}

static void test_bytes_are_not_a_time(void **state) {
    (void)state;
    char text[2048];
    error err;
    int n =
        snprintf(text, sizeof text, START "{\"type\":\"sampled\",\"unit\":\"bytes\"}" FRAMES);
    assert_null(read_with(ingest_speedscope, str_n(text, (size_t)n), (read_how){0}, &err));
    assert_int_equal(err.status, ERR_UNSUPPORTED);
    assert_int_equal(err.message, MSG_PROFILE_OF_BYTES);
}

static void test_damage_costs_what_it_covers(void **state) {
    (void)state;
    error err;
    trace *t =
        read_with(ingest_speedscope,
                  STR(START "{\"unit\":\"seconds\",\"samples\":[[9],[0]],\"weights\":[1,1]}"
                            "],\"shared\":{\"frames\":[{\"name\":\"a\"}]}"),
                  (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 1);
    assert_int_equal(t->slice.dur[find_slice(t, "a")], 1000000000);
    trace_release(t);
    assert_false(speedscope_head(STR("{\"traceEvents\":[]}")));
    assert_true(speedscope_head(STR(" " START)));
}

static void test_a_call_ends_as_often_as_it_was_open(void **state) {
    (void)state;
    trace *t = read_profile(
        "{\"type\":\"evented\",\"unit\":\"none\",\"endValue\":9,\"events\":["
        "{\"type\":\"O\",\"frame\":1,\"at\":0},{\"type\":\"O\",\"frame\":3,\"at\":1},"
        "{\"type\":\"O\",\"frame\":2,\"at\":2},{\"type\":\"C\",\"frame\":1,\"at\":3},"
        "{\"type\":\"C\",\"frame\":1,\"at\":4},{\"type\":\"C\",\"frame\":3,\"at\":5},"
        "{\"type\":\"C\",\"frame\":2,\"at\":6},{\"type\":\"C\",\"frame\":0,\"at\":7}]}");
    assert_non_null(t);
    assert_int_equal(t->slice.n - 1, 3);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END),
                     3); /* native ended with its caller */
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_in_a_row_are_one_call),
        cmocka_unit_test(test_events_open_and_close_calls),
        cmocka_unit_test(test_each_profile_is_a_thread),
        cmocka_unit_test(test_bytes_are_not_a_time),
        cmocka_unit_test(test_damage_costs_what_it_covers),
        cmocka_unit_test(test_a_call_ends_as_often_as_it_was_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
