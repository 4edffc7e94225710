/* nearest_test.c: which known name a mistyped one means, and what is listed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char COLUMNS[] = "name|full_name|side|calls|mean|max|host_total|host_self|device";

static name_hint hint_in(const char *choices, const char *wanted) {
    name_hint h = hint_for(str_of(wanted));
    hint_offer_choices(&h, choices);
    return h;
}

static void assert_near_is(const char *choices, const char *wanted, const char *near) {
    name_hint h = hint_in(choices, wanted);
    assert_true(str_eq(hint_near(&h).u.text, str_of(near)));
}

static void a_slip_is_forgiven(void **state) {
    assert_near_is(COLUMNS, "host_tota", "host_total");
    assert_near_is(COLUMNS, "nmae", "name");
    assert_near_is(COLUMNS, "cals", "calls");
    assert_near_is(COLUMNS, "Host-Total", "host_total");
    assert_near_is("overview|operators", "overveiw", "overview");
}

static void a_beginning_is_enough_unless_another_name_is_nearer(void **state) {
    assert_near_is(COLUMNS, "hos", "host_total");
    assert_near_is(COLUMNS, "dev", "device");
    assert_near_is("device_total|devise", "devic", "devise");
}

static void what_is_like_nothing_has_no_near_name(void **state) {
    assert_near_is(COLUMNS, "bananas", "");
    assert_near_is(COLUMNS, "", "");
    assert_near_is(COLUMNS, "x", ""); /* one slip makes any letter of any other */
    assert_near_is("a-name-that-is-longer-than-any-that-is-ever-written-by-hand-in-a-shell",
                   "a-name-that-is-longer-than-any-that-is-ever-written-by-hand-in-a-shel", "");
}

static void a_long_list_is_cut_and_counted(void **state) {
    name_hint h = hint_in(COLUMNS, "bananas");
    assert_true(str_eq(hint_list(&h).u.text, STR("name, full_name, side, calls, mean, max")));
    assert_int_equal(hint_more(&h).u.i, 3);
}

static void a_short_list_follows_a_near_name_a_long_one_does_not(void **state) {
    name_hint h = hint_in("text|json", "jsn");
    assert_true(str_eq(hint_list(&h).u.text, STR("text, json")));
    assert_int_equal(hint_more(&h).type, ARG_NONE);
    h = hint_in(COLUMNS, "nam");
    assert_int_equal(hint_list(&h).u.text.n, 0);
    assert_int_equal(hint_more(&h).type, ARG_NONE);
}

static void names_that_do_not_fit_are_counted(void **state) {
    char name[200];
    memset(name, 'n', sizeof name);
    name_hint h = hint_for(STR("x"));
    for (int i = 0; i < 3; i++) hint_offer(&h, str_n(name, sizeof name));
    assert_int_equal(hint_list(&h).u.text.n, sizeof name);
    assert_int_equal(hint_more(&h).u.i, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_is_forgiven),
        cmocka_unit_test(a_beginning_is_enough_unless_another_name_is_nearer),
        cmocka_unit_test(what_is_like_nothing_has_no_near_name),
        cmocka_unit_test(a_long_list_is_cut_and_counted),
        cmocka_unit_test(a_short_list_follows_a_near_name_a_long_one_does_not),
        cmocka_unit_test(names_that_do_not_fit_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
