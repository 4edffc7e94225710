/* record_end_test.c: exit statuses, and the kernel's count of processes killed for memory. */
#include "cli/record_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_exit_status_is_that_of_a_shell(void **state) {
    (void)state;
    assert_int_equal(record_exit_status(&(record_outcome){.how = 0}), 0);
    assert_int_equal(record_exit_status(&(record_outcome){.how = 3 << 8}), 3);
    assert_int_equal(record_exit_status(&(record_outcome){.how = 9}), 137);
}

static void the_count_of_kills_is_found_in_all_three_files(void **state) {
    (void)state;
    assert_int_equal(record_oom_parse("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n"), 2);
    assert_int_equal(record_oom_parse("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"), 7);
    assert_int_equal(record_oom_parse("nr_free 5\ndrop_oom_kill 9\noom_kill 1\n"), 1);
    assert_int_equal(record_oom_parse("oom_group_kill 5\n"), -1);
    assert_int_equal(record_oom_parse(""), -1);
}

static void the_count_says_where_it_is(void **state) {
    const char *from = NULL;
    (void)state;
    (void)record_oom_kills(&from);
    assert_non_null(from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exit_status_is_that_of_a_shell),
        cmocka_unit_test(the_count_of_kills_is_found_in_all_three_files),
        cmocka_unit_test(the_count_says_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
