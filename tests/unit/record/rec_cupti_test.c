/* rec_cupti_test.c: device records, from a fake CUPTI (tests/fake/cupti.c) as there is no GPU
 * here; tests/gpu/run asks the real one. */
#include "unit/record/record_helper.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analyse/operators/kernel_source.h"
#include "record/rec_cupti_int.h"

static void (*emit)(const uint8_t *, size_t);
static int *fake_calls, *n_finalized, (*heard)(int), (*call)(int, uint32_t, uint32_t, uint32_t);
static void (*made)(uint32_t, uint64_t, uint64_t);
enum { DRIVER = 1, RUNTIME = 2 }; /* domains */
enum {
    CU_LAUNCH_KERNEL = 307,
    CUDA_LAUNCH_KERNEL = 211,
    CUDA_MEMCPY_ASYNC = 41,
    CU_MEMCPY_HTOD = 277
};

static int64_t unix_now(void) {
    return rec_clock_ns(CLOCK_REALTIME);
}

static void put32(uint8_t *p, size_t at, uint32_t v) {
    memcpy(p + at, &v, sizeof v);
}
static void put64(uint8_t *p, size_t at, uint64_t v) {
    memcpy(p + at, &v, sizeof v);
}

static void emit_kernel(uint32_t correlation, int64_t start, int64_t end, const char *name) {
    uint8_t r[216] = {0};
    put32(r, 0, 10);
    put32(r, 4, 40u << 16); /* registers */
    put64(r, 16, (uint64_t)start);
    put64(r, 24, (uint64_t)end);
    put32(r, 40, 2);
    put32(r, 48, 7);
    put32(r, 52, 80);
    put32(r, 56, 1);
    put32(r, 60, 1);
    put32(r, 64, 256);
    put32(r, 68, 1);
    put32(r, 72, 1);
    put32(r, 76, 1024);
    put32(r, 92, correlation);
    put64(r, 104, (uint64_t)(uintptr_t)name);
    emit(r, sizeof r);
}

static void emit_node(uint64_t node, uint32_t correlation, int64_t start) {
    uint8_t r[216] = {0};
    put32(r, 0, 10);
    put64(r, 16, (uint64_t)start);
    put64(r, 24, (uint64_t)start + 1000);
    put32(r, 92, correlation);
    put64(r, 104, (uint64_t)(uintptr_t) "node");
    put64(r, 144, node);
    emit(r, sizeof r);
}

static void emit_copy(uint32_t correlation, int64_t start, int64_t end, uint64_t bytes) {
    uint8_t r[96] = {0};
    put32(r, 0, 1);
    r[4] = 1; /* host to device */
    put64(r, 8, bytes);
    put64(r, 16, (uint64_t)start);
    put64(r, 24, (uint64_t)end);
    put32(r, 40, 7);
    put32(r, 44, correlation);
    emit(r, sizeof r);
}

static void *open_fake(const char *name) {
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
    if (n <= 0) return NULL;
    path[n] = 0;
    dirname(dirname(path));
    strcat(path, "/fake/");
    strcat(path, name);
    return dlopen(path, RTLD_NOW);
}

static void start_with_device(void) {
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .device = 1};
    assert_int_equal(tacho_start(&o), TACHO_OK);
}

