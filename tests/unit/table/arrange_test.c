/* arrange_test.c: tables and rows of an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "table/arrange.h"

static const column_spec OPS[] = {{"name", TYPE_TEXT, UNIT_NONE, 0},
                                  {"calls", TYPE_INT, UNIT_COUNT, 0},
                                  {"share", TYPE_REAL, UNIT_SHARE, 0}};

static answer make_answer(arena *a) {
    static const char *const names[] = {"b", "a", "ab", "c"};
    answer x = {.analysis = "test", .n_tables = 2};
    x.tables[0] = table_new(a, "ops", OPS, 3);
    for (int i = 0; i < 4; i++) {
        size_t row;
        assert_int_equal(table_add_row(x.tables[0], &row, NULL), OK);
        table_set_text(x.tables[0], row, 0, str_of(names[i]));
        table_set_int(x.tables[0], row, 1, i);
        if (i != 2) table_set_real(x.tables[0], row, 2, i * 0.5);
    }
    x.tables[0]->total_rows = 4;
    x.tables[1] = table_new(a, "empty", OPS, 1);
    return x;
}

static void offset_and_limit_cut_the_sorted_rows(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    arrangement how = {.sort = STR("calls"), .offset = 1, .limit = 2};
    assert_int_equal(arrange_answer(&x, &how, NULL), OK);
    table *t = x.tables[0];
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(t->total_rows, 4);
    assert_int_equal(t->columns[1].v.i[0], 2);
    assert_int_equal(t->columns[1].v.i[1], 1);
    assert_true(str_eq(t->columns[0].v.s[0], STR("ab")));
    assert_true(table_is_null(t, 0, 2));
    assert_false(table_is_null(t, 1, 2));
    assert_true(t->columns[2].v.d[1] == 0.5);
    arena_fini(&a);
}

/* b a ab c with calls 0 1 2 3, shares 0, .5, null, 1.5. */
static void further_columns_decide_between_equal_rows(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    table *t = x.tables[0];
    for (size_t i = 0; i < 4; i++) table_set_int(t, i, 1, i < 2 ? 7 : 9);
    assert_int_equal(
        arrange_answer(&x, &(arrangement){.sort = STR("calls:asc,name:desc")}, NULL), OK);
    static const char *const wanted[] = {"b", "a", "c", "ab"};
    for (size_t i = 0; i < 4; i++) assert_true(str_eq(t->columns[0].v.s[i], str_of(wanted[i])));
    error err;
    assert_int_equal(arrange_answer(&x, &(arrangement){.sort = STR("calls,nothing")}, &err),
                     ERR_ARG);
    assert_int_equal(err.message, MSG_CLI_NO_COLUMN);
    assert_int_equal(arrange_answer(&x, &(arrangement){.sort = STR("calls,name:up")}, &err),
                     ERR_ARG);
    arena_fini(&a);
}

static void a_search_counts_what_it_found(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    assert_int_equal(arrange_answer(&x, &(arrangement){.sort = STR("calls")}, NULL), OK);
    assert_null(x.match.id);
    arrangement how = {.search = STR("a"), .limit = 1};
    assert_int_equal(arrange_answer(&x, &how, NULL), OK);
    assert_string_equal(x.match.id, "match");
    assert_int_equal(x.match.args[0].u.i, 2); /* before the limit */
    assert_int_equal(x.match.args[1].u.i, 4);
    assert_true(str_eq(x.match.args[2].u.text, STR("a")));
    arena_fini(&a);
}

static void a_filter_ranks_unless_sorted(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    assert_int_equal(arrange_answer(&x, &(arrangement){.filter = STR("b"), .limit = 1}, NULL),
                     OK);
    assert_true(str_eq(x.tables[0]->columns[0].v.s[0], STR("b")));
    assert_int_equal(x.tables[0]->total_rows, 2);
    x = make_answer(&a);
    arrangement how = {.filter = STR("b >0"), .sort = STR("calls")};
    assert_int_equal(arrange_answer(&x, &how, NULL), OK);
    assert_int_equal(x.tables[0]->n_rows, 1);
    assert_true(str_eq(x.tables[0]->columns[0].v.s[0], STR("ab")));
    arena_fini(&a);
}

static void an_offset_after_the_end_leaves_nothing(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    assert_int_equal(arrange_answer(&x, &(arrangement){.offset = 100}, NULL), OK);
    assert_int_equal(x.tables[0]->n_rows, 0);
    assert_int_equal(x.tables[0]->total_rows, 4);
    arena_fini(&a);
}

static void one_table_is_kept_and_searched(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    arrangement how = {.table = STR("ops"), .search = STR("A")};
    assert_int_equal(arrange_answer(&x, &how, NULL), OK);
    assert_int_equal(x.n_tables, 1);
    assert_int_equal(x.tables[0]->n_rows, 2);
    arena_fini(&a);
}

static void several_tables_are_kept_in_the_order_asked_for(void **state) {
    arena a;
    error err;
    arena_init(&a, 0);
    answer x = make_answer(&a), y = x;
    assert_int_equal(arrange_answer(&x, &(arrangement){.table = STR("empty,ops,empty")}, NULL),
                     OK);
    assert_int_equal(x.n_tables, 2);
    assert_string_equal(x.tables[0]->name, "empty");
    assert_string_equal(x.tables[1]->name, "ops");
    assert_int_equal(arrange_answer(&y, &(arrangement){.table = STR("ops,no")}, &err), ERR_ARG);
    arena_fini(&a);
}

static void what_does_not_exist_is_refused(void **state) {
    arena a;
    error err;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    assert_int_equal(arrange_answer(&x, &(arrangement){.table = STR("no")}, &err), ERR_ARG);
    assert_int_equal(arrange_answer(&x, &(arrangement){.sort = STR("no")}, &err), ERR_ARG);
    assert_int_equal(arrange_sort(&x, STR("calls:up"), &err), ERR_ARG);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offset_and_limit_cut_the_sorted_rows),
        cmocka_unit_test(further_columns_decide_between_equal_rows),
        cmocka_unit_test(a_search_counts_what_it_found),
        cmocka_unit_test(a_filter_ranks_unless_sorted),
        cmocka_unit_test(an_offset_after_the_end_leaves_nothing),
        cmocka_unit_test(one_table_is_kept_and_searched),
        cmocka_unit_test(several_tables_are_kept_in_the_order_asked_for),
        cmocka_unit_test(what_does_not_exist_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
