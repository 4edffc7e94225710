/* filter_test.c: which rows a line of text keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "table/filter.h"

static const column_spec SPEC[] = {
    {"name", TYPE_TEXT, UNIT_NONE, 0},   {"op", TYPE_TEXT, UNIT_NONE, 0},
    {"calls", TYPE_INT, UNIT_COUNT, 0},  {"total", TYPE_INT, UNIT_NS, 0},
    {"mean", TYPE_INT, UNIT_NS, 0},      {"bytes", TYPE_INT, UNIT_BYTES, 0},
    {"share", TYPE_REAL, UNIT_SHARE, 0}, {"tensor_core", TYPE_BOOL, UNIT_NONE, 0},
    {"step", TYPE_INT, UNIT_NONE, 0}};

static const struct {
    const char *name, *op;
    int64_t calls, total, mean, bytes;
    double share;
    int64_t tensor_core, step;
} ROWS[] = {
    {"sm90_gemm_bf16", "aten::mm", 10, 9000000, 900000, 4000000, 0.6, 1, 1},
    {"implicit_convolve<float>", "aten::convolution", 5, 5000000, 1000000, 2000000, 0.3, 0, 2},
    {"elementwise_kernel", "aten::add", 100, 900000, 9000, 1000, 0.1, 0, 3},
};

static table *make(arena *a) {
    table *t = table_new(a, "kernels", SPEC, sizeof SPEC / sizeof *SPEC);
    for (size_t i = 0; i < 3; i++) {
        size_t row;
        assert_int_equal(table_add_row(t, &row, NULL), OK);
        table_set_text(t, row, 0, str_of(ROWS[i].name));
        table_set_text(t, row, 1, str_of(ROWS[i].op));
        table_set_int(t, row, 2, ROWS[i].calls);
        table_set_int(t, row, 3, ROWS[i].total);
        if (i != 2) table_set_int(t, row, 4, ROWS[i].mean);
        table_set_int(t, row, 5, ROWS[i].bytes);
        table_set_real(t, row, 6, ROWS[i].share);
        table_set_int(t, row, 7, ROWS[i].tensor_core);
        table_set_int(t, row, 8, ROWS[i].step);
    }
    t->total_rows = t->n_rows;
    t->columns[3].rank = 1;
    return t;
}

/* The steps of the rows kept, in their order: "12". */
static void expect_sorted(const char *text, uint32_t sorted_by, const char *wanted) {
    arena a;
    arena_init(&a, 0);
    table *t = make(&a);
    char got[8] = "";
    filter_question q = {
        .text = str_of(text), .sorted_by = sorted_by, .ranked = sorted_by == UINT32_MAX};
    assert_int_equal(table_filter(t, &q, NULL), OK);
    for (size_t i = 0; i < t->n_rows; i++) got[i] = (char)('0' + t->columns[8].v.i[i]);
    assert_string_equal(got, wanted);
    assert_int_equal(t->total_rows, t->n_rows);
    arena_fini(&a);
}

static void expect(const char *text, const char *wanted) {
    expect_sorted(text, UINT32_MAX, wanted);
}

static void words_fit_any_text_of_the_row(void **state) {
    expect("", "123");
    expect("  ", "123");
    expect("gemm", "1");
    expect("ATEN", "132"); /* the shorter text fits better */
    expect("aten gemm", "1");
    expect("cnvl", "2"); /* letters in order */
    expect("nothing_like_it", "");
}

static void the_best_fit_comes_first(void **state) {
    expect("mm", "1");
    expect("conv", "2");
    expect("el", "32"); /* as it is, then letters */
    expect_sorted("el", 2, "23");
}

static void quotes_and_minus_take_text_as_it_is(void **state) {
    expect("\"cnvl\"", "");
    expect("\"convolve<\"", "2");
    expect("-gemm", "23");
    expect("aten -gemm -elementwise", "2");
    expect("-cnvl", "123");
    expect("-\"aten::mm\"", "23");
}

static void a_column_can_be_named(void **state) {
    expect("op:add", "3");
    expect("name:add", "");
    expect("-op:add", "12");
    expect("op:\"aten::mm\"", "1");
    expect("op=\"aten::mm\"", "1");
    expect("op=\"aten::m\"", ""); /* all of it */
    expect("-op=\"aten::mm\"", "23");
    expect("aten::mm", "1"); /* no column aten */
    expect("tensor_core:yes", "1");
    expect("tensor_core:no", "23");
    expect("-tensor_core:no", "1");
}

static void conditions_are_about_numbers(void **state) {
    expect("total>5ms", "1");
    expect("total>=5ms", "12");
    expect("total:<5ms", "3");
    expect("calls>9", "13");
    expect("share>20%", "12");
    expect("share<0.2", "3");
    expect("bytes>1MB", "12");
    expect("step:2", "2");
    expect("step=2", "2");
    expect("-step:2", "13");
    expect("mean<1s", "12"); /* null fits no condition */
    expect("total>1ms aten -gemm", "2");
}

static void a_bare_condition_is_about_the_column_with_its_unit(void **state) {
    expect(">5ms", "1");             /* total: the most important time */
    expect_sorted(">950us", 4, "2"); /* mean: what it is sorted by */
    expect_sorted(">5ms", 2, "1");   /* calls are not a time */
    expect(">1MB", "12");
    expect(">20%", "12");
    expect(">50", "3");
    expect("<float>", "2"); /* no number: a word */
}

static void too_many_words_are_an_error(void **state) {
    arena a;
    buf text = {0};
    error err;
    arena_init(&a, 0);
    for (int i = 0; i <= FILTER_WORDS; i++) buf_add_cstr(&text, "a ");
    filter_question q = {.text = buf_str(&text), .sorted_by = UINT32_MAX};
    assert_int_equal(table_filter(make(&a), &q, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_SEARCH_WORDS);
    buf_fini(&text);
    arena_fini(&a);
}

static void a_filter_stays_in_the_memory_of_its_table(void **state) {
    arena a;
    arena_init(&a, 256 << 10);
    table *t = make(&a);
    size_t row;
    while (table_add_row(t, &row, NULL) == OK) table_set_text(t, row, 0, STR("gemm"));
    while (arena_alloc(&a, 1024)) {}
    filter_question q = {.text = STR("gemm"), .sorted_by = UINT32_MAX};
    assert_int_equal(table_filter(t, &q, NULL), ERR_MEMORY);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_fit_any_text_of_the_row),
        cmocka_unit_test(the_best_fit_comes_first),
        cmocka_unit_test(quotes_and_minus_take_text_as_it_is),
        cmocka_unit_test(a_column_can_be_named),
        cmocka_unit_test(conditions_are_about_numbers),
        cmocka_unit_test(a_bare_condition_is_about_the_column_with_its_unit),
        cmocka_unit_test(too_many_words_are_an_error),
        cmocka_unit_test(a_filter_stays_in_the_memory_of_its_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
