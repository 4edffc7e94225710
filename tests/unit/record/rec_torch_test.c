/* rec_torch_test.c: PyTorch's operators, from a fake libtorch (tests/fake/torch_cpu.c); the
 * real one is tested by tests/frameworks/run. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit/record/record_helper.h"

static void *torch_library;
static int *layout, *callbacks;
static void (*run_op)(const char *, int, int64_t, uint64_t, void (*)(void));
static void (*run_cat)(int64_t);
enum { OP = 0, BACKWARD = 1, USER = 7 };

static void *load(const char *name) {
    char path[1024];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    assert_true(n > 0);
    path[n] = 0;
    *strrchr(path, '/') = 0;
    *strrchr(path, '/') = 0;
    strcat(path, "/fake/");
    strcat(path, name);
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!lib) fail_msg("%s", dlerror());
    return lib;
}

static void without_pytorch_nothing_is_promised(void **state) {
    assert_int_equal(tacho_torch(TACHO_TORCH_OPS | TACHO_TORCH_SHAPES | TACHO_TORCH_MEMORY), 0);
    assert_int_equal(tacho_torch(0), 0);
}

#if defined(__x86_64__) || defined(__aarch64__)

static void inner(void) {
    run_op("aten::addmm", OP, 5, 0, NULL);
}
static void node(void) {
    run_op("AddmmBackward0", BACKWARD, 5, 7, NULL);
}

static void operators_have_names_stages_and_arrows(void **state) {
    fresh_folder();
    assert_int_equal(tacho_torch(TACHO_TORCH_OPS | TACHO_TORCH_LINKS),
                     TACHO_TORCH_OPS | TACHO_TORCH_LINKS);
    assert_int_equal(*callbacks, 1);
    run_op("aten::before", OP, 5, 0, NULL); /* nothing records */
    start_all();
    run_op("aten::linear", OP, 5, 0, inner);
    run_op("enumerate(DataLoader)#Iter.__next__", USER, -1, 0, NULL);
    run_op("Optimizer.step#SGD.step", USER, -1, 0, NULL);
    run_op("autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, 5, 7, node);
    trace *t = stop_and_read();
    run_op("aten::after", OP, 5, 0, NULL);
    assert_int_equal(tacho_torch(0), 0);
    assert_int_equal(*callbacks, 0);
    assert_int_equal(count_slices(t, "aten::before"), 0);
    assert_int_equal(t->slice.kind[one_slice(t, "aten::linear")], KIND_OP);
    assert_int_equal(t->slice.parent[one_slice(t, "aten::addmm")],
                     one_slice(t, "aten::linear"));
    assert_int_equal(t->slice.kind[one_slice(t, "Optimizer.step#SGD.step")], KIND_OPTIMIZER);
    assert_int_equal(t->slice.kind[one_slice(t, "enumerate(DataLoader)#Iter.__next__")],
                     KIND_DATA);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 0);
    assert_int_equal(t->flow.n - 1, 1);
    assert_int_equal(t->flow.kind[1], FLOW_FORWARD_BACKWARD);
    assert_int_equal(t->flow.from[1], one_slice(t, "aten::addmm"));
    assert_int_equal(t->flow.to[1], one_slice(t, "AddmmBackward0"));
    trace_release(t);
}

static void shapes_are_those_of_tensors_and_of_lists_of_them(void **state) {
    fresh_folder();
    assert_int_equal(tacho_torch(TACHO_TORCH_OPS | TACHO_TORCH_SHAPES),
                     TACHO_TORCH_OPS | TACHO_TORCH_SHAPES);
    assert_int_equal(*callbacks, 3); /* only operators need inputs */
    start_all();
    run_cat(2);
    trace *t = stop_and_read();
    tacho_torch(0);
    uint32_t op = trace_op_of(t, one_slice(t, "aten::cat"));
    str shapes = trace_str(t, t->op.shapes[op]);
    assert_true(str_eq(shapes, STR("[[[2, 3], [2, 3]], [], []]")));
    trace_release(t);
}

