/* emit_text_test.c: a whole answer as text: the verdict first, what it is based on last,
 * safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
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
        "a.json, worker w0, kineto, 2.00 ms, 12 events read\n"
        "kernels linked to an operator: 3 of 4\n"
        "2 × negative duration\n");
    arena_fini(&a);
}

/* Does the text have this line? */
static bool has_line(const char *text, const char *line) {
    const char *at = strstr(text, line);
    return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static void what_the_reader_cannot_use_is_a_detail(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    x.quality.links[0].linked = x.quality.links[0].total;
    x.quality.dropped[0].harmless = true;
    present_options o = {.lang = LANG_EN}, all = {.lang = LANG_EN, .details = true};
    const char *plain = sample_written(&a, FORM_TEXT, &x, &o);
    assert_null(strstr(plain, "linked"));
    assert_null(strstr(plain, "negative"));
    assert_null(strstr(plain, "nothing to show in"));
    const char *whole = sample_written(&a, FORM_TEXT, &x, &all);
    assert_true(has_line(whole, "kernels linked to an operator: 4 of 4"));
    assert_true(has_line(whole, "2 × negative duration"));
    assert_true(has_line(whole, "nothing to show in empty"));
    assert_non_null(strstr(sample_written(&a, FORM_JSON, &x, &o), "\"negative_duration\""));
    arena_fini(&a);
}

static void a_part_and_a_search_say_what_is_counted(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN};
    x.part = (verdict){.id = "part", .message = MSG_TEXT_ONLY_STEPS, .n_args = 1};
    x.part.args[0] = arg_cstr("steps", "3..5");
    x.match = (verdict){.id = "match", .message = MSG_TEXT_MATCHED, .n_args = 3};
    x.match.args[0] = arg_int("count", 2);
    x.match.args[1] = arg_int("total", 9);
    x.match.args[2] = arg_cstr("text", "conv");
    const char *text = sample_written(&a, FORM_TEXT, &x, &o);
    assert_int_equal(strncmp(text, "2 of 9 rows match conv\n", 23), 0);
    assert_true(has_line(text, "a.json, worker w0, kineto, 2.00 ms, only step 3..5"));
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
        cmocka_unit_test(what_the_reader_cannot_use_is_a_detail),
        cmocka_unit_test(a_part_and_a_search_say_what_is_counted),
        cmocka_unit_test(escapes_appear_only_with_color),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
