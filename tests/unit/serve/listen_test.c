/* listen_test.c: ports, free and taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/message_ids_http.h"
#include "serve/listen.h"

static void port_zero_takes_any(void **state) {
    listen_socket l;
    assert_int_equal(listen_open("127.0.0.1", 0, 0, &l, NULL), OK);
    assert_true(l.port > 0 && l.loopback && !l.ipv6);
    close(l.fd);
}

static void a_taken_port_names_its_owner(void **state) {
    listen_socket l, second = {.fd = -1};
    error err;
    buf owner = {0};
    char pid[32];
    assert_int_equal(listen_open("127.0.0.1", 0, 0, &l, NULL), OK);
    assert_int_equal(listen_open("127.0.0.1", l.port, 0, &second, &err), ERR_IO);
    assert_int_equal(second.fd, -1);
    assert_int_equal(err.message, MSG_SERVE_PORT_TAKEN_BY);
    assert_true(listen_owner(l.port, &owner));
    snprintf(pid, sizeof pid, "(%d)", (int)getpid());
    assert_true(str_find(buf_str(&owner), str_of(pid), 0) != SIZE_MAX);
    buf_fini(&owner);
    close(l.fd);
    assert_false(listen_owner(l.port, &owner));
    buf_fini(&owner);
}

static void the_next_free_port_is_taken_where_that_is_allowed(void **state) {
    listen_socket l, second, third;
    assert_int_equal(listen_open("127.0.0.1", 0, 0, &l, NULL), OK);
    assert_int_equal(listen_open("127.0.0.1", l.port, 50, &second, NULL), OK);
    assert_true(second.port > l.port && second.port <= l.port + 50);
    assert_int_equal(listen_open("127.0.0.1", l.port, 50, &third, NULL), OK);
    assert_true(third.port > second.port);
    close(third.fd);
    close(second.fd);
    close(l.fd);
}

static void no_port_comes_after_the_last(void **state) {
    listen_socket l, second;
    error err;
    if (listen_open("127.0.0.1", UINT16_MAX, 0, &l, NULL) != OK) skip(); /* it is taken */
    assert_int_equal(listen_open("127.0.0.1", UINT16_MAX, 50, &second, &err), ERR_IO);
    close(l.fd);
}

static void other_addresses_are_not_loopback(void **state) {
    listen_socket l;
    error err;
    assert_int_equal(listen_open("0.0.0.0", 0, 0, &l, NULL), OK);
    assert_false(l.loopback);
    close(l.fd);
    assert_int_equal(listen_open("no.such.host.invalid", 0, 0, &l, &err), ERR_ARG);
    assert_int_equal(listen_open("203.0.113.1", 0, 0, &l, &err), ERR_IO); /* of no machine */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_zero_takes_any),
        cmocka_unit_test(a_taken_port_names_its_owner),
        cmocka_unit_test(the_next_free_port_is_taken_where_that_is_allowed),
        cmocka_unit_test(no_port_comes_after_the_last),
        cmocka_unit_test(other_addresses_are_not_loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
