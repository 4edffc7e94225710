/* guard_test.c: who may ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_http.h"
#include "serve/guard.h"

static const guard_rules LOOPBACK = {.loopback = true, .token = {"0123", 4}};
static const guard_rules OPEN = {.loopback = false,
                                 .needs_token = true,
                                 .token = {"0123456789abcdef", 16},
                                 .cookie = {"tacho_token", 11}};

static uint16_t check(const guard_rules *rules, guard_request r, guard_answer *answer) {
    error err = {.message = MSG_NONE};
    if (!r.method.p) r.method = STR("GET");
    if (!r.target.p) r.target = STR("/api/v1/runs");
    if (!r.host.p) r.host = STR("127.0.0.1:8080");
    status s = guard_check(rules, &r, answer, &err);
    assert_int_equal(s == OK, err.message == MSG_NONE);
    return err.message;
}

static void headers_have_a_longest_length(void **state) {
    guard_answer a;
    guard_request r = {.header_bytes = GUARD_HEADER_BYTES};
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_NONE);
    r.header_bytes++;
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_HTTP_LONG_HEADERS);
}

static void only_reading_is_allowed(void **state) {
    guard_answer a;
    assert_int_equal(check(&LOOPBACK, (guard_request){.method = STR("GET")}, &a), MSG_NONE);
    assert_int_equal(check(&LOOPBACK, (guard_request){.method = STR("HEAD")}, &a), MSG_NONE);
    assert_int_equal(check(&LOOPBACK, (guard_request){.method = STR("POST")}, &a),
                     MSG_HTTP_METHOD);
    assert_int_equal(check(&LOOPBACK, (guard_request){.has_body = true}, &a), MSG_HTTP_METHOD);
}

static void one_route_takes_a_file_and_only_on_this_machine(void **state) {
    static const guard_request good = {.method = {"POST", 4},
                                       .target = {"/api/v1/upload?name=a", 21},
                                       .content_type = {"application/octet-stream", 24}};
    guard_answer a;
    guard_request r = good;
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_NONE);
    r.target = STR("/api/v1/runs");
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_HTTP_METHOD);
    r = good, r.method = STR("PUT");
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_HTTP_METHOD);
    r = good, r.content_type = STR("text/plain"); /* what a form of another site can send */
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_UPLOAD_TYPE);
    r = good, r.origin = STR("http://evil.example");
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_HTTP_FORBIDDEN_ORIGIN);
    r = good, r.host = STR("evil.example");
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_HTTP_FORBIDDEN_HOST);
    r = good, r.fetch_site = STR("cross-site");
    assert_int_equal(check(&LOOPBACK, r, &a), MSG_HTTP_FORBIDDEN_ORIGIN);
}

static void a_request_that_can_be_read_in_two_ways_is_refused(void **state) {
    guard_answer a;
    assert_int_equal(check(&LOOPBACK, (guard_request){.ambiguous = true}, &a),
                     MSG_HTTP_AMBIGUOUS);
    assert_int_equal(check(&OPEN,
                           (guard_request){.ambiguous = true,
                                           .authorization = STR("Bearer 0123456789abcdef")},
                           &a),
                     MSG_HTTP_AMBIGUOUS);
}

static void an_escape_does_not_hide_a_route_from_the_check_of_sites(void **state) {
    static const char *const hidden[] = {"/%61pi/v1/runs", "/a%70i/v1/runs", "/%2fapi/v1/runs"};
    guard_answer a;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(
            check(&LOOPBACK,
                  (guard_request){.target = str_of(hidden[i]), .fetch_site = STR("cross-site")},
                  &a),
            MSG_HTTP_FORBIDDEN_ORIGIN);
    assert_int_equal(
        check(&LOOPBACK,
              (guard_request){.target = STR("/?run=50%25"), .fetch_site = STR("cross-site")},
              &a),
        MSG_NONE); /* a link to the page */
}

