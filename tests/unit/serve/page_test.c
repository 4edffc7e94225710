/* page_test.c: the files of the page inside the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/page.h"

static void the_page_is_there_compressed(void **state) {
    const page_file *f = page_find(STR("/"));
    assert_non_null(f);
    assert_ptr_equal(f, page_find(STR("/index.html")));
    assert_true(str_starts(str_of(f->media), STR("text/html")));
    assert_true(f->n > 20);
    assert_memory_equal(f->bytes, "\x1f\x8b", 2);
    assert_true(f->etag[0] == '"' && f->etag[strlen(f->etag) - 1] == '"');
    assert_int_equal(f->immutable, 0);
    assert_null(page_find(STR("/nothing")));
    assert_null(page_find(STR("")));
    assert_null(page_find(STR("/../etc/passwd")));
}

static void the_header_decides_about_gzip(void **state) {
    assert_true(page_accepts_gzip(STR_NONE, false));
    assert_true(page_accepts_gzip(STR("gzip"), true));
    assert_true(page_accepts_gzip(STR("deflate, GZIP;q=0.5, br"), true));
    assert_true(page_accepts_gzip(STR("*"), true));
    assert_false(page_accepts_gzip(STR("gzip;q=0"), true));
    assert_false(page_accepts_gzip(STR("identity"), true));
    assert_false(page_accepts_gzip(STR(""), true));
    assert_false(page_accepts_gzip(STR("gzip;q=nonsense"), true));
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
        cmocka_unit_test(the_page_is_there_compressed),
        cmocka_unit_test(the_header_decides_about_gzip),
        cmocka_unit_test(the_policy_allows_nothing_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
