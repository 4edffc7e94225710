/* whatif_changes_test.c: every change of whatif alone, on steps written down by hand.
 *
 * A step of 100 µs. The host launches a product at 10 µs (20 µs on the device, from 15), an
 * all-reduce at 20 (40 µs on a separate stream, from 25) and a sum at 30 that waits for it (10
 * µs, from 66), then waits for the device from 50 to 78. */
#include "analyse/replay/scenario.h"
#include "fake_trace.h"

enum { US = 1000, STEPS = 3, STEP_US = 100 };

typedef struct {
    fake f;
    int mm[STEPS], reduce[STEPS];
    const char *format;
} run;

static void make_step(run *r, int i, int host, int gpu, int network) {
    fake *f = &r->f;
    int64_t at = (int64_t)i * STEP_US * US;
    fake_add(f, host, KIND_ANNOTATION, "forward", at + 2 * US, 16 * US);
    int call = fake_add(f, host, KIND_MODULE, "nn.Module: Linear_0", at + 4 * US, 13 * US);
    f->slices[call].module = "Linear";
    int mm = fake_add(f, host, KIND_OP, "aten::mm", at + 8 * US, 8 * US);
    f->slices[mm].shapes = "[[4, 256, 512], [512, 64]]";
    int a = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 10 * US, 4 * US);
    int b = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 20 * US, 4 * US);
    int sum = fake_add(f, host, KIND_OP, "aten::sum", at + 28 * US, 8 * US);
    f->slices[sum].shapes = "[[64, 512]]";
    int c = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 30 * US, 4 * US);
    fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 50 * US, 28 * US);
    fake_work(f, gpu, KIND_KERNEL, "gemm", at + 15 * US, 20 * US, a);
    r->mm[i] = mm;
    r->reduce[i] = fake_work(f, network, KIND_KERNEL, "ncclDevKernel_AllReduce_Sum_f32",
                             at + 25 * US, 40 * US, b);
    fake_work(f, gpu, KIND_KERNEL, "reduce", at + 66 * US, 10 * US, c);
    fake_step(f, i + 1, at, at + STEP_US * US);
}

static void make_run(run *r) {
    *r = (run){.format = "kineto"};
    fake_init(&r->f);
    int host = fake_thread(&r->f), gpu = fake_stream(&r->f, 0), network = fake_stream(&r->f, 0);
    for (int i = 0; i < STEPS; i++) make_step(r, i, host, gpu, network);
}

/* The bytes of an all-reduce of a step: floats. */
static void send(run *r, int step, int64_t floats) {
    uint32_t row = r->f.t.comm.n++;
    FAKE_SET(&r->f, comm, slice, row, r->f.id[r->reduce[step]]);
    FAKE_SET(&r->f, comm, name, row, fake_str(&r->f, "allreduce"));
    FAKE_SET(&r->f, comm, sequence, row, step);
    FAKE_SET(&r->f, comm, comms_id, row, ABSENT_I64);
    FAKE_SET(&r->f, comm, in_elements, row, floats);
    FAKE_SET(&r->f, comm, out_elements, row, floats);
    FAKE_SET(&r->f, comm, dtype, row, fake_str(&r->f, "Float"));
    FAKE_SET(&r->f, comm, src, row, -1);
    FAKE_SET(&r->f, comm, dst, row, -1);
}

static void give(params *p, const char *name, const char *value) {
    p->extra[p->n_extra].name = str_of(name);
    p->extra[p->n_extra++].value = str_of(value);
}

/* The second step with some changes, in µs. */
static int64_t replayed(run *r, const params *p) {
    arena a;
    arena_init(&a, 0);
    answer out = fake_ask(analyse_whatif, &r->f.t, p, &a);
    const table *t = fake_table(&out, "steps");
    assert_int_equal(fake_int(t, 1, "recorded"), STEP_US * US);
    assert_int_equal(fake_int(t, 1, "replayed"), STEP_US * US);
    int64_t ns = fake_int(t, 1, "whatif");
    arena_fini(&a);
    return ns / US;
}

static int64_t with(const char *name, const char *value) {
    static run r;
    params p = fake_params();
    make_run(&r);
    fake_seal(&r.f);
    send(&r, 0, 1 << 20);
    send(&r, 1, 1 << 20);
    send(&r, 2, 1 << 20);
    give(&p, name, value);
    int64_t us = replayed(&r, &p);
    fake_fini(&r.f);
    return us;
}

