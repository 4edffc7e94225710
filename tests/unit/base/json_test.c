/* json_test.c: lenient JSON: what is damaged is read and reported, what comes out is strict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/json.h"

static const char *end_of(const char *text) {
    return text + strlen(text);
}

/* Offset of the end of the value at the start of the text, -1 when it has none. */
static long value_end(const char *text) {
    const char *stop = json_value_end(text, end_of(text));
    return stop ? (long)(stop - text) : -1;
}

static void a_value_ends_where_its_bracket_quote_or_word_does(void **state) {
    assert_int_equal(value_end("\"ab\",1"), 4);
    assert_int_equal(value_end("\"a\\\"b\" x"), 6);
    assert_int_equal(value_end("\"a\\\\\"b"), 5);
    assert_int_equal(value_end("[1,[2,\"]\"],{}],3"), 14);
    assert_int_equal(value_end("{\"a\":{\"b\":\"}\\\"}\"}} "), 18);
    assert_int_equal(value_end("12.5e3}"), 6);
    assert_int_equal(value_end("N/A,"), 3);
    assert_int_equal(value_end("-Infinity"), 9);
}

static void a_value_that_is_cut_or_missing_has_no_end(void **state) {
    static const char *const texts[] = {"",   "\"ab", "\"ab\\\"", "\"ab\\", "[1,2", "{\"a\":[}",
                                        ",1", "}",    "]",        ":",      " 1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (value_end(texts[i]) != -1) fail_msg("'%s' has an end", texts[i]);
}

static void a_string_ends_at_the_first_quote_without_backslash(void **state) {
    const char *text = "a\\\"b\\\\\"c\"";
    assert_ptr_equal(json_string_end(text, end_of(text)), text + 6);
    assert_null(json_string_end(text, text + 6));
    assert_null(json_string_end("", ""));
}

static void assert_decoded(str inside, str expected, unsigned flags) {
    buf b = {0};
    unsigned met = json_decode(inside, &b);
    if (!str_eq(buf_str(&b), expected))
        fail_msg("'%.*s' became '%.*s'", STR_ARG(inside), STR_ARG(buf_str(&b)));
    assert_int_equal(met, flags);
    buf_fini(&b);
}

static void every_escape_is_decoded(void **state) {
    assert_decoded(STR("a\\\"\\\\\\/\\b\\f\\n\\r\\tz"), STR("a\"\\/\b\f\n\r\tz"), 0);
    assert_decoded(STR("\\u0041\\u00e9\\u4E2d"), STR("A\xC3\xA9\xE4\xB8\xAD"), 0);
    assert_decoded(STR("\\ud83d\\ude00"), STR("\xF0\x9F\x98\x80"), 0);
    assert_decoded(STR("\\u0000"), STR("\0"), 0);
    assert_decoded((str){NULL, 0}, STR(""), 0);
}

static void half_a_surrogate_pair_becomes_the_replacement_character(void **state) {
    assert_decoded(STR("\\ud83d"), STR("\xEF\xBF\xBD"), 0);
    assert_decoded(STR("\\ude00x"), STR("\xEF\xBF\xBDx"), 0);
    assert_decoded(STR("\\ud83d\\u0041"),
                   STR("\xEF\xBF\xBD"
                       "A"),
                   0);
}

static void a_backslash_that_escapes_nothing_means_itself(void **state) {
    assert_decoded(STR("C:\\qemu"), STR("C:\\qemu"), JSON_BAD_ESCAPE);
    assert_decoded(STR("\\u12"), STR("\\u12"), JSON_BAD_ESCAPE);
    assert_decoded(STR("\\uZZZZ"), STR("\\uZZZZ"), JSON_BAD_ESCAPE);
    assert_decoded(STR("end\\"), STR("end\\"), JSON_BAD_ESCAPE);
    assert_decoded(STR("a\\\0b"), STR("a\\\0b"), JSON_BAD_ESCAPE | JSON_CONTROL);
}

static void raw_control_characters_are_kept_and_reported(void **state) {
    assert_decoded(STR("a\tb\nc"), STR("a\tb\nc"), JSON_CONTROL);
}

static const struct {
    const char *text, *normal;
    unsigned flags;
} NORMALS[] = {
    {"1", "1", 0},
    {" [1,2 , 3] ", "[1, 2, 3]", 0},
    {"{\"a\":1,\"b\":[true,false,null]}", "{\"a\": 1, \"b\": [true, false, null]}", 0},
    {"[]", "[]", 0},
    {"{ }", "{}", 0},
    {"-0.0", "-0.0", 0},
    {"1e5", "1e5", 0},
    {"1.25E-3", "1.25E-3", 0},
    {"\"\\u00e9\"", "\"\xC3\xA9\"", 0},
    {"\"a\\\"b\"", "\"a\\\"b\"", 0},
    {"NaN", "\"NaN\"", JSON_BAD_LITERAL},
    {"[N/A, -Infinity]", "[\"N/A\", \"-Infinity\"]", JSON_BAD_LITERAL},
    {"01", "\"01\"", JSON_BAD_LITERAL},
    {"1.", "\"1.\"", JSON_BAD_LITERAL},
    {".5", "\".5\"", JSON_BAD_LITERAL},
    {"-", "\"-\"", JSON_BAD_LITERAL},
    {"1e", "\"1e\"", JSON_BAD_LITERAL},
    {"tru", "\"tru\"", JSON_BAD_LITERAL},
    {"[1,]", "[1]", JSON_TRAILING_COMMA},
    {"{\"a\":1,}", "{\"a\": 1}", JSON_TRAILING_COMMA},
    {"\"a\tb\"", "\"a\\tb\"", JSON_CONTROL},
    {"\"a\\qb\"", "\"a\\\\qb\"", JSON_BAD_ESCAPE},
    {"{\"a\\q\":1}", "{\"a\\\\q\": 1}", JSON_BAD_ESCAPE},
    {"\"\xFF\"", "\"\xEF\xBF\xBD\"", JSON_BAD_UTF8},
    {"", "\"\"", JSON_BROKEN},
    {"[1", "\"[1\"", JSON_BROKEN},
    {"[1}", "\"[1}\"", JSON_BROKEN},
    {"{\"a\":}", "\"{\\\"a\\\":}\"", JSON_BROKEN},
    {"{\"a\"}", "\"{\\\"a\\\"}\"", JSON_BROKEN},
    {"{1:2}", "\"{1:2}\"", JSON_BROKEN},
    {"{\"a\" 1}", "\"{\\\"a\\\" 1}\"", JSON_BROKEN},
    {"[1 2]", "\"[1 2]\"", JSON_BROKEN},
    {"[,1]", "\"[,1]\"", JSON_BROKEN},
    {"[1,,2]", "\"[1,,2]\"", JSON_BROKEN},
    {"1 2", "\"1 2\"", JSON_BROKEN},
    {"\"abc", "\"\\\"abc\"", JSON_BROKEN},
    {"]", "\"]\"", JSON_BROKEN},
};

static void damaged_values_become_strict_json(void **state) {
    for (size_t i = 0; i < sizeof NORMALS / sizeof *NORMALS; i++) {
        buf b = {0};
        unsigned flags = json_normal(str_of(NORMALS[i].text), &b);
        if (!str_eq(buf_str(&b), str_of(NORMALS[i].normal)))
            fail_msg("'%s' became '%.*s'", NORMALS[i].text, STR_ARG(buf_str(&b)));
        if (flags != NORMALS[i].flags) fail_msg("'%s' met %x", NORMALS[i].text, flags);
        buf_fini(&b);
    }
}

static void what_is_normal_stays_as_it_is(void **state) {
    for (size_t i = 0; i < sizeof NORMALS / sizeof *NORMALS; i++) {
        buf b = {0};
        assert_int_equal(json_normal(str_of(NORMALS[i].normal), &b), 0);
        assert_true(str_eq(buf_str(&b), str_of(NORMALS[i].normal)));
        buf_fini(&b);
    }
}

static void normal_text_is_appended_to_what_was_there(void **state) {
    buf b = {0};
    buf_add_cstr(&b, "before ");
    assert_int_equal(json_normal(STR("[1"), &b), JSON_BROKEN);
    assert_true(str_eq(buf_str(&b), STR("before \"[1\"")));
    buf_fini(&b);
}

static void a_thousand_levels_are_kept_and_more_become_text(void **state) {
    for (unsigned depth = 999; depth <= 1001; depth++) {
        buf text = {0}, b = {0};
        buf_add_repeat(&text, '[', depth);
        buf_add_repeat(&text, ']', depth);
        unsigned flags = json_normal(buf_str(&text), &b);
        assert_int_equal(flags, depth <= 1000 ? 0 : JSON_TOO_DEEP | JSON_BROKEN);
        assert_int_equal(b.p[0], depth <= 1000 ? '[' : '"');
        buf_fini(&text);
        buf_fini(&b);
    }
}

static void a_million_open_brackets_are_fine(void **state) {
    buf text = {0}, b = {0};
    buf_add_repeat(&text, '[', 1000000);
    assert_null(json_value_end(text.p, text.p + text.n));
    assert_true(json_normal(buf_str(&text), &b) & JSON_TOO_DEEP);
    assert_int_equal(b.n, 1000002);
    buf_fini(&text);
    buf_fini(&b);
}

static void a_number_of_400_digits_keeps_all_of_them(void **state) {
    buf text = {0}, b = {0};
    buf_add_repeat(&text, '7', 400);
    assert_int_equal(json_normal(buf_str(&text), &b), 0);
    assert_true(str_eq(buf_str(&text), buf_str(&b)));
    buf_fini(&text);
    buf_fini(&b);
}

/* str_utf8 looks at one character at a time. */
static bool valid_slowly(str s) {
    for (size_t at = 0, n; at < s.n; at += n)
        if ((n = str_utf8(s, at)) == 0) return false;
    return true;
}

static void utf8_is_judged_as_character_by_character(void **state) {
    char c[4];
    for (unsigned v = 0; v < 1u << 24; v += v < 1u << 16 ? 1 : 5) {
        unsigned top = v >> 16 ? v >> 16 : 'x';
        c[0] = (char)(v >> 8);
        c[1] = (char)v;
        c[2] = (char)top;
        c[3] = (char)(0x80 | (v & 0x3F));
        for (size_t n = 1; n <= 4; n++)
            if (utf8_valid(str_n(c, n)) != valid_slowly(str_n(c, n)))
                fail_msg("%02x %02x %02x %02x of length %zu", c[0], c[1], c[2], c[3], n);
    }
}

static void members_come_one_by_one_as_they_were_written(void **state) {
    json_iter it = json_open(STR(" {\"a\" : 1, \"b\\n\":\"x,y\" ,\"c\":[1,{}],}"));
    str key, value;
    assert_true(json_next(&it, &key, &value));
    assert_true(str_eq(key, STR("a")) && str_eq(value, STR("1")));
    assert_true(json_next(&it, &key, &value));
    assert_true(str_eq(key, STR("b\\n")) && str_eq(value, STR("\"x,y\"")));
    assert_true(json_next(&it, &key, &value));
    assert_true(str_eq(key, STR("c")) && str_eq(value, STR("[1,{}]")));
    assert_false(json_next(&it, &key, &value));
    it = json_open(STR("[7, null]"));
    assert_true(json_next(&it, &key, &value));
    assert_true(key.n == 0 && str_eq(value, STR("7")));
    assert_true(json_next(&it, &key, &value));
    assert_true(str_eq(value, STR("null")));
    assert_false(json_next(&it, &key, &value));
}

static void iteration_ends_at_damage(void **state) {
    static const char *const texts[] = {"",         "7",         "{7:1}",      "{\"a\"}",
                                        "{\"a\":}", "{\"a\":[1", "{\"a\":\"b", "[\"a"};
    str key, value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_iter it = json_open(str_of(texts[i]));
        if (json_next(&it, &key, &value)) fail_msg("'%s' has a member", texts[i]);
    }
    json_iter it = json_open(STR_NONE);
    assert_false(json_next(&it, &key, &value));
}

