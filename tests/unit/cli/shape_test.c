/* shape_test.c: which tables and rows are left, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/shape.h"

static const column_spec OPS[] = {{"name", TYPE_TEXT, UNIT_NONE, 0},
                                  {"calls", TYPE_INT, UNIT_COUNT, 0}};
static const column_spec SUMS[] = {{"calls", TYPE_INT, UNIT_COUNT, 0}};

static void add_op(table *t, const char *name, int64_t calls) {
    size_t row;
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, str_of(name));
    table_set_int(t, row, 1, calls);
}

static answer make_answer(arena *a) {
    size_t row;
    answer x = {.analysis = "test", .n_tables = 2};
    x.source.path = STR("/home/somebody/a.json");
    x.source.start_unix_ns = 5;
    x.tables[0] = table_new(a, "ops", OPS, 2);
    add_op(x.tables[0], "b", 1);
    add_op(x.tables[0], "a", 2);
    add_op(x.tables[0], "ab", 3);
    x.tables[1] = table_new(a, "sums", SUMS, 1);
    assert_int_equal(table_add_row(x.tables[1], &row, NULL), OK);
    table_set_int(x.tables[1], row, 0, 6);
    return x;
}

static str first(const answer *x) {
    return x->tables[0]->columns[0].v.s[0];
}

static void without_options_nothing_changes(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    options o = {.question = {.limit = ABSENT_I64}};
    assert_int_equal(shape_answer(&x, &o, NULL), OK);
    assert_int_equal(x.n_tables, 2);
    assert_int_equal(x.tables[0]->n_rows, 3);
    assert_true(str_eq(first(&x), STR("b")));
    assert_true(x.source.path.n != 0);
    arena_fini(&a);
}

static void numbers_fall_and_texts_rise_unless_said(void **state) {
    static const struct {
        const char *sort, *first;
    } cases[] = {{"calls", "ab"}, {"calls:asc", "b"}, {"name", "a"}, {"name:desc", "b"}};
    for (size_t i = 0; i < 4; i++) {
        arena a;
        arena_init(&a, 0);
        answer x = make_answer(&a);
        options o = {.question = {.sort = str_of(cases[i].sort)}};
        assert_int_equal(shape_answer(&x, &o, NULL), OK);
        assert_true(str_eq(first(&x), str_of(cases[i].first)));
        arena_fini(&a);
    }
}

static void the_limit_comes_last(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    options o = {.question = {.sort = STR("calls:desc"), .search = STR("A"), .limit = 1}};
    assert_int_equal(shape_answer(&x, &o, NULL), OK);
    assert_int_equal(x.tables[0]->n_rows, 1);
    assert_int_equal(x.tables[0]->total_rows, 2);
    assert_true(str_eq(first(&x), STR("ab")));
    assert_int_equal(x.tables[1]->n_rows, 1); /* has no text to be searched */
    arena_fini(&a);
}

static void one_table_can_be_kept(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    options o = {.question = {.table = STR("sums")}};
    assert_int_equal(shape_answer(&x, &o, NULL), OK);
    assert_int_equal(x.n_tables, 1);
    assert_string_equal(x.tables[0]->name, "sums");
    arena_fini(&a);
}

static void assert_refused(options o, const char *sentence) {
    arena a;
    error err = {0};
    buf b = {0};
    arena_init(&a, 0);
    answer x = make_answer(&a);
    assert_int_equal(shape_answer(&x, &o, &err), ERR_ARG);
    text_error(&b, LANG_EN, &err);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, sentence);
    buf_fini(&b);
    arena_fini(&a);
}

static void a_missing_name_is_answered_with_those_that_exist(void **state) {
    assert_refused((options){.question = {.table = STR("x")}},
                   "test has no table x; available: ops, sums");
    assert_refused((options){.question = {.sort = STR("x")}},
                   "ops has no column x; available: name, calls");
    assert_refused((options){.question = {.sort = STR("calls:up")}},
                   "calls:up: must be COLUMN, COLUMN:asc, COLUMN:desc");
}

static void stable_takes_out_path_and_time(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    options o = {.stable = true};
    assert_int_equal(shape_answer(&x, &o, NULL), OK);
    assert_int_equal(x.source.path.n, 0);
    assert_int_equal(x.source.start_unix_ns, INT64_MIN);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_nothing_changes),
        cmocka_unit_test(numbers_fall_and_texts_rise_unless_said),
        cmocka_unit_test(the_limit_comes_last),
        cmocka_unit_test(one_table_can_be_kept),
        cmocka_unit_test(a_missing_name_is_answered_with_those_that_exist),
        cmocka_unit_test(stable_takes_out_path_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
