/* seal_marks_test.c: begin and end marks become slices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

#define MARK(ph, name, tid, ts)                                                      \
    "{\"ph\":\"" ph "\",\"name\":\"" name "\",\"cat\":\"c\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts "}"
#define ASYNC(ph, name, id, cat, tid, ts)                                     \
    "{\"ph\":\"" ph "\",\"name\":\"" name "\",\"cat\":\"" cat "\",\"id\":" id \
    ",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts "}"

static void begin_and_end_pair_up_as_a_stack(void **state) {
    trace *t =
        read_events(EVENTS(MARK("B", "a", 1, 1), MARK("B", "b", 1, 2), MARK("B", "x", 2, 2),
                           MARK("E", "", 1, 5), MARK("E", "a", 1, 9), MARK("E", "x", 2, 3)));
    uint32_t a = find_slice(t, "a"), b = find_slice(t, "b"), x = find_slice(t, "x");
    assert_int_equal(t->slice.n, 4);
    assert_int_equal(t->slice.start[a], 1000);
    assert_int_equal(t->slice.dur[a], 8000);
    assert_int_equal(t->slice.dur[b], 3000);
    assert_int_equal(t->slice.parent[b], a);
    assert_int_equal(t->slice.dur[x], 1000);
    assert_int_equal(t->events_read, 6);
    assert_int_equal(t->quality.n, 1);
    trace_release(t);
}

static void marks_pair_up_by_time_whatever_their_order_in_the_file(void **state) {
    trace *t = read_events(EVENTS(MARK("E", "", 1, 9), MARK("E", "", 1, 5),
                                  MARK("B", "b", 1, 2), MARK("B", "a", 1, 1)));
    assert_int_equal(t->slice.dur[find_slice(t, "a")], 8000);
    assert_int_equal(t->slice.dur[find_slice(t, "b")], 3000);
    trace_release(t);
}

/* Every n-th mark, then the n-th ones after them, and so on: n runs that are each in order. */
static void the_marks_of_a_thread_may_be_any_number_of_runs(void **state) {
    enum { N_MARKS = 120, MOST_RUNS = 9 };
    for (int n_runs = 1; n_runs <= MOST_RUNS; n_runs++) {
        char text[N_MARKS * 80];
        size_t used = (size_t)snprintf(text, sizeof text, "[");
        for (int k = 0; k < n_runs; k++)
            for (int i = k; i < N_MARKS; i += n_runs)
                used += (size_t)snprintf(
                    text + used, sizeof text - used,
                    "%s{\"ph\":\"%c\",\"name\":\"%d\",\"pid\":1,\"tid\":1,\"ts\":%d}",
                    used > 1 ? "," : "", i % 4 < 2 ? 'B' : 'E', i, i);
        snprintf(text + used, sizeof text - used, "]");
        error err;
        trace *t = read_text((str){text, strlen(text)}, (read_how){.threads = 1}, &err);
        assert_int_equal(t->slice.n, N_MARKS / 2 + 1);
        for (uint32_t i = 1; i < t->slice.n; i++) { /* pairs, one in the other */
            bool inner = i % 2 == 0;
            assert_int_equal(t->slice.start[i], (i - 1) / 2 * 4000 + inner * 1000);
            assert_int_equal(t->slice.dur[i], inner ? 1000 : 3000);
            assert_int_equal(t->slice.parent[i], inner ? i - 1 : 0);
        }
        trace_release(t);
    }
}

static void at_one_time_the_order_in_the_file_decides(void **state) {
    static const char text[] = "[" EVENTS(MARK("B", "a", 1, 1), MARK("E", "", 1, 2),
                                          MARK("B", "b", 1, 2), MARK("E", "", 1, 3)) "]";
    for (size_t size = 40; size < 300; size += 30) {
        error err;
        trace *t = read_text(STR(text), (read_how){.threads = 2, .piece_bytes = size}, &err);
        assert_int_equal(t->slice.dur[find_slice(t, "a")], 1000);
        assert_int_equal(t->slice.dur[find_slice(t, "b")], 1000);
        assert_int_equal(t->slice.parent[find_slice(t, "b")], 0);
        trace_release(t);
    }
}

static void a_begin_without_end_lasts_to_the_end_of_the_trace(void **state) {
    trace *t = read_events(EVENTS(MARK("B", "open", 1, 1), MARK("B", "done", 1, 2),
                                  MARK("E", "", 1, 3),
                                  "{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"x\",\"pid\":1,"
                                  "\"tid\":2,\"ts\":10,\"dur\":40}"));
    uint32_t open = find_slice(t, "open");
    assert_int_equal(t->slice.dur[open], 49000);
    assert_int_equal(t->slice.flags[open], SLICE_UNFINISHED);
    assert_int_equal(t->slice.flags[find_slice(t, "done")], 0);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 1);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