static void an_operator_that_outlives_the_recording_ends_nothing(void **state) {
    fresh_folder();
    tacho_torch(TACHO_TORCH_OPS);
    run_op("aten::early", OP, -1, 0, start_all); /* begins before, ends inside */
    trace *t = stop_and_read();
    tacho_torch(0);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 0);
    trace_release(t);
}

static void stop_and_start_again(void) {
    assert_int_equal(tacho_stop(), TACHO_OK);
    fresh_folder();
    start_all();
}

static void an_operator_of_the_last_recording_ends_nothing_of_this_one(void **state) {
    fresh_folder();
    tacho_torch(TACHO_TORCH_OPS);
    start_all();
    run_op("aten::across", OP, -1, 0, stop_and_start_again);
    run_op("user's", USER, -1, 0, NULL);
    run_op("user's across", USER, -1, 0, stop_and_start_again);
    run_op("aten::inside", OP, -1, 0, NULL);
    trace *t = stop_and_read();
    tacho_torch(0);
    assert_int_equal(count_slices(t, "aten::inside"), 1);
    assert_int_equal(t->slice.n - 1, 1);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 0);
    trace_release(t);
}

enum { THREADS = 4, CYCLES = 20, MOST_ROUNDS = 100000000 };
static atomic_bool is_over;
static atomic_int n_rounds;

static void *train(void *has_optimizer) {
    char name[64];
    for (int i = 0; i < MOST_ROUNDS && !atomic_load(&is_over); i++) {
        run_op("aten::linear", OP, i, 0, inner);
        snprintf(name, sizeof name, "aten::op%d", i % 50);
        run_op(name, OP, -1, 0, NULL);
        run_op("autograd::engine::evaluate_function: AddmmBackward0", BACKWARD, i, 7, node);
        if (!has_optimizer) continue;
        run_op("Optimizer.step#SGD.step", USER, -1, 0, NULL);
        atomic_fetch_add(&n_rounds, 1);
    }
    return NULL;
}

static void wait_for_rounds(int n) {
    for (int until = atomic_load(&n_rounds) + n; atomic_load(&n_rounds) < until;) usleep(100);
}

static void operators_of_many_threads_are_recorded_while_it_starts_and_stops(void **state) {
    pthread_t id[THREADS];
    fresh_folder();
    unsigned want = TACHO_TORCH_OPS | TACHO_TORCH_LINKS | TACHO_TORCH_STEPS;
    assert_int_equal(tacho_torch(want), want);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, train, i ? NULL : &id), 0);
    for (int i = 0; i < CYCLES; i++) {
        tacho_options o = {.size = sizeof o, .path = fresh_folder(), .shapes = i % 2};
        assert_int_equal(tacho_start(&o), TACHO_OK);
        wait_for_rounds(20);
        if (i + 1 < CYCLES) assert_int_equal(tacho_stop(), TACHO_OK);
    }
    trace *t = stop_and_read();
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
    tacho_torch(0);
    assert_true(count_slices(t, "aten::linear") >= 16);
    assert_true(t->step.n - 1 >= 1);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    assert_true(trace_quality(t, CAUSE_UNMATCHED_BEGIN) <= 2 * THREADS); /* open at the end */
    /* Stopping ends the step, and an operator of another thread may continue briefly. */
    assert_true(trace_quality(t, CAUSE_PARTIAL_OVERLAP) <= 2);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t parent = t->slice.parent[i];
        if (t->slice.kind[parent] == KIND_OP &&
            str_eq(trace_slice_name(t, i), STR("aten::addmm")))
            assert_true(str_eq(trace_slice_name(t, parent), STR("aten::linear")));
    }
    trace_release(t);
}

static void a_step_ends_with_that_of_the_first_optimizer(void **state) {
    tacho_options o = {.size = sizeof o,
                       .path = fresh_folder(),
                       .schedule = {.wait = 1, .warmup = 1, .active = 2, .repeat = 1}};
    unsigned want = TACHO_TORCH_OPS | TACHO_TORCH_STEPS;
    assert_int_equal(tacho_torch(want), want);
    assert_int_equal(tacho_start(&o), TACHO_OK);
    for (int i = 0; i < 6; i++) {
        run_op("aten::add", OP, -1, 0, NULL);
        run_op("Optimizer.step#SGD.step", USER, -1, 0, NULL);
        run_op("Optimizer.step#Adam.step", USER, -1, 0, NULL);
    }
    trace *t = stop_and_read();
    tacho_torch(0);
    assert_int_equal(t->step.n - 1, 2);
    assert_int_equal(t->step.number[1], 2);
    assert_int_equal(count_slices(t, "aten::add"), 2);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 0);
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    trace_release(t);
}

