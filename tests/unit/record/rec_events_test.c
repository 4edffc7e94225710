/* rec_events_test.c: what a program records is read back unchanged. */
#include "unit/record/record_helper.h"

#include <string.h>
#include <unistd.h>

static const char *text(const trace *t, uint32_t id) {
    static char to[4][256];
    static int turn;
    char *p = to[turn++ % 4];
    str s = trace_str(t, id);
    memcpy(p, s.p, s.n < 255 ? s.n : 255);
    p[s.n < 255 ? s.n : 255] = 0;
    return p;
}

static void nothing_is_recorded_before_start(void **state) {
    fresh_folder();
    TACHO_SCOPE("early");
    tacho_mark("early");
    tacho_counter("early", 1);
    tacho_step();
    assert_int_equal(tacho_is_recording(), 0);
    assert_int_equal(tacho_stop(), TACHO_OFF);
    char names[4][512];
    assert_int_equal(list_recordings(names, 4), 0);
}

static void ranges_nest_and_keep_their_kinds(void **state) {
    fresh_folder();
    start_all();
    {
        TACHO_SCOPE("outer");
        {
            TACHO_SCOPE_KIND("load", DATA);
            usleep(200);
        }
        tacho_begin_text("made at run time", TACHO_RANGE_FORWARD);
        TACHO_BEGIN_KIND("layer", MODULE);
        TACHO_END();
        tacho_end_range();
    }
    trace *t = stop_and_read();
    uint32_t outer = one_slice(t, "outer"), load = one_slice(t, "load"),
             forward = one_slice(t, "made at run time"), layer = one_slice(t, "layer");
    assert_int_equal(t->slice.parent[load], outer);
    assert_int_equal(t->slice.parent[forward], outer);
    assert_int_equal(t->slice.parent[layer], forward);
    assert_int_equal(t->slice.kind[outer], KIND_ANNOTATION);
    assert_int_equal(t->slice.kind[load], KIND_DATA);
    assert_int_equal(t->slice.kind[forward], KIND_FORWARD);
    assert_int_equal(t->slice.kind[layer], KIND_MODULE);
    assert_true(t->slice.dur[load] >= 200000 && t->slice.dur[load] < 500000000);
    trace_release(t);
}

static void operators_carry_shapes_types_work_and_phase(void **state) {
    const int64_t a[] = {4, 5}, b[] = {5, 6}, image[] = {2, 3, 8, 8}, filter[] = {16, 3, 3, 3},
                  result[] = {2, 16, 6, 6};
    const tacho_tensor mm[] = {{TACHO_F32, 2, a}, {TACHO_F32, 2, b}};
    const tacho_tensor conv[] = {{TACHO_F16, 4, image}, {TACHO_F16, 4, filter}};
    const tacho_tensor out = {TACHO_F16, 4, result};
    fresh_folder();
    start_all();
    tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op),
                               .name = "mm",
                               .phase = TACHO_RANGE_FORWARD,
                               .inputs = mm,
                               .n_inputs = 2,
                               .work = TACHO_WORK_MATMUL,
                               .sequence = 7});
    tacho_op_end();
    tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op),
                               .name = "conv",
                               .phase = TACHO_RANGE_BACKWARD,
                               .inputs = conv,
                               .n_inputs = 2,
                               .output = &out,
                               .work = TACHO_WORK_CONV2D,
                               .sequence = 7});
    tacho_op_end();
    tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op),
                               .name = "given",
                               .work = TACHO_WORK_GIVEN,
                               .flops = 1e9,
                               .bytes = 4096,
                               .sequence = -1});
    tacho_op_end();
    trace *t = stop_and_read();
    uint32_t row = trace_op_of(t, one_slice(t, "mm"));
    assert_true(row != 0);
    assert_string_equal(text(t, t->op.shapes[row]), "[[4, 5], [5, 6]]");
    assert_string_equal(text(t, t->op.types[row]), "[\"float\", \"float\"]");
    assert_true(t->op.flops[row] == 2.0 * 4 * 5 * 6);
    assert_int_equal(t->op.bytes[row], 4 * (20 + 30));
    assert_int_equal(t->op.phase[row], PHASE_FORWARD);
    assert_int_equal(t->op.sequence[row], 7);
    row = trace_op_of(t, one_slice(t, "conv"));
    assert_true(t->op.flops[row] == 2.0 * (2 * 16 * 6 * 6) * (3 * 3 * 3));
    assert_int_equal(t->op.phase[row], PHASE_BACKWARD);
    assert_true(t->op.forward_thread[row] > 0);
    row = trace_op_of(t, one_slice(t, "given"));
    assert_true(t->op.flops[row] == 1e9);
    assert_int_equal(t->op.bytes[row], 4096);
    assert_int_equal(t->op.sequence[row], ABSENT_I64);
    trace_release(t);
}

