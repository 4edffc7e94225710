/* text_test.c: every sentence exists in both languages with the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/message_ids_all.h"
#include "text/text.h"

#define MAX_NAMES 32

/* The names of the values a sentence uses, sorted, each once, joined. */
static void placeholders(const char *s, char *out, size_t size) {
    char names[MAX_NAMES + 1][32];
    size_t n = 0;
    for (const char *p = s; (p = strchr(p, '{')) != NULL; p++) {
        size_t length = strcspn(p + 1, "}~#|?!{"), at = 0;
        assert_true(length > 0 && length < sizeof names[0] && n < MAX_NAMES);
        char name[sizeof names[0]] = "";
        memcpy(name, p + 1, length);
        while (at < n && strcmp(names[at], name) < 0) at++;
        if (at < n && strcmp(names[at], name) == 0) continue;
        memmove(names[at + 1], names[at], (n++ - at) * sizeof names[0]);
        memcpy(names[at], name, sizeof name);
    }
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), size - strlen(out), "{%s}", names[i]);
}

/* The end of the placeholder that begins at s, NULL when it is not closed; *bars: its own bars,
 * not those of the placeholders inside it. */
static const char *placeholder_end(const char *s, int *bars) {
    int depth = 0;
    *bars = 0;
    for (; *s; s++) {
        depth += *s == '{';
        *bars += *s == '|' && depth == 1;
        if (*s == '}' && --depth == 0) return s;
    }
    return NULL;
}

/* Every brace is closed, and a choice by count has two words. */
static bool braces_are_right(const char *s) {
    int depth = 0, bars;
    for (; *s && depth >= 0; s++) {
        depth += (*s == '{') - (*s == '}');
        if (*s == '{' && (!placeholder_end(s, &bars) || bars > 2 || bars == 1)) return false;
    }
    return depth == 0;
}

static void every_message_is_there_in_both_languages(void **state) {
    for (uint16_t id = 1; id < N_MESSAGES; id++)
        for (int l = 0; l < N_LANGS; l++)
            if (text_get(id, (lang)l)[0] == '\0') fail_msg("message %u has no words", id);
    assert_string_equal(text_get(MSG_NONE, LANG_EN), "");
    assert_string_equal(text_get(UINT16_MAX, LANG_ZH), "");
}

static void every_placeholder_is_closed(void **state) {
    for (uint16_t id = 1; id < N_MESSAGES; id++)
        for (int l = 0; l < N_LANGS; l++)
            if (!braces_are_right(text_get(id, (lang)l))) fail_msg("%s", text_get(id, (lang)l));
}

/* What a sentence becomes with the values given. */
#define assert_fills(sentence, wanted, ...)                                                   \
    do {                                                                                      \
        const arg values_[] = {__VA_ARGS__};                                                  \
        buf b_ = {0};                                                                         \
        text_fill(&b_, STR(sentence), values_, (uint32_t)(sizeof values_ / sizeof *values_)); \
        buf_add_byte(&b_, '\0');                                                              \
        assert_string_equal(b_.p, wanted);                                                    \
        buf_fini(&b_);                                                                        \
    } while (0)

/* A clause begins small, unless with a name, and takes the values of the sentence around it. */
static void a_sentence_can_be_a_clause_of_another(void **state) {
    (void)state;
    static const struct {
        uint16_t title;
        const char *end;
    } cases[] = {{MSG_ADVICE_HOST_LATE, "each step: the CPU launches work too late"},
                 {MSG_ADVICE_DATA_PARALLEL,
                  "each step: DataParallel is used instead of DistributedDataParallel"},
                 {MSG_ADVICE_ODD_DIMENSION,
                  "each step: dimension 50,257 is not aligned for matrix cores"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const arg args[] = {arg_cstr("device", "GPU"), arg_share("idle_share", 0.5),
                            arg_words("cause", cases[i].title), arg_int("dimension", 50257)};
        buf out = {0};
        text_format(&out, LANG_EN, MSG_VERDICT_GPU_IDLE, args, 4);
        assert_true(str_ends(buf_str(&out), str_of(cases[i].end)));
        buf_fini(&out);
    }
}

static void a_count_chooses_the_word(void **state) {
    assert_fills("{n} {n|step|steps}", "1 step", arg_int("n", 1));
    assert_fills("{n} {n|step|steps}", "0 steps", arg_int("n", 0));
    assert_fills("{n} {n|step|steps}", "1,600 steps", arg_int("n", 1600));
    assert_fills("{n|one is|{n} are} late", "one is late", arg_int("n", 1));
    assert_fills("{n|one is|{n} are} late", "7 are late", arg_int("n", 7));
    assert_fills("{r|call|calls}", "call", arg_real("r", 1.0));
    assert_fills("{r|call|calls}", "calls", arg_real("r", 1.5));
    assert_fills("{n|call|calls}", "{n|call|calls}", arg_int("other", 1));
}

static void a_number_that_names_something_has_no_commas(void **state) {
    assert_fills("process {pid#}", "process 18697", arg_int("pid", 18697));
    assert_fills("rank {rank#}", "rank a_1", arg_cstr("rank", "a_1"));
    assert_fills("{r}× slower", "5.3× slower", arg_real("r", 5.30001));
    assert_fills("{r}", "10", arg_real("r", 10.04));
    assert_fills("{r}", "1.00e+20", arg_real("r", 1e20));
}

static void a_missing_value_takes_its_clause_with_it(void **state) {
    const char *full = "waits 5, ends with gemm";
    assert_fills("waits {n}{op?, ends with {op}}", full, arg_int("n", 5),
                 arg_cstr("op", "gemm"));
    assert_fills("waits {n}{op?, ends with {op}}", "waits 5", arg_int("n", 5));
    assert_fills("waits {n}{op?, ends with {op}}", "waits 5", arg_int("n", 5),
                 arg_cstr("op", ""));
    assert_fills("{op?{op}}{op!some operator}", "some operator", arg_cstr("op", ""));
    assert_fills("{op?{op}}{op!some operator}", "mm", arg_cstr("op", "mm"));
}

static void a_long_name_loses_its_middle(void **state) {
    char name[300];
    memset(name, 'x', sizeof name);
    memcpy(name, "begin", 5);
    memcpy(name + sizeof name - 3, "end", 3);
    buf b = {0};
    const arg a = arg_text("op", str_n(name, sizeof name));
    text_fill(&b, STR("{op~}"), &a, 1);
    assert_int_equal(b.n, 63 + strlen("…"));
    assert_memory_equal(b.p, "beginx", 6);
    assert_memory_equal(b.p + b.n - 4, "xend", 4);
    buf_fini(&b);
    assert_fills("{op~}", "aten::mm", arg_cstr("op", "aten::mm"));
    assert_fills("{n~}", "5", arg_int("n", 5));
}

static void a_long_chinese_name_is_cut_between_characters(void **state) {
    buf b = {0}, name = {0};
    for (int i = 0; i < 100; i++) buf_add_cstr(&name, "核");
    const arg a = arg_text("op", buf_str(&name));
    text_fill(&b, STR("{op~}"), &a, 1);
    assert_int_equal(b.n, 64 * strlen("核"));
    buf_fini(&b);
    buf_fini(&name);
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
    return id == MSG_TEXT_DROPPED || id == MSG_PICTURE_MEMSET;
}

static void the_chinese_sentence_is_not_the_english_one(void **state) {
    for (uint16_t id = 1; id < N_MESSAGES; id++)
        if (strcmp(text_get(id, LANG_EN), text_get(id, LANG_ZH)) == 0 &&
            !is_the_same_in_all_languages(id))
            fail_msg("not translated: %s", text_get(id, LANG_EN));
}

static void values_go_where_their_names_are(void **state) {
    buf b = {0};
    text_put(&b, LANG_EN, MSG_CLI_ONE_TRACE, arg_int("count", 1234),
             arg_cstr("command", "info"));
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "info takes one trace, but 1,234 were given");
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
    assert_string_equal(b.p, "{command} takes one trace, but {count} were given");
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
    assert_string_equal(b.p, "12.5 ms;1.43 MiB;34.0 %;-5;0.5;");
    buf_fini(&b);
}

