/* device_report_test.c: devices of a run side by side: steps, links, operations, memory. */
#include "analyse/producer/device_report.h"
#include "built_run.h"

#define MS ((int64_t)1000000)

static void add_part(built *x, int64_t number, const char *stage, int64_t start_ms,
                     int64_t ms) {
    row_given_step s = {.number = number,
                        .stage = built_str(x, stage),
                        .start = start_ms * MS,
                        .duration = ms * MS};
    assert_int_equal(builder_put_given_step(x->b, &s, NULL), OK);
}

/* A step of 10 ms from `start`: interval, forward and backward, tail. */
static void add_step(built *x, int64_t number, int64_t start, int64_t interval, int64_t tail) {
    char name[32];
    snprintf(name, sizeof name, "Step %d", (int)number);
    built_slice(x, 9, KIND_STEP, name, start * MS, 10 * MS);
    add_part(x, number, "total", start, 10);
    add_part(x, number, "interval", start, interval);
    add_part(x, number, "forward_backward", start + interval, 10 - interval - tail);
    add_part(x, number, "tail", start + 10 - tail, tail);
}

static void steps_of_all_devices_stand_side_by_side(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    for (int i = 0; i < 2; i++) {
        add_step(&r.w[i], 1, 0, 0, 2);
        add_step(&r.w[i], 2, 10, 1 + i, 2);
    }
    add_part(&r.w[1], ABSENT_I64, "interval", 0, 7); /* the producer's own average stays */
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "cluster_steps");
    assert_int_equal(t->n_rows, 6);
    assert_int_equal(built_int(t, 0, "step"), ABSENT_I64);
    assert_int_equal(built_int(t, 0, "interval"), MS / 2);
    assert_int_equal(built_int(t, 0, "tail"), 2 * MS);
    assert_int_equal(built_int(t, 3, "interval"), 7 * MS);
    assert_int_equal(built_int(t, 5, "rank"), 1);
    assert_int_equal(built_int(t, 5, "step"), 2);
    assert_int_equal(built_int(t, 5, "interval"), 2 * MS);
    assert_int_equal(built_int(t, 5, "forward_backward"), 6 * MS);
    assert_int_equal(built_int(t, 5, "computation"), ABSENT_I64);
    assert_int_equal(built_int(t, 5, "stage"), 1);
    run_end(&r);
}

static void one_step_can_be_chosen(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    for (int i = 0; i < 2; i++) {
        add_step(&r.w[i], 1, 0, 0, 2);
        add_step(&r.w[i], 2, 10, 1, 2);
    }
    r.w[0].params.first_step = r.w[0].params.last_step = 2;
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "cluster_steps");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 1, "step"), 2);
    run_end(&r);
}

static void parts_come_from_the_producers_table(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 4);
    for (int i = 0; i < 4; i++) {
        add_step(&r.w[i], 1, 0, 0, 2);
        built_meta(&r.w[i], "cluster_steps",
                   "{\"mode\": \"pipeline-parallel\", \"stages\": 2, \"ranks\": 4, \"steps\": ["
                   "{\"computation_time\": 3.5, \"communication_alone_time\": 6.5,"
                   " \"receive_alone_time\": 4.0},"
                   "{\"computation\": 1, \"collective_communication_time\": 2}]}");
    }
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "cluster_steps");
    assert_int_equal(t->n_rows, 8);
    assert_int_equal(built_int(t, 0, "computation"), MS); /* the last row is the average */
    assert_int_equal(built_int(t, 0, "collective_alone"), 2 * MS);
    assert_int_equal(built_int(t, 1, "computation"), 3500000);
    assert_int_equal(built_int(t, 1, "receive_alone"), 4 * MS);
    assert_int_equal(built_int(t, 1, "stage"), 1);
    assert_int_equal(built_int(t, 7, "stage"), 2);
    run_end(&r);
}

/* Computing [0, 4) and [6, 10) of the step, a collective [3, 5), a receive [5, 7). */
static void parts_are_found_from_device_work(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    built *x = &r.w[0];
    add_step(x, 1, 0, 0, 2);
    built_slice(x, 1, KIND_KERNEL, "MatMul-op1", 0, 4 * MS);
    built_slice(x, 1, KIND_KERNEL, "MatMul-op2", 6 * MS, 4 * MS);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "Receive-op4" : "AllReduce-op3";
        raw_slice row = {.start = (i ? 5 : 3) * MS,
                         .dur = 2 * MS,
                         .kind = KIND_KERNEL,
                         .name = built_str(x, name)};
        raw_kernel k = {.correlation = ABSENT_I64, .external = ABSENT_I64};
        row.track = part_track(x->p, (ident){.v = 1}, (ident){.v = 2 + i});
        assert_int_equal(part_kernel(x->p, &k, &row), OK);
        assert_int_equal(part_comm(x->p, &(raw_comm){.slice = part_next_slice(x->p),
                                                     .name = row.name,
                                                     .sequence = ABSENT_I64,
                                                     .comms_id = ABSENT_I64,
                                                     .in_elements = ABSENT_I64,
                                                     .out_elements = ABSENT_I64,
                                                     .group_size = ABSENT_I64,
                                                     .src = ABSENT_I32,
                                                     .dst = ABSENT_I32}),
                         OK);
        assert_int_equal(part_slice(x->p, &row), OK);
    }
    run_ask(&r, analyse_distributed);
    const table *t = built_table(x, "cluster_steps");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 1, "communication_alone"), 2 * MS);
    assert_int_equal(built_int(t, 1, "computation"), 8 * MS);
    assert_int_equal(built_int(t, 1, "receive_alone"), MS);
    assert_int_equal(built_int(t, 1, "collective_alone"), MS);
    assert_int_equal(built_int(t, 1, "stage_time"), 9 * MS);
    assert_int_equal(built_int(t, 0, "communication_alone"), 2 * MS);
    run_end(&r);
}

