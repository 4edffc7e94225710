/* report_store_test.c: parts of a report come out as they went in, and nothing of them is markup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/gzip.h"
#include "report/report_store_int.h"

static void base64_is_that_of_the_rfc(void **state) {
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        buf b = {0};
        report_put_base64(&b, str_of(pairs[i][0]));
        assert_int_equal(b.n, strlen(pairs[i][1]));
        if (b.n) assert_memory_equal(b.p, pairs[i][1], b.n);
        buf_fini(&b);
    }
}

static void markup_of_a_name_is_text(void **state) {
    buf b = {0};
    report_put_html(&b, STR("</title><b>\"&"));
    assert_true(str_eq(buf_str(&b), STR("&lt;/title&gt;&lt;b&gt;&quot;&amp;")));
    buf_fini(&b);
}

static void parts_are_numbered_and_answers_are_found_by_their_question(void **state) {
    report_store s = {0};
    uint32_t number;
    assert_int_equal(report_store_add(&s, STR("</script><script>"), &number, NULL), OK);
    assert_int_equal(number, 0);
    assert_int_equal(report_store_answer(&s, STR("run\n\"w\"\ninfo\nen"), STR("{}"), NULL), OK);
    assert_true(str_eq(buf_str(&s.index), STR("\"run\\n\\\"w\\\"\\ninfo\\nen\":1")));
    str parts = buf_str(&s.parts);
    assert_true(str_starts(parts, STR("<script type=\"text/plain\" id=\"tacho-0\">H4sI")));
    assert_true(str_find(parts, STR("id=\"tacho-1\""), 0) != SIZE_MAX);
    size_t first = str_find(parts, STR("</script>"), 0);
    size_t second = str_find(parts, STR("</script>"), first + 1);
    assert_true(str_find(parts, STR("</script>"), second + 1) == SIZE_MAX);
    assert_int_equal(s.n_parts, 2);
    assert_int_equal(s.n_answers, 1);
    report_store_fini(&s);
}

static void equal_answers_are_inside_once(void **state) {
    report_store s = {0};
    assert_int_equal(report_store_answer(&s, STR("a"), STR("{\"x\":1}"), NULL), OK);
    assert_int_equal(report_store_answer(&s, STR("b"), STR("{\"x\":2}"), NULL), OK);
    assert_int_equal(report_store_answer(&s, STR("c"), STR("{\"x\":1}"), NULL), OK);
    assert_true(str_eq(buf_str(&s.index), STR("\"a\":0,\"b\":1,\"c\":0")));
    assert_int_equal(s.n_parts, 2);
    assert_int_equal(s.n_answers, 3);
    report_store_fini(&s);
}

static void a_long_part_is_smaller_packed(void **state) {
    report_store s = {0};
    buf text = {0};
    uint32_t number;
    for (int i = 0; i < 20000; i++) buf_printf(&text, "{\"id\":%d,\"name\":\"aten::mm\"},", i);
    assert_int_equal(report_store_add(&s, buf_str(&text), &number, NULL), OK);
    assert_true(s.parts.n * 5 < text.n);
    buf_fini(&text);
    report_store_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_that_of_the_rfc),
        cmocka_unit_test(markup_of_a_name_is_text),
        cmocka_unit_test(parts_are_numbered_and_answers_are_found_by_their_question),
        cmocka_unit_test(equal_answers_are_inside_once),
        cmocka_unit_test(a_long_part_is_smaller_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