static void shapes_are_left_out_when_not_asked_for(void **state) {
    const int64_t a[] = {4, 5};
    const tacho_tensor in = {TACHO_F32, 2, a};
    tacho_options o = {.size = sizeof o, .path = fresh_folder()};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    tacho_op_begin(
        &(tacho_op){.size = sizeof(tacho_op), .name = "op", .inputs = &in, .n_inputs = 1});
    tacho_op_end();
    tacho_alloc(&(tacho_block){.size = sizeof(tacho_block), .bytes = 1});
    trace *t = stop_and_read();
    assert_int_equal(t->op.shapes[trace_op_of(t, one_slice(t, "op"))], 0);
    assert_int_equal(t->memory.n, 1);
    trace_release(t);
}

static tacho_block block(uint64_t address, int64_t bytes) {
    return (tacho_block){.size = sizeof(tacho_block),
                         .address = address,
                         .bytes = bytes,
                         .device = 0,
                         .allocated = -1,
                         .reserved = -1};
}

static void memory_is_added_up_when_the_program_does_not(void **state) {
    fresh_folder();
    start_all();
    tacho_block segment = block(0x1000, 1 << 20), a = block(0x1000, 300),
                b = block(0x2000, 200), unsized = block(0x1000, 0);
    tacho_reserve(&segment);
    tacho_alloc(&a);
    tacho_alloc(&b);
    tacho_release(&unsized);
    trace *t = stop_and_read();
    assert_int_equal(t->memory.n, 5);
    assert_int_equal(t->memory.reserved[1], 1 << 20);
    assert_int_equal(t->memory.allocated[3], 500);
    assert_int_equal(t->memory.bytes[4], -300);
    assert_int_equal(t->memory.allocated[4], 200);
    assert_int_equal(t->memory.partner[4], 2);
    trace_release(t);
}

static void sampled_memory_keeps_both_ends_of_a_block(void **state) {
    tacho_options o = {
        .size = sizeof o, .path = fresh_folder(), .memory = 1, .memory_every = 10};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    for (uint64_t i = 0; i < 2000; i++) {
        tacho_block b = block(0x10000 + i * 64, 64);
        tacho_alloc(&b);
        tacho_release(&b);
    }
    trace *t = stop_and_read();
    uint32_t n = t->memory.n - 1;
    assert_true(n > 200 && n < 800 && n % 2 == 0);
    for (uint32_t i = 1; i <= n; i++) {
        assert_true(t->memory.partner[i] != 0);
        assert_int_equal(t->memory.allocated[i], ABSENT_I64);
    }
    trace_release(t);
}

static void counters_marks_queues_and_flows_come_back(void **state) {
    fresh_folder();
    start_all();
    tacho_pipe("decode", "read", 4);
    tacho_queue("decode", 3, 8);
    tacho_counter("loss", 0.25);
    tacho_mark("here");
    TACHO_BEGIN("from");
    tacho_flow_begin("batch", 42);
    TACHO_END();
    TACHO_BEGIN("to");
    tacho_flow_end("batch", 42);
    TACHO_END();
    trace *t = stop_and_read();
    assert_int_equal(t->counter.n, 2);
    assert_true(t->counter.value[1] == 0.25);
    assert_int_equal(t->instant.n, 2);
    assert_int_equal(t->queue_sample.n, 2);
    assert_int_equal(t->queue_sample.size[1], 3);
    assert_int_equal(t->queue_sample.capacity[1], 8);
    uint32_t op = t->queue_sample.pipe_op[1];
    assert_string_equal(text(t, t->pipe_op.name[op]), "decode");
    assert_int_equal(t->pipe_op.workers[op], 4);
    assert_string_equal(text(t, t->pipe_op.name[t->pipe_op.parent[op]]), "read");
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(t->flow.from[1], one_slice(t, "from"));
    assert_int_equal(t->flow.to[1], one_slice(t, "to"));
    trace_release(t);
}

