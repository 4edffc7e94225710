/* bar_test.c: bars to an eighth of a cell, and in ASCII. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/bar.h"

static void assert_bar(double part, size_t cells, bool utf8, const char *wanted, size_t used) {
    buf b = {0};
    assert_int_equal(bar_put(&b, part, cells, utf8), used);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, wanted);
    buf_fini(&b);
}

static void a_bar_is_as_long_as_its_part(void **state) {
    assert_bar(1, 4, true, "████", 4);
    assert_bar(0.5, 4, true, "██", 2);
    assert_bar(0.53125, 4, true, "██▏", 3);
    assert_bar(0.97, 4, true, "███▉", 4);
    assert_bar(0.5, 4, false, "##", 2);
}

static void little_is_seen_and_nothing_is_not(void **state) {
    assert_bar(1e-9, 4, true, "▏", 1);
    assert_bar(1e-9, 4, false, "#", 1);
    assert_bar(0, 4, true, "", 0);
    assert_bar(-1, 4, true, "", 0);
    assert_bar(0.0 / 0.0, 4, true, "", 0);
    assert_bar(7, 3, true, "███", 3); /* more than all is all */
}

static void a_level_is_one_cell(void **state) {
    buf b = {0};
    for (unsigned level = 0; level <= BAR_LEVELS + 1; level++) bar_put_level(&b, level, true);
    for (unsigned level = 0; level <= BAR_LEVELS; level += 4) bar_put_level(&b, level, false);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, " ▁▂▃▄▅▆▇██ =@");
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_is_as_long_as_its_part),
        cmocka_unit_test(little_is_seen_and_nothing_is_not),
        cmocka_unit_test(a_level_is_one_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