static void links_have_bytes_over_time(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    built_meta(&r.w[0], "hccl",
               "[{\"step\": 1, \"communication\": 2.5, \"wait\": 0.5, \"links\": {\"0-1\": "
               "{\"SDMA\": [2.5, 512.0, 7.0], \"RDMA\": [0.0, 1, 2, 0.25]}, \"damaged\": {}}, "
               "\"operators\": {\"AllReduce-op9\": [\"1\", 2.5, 0.5, {}]}},"
               "{\"step\": null, \"communication\": 2, \"wait\": 1, \"links\": null,"
               " \"operators\": null}]");
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "communication");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 0, "waiting"), MS / 2);
    assert_int_equal(built_int(t, 0, "operators"), 1);
    assert_int_equal(built_int(t, 1, "step"), ABSENT_I64);
    assert_int_equal(built_int(t, 1, "operators"), ABSENT_I64);
    t = built_table(&r.w[0], "links");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 0, "bytes"), 512000);
    assert_true(built_real(t, 0, "bandwidth") == 512000 / 2.5e-3);
    assert_true(built_is(t, 1, "kind", "RDMA"));
    assert_true(isnan(built_real(t, 1, "bandwidth")));
    assert_int_equal(built_int(t, 1, "waiting"), MS / 4);
    /* operators of the average alone, unless steps are chosen */
    assert_int_equal(built_table(&r.w[0], "communication_ops")->n_rows, 0);
    run_end(&r);
}

static void operations_are_shares_of_the_most(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 3);
    built_meta(&r.w[0], "flops_summary",
               "{\"FLOPs\": 50.0, \"FLOPS\": 2.5, \"FLOPS_Utilization\": 12.5}");
    built_meta(
        &r.w[1], "flops_summary",
        "{\"cube_FLOPs\": 80.0, \"cube_FLOPS\": 3, \"vec_FLOPs\": 20.0, \"vec_FLOPS\": 1}");
    built_meta(&r.w[2], "memory_usage_summary", "{\"capacity\": 32.0, \"peak_mem\": 8.0}");
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "resources");
    assert_int_equal(t->n_rows, 3);
    assert_true(built_real(t, 0, "flops") == 50e6);
    assert_true(built_real(t, 0, "flops_share") == 0.5);
    assert_true(built_real(t, 0, "flops_utilization") == 0.125);
    assert_true(built_real(t, 1, "flops") == 100e6);
    assert_true(built_real(t, 1, "flops_per_s") == 4e9);
    assert_true(isnan(built_real(t, 2, "flops")));
    assert_int_equal(built_int(t, 2, "memory_peak"), (int64_t)8 << 30);
    assert_true(built_real(t, 2, "memory_share") == 0.25);
    run_end(&r);
}

static void damaged_tables_give_no_rows(void **state) {
    static const char *const damaged[] = {"", "[", "{\"steps\": 3}", "[1, [], {}]",
                                          "{\"steps\": [[], {\"computation_time\": \"x\"}]}"};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        built_run r;
        run_begin(&r, 1);
        built_meta(&r.w[0], "hccl", damaged[i]);
        built_meta(&r.w[0], "cluster_steps", damaged[i]);
        built_meta(&r.w[0], "flops_summary", damaged[i]);
        run_ask(&r, analyse_distributed);
        assert_int_equal(built_table(&r.w[0], "links")->n_rows, 0);
        assert_int_equal(built_table(&r.w[0], "resources")->n_rows, 0);
        run_end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_all_devices_stand_side_by_side),
        cmocka_unit_test(one_step_can_be_chosen),
        cmocka_unit_test(parts_come_from_the_producers_table),
        cmocka_unit_test(parts_are_found_from_device_work),
        cmocka_unit_test(links_have_bytes_over_time),
        cmocka_unit_test(operations_are_shares_of_the_most),
        cmocka_unit_test(damaged_tables_give_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
