/* log_times_test.c: moments and durations as logs of requests write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/num.h"
#include "ingest/serving/log_times.h"

static int64_t moment(const char *text, time_unit unit) {
    int64_t ns = -1;
    return log_moment(str_of(text), unit, &ns) ? ns : ABSENT_I64;
}

static void size_of_a_moment_says_its_unit(void **state) {
    (void)state;
    assert_int_equal(moment("1763548800.25", UNIT_OF_SIZE), 1763548800250000000);
    assert_int_equal(moment("1763548800250", UNIT_OF_SIZE), 1763548800250000000);
    assert_int_equal(moment("1763548800250000", UNIT_OF_SIZE), 1763548800250000000);
    assert_int_equal(moment("1763548800250000001", UNIT_OF_SIZE), 1763548800250000001);
    assert_int_equal(moment("101.5", UNIT_OF_SIZE), 101500000000); /* another clock */
    assert_int_equal(moment("101.5", UNIT_MILLI), 101500000);
}

static void iso_times_are_moments(void **state) {
    (void)state;
    assert_int_equal(moment("2025-11-19T10:40:00.25Z", UNIT_OF_SIZE), 1763548800250000000);
    assert_int_equal(moment("2025-11-19 11:40:00,25+01:00", UNIT_OF_SIZE), 1763548800250000000);
    assert_int_equal(moment("2025-11-19T05:10:00-0530", UNIT_OF_SIZE), 1763548800000000000);
    assert_int_equal(moment("2024-02-29T00:00:00", UNIT_OF_SIZE), 1709164800000000000);
    assert_int_equal(moment("1970-01-01T00:00:00Z", UNIT_OF_SIZE), 0);
}

static void other_texts_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",   "soon", "2025-13-01T00:00:00",   "2025-11-19T10:40:00.",
        "-5", "1e40", "2025-11-19T10:40:00+1", "2025-11-19"};
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_int_equal(moment(bad[i], UNIT_OF_SIZE), ABSENT_I64);
}

static void durations_are_seconds_unless_said(void **state) {
    (void)state;
    int64_t ns;
    assert_true(log_duration(STR("0.25"), UNIT_OF_SIZE, &ns));
    assert_int_equal(ns, 250000000);
    assert_true(log_duration(STR("12.5"), UNIT_MILLI, &ns));
    assert_int_equal(ns, 12500000);
    assert_false(log_duration(STR("-1"), UNIT_OF_SIZE, &ns));
    assert_false(log_duration(STR("x"), UNIT_OF_SIZE, &ns));
}

static void names_end_in_their_unit(void **state) {
    (void)state;
    static const struct {
        str name, without;
        time_unit unit;
    } cases[] = {{STR("ttftms"), STR("ttft"), UNIT_MILLI},
                 {STR("starttimeunixnano"), STR("starttime"), UNIT_NANO},
                 {STR("latencyseconds"), STR("latency"), UNIT_SECONDS},
                 {STR("arrivalus"), STR("arrival"), UNIT_MICRO},
                 {STR("ms"), STR("m"), UNIT_SECONDS},
                 {STR("end"), STR("end"), UNIT_OF_SIZE}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        time_unit unit = UNIT_OF_SIZE;
        assert_true(str_eq(log_time_unit(cases[i].name, &unit), cases[i].without));
        assert_int_equal(unit, cases[i].unit);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_of_a_moment_says_its_unit),
        cmocka_unit_test(iso_times_are_moments),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(durations_are_seconds_unless_said),
        cmocka_unit_test(names_end_in_their_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
