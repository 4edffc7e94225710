/* newest_asked_test.c: a client's older numbers are known as such; the list is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "serve/newest_asked.h"

static void an_older_number_is_known(void **state) {
    newest_asked n;
    newest_asked_init(&n);
    assert_false(newest_asked_is_older(&n, STR("a"), 1));
    newest_asked_note(&n, STR("a"), 5);
    newest_asked_note(&n, STR("a"), 3);
    newest_asked_note(&n, STR("b"), 1);
    assert_true(newest_asked_is_older(&n, STR("a"), 4));
    assert_false(newest_asked_is_older(&n, STR("a"), 5));
    assert_false(newest_asked_is_older(&n, STR("b"), 1));
    newest_asked_fini(&n);
}

static void the_client_longest_unheard_of_makes_room(void **state) {
    newest_asked n;
    char name[16];
    newest_asked_init(&n);
    newest_asked_note(&n, STR("first"), 9);
    for (int i = 0; i < NEWEST_CLIENTS; i++) {
        snprintf(name, sizeof name, "client%d", i);
        newest_asked_note(&n, str_of(name), 2);
    }
    assert_false(newest_asked_is_older(&n, STR("first"), 1));
    assert_true(newest_asked_is_older(&n, str_of(name), 1));
    newest_asked_fini(&n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_number_is_known),
        cmocka_unit_test(the_client_longest_unheard_of_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
