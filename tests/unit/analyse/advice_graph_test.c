/* advice_graph_test.c: rules about step traces, input pipelines and operators of compiled graphs. */
#include "built_run.h"

#define MS ((int64_t)1000000)
#define US ((int64_t)1000)

static void add_part(built *x, const char *stage, int64_t start_us, int64_t us) {
    row_producer_step s = {
        .number = 1, .stage = built_str(x, stage), .start = start_us * US, .duration = us * US};
    assert_int_equal(builder_put_producer_step(x->b, &s, NULL), OK);
}

/* A step of 10 ms with this interval and tail. */
static void add_step(built *x, int64_t interval_us, int64_t tail_us) {
    built_slice(x, 9, KIND_STEP, "Step 1", 0, 10 * MS);
    add_part(x, "total", 0, 10000);
    add_part(x, "interval", 0, interval_us);
    add_part(x, "forward_backward", interval_us, 10000 - interval_us - tail_us);
    add_part(x, "tail", 10000 - tail_us, tail_us);
}

/* An operator of the pipeline with its queue of 10 so full, the first being the root. */
static void add_pipe(built *x, const char *type, int64_t id, uint32_t parent, int64_t size) {
    row_pipe_op op = {.name = built_str(x, type),
                      .parent = parent,
                      .workers = 1,
                      .capacity = id ? 10 : ABSENT_I64,
                      .id = id,
                      .interval = ABSENT_I64};
    assert_int_equal(builder_put_pipe_op(x->b, &op, NULL), OK);
    if (!id) return;
    row_queue_sample s = {.pipe_op = (uint32_t)id + 1,
                          .time = 0,
                          .step = ABSENT_I64,
                          .size = size,
                          .capacity = 10,
                          .get = ABSENT_I64,
                          .push = ABSENT_I64,
                          .total = ABSENT_I64};
    assert_int_equal(builder_put_queue_sample(x->b, &s, NULL), OK);
}

/* A queue of the host or the device: so many of ten batches found it empty. */
static void add_queue(built *x, uint32_t row, uint8_t role, int empty) {
    row_pipe_op op = {.name = built_str(x, "queue"),
                      .workers = ABSENT_I32,
                      .capacity = ABSENT_I64,
                      .id = ABSENT_I64,
                      .interval = ABSENT_I64,
                      .role = role};
    assert_int_equal(builder_put_pipe_op(x->b, &op, NULL), OK);
    for (int i = 0; i < 10; i++) {
        row_queue_sample s = {.pipe_op = row,
                              .time = i,
                              .step = i + 1,
                              .size = i < empty ? 0 : 5,
                              .capacity = 8,
                              .get = ABSENT_I64,
                              .push = ABSENT_I64,
                              .total = ABSENT_I64};
        assert_int_equal(builder_put_queue_sample(x->b, &s, NULL), OK);
    }
}

static void add_type(built *x, const char *side, const char *type, int64_t us) {
    row_producer_op g = row_producer_op_none();
    g.name = g.full_name = g.type = built_str(x, type);
    g.side = built_str(x, side);
    g.level = PRODUCER_TYPE;
    g.calls = 2;
    g.total = us * US;
    assert_int_equal(builder_put_producer_op(x->b, &g, NULL), OK);
}

static size_t row_of(const built_run *r, const char *id) {
    const table *t = built_table(&r->w[0], "advice");
    for (size_t i = 0; i < t->n_rows; i++)
        if (built_is(t, i, "id", id)) return i;
    return SIZE_MAX;
}

static void assert_saves(const built_run *r, const char *id, int64_t saves) {
    size_t row = row_of(r, id);
    if (row == SIZE_MAX) fail_msg("%s did not fire", id);
    const table *t = built_table(&r->w[0], "advice");
    if (built_is(t, row, "included_in", NULL)) {
        assert_int_equal(built_int(t, row, "saves"), saves);
        return;
    }
    /* One interval: what it saves alone is not known. */
    assert_int_equal(built_int(t, row, "saves"), ABSENT_I64);
    const verdict *v = t->columns[table_column(t, STR("values"))].v.sentence[row];
    for (uint32_t i = 0; i < v->n_args; i++) /* the evidence has all of it */
        if (strcmp(v->args[i].name, "time") == 0) assert_int_equal(v->args[i].u.i, saves);
}

