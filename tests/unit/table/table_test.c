/* table_test.c: tables keep what was put in, in a total order, also when memory ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/fault.h"
#include "table/table.h"

static const column_spec SPEC[] = {
    {"name", TYPE_TEXT, UNIT_NONE, 0},
    {"calls", TYPE_INT, UNIT_COUNT, 0},
    {"share", TYPE_REAL, UNIT_SHARE, 0},
};

static int make(void **state) {
    static arena a;
    arena_init(&a, 0);
    *state = &a;
    return 0;
}

static int unmake(void **state) {
    fault_arm(FAULT_ALLOC, 0);
    arena_fini(*state);
    return 0;
}

static void add(table *t, const char *name, int64_t calls, double share) {
    size_t row;
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, str_of(name));
    table_set_int(t, row, 1, calls);
    table_set_real(t, row, 2, share);
}

/* The names in order, joined by blanks. */
static const char *names(const table *t) {
    static char text[256];
    text[0] = '\0';
    for (size_t i = 0; i < t->n_rows; i++) {
        if (i != 0) strcat(text, " ");
        strncat(text, t->columns[0].v.s[i].p, t->columns[0].v.s[i].n);
    }
    return text;
}

static void a_new_row_is_null_everywhere(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    size_t row = 99;
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    assert_int_equal(row, 0);
    for (uint32_t col = 0; col < 3; col++) assert_true(table_is_null(t, 0, col));
    table_set_int(t, 0, 1, 0);
    assert_false(table_is_null(t, 0, 1));
    table_set_real(t, 0, 2, NAN);
    table_set_text(t, 0, 0, STR_NONE);
    assert_true(table_is_null(t, 0, 2));
    assert_true(table_is_null(t, 0, 0));
}

static void rows_survive_growth(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    for (int i = 0; i < 1000; i++) add(t, "x", i, i);
    assert_int_equal(t->n_rows, 1000);
    assert_int_equal(t->total_rows, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(t->columns[1].v.i[i], i);
}

static void sorting_breaks_ties_from_the_left(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    add(t, "b", 1, 0.1);
    add(t, "c", 2, 0.5);
    add(t, "a", 1, 0.9);
    add(t, "ab", 1, 0.9);
    assert_int_equal(table_sort(t, 1, true, NULL), OK);
    assert_string_equal(names(t), "c a ab b");
    assert_int_equal(table_sort(t, 1, false, NULL), OK);
    assert_string_equal(names(t), "a ab b c");
    assert_int_equal(table_sort(t, 2, true, NULL), OK);
    assert_string_equal(names(t), "a ab c b");
    assert_int_equal(t->columns[1].v.i[2], 2);
}

static void nulls_come_last_in_both_directions(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    add(t, "none", 1, NAN);
    add(t, "low", 1, 0.1);
    add(t, "high", 1, 0.2);
    assert_int_equal(table_sort(t, 2, true, NULL), OK);
    assert_string_equal(names(t), "high low none");
    assert_int_equal(table_sort(t, 2, false, NULL), OK);
    assert_string_equal(names(t), "low high none");
    assert_true(table_is_null(t, 2, 2));
}

static void searching_ignores_case_and_counts_what_is_left(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    add(t, "aten::MM", 1, 0);
    add(t, "aten::add", 2, 0);
    add(t, "addmm_kernel", 3, NAN);
    assert_int_equal(table_search(t, STR("mm"), NULL), OK);
    assert_string_equal(names(t), "aten::MM addmm_kernel");
    assert_int_equal(t->total_rows, 2);
    assert_int_equal(t->columns[1].v.i[1], 3);
    assert_true(table_is_null(t, 1, 2));
}

static void a_limit_keeps_the_total(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    for (int i = 0; i < 5; i++) add(t, "x", i, 0);
    table_limit(t, 0);
    assert_int_equal(t->n_rows, 5);
    table_limit(t, 2);
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(t->total_rows, 5);
}

static void dropping_a_column_keeps_the_others(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    add(t, "x", 7, 0.5);
    table_drop_column(t, 1);
    assert_int_equal(t->n_columns, 2);
    assert_int_equal(table_column(t, STR("calls")), UINT32_MAX);
    assert_int_equal(table_column(t, STR("share")), 1);
    assert_true(t->columns[1].v.d[0] == 0.5);
}

static void sentences_are_kept_by_reference_and_sort_with_their_row(void **state) {
    static const column_spec spec[] = {{"n", TYPE_INT, UNIT_COUNT, 0},
                                       {"words", TYPE_SENTENCE, UNIT_WORDS, 0},
                                       {"values", TYPE_VALUES, UNIT_JSON, 0}};
    static const verdict first = {.id = "first"}, second = {.id = "second"};
    table *t = table_new(*state, "t", spec, 3);
    size_t row;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(table_add_row(t, &row, NULL), OK);
        assert_true(table_is_null(t, row, 1));
        table_set_int(t, row, 0, i);
        table_set_sentence(t, row, 1, i ? &second : &first);
    }
    table_set_sentence(t, 1, 2, &second);
    assert_true(table_is_null(t, 0, 2));
    assert_int_equal(table_sort(t, 0, true, NULL), OK);
    assert_ptr_equal(t->columns[1].v.sentence[0], &second);
    assert_ptr_equal(t->columns[2].v.sentence[0], &second);
    assert_ptr_equal(t->columns[1].v.sentence[1], &first);
    table_set_sentence(t, 0, 1, NULL);
    assert_true(table_is_null(t, 0, 1));
}

