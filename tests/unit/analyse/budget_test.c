/* budget_test.c: what a budget may say, and what errors say about one that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyse/check/budget.h"
#include "base/num.h"
#include "text/text.h"

static arena scratch;

static status parse(const char *text, budget *out, error *err) {
    arena_reset(&scratch);
    *out = (budget){.arena = &scratch};
    budget_text from = {.text = str_of(text), .name = STR("limits.txt"), .wrong = ERR_FORMAT};
    return budget_add(out, &from, err);
}

static budget_rule one(const char *text) {
    budget b;
    error err = {0};
    if (parse(text, &b, &err) != OK) {
        buf said = {0};
        text_error(&said, LANG_EN, &err);
        buf_add_byte(&said, '\0');
        fail_msg("%s: %s", text, said.p);
    }
    assert_int_equal(b.n, 1);
    return b.v[0];
}

static void assert_text(str got, const char *wanted) {
    if (!str_eq(got, str_of(wanted))) fail_msg("%.*s, not %s", STR_ARG(got), wanted);
}

static void a_measure_has_a_limit_in_its_unit(void **state) {
    static const struct {
        const char *text;
        measure_id measure;
        limit_side side;
        bool relative;
        double limit;
    } cases[] = {
        {"step < 12 ms", MEASURE_STEP, LIMIT_BELOW, false, 12e6},
        {"step<12ms", MEASURE_STEP, LIMIT_BELOW, false, 12e6},
        {"step <= 0.5 s", MEASURE_STEP, LIMIT_AT_MOST, false, 5e8},
        {"step <= +5 %", MEASURE_STEP, LIMIT_AT_MOST, true, 0.05},
        {"device <= -2.5%", MEASURE_DEVICE, LIMIT_AT_MOST, true, -0.025},
        {"host < 250 µs", MEASURE_HOST, LIMIT_BELOW, false, 250e3},
        {"memory < 40 GiB", MEASURE_MEMORY, LIMIT_BELOW, false, 40.0 * (1 << 30)},
        {"memory <= 1.5 GB # the card has 2", MEASURE_MEMORY, LIMIT_AT_MOST, false, 1.5e9},
        {"kernels <= 300", MEASURE_KERNELS, LIMIT_AT_MOST, false, 300},
        {"mfu >= 35 %", MEASURE_MFU, LIMIT_AT_LEAST, false, 0.35},
        {"mfu > 0.35", MEASURE_MFU, LIMIT_ABOVE, false, 0.35},
        {"mfu >= -3 %", MEASURE_MFU, LIMIT_AT_LEAST, true, -0.03},
        {"step < 0", MEASURE_STEP, LIMIT_BELOW, false, 0},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        budget_rule r = one(cases[i].text);
        assert_int_equal(r.measure, cases[i].measure);
        assert_int_equal(r.side, cases[i].side);
        assert_int_equal(r.relative, cases[i].relative);
        assert_float_equal(r.limit, cases[i].limit, (float)(1e-9 * (1 + cases[i].limit)));
        assert_text(r.subject, measure_name(r.measure));
    }
}

static void any_column_of_any_analysis_can_be_limited(void **state) {
    budget_rule r = one("operators[name=\"aten::mm\"].device_total <= +10 %");
    assert_int_equal(r.measure, N_MEASURES);
    assert_string_equal(r.analysis->name, "operators");
    assert_string_equal(r.table->name, "operators");
    assert_string_equal(r.field->name, "device_total");
    assert_int_equal(r.rows, SELECT_EQUAL);
    assert_text(r.key, "name");
    assert_text(r.value, "aten::mm");
    assert_text(r.subject, "operators[name=\"aten::mm\"].device_total");
    assert_text(r.text, "operators[name=\"aten::mm\"].device_total <= +10 %");
    r = one("overview.devices[1].utilization > 80 %");
    assert_string_equal(r.table->name, "devices");
    assert_int_equal(r.rows, SELECT_ROW);
    assert_int_equal(r.row, 1);
    assert_float_equal(r.limit, 0.8, 1e-12);
    r = one("memory.peaks.reserved < 40 GiB");
    assert_string_equal(r.analysis->name, "memory");
    assert_string_equal(r.table->name, "peaks");
    assert_int_equal(r.rows, SELECT_EVERY);
    r = one("kernels.rows < 2000");
    assert_null(r.field);
    assert_int_equal(r.unit, UNIT_COUNT);
    r = one("kernels . total per step <= 3 ms");
    assert_true(r.per_step);
    assert_text(r.subject, "kernels . total per step");
    r = one("operators[ name = \"a \\\"b\\\" \\\\ ]#;\" ].calls < 3");
    assert_text(r.value, "a \"b\" \\ ]#;");
}

static void rules_are_lines_or_parted_by_semicolons(void **state) {
    budget b;
    error err;
    const char *text =
        "\xef\xbb\xbf# limits\r\n\n  step < 12 ms ; host < 9 ms\r\n;;\n# end\nmfu > 1 %";
    assert_int_equal(parse(text, &b, &err), OK);
    assert_int_equal(b.n, 3);
    assert_int_equal(b.v[0].line, 3);
    assert_text(b.v[0].text, "step < 12 ms");
    assert_text(b.v[1].text, "host < 9 ms");
    assert_int_equal(b.v[2].line, 6);
    assert_int_equal(parse("", &b, &err), OK);
    assert_int_equal(parse(" # nothing", &b, &err), OK);
    assert_int_equal(b.n, 0);
}

static void an_error_says_where_and_what_is_expected(void **state) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"step", "limits.txt:1:5: expected <, <=, > or >=, found the end of the rule"},
        {"\n  step = 3", "limits.txt:2:8: expected <, <=, > or >=, found \"=\""},
        {"step < fast", "limits.txt:1:8: expected a number, found \"fast\""},
        {"step < .", "limits.txt:1:8: expected a number, found \".\""},
        {"step < 12", "limits.txt:1:10: expected a unit of time"},
        {"step < 12 GiB", "limits.txt:1:11: expected a unit of time"},
        {"memory < 12 ms", "limits.txt:1:13: expected a unit of size"},
        {"mfu < 12 ms", "limits.txt:1:10: expected % or a number from 0 to 1"},
        {"step < +12 ms", "limits.txt:1:12: expected % after a limit with a sign"},
        {"kernels < 12 of them", "limits.txt:1:14: expected the end of the rule, found \"of\""},
        {"step < 1 ms host < 2 ms", "limits.txt:1:13: expected the end of the rule"},
        {"nothing < 3", "limits.txt:1:1: nothing is neither a measure"},
        {"diff.causes.change < 3 ms", "limits.txt:1:1: diff is neither a measure"},
        {"< 3", "limits.txt:1:1: expected a measure or an analysis"},
        {"operators < 3", "limits.txt:1:11: expected a dot and a column"},
        {"operators. < 3", "limits.txt:1:12: expected a column name"},
        {"operators.none < 3", "limits.txt:1:11: the table has no column none"},
        {"operators.host_tota < 3 ms", "limits.txt:1:11: the table has no column host_tota; "
                                       "did you mean host_total?"},
        {"stpe < 3 ms", "limits.txt:1:1: stpe is neither a measure nor an analysis; "
                        "did you mean step?"},
        {"overview.brekdown.time < 3 ms", "limits.txt:1:10: the analysis has no table "
                                          "brekdown; did you mean breakdown?"},
        {"operators.name < 3", "limits.txt:1:11: column name is not a number"},
        {"overview.none.x < 3", "limits.txt:1:10: the analysis has no table none"},
        {"memory.peaks < 3", "limits.txt:1:14: expected a dot and a column"},
        {"operators[].calls < 3", "limits.txt:1:11: expected a row number"},
        {"operators[0.calls < 3", "limits.txt:1:12: expected ]"},
        {"operators[none=\"a\"].calls < 3", "limits.txt:1:11: the table has no column none"},
        {"operators[calls=\"a\"].calls < 3",
         "limits.txt:1:11: rows are selected by a text column"},
        {"operators[name].calls < 3", "limits.txt:1:15: expected = and text"},
        {"operators[name=mm].calls < 3", "limits.txt:1:16: expected text in double quotes"},
        {"operators[name=\"mm].calls < 3", "limits.txt:1:30: expected a closing double quote"},
        {"operators.calls per call < 3", "limits.txt:1:21: expected step after per"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        budget b;
        error err = {0};
        buf said = {0};
        assert_int_equal(parse(cases[i].text, &b, &err), ERR_FORMAT);
        text_error(&said, LANG_EN, &err);
        if (!str_starts(buf_str(&said), str_of(cases[i].said)))
            fail_msg("%s: %.*s", cases[i].text, STR_ARG(buf_str(&said)));
        buf_fini(&said);
    }
}

static void a_share_is_a_percentage_or_a_number(void **state) {
    double share = 7;
    assert_true(budget_share(STR("5%"), &share));
    assert_float_equal(share, 0.05, 1e-12);
    assert_true(budget_share(STR("2.5 %"), &share));
    assert_float_equal(share, 0.025, 1e-12);
    assert_true(budget_share(STR("0.1"), &share));
    assert_float_equal(share, 0.1, 1e-12);
    static const char *const bad[] = {"", "%", "-5%", "five", "nan", "inf"};
    for (size_t i = 0; i < N_OF(bad); i++) assert_false(budget_share(str_of(bad[i]), &share));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measure_has_a_limit_in_its_unit),
        cmocka_unit_test(any_column_of_any_analysis_can_be_limited),
        cmocka_unit_test(rules_are_lines_or_parted_by_semicolons),
        cmocka_unit_test(an_error_says_where_and_what_is_expected),
        cmocka_unit_test(a_share_is_a_percentage_or_a_number),
    };
    arena_init(&scratch, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&scratch);
    return failed;
}
