/* emit_text_test.c: a whole answer as text: the verdict first, what it rests on last, safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_answer.h"

static void the_verdict_comes_first_and_the_quality_last(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    assert_string_equal(
        sample_written(&a, FORM_TEXT, &x, &o),
        "terminal too narrow for: a\n"
        "\n"
        "things\n"
        "name                         time   share  used              address\n"
        "vec<float, 4>::run*\"x\"|y  15.3 µs  34.0 %   yes  9223372036854775808\n"
        "矩阵 b\\x1b[2J               -3 ns       -    no                    -\n"
        "2 of 3 rows; --limit 0 shows all\n"
        "\n"
        "nothing to show in empty\n"
        "\n"
        "a.json, worker w0, kineto, 2.00 ms, 12 events read\n"
        "kernels linked to an operator: 3 of 4\n"
        "2 × negative duration\n");
    arena_fini(&a);
}

static void escapes_appear_only_with_color(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options plain = {.lang = LANG_ZH}, color = {.lang = LANG_ZH, .color = true};
    assert_null(strchr(sample_written(&a, FORM_TEXT, &x, &plain), '\033'));
    assert_non_null(strstr(sample_written(&a, FORM_TEXT, &x, &color),
                           "\033[31m终端太窄，未显示：a\033[0m"));
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first_and_the_quality_last),
        cmocka_unit_test(escapes_appear_only_with_color),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
