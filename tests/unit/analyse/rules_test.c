/* rules_test.c: the first rule that matches gives the verdict. */
#include "fake_trace.h"

#include "analyse/rules.h"

static bool above_ten(const void *facts, verdict *v) {
    verdict_add(v, arg_int("value", *(const int *)facts));
    return *(const int *)facts > 10;
}
static bool above_five(const void *facts, verdict *v) {
    return *(const int *)facts > 5;
}

static const rule table_of_rules[] = {
    {"ten", 1, SEVERITY_CRITICAL, above_ten},
    {"five", 2, SEVERITY_INFO, above_five},
};

static void the_first_match_wins_and_none_leaves_no_id(void **state) {
    verdict v = {.id = NULL};
    rules_apply(table_of_rules, 2, &(int){3}, &v);
    assert_null(v.id);
    rules_apply(table_of_rules, 2, &(int){7}, &v);
    assert_string_equal(v.id, "five");
    assert_int_equal(v.n_args, 0); /* nothing is left of the rule that did not match */
    rules_apply(table_of_rules, 2, &(int){11}, &v);
    assert_string_equal(v.id, "ten");
    assert_int_equal(v.args[0].u.i, 11);
    for (int i = 0; i < 2 * MAX_ARGS; i++) verdict_add(&v, arg_int("more", i));
    assert_int_equal(v.n_args, MAX_ARGS);
}

static void notes_are_kept_in_order(void **state) {
    arena a = {0};
    answer out = {.analysis = "x"};
    for (uint16_t i = 0; i < 5; i++)
        assert_int_equal(answer_note(&out, &a, &(verdict){.id = "note", .message = i}, NULL),
                         OK);
    assert_int_equal(out.quality.n_notes, 5);
    assert_int_equal(out.quality.notes[4].message, 4);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_match_wins_and_none_leaves_no_id),
        cmocka_unit_test(notes_are_kept_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