static void an_end_without_begin_is_dropped_and_counted(void **state) {
    trace *t =
        read_events(EVENTS(MARK("E", "", 1, 1), MARK("B", "a", 1, 2), MARK("E", "", 1, 3),
                           MARK("E", "", 1, 4), MARK("E", "", 2, 9)));
    assert_int_equal(t->slice.n, 2);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 3);
    assert_int_equal(t->events_dropped, 3);
    trace_release(t);
}

static void async_ranges_pair_up_by_id_and_category_across_threads(void **state) {
    trace *t = read_events(
        EVENTS(ASYNC("b", "a", "\"0x1\"", "c", 1, 1), ASYNC("b", "b", "\"0x2\"", "c", 1, 2),
               ASYNC("b", "d", "\"0x1\"", "other", 1, 3), ASYNC("e", "", "\"0x1\"", "c", 2, 5),
               ASYNC("e", "", "\"0x2\"", "c", 1, 9), ASYNC("e", "", "\"0x1\"", "other", 1, 7)));
    assert_int_equal(t->slice.n, 4);
    assert_int_equal(t->slice.dur[find_slice(t, "a")], 4000);
    assert_int_equal(t->slice.dur[find_slice(t, "b")], 7000);
    assert_int_equal(t->slice.dur[find_slice(t, "d")], 4000);
    assert_int_equal(t->slice.kind[1], KIND_ASYNC);
    assert_int_equal(t->quality.n, 1);
    trace_release(t);
}

static void async_ranges_have_a_track_next_to_their_thread(void **state) {
    trace *t = read_events(EVENTS(
        "{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"x\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":3}",
        ASYNC("b", "a", "7", "c", 1, 1), ASYNC("e", "", "\"7\"", "c", 1, 5),
        ASYNC("b", "b", "8", "c", 1, 2), ASYNC("e", "", "8", "c", 1, 9)));
    uint32_t track = trace_track_of(t, find_slice(t, "a"));
    assert_int_equal(t->track.n, 3);
    assert_int_equal(track, 2);
    assert_int_equal(t->track.kind[track], TRACK_ASYNC);
    assert_int_equal(t->track.tid[track], 1);
    assert_int_equal(trace_track_of(t, find_slice(t, "b")), track);
    assert_int_equal(t->track.kind[1], TRACK_THREAD);
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    trace_release(t);
}

static void arguments_of_the_begin_are_kept(void **state) {
    trace *t = read_events("{\"ph\":\"B\",\"name\":\"a\",\"cat\":\"c\",\"ts\":1,\"args\":{"
                           "\"x\":1}},{\"ph\":\"E\",\"ts\":2,\"args\":{\"y\":2}}");
    assert_string_equal(args_text(t, t->slice.args[1]), "{\"x\":1}");
    assert_string_equal(text_of_id(t, t->category.name[t->slice.category[1]]), "c");
    trace_release(t);
}

static void an_endless_range_does_not_overflow_the_clock(void **state) {
    trace *t =
        read_events("{\"ph\":\"B\",\"name\":\"a\",\"ts\":-2300000000000000},{\"ph\":\"X\","
                    "\"name\":\"b\",\"ts\":2300000000000000,\"dur\":2300000000000000}");
    assert_int_equal(t->slice.n, 3);
    assert_true(t->slice.dur[find_slice(t, "a")] < TRACE_TIME_LIMIT);
    trace_release(t);
}

static void many_async_threads_are_fine(void **state) {
    enum { N = 3000 };
    buf b = {0};
    for (int i = 0; i < N; i++)
        buf_printf(&b,
                   "%s{\"ph\":\"b\",\"name\":\"a\",\"id\":%d,\"pid\":1,\"tid\":%d,\"ts\":1},{"
                   "\"ph\":\"e\",\"id\":%d,\"pid\":1,\"tid\":%d,\"ts\":2}",
                   i ? "," : "", i, i, i, i);
    buf_add_byte(&b, 0);
    trace *t = read_events(b.p);
    assert_int_equal(t->slice.n, N + 1);
    assert_int_equal(t->track.n, 2 * N + 1);
    trace_release(t);
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begin_and_end_pair_up_as_a_stack),
        cmocka_unit_test(marks_pair_up_by_time_whatever_their_order_in_the_file),
        cmocka_unit_test(the_marks_of_a_thread_may_be_any_number_of_runs),
        cmocka_unit_test(at_one_time_the_order_in_the_file_decides),
        cmocka_unit_test(a_begin_without_end_lasts_to_the_end_of_the_trace),
        cmocka_unit_test(an_end_without_begin_is_dropped_and_counted),
        cmocka_unit_test(async_ranges_pair_up_by_id_and_category_across_threads),
        cmocka_unit_test(async_ranges_have_a_track_next_to_their_thread),
        cmocka_unit_test(arguments_of_the_begin_are_kept),
        cmocka_unit_test(an_endless_range_does_not_overflow_the_clock),
        cmocka_unit_test(many_async_threads_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
