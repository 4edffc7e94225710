/* record_target_test.c: what a recorded program is called, and what to try when it does not
 * run. */
#include "cli/record_target.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

static void the_name_is_the_scripts_else_the_programs(void **state) {
    arena a;
    (void)state;
    arena_init(&a, 0);
    assert_string_equal(target_name(&a, WORDS("python3", "-u", "src/train.py", "--x", "y.py")),
                        "train");
    assert_string_equal(target_name(&a, WORDS("torchrun", "--nproc-per-node", "2", "t.py")),
                        "t");
    assert_string_equal(target_name(&a, WORDS("python", "-m", "pkg.main", "-m")), "pkg.main");
    assert_string_equal(target_name(&a, WORDS("python", "-c", "x", "-m", "y")), "python");
    assert_string_equal(target_name(&a, WORDS("/opt/a b/train+x")), "train_x");
    assert_string_equal(target_name(&a, WORDS("./.hidden")), "_hidden");
    assert_string_equal(target_name(&a, WORDS("-.py")), "-.py");
    arena_fini(&a);
}

static void a_name_is_never_too_long_for_a_file(void **state) {
    arena a;
    char word[4096];
    (void)state;
    arena_init(&a, 0);
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = 0;
    assert_int_equal(strlen(target_name(&a, WORDS(word))), 40);
    arena_fini(&a);
}

static void what_does_not_exist_has_no_hint(void **state) {
    buf out = {0};
    (void)state;
    target_hint(WORDS("/no/such.py"), ENOENT, LANG_EN, &out);
    target_hint(WORDS("/proc/self/exe"), ENOMEM, LANG_EN, &out);
    assert_int_equal(out.n, 0);
    buf_fini(&out);
}

static void a_program_of_this_machine_has_no_obstacle(void **state) {
    (void)state;
    assert_int_equal(target_obstacle("/proc/self/exe"), MSG_RECORD_NOT_LOADED);
    assert_int_equal(target_obstacle("/no/such"), MSG_RECORD_NOT_LOADED);
    assert_int_equal(target_obstacle("/dev/null"), MSG_RECORD_NOT_LOADED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_is_the_scripts_else_the_programs),
        cmocka_unit_test(a_name_is_never_too_long_for_a_file),
        cmocka_unit_test(what_does_not_exist_has_no_hint),
        cmocka_unit_test(a_program_of_this_machine_has_no_obstacle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
