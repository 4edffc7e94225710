/* page_test.c: the files of the page inside the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/page.h"

/* The address of the first script or style sheet that the page names. */
static str named_file(const page_file *page) {
    str html = str_n(page->plain.bytes, (size_t)page->plain.n);
    size_t at = str_find(html, STR("\"/p/"), 0);
    assert_true(at != SIZE_MAX);
    size_t end = str_find(html, STR("\""), at + 1);
    return str_n(html.p + at + 1, end - at - 1);
}

static void the_page_is_there_in_both_forms(void **state) {
    const page_file *f = page_find(STR("/"));
    assert_non_null(f);
    assert_ptr_equal(f, page_find(STR("/index.html")));
    assert_true(str_starts(str_of(f->media), STR("text/html")));
    assert_true(str_starts(str_n(f->plain.bytes, (size_t)f->plain.n), STR("<!doctype html>")));
    assert_memory_equal(f->gzip.bytes, "\x1f\x8b", 2);
    assert_true(f->gzip.n > 20);
    assert_true(f->plain.etag[0] == '"' && f->gzip.etag[strlen(f->gzip.etag) - 1] == '"');
    assert_string_not_equal(f->plain.etag, f->gzip.etag);
    assert_int_equal(f->immutable, 0);
    assert_null(page_find(STR("/nothing")));
    assert_null(page_find(STR("")));
    assert_null(page_find(STR("/../etc/passwd")));
}

static void what_the_page_names_is_there_and_never_changes(void **state) {
    const page_file *f = page_find(named_file(page_find(STR("/"))));
    assert_non_null(f);
    assert_int_equal(f->immutable, 1);
    assert_true(f->plain.n > 1000 && f->gzip.n < f->plain.n);
    assert_memory_equal(f->gzip.bytes, "\x1f\x8b", 2);
}

static void the_header_decides_about_gzip(void **state) {
    static const char *const yes[] = {
        "gzip",           "deflate, GZIP;q=0.5, br",   "*",
        "x-gzip",         "gzip, deflate, br, zstd",   "br;q=0, *;q=0.1",
        " gzip ; q=1.0 ", "gzip;q=0.5, identity;q=0.5"};
    static const char *const no[] = {"",
                                     "identity",
                                     "gzip;q=0",
                                     "gzip;q=0, *",
                                     "*;q=0",
                                     "br",
                                     "gzip;q=nonsense",
                                     "gzip;q=0.1, identity",
                                     "gzip;Q=0.000",
                                     ",,;",
                                     "identity;q=0",
                                     "agzip"};
    assert_false(page_wants_gzip(STR_NONE));
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!page_wants_gzip(str_of(yes[i]))) fail_msg("%s means gzip", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (page_wants_gzip(str_of(no[i]))) fail_msg("\"%s\" does not mean gzip", no[i]);
}

static void the_policy_allows_nothing_from_elsewhere(void **state) {
    str policy = STR(PAGE_POLICY);
    assert_true(str_starts(policy, STR("default-src 'none'")));
    assert_true(str_find(policy, STR("unsafe"), 0) == SIZE_MAX);
    assert_true(str_find(policy, STR("http"), 0) == SIZE_MAX);
    assert_true(str_find(policy, STR("*"), 0) == SIZE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_there_in_both_forms),
        cmocka_unit_test(what_the_page_names_is_there_and_never_changes),
        cmocka_unit_test(the_header_decides_about_gzip),
        cmocka_unit_test(the_policy_allows_nothing_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
