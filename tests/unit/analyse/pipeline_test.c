/* pipeline_test.c: queues, slow operators, what to change, processors. */
#include "analyse/steps/pipe_view.h"
#include "analyse/vendor/cpu_use.h"
#include "built_trace.h"

static void add_pipe(built *x, int64_t id, const char *type, uint32_t parent,
                     int64_t capacity) {
    row_pipe_op op = {.name = built_str(x, type),
                      .parent = parent,
                      .workers = 2,
                      .capacity = capacity,
                      .id = id,
                      .interval = 10000000};
    assert_int_equal(builder_put_pipe_op(x->b, &op, NULL), OK);
}

static void add_size(built *x, uint32_t op, int64_t step, int64_t size, int64_t capacity) {
    row_queue_sample s = {.pipe_op = op,
                          .time = step == ABSENT_I64 ? 0 : step * 1000000,
                          .step = step,
                          .size = size,
                          .capacity = capacity,
                          .get = ABSENT_I64,
                          .push = ABSENT_I64,
                          .total = ABSENT_I64};
    assert_int_equal(builder_put_queue_sample(x->b, &s, NULL), OK);
}

/* Batch 0 <- (inlined Project 1) <- Map 2 <- Generator 3, with these fills of 10. */
static void add_chain(built *x, int64_t map, int64_t generator) {
    add_pipe(x, 0, "BatchOp", 0, ABSENT_I64);
    add_pipe(x, 1, "ProjectOp", 1, ABSENT_I64);
    add_pipe(x, 2, "MapOp", 2, 10);
    add_pipe(x, 3, "GeneratorOp", 3, 10);
    add_size(x, 3, ABSENT_I64, map, 10);
    add_size(x, 4, ABSENT_I64, generator, 10);
}

static void inlined_operators_are_left_out(void **state) {
    built x;
    built_init(&x);
    add_chain(&x, 1, 9);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    const table *t = built_table(&x, "operators");
    assert_int_equal(t->n_rows, 3);
    assert_true(built_is(t, 1, "operator", "MapOp_2"));
    assert_true(built_is(t, 1, "parent", "BatchOp_0"));
    assert_true(built_is(t, 1, "bottleneck", "behind_child"));
    assert_true(built_is(t, 2, "bottleneck", NULL));
    assert_true(built_real(t, 2, "usage") == 0.9);
    const table *s = built_table(&x, "suggestions");
    assert_int_equal(s->n_rows, 1);
    assert_true(built_is(s, 0, "class", "map"));
    assert_true(built_is(s, 0, "parameter", "num_parallel_workers"));
    built_fini(&x);
}

static void a_source_that_is_nearly_empty_is_slow(void **state) {
    built x;
    built_init(&x);
    add_chain(&x, 5, 5);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    assert_true(built_is(built_table(&x, "operators"), 2, "bottleneck", "source"));
    assert_true(built_is(built_table(&x, "suggestions"), 0, "class", "generator"));
    x.answer = (answer){0};
    built_param(&x, "low", "0.4");
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    assert_true(built_is(built_table(&x, "operators"), 2, "bottleneck", NULL));
    built_fini(&x);
}

static void full_queues_mean_a_slow_consumer(void **state) {
    built x;
    built_init(&x);
    add_chain(&x, 9, 9);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    assert_true(built_is(built_table(&x, "operators"), 0, "bottleneck", "consumer"));
    assert_int_equal(built_table(&x, "suggestions")->n_rows, 0);
    assert_string_equal(x.answer.verdict.id, "pipeline_consumer");
    built_fini(&x);
}

static void add_queue(built *x, const char *name, uint8_t role) {
    row_pipe_op op = {
        .name = built_str(x, name), .capacity = ABSENT_I64, .id = ABSENT_I64, .role = role};
    assert_int_equal(builder_put_pipe_op(x->b, &op, NULL), OK);
}

/* Ten batches of which `host` and `data` found their queues empty. */
static void add_batches(built *x, int host, int data) {
    add_queue(x, "host queue", PIPE_HOST_QUEUE);
    add_queue(x, "data queue", PIPE_DATA_QUEUE);
    for (int i = 0; i < 10; i++) {
        add_size(x, 1, i + 1, i < host ? 0 : 8, 8);
        add_size(x, 2, i + 1, i < data ? 0 : 3, ABSENT_I64);
    }
}

static void ask_flow(int host, int data, const char *judged, const char *const marks[5]) {
    built x;
    built_init(&x);
    add_batches(&x, host, data);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    const table *t = built_table(&x, "flow");
    assert_int_equal(t->n_rows, 5);
    for (size_t i = 0; i < 5; i++) assert_true(built_is(t, i, "status", marks[i]));
    assert_int_equal(built_int(t, 1, "empty"), host);
    assert_int_equal(built_int(t, 1, "full"), 10 - host);
    assert_int_equal(built_int(t, 3, "batches"), 10);
    assert_string_equal(x.answer.verdict.id, judged);
    built_fini(&x);
}

static void the_flow_names_one_suspect(void **state) {
    ask_flow(4, 5, "pipeline_slow",
             (const char *const[]){"warning", "normal", "normal", "normal", "normal"});
    /* Exactly the limit is no warning. */
    ask_flow(3, 5, "pipeline_transfer",
             (const char *const[]){"normal", "normal", "warning", "normal", "normal"});
    ask_flow(0, 0, "pipeline_fine",
             (const char *const[]){"normal", "normal", "normal", "normal", "warning"});
}

