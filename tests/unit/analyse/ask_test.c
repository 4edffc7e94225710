/* ask_test.c: what is asked about must exist: steps, windows, both sides of a comparison. */
#include "built_trace.h"

#include "analyse/ask.h"
#include "base/message_ids_advice.h"
#include "text/text.h"

/* Steps 2, 3 and 4 of 1 ms each, with an operator in each; without them when n_steps is 0. */
static void fill(built *x, int n_steps) {
    char name[32];
    built_init(x);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "ProfilerStep#%d", i + 2);
        if (i < n_steps) built_slice(x, 1, KIND_STEP, name, 1000000 * i, 1000000);
        built_slice(x, 1, KIND_OP, "op", 1000000 * i + 1000, 998000);
    }
    built_seal(x);
}

static params steps_of(int64_t first, int64_t last) {
    params p = PARAMS_WHOLE;
    p.first_step = first;
    p.last_step = last;
    return p;
}

static void assert_sentence(const error *err, const char *sentence) {
    buf b = {0};
    text_error(&b, LANG_EN, err);
    if (!str_eq(buf_str(&b), str_of(sentence))) fail_msg("%.*s", STR_ARG(buf_str(&b)));
    buf_fini(&b);
}

static void assert_refused(const analysis_input *in, params p, const char *sentence) {
    error err = {0};
    assert_int_equal(part_check(in, &p, &err), ERR_ARG);
    assert_sentence(&err, sentence);
}

static void a_step_that_does_not_exist_is_refused_with_those_that_do(void **state) {
    built x;
    fill(&x, 3);
    analysis_input in = {.traces = &x.at, .n_traces = 1};
    params all = PARAMS_WHOLE, some = steps_of(3, 99);
    assert_int_equal(part_check(&in, &all, NULL), OK);
    assert_int_equal(part_check(&in, &some, NULL), OK);
    assert_refused(&in, steps_of(99, 99), "the trace has no step 99; it has steps 2 to 4");
    assert_refused(&in, steps_of(-1, -1), "the trace has no step -1; it has steps 2 to 4");
    assert_refused(&in, steps_of(7, 9), "the trace has no step 7..9; it has steps 2 to 4");
    assert_refused(&in, steps_of(7, OPEN_END),
                   "the trace has no step 7..; it has steps 2 to 4");
    built_fini(&x);
    fill(&x, 1);
    assert_refused(&in, steps_of(99, 99), "the trace has no step 99; it has step 2");
    built_fini(&x);
}

static void a_window_after_the_end_is_refused_with_the_length(void **state) {
    built x;
    fill(&x, 3);
    analysis_input in = {.traces = &x.at, .n_traces = 1};
    params p = PARAMS_WHOLE;
    p.from_ns = 3000000;
    assert_refused(&in, p,
                   "the trace is only 3.00 ms long: nothing was recorded after 3.00 ms");
    p.from_ns = 2999999;
    p.to_ns = 9000000;
    assert_int_equal(part_check(&in, &p, NULL), OK);
    built_fini(&x);
}

static void both_sides_of_a_comparison_are_checked(void **state) {
    static const param_info OTHER = {"diff", "other_step", VALUE_TEXT, "", "A..B", 0};
    static const spelling as = {STR("@"), ""};
    built x, y;
    fill(&x, 3);
    fill(&y, 3);
    x.at.path = STR("x.json");
    y.at.path = STR("y.json");
    analysis_input b = {.traces = &y.at, .n_traces = 1};
    analysis_input in = {.traces = &x.at, .n_traces = 1, .against = &b};
    params p = steps_of(3, 3);
    assert_int_equal(part_check(&in, &p, NULL), OK);
    assert_refused(&in, steps_of(9, 9), "x.json: the trace has no step 9; it has steps 2 to 4");
    assert_int_equal(params_add(&p, &OTHER, &as, STR("9"), NULL), OK);
    assert_refused(&in, p, "y.json: the trace has no step 9; it has steps 2 to 4");
    p = steps_of(3, 3);
    assert_int_equal(params_add(&p, &OTHER, &as, STR("all"), NULL), OK);
    assert_int_equal(part_check(&in, &p, NULL), OK);
    built_fini(&x);
    built_fini(&y);
}

static uint32_t count_notes(const answer *a, const char *id) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->quality.n_notes; i++)
        n += strcmp(a->quality.notes[i].id, id) == 0;
    return n;
}

static void a_part_that_exists_is_answered_with_a_note(void **state) {
    built x;
    arena memory;
    answer a;
    fill(&x, 3);
    arena_init(&memory, 0);
    analysis_input in = {.traces = &x.at, .n_traces = 1};
    const analysis_info *is = registry_find(STR("operators"));
    params p = steps_of(3, 99);
    assert_int_equal(analysis_ask(is, &in, &p, &memory, &a, NULL), OK);
    assert_int_equal(count_notes(&a, "steps_partly"), 1);
    p = steps_of(0, 3); /* ..3 */
    assert_int_equal(analysis_ask(is, &in, &p, &memory, &a, NULL), OK);
    assert_int_equal(count_notes(&a, "steps_partly"), 0);
    p = (params)PARAMS_WHOLE;
    p.to_ns = 5000000;
    assert_int_equal(analysis_ask(is, &in, &p, &memory, &a, NULL), OK);
    assert_int_equal(count_notes(&a, "window_partly"), 1);
    p = steps_of(99, 99);
    assert_int_equal(analysis_ask(is, &in, &p, &memory, &a, NULL), ERR_ARG);
    arena_fini(&memory);
    built_fini(&x);
}

static void a_part_is_not_recorded_only_when_the_whole_is_not(void **state) {
    built x;
    arena memory;
    answer a;
    fill(&x, 3);
    arena_init(&memory, 0);
    analysis_input in = {.traces = &x.at, .n_traces = 1};
    params p = PARAMS_WHOLE;
    p.from_ns = 999500; /* between two operators */
    p.to_ns = 1000500;
    assert_int_equal(analysis_ask(registry_find(STR("operators")), &in, &p, &memory, &a, NULL),
                     OK);
    assert_string_equal(a.verdict.id, "operators_not_recorded");
    assert_int_equal(a.verdict.message, MSG_VERDICT_NOT_IN_PART);
    assert_string_equal(a.part.id, "part");
    assert_int_equal(analysis_ask(registry_find(STR("kernels")), &in, &p, &memory, &a, NULL),
                     OK);
    assert_string_equal(a.verdict.id, "kernels_not_recorded");
    assert_int_not_equal(a.verdict.message, MSG_VERDICT_NOT_IN_PART);
    p = (params)PARAMS_WHOLE;
    assert_int_equal(analysis_ask(registry_find(STR("kernels")), &in, &p, &memory, &a, NULL),
                     OK);
    assert_null(a.part.id);
    arena_fini(&memory);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_does_not_exist_is_refused_with_those_that_do),
        cmocka_unit_test(a_window_after_the_end_is_refused_with_the_length),
        cmocka_unit_test(both_sides_of_a_comparison_are_checked),
        cmocka_unit_test(a_part_that_exists_is_answered_with_a_note),
        cmocka_unit_test(a_part_is_not_recorded_only_when_the_whole_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
