/* mindspore_overview_test.c: the average step, types, the way of the data, what was recorded. */
#include "analyse/vendor/mindspore_overview.h"
#include "base/message_ids_advice.h"
#include "built_trace.h"

#define US ((int64_t)1000)

static void add_part(built *x, int64_t number, const char *stage, int64_t start, int64_t us) {
    row_producer_step s = {.number = number,
                           .stage = built_str(x, stage),
                           .start = start * US,
                           .duration = us * US};
    assert_int_equal(builder_put_producer_step(x->b, &s, NULL), OK);
}

static void add_type(built *x, const char *side, const char *type, int64_t calls, int64_t us) {
    row_producer_op g = row_producer_op_none();
    g.name = g.full_name = g.type = built_str(x, type);
    g.side = built_str(x, side);
    g.level = PRODUCER_TYPE;
    g.calls = calls;
    g.total = us * US;
    assert_int_equal(builder_put_producer_op(x->b, &g, NULL), OK);
}

static void ask(built *x) {
    built_seal(x);
    assert_int_equal(built_ask(x, analyse_overview, NULL), OK);
}

static void the_average_step_is_the_producers(void **state) {
    built x;
    (void)state;
    built_init(&x);
    built_slice(&x, 1, KIND_STEP, "Step 1", 0, 100 * US);
    built_slice(&x, 1, KIND_STEP, "Step 2", 100 * US, 100 * US);
    for (int i = 0; i < 2; i++) {
        add_part(&x, i + 1, "interval", 100 * i, 10);
        add_part(&x, i + 1, "forward_backward", 100 * i + 10, 60);
        add_part(&x, i + 1, "tail", 100 * i + 70, 30);
    }
    add_part(&x, ABSENT_I64, "total", 0, 200);
    add_part(&x, ABSENT_I64, "tail", 0, 50);
    ask(&x);
    const table *t = built_table(&x, "step_trace");
    assert_int_equal(t->n_rows, 4);
    assert_int_equal(built_int(t, 0, "duration"), 200 * US);
    assert_int_equal(built_int(t, 1, "duration"), 10 * US); /* the mean, where it gave none */
    assert_int_equal(built_int(t, 3, "duration"), 50 * US);
    assert_true(built_real(t, 3, "share") == 0.25);
    assert_true(built_is(t, 0, "basis", "producer"));
    assert_true(built_is(t, 1, "basis", "steps"));
    /* The mean of the steps is another: 100 µs. A note says what each is based on. */
    assert_int_equal(x.answer.quality.n_notes, 2);
    const verdict *bare = &x.answer.quality.notes[0], *two = &x.answer.quality.notes[1];
    assert_string_equal(bare->id, "bare_steps"); /* no work of a device was recorded */
    assert_int_equal(bare->message, MSG_NOTE_ALL_BARE);
    assert_string_equal(two->id, "two_averages");
    assert_int_equal(two->message, MSG_NOTE_AVERAGE_GIVEN);
    assert_int_equal(two->args[0].u.i, 200 * US);
    assert_int_equal(two->args[1].u.i, 100 * US);
    assert_string_equal(x.answer.verdict.id, "steps_timed_only");
    built_fini(&x);
}

/* Means 1, 2, … 7; totals the other way round. */
static void add_seven(built *x, const char *side) {
    static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G"};
    for (int i = 0; i < 7; i++) {
        int64_t calls = (7 - i) * (7 - i) * 10;
        add_type(x, side, names[i], calls, calls * (i + 1));
    }
}

static void types_of_a_gpu_are_sorted_by_mean(void **state) {
    built x;
    (void)state;
    built_init(&x);
    add_seven(&x, "device");
    ask(&x);
    const table *t = built_table(&x, "operator_types");
    assert_int_equal(t->n_rows, 6);
    assert_true(built_is(t, 0, "type", "G"));
    assert_int_equal(built_int(t, 0, "mean"), 7 * US);
    assert_true(built_is(t, 5, "type", "Others"));
    assert_int_equal(built_int(t, 5, "total"), (490 * 1 + 360 * 2) * US);
    built_fini(&x);
}

