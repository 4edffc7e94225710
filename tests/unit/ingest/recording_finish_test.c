/* recording_finish_test.c: steps, memory and queues over all threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unit/ingest/made_recording.h"

static trace *read_made(made_recording *m) {
    error err = {0};
    trace *t = made_read(m, &err);
    if (!t) fail_msg("refused with message %d", err.message);
    made_free(m);
    return t;
}

static void mark(made_recording *m, uint64_t ns, int64_t number, uint32_t is_end) {
    tacho_step_slot slot = {.number = number};
    made_event(m, ns, 0, TACHO_EVENT_STEP, is_end, &slot, sizeof slot);
}

static void steps_end_where_the_next_begins(void **state) {
    made_recording m = made_new();
    mark(&m, 100, 5, 0);
    mark(&m, 200, 6, 0);
    mark(&m, 350, 7, 1); /* a window ends */
    mark(&m, 900, 20, 0);
    mark(&m, 950, 21, 0); /* what follows is not a step */
    trace *t = read_made(&m);
    static const int64_t NUMBER[] = {5, 6, 20}, START[] = {100, 200, 900},
                         END[] = {200, 350, 950};
    assert_int_equal(t->step.n - 1, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(t->step.number[i + 1], NUMBER[i]);
        assert_int_equal(t->step.start[i + 1], START[i]);
        assert_int_equal(t->step.end[i + 1], END[i]);
    }
    trace_release(t);
}

static void steps_that_begin_again_have_no_beginning_before(void **state) {
    made_recording m = made_new();
    mark(&m, 100, 0, 0);
    mark(&m, 500, 0, 2); /* setting up is over */
    mark(&m, 600, 1, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->step.n - 1, 1);
    assert_int_equal(t->step.start[1], 500);
    assert_int_equal(t->step.end[1], 600);
    trace_release(t);
}

/* A kernel that a call launched on the thread, at `ns`; in an operator when it has a name. */
static void launch(made_recording *m, uint64_t ns, uint32_t op) {
    int64_t unix_ns = made_header(m)->start_unix_ns + (int64_t)ns;
    tacho_api_slots call = {.start_ns = unix_ns,
                            .end_ns = unix_ns + 5,
                            .correlation = ns,
                            .thread = 1,
                            .domain = TACHO_API_RUNTIME};
    tacho_gpu_slots work = {
        .start_ns = unix_ns + 10, .end_ns = unix_ns + 20, .correlation = ns, .stream = 7};
    if (op) made_event(m, ns - 2, op, TACHO_EVENT_OP, 0, NULL, 0);
    made_event(m, ns, 2, TACHO_EVENT_API, 0, &call, sizeof call);
    made_event(m, ns, 3, TACHO_EVENT_GPU, TACHO_RANGE_KERNEL, &work, sizeof work);
    if (op) made_event(m, ns + 10, 0, TACHO_EVENT_END, 0, NULL, 0);
}

static void mark_sampled(made_recording *m, uint64_t ns, int64_t number, int64_t sampling) {
    tacho_step_slot slot = {.number = number, .sampling = sampling};
    made_event(m, ns, 0, TACHO_EVENT_STEP, 0, &slot, sizeof slot);
}

static made_recording made_with_names(void) {
    made_recording m = made_new();
    const struct {
        uint64_t row;
        int64_t tid;
    } thread = {1, 1};
    made_side(&m, TACHO_SIDE_THREAD, &thread, sizeof thread, "main");
    made_name(&m, 1, "aten::mm");
    made_name(&m, 2, "cudaLaunchKernel");
    made_name(&m, 3, "gemm");
    return m;
}

static void work_of_a_step_that_was_left_out_has_the_operator_of_a_sampled_one(void **state) {
    made_recording m = made_with_names();
    mark_sampled(&m, 100, 0, TACHO_STEP_SAMPLED);
    launch(&m, 150, 1);
    mark_sampled(&m, 200, 1, TACHO_STEP_LEFT_OUT);
    launch(&m, 250, 0);
    mark_sampled(&m, 300, 2, TACHO_STEP_SAMPLED);
    trace *t = read_made(&m);
    assert_int_equal(t->step.n - 1, 2);
    assert_int_equal(t->step.left_out[1], 0);
    assert_int_equal(t->step.left_out[2], 1);
    assert_int_equal(t->kernel.n - 1, 2);
    assert_int_equal(t->kernel.link[1], LINK_CONTAINED);
    assert_int_equal(t->kernel.link[2], LINK_INFERRED);
    assert_int_equal(t->kernel.op[2], t->kernel.op[1]);
    assert_int_equal(t->kernel.confidence[2], 100);
    trace_release(t);
}