static void assert_silent(const built_run *r, const char *id) {
    if (row_of(r, id) != SIZE_MAX) fail_msg("%s fired", id);
}

static void a_long_interval_is_late_data(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    add_step(&r.w[0], 501, 1000);
    run_ask(&r, analyse_advise);
    assert_saves(&r, "step_interval", 501 * US);
    assert_int_equal(
        built_int(built_table(&r.w[0], "advice"), row_of(&r, "step_interval"), "to"), 501 * US);
    assert_silent(&r, "data_loader_slow");
    assert_silent(&r, "long_tail");
    run_end(&r);
}

static void half_a_millisecond_is_not_long(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    add_step(&r.w[0], 500, 2000);
    run_ask(&r, analyse_advise);
    assert_silent(&r, "step_interval");
    assert_saves(&r, "long_tail", 2 * MS);
    run_end(&r);
}

static void slow_operators_are_named_by_class(void **state) {
    static const struct {
        const char *type, *id;
    } cases[] = {{"MapOp", "pipeline_map"},
                 {"BatchOp", "pipeline_batch"},
                 {"ShuffleOp", "pipeline_other"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        built_run r;
        run_begin(&r, 1);
        add_step(&r.w[0], 3000, 1000);
        add_pipe(&r.w[0], "DeviceQueueOp", 0, 0, 0);
        add_pipe(&r.w[0], cases[i].type, 1, 1, 1);
        add_pipe(&r.w[0], "TFReaderOp", 2, 2, 9);
        add_queue(&r.w[0], 4, PIPE_HOST_QUEUE, 4);
        run_ask(&r, analyse_advise);
        assert_saves(&r, "host_queue_empty", 3 * MS);
        assert_saves(&r, cases[i].id, 3 * MS);
        assert_silent(&r, "pipeline_dataset");
        run_end(&r);
    }
}

static void sources_and_generators_have_their_own_remedy(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1); /* no step trace and no queue: nothing says that data is in time */
    add_pipe(&r.w[0], "BatchOp", 0, 0, 0);
    add_pipe(&r.w[0], "TFReaderOp", 1, 1, 1);
    add_pipe(&r.w[0], "GeneratorOp", 2, 1, 2);
    run_ask(&r, analyse_advise);
    assert_saves(&r, "pipeline_dataset", ABSENT_I64);
    assert_saves(&r, "pipeline_generator", ABSENT_I64);
    run_end(&r);
}

static void a_pipeline_that_keeps_up_is_left_alone(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    add_step(&r.w[0], 3000, 1000);
    add_pipe(&r.w[0], "BatchOp", 0, 0, 0);
    add_pipe(&r.w[0], "TFReaderOp", 1, 1, 1);
    add_queue(&r.w[0], 3, PIPE_HOST_QUEUE, 3); /* three of ten is not more than 30 % */
    add_queue(&r.w[0], 4, PIPE_DATA_QUEUE, 2);
    run_ask(&r, analyse_advise);
    assert_silent(&r, "host_queue_empty");
    assert_silent(&r, "pipeline_dataset");
    assert_saves(&r, "data_queue_empty", 3 * MS);
    run_end(&r);
}

static void busy_processors_are_reported(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    row_cpu_sample idle = {.op = ABSENT_I64, .kind = built_str(&r.w[0], "idle"), .value = 11};
    BUILT_PUT(&r.w[0], cpu_sample, idle);
    run_ask(&r, analyse_advise);
    assert_saves(&r, "host_cpu_busy", ABSENT_I64);
    run_end(&r);
}