static void a_member_is_found_by_its_name(void **state) {
    str object = STR("{\"a\":{\"b\":1},\"b\":\"two\",\"b\":3}");
    assert_true(str_eq(json_member(object, STR("b")), STR("\"two\"")));
    assert_null(json_member(object, STR("c")).p);
    assert_null(json_member(STR_NONE, STR("c")).p);
    assert_null(json_member(STR("[1]"), STR("c")).p);
    assert_true(str_eq(json_text(json_member(object, STR("b"))), STR("two")));
    assert_true(str_eq(json_text(STR("\"")), STR("\"")));
    assert_true(str_eq(json_text(STR("12")), STR("12")));
}

static void numbers_may_be_in_quotes(void **state) {
    int64_t i = 0;
    double d = 0;
    assert_true(json_i64(STR("-12"), &i) && i == -12);
    assert_true(json_i64(STR("\"77\""), &i) && i == 77);
    assert_false(json_i64(STR("1.5"), &i));
    assert_false(json_i64(STR("null"), &i));
    assert_true(json_f64(STR("\"1.5e1\""), &d) && d == 15);
    assert_false(json_f64(STR("\"x\""), &d));
}

static void without_memory_the_buffer_says_so(void **state) {
    str text = STR("{\"a\\n\": \"x\\u00e9\", \"b\": [N/A, \"\\q\"]}");
    for (uint64_t nth = 1;; nth++) {
        buf b = {0};
        fault_arm(FAULT_ALLOC, nth);
        json_normal(text, &b);
        bool hit = fault_count(FAULT_ALLOC) >= nth;
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(buf_ok(&b), !hit);
        buf_fini(&b);
        if (!hit) break;
        assert_true(nth < 100);
    }
}

