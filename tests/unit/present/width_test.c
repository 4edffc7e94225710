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

static void control_characters_are_written_out(void **state) {
    assert_short("a\tb\nc\033d\x7f\xc2\x9b\xe2\x80\xae", 40, "a b c\\x1bd\\x7f\\x9b\\u202e");
    assert_short("\033]8;;http://x\033\\y", 40, "\\x1b]8;;http://x\\x1b\\y");
    assert_short("\033\033\033", 7, "…"); /* one is never cut in two */
}

static void a_long_template_loses_its_namespaces(void **state) {
    static const struct {
        const char *name, *wanted;
        size_t cells;
    } cases[] = {
        {"void at::native::add<at::native::Plus<float>, std::array<char*, 3ul>>(int, float)",
         "add<Plus<float>, array<char*, 3ul>>", 40},
        {"at::native::(anonymous namespace)::pool<float>", "pool<float>", 20},
        {"void cutlass::Kernel2<cutlass_75_gemm_bf16_128x128_tn_align1>(Params)",
         "Kernel2<cutl…8_tn_align1>", 25},
        {"at::add<float>", "at::add<float>", 20}, /* what fits stays whole */
        {"autograd::engine::evaluate_function", "autograd…function", 17},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf b = {0};
        assert_true(width_put_name(&b, str_of(cases[i].name), cases[i].cells) <=
                    cases[i].cells);
        buf_add_byte(&b, '\0');
        assert_string_equal(b.p, cases[i].wanted);
        buf_fini(&b);
    }
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

static void assert_lines(const char *text, size_t indent, size_t cells, const char *expected) {
    buf b = {0};
    width_put_lines(&b, str_of(text), indent, cells);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, expected);
    buf_fini(&b);
}

static void lines_break_at_blanks_and_are_indented(void **state) {
    assert_lines("one two three", 2, 9, "  one two\n  three\n");
    assert_lines("one two three", 0, 100, "one two three\n");
    assert_lines("one two three", 1, 0, " one two three\n");
    assert_lines("", 2, 10, "");
}

static void a_number_stays_with_its_unit(void **state) {
    assert_lines("takes 52.7 ms now", 0, 11, "takes\n52.7 ms now\n");
}

static void lines_break_between_wide_characters_but_not_before_a_comma(void **state) {
    assert_lines("矩阵乘法", 0, 4, "矩阵\n乘法\n");
    assert_lines("矩阵乘，法", 0, 6, "矩阵\n乘，法\n");
    assert_lines("用 torch 编译", 0, 8, "用 torch\n编译\n");
}

static void a_word_that_is_too_long_is_cut(void **state) {
    assert_lines("abcdefgh ij", 0, 5, "abcde\nfgh\nij\n");
    assert_lines("矩阵", 3, 4, "   矩\n   阵\n"); /* no room for even one */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chinese_takes_two_cells_and_marks_none),
        cmocka_unit_test(broken_bytes_take_one_cell_each),
        cmocka_unit_test(control_characters_are_written_out),
        cmocka_unit_test(a_long_template_loses_its_namespaces),
        cmocka_unit_test(a_long_name_loses_its_middle),
        cmocka_unit_test(a_wide_character_is_never_halved),
        cmocka_unit_test(a_long_signature_loses_its_parameters_first),
        cmocka_unit_test(lines_break_at_blanks_and_are_indented),
        cmocka_unit_test(a_number_stays_with_its_unit),
        cmocka_unit_test(lines_break_between_wide_characters_but_not_before_a_comma),
        cmocka_unit_test(a_word_that_is_too_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
