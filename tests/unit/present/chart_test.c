/* chart_test.c: a value over time as a curve that keeps its peaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/present_int.h"
#include "present/width.h"

static const column_spec SPEC[] = {{"time", TYPE_INT, UNIT_NS, 0},
                                   {"allocated", TYPE_INT, UNIT_BYTES, 0},
                                   {"device", TYPE_TEXT, UNIT_NONE, 0}};

static void add(table *t, int64_t time, int64_t bytes, const char *device) {
    size_t row;
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_int(t, row, 0, time);
    if (bytes >= 0) table_set_int(t, row, 1, bytes);
    table_set_text(t, row, 2, str_of(device));
}

static const char *drawn(arena *a, const table *t, chart_axes axes, present_options o) {
    buf b = {0};
    assert_int_equal(chart_put(t, &axes, &o, &b, NULL), OK);
    str copy = arena_str(a, buf_str(&b));
    buf_fini(&b);
    assert_non_null(copy.p);
    return copy.p;
}

static const chart_axes BY_DEVICE = {0, 1, 2, 6};

static void each_device_has_a_curve_of_two_lines(void **state) {
    arena a;
    arena_init(&a, 0);
    table *t = table_new(&a, "curve", SPEC, 3);
    add(t, 0, 512, "GPU0");
    add(t, 500, 1024, "GPU0");
    add(t, 500, 8, "CPU");
    add(t, 1000, 512, "GPU0");
    assert_string_equal(drawn(&a, t, BY_DEVICE, (present_options){.width = 32, .utf8 = true}),
                        "GPU0          ███████   1.00 KiB\n"
                        "      ████████████████\n"
                        "CPU           ████████  8 B\n"
                        "              ████████\n"
                        "      0 ns     1.00 µs\n");
    arena_fini(&a);
}

static void a_short_peak_is_not_lost(void **state) {
    arena a;
    arena_init(&a, 0);
    table *t = table_new(&a, "curve", SPEC, 3);
    for (int64_t i = 0; i < 10000; i++) add(t, i, i == 5001 ? 800 : 100, "GPU0");
    const char *text =
        drawn(&a, t, (chart_axes){0, 1, NO_COLUMN, 1}, (present_options){.width = 40});
    assert_non_null(strchr(text, '@'));
    assert_non_null(strstr(text, "800 B"));
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
        assert_true(width_of(str_n(text, (size_t)(end - text))) <= 40);
    arena_fini(&a);
}

static void more_curves_than_allowed_and_missing_values_are_skipped(void **state) {
    arena a;
    arena_init(&a, 0);
    table *t = table_new(&a, "curve", SPEC, 3);
    add(t, 0, -1, "GPU0");
    add(t, 0, 5, "GPU1");
    add(t, 9, 5, "GPU2");
    const char *text =
        drawn(&a, t, (chart_axes){0, 1, 2, 1}, (present_options){.width = 40, .utf8 = true});
    assert_non_null(strstr(text, "GPU1"));
    assert_null(strstr(text, "GPU2"));
    assert_string_equal(
        drawn(&a, table_new(&a, "curve", SPEC, 3), BY_DEVICE, (present_options){.width = 40}),
        "");
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_device_has_a_curve_of_two_lines),
        cmocka_unit_test(a_short_peak_is_not_lost),
        cmocka_unit_test(more_curves_than_allowed_and_missing_values_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