/* Byte by byte, as it says in the header: what the vectors must agree with. */
static const char *plain_value_end(const char *p, const char *end) {
    size_t depth = 0;
    bool inside = false;
    for (; p < end; p++) {
        if (inside && *p == '\\')
            p++;
        else if (*p == '"')
            inside = !inside;
        else if (!inside && (*p == '{' || *p == '['))
            depth++;
        else if (!inside && (*p == '}' || *p == ']') && --depth == 0)
            return p + 1;
    }
    return NULL;
}

static void the_end_of_a_value_is_the_same_at_every_place(void **state) {
    static const char text[] = "{\"a\":[1,2,{\"long enough for a "
                               "vector\":\"}]\\\"{[\"}],\"b|;[\\\\\":\"\\\\\",\"c\":[],"
                               "\"dddddddddddddddddddddddddddd\":{\"e\":[[[[\"f\"]]]]},\"g\":"
                               "\"{{{{{{{{{{{{{{{{{{\"}tail";
    char room[sizeof text + 64];
    for (size_t at = 0; at < 32; at++)
        for (size_t n = 1; n < sizeof text; n++) {
            memset(room, '"', sizeof room); /* bytes after the end must not be looked at */
            memcpy(room + at, text, n);
            assert_ptr_equal(json_value_end(room + at, room + at + n),
                             plain_value_end(room + at, room + at + n));
        }
}

