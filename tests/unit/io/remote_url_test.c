/* remote_url_test.c: where URLs lead, and how keys are written into addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "io/remote_int.h"

static arena a;

static int reset(void **state) {
    (void)state;
    static const char *const names[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_ENDPOINT_URL",
                                        "AWS_ENDPOINT_URL_S3",
                                        "AWS_PROFILE",
                                        "AZURE_STORAGE_SAS_TOKEN",
                                        "TACHO_BLOB_ENDPOINT",
                                        "HOME",
                                        "AWS_SHARED_CREDENTIALS_FILE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    arena_reset(&a);
    arena_init(&a, 0);
    return 0;
}

static remote_place place(const char *url) {
    remote_place p;
    assert_int_equal(remote_place_of(&a, url, &p, NULL), OK);
    return p;
}

static void paths_of_files_are_not_urls(void **state) {
    (void)state;
    assert_false(remote_is_url("runs/a.json"));
    assert_false(remote_is_url("/s3://x"));
    assert_false(remote_is_url("https:/x"));
    assert_true(remote_is_url("s3://b"));
    assert_true(remote_is_url("http://h/x"));
}

static void a_bucket_has_its_own_host_or_a_folder_of_the_endpoint(void **state) {
    (void)state;
    remote_place p = place("s3://logs/runs/a b+c.json");
    assert_string_equal(remote_address(&a, &p, p.key).p,
                        "https://logs.s3.us-east-1.amazonaws.com/runs/a%20b%2Bc.json");
    setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/", 1);
    p = place("s3://logs/x");
    assert_string_equal(remote_address(&a, &p, p.key).p, "http://127.0.0.1:9000/logs/x");
    assert_string_equal(remote_url_of(&a, &p, STR("y z")).p, "s3://logs/y z");
}

static void the_query_of_a_listing_is_sorted_and_encoded(void **state) {
    (void)state;
    remote_place p = place("s3://logs/a/b");
    assert_string_equal(
        remote_list_address(&a, &p, STR("a/b"), STR("t=/+")).p,
        "https://logs.s3.us-east-1.amazonaws.com/"
        "?continuation-token=t%3D%2F%2B&list-type=2&max-keys=1000&prefix=a%2Fb");
}

static void a_token_stays_with_its_container_and_out_of_sight(void **state) {
    (void)state;
    const char *url = "https://acc.blob.core.windows.net/runs/a%20b?sig=s%3D";
    remote_place p = place(url);
    assert_int_equal(p.kind, REMOTE_BLOB);
    assert_string_equal(p.key.p, "a b");
    assert_string_equal(remote_address(&a, &p, p.key).p, url);
    assert_string_equal(remote_list_address(&a, &p, STR("a b"), STR("")).p,
                        "https://acc.blob.core.windows.net/runs?restype=container&comp=list"
                        "&maxresults=1000&prefix=a%20b&sig=s%3D");
    str secret = remote_shown(STR("https://me:p@ss@host:1/a@b.json?sig=x"));
    assert_true(str_eq(secret, STR("host:1/a@b.json")));
    str shown = remote_shown(str_of(url));
    assert_int_equal(shown.n, strlen("https://acc.blob.core.windows.net/runs/a%20b"));
    assert_string_equal(remote_key_of(&a, &p, p.key).p, "acc.blob.core.windows.net/runs/a b");
}

static void a_plain_url_is_asked_for_as_it_is(void **state) {
    (void)state;
    remote_place p = place("http://h:81/x%20y.json?v=1");
    assert_int_equal(p.kind, REMOTE_PLAIN);
    assert_string_equal(remote_address(&a, &p, p.key).p, "http://h:81/x%20y.json?v=1");
    assert_string_equal(remote_key_of(&a, &p, p.key).p, "h:81/x y.json");
}

static void half_a_pair_of_keys_does_not_count(void **state) {
    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "A", 1);
    assert_int_equal(place("s3://b/k").access_key.n, 0);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    assert_string_equal(place("s3://b/k").access_key.p, "A");
}

static void what_is_not_a_place_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"s3://",      "s3:///k",    "https://",    "http:///x",
                                        "s3://b?x/k", "s3://a b/k", "https://h/\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        remote_place p;
        error err;
        assert_int_equal(remote_place_of(&a, wrong[i], &p, &err), ERR_ARG);
        assert_int_equal(err.message, MSG_REMOTE_URL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(paths_of_files_are_not_urls, reset),
        cmocka_unit_test_setup(a_bucket_has_its_own_host_or_a_folder_of_the_endpoint, reset),
        cmocka_unit_test_setup(the_query_of_a_listing_is_sorted_and_encoded, reset),
        cmocka_unit_test_setup(a_token_stays_with_its_container_and_out_of_sight, reset),
        cmocka_unit_test_setup(a_plain_url_is_asked_for_as_it_is, reset),
        cmocka_unit_test_setup(half_a_pair_of_keys_does_not_count, reset),
        cmocka_unit_test_setup(what_is_not_a_place_is_refused, reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&a);
    return failed;
}