static void the_host_must_be_this_machine(void **state) {
    static const char *const good[] = {"localhost", "localhost:8080", "127.0.0.1:1",
                                       "[::1]:8080", "LocalHost:99"};
    static const char *const bad[] = {"evil.example",
                                      "localhost.evil.example",
                                      "127.0.0.2",
                                      "[::2]:8080",
                                      "127.0.0.1.nip.io:8080",
                                      "",
                                      "evil@localhost",
                                      "[::1].evil.com",
                                      "[::1]x:80",
                                      "localhost:80@evil.com",
                                      "127.0.0.1:80.evil.com",
                                      "[::1"};
    guard_answer a;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(check(&LOOPBACK, (guard_request){.host = str_of(good[i])}, &a),
                         MSG_NONE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(check(&LOOPBACK, (guard_request){.host = str_of(bad[i])}, &a),
                         MSG_HTTP_FORBIDDEN_HOST);
}

static void other_origins_are_refused(void **state) {
    guard_answer a;
    str host = STR("localhost:8080");
    static const char *const bad[] = {"http://evil.example", "null", "http://localhost:8081",
                                      "ftp://localhost:8080", "localhost:8080"};
    assert_int_equal(
        check(&LOOPBACK, (guard_request){.host = host, .origin = STR("http://localhost:8080")},
              &a),
        MSG_NONE);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            check(&LOOPBACK, (guard_request){.host = host, .origin = str_of(bad[i])}, &a),
            MSG_HTTP_FORBIDDEN_ORIGIN);
    guard_request cross = {.fetch_site = STR("cross-site")};
    assert_int_equal(check(&LOOPBACK, cross, &a), MSG_HTTP_FORBIDDEN_ORIGIN);
    cross.target = STR("/");
    assert_int_equal(check(&LOOPBACK, cross, &a), MSG_NONE);
}

static void the_token_comes_as_cookie_header_or_address(void **state) {
    guard_answer a;
    guard_request r = {.host = STR("machine:8080")};
    assert_int_equal(check(&OPEN, r, &a), MSG_HTTP_NO_TOKEN);
    r.cookie = STR("x=1; tacho_token=0123456789abcdef; y=2");
    assert_int_equal(check(&OPEN, r, &a), MSG_NONE);
    assert_int_equal(a, GUARD_PASS);
    static const char *const bad[] = {"tacho_token=", "tacho_token=0123456789abcde",
                                      "tacho_token=0123456789abcdef0",
                                      "xtacho_token=0123456789abcdef", "tacho_token"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        r.cookie = str_of(bad[i]);
        assert_int_equal(check(&OPEN, r, &a), MSG_HTTP_NO_TOKEN);
    }
    r.cookie = STR_NONE;
    r.authorization = STR("Bearer 0123456789abcdef");
    assert_int_equal(check(&OPEN, r, &a), MSG_NONE);
    r.authorization = STR("Basic 0123456789abcdef");
    assert_int_equal(check(&OPEN, r, &a), MSG_HTTP_NO_TOKEN);
    r = (guard_request){.host = STR("machine"), .target = STR("/?token=0123456789abcdef")};
    assert_int_equal(check(&OPEN, r, &a), MSG_NONE);
    assert_int_equal(a, GUARD_LOGIN);
    r.target = STR("/?token=0123456789abcdee");
    assert_int_equal(check(&OPEN, r, &a), MSG_HTTP_NO_TOKEN);
}

static void comparison_is_right_for_all_lengths(void **state) {
    assert_true(guard_equal(STR("abc"), STR("abc")));
    assert_false(guard_equal(STR("abc"), STR("abd")));
    assert_false(guard_equal(STR("abc"), STR("abcabc")));
    assert_false(guard_equal(STR("abcabc"), STR("abc")));
    assert_false(guard_equal(STR("abc"), STR("")));
    assert_false(guard_equal(STR(""), STR("abc")));
    assert_true(guard_equal(STR(""), STR("")));
}

static void tokens_differ(void **state) {
    char a[33], b[33];
    assert_true(guard_make_token(a) && guard_make_token(b));
    assert_int_equal(strlen(a), 32);
    assert_string_not_equal(a, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_have_a_longest_length),
        cmocka_unit_test(only_reading_is_allowed),
        cmocka_unit_test(one_route_takes_a_file_and_only_on_this_machine),
        cmocka_unit_test(a_request_that_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(an_escape_does_not_hide_a_route_from_the_check_of_sites),
        cmocka_unit_test(the_host_must_be_this_machine),
        cmocka_unit_test(other_origins_are_refused),
        cmocka_unit_test(the_token_comes_as_cookie_header_or_address),
        cmocka_unit_test(comparison_is_right_for_all_lengths),
        cmocka_unit_test(tokens_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
