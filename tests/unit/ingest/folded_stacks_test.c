/* folded_stacks_test.c: folded stacks, from lines to a sealed trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/profiles/profiles.h"
#include "unit/ingest/read_helper.h"

static void test_a_count_is_time(void **state) {
    (void)state;
    error err;
    trace *t = read_with(ingest_folded,
                         STR("main (a.py:3);work (a.py:7) 2\nmain (a.py:9);work (a.py:8) 3\n"
                             "main (a.py:9);rest 1\n"),
                         (read_how){0}, &err);
    assert_non_null(t);
    uint32_t main = find_slice(t, "main (a.py)"), work = find_slice(t, "work (a.py)");
    assert_int_equal(t->slice.n, 4);
    assert_int_equal(t->slice.dur[main], 6 * SAMPLE_NS);
    assert_int_equal(t->slice.dur[work], 5 * SAMPLE_NS);
    assert_int_equal(t->slice.parent[work], main);
    assert_int_equal(t->slice.kind[main], KIND_PYTHON);
    trace_release(t);
}

static void test_a_line_without_a_count_is_skipped(void **state) {
    (void)state;
    error err;
    trace *t = read_with(ingest_folded, STR("a;b 1\na;b\n\na;b 0\na;b 4"), (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 2);
    assert_int_equal(t->slice.dur[find_slice(t, "b")], 5 * SAMPLE_NS);
    trace_release(t);
}

static void test_only_stacks_are_known(void **state) {
    (void)state;
    assert_true(folded_head(STR("<module> (x.py:1);f (x.py:2) 17\n"), true));
    assert_true(folded_head(STR("[idle];a 17\na;b;c 4\na;b;d"), false)); /* cut */
    assert_false(folded_head(STR("a;b;c 4\na;b;d"), true));
    assert_false(folded_head(STR("loss 4\nstep 5\n"), true));
    assert_false(folded_head(STR("int x; int y;\n"), true));
    assert_false(folded_head(STR(""), true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_count_is_time),
        cmocka_unit_test(test_a_line_without_a_count_is_skipped),
        cmocka_unit_test(test_only_stacks_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
