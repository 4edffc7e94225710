/* present_test.c: forms by name, long answers in pieces, no memory is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/message_ids_cli.h"
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

static void no_memory_is_reported_for_every_allocation(void **state) {
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

static const verdict SENTENCE = {.id = "x",
                                 .message = MSG_TEXT_EVENTS_READ,
                                 .n_args = 2,
                                 .args = {{.name = "count", .type = ARG_INT, .u.i = 1234},
                                          {.name = "share", .type = ARG_SHARE, .u.d = 0.5}}};

static answer answer_with_sentences(arena *a) {
    static const column_spec spec[] = {{"words", TYPE_SENTENCE, UNIT_WORDS, 0},
                                       {"values", TYPE_VALUES, UNIT_JSON, 0}};
    answer x = {.analysis = "words", .n_tables = 1};
    size_t row;
    x.tables[0] = table_new(a, "t", spec, 2);
    assert_int_equal(table_add_row(x.tables[0], &row, NULL), OK);
    table_set_sentence(x.tables[0], row, 0, &SENTENCE);
    table_set_sentence(x.tables[0], row, 1, &SENTENCE);
    assert_int_equal(table_add_row(x.tables[0], &row, NULL), OK);
    return x;
}

static void sentences_become_words_of_the_language(void **state) {
    arena a;
    arena_init(&a, 0);
    answer en = answer_with_sentences(&a), zh = answer_with_sentences(&a);
    assert_int_equal(present_resolve(&en, LANG_EN, NULL), OK);
    assert_int_equal(present_resolve(&zh, LANG_ZH, NULL), OK);
    assert_string_equal(en.tables[0]->columns[0].v.s[0].p, "1,234 events read");
    assert_string_equal(zh.tables[0]->columns[0].v.s[0].p, "读取了 1,234 个事件");
    assert_string_equal(en.tables[0]->columns[1].v.s[0].p, "{\"count\":1234,\"share\":0.5}");
    assert_true(table_is_null(en.tables[0], 1, 0));
    assert_int_equal(en.tables[0]->columns[0].type, TYPE_TEXT);
    arena_fini(&a);
}

static void values_are_an_object_in_json_and_text_elsewhere(void **state) {
    arena a;
    arena_init(&a, 0);
    answer x = answer_with_sentences(&a);
    present_options o = {.lang = LANG_EN};
    assert_int_equal(present_resolve(&x, LANG_EN, NULL), OK);
    const char *json = sample_written(&a, FORM_JSON, &x, &o);
    assert_non_null(strstr(json, "{\"name\":\"values\",\"type\":\"object\"}"));
    assert_non_null(strstr(json, "[\"1,234 events read\",{\"count\":1234,\"share\":0.5}]"));
    assert_non_null(strstr(json, "[null,null]"));
    const char *csv = sample_written(&a, FORM_CSV, &x, &o);
    assert_non_null(strstr(csv, "\"1,234 events read\",\"{\"\"count\"\":1234"));
    arena_fini(&a);
}

static void resolving_without_memory_is_an_error(void **state) {
    uint64_t nth = 1;
    for (status s = ERR_MEMORY; s != OK; nth++) {
        arena a;
        arena_init(&a, 0);
        answer x = answer_with_sentences(&a);
        fault_arm(FAULT_ALLOC, nth);
        s = present_resolve(&x, LANG_EN, NULL);
        fault_arm(FAULT_ALLOC, 0);
        assert_true(s == OK || s == ERR_MEMORY);
        arena_fini(&a);
        assert_true(nth < 100);
    }
    assert_true(nth > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_found_by_name),
        cmocka_unit_test(a_long_answer_comes_in_pieces_that_make_the_whole),
        cmocka_unit_test(a_failed_flush_ends_the_writing),
        cmocka_unit_test(no_memory_is_reported_for_every_allocation),
        cmocka_unit_test(sentences_become_words_of_the_language),
        cmocka_unit_test(values_are_an_object_in_json_and_text_elsewhere),
        cmocka_unit_test(resolving_without_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
