/* advise_test.c: the answer around the rules: order, severity, words, places, notes. */
#include "advice_case.h"
#include "base/message_ids_advice.h"

/* A step that loads data for 600 µs, then launches late. */
static void make_slow(advice_case *c) {
    case_begin(c);
    case_step(c, 7, 0, 1000);
    case_host(c, KIND_DATA, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0,
              600);
    case_kernel(c, "a", 700, 710, 90);
    case_kernel(c, "b", 940, 950, 50);
    case_ask(c);
}

static void most_saving_comes_first_and_is_the_verdict(void **state) {
    advice_case c;
    make_slow(&c);
    assert_int_equal(case_row(&c, "data_loader_no_workers"), 0);
    assert_int_equal(case_row(&c, "host_late"), 1);
    assert_int_equal(fake_int(c.t, 1, "saves"),
                     249400); /* launched at once, 10 µs from host to device */
    assert_string_equal(c.out.verdict.id, "data_loader_no_workers");
    assert_int_equal(c.out.verdict.severity, SEVERITY_CRITICAL);
    for (size_t i = 1; i < c.t->n_rows; i++)
        if (!fake_null(c.t, i, "saves"))
            assert_true(fake_int(c.t, i, "saves") <= fake_int(c.t, i - 1, "saves"));
    case_end(&c);
}

static void nothing_saves_more_than_the_step(void **state) {
    advice_case c;
    make_slow(&c);
    assert_true(c.t->n_rows > 1);
    for (size_t i = 0; i < c.t->n_rows; i++)
        if (!fake_null(c.t, i, "saves"))
            assert_in_range(fake_int(c.t, i, "saves"), 0, 1000 * US);
    case_end(&c);
}

/* Sixty short kernels, each launched late: the same gaps for two rules. */
static void every_moment_is_saved_once(void **state) {
    advice_case c;
    int64_t sum = 0;
    case_begin(&c);
    case_step(&c, 1, 0, 3000);
    for (int i = 0; i < 60; i++) case_kernel(&c, "k", 50 * i + 30, 50 * i + 40, 5);
    case_ask(&c);
    assert_true(fake_null(c.t, case_row(&c, "host_late"), "included_in"));
    size_t small = case_row(&c, "small_kernels");
    assert_text(fake_text(c.t, small, "included_in"), "host_late");
    assert_true(fake_null(c.t, small, "saves")); /* nothing is left that they could save */
    for (size_t i = 0; i < c.t->n_rows; i++)
        if (!fake_null(c.t, i, "saves")) sum += fake_int(c.t, i, "saves");
    assert_in_range(sum, 0, 3000 * US);
    case_end(&c);
}

/* One copy the host waits for takes most of the step: no small kernels, no late host. */
static void time_inside_a_blocking_copy_is_the_copy_s(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 10000);
    for (int i = 0; i < 60; i++) case_kernel(&c, "k", 10 * i, 10 * i + 6, 8);
    case_host(&c, KIND_RUNTIME, "hipMemcpyWithStream", 700, 9000);
    case_kernel(&c, "k", 9705, 9712, 8);
    case_kernel(&c, "k", 9715, 9721, 279);
    case_ask(&c);
    assert_int_equal(case_row(&c, "synchronous_copies"), 0);
    for (size_t i = 1; i < c.t->n_rows; i++)
        if (!fake_null(c.t, i, "saves"))
            assert_in_range(fake_int(c.t, i, "saves"), 0, 500 * US);
    case_end(&c);
}

static void a_graph_replay_is_not_advised_to_use_graphs(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 3000);
    int call = case_host(&c, KIND_RUNTIME, "cudaGraphLaunch", 1000, 20);
    for (int i = 0; i < 60; i++)
        fake_work(&c.f, c.gpu, KIND_KERNEL, "k", (1030 + 30 * i) * US, 5 * US, call);
    case_ask(&c);
    for (size_t i = 0; i < c.t->n_rows; i++) {
        assert_false(str_eq(fake_text(c.t, i, "id"), STR("small_kernels")));
        if (str_eq(fake_text(c.t, i, "id"), STR("host_late")))
            assert_int_equal(
                c.t->columns[fake_column(c.t, "suggestion")].v.sentence[i]->message,
                MSG_ADVICE_HOST_LATE_REPLAY_SUGGEST);
    }
    case_end(&c);
}

static void advice_without_an_estimate_comes_last(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_OVERHEAD, "overhead", 0, 300);
    case_host(&c, KIND_DATA, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 300,
              60);
    case_ask(&c);
    assert_int_equal(c.t->n_rows, 2);
    assert_int_equal(case_row(&c, "profiler_overhead"), 1);
    assert_true(fake_null(c.t, 1, "share"));
    case_end(&c);
}

