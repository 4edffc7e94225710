/* params_test.c: parameters of one analysis as values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "question/params.h"
#include "text/text.h"

static params given(const char *name, const char *value) {
    params p = PARAMS_WHOLE;
    p.extra[p.n_extra].name = str_of(name);
    p.extra[p.n_extra++].value = str_of(value);
    return p;
}

static void a_time_is_an_offset_or_nanoseconds(void **state) {
    int64_t ns = ABSENT_I64;
    params p = given("at", "1.5ms");
    assert_int_equal(param_time(&p, STR("at"), &ns, NULL), OK);
    assert_int_equal(ns, 1500000);
    p = given("at", "42");
    assert_int_equal(param_time(&p, STR("at"), &ns, NULL), OK);
    assert_int_equal(ns, 42);
}

static void what_is_not_given_stays(void **state) {
    int64_t n = 7;
    params p = given("at", "1ms");
    assert_int_equal(param_count(&p, STR("points"), &n, NULL), OK);
    assert_int_equal(n, 7);
    assert_null(param_text(&p, STR("points")).p);
}

static void what_is_not_a_value_is_an_error(void **state) {
    static const char *const bad[] = {"", "-1", "later", "5 apples"};
    int64_t n = 7;
    error err;
    for (size_t i = 0; i < 4; i++) {
        params p = given("x", bad[i]);
        assert_int_equal(param_time(&p, STR("x"), &n, &err), ERR_ARG);
        assert_int_equal(err.message, MSG_CLI_BAD_TIME);
        assert_int_equal(param_count(&p, STR("x"), &n, &err), ERR_ARG);
        assert_int_equal(err.message, MSG_CLI_BAD_NUMBER);
    }
    assert_int_equal(n, 7);
}

static const param_info AT = {"memory", "at", VALUE_TIME, "", "TIME", 0};
static const param_info TYPE = {"top", "type", VALUE_TEXT, "", "TYPE", 0};
static const param_info HOST = {"top", "show_host", VALUE_FLAG, "no", "", 0};
static const param_info GROUP = {"operators", "group_by", VALUE_CHOICE, "name", "name|type", 0};

static void add(params *p, const param_info *what, const char *value) {
    spelling as = {STR("--x"), " "};
    assert_int_equal(params_add(p, what, &as, str_of(value), NULL), OK);
}

static void the_last_one_counts_and_texts_add_up(void **state) {
    params p = PARAMS_WHOLE;
    add(&p, &AT, "1ms");
    add(&p, &TYPE, "a");
    add(&p, &AT, "2ms");
    add(&p, &TYPE, "b");
    assert_int_equal(p.n_extra, 3);
    assert_true(str_eq(param_text(&p, STR("at")), STR("2ms")));
    assert_true(str_eq(p.extra[1].value, STR("a")));
    assert_true(str_eq(param_text(&p, STR("type")), STR("b")));
    while (p.n_extra < N_OF(p.extra)) add(&p, &TYPE, "c");
    error err;
    spelling as = {STR("--type"), " "};
    assert_int_equal(params_add(&p, &TYPE, &as, STR("d"), &err), ERR_ARG);
    assert_int_equal(err.message, MSG_CLI_TOO_MANY);
    add(&p, &AT, "3ms"); /* has its place already */
}

static void a_flag_is_yes_or_no_and_a_group_is_a_number(void **state) {
    params p = PARAMS_WHOLE;
    add(&p, &HOST, "true");
    assert_true(param_flag(&p, STR("show_host")));
    add(&p, &HOST, "0");
    assert_false(param_flag(&p, STR("show_host")));
    assert_true(str_eq(param_text(&p, STR("show_host")), STR("no")));
    add(&p, &GROUP, "type");
    assert_int_equal(p.group, GROUP_TYPE);
    assert_int_equal(p.n_extra, 1);
}

static void an_error_has_the_name_as_it_was_written(void **state) {
    params p = PARAMS_WHOLE;
    error err;
    buf b = {0};
    spelling as = {STR("at"), "="};
    assert_int_equal(params_add(&p, &AT, &as, STR("noon"), &err), ERR_ARG);
    text_error(&b, LANG_EN, &err);
    assert_true(str_starts(buf_str(&b), STR("at=noon: not a time")));
    assert_int_equal(p.n_extra, 0);
    add(&p, &TYPE, "odd");
    assert_int_equal(param_fail(&p, STR("type"), "a|b", &err), ERR_ARG);
    buf_clear(&b);
    text_error(&b, LANG_EN, &err);
    assert_true(str_eq(buf_str(&b), STR("--x odd: must be a|b")));
    assert_true(str_eq(param_written(&p, STR("other")), STR("other")));
    buf_fini(&b);
}

static void unused_tables_are_not_made(void **state) {
    params p = PARAMS_WHOLE;
    (void)state;
    assert_true(params_want(&p, "events"));
    p.tables = STR("curve,events");
    assert_true(params_want(&p, "events"));
    assert_true(params_want(&p, "curve"));
    assert_false(params_want(&p, "event"));
    p.tables = STR("curve");
    assert_false(params_want(&p, "events"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_an_offset_or_nanoseconds),
        cmocka_unit_test(what_is_not_given_stays),
        cmocka_unit_test(what_is_not_a_value_is_an_error),
        cmocka_unit_test(the_last_one_counts_and_texts_add_up),
        cmocka_unit_test(a_flag_is_yes_or_no_and_a_group_is_a_number),
        cmocka_unit_test(an_error_has_the_name_as_it_was_written),
        cmocka_unit_test(unused_tables_are_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