static void kernels_find_their_launch_and_operator(void **state) {
    enum { N = 500 };
    start_with_device();
    assert_in_range(heard(DRIVER), 50, 140); /* of the 800 there are */
    assert_in_range(heard(RUNTIME), 50, 120);
    for (uint32_t i = 1; i <= N; i++) {
        tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op), .name = "gemm", .sequence = -1});
        usleep(i % 50 == 0 ? 2000 : 0); /* the helper comes by from time to time */
        assert_int_equal(call(RUNTIME, CUDA_LAUNCH_KERNEL, i, CU_LAUNCH_KERNEL), 1);
        int64_t now = unix_now();
        emit_kernel(i, now + 5000, now + 9000, "volta_sgemm");
        usleep(1);
        tacho_op_end();
    }
    int64_t now = unix_now();
    emit_copy(N + 1, now, now + 2500, 4096);
    trace *t = stop_and_read();
    assert_int_equal(t->kernel.n - 1, N + 1);
    uint32_t linked = 0, copies = 0;
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        uint32_t slice = t->kernel.slice[i];
        if (t->slice.kind[slice] == KIND_MEMCPY) {
            copies++;
            assert_int_equal(t->kernel.bytes[i], 4096);
            continue;
        }
        assert_true(llabs(t->slice.dur[slice] - 4000) < 10);
        assert_int_equal(t->kernel.device[i], 2);
        assert_int_equal(t->kernel.stream[i], 7);
        assert_int_equal(t->kernel.grid_x[i], 80);
        assert_int_equal(t->kernel.block_x[i], 256);
        assert_int_equal(t->kernel.registers[i], 40);
        assert_int_equal(t->kernel.shared_memory[i], 1024);
        uint32_t launch = t->kernel.launch[i], op = t->kernel.op[i];
        assert_true(launch != 0);
        assert_true(str_eq(trace_slice_name(t, launch), STR("cuLaunchKernel")));
        linked += op && str_eq(trace_slice_name(t, op), STR("gemm"));
    }
    assert_int_equal(copies, 1);
    assert_true(str_eq(trace_meta(t, STR("cupti_version")), STR("130001")));
    assert_true(linked >= N * 99 / 100); /* two clocks meet here: a microsecond decides */
    trace_release(t);
}

static void each_recording_turns_it_on_and_off(void **state) {
    for (int i = 0; i < 5; i++) {
        start_with_device();
        int64_t now = unix_now();
        emit_kernel(1, now, now + 1000, "k");
        trace *t = stop_and_read();
        assert_int_equal(t->kernel.n - 1, 1);
        trace_release(t);
        emit_kernel(1, now, now + 1000, "k"); /* between recordings: no listener */
    }
}

static void waits_overheads_graphs_and_driver_memory_are_kept(void **state) {
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .device = 1 | 4, .memory = 1};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    uint8_t sync[56] = {0}, overhead[56] = {0}, memory[128] = {0}, graph[56] = {0};
    int64_t now = unix_now();
    emit_kernel(1, now, now + 1000, "k");
    put32(sync, 0, 38);
    put32(sync, 4, 2); /* a stream waits for an event */
    put64(sync, 8, (uint64_t)now + 2000);
    put64(sync, 16, (uint64_t)now + 5000);
    put32(sync, 32, 7);
    emit(sync, sizeof sync);
    put32(sync, 32, UINT32_MAX); /* of no stream: the call says it */
    emit(sync, sizeof sync);
    put32(overhead, 0, 17);
    put32(overhead, 4, 5u << 16);
    put32(overhead, 8, 2); /* a thread's */
    put32(overhead, 16, (uint32_t)syscall(SYS_gettid));
    put64(overhead, 24, (uint64_t)now + 100);
    put64(overhead, 32, (uint64_t)now + 400);
    emit(overhead, sizeof overhead);
    put32(memory, 0, 49);
    put32(memory, 4, 1);
    put32(memory, 8, 3);
    put64(memory, 16, 0x7000);
    put64(memory, 24, 1 << 20);
    put64(memory, 32, (uint64_t)now + 700);
    put32(memory, 52, 2);
    emit(memory, sizeof memory);
    put32(graph, 0, 51);
    put32(graph, 4, 9);
    put64(graph, 8, (uint64_t)now + 6000);
    put64(graph, 16, (uint64_t)now + 9000);
    put32(graph, 24, 2);
    put32(graph, 36, 7);
    emit(graph, sizeof graph);
    trace *t = stop_and_read();
    assert_int_equal(t->kind_count[KIND_SYNC], 1);
    assert_int_equal(t->kind_count[KIND_OVERHEAD], 1);
    assert_int_equal(t->kind_count[KIND_KERNEL], 2); /* the graph is one */
    for (uint32_t i = 1; i < t->slice.n; i++) {
        str name = trace_slice_name(t, i);
        if (t->slice.kind[i] == KIND_SYNC) {
            assert_true(str_eq(name, STR("Stream Wait Event")));
            assert_int_equal(trace_track_of(t, i), trace_track_of(t, t->kernel.slice[1]));
        }
        if (t->slice.kind[i] == KIND_OVERHEAD)
            assert_true(str_eq(name, STR("Lazy Function Loading")));
    }
    assert_int_equal(t->memory.n - 1, 1);
    assert_int_equal(t->memory.kind[1], MEMORY_SEGMENT_ALLOC);
    assert_int_equal(t->memory.bytes[1], 1 << 20);
    assert_int_equal(t->memory.reserved[1], 1 << 20);
    assert_true(trace_meta(t, STR("clock_error_ns")).n > 0);
    trace_release(t);
}