static void severity_follows_from_the_share_of_the_step(void **state) {
    advice_case c;
    make_slow(&c);
    assert_text(fake_text(c.t, 0, "severity"), "critical");
    assert_near(fake_real(c.t, 0, "share"), 0.6);
    case_end(&c);
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_DATA, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0,
              100);
    case_ask(&c);
    assert_text(fake_text(c.t, 0, "severity"), "warning");
    case_end(&c);
}

static void every_row_has_four_sentences_and_their_values(void **state) {
    static const char *const columns[] = {"title", "evidence", "suggestion", "basis", "values"};
    advice_case c;
    make_slow(&c);
    for (size_t row = 0; row < c.t->n_rows; row++)
        for (size_t i = 0; i < 5; i++) {
            uint32_t col = fake_column(c.t, columns[i]);
            assert_false(table_is_null(c.t, row, col));
            assert_true(c.t->columns[col].v.sentence[row]->message != MSG_NONE);
        }
    case_end(&c);
}

static void places_are_offsets_with_their_step(void **state) {
    advice_case c;
    make_slow(&c);
    assert_int_equal(fake_int(c.t, 0, "from"), 0);
    assert_int_equal(fake_int(c.t, 0, "to"), 600 * US);
    assert_int_equal(fake_int(c.t, 0, "step"), 7);
    case_end(&c);
}

static bool has_note(const answer *out, uint16_t message, const char *rule) {
    for (uint32_t i = 0; i < out->quality.n_notes; i++)
        if (out->quality.notes[i].message == message &&
            str_find(out->quality.notes[i].args[0].u.text, str_of(rule), 0) != SIZE_MAX)
            return true;
    return false;
}

static void rules_without_input_are_named_with_what_to_record(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_OP, "aten::mm", 0, 900);
    case_ask(&c);
    assert_int_equal(c.t->n_rows, 0);
    assert_true(has_note(&c.out, MSG_NOTE_ADVICE_DEVICE, "host_late"));
    assert_true(has_note(&c.out, MSG_NOTE_ADVICE_MEMORY, "fragmentation"));
    assert_true(has_note(&c.out, MSG_NOTE_ADVICE_STEPS, "step_variance"));
    assert_false(has_note(&c.out, MSG_NOTE_ADVICE_WORKERS, "straggler")); /* one process */
    assert_string_equal(c.out.verdict.id, "little_checked"); /* most rules are about devices */
    assert_int_equal(c.out.verdict.severity, SEVERITY_INFO);
    case_end(&c);
}

static void other_workers_are_asked_for_when_there_is_communication(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_COLLECTIVE, "nccl:all_reduce", 0, 10);
    case_ask(&c);
    assert_true(has_note(&c.out, MSG_NOTE_ADVICE_WORKERS, "straggler"));
    case_end(&c);
}

static void empty_trace_has_no_advice(void **state) {
    advice_case c;
    case_begin(&c);
    case_ask(&c);
    assert_int_equal(c.t->n_rows, 0);
    case_end(&c);
}

static void window_without_steps_has_no_advice(void **state) {
    advice_case c;
    make_slow(&c);
    params p = fake_params();
    p.first_step = p.last_step = 99;
    answer out = fake_ask(analyse_advise, &c.f.t, &p, &c.arena);
    assert_int_equal(fake_table(&out, "advice")->n_rows, 0);
    case_end(&c);
}

static void failed_allocations_are_a_status(void **state) {
    advice_case c;
    make_slow(&c);
    analysis_trace one = {.trace = &c.f.t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    params p = fake_params();
    status last = ERR_MEMORY;
    for (size_t limit = 256; last != OK; limit *= 2) {
        arena a;
        answer out;
        error err;
        arena_init(&a, limit);
        last = analyse_advise(&in, &p, &a, &out, &err);
        assert_true(last == OK || last == ERR_MEMORY || last == ERR_LIMIT);
        arena_fini(&a);
    }
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_saving_comes_first_and_is_the_verdict),
        cmocka_unit_test(nothing_saves_more_than_the_step),
        cmocka_unit_test(every_moment_is_saved_once),
        cmocka_unit_test(time_inside_a_blocking_copy_is_the_copy_s),
        cmocka_unit_test(a_graph_replay_is_not_advised_to_use_graphs),
        cmocka_unit_test(advice_without_an_estimate_comes_last),
        cmocka_unit_test(severity_follows_from_the_share_of_the_step),
        cmocka_unit_test(every_row_has_four_sentences_and_their_values),
        cmocka_unit_test(places_are_offsets_with_their_step),
        cmocka_unit_test(rules_without_input_are_named_with_what_to_record),
        cmocka_unit_test(other_workers_are_asked_for_when_there_is_communication),
        cmocka_unit_test(empty_trace_has_no_advice),
        cmocka_unit_test(window_without_steps_has_no_advice),
        cmocka_unit_test(failed_allocations_are_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
