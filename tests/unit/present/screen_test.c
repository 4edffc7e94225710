/* screen_test.c: an answer on a terminal: the tables that carry it, within the lines there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_answer.h"

static const column_spec SPEC[] = {{"name", TYPE_TEXT, UNIT_NONE, 0},
                                   {"depth", TYPE_INT, UNIT_NONE, 0},
                                   {"calls", TYPE_INT, UNIT_COUNT, 0},
                                   {"step", TYPE_INT, UNIT_NONE, 0}};

/* A table of n rows: names n0, n1, …, at depths 0, 1, 2, 0, …, with 1, 2, … calls. */
static table *make(arena *a, const char *name, int n, table_screen how) {
    table *t = table_new(a, name, SPEC, 4);
    for (int i = 0; i < n; i++) {
        size_t row;
        assert_int_equal(table_add_row(t, &row, NULL), OK);
        table_set_text(t, row, 0, arena_printf(a, "n%d", i));
        table_set_int(t, row, 1, i % 3);
        table_set_int(t, row, 2, i + 1);
        table_set_int(t, row, 3, i);
    }
    t->total_rows = t->n_rows;
    t->screen = how;
    return t;
}

static const char *screen_of(arena *a, table **tables, uint32_t n, uint32_t lines) {
    answer x = {.analysis = "sample", .n_tables = n};
    for (uint32_t i = 0; i < n; i++) x.tables[i] = tables[i];
    present_options o = {.width = 80, .terminal = true, .utf8 = true, .lines = lines};
    return sample_written(a, FORM_TEXT, &x, &o);
}

static size_t lines_of(const char *text) {
    size_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static void tables_come_in_their_order_and_the_others_are_named(void **state) {
    arena a;
    arena_init(&a, 0);
    table *tables[] = {make(&a, "hidden", 3, (table_screen){0}),
                       make(&a, "second", 3, (table_screen){.place = 2}),
                       make(&a, "first", 3, (table_screen){.place = 1}),
                       make(&a, "empty", 0, (table_screen){.place = 3})};
    const char *text = screen_of(&a, tables, 4, 40);
    assert_true(strstr(text, "first\n") < strstr(text, "second\n"));
    assert_non_null(strstr(text, "--table NAME (hidden)"));
    assert_null(strstr(text, "empty"));
    arena_fini(&a);
}

static void the_lines_are_kept(void **state) {
    arena a;
    arena_init(&a, 0);
    for (uint32_t lines = 24; lines < 60; lines++) {
        table *tables[] = {make(&a, "first", 100, (table_screen){.place = 1, .rows = 12}),
                           make(&a, "second", 100, (table_screen){.place = 2}),
                           make(&a, "third", 100, (table_screen){.place = 3})};
        const char *text = screen_of(&a, tables, 3, lines);
        assert_true(lines_of(text) <= lines);
        assert_non_null(strstr(text, "12 of 100 rows"));
        assert_non_null(strstr(text, "third), "));
        assert_non_null(strstr(text, "--all"));
    }
    arena_fini(&a);
}

static void all_rows_of_these_tables_when_no_lines_are_counted(void **state) {
    arena a;
    arena_init(&a, 0);
    table *tables[] = {make(&a, "first", 100, (table_screen){.place = 1, .rows = 12}),
                       make(&a, "hidden", 3, (table_screen){0})};
    const char *text = screen_of(&a, tables, 2, UINT32_MAX);
    assert_non_null(strstr(text, "n99"));
    assert_null(strstr(text, "hidden\n"));
    text = screen_of(&a, tables, 2, 0); /* and everything */
    assert_non_null(strstr(text, "hidden\n"));
    arena_fini(&a);
}

static void the_rows_that_matter_stay(void **state) {
    arena a;
    arena_init(&a, 0);
    table *top = make(&a, "top", 20, (table_screen){1, 3, SCREEN_TOP, "calls"});
    const char *text = screen_of(&a, &top, 1, 40);
    assert_true(strstr(text, "n19") < strstr(text, "n18") && strstr(text, "n17"));
    assert_null(strstr(text, "n16"));
    table *tree = make(&a, "tree", 9, (table_screen){1, 6, SCREEN_TREE, "depth"});
    text = screen_of(&a, &tree, 1, 40);
    assert_non_null(strstr(text, "\n  n1 "));
    assert_null(strstr(text, "n2 ")); /* of the third level, which does not fit whole */
    assert_null(strstr(text, "depth"));
    assert_non_null(strstr(text, "6 of 9 rows"));
    arena_fini(&a);
}

static void a_long_series_is_a_curve_and_a_short_one_is_not(void **state) {
    arena a;
    arena_init(&a, 0);
    table *t = make(&a, "steps", 12, (table_screen){1, 12, SCREEN_SERIES, "step calls"});
    assert_null(strstr(screen_of(&a, &t, 1, 40), "step 0"));
    t = make(&a, "steps", 13, (table_screen){1, 12, SCREEN_SERIES, "step calls"});
    const char *text = screen_of(&a, &t, 1, 40);
    assert_non_null(strstr(text, "step 0"));
    assert_non_null(strstr(text, "step 12"));
    assert_non_null(strstr(text, "█"));
    t->n_rows = 12; /* --limit: a curve of a part would mislead */
    assert_null(strstr(screen_of(&a, &t, 1, UINT32_MAX), "step 0"));
    arena_fini(&a);
}

static void rows_of_zeros_are_left_out_unless_there_are_no_others(void **state) {
    arena a;
    arena_init(&a, 0);
    table *t = make(&a, "things", 3, (table_screen){.place = 1});
    table_set_int(t, 1, 2, 0);
    const char *text = screen_of(&a, &t, 1, 40);
    assert_null(strstr(text, "n1"));
    assert_null(strstr(text, "of 3 rows"));
    table_set_int(t, 0, 2, 0);
    table_set_int(t, 2, 2, 0);
    assert_non_null(strstr(screen_of(&a, &t, 1, 40), "n1"));
    t = make(&a, "things", 0, (table_screen){.place = 1});
    assert_non_null(strstr(screen_of(&a, &t, 1, 40), "nothing to show"));
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_come_in_their_order_and_the_others_are_named),
        cmocka_unit_test(the_lines_are_kept),
        cmocka_unit_test(all_rows_of_these_tables_when_no_lines_are_counted),
        cmocka_unit_test(the_rows_that_matter_stay),
        cmocka_unit_test(a_long_series_is_a_curve_and_a_short_one_is_not),
        cmocka_unit_test(rows_of_zeros_are_left_out_unless_there_are_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
