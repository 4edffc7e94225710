/* buf_test.c: what is written, and that a failure sticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fault.h"
#include "base/mem.h"

static void is(buf *b, const char *want) {
    buf_add_byte(b, 0);
    assert_true(buf_ok(b));
    assert_string_equal(b->p, want);
    buf_clear(b);
}

static void pieces_follow_each_other(void **state) {
    buf b = {0};
    buf_add(&b, "ab", 2);
    buf_add(&b, NULL, 0);
    buf_add_str(&b, STR("cd"));
    buf_add_str(&b, STR_NONE);
    buf_add_cstr(&b, "ef");
    buf_add_byte(&b, 'g');
    buf_add_repeat(&b, '-', 3);
    buf_add_repeat(&b, '-', 0);
    assert_true(str_eq(buf_str(&b), STR("abcdefg---")));
    buf_fini(&b);
    assert_null(b.p);
}

static void characters_are_utf8(void **state) {
    buf b = {0};
    const uint32_t each[] = {0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) buf_add_utf8(&b, each[i]);
    is(&b, "A\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    buf_fini(&b);
}

static void it_grows_to_any_size(void **state) {
    buf b = {0};
    for (int i = 0; i < 300000; i++) buf_add(&b, "0123456789", 10);
    assert_int_equal(b.n, 3000000);
    for (size_t i = 0; i < b.n; i++) assert_int_equal(b.p[i], '0' + i % 10);
    buf_fini(&b);
}

static void integers_are_written_to_their_limits(void **state) {
    buf b = {0};
    buf_add_i64(&b, INT64_MIN);
    is(&b, "-9223372036854775808");
    buf_add_i64(&b, INT64_MAX);
    is(&b, "9223372036854775807");
    buf_add_u64(&b, UINT64_MAX);
    is(&b, "18446744073709551615");
    uint64_t v = 1;
    for (int i = 0; i < 20; i++, v *= 10) {
        for (int k = -1; k <= 1; k++) {
            buf want = {0};
            buf_printf(&want, "%lu%c", (unsigned long)(v + (uint64_t)k), 0);
            buf_add_u64(&b, v + (uint64_t)k);
            is(&b, want.p);
            buf_fini(&want);
        }
    }
    buf_fini(&b);
}

static void printf_grows_when_needed(void **state) {
    buf b = {0};
    static char text[1000];
    memset(text, 'x', sizeof text - 1);
    buf_printf(&b, "<%s>", text);
    assert_int_equal(b.n, 1001);
    assert_int_equal(b.p[1000], '>');
    buf_printf(&b, "%d", 5);
    assert_int_equal(b.n, 1002);
    for (int i = 0; i < 600; i++) buf_printf(&b, "%s", ""); /* exactly full is not a failure */
    while (b.n < b.cap - 1) buf_add_byte(&b, '.');
    buf_printf(&b, "ab");
    assert_memory_equal(b.p + b.n - 3, ".ab", 3);
    assert_true(buf_ok(&b));
    buf_fini(&b);
}

static void json_strings_are_escaped(void **state) {
    buf b = {0};
    buf_add_json(&b, STR("plain"));
    is(&b, "\"plain\"");
    buf_add_json(&b, STR_NONE);
    is(&b, "\"\"");
    buf_add_json(&b, STR("a\"b\\c/\b\t\n\f\r\x01\x1f\x7f"));
    is(&b, "\"a\\\"b\\\\c/\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\"");
    buf_add_json(&b, STR("\0"));
    is(&b, "\"\\u0000\"");
    buf_add_json(&b, STR("µ中😀"));
    is(&b, "\"µ中😀\"");
    buf_fini(&b);
}

#define BAD "\xEF\xBF\xBD"
static void invalid_utf8_becomes_the_replacement_character(void **state) {
    buf b = {0};
    buf_add_json(&b, STR("a\xFF"
                         "b"));
    is(&b, "\"a" BAD "b\"");
    buf_add_json(&b, STR("\xE4\xB8")); /* cut: one character */
    is(&b, "\"" BAD "\"");
    buf_add_json(&b, STR("\xE4\xB8x"));
    is(&b, "\"" BAD "x\"");
    buf_add_json(&b, STR("\xF0\x9F\x98\xC2\xB5"));
    is(&b, "\"" BAD "µ\"");
    buf_add_json(&b, STR("\xC0\x80"));
    is(&b, "\"" BAD BAD "\"");
    buf_add_json(&b, STR("\xED\xA0\x80"));
    is(&b, "\"" BAD BAD BAD "\"");
    buf_add_json(&b, STR("\xE4"));
    is(&b, "\"" BAD "\"");
    buf_fini(&b);
}