/* Texts of the bytes that matter, most of them cut or broken, longer than several blocks. */
static void vectors_and_their_twin_find_the_same_end(void **state) {
    static const char bytes[] = "{}[]\"\\ab,:  {\"a\":";
    char room[400];
    uint32_t random = 1;
    size_t n_ends = 0;
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (random >> 8) % 320;
        size_t kinds = round % 3 ? sizeof bytes - 1 : 6;
        for (size_t i = 0; i < sizeof room; i++) {
            random = random * 1664525 + 1013904223;
            bool rare = round % 2 && (random >> 20) % 8; /* mostly text between them */
            room[i] = rare ? 'x' : bytes[(random >> 8) % kinds];
        }
        room[0] = round % 4 < 2 ? '{' : '[';
        const char *stop = json_value_end(room, room + n);
        assert_ptr_equal(stop, plain_value_end(room, room + n));
        assert_ptr_equal(stop, json_value_end_bytes(room, room + n));
        n_ends += stop != NULL && stop > room + 64;
    }
    assert_true(n_ends > 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_a_value_is_the_same_at_every_place),
        cmocka_unit_test(vectors_and_their_twin_find_the_same_end),
        cmocka_unit_test(a_value_ends_where_its_bracket_quote_or_word_does),
        cmocka_unit_test(a_value_that_is_cut_or_missing_has_no_end),
        cmocka_unit_test(a_string_ends_at_the_first_quote_without_backslash),
        cmocka_unit_test(every_escape_is_decoded),
        cmocka_unit_test(half_a_surrogate_pair_becomes_the_replacement_character),
        cmocka_unit_test(a_backslash_that_escapes_nothing_means_itself),
        cmocka_unit_test(raw_control_characters_are_kept_and_reported),
        cmocka_unit_test(damaged_values_become_strict_json),
        cmocka_unit_test(what_is_normal_stays_as_it_is),
        cmocka_unit_test(normal_text_is_appended_to_what_was_there),
        cmocka_unit_test(a_thousand_levels_are_kept_and_more_become_text),
        cmocka_unit_test(a_million_open_brackets_are_fine),
        cmocka_unit_test(a_number_of_400_digits_keeps_all_of_them),
        cmocka_unit_test(utf8_is_judged_as_character_by_character),
        cmocka_unit_test(members_come_one_by_one_as_they_were_written),
        cmocka_unit_test(iteration_ends_at_damage),
        cmocka_unit_test(a_member_is_found_by_its_name),
        cmocka_unit_test(numbers_may_be_in_quotes),
        cmocka_unit_test(without_memory_the_buffer_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
