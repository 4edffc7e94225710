/* lost_work_test.c: launches without their work, graph captures and traces of nothing. */
#include "base/message_ids_advice.h"
#include "fake_trace.h"

#include "analyse/steps/lost_work.h"

static void launches(fake *f, int n, const char *name) {
    int host = fake_thread(f);
    fake_add(f, host, KIND_OP, "aten::mm", 0, 10000);
    for (int i = 0; i < n; i++) fake_add(f, host, KIND_RUNTIME, name, 10 + i * 10, 5);
}

static void names_of_launches_are_known(void **state) {
    assert_true(launch_name(STR("cudaLaunchKernel")));
    assert_true(launch_name(STR("hipExtModuleLaunchKernel")));
    assert_true(launch_name(STR("cudaGraphLaunch")));
    assert_true(launch_name(STR("urEnqueueKernelLaunch")));
    assert_false(launch_name(STR("cudaMemcpyAsync")));
    assert_false(launch_name(STR("cudaDeviceSynchronize")));
    assert_false(launch_name(STR("cudaEventRecord")));
}

static void lost_records_are_the_verdict_of_every_question(void **state) {
    static const analysis_fn questions[] = {analyse_overview, analyse_kernels, analyse_advise};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        fake f;
        arena a = {0};
        fake_init(&f);
        launches(&f, 40, "cudaLaunchKernel");
        params p = fake_params();
        answer out = fake_ask(questions[i], fake_seal(&f), &p, &a);
        assert_string_equal(out.verdict.id, "device_records_lost");
        assert_int_equal(out.quality.notes[out.quality.n_notes - 1].message,
                         MSG_NOTE_DEVICE_LOST);
        arena_fini(&a);
        fake_fini(&f);
    }
}

static bool has_note(const answer *out, message_id message) {
    for (size_t i = 0; i < out->quality.n_notes; i++)
        if (out->quality.notes[i].message == message) return true;
    return false;
}

/* A user who recorded launches does not need the advice to ask for the device, nor one whose
 * program computes on the CPU. */
static void rules_that_lack_lost_records_say_so(void **state) {
    for (int lost = 0; lost < 2; lost++) {
        fake f;
        arena a = {0};
        fake_init(&f);
        launches(&f, 40, lost ? "cudaLaunchKernel" : "cudaGetDevice");
        params p = fake_params();
        answer out = fake_ask(analyse_advise, fake_seal(&f), &p, &a);
        assert_int_equal(has_note(&out, MSG_NOTE_ADVICE_DEVICE_LOST), lost);
        assert_false(has_note(&out, MSG_NOTE_ADVICE_DEVICE));
        arena_fini(&a);
        fake_fini(&f);
    }
}

static void launches_without_work_are_of_a_device(void **state) {
    for (int lost = 0; lost < 2; lost++) {
        fake f;
        arena a = {0};
        fake_init(&f);
        launches(&f, 40, lost ? "cudaLaunchKernel" : "cudaGetDevice");
        params p = fake_params();
        answer out = fake_ask(analyse_overview, fake_seal(&f), &p, &a);
        table *t = fake_table(&out, "configuration");
        size_t row = fake_row(t, "device_type");
        str value = t->columns[fake_column(t, "value")].v.s[row];
        assert_true(str_eq(value, lost ? STR("GPU") : STR("CPU")));
        arena_fini(&a);
        fake_fini(&f);
    }
}

static void a_graph_capture_is_called_one(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    launches(&f, 40, "hipLaunchKernel");
    launches(&f, 1, "hipStreamBeginCapture");
    params p = fake_params();
    answer out = fake_ask(analyse_overview, fake_seal(&f), &p, &a);
    assert_string_equal(out.verdict.id, "graph_captured");
    arena_fini(&a);
    fake_fini(&f);
}

/* What was captured runs later, as nodes of the graph: nothing is lost. */
static void launches_of_a_capture_are_not_missed(void **state) {
    for (int graphs = 0; graphs < 2; graphs++) {
        fake f;
        arena a = {0};
        fake_init(&f);
        int host = fake_thread(&f), gpu = fake_stream(&f, 1);
        for (int i = 0; i < 20; i++) {
            int call = fake_add(&f, host, KIND_DRIVER, "cuLaunchKernel", 10 * i, 5);
            fake_work(&f, gpu, KIND_KERNEL, "k", 10 * i + 5, 5, call);
        }
        for (int i = 0; i < 10; i++)
            fake_add(&f, host, KIND_DRIVER, "cuLaunchKernel", 300 + 10 * i, 5);
        int replay =
            fake_add(&f, host, KIND_RUNTIME, graphs ? "cudaGraphLaunch" : "other", 500, 5);
        fake_work(&f, gpu, KIND_KERNEL, "node", 510, 5, replay);
        params p = fake_params();
        answer out = fake_ask(analyse_overview, fake_seal(&f), &p, &a);
        assert_int_equal(has_note(&out, MSG_NOTE_DEVICE_LOST_PART), !graphs);
        arena_fini(&a);
        fake_fini(&f);
    }
}

static void a_trace_of_nothing_has_a_sentence(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_overview, fake_seal(&f), &p, &a);
    assert_string_equal(out.verdict.id, "trace_empty");
    arena_fini(&a);
    fake_fini(&f);
}

static void a_few_launches_at_the_end_say_nothing(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    launches(&f, 5, "cudaLaunchKernel");
    lost_work w;
    assert_int_equal(lost_work_count(fake_seal(&f), &a, &w, NULL), OK);
    assert_int_equal(w.missing, 5);
    assert_false(w.all);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_launches_are_known),
        cmocka_unit_test(lost_records_are_the_verdict_of_every_question),
        cmocka_unit_test(rules_that_lack_lost_records_say_so),
        cmocka_unit_test(launches_without_work_are_of_a_device),
        cmocka_unit_test(a_graph_capture_is_called_one),
        cmocka_unit_test(launches_of_a_capture_are_not_missed),
        cmocka_unit_test(a_trace_of_nothing_has_a_sentence),
        cmocka_unit_test(a_few_launches_at_the_end_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
