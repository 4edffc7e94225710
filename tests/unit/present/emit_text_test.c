/* emit_text_test.c: text for a terminal: it fits, it says what it leaves out, it is safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/width.h"
#include "sample_answer.h"

static void the_verdict_comes_first_and_the_quality_last(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    assert_string_equal(
        sample_written(&a, FORM_TEXT, &x, &o),
        "not recorded: a\n"
        "\n"
        "things\n"
        "name                         time   share  used              address\n"
        "vec<float, 4>::run*\"x\"|y  15.3 µs  34.0 %   yes  9223372036854775808\n"
        "矩阵 b?[2J                  -3 ns       -    no                    -\n"
        "2 of 3 rows; --limit 0 shows all\n"
        "not recorded: never\n"
        "\n"
        "nothing to show in empty\n"
        "\n"
        "a.json, worker w0, kineto, 2.00 ms, 12 events read\n"
        "kernels linked to an operator: 3 of 4\n"
        "2 × negative duration\n");
    arena_fini(&a);
}

/* No line of the text is wider. */
static void assert_fits(const char *text, size_t width) {
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
        assert_true(width_of(str_n(text, (size_t)(end - text))) <= width);
}

static void a_table_fits_any_width_and_names_what_it_dropped(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    for (uint32_t width = 24; width < 120; width++) {
        buf b = {0};
        present_options o = {.lang = LANG_EN, .width = width};
        assert_int_equal(present_table_text(x.tables[0], &o, &b, NULL), OK);
        buf_add_byte(&b, '\0');
        char *note = strstr(b.p, "2 of 3 rows");
        assert_non_null(note);
        bool dropped = strstr(note, "not enough width for: ") != NULL;
        assert_int_equal(dropped, width < 68);
        note[0] = '\0';
        assert_fits(b.p, width);
        buf_fini(&b);
    }
    arena_fini(&a);
}

static void the_columns_with_a_rank_stay_longest(void **state) {
    arena a;
    buf b = {0};
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    x.tables[0]->columns[2].rank = 1; /* share before name */
    present_options o = {.lang = LANG_EN, .width = 34};
    assert_int_equal(present_table_text(x.tables[0], &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_non_null(strstr(b.p, "name                       share\n"));
    assert_non_null(strstr(b.p, "not enough width for: time, used, address\n"));
    buf_fini(&b);
    arena_fini(&a);
}

static void a_column_that_repeats_the_first_is_only_named(void **state) {
    static const column_spec spec[] = {{"name", TYPE_TEXT, UNIT_NONE, 0},
                                       {"full_name", TYPE_TEXT, UNIT_NONE, 0}};
    arena a;
    buf b = {0};
    size_t row;
    arena_init(&a, 0);
    table *t = table_new(&a, "t", spec, 2);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("x"));
    table_set_text(t, row, 1, STR("x"));
    present_options o = {.lang = LANG_EN};
    assert_int_equal(present_table_text(t, &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "name\nx\nthe same as name: full_name\n");
    buf_fini(&b);
    arena_fini(&a);
}

static void a_name_without_its_parameters_keeps_the_columns_in_line(void **state) {
    static const column_spec spec[] = {{"name", TYPE_TEXT, UNIT_NONE, 0},
                                       {"kind", TYPE_TEXT, UNIT_NONE, 0}};
    arena a;
    buf b = {0};
    size_t row;
    arena_init(&a, 0);
    table *t = table_new(&a, "t", spec, 2);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("void add<int>(float const*, float const*, float*)"));
    table_set_text(t, row, 1, STR("k"));
    present_options o = {.lang = LANG_EN, .width = 30};
    assert_int_equal(present_table_text(t, &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "name                      kind\nadd<int>                  k\n");
    buf_fini(&b);
    arena_fini(&a);
}

static void escapes_appear_only_with_color(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options plain = {.lang = LANG_ZH}, color = {.lang = LANG_ZH, .color = true};
    assert_null(strchr(sample_written(&a, FORM_TEXT, &x, &plain), '\033'));
    assert_non_null(
        strstr(sample_written(&a, FORM_TEXT, &x, &color), "\033[31m未记录：a\033[0m"));
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first_and_the_quality_last),
        cmocka_unit_test(a_table_fits_any_width_and_names_what_it_dropped),
        cmocka_unit_test(the_columns_with_a_rank_stay_longest),
        cmocka_unit_test(a_column_that_repeats_the_first_is_only_named),
        cmocka_unit_test(a_name_without_its_parameters_keeps_the_columns_in_line),
        cmocka_unit_test(escapes_appear_only_with_color),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
