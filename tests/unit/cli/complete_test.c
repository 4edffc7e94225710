/* complete_test.c: what words can become, and how a line is split into words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/complete.h"

static arena memory;

static int make(void **state) {
    arena_init(&memory, 0);
    return 0;
}

static int unmake(void **state) {
    arena_fini(&memory);
    return 0;
}

/* The first column of the answer, joined by blanks. */
static str completed(const char *line) {
    uint32_t n;
    buf lines = {0}, values = {0};
    const str *words = complete_split(&memory, str_of(line), &n);
    complete_words(&memory, words, n, LANG_EN, &lines);
    for (str rest = buf_str(&lines); rest.n;) {
        size_t end = str_find(rest, STR("\n"), 0), tab = str_find(rest, STR("\t"), 0);
        if (values.n) buf_add_byte(&values, ' ');
        buf_add_str(&values, str_n(rest.p, tab < end ? tab : end));
        rest = str_from(rest, end + 1);
    }
    str out = arena_str(&memory, buf_str(&values));
    buf_fini(&lines);
    buf_fini(&values);
    return out;
}

static void assert_completed(const char *line, const char *wanted) {
    str got = completed(line);
    if (!str_eq(got, str_of(wanted))) fail_msg("%s: %.*s", line, STR_ARG(got));
}

static void a_line_is_split_as_a_shell_does(void **state) {
    uint32_t n;
    str *w = complete_split(&memory, STR("  tacho 'a b' \"c \\\" d\" e\\ f --x=1 "), &n);
    static const char *const wanted[] = {"tacho", "a b", "c \" d", "e f", "--x=1", ""};
    assert_int_equal(n, N_OF(wanted));
    for (uint32_t i = 0; i < n; i++) assert_true(str_eq(w[i], str_of(wanted[i])));
    w = complete_split(&memory, STR(""), &n);
    assert_int_equal(n, 1);
    w = complete_split(&memory, STR("'open quote"), &n);
    assert_int_equal(n, 1);
    assert_true(str_eq(w[0], STR("open quote")));
    w = complete_split(&memory, STR("end\\"), &n);
    assert_true(str_eq(w[0], STR("end\\")));
}

static void the_first_word_is_a_command_or_a_file(void **state) {
    assert_completed("criti", "critical");
    assert_completed("./runs", ":files");
    assert_true(str_starts(completed(""), STR("record summary overview")));
    assert_completed("--vers", "--version");
}

static void options_are_those_of_the_command(void **state) {
    assert_completed("operators x --group", "--group-by");
    assert_completed("info x --group", "");
    assert_completed("x.json --form", "--format");
    assert_completed("export x --unt", "--until");
}

static void values_are_those_of_the_option(void **state) {
    assert_completed("kernels x --group-by ", "name name+op launch");
    assert_completed("kernels x --group-by=l", "--group-by=launch");
    assert_completed("kernels x --sort blocks", "blocks_per_sm");
    assert_completed("kernels x --sort total:d", "total:desc");
    assert_completed("kernels x --sort total,blocks", "total,blocks_per_sm");
    assert_completed("summary x --sort device_sel", "device_self");
    assert_completed("overview x --table brea", "breakdown");
    assert_completed("report x -o ", ":files");
    assert_completed("kernels x --limit ", "");
    assert_completed("kernels x --no-such ", ":files"); /* the word after it is a trace */
}

static void the_program_of_record_is_left_to_the_shell(void **state) {
    assert_completed("record --shap", "--shapes");
    assert_completed("record python --shap", ":files");
    assert_completed("record -- py", ":files");
}

static void what_cannot_be_found_is_not_offered(void **state) {
    assert_completed("overview /nowhere/at/all --worker ", "");
    assert_completed("overview https://host/x.json --worker ", "");
    assert_completed("overview --worker ", "");
    assert_completed("steps /nowhere --step ", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_split_as_a_shell_does),
        cmocka_unit_test(the_first_word_is_a_command_or_a_file),
        cmocka_unit_test(options_are_those_of_the_command),
        cmocka_unit_test(values_are_those_of_the_option),
        cmocka_unit_test(the_program_of_record_is_left_to_the_shell),
        cmocka_unit_test(what_cannot_be_found_is_not_offered),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
