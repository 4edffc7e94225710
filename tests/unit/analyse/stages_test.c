/* stages_test.c: which part of training the host was in. */
#include "example_trace.h"

#include "analyse/steps/stages.h"

static stage_segments find(const trace *t, arena *a) {
    stage_segments s;
    assert_int_equal(stages_find(t, a, &s, NULL), OK);
    for (size_t i = 1; i < s.n; i++) assert_true(s.v[i - 1].range.end <= s.v[i].range.start);
    return s;
}

static void check(const stage_segments *s, const int64_t *want, size_t n) {
    assert_int_equal(s->n, n / 3);
    for (size_t i = 0; i < s->n; i++) {
        assert_int_equal(s->v[i].stage, want[3 * i]);
        assert_int_equal(s->v[i].range.start, want[3 * i + 1]);
        assert_int_equal(s->v[i].range.end, want[3 * i + 2]);
    }
}
#define CHECK(s, ...) \
    check(s, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static void evidence_is_strung_together(void **state) {
    fake f;
    example e;
    stage_segments s = find(example_make(&f, &e), &f.arena);
    CHECK(&s, STAGE_DATA, 1, 6, STAGE_FORWARD, 10, 110, STAGE_BACKWARD, 150, 225,
          STAGE_OPTIMIZER, 300, 350);
    assert_int_equal(stage_at(&s, 100), STAGE_FORWARD);
    assert_int_equal(stage_at(&s, 110), STAGE_OTHER);
    assert_int_equal(stage_at(&s, 175), STAGE_BACKWARD); /* in a gap between nodes */
    assert_int_equal(stage_at(&s, 0), STAGE_OTHER);
    fake_fini(&f);
}

static void an_inner_piece_interrupts_and_the_rest_continues(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), other = fake_thread(&f);
    fake_add(&f, host, KIND_FORWARD, "forward", 0, 100);
    fake_add(&f, other, KIND_DATA, "data", 40, 20);
    fake_add(&f, host, KIND_BACKWARD, "backward", 150, 10);
    stage_segments s = find(fake_seal(&f), &f.arena);
    CHECK(&s, STAGE_FORWARD, 0, 40, STAGE_DATA, 40, 60, STAGE_FORWARD, 60, 100, STAGE_BACKWARD,
          150, 160);
    fake_fini(&f);
}

/* One module around a whole step says nothing; its operators do. */
static void phases_that_the_producer_tells_are_believed(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    example_module(&f, host, "jit(step)", 0, 100);
    int forward = fake_add(&f, host, KIND_OP, "dot_general", 0, 30);
    int backward = fake_add(&f, host, KIND_OP, "dot_general", 30, 40);
    int update = fake_add(&f, host, KIND_OP, "sub", 70, 30);
    f.slices[forward].phase = PHASE_FORWARD;
    f.slices[backward].phase = PHASE_BACKWARD;
    f.slices[update].phase = PHASE_OPTIMIZER;
    stage_segments s = find(fake_seal(&f), &f.arena);
    CHECK(&s, STAGE_FORWARD, 0, 30, STAGE_BACKWARD, 30, 70, STAGE_OPTIMIZER, 70, 100);
    fake_fini(&f);
}

static void segments_do_not_reach_over_steps(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_step(&f, 1, 0, 100);
    fake_step(&f, 2, 100, 200);
    fake_add(&f, host, KIND_OP, "aten::mm", 10,
             10); /* no backward anywhere: every op is forward */
    fake_add(&f, host, KIND_OP, "aten::mm", 50, 10);
    fake_add(&f, host, KIND_OP, "aten::mm", 120, 10);
    stage_segments s = find(fake_seal(&f), &f.arena);
    CHECK(&s, STAGE_FORWARD, 10, 60, STAGE_FORWARD, 120, 130);
    fake_fini(&f);
}

static void with_backward_work_ops_without_a_sequence_number_are_other(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "aten::zeros", 0, 10);
    example_op(&f, host, "aten::mm", 20, 10);
    fake_add(&f, host, KIND_OP, "autograd::engine::evaluate_function: MmBackward0", 50, 10);
    stage_segments s = find(fake_seal(&f), &f.arena);
    CHECK(&s, STAGE_FORWARD, 20, 30, STAGE_BACKWARD, 50, 60);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_strung_together),
        cmocka_unit_test(an_inner_piece_interrupts_and_the_rest_continues),
        cmocka_unit_test(phases_that_the_producer_tells_are_believed),
        cmocka_unit_test(segments_do_not_reach_over_steps),
        cmocka_unit_test(with_backward_work_ops_without_a_sequence_number_are_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
