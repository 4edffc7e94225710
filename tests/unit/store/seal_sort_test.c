/* seal_sort_test.c: slices in their one order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

/* An X event on thread `tid` of process 1. */
#define X(cat, name, tid, ts, dur, args)                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"

static void assert_order(const char *events, const char *const *names, uint32_t n) {
    trace *t = read_events(events);
    assert_int_equal(t->slice.n, n + 1);
    for (uint32_t i = 0; i < n; i++)
        assert_string_equal(text_of_id(t, t->slice.name[i + 1]), names[i]);
    trace_release(t);
}
#define ORDER(events, ...)                                            \
    do {                                                              \
        static const char *const names_[] = {__VA_ARGS__};            \
        assert_order(events, names_, sizeof names_ / sizeof *names_); \
    } while (0)

static void slices_are_sorted_by_track_and_start(void **state) {
    ORDER(EVENTS(X("cpu_op", "d", 2, 1, 1, ""), X("cpu_op", "c", 1, 9, 1, ""),
                 X("cpu_op", "b", 1, 3, 1, ""), X("cpu_op", "a", 1, -2, 1, "")),
          "a", "b", "c", "d");
}

static void of_slices_that_start_together_the_longest_comes_first(void **state) {
    ORDER(EVENTS(X("cpu_op", "c", 1, 1, 0, ""), X("cpu_op", "a", 1, 1, 9, ""),
                 X("cpu_op", "b", 1, 1, 5, "")),
          "a", "b", "c");
}

static void of_equal_ranges_the_outer_kind_comes_first(void **state) {
    ORDER(EVENTS(X("cuda_runtime", "c", 1, 1, 5, ""), X("cpu_op", "b", 1, 1, 5, ""),
                 X("user_annotation", "a", 1, 1, 5, "")),
          "a", "b", "c");
}

static void of_equal_kinds_the_producers_index_decides_then_the_name(void **state) {
    ORDER(EVENTS(X("cpu_op", "b", 1, 1, 5, "\"External id\":9"),
                 X("cpu_op", "a", 1, 1, 5, "\"External id\":10"),
                 X("cpu_op", "c", 1, 1, 5, "\"External id\":10"),
                 X("cpu_op", "d", 1, 1, 5, "\"Ev Idx\":11")),
          "b", "a", "c", "d");
}

static void twins_are_distinguished_by_what_they_say(void **state) {
    trace *t =
        read_events(EVENTS(X("kernel", "k", 1, 1, 5, "\"External id\":1,\"correlation\":8"),
                           X("kernel", "k", 1, 1, 5, "\"External id\":1,\"correlation\":7"),
                           X("kernel", "k", 1, 1, 5,
                             "\"External "
                             "id\":1,\"correlation\":9")));
    for (uint32_t i = 1; i <= 3; i++) assert_int_equal(t->kernel.correlation[i], 6 + i);
    trace_release(t);
    t = read_events(EVENTS(X("b", "x", 1, 1, 5, ""), X("a", "x", 1, 1, 5, "")));
    assert_string_equal(text_of_id(t, t->category.name[t->slice.category[1]]), "a");
    trace_release(t);
}

static void long_runs_of_equal_starts_are_sorted(void **state) {
    buf b = {0};
    for (int i = 0; i < 200; i++)
        buf_printf(&b,
                   "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":1,\"tid\":1,"
                   "\"ts\":5,\"dur\":%d}",
                   i ? "," : "", i * 37 % 200);
    buf_add_byte(&b, 0);
    trace *t = read_events(b.p);
    for (uint32_t i = 1; i <= 200; i++)
        assert_int_equal(t->slice.dur[i], (200 - (int64_t)i) * 1000);
    trace_release(t);
    buf_fini(&b);
}

static void the_tracks_share_the_slices_out(void **state) {
    trace *t =
        read_events(EVENTS(X("cpu_op", "a", 3, 1, 1, ""), X("cpu_op", "b", 1, 1, 1, ""),
                           X("cpu_op", "c", 3, 2, 1, ""),
                           "{\"ph\":\"i\",\"name\":\"i\",\"pid\":1,\"tid\":2,\"ts\":1}"));
    assert_int_equal(t->track.n, 4);
    assert_int_equal(t->track.first[1], 1);
    assert_int_equal(t->track.end[1], 2);
    assert_int_equal(t->track.first[2], 2);
    assert_int_equal(t->track.end[2], 2);
    assert_int_equal(t->track.first[3], 2);
    assert_int_equal(t->track.end[3], 4);
    trace_release(t);
}

