/* pickle_text_test.c: escapes of the older protocols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/util/pickle_text.h"

static const char *escaped(const char *line) {
    static buf b;
    pickle_text_escaped(str_of(line), &b);
    buf_add_byte(&b, 0);
    return b.p;
}

static const char *quoted(const char *line) {
    static buf b;
    if (!pickle_text_quoted(str_of(line), &b)) return "no text";
    buf_add_byte(&b, 0);
    return b.p;
}

static void a_line_is_latin_1_with_escapes(void **state) {
    assert_string_equal(escaped("plain"), "plain");
    assert_string_equal(escaped("\xe9"), "é");
    assert_string_equal(escaped("a\\u00e9\\u4e2db"), "aé中b");
    assert_string_equal(escaped("\\U0001f600"), "😀");
}

static void other_backslashes_stay(void **state) {
    assert_string_equal(escaped("\\u12"), "\\u12");
    assert_string_equal(escaped("\\n\\"), "\\n\\");
    assert_string_equal(escaped("\\Uffffffff"), "\\Uffffffff");
}

static void a_quoted_text_loses_quotes_and_backslashes(void **state) {
    assert_string_equal(quoted("'a\\'b'"), "a'b");
    assert_string_equal(quoted("\"a\\n\\x41\\t\""), "a\nA\t");
    assert_string_equal(quoted("''"), "");
    assert_string_equal(quoted("'\\xg'"), "xg");
}

static void without_its_quotes_it_is_no_text(void **state) {
    assert_string_equal(quoted("'a\""), "no text");
    assert_string_equal(quoted("a"), "no text");
    assert_string_equal(quoted(""), "no text");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_latin_1_with_escapes),
        cmocka_unit_test(other_backslashes_stay),
        cmocka_unit_test(a_quoted_text_loses_quotes_and_backslashes),
        cmocka_unit_test(without_its_quotes_it_is_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
