/* paddle_text_test.c: names and thread ids as Paddle prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ingest/paddle/paddle_text.h"
#include "io/source.h"

/* The name in an event as text, which may be read a little beyond its end. */
static event_parser_name name_in(const char *text) {
    static char room[8192];
    static const char key[] = "\"name\": \"";
    size_t n = strlen(text);
    assert_true(n + SOURCE_PAD < sizeof room);
    memset(room, 0, sizeof room);
    memcpy(room, text, n);
    event_parser_name out = {0};
    const char *p = strstr(room, key) + sizeof key - 1;
    const char *stop = paddle_name(room, p, room + n, &out);
    assert_non_null(stop);
    assert_int_equal(stop[-1], '"');
    return out;
}

#define assert_name(text_, expected)                                                    \
    do {                                                                                \
        event_parser_name got = name_in(text_);                                         \
        if (!str_eq(got.text, STR(expected))) fail_msg("name %.*s", STR_ARG(got.text)); \
    } while (0)

static void a_name_ends_before_its_duration(void **state) {
    (void)state;
    assert_name("{\n    \"name\": \"add[1.500 us]\", \"pid\": 1}", "add");
    assert_name("{\n    \"name\": \"tab[1.000 ms][20.1 us]\", \"pid\": 1}", "tab[1.000 ms]");
    assert_name("{\n    \"name\": \"[12.345 us]\", \"pid\": 1}", "");
    assert_name("{\n    \"name\": \"[memory]\", \"pid\": 1}", "[memory]");
    assert_name("{\n    \"name\": \"launch\", \"id\": 3, \"pid\": 1}", "launch");
    assert_name("{\"ph\":\"M\",\"name\": \"process_name\"}", "process_name");
}

static void a_printed_name_keeps_quotes_backslashes_and_line_breaks(void **state) {
    (void)state;
    event_parser_name n =
        name_in("{\n    \"name\": \"say \"hi\"[1.0 us]\", \"pid\": 1,\n \"ph\": 1}");
    assert_true(str_eq(n.text, STR("say \"hi\"")));
    assert_true(n.quotes && !n.escaped);
    n = name_in("{\n    \"name\": \"C:\\temp\\new[1.0 us]\", \"pid\": 1,\n \"ph\": 1}");
    assert_true(str_eq(n.text, STR("C:\\temp\\new")));
    assert_false(n.quotes || n.escaped);
    assert_name("{\n    \"name\": \"two\nlines[1.0 us]\", \"pid\": 1}", "two\nlines");
    assert_name("{\n    \"name\": \"a\", \"b\": 1[1.0 us]\", \"pid\": 1}", "a\", \"b\": 1");
}

static void a_name_that_another_program_wrote_again_is_json(void **state) {
    (void)state;
    event_parser_name n = name_in("{\"name\": \"say \\\"hi\\\"[1.0 us]\", \"pid\": 1}");
    assert_true(n.escaped && !n.quotes);
    assert_true(str_eq(n.text, STR("say \\\"hi\\\"")));
    assert_name("{\"cat\":\"x\",\"name\": \"add[1.0 us]\",\"ph\":\"X\"}", "add");
}

static void a_name_does_not_reach_into_the_next_event(void **state) {
    (void)state;
    assert_name("{\"name\": \"bare\",\"ph\":\"X\"},{\"name\": \"b[1.0 us]\", \"pid\": 1}",
                "bare");
}

static void a_name_without_an_end_waits_for_more_bytes(void **state) {
    (void)state;
    char room[64 + SOURCE_PAD] = "\"name\": \"half a na";
    event_parser_name out;
    assert_null(paddle_name(room, room + 9, room + 18, &out));
}

static void the_two_rows_of_a_thread_are_one(void **state) {
    (void)state;
    char python[64 + SOURCE_PAD] = "\"4001(Python)\",",
                     native[64 + SOURCE_PAD] = "\"4001(C++)\"}";
    char plain[64 + SOURCE_PAD] = "\"4001\",", other[64 + SOURCE_PAD] = "\"4001(Rust)\",";
    int64_t id = 0;
    assert_ptr_equal(paddle_thread(python, python + 15, &id), python + 14);
    assert_int_equal(id, 4001);
    assert_ptr_equal(paddle_thread(native, native + 12, &id), native + 11);
    assert_int_equal(id, 4001);
    assert_null(paddle_thread(plain, plain + 7, &id));
    assert_null(paddle_thread(other, other + 13, &id));
}

static void a_thread_is_called_what_the_framework_calls_it(void **state) {
    (void)state;
    assert_true(
        str_eq(paddle_thread_name(STR("thread 12:MainThread(Python)")), STR("MainThread")));
    assert_true(str_eq(paddle_thread_name(STR("thread 12:Worker(C++)")), STR("Worker")));
    assert_true(str_eq(paddle_thread_name(STR("thread 12:(C++)")), STR("")));
    assert_true(str_eq(paddle_thread_name(STR("stream 7")), STR("stream 7")));
    assert_true(str_eq(paddle_thread_name(STR("thread safe")), STR("thread safe")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_ends_before_its_duration),
        cmocka_unit_test(a_printed_name_keeps_quotes_backslashes_and_line_breaks),
        cmocka_unit_test(a_name_that_another_program_wrote_again_is_json),
        cmocka_unit_test(a_name_does_not_reach_into_the_next_event),
        cmocka_unit_test(a_name_without_an_end_waits_for_more_bytes),
        cmocka_unit_test(the_two_rows_of_a_thread_are_one),
        cmocka_unit_test(a_thread_is_called_what_the_framework_calls_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
