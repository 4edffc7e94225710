/* remote_list_test.c: what is read from the answers of object stores, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "io/remote_int.h"

static status parse(arena *a, const char *xml, listing *out) {
    return listing_parse(a, str_of(xml), out, NULL);
}

static void a_page_of_s3_gives_keys_sizes_times_and_tags(void **state) {
    (void)state;
    arena a;
    listing l;
    arena_init(&a, 0);
    assert_int_equal(
        parse(&a,
              "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Name>bucket</Name>"
              "<Contents><Key>a&amp;b/&#x4e2d;&#233;.json</Key>"
              "<LastModified>2024-05-01T12:00:00.000Z</LastModified>"
              "<ETag>&quot;e1&quot;</ETag><Size>123</Size><Owner><ID>7</ID></Owner></Contents>"
              "<Contents><Key>c</Key><Size>0</Size></Contents>"
              "<NextContinuationToken>1/+=</NextContinuationToken></ListBucketResult>",
              &l),
        OK);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.v[0].key.p, "a&b/中é.json");
    assert_string_equal(l.v[0].tag.p, "\"e1\"");
    assert_int_equal(l.v[0].size_bytes, 123);
    assert_int_equal(l.v[0].mtime_ns, 1714564800000000000);
    assert_string_equal(l.v[1].key.p, "c");
    assert_string_equal(l.next.p, "1/+=");
    arena_fini(&a);
}

static void a_page_of_blob_gives_the_same(void **state) {
    (void)state;
    arena a;
    listing l;
    arena_init(&a, 0);
    assert_int_equal(
        parse(&a,
              "\xEF\xBB\xBF<EnumerationResults ContainerName=\"c\"><Prefix>x</Prefix><Blobs>"
              "<Blob><Name>x/1</Name><Properties>"
              "<Last-Modified>Wed, 01 May 2024 12:00:00 GMT</Last-Modified>"
              "<Etag>0x8</Etag><Content-Length>9</Content-Length></Properties></Blob>"
              "</Blobs><NextMarker /></EnumerationResults>",
              &l),
        OK);
    assert_int_equal(l.n, 1);
    assert_string_equal(l.v[0].key.p, "x/1");
    assert_int_equal(l.v[0].mtime_ns, 1714564800000000000);
    assert_int_equal(l.v[0].size_bytes, 9);
    assert_int_equal(l.next.n, 0);
    arena_fini(&a);
}

static void a_cut_page_gives_its_whole_objects(void **state) {
    (void)state;
    arena a;
    listing l;
    arena_init(&a, 0);
    assert_int_equal(
        parse(&a, "<ListBucketResult><Contents><Key>a</Key></Contents><Contents><Key>b</K", &l),
        OK);
    assert_int_equal(l.n, 1);
    arena_fini(&a);
}

static void a_page_of_something_else_is_refused(void **state) {
    (void)state;
    static const char *const pages[] = {"", "<html><body>Log in</body></html>", "no tags", "<"};
    arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        listing l;
        assert_int_equal(parse(&a, pages[i], &l), ERR_FORMAT);
    }
    arena_fini(&a);
}

static void odd_entities_stay_as_they_are(void **state) {
    (void)state;
    arena a;
    listing l;
    arena_init(&a, 0);
    assert_int_equal(
        parse(&a,
              "<ListBucketResult><Contents><Key>&nbsp;&#0;&#x110000;&#;&amp</Key></Contents>"
              "</ListBucketResult>",
              &l),
        OK);
    assert_string_equal(l.v[0].key.p, "&nbsp;&#0;&#x110000;&#;&amp");
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_of_s3_gives_keys_sizes_times_and_tags),
        cmocka_unit_test(a_page_of_blob_gives_the_same),
        cmocka_unit_test(a_cut_page_gives_its_whole_objects),
        cmocka_unit_test(a_page_of_something_else_is_refused),
        cmocka_unit_test(odd_entities_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