static void types_of_an_ascend_are_sorted_by_total(void **state) {
    built x;
    (void)state;
    built_init(&x);
    add_seven(&x, "AI Core");
    ask(&x);
    const table *t = built_table(&x, "operator_types");
    assert_true(built_is(t, 0, "type", "C")); /* 250 calls of 3 */
    assert_int_equal(built_int(t, 0, "total"), 750 * US);
    assert_true(built_is(t, 5, "type", "Others"));
    built_fini(&x);
}

static void work_counts_operators_and_operations(void **state) {
    built x;
    (void)state;
    built_init(&x);
    built_slice(&x, 1, KIND_OP, "Default/A-op1", 0, 10);
    built_slice(&x, 1, KIND_OP, "Default/A-op1", 20, 10);
    built_slice(&x, 1, KIND_OP, "Default/B-op2", 40, 5);
    row_resource row = row_resource_none();
    row.flops = 2e6;
    row.flops_per_s = 3e9;
    BUILT_PUT(&x, resource, row);
    ask(&x);
    const table *t = built_table(&x, "work");
    assert_true(built_is(t, 1, "key", "operators") && built_is(t, 1, "value", "2"));
    assert_true(built_is(t, 2, "key", "executions") && built_is(t, 2, "value", "3"));
    assert_true(built_is(t, 3, "key", "total_time_ns") && built_is(t, 3, "value", "25"));
    assert_true(built_is(t, 4, "key", "flops") && built_is(t, 4, "value", "2000000"));
    assert_true(built_is(t, 5, "key", "flops_per_s") && built_is(t, 5, "value", "3000000000"));
    assert_int_equal(t->n_rows, 6);
    built_fini(&x);
}

static void the_way_of_the_data_has_steps_for_each_part(void **state) {
    built x;
    (void)state;
    built_init(&x);
    for (int q = 0; q < 2; q++) {
        row_pipe_op op = {.name = built_str(&x, q ? "data queue" : "host queue"),
                          .workers = ABSENT_I32,
                          .capacity = ABSENT_I64,
                          .id = ABSENT_I64,
                          .interval = ABSENT_I64,
                          .role = q ? PIPE_DATA_QUEUE : PIPE_HOST_QUEUE};
        assert_int_equal(builder_put_pipe_op(x.b, &op, NULL), OK);
        for (int i = 0; i < 10; i++) {
            row_queue_sample s = {.pipe_op = (uint32_t)q + 1,
                                  .time = i,
                                  .step = i + 1,
                                  .size = i < (q ? 3 : 1) ? 0 : 4,
                                  .capacity = q ? ABSENT_I64 : 4,
                                  .get = ABSENT_I64,
                                  .push = ABSENT_I64,
                                  .total = ABSENT_I64};
            assert_int_equal(builder_put_queue_sample(x.b, &s, NULL), OK);
        }
    }
    ask(&x);
    const table *t = built_table(&x, "data_flow");
    assert_int_equal(t->n_rows, 5);
    assert_int_equal(built_int(t, 0, "steps"), 1);
    assert_true(built_is(t, 0, "status", "normal"));
    assert_int_equal(built_int(t, 1, "full"), 9);
    assert_true(built_is(t, 2, "status", "warning"));
    assert_int_equal(built_int(t, 2, "steps"), 2);
    assert_int_equal(built_int(t, 4, "steps"), 7);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_average_step_is_the_producers),
        cmocka_unit_test(types_of_a_gpu_are_sorted_by_mean),
        cmocka_unit_test(types_of_an_ascend_are_sorted_by_total),
        cmocka_unit_test(work_counts_operators_and_operations),
        cmocka_unit_test(the_way_of_the_data_has_steps_for_each_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
