/* advice_cluster_test.c: rules that compare devices by their producer's figures. */
#include "built_run.h"

#define MS ((int64_t)1000000)

/* One step of 10 ms with this interval, and the parts of a cluster table. */
static void add_worker(built *x, int64_t interval_us, const char *parts) {
    row_given_step s = {.number = 1,
                        .stage = built_str(x, "interval"),
                        .start = 0,
                        .duration = interval_us * 1000};
    built_slice(x, 9, KIND_STEP, "Step 1", 0, 10 * MS);
    assert_int_equal(builder_put_given_step(x->b, &s, NULL), OK);
    s = (row_given_step){.number = 1,
                         .stage = built_str(x, "forward_backward"),
                         .start = interval_us * 1000,
                         .duration = 9 * MS - interval_us * 1000};
    assert_int_equal(builder_put_given_step(x->b, &s, NULL), OK);
    if (parts) built_meta(x, "cluster_steps", parts);
}

static size_t row_of(const built_run *r, const char *id) {
    const table *t = built_table(&r->w[0], "advice");
    for (size_t i = 0; i < t->n_rows; i++)
        if (built_is(t, i, "id", id)) return i;
    return SIZE_MAX;
}

static int64_t saved(const built_run *r, const char *id) {
    size_t row = row_of(r, id);
    if (row == SIZE_MAX) fail_msg("%s did not fire", id);
    return built_int(built_table(&r->w[0], "advice"), row, "saves");
}

#define PARTS(stages, computation, communication, receive, collective)                     \
    "{\"mode\": \"pipeline-parallel\", \"stages\": " stages ", \"ranks\": 4, \"steps\": [" \
    "{\"computation_time\": " computation ", \"communication_alone_time\": " communication \
    ", \"receive_alone_time\": " receive                                                   \
    ", \"collective_communication_alone_time\": " collective "}]}"

static void stages_are_told_apart(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 4);
    for (int i = 0; i < 4; i++) {
        add_worker(&r.w[i], 100,
                   i < 2 ? PARTS("2", "6", "4", "2", "2") : PARTS("2", "9", "1", "0", "1"));
        built_meta(&r.w[i], "flops_summary", i < 2 ? "{\"FLOPs\": 30}" : "{\"FLOPs\": 10}");
    }
    run_ask(&r, analyse_advise);
    /* 4 of 40 ms receive: a tenth is not more than a tenth */
    assert_true(row_of(&r, "stage_receive") == SIZE_MAX);
    assert_int_equal(saved(&r, "stage_collective"), 2 * MS); /* 2 of 10 in stage 1 */
    assert_int_equal(saved(&r, "stage_flops"), ABSENT_I64);  /* 30 against a mean of 20 */
    assert_true(row_of(&r, "parallel_communication") == SIZE_MAX);
    run_end(&r);
}

static void receiving_too_long_is_named(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    for (int i = 0; i < 2; i++) add_worker(&r.w[i], 100, PARTS("2", "7", "3", "2.5", "0.5"));
    run_ask(&r, analyse_advise);
    assert_int_equal(saved(&r, "stage_receive"), 2500000);
    assert_true(row_of(&r, "stage_collective") == SIZE_MAX);
    run_end(&r);
}

static void without_stages_all_communication_counts(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    for (int i = 0; i < 2; i++)
        add_worker(&r.w[i], 100,
                   "{\"mode\": \"model-parallel\", \"steps\": [{\"computation_time\": 8,"
                   " \"communication_alone_time\": 2}]}");
    run_ask(&r, analyse_advise);
    assert_int_equal(saved(&r, "parallel_communication"), 2 * MS);
    run_end(&r);
}

static void one_device_that_waits_for_data_is_named(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 3);
    for (int i = 0; i < 3; i++) add_worker(&r.w[i], i == 1 ? 800 : 200, NULL);
    run_ask(&r, analyse_advise);
    assert_int_equal(saved(&r, "interval_imbalance"), 400000);
    assert_true(built_is(built_table(&r.w[0], "advice"), row_of(&r, "interval_imbalance"),
                         "name", "rank1"));
    run_end(&r);
}

static void a_slow_link_and_a_slow_device_are_named(void **state) {
    static const char *const links[] = {"8000.0", "8000.0", "2000.0"};
    built_run r;
    (void)state;
    run_begin(&r, 3);
    for (int i = 0; i < 3; i++) {
        char json[256];
        snprintf(json, sizeof json,
                 "[{\"step\": null, \"links\": {\"0-1\": {\"SDMA\": [1.0, %s, 0]}, \"1-1\": "
                 "{\"SDMA\": [1.0, 1.0, 0]}}}]",
                 links[i]);
        add_worker(&r.w[i], 100, NULL);
        built_meta(&r.w[i], "hccl", json);
        built_meta(&r.w[i], "flops_summary",
                   i == 2 ? "{\"FLOPs\": 1, \"FLOPS\": 10}" : "{\"FLOPs\": 1, \"FLOPS\": 25}");
    }
    run_ask(&r, analyse_advise);
    const table *t = built_table(&r.w[0], "advice");
    assert_true(built_is(t, row_of(&r, "slow_link"), "name", "rank2"));
    assert_true(built_is(t, row_of(&r, "slow_device"), "name", "rank2"));
    run_end(&r);
}

static void equal_devices_are_left_alone(void **state) {
    static const char *const ids[] = {"interval_imbalance", "slow_device", "slow_link",
                                      "parallel_communication", "stage_flops"};
    built_run r;
    (void)state;
    run_begin(&r, 2);
    for (int i = 0; i < 2; i++) {
        add_worker(&r.w[i], 100, PARTS("2", "9.5", "0.5", "0.2", "0.3"));
        built_meta(&r.w[i], "flops_summary", "{\"FLOPs\": 10, \"FLOPS\": 5}");
        built_meta(&r.w[i], "hccl",
                   "[{\"step\": null, \"links\": {\"0-1\": {\"SDMA\": [1, 2]}}}]");
    }
    run_ask(&r, analyse_advise);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_true(row_of(&r, ids[i]) == SIZE_MAX);
    run_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_are_told_apart),
        cmocka_unit_test(receiving_too_long_is_named),
        cmocka_unit_test(without_stages_all_communication_counts),
        cmocka_unit_test(one_device_that_waits_for_data_is_named),
        cmocka_unit_test(a_slow_link_and_a_slow_device_are_named),
        cmocka_unit_test(equal_devices_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
