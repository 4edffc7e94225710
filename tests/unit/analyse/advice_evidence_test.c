/* advice_evidence_test.c: an advice as text and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyse/advise/advice_evidence.h"

static advice_evidence read_back(arena *a, str text) {
    advice_evidence e;
    assert_int_equal(evidence_read(text, a, &e, NULL), OK);
    return e;
}

static void everything_comes_back(void **state) {
    arena a;
    buf text = {0};
    advice_evidence e = {.name = STR("aten::mm"),
                         .from = 12,
                         .to = ABSENT_I64,
                         .step = 7,
                         .dialect = FOR_PADDLE,
                         .words = {.severity = SEVERITY_CRITICAL,
                                   .n_args = 5,
                                   .args = {arg_time("time", 1500), arg_share("share", 0.3125),
                                            arg_text("kernel", STR("a\x1f"
                                                                   "b")),
                                            arg_int("count", -3), arg_id("step", 12345)}}};
    arena_init(&a, 0);
    evidence_write(&text, &e);
    advice_evidence r = read_back(&a, buf_str(&text));
    assert_true(str_eq(r.name, STR("aten::mm")));
    assert_int_equal(r.from, 12);
    assert_true(r.to == ABSENT_I64 && r.dialect == FOR_PADDLE);
    assert_int_equal(r.step, 7);
    assert_int_equal(r.words.severity, SEVERITY_CRITICAL);
    assert_int_equal(r.words.n_args, 5);
    assert_string_equal(r.words.args[0].name, "time");
    assert_int_equal(r.words.args[0].type, ARG_TIME);
    assert_int_equal(r.words.args[0].u.i, 1500);
    assert_true(r.words.args[1].u.d == 0.3125);
    assert_true(str_eq(r.words.args[2].u.text, STR("a b"))); /* no separator inside a text */
    assert_int_equal(r.words.args[3].u.i, -3);
    assert_int_equal(r.words.args[4].type, ARG_PLAIN);
    assert_int_equal(r.words.args[4].u.i, 12345);
    buf_fini(&text);
    arena_fini(&a);
}

static void a_text_from_elsewhere_loses_only_what_is_wrong_with_it(void **state) {
    arena a;
    arena_init(&a, 0);
    advice_evidence e = read_back(&a, STR(""));
    assert_int_equal(e.words.n_args, 0);
    assert_int_equal(e.words.severity, SEVERITY_INFO);
    assert_true(e.from == ABSENT_I64 && e.step == ABSENT_I64 && e.name.n == 0);
    e = read_back(&a, STR("99\x1fx\x1f\x1f\x1f\x1fn\x1e\x1f"
                          "1\x1f"
                          "5\x1e"
                          "a\x1f"
                          "9\x1f"
                          "5\x1e"
                          "b\x1f"
                          "1\x1fx\x1e"
                          "c\x1f"
                          "4\x1f"
                          "6"));
    assert_int_equal(e.words.severity, SEVERITY_INFO);
    assert_true(str_eq(e.name, STR("n")));
    assert_int_equal(e.words.n_args, 1);
    assert_string_equal(e.words.args[0].name, "c");
    /* More values than a sentence has. */
    buf many = {0};
    for (int i = 0; i < 20; i++)
        buf_add_cstr(&many, "\x1e"
                            "v\x1f"
                            "1\x1f"
                            "5");
    e = read_back(&a, buf_str(&many));
    assert_int_equal(e.words.n_args, MAX_ARGS);
    buf_fini(&many);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(a_text_from_elsewhere_loses_only_what_is_wrong_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
