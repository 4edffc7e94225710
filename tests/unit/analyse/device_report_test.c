/* device_report_test.c: devices of a run side by side: steps, links, operations, memory. */
#include "analyse/vendor/device_report.h"
#include "built_run.h"

#define MS ((int64_t)1000000)

static void add_part(built *x, int64_t number, const char *stage, int64_t start_ms,
                     int64_t ms) {
    row_producer_step s = {.number = number,
                           .stage = built_str(x, stage),
                           .start = start_ms * MS,
                           .duration = ms * MS};
    assert_int_equal(builder_put_producer_step(x->b, &s, NULL), OK);
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

static void steps_of_all_devices_are_side_by_side(void **state) {
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

static void the_greatest_rank_is_of_no_stage(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 1);
    r.first_rank = INT64_MAX;
    add_step(&r.w[0], 1, 0, 0, 2);
    add_part(&r.w[0], ABSENT_I64, "interval", 0, 7);
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "cluster_steps");
    assert_int_equal(built_int(t, 0, "rank"), INT64_MAX);
    assert_int_equal(built_int(t, 0, "stage"), ABSENT_I64);
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
        row_parallel parallel = row_parallel_none();
        row_step_part parts = row_step_part_none();
        parallel.stages = 2;
        BUILT_PUT(&r.w[i], parallel, parallel);
        add_step(&r.w[i], 1, 0, 0, 2);
        parts.number = 1;
        parts.computation = 3500000;
        parts.receive = 4 * MS;
        BUILT_PUT(&r.w[i], step_part, parts);
        parts = row_step_part_none();
        parts.computation = MS;
        parts.collective = 2 * MS;
        BUILT_PUT(&r.w[i], step_part, parts);
    }
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "cluster_steps");
    assert_int_equal(t->n_rows, 8);
    assert_int_equal(built_int(t, 0, "computation"), MS); /* the producer's average */
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

static void add_link(built *x, int64_t step, const char *kind, int64_t time, int64_t bytes) {
    row_link row = row_link_none();
    row.step = step;
    row.source = 0;
    row.target = 1;
    row.kind = built_str(x, kind);
    row.time = time;
    row.bytes = bytes;
    row.waiting = time ? ABSENT_I64 : MS / 4;
    BUILT_PUT(x, link, row);
}

/* A step with a collective, and an average without. */
static void add_costs(built *x) {
    row_comm_cost cost = {
        .step = 1, .communication = 2500000, .waiting = MS / 2, .operators = 1};
    row_comm_cost_op op = {.cost = 1,
                           .name = built_str(x, "AllReduce-op9"),
                           .communication = 2500000,
                           .waiting = MS / 2};
    BUILT_PUT(x, comm_cost, cost);
    cost = row_comm_cost_none();
    cost.communication = 2 * MS;
    BUILT_PUT(x, comm_cost, cost);
    BUILT_PUT(x, comm_cost_op, op);
}

static void links_have_bytes_over_time(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    add_costs(&r.w[0]);
    add_link(&r.w[0], 1, "SDMA", 2500000, 512000);
    add_link(&r.w[0], 1, "RDMA", 0, 1000);
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

static void collectives_belong_to_their_step(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    add_costs(&r.w[0]);
    r.w[0].params.first_step = r.w[0].params.last_step = 1;
    run_ask(&r, analyse_distributed);
    const table *t = built_table(&r.w[0], "communication_ops");
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(built_int(t, 0, "step"), 1);
    assert_true(built_is(t, 0, "name", "AllReduce-op9"));
    assert_int_equal(built_int(t, 0, "communication"), 2500000);
    run_end(&r);
}

static void operations_are_shares_of_the_most(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 3);
    row_resource row = row_resource_none();
    row.flops = 50e6;
    row.utilization = 0.125;
    BUILT_PUT(&r.w[0], resource, row);
    row.flops = 100e6;
    row.flops_per_s = 4e9;
    BUILT_PUT(&r.w[1], resource, row);
    row = row_resource_none();
    row.memory_peak = (int64_t)8 << 30;
    row.memory_capacity = (int64_t)32 << 30;
    BUILT_PUT(&r.w[2], resource, row);
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

/* What a summary keeps is what the trace has: the same tables from both. */
static void a_summary_answers_like_the_trace(void **state) {
    built x;
    summary *s = summary_new();
    device_report of_trace, of_summary;
    (void)state;
    built_init(&x);
    add_costs(&x);
    add_link(&x, 1, "SDMA", 2500000, 512000);
    row_resource row = row_resource_none();
    row.flops = 50e6;
    BUILT_PUT(&x, resource, row);
    built_seal(&x);
    x.at.worker = STR("w");
    summary_add_worker(s)->name = summary_text(s, STR("w"));
    assert_int_equal(device_report_reduce(&x.at, summary_text(s, STR("w")), &x.arena, s, NULL),
                     OK);
    assert_int_equal(summary_settle(s, NULL), OK);
    trace *t = trace_of_summary(s);
    analysis_trace kept = {.trace = t, .worker = STR("w")};
    analysis_input in = {.traces = &x.at, .n_traces = 1},
                   other = {.traces = &kept, .n_traces = 1};
    assert_int_equal(device_report_make(&in, &x.arena, &of_trace, NULL), OK);
    assert_int_equal(device_report_make(&other, &x.arena, &of_summary, NULL), OK);
    assert_int_equal(of_summary.n, 1);
    assert_int_equal(of_summary.v->n_comms, 2);
    assert_int_equal(of_summary.v->comms[0].operators, of_trace.v->comms[0].operators);
    assert_int_equal(of_summary.v->comm_ops[0].cost, 1);
    assert_true(str_eq(of_summary.v->comm_ops[0].name, of_trace.v->comm_ops[0].name));
    assert_int_equal(of_summary.v->n_links, 1);
    assert_int_equal(of_summary.v->links[0].bytes, of_trace.v->links[0].bytes);
    assert_true(of_summary.v->flops == 50e6);
    assert_true(isnan(of_summary.v->flops_per_s));
    trace_release(t);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_all_devices_are_side_by_side),
        cmocka_unit_test(the_greatest_rank_is_of_no_stage),
        cmocka_unit_test(one_step_can_be_chosen),
        cmocka_unit_test(parts_come_from_the_producers_table),
        cmocka_unit_test(parts_are_found_from_device_work),
        cmocka_unit_test(links_have_bytes_over_time),
        cmocka_unit_test(collectives_belong_to_their_step),
        cmocka_unit_test(operations_are_shares_of_the_most),
        cmocka_unit_test(a_summary_answers_like_the_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
