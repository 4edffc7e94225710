/* text_table_test.c: a table fits, says what it leaves out, and on a terminal shows what matters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/width.h"
#include "sample_answer.h"

/* No line of the text is wider. */
static void assert_fits(const char *text, size_t width) {
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
        assert_true(width_of(str_n(text, (size_t)(end - text))) <= width);
}

static void a_table_fits_any_width_and_names_what_it_dropped(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    for (uint32_t width = 24; width < 120; width++) {
        buf b = {0};
        present_options o = {.lang = LANG_EN, .width = width};
        assert_int_equal(present_table_text(x.tables[0], &o, &b, NULL), OK);
        buf_add_byte(&b, '\0');
        char *note = strstr(b.p, "2 of 3 rows");
        assert_non_null(note);
        bool dropped = strstr(note, "terminal too narrow for: ") != NULL;
        assert_int_equal(dropped, width < 68);
        note[0] = '\0';
        assert_fits(b.p, width);
        buf_fini(&b);
    }
    arena_fini(&a);
}

static void the_columns_with_a_rank_stay_longest(void **state) {
    arena a;
    buf b = {0};
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    x.tables[0]->columns[2].rank = 1; /* share before name */
    present_options o = {.lang = LANG_EN, .width = 34};
    assert_int_equal(present_table_text(x.tables[0], &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_non_null(strstr(b.p, "name                       share\n"));
    assert_non_null(strstr(b.p, "terminal too narrow for: time, used, address\n"));
    buf_fini(&b);
    arena_fini(&a);
}

static void a_number_may_have_the_unit_of_its_row(void **state) {
    static const column_spec spec[] = {{"metric", TYPE_TEXT, UNIT_NONE, 0},
                                       {"a", TYPE_REAL, UNIT_BY_ROW, 0},
                                       {"unit", TYPE_TEXT, UNIT_NONE, 0}};
    static const char *const units[] = {"ns", "bytes", "count", "count", "ns"};
    static const double values[] = {2200000, 1500000, 12345, 2.5, (double)NAN};
    arena a;
    buf b = {0};
    size_t row;
    arena_init(&a, 0);
    table *t = table_new(&a, "t", spec, 3);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(table_add_row(t, &row, NULL), OK);
        table_set_text(t, row, 0, STR("m"));
        table_set_real(t, row, 1, values[i]);
        table_set_text(t, row, 2, str_of(units[i]));
    }
    present_options o = {.lang = LANG_EN, .width = 80};
    assert_int_equal(present_table_text(t, &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_non_null(strstr(b.p, " 2.20 ms  ns\n"));
    assert_non_null(strstr(b.p, " 1.43 MiB  bytes\n"));
    assert_non_null(strstr(b.p, " 12,345  count\n"));
    assert_non_null(strstr(b.p, " 2.50  count\n"));
    assert_non_null(strstr(b.p, " -  ns\n"));
    buf_fini(&b);
    arena_fini(&a);
}

static void a_column_that_repeats_the_first_is_only_named(void **state) {
    static const column_spec spec[] = {{"name", TYPE_TEXT, UNIT_NONE, 0},
                                       {"full_name", TYPE_TEXT, UNIT_NONE, 0}};
    arena a;
    buf b = {0};
    size_t row;
    arena_init(&a, 0);
    table *t = table_new(&a, "t", spec, 2);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("x"));
    table_set_text(t, row, 1, STR("x"));
    present_options o = {.lang = LANG_EN};
    assert_int_equal(present_table_text(t, &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "name\nx\nsame as name: full_name\n");
    buf_fini(&b);
    arena_fini(&a);
}

static void a_name_without_its_parameters_keeps_the_columns_in_line(void **state) {
    static const column_spec spec[] = {{"name", TYPE_TEXT, UNIT_NONE, 0},
                                       {"kind", TYPE_TEXT, UNIT_NONE, 0}};
    arena a;
    buf b = {0};
    size_t row;
    arena_init(&a, 0);
    table *t = table_new(&a, "t", spec, 2);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("void add<int>(float const*, float const*, float*)"));
    table_set_text(t, row, 1, STR("k"));
    present_options o = {.lang = LANG_EN, .width = 30};
    assert_int_equal(present_table_text(t, &o, &b, NULL), OK);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, "name                      kind\nadd<int>                  k\n");
    buf_fini(&b);
    arena_fini(&a);
}

/* The text of a table for this reader; valid until the arena is reset. */
static const char *written(arena *a, const table *t, present_options o) {
    buf b = {0};
    assert_int_equal(present_table_text(t, &o, &b, NULL), OK);
    str copy = arena_str(a, buf_str(&b));
    buf_fini(&b);
    assert_non_null(copy.p);
    return copy.p;
}

/* Two kernels, one of them all of the time; nothing ran on the host. */
static table *shares(arena *a) {
    static const column_spec spec[] = {{"host_self", TYPE_INT, UNIT_NS, 0},
                                       {"name", TYPE_TEXT, UNIT_NONE, 0},
                                       {"share", TYPE_REAL, UNIT_SHARE, 0},
                                       {"side", TYPE_TEXT, UNIT_NONE, 0}};
    static const double part[] = {0.5, 0.25};
    table *t = table_new(a, "kernels", spec, 4);
    size_t row;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(table_add_row(t, &row, NULL), OK);
        table_set_int(t, row, 0, 0);
        table_set_text(t, row, 1, i ? STR("矩阵") : STR("gemm"));
        table_set_real(t, row, 2, part[i]);
        table_set_text(t, row, 3, STR("device"));
    }
    t->columns[1].rank = 1;
    t->columns[2].rank = 2;
    return t;
}