static void what_the_devices_are_is_kept(void **state) {
    static const char two[] = "[{\"id\": 0, \"name\": \"H200\", \"totalGlobalMem\": 150, "
                              "\"numSms\": 132}, {\"id\": 2, \"name\": \"Other\"}]";
    start_with_device();
    int64_t now = unix_now();
    emit_kernel(1, now, now + 1000, "k"); /* on device 2 */
    rec_meta_fact("deviceProperties", two, sizeof two - 1);
    trace *t = stop_and_read();
    assert_int_equal(t->device.n - 1, 2);
    assert_int_equal(t->device.sm_count[1], 132);
    assert_int_equal(t->device.memory[1], 150);
    assert_true(str_eq(trace_str(t, t->device.name[2]), STR("Other")));
    trace_release(t);
}

static void assert_has_fake_gpu(trace *t) {
    assert_int_equal(t->device.n - 1, 2); /* it, and the one that the kernel ran on */
    assert_true(str_eq(trace_str(t, t->device.name[1]), STR("Made-up GPU")));
    assert_int_equal(t->device.memory[1], INT64_C(80) << 30);
    assert_int_equal(t->device.compute_major[1], 9);
    assert_int_equal(t->device.sm_count[1], 132);
    trace_release(t);
}

/* All records come at the end, when the driver's exit handler has run; it was not initialized at the
 * beginning. In between it tells, and the helper asks. */
static void the_devices_are_asked_for_while_the_driver_works(void **state) {
    void *cuda = open_fake("libcuda.so.1");
    assert_non_null(cuda);
    int *driver_is = dlsym(cuda, "fake_cuda_is");
    assert_non_null(driver_is);
    start_with_device();
    usleep(60000);
    __atomic_store_n(driver_is, 0, __ATOMIC_RELAXED);
    usleep(300000); /* many turns of the helper */
    __atomic_store_n(driver_is, 4, __ATOMIC_RELAXED);
    int64_t now = unix_now();
    emit_kernel(1, now, now + 1000, "k");
    assert_has_fake_gpu(stop_and_read());
    start_with_device(); /* and stops before the helper has had a turn: what is known is known */
    now = unix_now();
    emit_kernel(1, now, now + 1000, "k");
    assert_has_fake_gpu(stop_and_read());
}

/* They make every launch slower. */
static void synchronization_is_recorded_on_request(void **state) {
    for (int wanted = 0; wanted < 2; wanted++) {
        tacho_options o = {
            .size = sizeof o, .path = fresh_folder(), .device = wanted ? 1 | 4 : 1};
        assert_int_equal(tacho_start(&o), TACHO_OK);
        int64_t now = unix_now();
        emit_kernel(1, now, now + 1000, "k");
        uint8_t sync[56] = {0};
        put32(sync, 0, 38);
        put32(sync, 4, 2);
        put64(sync, 8, (uint64_t)now);
        put64(sync, 16, (uint64_t)now + 500);
        put32(sync, 32, 7);
        emit(sync, sizeof sync);
        trace *t = stop_and_read();
        assert_int_equal(t->kind_count[KIND_SYNC], wanted);
        trace_release(t);
    }
}

/* Nodes of graphs and the graph as one exclude each other. */
static void nodes_of_graphs_are_recorded_on_request(void **state) {
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .device = 2};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    int64_t now = unix_now();
    uint8_t graph[56] = {0};
    put32(graph, 0, 51);
    put64(graph, 8, (uint64_t)now);
    put64(graph, 16, (uint64_t)now + 10);
    emit(graph, sizeof graph);
    emit_kernel(1, now, now + 1000, "k");
    trace *t = stop_and_read();
    assert_int_equal(t->kernel.n - 1, 1);
    trace_release(t);
}

