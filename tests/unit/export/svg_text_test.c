/* svg_text_test.c: words in pictures: whatever a name holds, it is XML, and it fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "export/svg_text.h"

static void escapes(const char *from, const char *to) {
    buf b = {0};
    svg_add_escaped(&b, str_of(from));
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, to);
    buf_fini(&b);
}

static void test_markup_and_what_no_xml_may_hold(void **state) {
    (void)state;
    escapes("a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;");
    escapes("a\x01\x1F\x7F\nb", "a    b");
    escapes("\xE4\xB8\xAD", "\xE4\xB8\xAD");                         /* a letter */
    escapes("\xEF\xBF\xBE\xEF\xBF\xBF", "\xEF\xBF\xBD\xEF\xBF\xBD"); /* U+FFFE, U+FFFF */
    escapes("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); /* a surrogate */
    escapes("x\xC3", "x\xEF\xBF\xBD");                               /* cut in a letter */
}

static void fits(const char *name, double ems, const char *expected) {
    buf b = {0};
    bool any = svg_add_fitting(&b, str_of(name), ems);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, expected);
    assert_int_equal(any, expected[0] != '\0');
    buf_fini(&b);
}

static void test_a_name_is_cut_to_its_room(void **state) {
    (void)state;
    fits("gemm", 4, "gemm");
    fits("elementwise_kernel", 5, "elemen\xE2\x80\xA6");
    fits("elementwise_kernel", 2, ""); /* less than three letters */
    fits("\xE4\xB8\xAD\xE6\x96\x87\xE4\xB8\xAD\xE6\x96\x87\xE4\xB8\xAD", 4.5,
         "\xE4\xB8\xAD\xE6\x96\x87\xE4\xB8\xAD\xE2\x80\xA6"); /* no half letters */
    fits("<<<<<<<<", 4.5, "&lt;&lt;&lt;&lt;\xE2\x80\xA6");
    fits("", 3, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markup_and_what_no_xml_may_hold),
        cmocka_unit_test(test_a_name_is_cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