/* Half of its operators are missing: what has none there may have had one. */
static void a_step_in_which_sampling_changed_is_not_an_example(void **state) {
    made_recording m = made_with_names();
    tacho_step_slot change = {.sampling = TACHO_STEP_SAMPLED};
    mark_sampled(&m, 100, 0, TACHO_STEP_LEFT_OUT);
    made_event(&m, 140, 0, TACHO_EVENT_SAMPLING, 0, &change, sizeof change);
    launch(&m, 150, 1);
    mark_sampled(&m, 200, 1, TACHO_STEP_LEFT_OUT);
    launch(&m, 250, 0);
    mark_sampled(&m, 300, 2, TACHO_STEP_LEFT_OUT);
    trace *t = read_made(&m);
    assert_int_equal(t->kernel.link[1], LINK_CONTAINED); /* as it was recorded */
    assert_int_equal(t->kernel.op[2], 0);
    trace_release(t);
}

static void sample(made_recording *m, uint64_t ns, uint32_t name, int64_t size) {
    tacho_queue_slot slot = {.size = size, .capacity = 8};
    made_event(m, ns, name, TACHO_EVENT_QUEUE, 0, &slot, sizeof slot);
}

static void queue_samples_know_their_step(void **state) {
    made_recording m = made_new();
    made_name(&m, 1, "batches");
    sample(&m, 50, 1, 1);
    mark(&m, 100, 5, 0);
    sample(&m, 150, 1, 2);
    mark(&m, 200, 6, 1);
    sample(&m, 250, 1, 3);
    trace *t = read_made(&m);
    assert_int_equal(t->queue_sample.n - 1, 3);
    assert_int_equal(t->queue_sample.step[1], ABSENT_I64);
    assert_int_equal(t->queue_sample.step[2], 5);
    assert_int_equal(t->queue_sample.step[3], ABSENT_I64);
    assert_int_equal(t->pipe_op.capacity[1], 8);
    trace_release(t);
}

static void a_pipeline_in_a_circle_is_cut(void **state) {
    made_recording m = made_new();
    for (uint64_t i = 1; i <= 3; i++) {
        struct {
            uint64_t name, parent;
            int64_t workers;
        } fixed = {i, i % 3 + 1, 2};
        made_side(&m, TACHO_SIDE_PIPE, &fixed, sizeof fixed, "");
    }
    trace *t = read_made(&m);
    assert_int_equal(t->pipe_op.n - 1, 3);
    uint32_t roots = 0;
    for (uint32_t i = 1; i < t->pipe_op.n; i++) roots += t->pipe_op.parent[i] == 0;
    assert_true(roots >= 1);
    trace_release(t);
}

static void memory(made_recording *m, uint64_t ns, uint32_t kind, uint64_t address,
                   int64_t bytes) {
    tacho_memory_slots slots = {
        .address = address, .bytes = bytes, .allocated = -1, .reserved = -1, .device = 0};
    made_event(m, ns, 0, TACHO_EVENT_MEMORY, kind, &slots, sizeof slots);
}

static void totals_are_added_up_in_the_order_of_time(void **state) {
    made_recording m = made_new();
    memory(&m, 10, MEMORY_ALLOC, 1, 100);
    memory(&m, 20, MEMORY_ALLOC, 2, 50);
    memory(&m, 30, MEMORY_FREE, 1, 0);
    memory(&m, 40, MEMORY_FREE, 9, 1000); /* of before the recording: the total stays sane */
    trace *t = read_made(&m);
    assert_int_equal(t->memory.allocated[2], 150);
    assert_int_equal(t->memory.allocated[3], 50);
    assert_int_equal(t->memory.bytes[3], -100);
    assert_int_equal(t->memory.allocated[4], 0);
    assert_int_equal(t->memory.device_type[1], DEVICE_CUDA);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_end_where_the_next_begins),
        cmocka_unit_test(steps_that_begin_again_have_no_beginning_before),
        cmocka_unit_test(work_of_a_step_that_was_left_out_has_the_operator_of_a_sampled_one),
        cmocka_unit_test(a_step_in_which_sampling_changed_is_not_an_example),
        cmocka_unit_test(queue_samples_know_their_step),
        cmocka_unit_test(a_pipeline_in_a_circle_is_cut),
        cmocka_unit_test(totals_are_added_up_in_the_order_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