/* A copy under the name that the program called; what it does in the driver says nothing more. */
static void each_call_is_recorded_once(void **state) {
    start_with_device();
    assert_int_equal(call(RUNTIME, CUDA_MEMCPY_ASYNC, 1, CU_MEMCPY_HTOD), 1);
    assert_int_equal(call(DRIVER, CU_LAUNCH_KERNEL, 2, 0), 1);
    assert_int_equal(call(RUNTIME, CUDA_LAUNCH_KERNEL, 3, CU_LAUNCH_KERNEL), 1);
    assert_int_equal(call(RUNTIME, 3, 99, 0), 0); /* one that explains nothing */
    int64_t now = unix_now();
    emit_copy(1, now, now + 10, 4096);
    emit_kernel(2, now + 20, now + 30, "k");
    emit_kernel(3, now + 40, now + 50, "k");
    trace *t = stop_and_read();
    assert_int_equal(t->kind_count[KIND_RUNTIME], 1);
    assert_int_equal(t->kind_count[KIND_DRIVER], 2);
    assert_int_equal(t->kernel.n - 1, 3);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        uint32_t launch = t->kernel.launch[i];
        bool is_copy = t->slice.kind[t->kernel.slice[i]] == KIND_MEMCPY;
        assert_true(launch != 0);
        assert_true(str_eq(trace_slice_name(t, launch),
                           is_copy ? STR("cudaMemcpyAsync") : STR("cuLaunchKernel")));
    }
    trace_release(t);
}

static void hear_get_current(void) {
    (void)call(DRIVER, 304, 0, 0);
}

/* As long as it stays it slows down the program. More recordings than there are buffers: the one that
 * was being filled comes back each time. */
static void it_leaves_the_process_after_each_recording(void **state) {
    enum { N = 30, N_KERNELS = 50 };
    void *cuda = open_fake("libcuda.so.1");
    assert_non_null(cuda);
    void (**hears)(void) = dlsym(cuda, "fake_cuda_hears");
    *hears = hear_get_current;
    int before = *n_finalized;
    for (int i = 0; i < N; i++) {
        start_with_device();
        for (uint32_t k = 1; k <= N_KERNELS; k++) {
            int64_t now = unix_now();
            emit_kernel(k, now, now + 1000, "k");
        }
        assert_int_equal(call(DRIVER, CU_LAUNCH_KERNEL, 1, 0), 1);
        trace *t = stop_and_read();
        assert_int_equal(t->kernel.n - 1, N_KERNELS);
        assert_int_equal(t->kind_count[KIND_DRIVER], 1);
        assert_int_equal(trace_quality(t, CAUSE_DEVICE_DROPPED), 0);
        trace_release(t);
        assert_int_equal(*n_finalized - before, i + 1);
        assert_int_equal(call(DRIVER, CU_LAUNCH_KERNEL, 1, 0), 0);
    }
    *hears = NULL;
    start_with_device(); /* a driver that is gone: it stays, and nothing breaks */
    trace_release(stop_and_read());
    assert_int_equal(*n_finalized - before, N);
    dlclose(cuda);
}

static void capture_in(const char *op, uint32_t correlation, uint64_t node) {
    tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op), .name = op, .sequence = -1});
    usleep(20);
    made(correlation, node, 0);
    usleep(20);
    tacho_op_end();
}

static str op_of(const trace *t, uint32_t kernel) {
    return t->kernel.op[kernel] ? trace_slice_name(t, t->kernel.op[kernel]) : STR("");
}

/* Nodes 100 and 101 are made at the capture, copied into the graph that runs, and replayed
 * twice. The call that made node 9 was not seen: its kernel belongs to the operator that
 * launched the graph. */
static void kernels_of_a_graph_have_the_operator_of_their_capture(void **state) {
    enum { GRAPH_LAUNCH = 514 };
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .device = 2};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    capture_in("gemm", 1, 100);
    capture_in("relu", 2, 101);
    made(0, 200, 100); /* put into another graph */
    made(0, 300, 200); /* instantiated */
    made(0, 301, 101);
    int64_t now = unix_now();
    for (uint32_t i = 0; i < 2; i++) {
        tacho_op_begin(&(tacho_op){.size = sizeof(tacho_op), .name = "replay", .sequence = -1});
        usleep(20);
        assert_int_equal(call(DRIVER, GRAPH_LAUNCH, 10 + i, 0), 1);
        usleep(20);
        tacho_op_end();
        emit_node(300, 10 + i, now += 2000);
        emit_node(301, 10 + i, now += 2000);
        emit_node(9, 10 + i, now += 2000);
    }
    trace *t = stop_and_read();
    assert_int_equal(t->kernel.n - 1, 6);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        int64_t node = t->kernel.graph_node[i];
        assert_true(str_eq(op_of(t, i), node == 300   ? STR("gemm")
                                        : node == 301 ? STR("relu")
                                                      : STR("replay")));
        assert_int_equal(t->kernel.link[i], node == 9 ? LINK_GRAPH : LINK_CAPTURED);
        assert_int_equal(t->call.correlation[trace_call_of(t, t->kernel.launch[i])],
                         t->kernel.correlation[i]);
    }
    trace_release(t);
}