static void device_work_is_linked_to_its_launch_and_operator(void **state) {
    fresh_folder();
    start_all();
    tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op), .name = "gemm", .sequence = -1});
    tacho_launch_begin("launch", 99);
    uint64_t start = tacho_now();
    tacho_end_range();
    tacho_op_end();
    usleep(100);
    tacho_device_range(&(tacho_device_work){.size = sizeof(tacho_device_work),
                                            .name = "gemm_kernel",
                                            .kind = TACHO_RANGE_KERNEL,
                                            .device = 1,
                                            .stream = 7,
                                            .start = start,
                                            .end = tacho_now(),
                                            .correlation = 99});
    trace *t = stop_and_read();
    uint32_t kernel = trace_kernel_of(t, one_slice(t, "gemm_kernel"));
    assert_true(kernel != 0);
    assert_int_equal(t->kernel.launch[kernel], one_slice(t, "launch"));
    assert_int_equal(t->kernel.op[kernel], one_slice(t, "gemm"));
    assert_int_equal(t->kernel.device[kernel], 1);
    assert_int_equal(t->kernel.stream[kernel], 7);
    assert_true(t->slice.dur[t->kernel.slice[kernel]] >= 100000);
    trace_release(t);
}

static void collectives_come_back_with_their_group(void **state) {
    fresh_folder();
    start_all();
    tacho_collective_begin(&(tacho_collective){.size = sizeof(tacho_collective),
                                               .name = "allreduce",
                                               .group = "data_parallel",
                                               .type = TACHO_F32,
                                               .in_elements = 1000,
                                               .out_elements = 1000,
                                               .sequence = 5,
                                               .n_ranks = 4,
                                               .root = -1});
    tacho_collective_end();
    trace *t = stop_and_read();
    uint32_t comm = trace_comm_of(t, one_slice(t, "allreduce"));
    assert_true(comm != 0);
    assert_int_equal(t->comm.in_elements[comm], 1000);
    assert_int_equal(t->comm.sequence[comm], 5);
    assert_string_equal(text(t, t->group.name[t->comm.group[comm]]), "data_parallel");
    assert_int_equal(t->group.size[t->comm.group[comm]], 4);
    trace_release(t);
}

static void ranges_that_never_end_are_kept_unfinished(void **state) {
    fresh_folder();
    start_all();
    TACHO_BEGIN("open");
    TACHO_BEGIN("jumped over");
    static tacho_site site = {"outer", 0, 0};
    tacho_site_begin(&site);
    TACHO_BEGIN("inner left open");
    tacho_site_end(&site);
    trace *t = stop_and_read();
    assert_true(t->slice.flags[one_slice(t, "open")] & SLICE_UNFINISHED);
    assert_true(t->slice.flags[one_slice(t, "inner left open")] & SLICE_UNFINISHED);
    assert_false(t->slice.flags[one_slice(t, "outer")] & SLICE_UNFINISHED);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 3);
    trace_release(t);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_is_recorded_before_start, tear_down),
        cmocka_unit_test_teardown(ranges_nest_and_keep_their_kinds, tear_down),
        cmocka_unit_test_teardown(operators_carry_shapes_types_work_and_phase, tear_down),
        cmocka_unit_test_teardown(shapes_are_left_out_when_not_asked_for, tear_down),
        cmocka_unit_test_teardown(memory_is_added_up_when_the_program_does_not, tear_down),
        cmocka_unit_test_teardown(sampled_memory_keeps_both_ends_of_a_block, tear_down),
        cmocka_unit_test_teardown(counters_marks_queues_and_flows_come_back, tear_down),
        cmocka_unit_test_teardown(device_work_is_linked_to_its_launch_and_operator, tear_down),
        cmocka_unit_test_teardown(collectives_come_back_with_their_group, tear_down),
        cmocka_unit_test_teardown(ranges_that_never_end_are_kept_unfinished, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
