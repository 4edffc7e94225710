/* text_test.c: every sentence exists in both languages with the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "text/text.h"

/* The placeholders of a sentence in order of name, joined. */
static void placeholders(const char *s, char *out, size_t size) {
    char names[16][32];
    size_t n = 0;
    for (const char *p = s; (p = strchr(p, '{')) != NULL; p++) {
        const char *end = strchr(p, '}');
        assert_non_null(end);
        assert_true(n < 16 && end - p - 1 < 32);
        snprintf(names[n], sizeof names[n], "%.*s", (int)(end - p - 1), p + 1);
        for (size_t i = n++; i > 0 && strcmp(names[i], names[i - 1]) < 0; i--) {
            char swap[32];
            memcpy(swap, names[i], sizeof swap);
            memcpy(names[i], names[i - 1], sizeof swap);
            memcpy(names[i - 1], swap, sizeof swap);
        }
    }
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), size - strlen(out), "{%s}", names[i]);
}

static void every_message_is_there_in_both_languages(void **state) {
    for (uint16_t id = 1; id < N_MESSAGES; id++)
        for (int l = 0; l < N_LANGS; l++)
            if (text_get(id, (lang)l)[0] == '\0') fail_msg("message %u has no words", id);
    assert_string_equal(text_get(MSG_NONE, LANG_EN), "");
    assert_string_equal(text_get(UINT16_MAX, LANG_ZH), "");
}

static void both_languages_name_the_same_values(void **state) {
    char en[512], zh[512];
    for (uint16_t id = 1; id < N_MESSAGES; id++) {
        placeholders(text_get(id, LANG_EN), en, sizeof en);
        placeholders(text_get(id, LANG_ZH), zh, sizeof zh);
        if (strcmp(en, zh) != 0) fail_msg("%s: %s and %s", text_get(id, LANG_EN), en, zh);
    }
}

/* Names and numbers that are the same in every language. */
static bool is_the_same_in_all_languages(uint16_t id) {
    return id == MSG_TEXT_DROPPED;
}

static void the_chinese_sentence_is_not_the_english_one(void **state) {
    for (uint16_t id = 1; id < N_MESSAGES; id++)
        if (strcmp(text_get(id, LANG_EN), text_get(id, LANG_ZH)) == 0 &&
            !is_the_same_in_all_languages(id))
            fail_msg("not translated: %s", text_get(id, LANG_EN));
}

static void values_go_where_their_names_stand(void **state) {
    buf b = {0};
    text_put(&b, LANG_EN, MSG_CLI_ONE_TRACE, arg_int("count", 1234),
             arg_cstr("command", "info"));
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "info takes one trace, 1,234 were given");
    buf_fini(&b);
}

static void numbers_that_are_names_have_no_separators(void **state) {
    buf b = {0};
    text_put(&b, LANG_EN, MSG_ATTACH_NO_PROCESS, arg_id("pid", 18697));
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "there is no process 18697");
    buf_fini(&b);
}

static void a_value_that_is_missing_stays_visible(void **state) {
    buf b = {0};
    text_put(&b, LANG_EN, MSG_CLI_ONE_TRACE, arg_int("number", 2));
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "{command} takes one trace, {count} were given");
    buf_fini(&b);
}

static void each_type_of_value_is_written_its_own_way(void **state) {
    buf b = {0};
    const arg args[] = {arg_time("t", 12500000), arg_bytes("b", 1500000), arg_share("s", 0.34),
                        arg_int("n", -5), arg_real("r", 0.5)};
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        text_value(&b, &args[i]);
        buf_add_byte(&b, ';');
    }
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "12.5 ms;1.43 MiB;34.0 %;-5;0.500;");
    buf_fini(&b);
}

static void a_text_value_cannot_move_the_cursor(void **state) {
    buf b = {0};
    arg a = arg_cstr("path", "a\033[2Jb\nc\xc2\x9b"
                             "d\xc2\xa0 中");
    text_value(&b, &a);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "a?[2Jb?c?d\xc2\xa0 中");
    buf_fini(&b);
}

static void an_error_names_the_byte_when_it_is_known(void **state) {
    error err = {0};
    buf b = {0};
    (void)error_set(&err, ERR_FORMAT, 4096, MSG_OUT_OF_MEMORY, 0, NULL);
    text_error(&b, LANG_EN, &err);
    (void)error_set(&err, ERR_FORMAT, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    buf_add_byte(&b, '|');
    text_error(&b, LANG_ZH, &err);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "out of memory (at byte 4,096)|内存不足");
    buf_fini(&b);
}

static void a_locale_chooses_the_language(void **state) {
    lang l = LANG_EN;
    assert_int_equal(lang_of_locale("zh_CN.UTF-8"), LANG_ZH);
    assert_int_equal(lang_of_locale("zh"), LANG_ZH);
    assert_int_equal(lang_of_locale("zhx"), LANG_EN);
    assert_int_equal(lang_of_locale("C.UTF-8"), LANG_EN);
    assert_int_equal(lang_of_locale(NULL), LANG_EN);
    assert_true(lang_of(STR("zh"), &l));
    assert_int_equal(l, LANG_ZH);
    assert_false(lang_of(STR("fr"), &l));
    assert_int_equal(l, LANG_ZH);
    assert_string_equal(lang_name(LANG_ZH), "zh");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_is_there_in_both_languages),
        cmocka_unit_test(both_languages_name_the_same_values),
        cmocka_unit_test(the_chinese_sentence_is_not_the_english_one),
        cmocka_unit_test(values_go_where_their_names_stand),
        cmocka_unit_test(numbers_that_are_names_have_no_separators),
        cmocka_unit_test(a_value_that_is_missing_stays_visible),
        cmocka_unit_test(each_type_of_value_is_written_its_own_way),
        cmocka_unit_test(a_text_value_cannot_move_the_cursor),
        cmocka_unit_test(an_error_names_the_byte_when_it_is_known),
        cmocka_unit_test(a_locale_chooses_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