/* The fact that hooks of compilers write: the last one of a name counts. */
static void a_kernel_of_a_compiler_has_its_source(void **state) {
    start_with_device();
    int64_t now = unix_now();
    emit_kernel(1, now, now + 1000, "triton_poi_fused_add_0");
    emit_kernel(2, now + 2000, now + 3000, "other");
    tacho_meta(
        "kernelSources",
        "[{\"name\": \"triton_poi_fused_add_0\", \"file\": \"/old.py\", \"line\": null}]");
    tacho_meta("kernelSources",
               "[{\"name\": \"triton_poi_fused_add_0\", \"file\": \"/tmp/k.py\", \"line\": 14, "
               "\"operators\": \"aten.add, aten.relu\"}, {\"file\": \"/nobody\"}, 7]");
    trace *t = stop_and_read();
    arena a = {0};
    assert_int_equal(t->kernel_source.n - 1, 2);
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        uint32_t name = t->slice.name[t->kernel.slice[i]], k = kernel_source_of(t, name);
        bool ours = str_starts(trace_str(t, name), STR("triton_"));
        assert_int_equal(k, ours ? 2 : 0);
        if (!ours) continue;
        assert_true(str_eq(kernel_source_place(t, k, &a), STR("/tmp/k.py:14")));
        assert_true(
            str_eq(trace_str(t, t->kernel_source.operators[k]), STR("aten.add, aten.relu")));
    }
    assert_true(str_eq(kernel_source_place(t, 1, &a), STR("/old.py")));
    arena_fini(&a);
    trace_release(t);
}

static void a_kernel_without_times_is_counted_as_lost(void **state) {
    start_with_device();
    emit_kernel(1, 0, 0, "k");
    trace *t = stop_and_read();
    assert_int_equal(t->kernel.n, 1);
    assert_int_equal(trace_quality(t, CAUSE_DEVICE_DROPPED), 1);
    trace_release(t);
}

static void many_records_pass_through_few_buffers(void **state) {
    enum { N = 60000 }; /* 13 MB of records: several buffers of 4 MiB */
    start_with_device();
    int64_t now = unix_now();
    for (uint32_t i = 0; i < N; i++) emit_kernel(i + 1, now + i, now + i + 1, "k");
    trace *t = stop_and_read();
    int64_t lost = trace_quality(t, CAUSE_DEVICE_DROPPED);
    assert_true((int64_t)t->kernel.n - 1 + lost >= N);
    assert_int_equal(lost, 0);
    trace_release(t);
}

static void a_recording_without_device_leaves_it_alone(void **state) {
    int before = *fake_calls;
    fresh_folder();
    start_all();
    trace *t = stop_and_read();
    assert_int_equal(*fake_calls, before);
    trace_release(t);
}

static void it_is_left_to_the_profiler_of_a_framework(void **state) {
    int before = *fake_calls;
    tacho_leave_gpu(1);
    start_with_device();
    assert_int_equal(*fake_calls, before);
    tacho_leave_gpu(0);
    int64_t now = unix_now();
    emit_kernel(1, now, now + 1000, "k");
    tacho_leave_gpu(1); /* what it has so far is kept */
    assert_true(*n_finalized > 0);
    trace *t = stop_and_read();
    tacho_leave_gpu(0);
    assert_int_equal(t->kernel.n - 1, 1);
    trace_release(t);
}

