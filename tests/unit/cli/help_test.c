/* help_test.c: help fits the width and explains every column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/help.h"
#include "present/width.h"

static void assert_fits(const char *text, size_t width) {
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        size_t cells = width_of(str_n(text, (size_t)(end - text)));
        if (cells > width) fail_msg("%zu cells: %.*s", cells, (int)(end - text), text);
    }
}

static void help_fits_the_terminal_in_both_languages(void **state) {
    command c;
    for (int l = 0; l < N_LANGS; l++) {
        for (uint32_t i = 0; command_at(i, &c); i++) {
            buf b = {0};
            help_command(&b, &c, (lang)l, 80);
            buf_add_byte(&b, '\0');
            assert_fits(b.p, 80);
            buf_fini(&b);
        }
        buf b = {0};
        help_program(&b, (lang)l, 60);
        help_short(&b, (lang)l, 80);
        buf_add_byte(&b, '\0');
        assert_fits(b.p, 80);
        buf_fini(&b);
    }
}

static void every_column_of_an_analysis_is_explained(void **state) {
    command c;
    buf b = {0};
    assert_true(command_find(STR("kernels"), &c));
    help_command(&b, &c, LANG_EN, 500);
    buf_add_byte(&b, '\0');
    const result_info *r = registry_result("kernels", 0);
    const field_info *f;
    for (uint32_t i = 0; (f = registry_field(r, i)) != NULL; i++) {
        assert_non_null(strstr(b.p, f->name));
        assert_non_null(strstr(b.p, text_get(f->help, LANG_EN)));
    }
    assert_non_null(strstr(b.p, "(only with --group-by launch)"));
    assert_non_null(strstr(b.p, "--group-by"));
    assert_null(strstr(b.p, "--output"));
    buf_fini(&b);
}

static void every_command_is_in_one_group(void **state) {
    command c, listed;
    const command_group *g;
    for (uint32_t i = 0; command_at(i, &c); i++) {
        int n = 0;
        for (uint32_t k = 0; (g = command_group_at(k)) != NULL; k++)
            for (uint32_t j = 0; command_in_group(g, j, &listed); j++)
                n += strcmp(listed.name, c.name) == 0;
        if (n != 1) fail_msg("%s is in %d groups of groups.def", c.name, n);
    }
}

static void a_group_names_only_commands(void **state) {
    const command_group *g;
    for (uint32_t k = 0; (g = command_group_at(k)) != NULL; k++) {
        uint32_t words = 1;
        command c;
        for (const char *p = g->commands; *p; p++) words += *p == ' ';
        for (uint32_t i = 0; i < words; i++) assert_true(command_in_group(g, i, &c));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_in_one_group),
        cmocka_unit_test(a_group_names_only_commands),
        cmocka_unit_test(help_fits_the_terminal_in_both_languages),
        cmocka_unit_test(every_column_of_an_analysis_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
