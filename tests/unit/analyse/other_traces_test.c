/* other_traces_test.c: the verdict about requests of a server and functions of a program. */
#include "fake_trace.h"

#include "analyse/device/other_traces.h"

static int64_t time_of(const answer *out, const char *name) {
    for (uint32_t i = 0; i < out->verdict.n_args; i++)
        if (strcmp(out->verdict.args[i].name, name) == 0) return out->verdict.args[i].u.i;
    return -1;
}

static void add_request(fake *f, int lane, int64_t start, int64_t queue, int64_t compute) {
    fake_add(f, lane, KIND_ANNOTATION, "request", start, queue + compute + 10);
    fake_add(f, lane, KIND_ANNOTATION, "queue", start + 5, queue);
    fake_add(f, lane, KIND_ANNOTATION, "compute_input", start + 5 + queue, 10);
    fake_add(f, lane, KIND_ANNOTATION, "compute_infer", start + 15 + queue, compute - 10);
}

static answer ask_about(fake *f, const char *format, analysis_fn question, arena *a) {
    fake_seal(f);
    f->t.format = str_of(format);
    params p = fake_params();
    return fake_ask(question, &f->t, &p, a);
}

static void requests_that_wait_are_queued(void **state) {
    static const analysis_fn questions[] = {analyse_overview, analyse_advise};
    for (size_t i = 0; i < N_OF(questions); i++) {
        fake f;
        arena a = {0};
        fake_init(&f);
        int first = fake_thread(&f), second = fake_thread(&f);
        add_request(&f, first, 0, 1000, 100);
        add_request(&f, second, 50, 3000, 300);
        answer out = ask_about(&f, "triton_requests", questions[i], &a);
        assert_string_equal(out.verdict.id, "requests_queued");
        assert_int_equal(time_of(&out, "count"), 2);
        assert_int_equal(time_of(&out, "queue"), 2000);
        assert_int_equal(time_of(&out, "compute"), 200);
        assert_int_equal(time_of(&out, "request"), 2210);
        arena_fini(&a);
        fake_fini(&f);
    }
}

static void requests_one_by_one_are_reported(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int lane = fake_thread(&f);
    for (int i = 0; i < 10; i++) add_request(&f, lane, i * 1000, 10, 500);
    answer out = ask_about(&f, "triton_requests", analyse_advise, &a);
    assert_string_equal(out.verdict.id, "requests");
    assert_int_equal(out.tables[0]->n_rows, 1);
    assert_int_equal(out.quality.n_notes, 0); /* no rule for a training was left out */
    arena_fini(&a);
    fake_fini(&f);
}

static void the_function_with_most_self_time_is_named(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int one = fake_thread(&f), two = fake_thread(&f);
    fake_add(&f, one, KIND_PYTHON, "main", 0, 1000);
    fake_add(&f, one, KIND_PYTHON, "load", 100, 600);
    fake_add(&f, one, KIND_PYTHON, "parse", 200, 350);
    fake_add(&f, two, KIND_PYTHON, "load", 0, 200);
    answer out = ask_about(&f, "speedscope", analyse_overview, &a);
    assert_string_equal(out.verdict.id, "calls");
    assert_int_equal(time_of(&out, "self_time"), 450); /* load: 600 - 350 + 200 */
    assert_int_equal(time_of(&out, "total"), 1200);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_wait_are_queued),
        cmocka_unit_test(requests_one_by_one_are_reported),
        cmocka_unit_test(the_function_with_most_self_time_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