static void a_text_value_cannot_move_the_cursor(void **state) {
    buf b = {0};
    arg a = arg_cstr("path", "a\033[2Jb\nc\xc2\x9b"
                             "d\xc2\xa0 中");
    text_value(&b, &a);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "a\\x1b[2Jb\\x0ac\\x9bd\xc2\xa0 中");
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

static void an_error_names_its_file_once(void **state) {
    error err = {0};
    buf b = {0};
    (void)error_set(&err, ERR_FORMAT, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    error_add_file(&err, STR("a/b.json"));
    error_add_file(&err, STR("other"));
    text_error(&b, LANG_EN, &err);
    buf_add_byte(&b, '|');
    text_error(&b, LANG_ZH, &err);
    buf_add_byte(&b, '|');
    text_reason(&b, LANG_EN, &err);
    buf_add_byte(&b, '|');
    arg path = arg_cstr("path", "x"); /* the sentence says it already */
    (void)error_set(&err, ERR_FORMAT, NOPOS, MSG_OUT_OF_MEMORY, 1, &path);
    error_add_file(&err, STR("a/b.json"));
    text_error(&b, LANG_EN, &err);
    buf_add_byte(&b, '\0');
    assert_string_equal(
        b.p, "a/b.json: out of memory|a/b.json：内存不足|out of memory|out of memory");
    error_add_file(NULL, STR("x"));
    buf_fini(&b);
}

static void values_of_ours_have_chinese_words(void **state) {
    assert_true(str_eq(text_value_word("category", STR("kernel"), LANG_ZH), STR("核函数")));
    assert_true(str_eq(text_value_word("category", STR("kernel"), LANG_EN), STR("kernel")));
    assert_true(str_eq(text_value_word("name", STR("kernel"), LANG_ZH), STR("kernel")));
    assert_true(str_eq(text_value_word("severity", STR("none"), LANG_ZH), STR("none")));
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
        cmocka_unit_test(every_placeholder_is_closed),
        cmocka_unit_test(a_sentence_can_be_a_clause_of_another),
        cmocka_unit_test(a_count_chooses_the_word),
        cmocka_unit_test(a_number_that_names_something_has_no_commas),
        cmocka_unit_test(a_missing_value_takes_its_clause_with_it),
        cmocka_unit_test(a_long_name_loses_its_middle),
        cmocka_unit_test(a_long_chinese_name_is_cut_between_characters),
        cmocka_unit_test(both_languages_name_the_same_values),
        cmocka_unit_test(the_chinese_sentence_is_not_the_english_one),
        cmocka_unit_test(values_go_where_their_names_are),
        cmocka_unit_test(numbers_that_are_names_have_no_separators),
        cmocka_unit_test(a_value_that_is_missing_stays_visible),
        cmocka_unit_test(each_type_of_value_is_written_its_own_way),
        cmocka_unit_test(a_text_value_cannot_move_the_cursor),
        cmocka_unit_test(an_error_names_the_byte_when_it_is_known),
        cmocka_unit_test(an_error_names_its_file_once),
        cmocka_unit_test(values_of_ours_have_chinese_words),
        cmocka_unit_test(a_locale_chooses_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