static void a_terminal_gets_words_bars_and_the_important_columns_first(void **state) {
    arena a;
    arena_init(&a, 0);
    table *t = shares(&a);
    present_options o = {.width = 80, .terminal = true, .utf8 = true};
    assert_string_equal(written(&a, t, o), "name   share           host self  side\n"
                                           "gemm  50.0 % ████████       0 ns  device\n"
                                           "矩阵  25.0 % ████           0 ns  device\n");
    o.utf8 = false;
    assert_non_null(strstr(written(&a, t, o), "25.0 % ####    "));
    o.lang = LANG_ZH;
    assert_non_null(strstr(written(&a, t, o), "名称    占比"));
    arena_fini(&a);
}

static void a_pipe_gets_names_and_no_bars(void **state) {
    arena a;
    arena_init(&a, 0);
    assert_string_equal(written(&a, shares(&a), (present_options){.width = 80}),
                        "host_self  name   share  side\n"
                        "     0 ns  gemm  50.0 %  device\n"
                        "     0 ns  矩阵  25.0 %  device\n");
    arena_fini(&a);
}

static void a_screen_leaves_out_columns_that_say_nothing(void **state) {
    arena a;
    arena_init(&a, 0);
    present_options o = {.width = 80, .terminal = true, .lines = 40};
    const char *text = written(&a, shares(&a), o);
    assert_null(strstr(text, "host self"));
    assert_null(strstr(text, "side"));
    assert_non_null(strstr(text, "gemm  50.0 % ########\n"));
    arena_fini(&a);
}

static void what_says_nothing_is_dim_and_severities_have_colors(void **state) {
    static const column_spec spec[] = {{"severity", TYPE_TEXT, UNIT_NONE, 0},
                                       {"saves", TYPE_INT, UNIT_NS, 0}};
    arena a;
    size_t row;
    arena_init(&a, 0);
    table *t = table_new(&a, "advice", spec, 2);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("critical"));
    table_set_int(t, row, 1, 0);
    present_options o = {.width = 80, .terminal = true, .color = true};
    const char *text = written(&a, t, o);
    assert_non_null(strstr(text, "\033[31mcritical\033[0m"));
    assert_non_null(strstr(text, "\033[2m0 ns\033[0m"));
    arena_fini(&a);
}

static void facts_with_a_unit_in_their_name_are_read_on_a_terminal(void **state) {
    static const column_spec spec[] = {{"key", TYPE_TEXT, UNIT_NONE, 0},
                                       {"value", TYPE_TEXT, UNIT_NONE, 0}};
    arena a;
    size_t row;
    arena_init(&a, 0);
    table *t = table_new(&a, "trace", spec, 2);
    assert_int_equal(table_add_row(t, &row, NULL), OK);
    table_set_text(t, row, 0, STR("duration_ns"));
    table_set_text(t, row, 1, STR("12500000"));
    assert_non_null(strstr(written(&a, t, (present_options){.terminal = true}), "12.5 ms"));
    assert_non_null(strstr(written(&a, t, (present_options){.width = 80}), "12500000"));
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_fits_any_width_and_names_what_it_dropped),
        cmocka_unit_test(the_columns_with_a_rank_stay_longest),
        cmocka_unit_test(a_number_may_have_the_unit_of_its_row),
        cmocka_unit_test(a_column_that_repeats_the_first_is_only_named),
        cmocka_unit_test(a_name_without_its_parameters_keeps_the_columns_in_line),
        cmocka_unit_test(a_terminal_gets_words_bars_and_the_important_columns_first),
        cmocka_unit_test(a_pipe_gets_names_and_no_bars),
        cmocka_unit_test(a_screen_leaves_out_columns_that_say_nothing),
        cmocka_unit_test(what_says_nothing_is_dim_and_severities_have_colors),
        cmocka_unit_test(facts_with_a_unit_in_their_name_are_read_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
