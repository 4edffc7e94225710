/* top_text_test.c: numbers and tables as profile_analyze prints them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compat/top_text.h"

static void three_digits_are_pythons(void **state) {
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0.0016, "0.0016"},  {1, "1.0"},       {12, "12.0"},
                 {123.4, "1.23e+02"}, {100, "1e+02"},   {99.94, "99.9"},
                 {8.1e-5, "8.1e-05"}, {1e-6, "1e-06"},  {0, "0.0"},
                 {0.0001, "0.0001"},  {INFINITY, "inf"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf b = {0};
        top_text_digits(&b, cases[i].v);
        buf_add_byte(&b, 0);
        assert_string_equal(b.p, cases[i].text);
        buf_fini(&b);
    }
}

static buf write(top_record *records, size_t n, top_layout how) {
    arena a;
    error err = {0};
    buf out = {0};
    top_result r = {.device = {.v = records, .n = n, .total = 2e-3}, .host = {.total = NAN}};
    arena_init(&a, 0);
    assert_int_equal(top_text_write(&r, &how, &a, &out, &err), OK);
    arena_fini(&a);
    buf_add_byte(&out, 0);
    return out;
}

static void what_is_not_recorded_is_na_with_the_bare_unit(void **state) {
    top_record one = {.time = 0,
                      .computation = NAN,
                      .flops = NAN,
                      .memory = 0,
                      .bandwidth = NAN,
                      .name = STR("a_name_that_is_longer_than_thirty_characters"),
                      .type = STR("T"),
                      .id = 7};
    buf out = write(&one, 1, (top_layout){.summary = true, .device = true});
    assert_non_null(strstr(out.p, "total host time    N/A"));
    assert_non_null(strstr(out.p, "a_name_that_is_longer_than_thi"));
    assert_non_null(strstr(out.p, "-  rty_characters"));
    assert_non_null(strstr(out.p, "nan"));
    assert_non_null(strstr(out.p, "N/A"));
    buf_fini(&out);
}

static void a_list_is_one_line_for_each_record(void **state) {
    top_record two[] = {{.name = STR("a"), .type = STR("T"), .id = 1},
                        {.type = STR("all"), .count = 3, .id = ABSENT_I64}};
    buf out = write(two, 2, (top_layout){.device = true, .only_list = true});
    assert_string_equal(out.p, "a T 1\nall 3 N/A\n");
    buf_fini(&out);
}

static void a_wiki_table_has_bars_and_survives_what_is_not_recorded(void **state) {
    top_record two[] = {{.time = 1.559e-3,
                         .computation = 2e6,
                         .flops = 2e9,
                         .memory = NAN,
                         .bandwidth = NAN,
                         .name = STR("a"),
                         .type = STR("T"),
                         .id = 1},
                        {.time = 7.7e-4,
                         .computation = NAN,
                         .flops = NAN,
                         .memory = NAN,
                         .bandwidth = NAN,
                         .name = STR("b"),
                         .type = STR("T"),
                         .id = 2}};
    buf out = write(two, 2, (top_layout){.device = true, .wiki = true});
    assert_non_null(strstr(out.p, "| ############### |"));
    assert_non_null(strstr(out.p, "| #######         |"));
    assert_non_null(strstr(out.p, "| 2000.0 "));
    assert_non_null(strstr(out.p, "| 0.00156 |")); /* a time has three digits, sums have six */
    assert_non_null(strstr(out.p, "   0.001559 |"));
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_digits_are_pythons),
        cmocka_unit_test(what_is_not_recorded_is_na_with_the_bare_unit),
        cmocka_unit_test(a_list_is_one_line_for_each_record),
        cmocka_unit_test(a_wiki_table_has_bars_and_survives_what_is_not_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
