/* value_test.c: how each kind of value is written, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "question/value.h"
#include "text/text.h"

static void a_time_has_a_unit_or_is_nanoseconds(void **state) {
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {{"20000000", 20000000},
                 {"20ms", 20000000},
                 {"1.5s", 1500000000},
                 {"250us", 250000},
                 {"250 µs", 250000},
                 {"800ns", 800},
                 {"2min", 120000000000},
                 {"0", 0},
                 {"0.0", 0},
                 {"9223372036854775807", INT64_MAX}};
    static const value_kind kinds[] = {VALUE_TIME, VALUE_FROM, VALUE_TO};
    for (size_t i = 0; i < N_OF(cases); i++)
        for (size_t k = 0; k < N_OF(kinds); k++) {
            int64_t ns = -1;
            assert_true(value_parse(kinds[k], NULL, str_of(cases[i].text), &ns));
            assert_int_equal(ns, cases[i].ns);
        }
    static const char *const bad[] = {
        "", "-1", "-1ms", "1.5", "noon", "5 apples", "1e3", "12 ", "9223372036854775808"};
    int64_t ns = 7;
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_false(value_parse(VALUE_TIME, NULL, str_of(bad[i]), &ns));
    assert_int_equal(ns, 7);
}

static void how_long_to_record_needs_a_unit(void **state) {
    int64_t ns = 7;
    assert_false(value_parse(VALUE_DURATION, NULL, STR("30"), &ns));
    assert_int_equal(ns, 7);
    assert_true(value_parse(VALUE_DURATION, NULL, STR("30s"), &ns));
    assert_int_equal(ns, 30000000000);
}

static void steps_are_one_or_a_range(void **state) {
    static const struct {
        const char *text;
        step_range steps;
    } cases[] = {{"3", {3, 3}}, {"3..5", {3, 5}}, {"3..", {3, OPEN_END}}, {"..5", {0, 5}}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        step_range s;
        assert_true(value_parse(VALUE_STEPS, NULL, str_of(cases[i].text), &s));
        assert_int_equal(s.first, cases[i].steps.first);
        assert_int_equal(s.last, cases[i].steps.last);
    }
    static const char *const bad[] = {"", "..", "5..3", "x", "3..x", "3...5", "3-5"};
    step_range s = STEPS_ALL;
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_false(value_parse(VALUE_STEPS, NULL, str_of(bad[i]), &s));
    assert_true(steps_are_all(s));
}

static void other_kinds_take_what_they_say(void **state) {
    static const struct {
        value_kind kind;
        const char *text;
        bool fits;
    } cases[] = {
        {VALUE_COUNT, "0", true},          {VALUE_COUNT, "-1", false},
        {VALUE_COUNT, "1.5", false},       {VALUE_SIZE, "4GiB", true},
        {VALUE_SIZE, "lots", false},       {VALUE_CHOICE, "a", true},
        {VALUE_CHOICE, "b|c", false},      {VALUE_CHOICE, "", false},
        {VALUE_CHOICE, "c", true},         {VALUE_ORDER, "calls", true},
        {VALUE_ORDER, "a:asc,b", true},    {VALUE_ORDER, "a:up", false},
        {VALUE_ORDER, "a,b,c,d,e", false}, {VALUE_FLAG, "yes", true},
        {VALUE_FLAG, "maybe", false},      {VALUE_TEXT, "", true},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        char field[64];
        assert_int_equal(value_parse(cases[i].kind, "a|b|c", str_of(cases[i].text), field),
                         cases[i].fits);
    }
    bool flag = false;
    assert_true(value_parse(VALUE_FLAG, NULL, STR("1"), &flag) && flag);
    assert_true(value_parse(VALUE_FLAG, NULL, STR("false"), &flag) && !flag);
}

static void a_name_is_spelled_with_either_dash(void **state) {
    assert_true(value_same_name(STR("group_by"), STR("group-by")));
    assert_true(value_same_name(STR("all-workers"), STR("all_workers")));
    assert_false(value_same_name(STR("group_by"), STR("groupby")));
    assert_false(value_same_name(STR("group_by"), STR("group.by")));
}

static void a_window_becomes_absolute_and_stays_open(void **state) {
    time_window w = window_at((time_window){5, OPEN_END}, 100);
    assert_int_equal(w.from_ns, 105);
    assert_int_equal(w.to_ns, OPEN_END);
    assert_true(window_is_open(window_at(WINDOW_OPEN, 100)));
    w = window_closed(w, (time_window){100, 400});
    assert_int_equal(w.from_ns, 105);
    assert_int_equal(w.to_ns, 400);
    assert_int_equal(offset_to_time(INT64_MAX - 1, 100), INT64_MAX); /* never wraps */
}

static void a_long_value_is_cut_in_the_error_and_choices_stay(void **state) {
    char text[5000];
    memset(text, 'x', sizeof text);
    error err;
    buf b = {0};
    spelling as = {STR("--by"), " "};
    assert_int_equal(value_fail(VALUE_CHOICE, "a|b", &as, (str){text, sizeof text}, &err),
                     ERR_ARG);
    assert_int_equal(err.message, MSG_CLI_BAD_CHOICE);
    text_error(&b, LANG_EN, &err);
    assert_true(str_starts(buf_str(&b), STR("--by xxx")));
    assert_true(str_ends(buf_str(&b), STR(": unknown value; available: a, b")));
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_has_a_unit_or_is_nanoseconds),
        cmocka_unit_test(how_long_to_record_needs_a_unit),
        cmocka_unit_test(steps_are_one_or_a_range),
        cmocka_unit_test(other_kinds_take_what_they_say),
        cmocka_unit_test(a_name_is_spelled_with_either_dash),
        cmocka_unit_test(a_window_becomes_absolute_and_stays_open),
        cmocka_unit_test(a_long_value_is_cut_in_the_error_and_choices_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