static void severities_have_names(void **state) {
    assert_string_equal(severity_name(SEVERITY_GOOD), "good");
    assert_string_equal(severity_name(SEVERITY_CRITICAL), "critical");
}

static void when_memory_ends_the_rows_stay(void **state) {
    uint64_t nth = 1;
    for (status s = ERR_MEMORY; s != OK; nth++) {
        arena small;
        arena_init(&small, 0);
        table *t = table_new(&small, "t", SPEC, 3);
        for (int i = 0; i < 16; i++) add(t, "x", i, 0);
        size_t row = 77;
        fault_arm(FAULT_ALLOC, nth);
        s = OK;
        for (int i = 16; i < 4000 && s == OK; i++) s = table_add_row(t, &row, NULL);
        if (s == OK) s = table_sort(t, 1, true, NULL);
        fault_arm(FAULT_ALLOC, 0);
        if (s != OK) {
            assert_int_equal(s, ERR_MEMORY);
            assert_int_equal(t->columns[1].v.i[15], 15);
            assert_false(table_is_null(t, 15, 1));
            assert_int_equal(t->columns[1].v.i[0], 0);
        }
        arena_fini(&small);
    }
    assert_true(nth > 3); /* growth and sorting do allocate */
}

static void rows_of_a_key_can_be_dropped(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    add(t, "a", 1, 0);
    add(t, "b", 2, 0);
    add(t, "a", 3, 0);
    table_drop_rows(t, STR("a"));
    assert_string_equal(names(t), "b");
    assert_int_equal(t->total_rows, 1);
    table_drop_rows(t, STR("none"));
    assert_int_equal(t->n_rows, 1);
}

static void a_row_of_values_is_null_where_they_are_absent(void **state) {
    static const column_spec spec[] = {
        {"name", TYPE_TEXT, UNIT_NONE, 0},      {"calls", TYPE_INT, UNIT_COUNT, 0},
        {"share", TYPE_REAL, UNIT_SHARE, 0},    {"known", TYPE_BOOL, UNIT_NONE, 0},
        {"title", TYPE_SENTENCE, UNIT_NONE, 0},
    };
    static const verdict title = {.id = "x"};
    typedef struct {
        str name;
        int64_t calls;
        double share;
        int64_t known;
        const verdict *title;
    } values;
    table *t = table_new(*state, "t", spec, 5);
    const values all = {STR("a"), 0, 0.5, 1, &title};
    const values none = {STR_NONE, INT64_MIN, NAN, INT64_MIN, NULL};
    assert_int_equal(table_put_row(t, &all, sizeof all, NULL), OK);
    assert_int_equal(table_put_row(t, &none, sizeof none, NULL), OK);
    for (uint32_t col = 0; col < 5; col++) {
        assert_false(table_is_null(t, 0, col));
        assert_true(table_is_null(t, 1, col));
    }
    assert_true(str_eq(t->columns[0].v.s[0], STR("a")));
    assert_int_equal(t->columns[1].v.i[0], 0);
    assert_true(t->columns[2].v.d[0] == 0.5);
    assert_int_equal(t->columns[3].v.i[0], 1);
    assert_ptr_equal(t->columns[4].v.sentence[0], &title);
}

static void room_made_at_once_is_not_moved(void **state) {
    table *t = table_new(*state, "t", SPEC, 3);
    assert_int_equal(table_reserve(t, 1000, NULL), OK);
    const str *names = t->columns[0].v.s;
    for (int i = 0; i < 1000; i++) add(t, "x", i, 0.5);
    assert_ptr_equal(t->columns[0].v.s, names);
    assert_int_equal(table_reserve(t, 10, NULL), OK); /* there is more than that */
    add(t, "y", 1000, 0.5);
    assert_int_equal(t->n_rows, 1001);
    assert_int_equal(t->columns[1].v.i[999], 999);
    assert_int_equal(t->columns[1].v.i[1000], 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_row_of_values_is_null_where_they_are_absent, make,
                                        unmake),
        cmocka_unit_test_setup_teardown(room_made_at_once_is_not_moved, make, unmake),
        cmocka_unit_test_setup_teardown(a_new_row_is_null_everywhere, make, unmake),
        cmocka_unit_test_setup_teardown(rows_of_a_key_can_be_dropped, make, unmake),
        cmocka_unit_test_setup_teardown(rows_survive_growth, make, unmake),
        cmocka_unit_test_setup_teardown(sorting_breaks_ties_from_the_left, make, unmake),
        cmocka_unit_test_setup_teardown(nulls_come_last_in_both_directions, make, unmake),
        cmocka_unit_test_setup_teardown(searching_ignores_case_and_counts_what_is_left, make,
                                        unmake),
        cmocka_unit_test_setup_teardown(a_limit_keeps_the_total, make, unmake),
        cmocka_unit_test_setup_teardown(dropping_a_column_keeps_the_others, make, unmake),
        cmocka_unit_test_setup_teardown(sentences_are_kept_by_reference_and_sort_with_their_row,
                                        make, unmake),
        cmocka_unit_test(severities_have_names),
        cmocka_unit_test_setup_teardown(when_memory_ends_the_rows_stay, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