static void a_track_is_what_runs_on_it(void **state) {
    static const struct {
        const char *category;
        uint8_t kind;
        int32_t device;
    } cases[] = {
        {"cpu_op", TRACK_THREAD, ABSENT_I32}, {"kernel", TRACK_STREAM, 1},
        {"gpu_memcpy", TRACK_STREAM, 1},      {"gpu_user_annotation", TRACK_STREAM, 1},
        {"Trace", TRACK_SPAN, ABSENT_I32},    {"cuda_runtime", TRACK_THREAD, ABSENT_I32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        /* Synchronization may come before the first work of a stream. */
        snprintf(
            text, sizeof text,
            X("cuda_sync", "s", 7, 1, 1, "") ",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"a\","
                                             "\"pid\":1,\"tid\":7,\"ts\":2,\"dur\":1}",
            cases[i].category);
        trace *t = read_events(text);
        assert_int_equal(t->track.n, 2);
        if (t->track.kind[1] != cases[i].kind || t->track.device[1] != cases[i].device)
            fail_msg("%s: kind %d, device %d", cases[i].category, t->track.kind[1],
                     t->track.device[1]);
        trace_release(t);
    }
}

/* Many slices through one part or three onto two tracks, in runs of `run_rows` that rise and overlap, some
 * of which start together. The name says which slice it is: what comes out is compared with what went in. */
static void check_many(uint32_t n, uint32_t run_rows, uint32_t n_moved, uint32_t n_parts,
                       pool *workers) {
    builder *b = builder_new();
    part *parts[3];
    for (uint32_t i = 0; i < n_parts; i++) parts[i] = builder_part(b);
    int64_t *start = calloc(n, sizeof *start), *dur = calloc(n, sizeof *dur);
    for (uint32_t i = 0; i < n; i++) {
        part *p = parts[i / 7 % n_parts];
        start[i] = (int64_t)(i % run_rows / 4) * 40 + (int64_t)(i / run_rows) * 3 % 1000;
        dur[i] = i * 7919u % 5;
        raw_slice s = {.start = start[i],
                       .dur = dur[i],
                       .tie = i,
                       .args = i,
                       .kind = KIND_PYTHON,
                       .track = part_track(p, (ident){1, false}, (ident){i % 3 == 0, false})};
        assert_int_equal(part_slice(p, &s), OK);
        if (i % 97 || i / 97 >= n_moved) continue;
        part_move_slice(p, part_next_slice(p) - 1, -5000);
        start[i] -= 5000;
    }
    trace *t;
    assert_int_equal(builder_seal(b, workers, &t, NULL), OK);
    assert_int_equal(t->slice.n, n + 1);
    assert_int_equal(t->track.end[1], n - (n + 2) / 3 + 1);
    bool *seen = calloc(n, sizeof *seen);
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t x = t->slice.args[i];
        if (x >= n || seen[x] || t->slice.start[i] != start[x] || t->slice.dur[i] != dur[x] ||
            (x % 3 == 0) != (i >= t->track.first[2]))
            fail_msg("slice %u of %u is not what went in", i, n);
        seen[x] = true;
        uint32_t before = i > 1 && i != t->track.first[2] ? t->slice.args[i - 1] : x;
        if (start[before] > start[x] ||
            (start[before] == start[x] &&
             (dur[before] < dur[x] || (dur[before] == dur[x] && before > x))))
            fail_msg("slice %u of %u is out of order", i, n);
    }
    trace_release(t);
    builder_free(b);
    free(start);
    free(dur);
    free(seen);
}

static void many_slices_are_sorted_however_they_came(void **state) {
    pool *three = pool_new(3);
    static const uint32_t runs[] = {200001, 70000, 9000, 1111, 50, 2};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        check_many(200000, runs[i], 0, 3, three);
        check_many(200000, runs[i], 0, 1, three);
        check_many(3000, runs[i], 20, 3, NULL);
        check_many(3000, runs[i], 0, 1, NULL);
        check_many(3000, runs[i], 1, 1, NULL);
    }
    pool_free(three);
}

static int64_t bounded(int64_t time) {
    const int64_t most = ((int64_t)1 << 62) - 1;
    return time > most ? most : time < -most ? -most : time;
}

/* Every order of the largest time, the smallest and 0, in one part or in two. */
static void the_largest_times_are_sorted_like_any_other(void **state) {
    enum { N = 5, WAYS = 243 };
    static const int64_t times[] = {INT64_MAX, INT64_MIN, 0};
    for (uint32_t way = 0; way < 2 * WAYS; way++) {
        builder *b = builder_new();
        part *parts[2] = {builder_part(b), builder_part(b)};
        int64_t start[N];
        uint32_t rest = way % WAYS, seen = 0;
        for (uint32_t i = 0; i < N; i++, rest /= 3) {
            part *p = parts[way < WAYS ? 0 : i % 2];
            start[i] = times[rest % 3];
            raw_slice s = {.start = start[i],
                           .dur = times[(rest + i + way) % 3],
                           .args = i,
                           .kind = KIND_PYTHON,
                           .track = part_track(p, (ident){1, false}, (ident){1, false})};
            assert_int_equal(part_slice(p, &s), OK);
        }
        trace *t;
        assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
        for (uint32_t i = 1; i <= N; i++) {
            assert_true(t->slice.args[i] < N && t->slice.kind[i] == KIND_PYTHON);
            assert_true(t->slice.start[i] == bounded(start[t->slice.args[i]]));
            assert_true(t->slice.dur[i] >= 0 && t->slice.dur[i] == bounded(t->slice.dur[i]));
            assert_true(i == 1 || t->slice.start[i] >= t->slice.start[i - 1]);
            seen |= 1u << t->slice.args[i];
        }
        assert_int_equal(seen, (1u << N) - 1);
        trace_release(t);
        builder_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_sorted_by_track_and_start),
        cmocka_unit_test(of_slices_that_start_together_the_longest_comes_first),
        cmocka_unit_test(of_equal_ranges_the_outer_kind_comes_first),
        cmocka_unit_test(of_equal_kinds_the_producers_index_decides_then_the_name),
        cmocka_unit_test(twins_are_distinguished_by_what_they_say),
        cmocka_unit_test(long_runs_of_equal_starts_are_sorted),
        cmocka_unit_test(many_slices_are_sorted_however_they_came),
        cmocka_unit_test(the_largest_times_are_sorted_like_any_other),
        cmocka_unit_test(the_tracks_share_the_slices_out),
        cmocka_unit_test(a_track_is_what_runs_on_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