static void another_holder_is_reported_and_left_alone(void **state) {
    setenv("FAKE_CUPTI_BUSY", "1", 1);
    start_with_device();
    int64_t now = unix_now();
    emit_kernel(1, now, now + 1000, "k");
    trace *t = stop_and_read();
    unsetenv("FAKE_CUPTI_BUSY");
    assert_int_equal(t->kernel.n, 1);
    str note = trace_meta(t, STR("note"));
    assert_true(str_find(note, STR("another tool"), 0) != SIZE_MAX);
    assert_int_equal(str_find(note, STR("torch.profiler"), 0), SIZE_MAX); /* no PyTorch here */
    trace_release(t);
}

static void torch_profiler_is_named_where_pytorch_is(void **state) {
    void *torch = open_fake("libtorch_cpu.so");
    assert_non_null(torch);
    setenv("FAKE_CUPTI_BUSY", "1", 1);
    start_with_device();
    trace *t = stop_and_read();
    unsetenv("FAKE_CUPTI_BUSY");
    dlclose(torch);
    str note = trace_meta(t, STR("note"));
    assert_true(str_find(note, STR("record before it"), 0) != SIZE_MAX);
    assert_true(str_find(note, STR("(39)"), 0) != SIZE_MAX); /* whole */
    trace_release(t);
}

static void stop_in_child(void) {
    int before = *fake_calls;
    tacho_options o = {.size = sizeof o, .path = "/tmp/tacho_child.tacho", .device = 1};
    if (tacho_start(&o) != TACHO_OK || tacho_stop() != TACHO_OK) _exit(1);
    unlink("/tmp/tacho_child.tacho");
    _exit(*fake_calls == before ? 0 : 2);
}

static void a_child_never_calls_it(void **state) {
    start_with_device();
    assert_int_equal(in_child(stop_in_child), 0);
}

static int set_up(void **state) {
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
    if (n <= 0) return -1;
    path[n] = 0;
    dirname(dirname(path));
    strcat(path, "/fake/libcupti.so");
    setenv("TACHO_CUPTI", path, 1);
    void *lib = dlopen(path, RTLD_NOW);
    if (!lib) return -1;
    emit = (void (*)(const uint8_t *, size_t))dlsym(lib, "fake_emit");
    fake_calls = dlsym(lib, "fake_calls");
    n_finalized = dlsym(lib, "fake_finalized");
    heard = (int (*)(int))dlsym(lib, "fake_heard");
    call = (int (*)(int, uint32_t, uint32_t, uint32_t))dlsym(lib, "fake_call");
    made = (void (*)(uint32_t, uint64_t, uint64_t))dlsym(lib, "fake_node");
    return emit && fake_calls && made && n_finalized && heard && call ? 0 : -1;
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(kernels_find_their_launch_and_operator, tear_down),
        cmocka_unit_test_teardown(each_recording_turns_it_on_and_off, tear_down),
        cmocka_unit_test_teardown(waits_overheads_graphs_and_driver_memory_are_kept, tear_down),
        cmocka_unit_test_teardown(what_the_devices_are_is_kept, tear_down),
        cmocka_unit_test_teardown(nodes_of_graphs_are_recorded_on_request, tear_down),
        cmocka_unit_test_teardown(each_call_is_recorded_once, tear_down),
        cmocka_unit_test_teardown(a_kernel_of_a_compiler_has_its_source, tear_down),
        cmocka_unit_test_teardown(kernels_of_a_graph_have_the_operator_of_their_capture,
                                  tear_down),
        cmocka_unit_test_teardown(it_leaves_the_process_after_each_recording, tear_down),
        cmocka_unit_test_teardown(a_kernel_without_times_is_counted_as_lost, tear_down),
        cmocka_unit_test_teardown(many_records_pass_through_few_buffers, tear_down),
        cmocka_unit_test_teardown(a_recording_without_device_leaves_it_alone, tear_down),
        cmocka_unit_test_teardown(it_is_left_to_the_profiler_of_a_framework, tear_down),
        cmocka_unit_test_teardown(another_holder_is_reported_and_left_alone, tear_down),
        cmocka_unit_test_teardown(torch_profiler_is_named_where_pytorch_is, tear_down),
        cmocka_unit_test_teardown(a_child_never_calls_it, tear_down),
        cmocka_unit_test_teardown(the_devices_are_asked_for_while_the_driver_works, tear_down),
        cmocka_unit_test_teardown(synchronization_is_recorded_on_request, tear_down),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
