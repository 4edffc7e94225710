/* emit_md_test.c: Markdown in which no name becomes markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_answer.h"

static void names_are_escaped_and_empty_columns_left_out(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    assert_string_equal(sample_written(&a, FORM_MD, &x, &o),
                        "| name | time | share | used | address |\n"
                        "|---|--:|--:|--:|--:|\n"
                        "| vec&lt;float, 4&gt;::run\\*\"x\"\\|y | 15.3 µs | 34.0 % | yes | "
                        "9223372036854775808 |\n"
                        "| 矩阵<br>b\\\\x1b\\[2J | -3 ns |  | no |  |\n");
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_escaped_and_empty_columns_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
