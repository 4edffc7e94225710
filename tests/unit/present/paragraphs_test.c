/* paragraphs_test.c: tables with sentences as numbered paragraphs that fit the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_answer.h"

static const column_spec SPEC[] = {{"id", TYPE_TEXT, UNIT_NONE, 0},
                                   {"title", TYPE_TEXT, UNIT_WORDS, 0},
                                   {"more", TYPE_TEXT, UNIT_WORDS, 0},
                                   {"saves", TYPE_INT, UNIT_NS, 0},
                                   {"hidden", TYPE_TEXT, UNIT_WORDS, 0}};

static answer make_answer(arena *a) {
    answer x = {.analysis = "test", .n_tables = 1};
    table *t = x.tables[0] = table_new(a, "t", SPEC, 5);
    size_t row;
    assert_non_null(t);
    t->columns[1].rank = 1;
    t->columns[3].rank = 2;
    t->columns[0].rank = 3;
    t->columns[2].rank = 4;
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("first"));
    table_set_text(t, row, 1, STR("The title"));
    table_set_text(t, row, 2, STR("a sentence that is too long for a line"));
    table_set_int(t, row, 3, 1500000);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("second"));
    table_set_text(t, row, 1, STR("Other \033[2J"));
    return x;
}

static void assert_written(const answer *x, present_options o, const char *expected) {
    buf b = {0};
    assert_int_equal(present_table_text(x->tables[0], &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, expected);
    buf_fini(&b);
}

static void a_row_is_a_head_a_line_of_values_and_sentences(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    assert_written(&x, (present_options){.width = 30},
                   "1. The title\n"
                   "   saves 1.50 ms, id first\n"
                   "   a sentence that is too long\n"
                   "   for a line\n"
                   "2. Other \\x1b[2J\n"
                   "   id second\n"
                   "more columns with --format json: hidden\n");
    arena_fini(&a);
}

static void a_cut_table_says_so(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    table_limit(x.tables[0], 1);
    table_drop_column(x.tables[0], 4);
    assert_written(&x, (present_options){.width = 0},
                   "1. The title\n"
                   "   saves 1.50 ms, id first\n"
                   "   a sentence that is too long for a line\n"
                   "1 of 2 rows; --limit 0 shows all\n");
    arena_fini(&a);
}

static void a_table_without_rows_says_so(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = {.n_tables = 1};
    x.tables[0] = table_new(&a, "t", SPEC, 5);
    assert_written(&x, (present_options){.width = 30}, "nothing to show\n");
    arena_fini(&a);
}

static void colors_are_around_whole_lines(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = make_answer(&a);
    table_limit(x.tables[0], 1);
    present_options o = {.color = true};
    buf b = {0};
    assert_int_equal(present_table_text(x.tables[0], &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_non_null(strstr(b.p, "\033[1m1. The title\033[0m\n"));
    buf_fini(&b);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_a_head_a_line_of_values_and_sentences),
        cmocka_unit_test(a_cut_table_says_so),
        cmocka_unit_test(a_table_without_rows_says_so),
        cmocka_unit_test(colors_are_around_whole_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