static void other_producers_tell_their_loading(void **state) {
    built x;
    built_init(&x);
    for (int i = 0; i < 2; i++) {
        built_slice(&x, 1, KIND_STEP, i ? "ProfilerStep#2" : "ProfilerStep#1", i * 1000, 1000);
        built_slice(&x, 1, KIND_DATA, "enumerate(DataLoader)", i * 1000 + 10, i ? 100 : 500);
    }
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    const table *t = built_table(&x, "loading");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 0, "time"), 500);
    assert_true(built_real(t, 1, "share") == 0.1);
    assert_string_equal(x.answer.verdict.id, "pipeline_loader");
    built_fini(&x);
}

static void add_sample(built *x, cpu_scope scope, int64_t op, const char *kind, double value) {
    row_cpu_sample row = {
        .scope = (uint8_t)scope, .op = op, .kind = built_str(x, kind), .value = value};
    BUILT_PUT(x, cpu_sample, row);
}

static void samples_of_processors_have_means(void **state) {
    built x;
    (void)state;
    built_init(&x);
    add_sample(&x, CPU_MACHINE, ABSENT_I64, "user", 30);
    add_sample(&x, CPU_MACHINE, ABSENT_I64, "user", (double)NAN);
    add_sample(&x, CPU_MACHINE, ABSENT_I64, "idle", 40);
    add_sample(&x, CPU_MACHINE, ABSENT_I64, "idle", 60);
    add_sample(&x, CPU_PROCESS, ABSENT_I64, "user", 8);
    add_sample(&x, CPU_OPERATOR, 3, "user", 5);
    add_sample(&x, CPU_OPERATOR, 3, "user", 15);
    add_sample(&x, CPU_OPERATOR, 3, "sys", 1);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    const table *t = built_table(&x, "cpu");
    assert_true(built_is(t, 0, "kind", "user"));
    assert_true(built_real(t, 0, "mean") == 30);
    assert_int_equal(built_int(t, 0, "samples"), 1); /* the other was not read */
    assert_true(built_is(t, 1, "kind", "idle"));
    assert_true(built_real(t, 1, "mean") == 50);
    assert_true(built_is(t, 2, "scope", "process"));
    assert_true(built_real(t, 2, "mean") == 8);
    assert_true(built_is(t, 3, "operator", "3"));
    assert_true(built_real(t, 3, "mean") == 10);
    assert_true(fabs(cpu_busy_share(x.t) - 0.5) < 1e-9);
    built_fini(&x);
}

static void operators_have_the_means_of_their_processors(void **state) {
    built x;
    (void)state;
    built_init(&x);
    add_chain(&x, 5, 5);
    add_sample(&x, CPU_OPERATOR, 3, "user", 5);
    add_sample(&x, CPU_OPERATOR, 3, "user", 15);
    add_sample(&x, CPU_OPERATOR, 3, "sys", 1);
    add_sample(&x, CPU_OPERATOR, 2, "user", 7); /* half of it is not known */
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    const table *t = built_table(&x, "operators");
    assert_true(built_is(t, 1, "operator", "MapOp_2"));
    assert_true(isnan(built_real(t, 1, "cpu")));
    assert_true(built_real(t, 2, "cpu") == 11);
    assert_true(built_real(t, 2, "cpu_per_worker") == 5.5);
    assert_true(built_is(built_table(&x, "cpu"), 0, "operator", "GeneratorOp_3"));
    built_fini(&x);
}

static void add_batch(built *x, int64_t time, int64_t step) {
    row_queue_sample s = {.pipe_op = 1,
                          .time = time,
                          .step = step,
                          .size = ABSENT_I64,
                          .capacity = ABSENT_I64,
                          .get = ABSENT_I64,
                          .push = ABSENT_I64,
                          .total = ABSENT_I64};
    assert_int_equal(builder_put_queue_sample(x->b, &s, NULL), OK);
}

static int64_t step_of_sample(built *x, size_t row) {
    return built_int(built_table(x, "cpu_samples"), row, "step");
}

static void a_sample_is_of_the_last_batch_before_it(void **state) {
    built x;
    (void)state;
    built_init(&x);
    row_pipe_op queue = {.name = built_str(&x, "queue"), .role = PIPE_HOST_QUEUE};
    assert_int_equal(builder_put_pipe_op(x.b, &queue, NULL), OK);
    add_batch(&x, 100, 7);
    add_batch(&x, 300, 8);
    add_batch(&x, 200, 9); /* of the two before 300 it is listed last */
    add_batch(&x, 400, INT64_MAX);
    add_batch(&x, 500, INT64_MIN + 1);
    for (int64_t time = 50; time <= 550; time += 100) {
        row_cpu_sample row = {.scope = CPU_MACHINE,
                              .op = ABSENT_I64,
                              .kind = built_str(&x, "user"),
                              .time = time,
                              .value = 1};
        BUILT_PUT(&x, cpu_sample, row);
    }
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    assert_int_equal(step_of_sample(&x, 0), 0);
    assert_int_equal(step_of_sample(&x, 1), 1);
    assert_int_equal(step_of_sample(&x, 2), 3);
    assert_int_equal(step_of_sample(&x, 3), 3);
    assert_int_equal(step_of_sample(&x, 4), INT64_MAX - 6);
    assert_int_equal(step_of_sample(&x, 5), INT64_MIN + 1);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_operators_are_left_out),
        cmocka_unit_test(a_source_that_is_nearly_empty_is_slow),
        cmocka_unit_test(full_queues_mean_a_slow_consumer),
        cmocka_unit_test(the_flow_names_one_suspect),
        cmocka_unit_test(other_producers_tell_their_loading),
        cmocka_unit_test(samples_of_processors_have_means),
        cmocka_unit_test(operators_have_the_means_of_their_processors),
        cmocka_unit_test(a_sample_is_of_the_last_batch_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
