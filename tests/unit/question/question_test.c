/* question_test.c: terms of a door, and what they mean together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "question/question.h"
#include "text/text.h"

typedef struct {
    int64_t before;
    question question;
    str own;
} asked;

enum { EVERY = 1, OTHER = 2 };

/* A door that takes every term of a question, and one additional term. */
static const term TERMS[] = {
#define ROW(field, name, kind, value, help, ...) \
    {name, VALUE_##kind, value, EVERY, 0, 0, offsetof(asked, question.field)},
    QUESTION_TERMS(ROW){"own", VALUE_TEXT, "WORD", OTHER, 0, 'o', offsetof(asked, own)},
};

static status set(asked *a, const char *name, const char *value, error *err) {
    const term *t = term_find(TERMS, N_OF(TERMS), EVERY, str_of(name));
    spelling as = {str_of(name), "="};
    assert_non_null(t);
    return term_set(t, &as, str_of(value), a, err);
}

static asked begin(void) {
    asked a = {.before = 42};
    question_begin(&a.question);
    terms_clear(TERMS, N_OF(TERMS), &a);
    return a;
}

static void nothing_asked_is_the_whole_trace(void **state) {
    asked a = begin();
    assert_int_equal(question_end(&a.question, "", NULL), OK);
    assert_true(window_is_open(params_window(&a.question.params)));
    assert_true(steps_are_all(params_steps(&a.question.params)));
    arrangement how = question_arrangement(&a.question);
    assert_true(how.offset == 0 && how.limit == 0 && !how.sort.n && !how.table.n);
    assert_int_equal(a.before, 42);
}

static void what_is_asked_reaches_analysis_and_tables(void **state) {
    static const char *const words[][2] = {
        {"run", "a"},     {"worker", "0"},   {"span", "2"},     {"all_workers", "1"},
        {"from", "5"},    {"to", "2us"},     {"sort", "calls"}, {"search", "gemm"},
        {"filter", ">1"}, {"table", "rows"}, {"offset", "10"},  {"limit", "20"}};
    asked a = begin();
    for (size_t i = 0; i < N_OF(words); i++)
        assert_int_equal(set(&a, words[i][0], words[i][1], NULL), OK);
    assert_int_equal(question_end(&a.question, "", NULL), OK);
    assert_int_equal(a.question.params.from_ns, 5);
    assert_int_equal(a.question.params.to_ns, 2000);
    assert_true(a.question.all_workers && str_eq(a.question.span, STR("2")));
    arrangement how = question_arrangement(&a.question);
    assert_int_equal(how.offset, 10);
    assert_int_equal(how.limit, 20);
    assert_true(str_eq(how.sort, STR("calls")) && str_eq(how.filter, STR(">1")));
}

static void a_term_is_found_in_its_groups(void **state) {
    assert_null(term_find(TERMS, N_OF(TERMS), EVERY, STR("own")));
    assert_non_null(term_find(TERMS, N_OF(TERMS), OTHER, STR("own")));
    assert_null(term_find(TERMS, N_OF(TERMS), OTHER, STR("from")));
    assert_null(term_find(TERMS, N_OF(TERMS), EVERY | OTHER, STR("")));
}

static void a_wrong_value_leaves_the_field(void **state) {
    asked a = begin();
    error err;
    assert_int_equal(set(&a, "limit", "3", NULL), OK);
    assert_int_equal(set(&a, "limit", "many", &err), ERR_ARG);
    assert_int_equal(err.message, MSG_CLI_BAD_NUMBER);
    assert_int_equal(a.question.limit, 3);
}

static void contradictions_are_refused_in_the_words_of_the_door(void **state) {
    static const struct {
        const char *from, *to, *step;
        uint16_t message;
    } cases[] = {{"5", NULL, "1", MSG_CLI_STEP_AND_TIME},
                 {NULL, "5", "1", MSG_CLI_STEP_AND_TIME},
                 {"5", "5", NULL, MSG_CLI_EMPTY_WINDOW},
                 {NULL, "0", NULL, MSG_CLI_EMPTY_WINDOW},
                 {"9", "3", NULL, MSG_CLI_EMPTY_WINDOW}};
    buf b = {0};
    for (size_t i = 0; i < N_OF(cases); i++) {
        asked a = begin();
        error err;
        if (cases[i].from) assert_int_equal(set(&a, "from", cases[i].from, NULL), OK);
        if (cases[i].to) assert_int_equal(set(&a, "to", cases[i].to, NULL), OK);
        if (cases[i].step) assert_int_equal(set(&a, "step", cases[i].step, NULL), OK);
        assert_int_equal(question_end(&a.question, "--", &err), ERR_ARG);
        assert_int_equal(err.message, cases[i].message);
        if (i == 0) text_error(&b, LANG_EN, &err);
    }
    assert_true(str_eq(buf_str(&b), STR("--step and --from/--to cannot be used together")));
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_is_the_whole_trace),
        cmocka_unit_test(what_is_asked_reaches_analysis_and_tables),
        cmocka_unit_test(a_term_is_found_in_its_groups),
        cmocka_unit_test(a_wrong_value_leaves_the_field),
        cmocka_unit_test(contradictions_are_refused_in_the_words_of_the_door),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
