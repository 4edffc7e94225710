/* advice_cluster_test.c: rules that compare devices by their producer's figures. */
#include <math.h>

#include "built_run.h"

#define MS ((int64_t)1000000)

/* One step of 10 ms with this interval, and the parts of a cluster table. */
typedef struct {
    const char *kind;
    int64_t stages;
    double computation, communication, receive, collective; /* ms */
} parts;

static int64_t ns(double ms) {
    return isnan(ms) ? ABSENT_I64 : (int64_t)(ms * 1e6);
}

/* A step and its average. */
static void add_parts(built *x, const parts *p) {
    row_parallel parallel = row_parallel_none();
    row_step_part row = {.number = 1,
                         .computation = ns(p->computation),
                         .communication = ns(p->communication),
                         .stage = ABSENT_I64,
                         .receive = ns(p->receive),
                         .collective = ns(p->collective)};
    parallel.kind = built_str(x, p->kind);
    parallel.stages = p->stages;
    BUILT_PUT(x, parallel, parallel);
    BUILT_PUT(x, step_part, row);
    row.number = ABSENT_I64;
    BUILT_PUT(x, step_part, row);
}

static void add_flops(built *x, double flops, double per_s) {
    row_resource row = row_resource_none();
    row.flops = flops;
    row.flops_per_s = per_s;
    BUILT_PUT(x, resource, row);
}

static void add_link(built *x, int64_t target, int64_t bytes) {
    row_link row = row_link_none();
    row.source = target ? 0 : 1;
    row.target = 1;
    row.kind = built_str(x, "SDMA");
    row.time = MS;
    row.bytes = bytes;
    BUILT_PUT(x, link, row);
}

static void add_worker(built *x, int64_t interval_us, const parts *p) {
    row_producer_step s = {.number = 1,
                           .stage = built_str(x, "interval"),
                           .start = 0,
                           .duration = interval_us * 1000};
    built_slice(x, 9, KIND_STEP, "Step 1", 0, 10 * MS);
    assert_int_equal(builder_put_producer_step(x->b, &s, NULL), OK);
    s = (row_producer_step){.number = 1,
                            .stage = built_str(x, "forward_backward"),
                            .start = interval_us * 1000,
                            .duration = 9 * MS - interval_us * 1000};
    assert_int_equal(builder_put_producer_step(x->b, &s, NULL), OK);
    if (p) add_parts(x, p);
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

#define PARTS(computation, communication, receive, collective) \
    (&(parts){"pipeline-parallel", 2, computation, communication, receive, collective})

static void stages_are_distinguished(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 4);
    for (int i = 0; i < 4; i++) {
        add_worker(&r.w[i], 100, i < 2 ? PARTS(6, 4, 2, 2) : PARTS(9, 1, 0, 1));
        add_flops(&r.w[i], i < 2 ? 30e6 : 10e6, (double)NAN);
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
    for (int i = 0; i < 2; i++) add_worker(&r.w[i], 100, PARTS(7, 3, 2.5, 0.5));
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
                   &(parts){"model-parallel", ABSENT_I64, 8, 2, (double)NAN, (double)NAN});
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
    built_run r;
    (void)state;
    run_begin(&r, 3);
    for (int i = 0; i < 3; i++) {
        add_worker(&r.w[i], 100, NULL);
        add_link(&r.w[i], 1, i == 2 ? 2000000 : 8000000);
        add_link(&r.w[i], 0, 1000); /* to itself */
        add_flops(&r.w[i], 1e6, i == 2 ? 10e9 : 25e9);
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
        add_worker(&r.w[i], 100, PARTS(9.5, 0.5, 0.2, 0.3));
        add_flops(&r.w[i], 10e6, 5e9);
        add_link(&r.w[i], 1, 2000);
    }
    run_ask(&r, analyse_advise);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_true(row_of(&r, ids[i]) == SIZE_MAX);
    run_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_are_distinguished),
        cmocka_unit_test(receiving_too_long_is_named),
        cmocka_unit_test(without_stages_all_communication_counts),
        cmocka_unit_test(one_device_that_waits_for_data_is_named),
        cmocka_unit_test(a_slow_link_and_a_slow_device_are_named),
        cmocka_unit_test(equal_devices_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
