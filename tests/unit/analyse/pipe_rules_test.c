/* pipe_rules_test.c: what is odd about operators of an input pipeline, and which one holds it up. */
#include "built_trace.h"

/* An operator: its type, number, the row it feeds, workers, samples of a queue of 10. */
typedef struct {
    const char *type;
    int64_t id;
    uint32_t parent;
    int32_t workers;
    int64_t size, other; /* two samples; negative: it has no queue */
} op_spec;

/* Percent of one processor, the same in both samples of an operator; the last has none. */
enum { MOST_USES = 8 };
typedef struct {
    int64_t id;
    double percent;
} cpu_use;

static void ask(built *x, const op_spec *ops, uint32_t n, const cpu_use *cpu) {
    built_init(x);
    for (uint32_t i = 0; i < n; i++) {
        row_pipe_op op = {.name = built_str(x, ops[i].type),
                          .parent = ops[i].parent,
                          .workers = ops[i].workers,
                          .capacity = ops[i].size < 0 ? ABSENT_I64 : 10,
                          .id = ops[i].id,
                          .interval = ABSENT_I64};
        assert_int_equal(builder_put_pipe_op(x->b, &op, NULL), OK);
    }
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < 2 && ops[i].size >= 0; k++) {
            row_queue_sample s = {.pipe_op = i + 1,
                                  .time = k,
                                  .step = ABSENT_I64,
                                  .size = k ? ops[i].other : ops[i].size,
                                  .capacity = 10,
                                  .get = ABSENT_I64,
                                  .push = ABSENT_I64,
                                  .total = ABSENT_I64};
            assert_int_equal(builder_put_queue_sample(x->b, &s, NULL), OK);
        }
    for (int64_t i = 0; cpu && i < 2 * MOST_USES && cpu[i / 2].percent > 0; i++) {
        row_cpu_sample user = {.time = i % 2,
                               .scope = CPU_OPERATOR,
                               .op = cpu[i / 2].id,
                               .kind = built_str(x, "user"),
                               .value = cpu[i / 2].percent};
        row_cpu_sample sys = {
            .scope = CPU_OPERATOR, .op = cpu[i / 2].id, .kind = built_str(x, "sys")};
        BUILT_PUT(x, cpu_sample, user);
        BUILT_PUT(x, cpu_sample, sys);
    }
    built_seal(x);
    assert_int_equal(built_ask(x, analyse_pipeline, NULL), OK);
}

static bool has(const built *x, const char *op, const char *rule) {
    const table *t = built_table(x, "findings");
    for (size_t i = 0; i < t->n_rows; i++)
        if (built_is(t, i, "operator", op) && built_is(t, i, "rule", rule)) return true;
    return false;
}

static void busy_workers_are_the_bottleneck(void **state) {
    static const op_spec ops[] = {
        {"BatchOp", 0, 0, 1, 5, 5}, {"MapOp", 1, 1, 2, 5, 5}, {"TFReaderOp", 2, 2, 2, 6, 6}};
    built x;
    (void)state;
    ask(&x, ops, 3, (const cpu_use[MOST_USES]){{0, 50}, {1, 160}, {2, 30}});
    assert_true(has(&x, "MapOp_1", "cpu_high"));
    assert_true(has(&x, "MapOp_1", "bottleneck"));
    assert_true(has(&x, "TFReaderOp_2", "cpu_low"));
    assert_false(has(&x, "BatchOp_0", "cpu_low"));
    assert_false(has(&x, "TFReaderOp_2", "source_slow"));
    built_fini(&x);
}

static void the_starved_operator_nearest_to_the_consumer_is_named(void **state) {
    static const op_spec ops[] = {{"DeviceQueueOp", 0, 0, 1, -1, -1},
                                  {"ShuffleOp", 1, 1, 1, 0, 0},
                                  {"MapOp", 2, 2, 1, 1, 1},
                                  {"MapOp", 3, 3, 1, 0, 0},
                                  {"GeneratorOp", 4, 4, 1, 5, 5}};
    built x;
    (void)state;
    ask(&x, ops, 5, (const cpu_use[MOST_USES]){{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}});
    assert_true(has(&x, "MapOp_2", "bottleneck")); /* its input, MapOp_3, is empty */
    assert_true(has(&x, "DeviceQueueOp_0", "device_starves"));
    assert_true(has(&x, "GeneratorOp_4", "source_slow")); /* half full is still too little */
    assert_false(has(&x, "ShuffleOp_1", "cpu_low"));
    assert_false(has(&x, "ShuffleOp_1", "bottleneck"));
    built_fini(&x);
}

static void an_operator_slower_than_its_input_is_reported(void **state) {
    static const op_spec ops[] = {
        {"BatchOp", 0, 0, 1, 1, 1}, {"MapOp", 1, 1, 1, 3, 3}, {"GeneratorOp", 2, 2, 1, 9, 9}};
    built x;
    (void)state;
    ask(&x, ops, 3, NULL);
    assert_true(has(&x, "MapOp_1", "slower_than_input"));
    assert_false(has(&x, "BatchOp_0", "slower_than_input"));
    assert_int_equal(built_table(&x, "findings")->n_rows,
                     1); /* nothing is known of processors */
    built_fini(&x);
}

static void balanced_queues_have_no_findings(void **state) {
    static const op_spec ops[] = {
        {"BatchOp", 0, 0, 1, 6, 6}, {"MapOp", 1, 1, 1, 6, 6}, {"TFReaderOp", 2, 2, 1, 6, 6}};
    built x;
    (void)state;
    ask(&x, ops, 3, (const cpu_use[MOST_USES]){{0, 30}, {1, 30}, {2, 30}});
    assert_int_equal(built_table(&x, "findings")->n_rows, 0);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_workers_are_the_bottleneck),
        cmocka_unit_test(the_starved_operator_nearest_to_the_consumer_is_named),
        cmocka_unit_test(an_operator_slower_than_its_input_is_reported),
        cmocka_unit_test(balanced_queues_have_no_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
