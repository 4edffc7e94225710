/* emit_csv_test.c: comma-separated values that read back exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_answer.h"

static void fields_are_quoted_when_they_must_be(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    assert_string_equal(sample_written(&a, FORM_CSV, &x, &o),
                        "name,time,share,used,address,never\r\n"
                        "\"vec<float, 4>::run*\"\"x\"\"|y\",15250,0.34,true,"
                        "9223372036854775808,\r\n"
                        "\"矩阵\nb\\x1b[2J\",-3,,false,,\r\n");
    arena_fini(&a);
}

static void an_empty_text_is_not_null(void **state) {
    static const column_spec spec[] = {{"a", TYPE_TEXT, UNIT_NONE, 0},
                                       {"b", TYPE_TEXT, UNIT_NONE, 0}};
    arena a;
    size_t row;
    arena_init(&a, 0);
    answer x = {.analysis = "x", .n_tables = 1};
    x.tables[0] = table_new(&a, "t", spec, 2);
    assert_int_equal(table_add_row(x.tables[0], &row, NULL), OK);
    table_set_text(x.tables[0], row, 0, STR(""));
    present_options o = {.lang = LANG_EN};
    assert_string_equal(sample_written(&a, FORM_CSV, &x, &o), "a,b\r\n\"\",\r\n");
    arena_fini(&a);
}

/* Names that a spreadsheet would take for formulas. */
static void no_name_is_a_formula(void **state) {
    static const column_spec spec[] = {{"a", TYPE_TEXT, UNIT_NONE, 0},
                                       {"n", TYPE_INT, UNIT_NONE, 0}};
    static const str names[] = {STR("=1+1"), STR("+a"), STR("-2"), STR("@x"), STR("a=b")};
    arena a;
    arena_init(&a, 0);
    answer x = {.analysis = "x", .n_tables = 1};
    x.tables[0] = table_new(&a, "t", spec, 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t row;
        assert_int_equal(table_add_row(x.tables[0], &row, NULL), OK);
        table_set_text(x.tables[0], row, 0, names[i]);
        table_set_int(x.tables[0], row, 1, -5);
    }
    present_options o = {.lang = LANG_EN};
    assert_string_equal(sample_written(&a, FORM_CSV, &x, &o),
                        "a,n\r\n'=1+1,-5\r\n'+a,-5\r\n'-2,-5\r\n'@x,-5\r\na=b,-5\r\n");
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_quoted_when_they_must_be),
        cmocka_unit_test(an_empty_text_is_not_null),
        cmocka_unit_test(no_name_is_a_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