static void blocks_of_the_allocator_are_recorded_and_passed_on(void **state) {
    void *lib = load("libc10.so");
    void (*allocate)(uint64_t, int64_t, uint64_t, int8_t) =
        (void (*)(uint64_t, int64_t, uint64_t, int8_t))dlsym(lib, "fake_allocate");
    int *reports = dlsym(lib, "fake_reports");
    _Bool *profiler = dlsym(lib, "fake_profiler");
    fresh_folder();
    assert_int_equal(tacho_torch(TACHO_TORCH_MEMORY), TACHO_TORCH_MEMORY);
    start_all();
    allocate(0x1000, 512, 512, 0);
    *profiler = 1; /* PyTorch's own listens too */
    allocate(0x2000, 256, 768, 1);
    allocate(0x1000, -512, 256, 0);
    *profiler = 0;
    trace *t = stop_and_read();
    tacho_torch(0);
    allocate(0x3000, 1, 1, 0);
    assert_int_equal(*reports, 2);
    assert_int_equal(t->memory.n - 1, 3);
    assert_int_equal(t->memory.bytes[1], 512);
    assert_int_equal(t->memory.allocated[2], 768);
    assert_int_equal(t->memory.reserved[2], 1536);
    assert_int_equal(t->memory.bytes[3], -512);
    trace_release(t);
}

static int find_fake(void **state) {
    torch_library = load("libtorch_cpu.so");
    layout = dlsym(torch_library, "fake_layout");
    callbacks = dlsym(torch_library, "fake_callbacks");
    *(void **)&run_op = dlsym(torch_library, "fake_op");
    *(void **)&run_cat = dlsym(torch_library, "fake_cat");
    return layout && callbacks && run_op && run_cat ? 0 : -1;
}

/* The trial is made once for a process: another layout needs another one. */
static void try_unknown_layout(void) {
    if (find_fake(NULL) != 0) _exit(2);
    *layout = 0;
    unsigned got = tacho_torch(TACHO_TORCH_OPS | TACHO_TORCH_SHAPES | TACHO_TORCH_LINKS);
    int n = *callbacks;
    tacho_torch(0);
    _exit(got == TACHO_TORCH_OPS && n == 3 ? 0 : 3);
}

static void of_an_unknown_layout_only_names_are_taken(void **state) {
    assert_int_equal(in_child(try_unknown_layout), 0);
}

#endif

int main(void) {
    const struct CMUnitTest first[] = {cmocka_unit_test(without_pytorch_nothing_is_promised)};
    int failed = cmocka_run_group_tests_name("rec_torch (none)", first, NULL, NULL);
#if defined(__x86_64__) || defined(__aarch64__)
    const struct CMUnitTest unknown[] = {
        cmocka_unit_test(of_an_unknown_layout_only_names_are_taken)};
    failed += cmocka_run_group_tests_name("rec_torch (unknown)", unknown, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_names_stages_and_arrows),
        cmocka_unit_test(shapes_are_those_of_tensors_and_of_lists_of_them),
        cmocka_unit_test(an_operator_that_outlives_the_recording_ends_nothing),
        cmocka_unit_test(an_operator_of_the_last_recording_ends_nothing_of_this_one),
        cmocka_unit_test(operators_of_many_threads_are_recorded_while_it_starts_and_stops),
        cmocka_unit_test(a_step_ends_with_that_of_the_first_optimizer),
        cmocka_unit_test(blocks_of_the_allocator_are_recorded_and_passed_on),
    };
    failed += cmocka_run_group_tests_name("rec_torch", tests, find_fake, NULL);
#endif
    remove_folder();
    return failed;
}
