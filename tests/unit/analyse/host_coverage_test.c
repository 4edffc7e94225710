/* host_coverage_test.c: threads and operators that were not recorded are not pauses. */
#include "advice_case.h"

static bool has_note(const answer *out, const char *id) {
    for (uint32_t i = 0; i < out->quality.n_notes; i++)
        if (out->quality.notes[i].id && strcmp(out->quality.notes[i].id, id) == 0) return true;
    return false;
}

/* A step of 10 ms without a device: an operator, 6 ms of silence in a range, an operator. */
static void be_silent_in(advice_case *c, const char *range) {
    case_begin(c);
    case_step(c, 1, 0, 10000);
    case_host(c, KIND_OP, "aten::mm", 0, 2000);
    case_host(c, KIND_ANNOTATION, range, 2000, 6100);
    case_host(c, KIND_OP, "aten::add_", 8200, 1800);
    case_ask(c);
}

static void silence_in_the_backward_pass_is_a_missing_thread(void **state) {
    advice_case c;
    be_silent_in(&c, "## backward ##");
    assert_silent(&c, "host_pause");
    assert_silent(&c, "data_loader_unmarked");
    assert_text(str_of(c.out.verdict.id), "thread_not_recorded");
    assert_true(has_note(&c.out, "thread_not_recorded"));
    case_end(&c);
}

static void silence_elsewhere_is_a_pause(void **state) {
    advice_case c;
    be_silent_in(&c, "## save ##");
    assert_fires(&c, "host_pause", 6200 * US);
    assert_false(has_note(&c.out, "thread_not_recorded"));
    case_end(&c);
}

/* Kernels and their launches; whether operators were recorded, too. */
static void launch_with_a_gap(advice_case *c, bool with_ops) {
    case_begin(c);
    case_step(c, 1, 0, 10000);
    if (with_ops) case_host(c, KIND_OP, "aten::mm", 0, 100);
    case_kernel(c, "a", 10, 20, 1980);
    case_kernel(c, "b", 8000, 8010, 1990);
    case_ask(c);
}

static void without_operators_pauses_are_unknown(void **state) {
    advice_case c;
    launch_with_a_gap(&c, true);
    assert_true(case_row(&c, "host_pause") != SIZE_MAX);
    assert_false(has_note(&c.out, "operators_not_recorded"));
    case_end(&c);
    launch_with_a_gap(&c, false);
    assert_silent(&c, "host_pause");
    assert_true(case_row(&c, "host_late") != SIZE_MAX);
    assert_true(has_note(&c.out, "operators_not_recorded"));
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_in_the_backward_pass_is_a_missing_thread),
        cmocka_unit_test(silence_elsewhere_is_a_pause),
        cmocka_unit_test(without_operators_pauses_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