static status refuse(const char *name, const char *value, bool shapes, const char *format) {
    static run r;
    arena a;
    params p = fake_params();
    answer out;
    error err;
    make_run(&r);
    for (int i = 0; i < r.f.n_slices && !shapes; i++) r.f.slices[i].shapes = NULL;
    fake_seal(&r.f);
    r.f.t.format = str_of(format);
    arena_init(&a, 0);
    give(&p, name, value);
    analysis_trace one = {.trace = &r.f.t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    status st = analyse_whatif(&in, &p, &a, &out, &err);
    arena_fini(&a);
    fake_fini(&r.f);
    return st;
}

/* The sum begins 1 µs after the product and ends at 46; the waiting call does not have to wait
 * then and takes as long as others, to 54. */
static void without_communication_nothing_waits_for_it(void **state) {
    assert_int_equal(with("no_communication", "yes"), 76);
}

/* The 28 µs of the call are gone; the device keeps up, 4 µs later than the host. */
static void without_the_wait_the_host_continues(void **state) {
    assert_int_equal(with("no_sync", "yes"), 72);
}

/* 13 µs of the call on the host, and the product: the all-reduce is earlier by 13. */
static void a_module_takes_host_and_device_time_with_it(void **state) {
    assert_int_equal(with("remove", "module:Linear*"), 87);
    assert_int_equal(with("scale", "module:Linear*=0.5"), 93); /* 93.5 */
}

static void a_range_takes_host_and_device_time_with_it(void **state) {
    assert_int_equal(with("remove", "range:forward"), 84);
}

/* 40 µs of one size: 10 count as latency. Twice the bandwidth saves 15, half of the latency
 * 5. */
static void the_network_moves_bytes_faster_and_starts_sooner(void **state) {
    assert_int_equal(with("network", "bandwidth=2"), 85);
    assert_int_equal(with("network", "2"), 85);
    assert_int_equal(with("network", "latency=0.5"), 95);
    assert_int_equal(with("network", "bandwidth=2,latency=0.5"), 80);
    assert_int_equal(with("network", "bandwidth=0.5"), 130);
}

/* Two sizes tell latency and bandwidth: 4 MiB in 40 µs, 12 MiB in 40 µs of which some are
 * waiting. The line is flat then, and all of it is latency but what was assumed. */
static void sizes_that_do_not_tell_leave_the_assumption(void **state) {
    static run r;
    params p = fake_params();
    make_run(&r);
    fake_seal(&r.f);
    send(&r, 0, 1 << 20);
    send(&r, 1, 3 << 20);
    send(&r, 2, 1 << 20);
    give(&p, "network", "bandwidth=2");
    int64_t us = replayed(&r, &p);
    assert_true(us > 80 && us < 90);
    fake_fini(&r.f);
}

/* Nothing waits for the 40 µs of the all-reduce, and they are shorter than the rest. */
static void perfect_overlap_leaves_the_longer_of_both(void **state) {
    assert_int_equal(with("overlap_communication", "yes"), 76);
}

static void a_step_is_never_shorter_than_its_communication(void **state) {
    static run r;
    params p = fake_params();
    make_run(&r);
    fake_seal(&r.f);
    for (int i = 0; i < STEPS; i++) send(&r, i, 1 << 20);
    give(&p, "overlap_communication", "yes");
    give(&p, "network", "bandwidth=0.2");
    assert_int_equal(replayed(&r, &p), 160); /* 10 + 30 × 5 */
    fake_fini(&r.f);
}

/* The product has the batch in its shapes, the sum of parameters has not. The all-reduce hides
 * the 18 µs that the product gets longer by. */
static void a_larger_batch_makes_work_with_it_longer(void **state) {
    static run r;
    params p = fake_params();
    arena a;
    make_run(&r);
    fake_seal(&r.f);
    give(&p, "batch", "2");
    arena_init(&a, 0);
    answer out = fake_ask(analyse_whatif, &r.f.t, &p, &a);
    const table *t = fake_table(&out, "whatif");
    assert_int_equal(fake_int(t, 1, "kernels"), STEPS);
    assert_int_equal(fake_int(t, 1, "device_time"), STEPS * 20 * US);
    assert_int_equal(fake_int(t, 1, "step_after"), STEP_US * US);
    arena_fini(&a);
    p.n_extra = 0;
    give(&p, "batch", "4:4"); /* 2 + 18 × 4: from 15 to 89, the sum to 100, the call to 102 */
    assert_int_equal(replayed(&r, &p), 124);
    fake_fini(&r.f);
}

static int add_product(fake *f, int host, int gpu, const char *op, const char *shapes,
                       int64_t at) {
    int inner = fake_add(f, host, KIND_OP, op, at, 8 * US);
    f->slices[inner].shapes = shapes;
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + US, 4 * US);
    fake_work(f, gpu, KIND_KERNEL, "gemm", at + 9 * US, 5 * US, call);
    return inner;
}

/* 2,048 is 8 × 256 and a width: a product inside of linear, its backward pass, logits and what a
 * weight of that shape is added to. */