static void any_bytes_give_a_valid_string(void **state) {
    buf b = {0};
    uint32_t x = 12345;
    for (int round = 0; round < 20000; round++) {
        char bytes[9];
        for (size_t i = 0; i < sizeof bytes; i++) {
            x = x * 1664525 + 1013904223;
            bytes[i] = (char)(x >> 24 | (x & 0x80));
        }
        buf_add_json(&b, str_n(bytes, sizeof bytes));
        assert_true(b.n >= 2 && b.p[0] == '"' && b.p[b.n - 1] == '"');
        for (size_t at = 0; at < b.n;) {
            size_t n = str_utf8(buf_str(&b), at);
            assert_true(n > 0 && (unsigned char)b.p[at] >= 0x20);
            at += n;
        }
        buf_clear(&b);
    }
    buf_fini(&b);
}

static void reals_are_short_and_read_back(void **state) {
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-17, "-17"},
                 {0.1, "0.1"},
                 {1.5, "1.5"},
                 {1e22, "1e+22"},
                 {1e-7, "1e-07"},
                 {1e15, "1e+15"},
                 {123456789012345, "123456789012345"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {NAN, "null"},
                 {INFINITY, "null"},
                 {-INFINITY, "null"}};
    buf b = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_add_f64(&b, cases[i].v);
        is(&b, cases[i].text);
    }
    uint64_t x = 88172645463325252U;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        double v, back;
        memcpy(&v, &x, sizeof v);
        if (!isfinite(v)) continue;
        buf_add_f64(&b, v);
        assert_true(str_to_f64(buf_str(&b), &back));
        assert_memory_equal(&back, &v, sizeof v);
        buf_clear(&b);
    }
    buf_fini(&b);
}

static void a_failed_growth_sticks_and_keeps_what_was_there(void **state) {
    buf b = {0};
    buf_add_cstr(&b, "kept");
    fault_arm(FAULT_ALLOC, 1);
    buf_add_repeat(&b, 'x', 100000);
    fault_arm(FAULT_ALLOC, 0);
    assert_false(buf_ok(&b));
    buf_add_cstr(&b, "more");
    buf_add_i64(&b, -5);
    buf_printf(&b, "%d", 5);
    buf_add_json(&b, STR("s"));
    buf_add_f64(&b, 1.5);
    assert_false(buf_reserve(&b, 1));
    assert_true(str_eq(buf_str(&b), STR("kept")));
    buf_fini(&b);
    assert_true(buf_ok(&b));
}

/* A reader that holds a file as a whole must keep to the limit, too. */
static void a_large_buffer_counts_against_the_ceiling(void **state) {
    enum { MIB = 1 << 20 };
    uint64_t before = mem_mapped_bytes(), refusals = mem_refusals();
    buf b = {0};
    buf_add_repeat(&b, 'x', 100 * MIB);
    assert_true(buf_ok(&b));
    assert_true(mem_mapped_bytes() >= before + 100 * MIB);
    assert_true(mem_mapped_bytes() <= before + 130 * MIB);
    mem_set_ceiling(mem_mapped_bytes() + MIB);
    buf_add_repeat(&b, 'y', 50 * MIB);
    mem_set_ceiling(0);
    assert_false(buf_ok(&b));
    assert_int_equal(b.n, 100 * MIB);
    assert_int_equal(mem_refusals(), refusals + 1);
    buf_fini(&b);
    assert_int_equal(mem_mapped_bytes(), before);
}

static void an_impossible_size_fails(void **state) {
    buf b = {0};
    buf_add_byte(&b, 'a');
    assert_false(buf_reserve(&b, SIZE_MAX));
    assert_false(buf_ok(&b));
    assert_int_equal(b.n, 1);
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_follow_each_other),
        cmocka_unit_test(characters_are_utf8),
        cmocka_unit_test(it_grows_to_any_size),
        cmocka_unit_test(integers_are_written_to_their_limits),
        cmocka_unit_test(printf_grows_when_needed),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(invalid_utf8_becomes_the_replacement_character),
        cmocka_unit_test(any_bytes_give_a_valid_string),
        cmocka_unit_test(reals_are_short_and_read_back),
        cmocka_unit_test(a_failed_growth_sticks_and_keeps_what_was_there),
        cmocka_unit_test(a_large_buffer_counts_against_the_ceiling),
        cmocka_unit_test(an_impossible_size_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
