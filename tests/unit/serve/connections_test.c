/* connections_test.c: the silent are closed, the busy never, and each once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/connections.h"

static void the_one_that_is_silent_longest_is_closed(void **state) {
    connections c;
    connections_init(&c);
    connections_open(&c, 5, 100);
    connections_open(&c, 6, 50);
    connections_open(&c, 7, 70);
    assert_int_equal(connections_pick_silent(&c, 1049), -1);
    assert_int_equal(connections_pick_silent(&c, 1050), 6);
    assert_int_equal(connections_pick_silent(&c, 1060), -1); /* 6 has been asked to */
    assert_int_equal(connections_pick_silent(&c, 1070), 7);
}

static void who_is_answered_stays(void **state) {
    connections c;
    connections_init(&c);
    connection_slot *one = connections_open(&c, 5, 0);
    connections_ask(one);
    assert_int_equal(connections_pick_silent(&c, 100000), -1);
    connections_rest(one, 100000); /* from now on it only holds the connection */
    assert_int_equal(connections_pick_silent(&c, 100500), -1);
    assert_int_equal(connections_pick_silent(&c, 101000), 5);
}

static void room_is_used_again(void **state) {
    connections c;
    connections_init(&c);
    connection_slot *first = connections_open(&c, 0, 0);
    for (int i = 1; i < CONNECTIONS_MOST; i++) assert_non_null(connections_open(&c, i, i));
    assert_null(connections_open(&c, 999, 0));
    connections_close(first);
    assert_ptr_equal(connections_open(&c, 999, 5), first);
    connections_close(NULL);
    connections_ask(NULL);
    connections_rest(NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_that_is_silent_longest_is_closed),
        cmocka_unit_test(who_is_answered_stays),
        cmocka_unit_test(room_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