static void operators_of_the_ai_cpu_and_conversions(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    add_type(&r.w[0], "AI Core", "MatMul", 800);
    add_type(&r.w[0], "AI Core", "TransData", 60);
    add_type(&r.w[0], "AI Core", "Cast", 40);
    add_type(&r.w[0], "AI CPU", "GetNext", 40); /* fetches data: not counted */
    add_type(&r.w[0], "AI CPU", "TopK", 60);
    run_ask(&r, analyse_advise);
    const table *t = built_table(&r.w[0], "advice");
    assert_true(built_is(t, row_of(&r, "ai_cpu_operators"), "name", "TopK"));
    assert_true(built_is(t, row_of(&r, "type_conversions"), "name", "TransData"));
    run_end(&r);
}

static void add_finding(built *x, finding_topic topic, const char *model, const char *summary,
                        const char *advice) {
    row_finding row = {.topic = (uint8_t)topic,
                       .model = built_str(x, model),
                       .summary = built_str(x, summary),
                       .advice = built_str(x, advice)};
    BUILT_PUT(x, finding, row);
}

static void add_finding_op(built *x, const char *name, int64_t calls, double share) {
    row_finding_op row = {
        .finding = 1, .name = built_str(x, name), .calls = calls, .share = share};
    BUILT_PUT(x, finding_op, row);
}

/* The named values of a rule's sentences. */
static const verdict *words_of(built_run *r, const char *id) {
    const table *t = built_table(&r->w[0], "advice");
    for (uint32_t c = 0; c < t->n_columns; c++)
        if (strcmp(t->columns[c].name, "values") == 0)
            return t->columns[c].v.sentence[row_of(r, id)];
    fail_msg("no values");
    return NULL;
}

static void an_advisors_findings_are_reported(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    add_type(&r.w[0], "AI Core", "MatMul", 800);
    add_type(&r.w[0], "AI CPU", "TopK", 60);
    add_finding(&r.w[0], FINDING_AI_CPU, "AICPUModel", "Needs \"work\"", "avoid");
    add_finding_op(&r.w[0], "TopK", 12, 0.305);
    add_finding_op(&r.w[0], "Sort", 1, 0.02);
    add_finding(&r.w[0], FINDING_OTHER, "TransDataModel", "Much", "one; two");
    run_ask(&r, analyse_advise);
    const table *t = built_table(&r.w[0], "advice");
    assert_saves(&r, "advisor_ai_cpu", ABSENT_I64);
    assert_true(built_is(t, row_of(&r, "advisor_ai_cpu"), "name", "TopK"));
    const verdict *v = words_of(&r, "advisor_ai_cpu");
    assert_true(str_eq(v->args[0].u.text, STR("Needs \"work\"")));
    assert_true(str_eq(v->args[1].u.text, STR("TopK × 12 (30.5 %), Sort × 1 (2.0 %)")));
    v = words_of(&r, "advisor_model");
    assert_true(str_eq(v->args[0].u.text, STR("TransDataModel")));
    assert_true(str_eq(v->args[2].u.text, STR("one; two")));
    assert_silent(&r, "ai_cpu_operators"); /* the advisor tells the same story */
    run_end(&r);
}

static void an_advisor_without_findings_is_silent(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    run_ask(&r, analyse_advise);
    assert_silent(&r, "advisor_ai_cpu");
    assert_silent(&r, "advisor_model");
    run_end(&r);
}

static void few_conversions_are_fine(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    add_type(&r.w[0], "AI Core", "MatMul", 910);
    add_type(&r.w[0], "AI Core", "Cast", 90);
    add_type(&r.w[0], "host", "Cast", 9000); /* not on the device */
    run_ask(&r, analyse_advise);
    assert_silent(&r, "type_conversions");
    assert_silent(&r, "ai_cpu_operators");
    run_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_interval_is_late_data),
        cmocka_unit_test(half_a_millisecond_is_not_long),
        cmocka_unit_test(slow_operators_are_named_by_class),
        cmocka_unit_test(sources_and_generators_have_their_own_remedy),
        cmocka_unit_test(a_pipeline_that_keeps_up_is_left_alone),
        cmocka_unit_test(busy_processors_are_reported),
        cmocka_unit_test(operators_of_the_ai_cpu_and_conversions),
        cmocka_unit_test(few_conversions_are_fine),
        cmocka_unit_test(an_advisors_findings_are_reported),
        cmocka_unit_test(an_advisor_without_findings_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
