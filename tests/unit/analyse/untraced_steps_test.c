/* untraced_steps_test.c: an overview of steps of which only the step trace is known. */
#include "analyse/vendor/untraced_steps.h"

#include "built_trace.h"

/* Step i covers [1000 i, 1000 i + 1000), forward and backward [100, 700) of it; a collective of 200 ns
 * begins at 600: half of it is inside. */
static void add_timed_step(built *x, int i) {
    static const char *const names[] = {"Step 1", "Step 2", "Step 3"};
    int64_t at = 1000 * (int64_t)i;
    row_producer_step passes = {.number = i + 1,
                                .stage = built_str(x, "forward_backward"),
                                .start = at + 100,
                                .duration = 600};
    built_slice(x, 1, KIND_STEP, names[i], at, 1000);
    assert_int_equal(builder_put_producer_step(x->b, &passes, NULL), OK);
}

static void add_work(built *x, const char *name, int64_t start, int64_t dur) {
    raw_kernel k = RAW_KERNEL_NONE;
    k.device = 0;
    k.stream = 7;
    raw_slice s = {.start = start, .dur = dur, .name = built_str(x, name), .kind = KIND_KERNEL};
    s.track = part_track(x->p, (ident){.v = 0}, (ident){.v = 70 + (start % 2)});
    assert_int_equal(part_kernel(x->p, &k, &s), OK);
    assert_int_equal(part_slice(x->p, &s), OK);
}

static size_t row_of(const table *t, const char *category) {
    for (size_t i = 0; i < t->n_rows; i++)
        if (built_is(t, i, "category", category)) return i;
    fail_msg("no %s", category);
    return 0;
}

static bool has_note(const built *x, const char *id) {
    for (uint32_t i = 0; i < x->answer.quality.n_notes; i++)
        if (strcmp(x->answer.quality.notes[i].id, id) == 0) return true;
    return false;
}

static void a_step_trace_alone_tells_no_kernels(void **state) {
    built x;
    built_init(&x);
    for (int i = 0; i < 2; i++) {
        add_timed_step(&x, i);
        add_work(&x, "ncclKernel_AllReduce", 1000 * i + 600, 200);
    }
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_overview, NULL), OK);
    const table *b = built_table(&x, "breakdown"), *s = built_table(&x, "steps");
    assert_int_equal(built_int(b, row_of(b, "kernel"), "time"), ABSENT_I64);
    assert_int_equal(built_int(b, row_of(b, "communication"), "time"), 100); /* outside */
    assert_int_equal(built_int(b, row_of(b, "other"), "time"), 900);
    assert_int_equal(built_int(s, 1, "kernel"), ABSENT_I64);
    assert_int_equal(built_int(s, 1, "communication"), 100);
    assert_true(isnan(built_real(built_table(&x, "devices"), 0, "utilization")));
    assert_string_equal(x.answer.verdict.id, "steps_timed_only");
    assert_true(has_note(&x, "bare_steps"));
    for (uint32_t i = 0; i < x.answer.quality.n_notes; i++) {
        const verdict *note = &x.answer.quality.notes[i];
        if (strcmp(note->id, "bare_steps") != 0) continue;
        assert_int_equal(note->args[2].u.i, 200); /* of a step, in all */
        assert_int_equal(note->args[3].u.i, 100);
    }
    built_fini(&x);
}

/* What the passes may hide is hidden in every analysis. */
static void all_analyses_expose_the_same(void **state) {
    built x;
    built_init(&x);
    for (int i = 0; i < 2; i++) {
        add_timed_step(&x, i);
        add_work(&x, "ncclKernel_AllReduce", 1000 * i + 600, 200);
    }
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    const table *s = built_table(&x, "steps");
    assert_int_equal(built_int(s, 0, "communication"), 200);
    assert_int_equal(built_int(s, 0, "exposed_communication"), 100);
    assert_int_equal(built_ask(&x, analyse_distributed, NULL), OK);
    const table *o = built_table(&x, "overlap");
    assert_int_equal(built_int(o, 0, "communication"), 100);
    assert_int_equal(built_int(o, 0, "overlapping"), 100);
    built_fini(&x);
}

static void the_average_is_of_the_steps_with_tasks(void **state) {
    built x;
    built_init(&x);
    for (int i = 0; i < 3; i++) {
        add_timed_step(&x, i);
        add_work(&x, "ncclKernel_AllReduce", 1000 * i + 600, 200);
    }
    add_work(&x, "MatMul", 1101, 400);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_overview, NULL), OK);
    const table *b = built_table(&x, "breakdown"), *s = built_table(&x, "steps");
    assert_int_equal(built_int(b, row_of(b, "kernel"), "time"), 400);
    assert_int_equal(built_int(b, row_of(b, "communication"), "time"),
                     200); /* none is hidden */
    assert_int_equal(built_int(s, 0, "kernel"), ABSENT_I64);
    assert_int_equal(built_int(s, 1, "kernel"), 400);
    assert_int_equal(built_int(s, 2, "communication"), 100);
    assert_true(built_real(built_table(&x, "devices"), 0, "utilization") == 0.6);
    assert_true(has_note(&x, "bare_steps"));
    built_fini(&x);
}

static void steps_with_tasks_are_as_they_were(void **state) {
    built x;
    built_init(&x);
    add_timed_step(&x, 0);
    add_work(&x, "MatMul", 101, 400);
    add_work(&x, "ncclKernel_AllReduce", 600, 200);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_overview, NULL), OK);
    const table *b = built_table(&x, "breakdown");
    assert_int_equal(built_int(b, row_of(b, "kernel"), "time"), 400);
    assert_int_equal(built_int(b, row_of(b, "communication"), "time"), 200);
    assert_false(has_note(&x, "bare_steps"));
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_trace_alone_tells_no_kernels),
        cmocka_unit_test(all_analyses_expose_the_same),
        cmocka_unit_test(the_average_is_of_the_steps_with_tasks),
        cmocka_unit_test(steps_with_tasks_are_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
