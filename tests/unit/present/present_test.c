/* present_test.c: forms by name, long answers in pieces, no memory is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fault.h"
#include "sample_answer.h"

static void forms_are_found_by_name(void **state) {
    form f = FORM_TEXT;
    for (int i = 0; i < N_FORMS; i++) {
        assert_true(form_of(str_of(form_name((form)i)), &f));
        assert_int_equal(f, i);
        assert_non_null(strchr(form_media_type((form)i), '/'));
    }
    assert_false(form_of(STR("xml"), &f));
}

typedef struct {
    buf all;
    int pieces;
    int fail_at; /* 0 = never */
} sink;

static status take(void *to, buf *b, error *err) {
    sink *s = to;
    s->pieces++;
    if (s->pieces == s->fail_at) FAIL0(err, ERR_IO, NOPOS, MSG_NONE);
    buf_add_str(&s->all, buf_str(b));
    buf_clear(b);
    return OK;
}

static answer long_answer(arena *a) {
    static const column_spec spec[] = {{"n", TYPE_INT, UNIT_COUNT, 0},
                                       {"text", TYPE_TEXT, UNIT_NONE, 0}};
    answer x = {.analysis = "long", .n_tables = 1};
    x.tables[0] = table_new(a, "t", spec, 2);
    for (int i = 0; i < 20000; i++) {
        size_t row;
        assert_int_equal(table_add_row(x.tables[0], &row, NULL), OK);
        table_set_int(x.tables[0], row, 0, i);
        table_set_text(x.tables[0], row, 1, STR("some text"));
    }
    return x;
}

static void a_long_answer_comes_in_pieces_that_make_the_whole(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = long_answer(&a);
    for (int f = 0; f < N_FORMS; f++) {
        sink s = {.pieces = 0};
        buf whole = {0}, b = {0};
        present_options all = {.lang = LANG_EN};
        present_options pieces = {.lang = LANG_EN, .flush = take, .to = &s};
        assert_int_equal(present_answer((form)f, &x, &all, &whole, NULL), OK);
        assert_int_equal(present_answer((form)f, &x, &pieces, &b, NULL), OK);
        assert_true(s.pieces > 2);
        assert_true(b.cap < whole.n);
        assert_true(str_eq(buf_str(&whole), buf_str(&s.all)));
        buf_fini(&whole);
        buf_fini(&b);
        buf_fini(&s.all);
    }
    arena_fini(&a);
}

static void a_failed_flush_ends_the_writing(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = long_answer(&a);
    for (int f = 0; f < N_FORMS; f++) {
        sink s = {.fail_at = 2};
        buf b = {0};
        present_options o = {.lang = LANG_EN, .flush = take, .to = &s};
        assert_int_equal(present_answer((form)f, &x, &o, &b, NULL), ERR_IO);
        assert_int_equal(s.pieces, 2);
        buf_fini(&b);
        buf_fini(&s.all);
    }
    arena_fini(&a);
}

static void no_memory_is_said_for_every_allocation(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = sample_answer(&a);
    present_options o = {.lang = LANG_EN, .width = 80};
    for (int f = 0; f < N_FORMS; f++) {
        uint64_t nth = 1;
        for (status s = ERR_MEMORY; s != OK; nth++) {
            buf b = {0};
            fault_arm(FAULT_ALLOC, nth);
            s = present_answer((form)f, &x, &o, &b, NULL);
            fault_arm(FAULT_ALLOC, 0);
            assert_true(s == OK || s == ERR_MEMORY);
            buf_fini(&b);
            assert_true(nth < 500);
        }
        assert_true(nth > 2);
    }
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_found_by_name),
        cmocka_unit_test(a_long_answer_comes_in_pieces_that_make_the_whole),
        cmocka_unit_test(a_failed_flush_ends_the_writing),
        cmocka_unit_test(no_memory_is_said_for_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