static void operators_around_tell_the_batch_from_a_width(void **state) {
    static fake f;
    params p = fake_params();
    arena a;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0), forward = 0, node = 0;
    int linear = fake_add(&f, host, KIND_OP, "aten::linear", 0, 18 * US);
    f.slices[linear].shapes = "[[8, 256, 512], [2048, 512]]";
    int wide = fake_add(&f, host, KIND_OP, "aten::gelu", 18 * US, US);
    f.slices[wide].shapes = "[[8, 256, 2048]]";
    forward = add_product(&f, host, gpu, "aten::addmm", "[[2048, 512], [512, 2048]]", 5 * US);
    node = fake_add(&f, host, KIND_OP, "autograd::engine::evaluate_function: AddmmBackward0",
                    20 * US, 18 * US);
    (void)add_product(&f, host, gpu, "aten::mm", "[[2048, 512], [512, 2048]]", 25 * US);
    (void)add_product(&f, host, gpu, "aten::log_softmax", "[[2048, 50304]]", 45 * US);
    (void)add_product(&f, host, gpu, "aten::add_", "[[2048, 512]]", 65 * US);
    fake_step(&f, 1, 0, STEP_US * US);
    fake_seal(&f);
    uint32_t row = f.t.flow.n++;
    FAKE_SET(&f, flow, from, row, f.id[forward]);
    FAKE_SET(&f, flow, to, row, f.id[node]);
    FAKE_SET(&f, flow, kind, row, FLOW_FORWARD_BACKWARD);
    give(&p, "batch", "2");
    arena_init(&a, 0);
    answer out = fake_ask(analyse_whatif, &f.t, &p, &a);
    assert_int_equal(fake_int(fake_table(&out, "whatif"), 1, "kernels"), 3);
    arena_fini(&a);
    fake_fini(&f);
}

/* A launch takes 4 µs. Before the all-reduce is launched there are a range, an operator and a call,
 * 0.51 of that each, and a module's frame, 0.03 of it; what comes after has no effect on the
 * step. */
static void without_the_recorder_the_host_is_faster(void **state) {
    assert_int_equal(with("unprofiled", "yes"), 93); /* 93.76 */
}

/* The same events at 0.69 and at 0.30 of a launch, and the frame with them. */
static void what_recording_cost_has_a_range(void **state) {
    static run r;
    arena a;
    params p = fake_params();
    make_run(&r);
    fake_seal(&r.f);
    give(&p, "unprofiled", "yes");
    arena_init(&a, 0);
    answer out = fake_ask(analyse_whatif, &r.f.t, &p, &a);
    const table *t = fake_table(&out, "whatif");
    assert_int_equal(fake_int(t, 1, "step_after") / 10, 9376);
    assert_int_equal(fake_int(t, 1, "least") / 10, 9155); /* 100 - 6.24 * 0.69 / 0.51 */
    assert_int_equal(fake_int(t, 1, "most") / 10, 9632);  /* 100 - 6.24 * 0.30 / 0.51 */
    arena_fini(&a);
    fake_fini(&r.f);
}

/* An allocation in the operator before the launch costs as much as an event: 2.04 µs more; one
 * on no thread costs nothing. */
static void allocations_are_events_that_were_recorded(void **state) {
    static run r;
    arena a;
    params p = fake_params();
    make_run(&r);
    fake_memory event = {.track = 1, .bytes = 512, .device_type = DEVICE_CUDA};
    for (int i = 0; i < STEPS; i++) {
        event.time = (int64_t)i * STEP_US * US + 9 * US;
        event.address = (uint64_t)i + 1;
        fake_add_memory(&r.f, event);
    }
    event.track = 0;
    fake_add_memory(&r.f, event);
    fake_seal(&r.f);
    give(&p, "unprofiled", "yes");
    arena_init(&a, 0);
    answer out = fake_ask(analyse_whatif, &r.f.t, &p, &a);
    assert_int_equal(fake_int(fake_table(&out, "whatif"), 1, "step_after") / 10, 9172);
    arena_fini(&a);
    fake_fini(&r.f);
}

static void what_cannot_be_is_refused(void **state) {
    assert_int_equal(refuse("network", "faster", true, "kineto"), ERR_ARG);
    assert_int_equal(refuse("network", "bandwidth=0", true, "kineto"), ERR_ARG);
    assert_int_equal(refuse("batch", "two", true, "kineto"), ERR_ARG);
    assert_int_equal(refuse("batch", "2", false, "kineto"), ERR_ARG);
    assert_int_equal(refuse("unprofiled", "yes", true, "nsys"), ERR_ARG);
    assert_int_equal(refuse("unprofiled", "yes", true, "nsight_pytorch"), ERR_ARG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_communication_nothing_waits_for_it),
        cmocka_unit_test(without_the_wait_the_host_continues),
        cmocka_unit_test(a_module_takes_host_and_device_time_with_it),
        cmocka_unit_test(a_range_takes_host_and_device_time_with_it),
        cmocka_unit_test(the_network_moves_bytes_faster_and_starts_sooner),
        cmocka_unit_test(sizes_that_do_not_tell_leave_the_assumption),
        cmocka_unit_test(perfect_overlap_leaves_the_longer_of_both),
        cmocka_unit_test(a_step_is_never_shorter_than_its_communication),
        cmocka_unit_test(a_larger_batch_makes_work_with_it_longer),
        cmocka_unit_test(operators_around_tell_the_batch_from_a_width),
        cmocka_unit_test(without_the_recorder_the_host_is_faster),
        cmocka_unit_test(what_recording_cost_has_a_range),
        cmocka_unit_test(allocations_are_events_that_were_recorded),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
