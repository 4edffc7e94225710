/* width_test.c: cells of a terminal, and texts that fit them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/width.h"

static void assert_short(const char *text, size_t cells, const char *wanted) {
    buf b = {0};
    size_t used = width_put_short(&b, str_of(text), cells);
    assert_int_equal(used, width_of(buf_str(&b)));
    assert_true(used <= cells);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, wanted);
    buf_fini(&b);
}

static void chinese_takes_two_cells_and_marks_none(void **state) {
    assert_int_equal(width_of(STR("abc")), 3);
    assert_int_equal(width_of(STR("算子")), 4);
    assert_int_equal(width_of(STR("e\xcc\x81")), 1);
    assert_int_equal(width_of(STR("µs …")), 4);
    assert_int_equal(width_of(STR("😀")), 2);
    assert_int_equal(width_of(STR("")), 0);
}

static void broken_bytes_take_one_cell_each(void **state) {
    assert_int_equal(width_of(STR("\xff\xfe")), 2);
    assert_int_equal(width_of(STR("\xe7\xae")), 2);     /* cut character */
    assert_int_equal(width_of(STR("\xc0\x80")), 2);     /* overlong */
    assert_int_equal(width_of(STR("\xed\xa0\x80")), 3); /* surrogate */
    assert_short("\xff!", 5, "\xef\xbf\xbd!");
}

static void control_characters_are_replaced(void **state) {
    assert_short("a\tb\nc\033d\x7f\xc2\x9b\xe2\x80\xae", 20, "a b c?d???");
}

static void a_long_name_loses_its_middle(void **state) {
    assert_short("abcdefghij", 10, "abcdefghij");
    assert_short("abcdefghij", 9, "abcd…ghij");
    assert_short("abcdefghij", 4, "ab…j");
    assert_short("abcdefghij", 1, "…");
    assert_short("abcdefghij", 0, "");
}

static void a_wide_character_is_never_halved(void **state) {
    assert_short("矩阵乘法算子", 12, "矩阵乘法算子");
    assert_short("矩阵乘法算子", 8, "矩阵…子");
    assert_short("矩阵乘法算子", 7, "矩…子");
    assert_short("矩阵乘法算子", 2, "…");
}

static void a_long_signature_loses_its_parameters_first(void **state) {
    assert_short("void ns::add<int>(float (*)(int), int)", 40,
                 "void ns::add<int>(float (*)(int), int)");
    assert_short("void ns::add<int>(float (*)(int), int)", 20, "ns::add<int>");
    assert_short("void ns::add<int>(float (*)(int), int)", 9, "ns::…int>");
    assert_short("aten::copy (aten::empty)", 13, "aten::…empty)");
    assert_short("(anonymous namespace)", 10, "(anon…ace)");
    assert_short("broken parameters)))", 10, "broke…s)))");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chinese_takes_two_cells_and_marks_none),
        cmocka_unit_test(broken_bytes_take_one_cell_each),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(a_long_name_loses_its_middle),
        cmocka_unit_test(a_wide_character_is_never_halved),
        cmocka_unit_test(a_long_signature_loses_its_parameters_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
