/* seal_tracks_test.c: processes and tracks in their own order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

#define ON(name, pid, tid)                                                                \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
    ",\"ts\":1,\"dur\":1}"

static void tracks_are_sorted_numbers_first_then_texts(void **state) {
    trace *t =
        read_events(EVENTS(ON("e", "\"b\"", "1"), ON("c", "10", "\"x\""), ON("b", "10", "7"),
                           ON("d", "\"a\"", "1"), ON("a", "9", "8")));
    assert_int_equal(t->process.n, 5);
    assert_int_equal(t->track.n, 6);
    for (uint32_t i = 1; i < 6; i++) {
        char expected[2] = {(char)('a' + i - 1), 0};
        assert_string_equal(text_of_id(t, t->slice.name[t->track.first[i]]), expected);
        assert_int_equal(t->track.end[i], t->track.first[i] + 1);
    }
    assert_int_equal(t->process.pid[1], 9);
    assert_int_equal(t->process.pid[2], 10);
    assert_int_equal(t->process.pid[3], ABSENT_I64);
    assert_string_equal(text_of_id(t, t->process.pid_text[3]), "a");
    assert_int_equal(t->track.tid[2], 7);
    assert_int_equal(t->track.tid[3], ABSENT_I64);
    assert_string_equal(text_of_id(t, t->track.tid_text[3]), "x");
    assert_int_equal(t->track.process[3], 2);
    trace_release(t);
}

static void an_id_in_quotes_is_the_same_track(void **state) {
    trace *t = read_events(EVENTS(ON("a", "1", "25738"), ON("b", "\"1\"", "\"25738\"")));
    assert_int_equal(t->process.n, 2);
    assert_int_equal(t->track.n, 2);
    assert_int_equal(t->track.end[1] - t->track.first[1], 2);
    trace_release(t);
}

static void events_without_ids_have_a_track_too(void **state) {
    trace *t = read_events("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1},{\"ph\":\"X\",\"name\":"
                           "\"b\",\"ts\":2,\"pid\":\"\",\"tid\":\"\"}");
    assert_int_equal(t->track.n, 3);
    assert_int_equal(t->process.pid[1], ABSENT_I64);
    assert_int_equal(t->process.pid_text[1], 0);
    trace_release(t);
}

static void a_process_without_events_is_left_out(void **state) {
    trace *t = read_events(ON("a", "1", "1") ",{\"ph\":\"M\",\"name\":\"process_labels\","
                                             "\"pid\":7,\"args\":{\"labels\":\"GPU 7\"}}");
    assert_int_equal(t->process.n, 2);
    assert_int_equal(t->process.pid[1], 1);
    trace_release(t);
}

#define NAMED(kind, pid, tid, value)                                   \
    "{\"ph\":\"M\",\"name\":\"" kind "\",\"pid\":" pid ",\"tid\":" tid \
    ",\"args\":{\"name\":\"" value "\"}}"

static void of_several_names_the_last_in_the_file_counts(void **state) {
    static const char text[] = "[" EVENTS(
        NAMED("process_name", "1", "0", "old"), NAMED("thread_name", "1", "2", "older"),
        ON("a", "1", "2"), NAMED("thread_name", "1", "2", "newer"),
        NAMED("process_name", "\"1\"", "0", "new"),
        NAMED("thread_name", "1", "9", "nobody")) "]";
    for (size_t size = 30; size < 300; size += 40)
        for (int threads = 1; threads <= 3; threads++) {
            error err;
            trace *t =
                read_text(STR(text), (read_how){.threads = threads, .piece_bytes = size}, &err);
            assert_string_equal(text_of_id(t, t->process.name[1]), "new");
            assert_string_equal(text_of_id(t, t->track.name[1]), "newer");
            trace_release(t);
        }
}

static void many_threads_and_their_names_find_each_other(void **state) {
    enum { N = 3000 };
    buf b = {0};
    buf_add_byte(&b, '[');
    for (int i = 0; i < N; i++)
        buf_printf(
            &b,
            "%s{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":%d,\"ts\":1},{\"ph\":\"M\","
            "\"name\":\"thread_name\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":\"t%d\"}}",
            i ? "," : "", i, N - 1 - i, N - 1 - i);
    buf_add_byte(&b, ']');
    error err;
    trace *t = read_text(buf_str(&b), (read_how){0}, &err);
    assert_int_equal(t->track.n, N + 1);
    for (uint32_t i = 1; i <= N; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "t%u", i - 1);
        assert_int_equal(t->track.tid[i], i - 1);
        assert_string_equal(text_of_id(t, t->track.name[i]), expected);
    }
    trace_release(t);
    buf_fini(&b);
}

static void labels_of_two_parts_are_in_the_order_of_the_file(void **state) {
    builder *b = builder_new();
    ident one = {1, false};
    static const uint64_t offsets[] = {100, 50, 70};
    for (int i = 0; i < 3; i++) {
        part *p = builder_part(b);
        char name[8];
        snprintf(name, sizeof name, "n%d", (int)offsets[i]);
        int64_t id = intern_add(builder_strings(b), str_of(name));
        raw_slice row = {.track = part_track(p, one, one)};
        assert_int_equal(part_slice(p, &row), OK);
        raw_label label = {.pid = one,
                           .tid = one,
                           .value = id,
                           .offset = offsets[i],
                           .kind = LABEL_THREAD_NAME};
        assert_int_equal(part_label(p, &label), OK);
        label.kind = LABEL_PROCESS_NAME;
        assert_int_equal(part_label(p, &label), OK);
    }
    trace *t = NULL;
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    assert_string_equal(text_of_id(t, t->track.name[1]), "n100");
    assert_string_equal(text_of_id(t, t->process.name[1]), "n100");
    trace_release(t);
    builder_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_are_sorted_numbers_first_then_texts),
        cmocka_unit_test(an_id_in_quotes_is_the_same_track),
        cmocka_unit_test(events_without_ids_have_a_track_too),
        cmocka_unit_test(a_process_without_events_is_left_out),
        cmocka_unit_test(of_several_names_the_last_in_the_file_counts),
        cmocka_unit_test(many_threads_and_their_names_find_each_other),
        cmocka_unit_test(labels_of_two_parts_are_in_the_order_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
