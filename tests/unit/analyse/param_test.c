/* param_test.c: parameters of one analysis as values. */
#include "analyse/param.h"

#include "base/message_ids_cli.h"
#include "fake_trace.h"

static params given(const char *name, const char *value) {
    params p = fake_params();
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

static void what_is_no_value_is_an_error(void **state) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_an_offset_or_nanoseconds),
        cmocka_unit_test(what_is_not_given_stays),
        cmocka_unit_test(what_is_no_value_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
