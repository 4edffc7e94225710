/* xplane_test.c: profiles of XLA, from bytes to a sealed trace. The messages are written here
 * field by field (made_profile.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"
#include "ingest/xplane/xplane.h"
#include "unit/ingest/made_profile.h"
#include "unit/ingest/read_helper.h"

static trace *read_profile(const buf *file) {
    error err = {0};
    trace *t = read_with(ingest_xplane, buf_str(file), (read_how){0}, &err);
    assert_non_null(t);
    return t;
}

static const char *slice_text(const trace *t, uint32_t slice) {
    return text_of_id(t, t->slice.name[slice]);
}

/* ---- programs ---- */

/* float32[m, n] */
static buf shape_of(uint64_t m, uint64_t n) {
    buf s = {0}, dimensions = {0};
    put_int(&s, 2, 11);
    put_varint(&dimensions, m);
    put_varint(&dimensions, n);
    put_message(&s, 3, &dimensions);
    return s;
}

static void put_instruction(buf *computation, const char *name, const char *opcode, uint64_t id,
                            buf shape, const char *path, uint64_t a, uint64_t b) {
    buf in = {0}, metadata = {0}, dot = {0}, one = {0}, operands = {0};
    put_text(&in, 1, str_of(name));
    put_text(&in, 2, str_of(opcode));
    put_message(&in, 3, &shape);
    put_text(&metadata, 2, str_of(path));
    put_text(&metadata, 3, STR("train.py"));
    put_int(&metadata, 4, 12);
    put_message(&in, 7, &metadata);
    if (strcmp(opcode, "dot") == 0) {
        put_varint(&one, 1); /* the second dimension of the left side */
        put_message(&dot, 1, &one);
        put_message(&in, 30, &dot);
    }
    put_int(&in, 35, id);
    if (a) {
        put_varint(&operands, a);
        if (b) put_varint(&operands, b);
        put_message(&in, 36, &operands);
    }
    put_message(computation, 2, &in);
}

/* jit_step: %dot.1 = [8,32] of [8,16] and [16,32]; %add.2 of it. */
static void put_program(buf *file) {
    buf computation = {0}, module = {0}, proto = {0}, stat = {0}, value = {0};
    plane_writer p = begin_plane("/host:metadata");
    put_instruction(&computation, "x", "parameter", 1, shape_of(8, 16), "", 0, 0);
    put_instruction(&computation, "w", "parameter", 2, shape_of(16, 32), "", 0, 0);
    put_instruction(&computation, "dot.1", "dot", 3, shape_of(8, 32),
                    "jit(step)/jvp(mlp)/hidden/dot_general", 1, 2);
    put_instruction(&computation, "add.2", "add", 4, shape_of(8, 32),
                    "jit(step)/transpose(jvp(mlp))/hidden/add_any", 3, 3);
    put_int(&computation, 5, 9);
    put_message(&module, 3, &computation);
    put_message(&proto, 1, &module);
    put_int(&stat, 1, stat_name(&p, "Hlo Proto"));
    put_message(&stat, 6, &proto);
    put_text(&value, 2, STR("jit_step(7)"));
    put_message(&value, 5, &stat);
    put_entry(&p, 4, ++p.n_names, &value);
    put_stat_ref(&p, &p.stats, 6, "jax_version", "0.10.2");
    end_plane(&p, file);
}

/* ---- a GPU ---- */

static buf kernel_event(plane_writer *p, const char *name, uint64_t start, int64_t correlation,
                        const char *op) {
    buf e = event_at(event_name(p, name, NULL), start, 100);
    put_stat_int(p, &e, 4, "correlation_id", correlation);
    put_stat_ref(
        p, &e, 4, "kernel_details",
        "regs:90 static_shared:8 dynamic_shared:64 grid:128,2,1 block:64,1,1 occ_pct:25");
    put_stat_ref(p, &e, 4, "hlo_op", op);
    put_stat_int(p, &e, 4, "program_id", 7);
    return e;
}

static void put_gpu(buf *file) {
    plane_writer p = begin_plane("/device:GPU:1");
    buf events = {0}, copies = {0};
    buf one = kernel_event(&p, "dot_1", 3000, 11, "dot.1");
    buf two = kernel_event(&p, "dot_1", 4000, 12, "command_buffer_1");
    buf three = kernel_event(&p, "add_2", 4200, 12, "command_buffer_1");
    buf copy = event_at(event_name(&p, "MemcpyH2D", NULL), 2000, 50);
    put_stat_int(&p, &copy, 4, "correlation_id", 10);
    put_stat_ref(&p, &copy, 4, "memcpy_details", "kind_src:pinned kind_dst:device size:4096");
    put_message(&events, 4, &one);
    put_message(&events, 4, &two);
    put_message(&events, 4, &three);
    put_message(&copies, 4, &copy);
    put_line(&p, 14, "Stream #14(Compute)", &events);
    put_line(&p, 15, "Stream #15(MemcpyH2D)", &copies);
    put_stat_ref(&p, &p.stats, 6, "device_vendor", "Nvidia");
    put_stat_ref(&p, &p.stats, 6, "gpu_device_name", "NVIDIA H200");
    put_stat_int(&p, &p.stats, 6, "core_count", 132);
    end_plane(&p, file);
}

static buf call_event(plane_writer *p, const char *name, uint64_t start, int64_t correlation) {
    buf e = event_at(event_name(p, name, NULL), start, 60);
    put_stat_int(p, &e, 4, "correlation_id", correlation);
    return e;
}

static void put_memory(plane_writer *p, buf *events, const char *name, uint64_t at) {
    buf e = event_at(event_name(p, name, NULL), at, 0);
    put_stat_ref(p, &e, 4, "allocator_name", "GPU_1_bfc");
    put_stat_int(p, &e, 4, "allocation_bytes", 256);
    put_stat_int(p, &e, 4, "bytes_allocated", name[6] == 'A' ? 256 : 0);
    put_stat_int(p, &e, 4, "addr", 0x7000);
    put_message(events, 4, &e);
}

static void put_host(buf *file) {
    plane_writer p = begin_plane("/host:CPU");
    buf events = {0};
    buf step = event_at(event_name(&p, "train", NULL), 1000, 4000);
    put_stat_int(&p, &step, 4, "_r", 1);
    put_stat_int(&p, &step, 4, "step_num", 40);
    buf frame = event_at(event_name(&p, "$train.py:12 step", NULL), 1100, 3000);
    buf mine = event_at(event_name(&p, "load batch", NULL), 1200, 100);
    buf theirs = event_at(event_name(&p, "PjitFunction(step)", NULL), 1400, 2000);
    buf inside = event_at(event_name(&p, "algsimp", NULL), 1410, 20);
    buf copy = call_event(&p, "MemcpyH2D", 1500, 10);
    buf launch = call_event(&p, "dot_1", 1600, 11);
    buf graph = call_event(&p, "cuGraphLaunch (CudaGraph:8)", 1700, 12);
    put_message(&events, 4, &step);
    put_message(&events, 4, &frame);
    put_message(&events, 4, &mine);
    put_message(&events, 4, &theirs);
    put_message(&events, 4, &inside);
    put_memory(&p, &events, "MemoryAllocation", 1450);
    put_message(&events, 4, &copy);
    put_message(&events, 4, &launch);
    put_message(&events, 4, &graph);
    put_memory(&p, &events, "MemoryDeallocation", 3300);
    put_line(&p, -77, "python3", &events);
    end_plane(&p, file);
}

static buf gpu_profile(void) {
    buf file = {0};
    plane_writer task = begin_plane("Task Environment");
    put_host(&file); /* the order of planes does not matter */
    put_gpu(&file);
    put_program(&file);
    put_stat_int(&task, &task.stats, 6, "profile_start_time", 1700000000000000000);
    end_plane(&task, &file);
    put_text(&file, 4, STR("trainer"));
    return file;
}

static void test_device_work_finds_its_launch_and_its_operation(void **state) {
    (void)state;
    buf file = gpu_profile();
    trace *t = read_profile(&file);
    assert_int_equal(t->kernel.n - 1, 4);
    assert_int_equal(t->kind_count[KIND_KERNEL], 3);
    uint32_t single = 1, graph[2] = {2, 3};
    assert_string_equal(slice_text(t, t->kernel.launch[single]), "dot_1");
    assert_string_equal(slice_text(t, t->kernel.op[single]), "dot_general");
    for (int i = 0; i < 2; i++)
        assert_string_equal(slice_text(t, t->kernel.launch[graph[i]]),
                            "cuGraphLaunch (CudaGraph:8)");
    assert_string_equal(slice_text(t, t->kernel.op[graph[0]]), "dot_general");
    assert_string_equal(slice_text(t, t->kernel.op[graph[1]]), "add_any");
    assert_true(t->kernel.op[single] != t->kernel.op[graph[0]]);
    trace_release(t);
    buf_fini(&file);
}

static void test_details_of_kernels_and_copies(void **state) {
    (void)state;
    buf file = gpu_profile();
    trace *t = read_profile(&file);
    assert_int_equal(t->kernel.registers[1], 90);
    assert_int_equal(t->kernel.shared_memory[1], 72);
    assert_int_equal(t->kernel.grid_x[1], 128);
    assert_int_equal(t->kernel.grid_y[1], 2);
    assert_int_equal(t->kernel.block_x[1], 64);
    assert_true(t->kernel.occupancy[1] == 0.25);
    assert_int_equal(t->kernel.stream[1], 14);
    assert_int_equal(t->kernel.device[1], 1);
    assert_int_equal(t->kernel.bytes[4], 4096);
    assert_int_equal(t->slice.kind[t->kernel.slice[4]], KIND_MEMCPY);
    assert_int_equal(t->slice.start[t->kernel.slice[1]], 3000 + 500);
    assert_string_equal(text_of_id(t, t->device.name[1]), "NVIDIA H200");
    assert_int_equal(t->device.sm_count[1], 132);
    assert_int_equal(t->base_unix_ns, 1700000000000000000);
    assert_string_equal(t->format.p, "xplane_jax");
    trace_release(t);
    buf_fini(&file);
}

static void test_operations_know_shapes_flops_phase_and_scopes(void **state) {
    (void)state;
    buf file = gpu_profile();
    trace *t = read_profile(&file);
    uint32_t op = trace_op_of(t, t->kernel.op[1]), back = trace_op_of(t, t->kernel.op[3]);
    assert_string_equal(text_of_id(t, t->op.shapes[op]), "[[8, 16], [16, 32]]");
    assert_string_equal(text_of_id(t, t->op.types[op]), "[\"float32\", \"float32\"]");
    assert_true(t->op.flops[op] == 2 * 8 * 32 * 16);
    assert_int_equal(t->op.bytes[op], 4 * (8 * 16 + 16 * 32 + 8 * 32));
    assert_int_equal(t->op.phase[op], PHASE_FORWARD);
    assert_int_equal(t->op.phase[back], PHASE_BACKWARD);
    uint32_t hidden = t->slice.parent[t->kernel.op[1]], mlp = t->slice.parent[hidden];
    assert_string_equal(slice_text(t, hidden), "hidden");
    assert_string_equal(slice_text(t, mlp), "mlp");
    assert_string_equal(slice_text(t, t->slice.parent[mlp]), "jit(step)");
    assert_int_equal(t->module.n - 1, 3);
    trace_release(t);
    buf_fini(&file);
}

/* The call of a graph has 60 ns for two operations. */
static void test_operations_of_a_graph_share_the_time_of_its_launch(void **state) {
    (void)state;
    buf file = gpu_profile();
    trace *t = read_profile(&file);
    uint32_t first = t->kernel.op[2], second = t->kernel.op[3];
    assert_int_equal(t->slice.dur[first], 30);
    assert_int_equal(t->slice.start[second], t->slice.start[first] + 30);
    assert_int_equal(t->slice.flags[first] & SLICE_SYNTHETIC, SLICE_SYNTHETIC);
    trace_release(t);
    buf_fini(&file);
}

static void test_ranges_of_the_user_and_of_xla_are_distinguished(void **state) {
    (void)state;
    buf file = gpu_profile();
    trace *t = read_profile(&file);
    assert_int_equal(t->slice.kind[find_slice(t, "train")], KIND_STEP);
    assert_int_equal(t->step.number[1], 40);
    assert_int_equal(t->slice.kind[find_slice(t, "train.py(12): step")], KIND_PYTHON);
    assert_int_equal(t->slice.kind[find_slice(t, "load batch")], KIND_ANNOTATION);
    assert_int_equal(t->slice.kind[find_slice(t, "PjitFunction(step)")], KIND_FRAMEWORK);
    assert_int_equal(t->slice.kind[find_slice(t, "algsimp")], KIND_FRAMEWORK);
    trace_release(t);
    buf_fini(&file);
}

/* The id of this thread is a hash. */
static void test_threads_have_readable_names(void **state) {
    (void)state;
    buf file = {0}, one = {0}, two = {0}, three = {0};
    plane_writer p = begin_plane("/host:CPU");
    uint64_t name = event_name(&p, "work", NULL);
    buf a = event_at(name, 10, 5), b = event_at(name, 20, 5), c = event_at(name, 30, 5);
    put_message(&one, 4, &a);
    put_message(&two, 4, &b);
    put_message(&three, 4, &c);
    put_line(&p, -77, "pool/-77", &one);
    put_line(&p, -78, "pool/-78", &two);
    put_line(&p, 1234, "tf_Compute/1234", &three);
    end_plane(&p, &file);
    trace *t = read_profile(&file);
    assert_int_equal(t->track.n - 1, 3);
    assert_int_equal(t->track.tid[1], 1234); /* numbers come first */
    assert_string_equal(text_of_id(t, t->track.name[1]), "tf_Compute/1234");
    assert_string_equal(text_of_id(t, t->track.name[2]), "pool");
    assert_string_equal(text_of_id(t, t->track.name[3]), "pool 2");
    trace_release(t);
    buf_fini(&file);
}

static void test_memory_of_a_device(void **state) {
    (void)state;
    buf file = gpu_profile();
    trace *t = read_profile(&file);
    assert_int_equal(t->memory.n - 1, 2);
    assert_int_equal(t->memory.bytes[1], 256);
    assert_int_equal(t->memory.bytes[2], -256);
    assert_int_equal(t->memory.allocated[1], 256);
    assert_int_equal(t->memory.device[1], 1);
    assert_int_equal(t->memory.device_type[1], DEVICE_CUDA);
    assert_int_equal(t->memory.partner[1], 2);
    trace_release(t);
    buf_fini(&file);
}

/* ---- a TPU ---- */

static void put_tpu(buf *file) {
    plane_writer p = begin_plane("/device:TPU:0");
    buf modules = {0}, ops = {0}, async = {0};
    buf run = event_at(event_name(&p, "jit_step(7)", NULL), 5000, 1000);
    put_stat_int(&p, &run, 4, "_ct", 12);
    put_stat_int(&p, &run, 4, "_c", -5);
    buf op = event_at(event_name(&p, "%dot.1 = f32[8,32] dot(…)", "dot.1"), 5100, 300);
    put_stat_ref(&p, &op, 4, "hlo_category", "convolution fusion");
    put_stat_int(&p, &op, 4, "flops", 1000);
    put_stat_int(&p, &op, 4, "bytes_accessed", 77);
    put_stat_ref(&p, &op, 4, "tf_op", "jit(step)/mlp/dot_general:");
    buf loop = event_at(event_name(&p, "%while.3", "while.3"), 5500, 400);
    put_stat_ref(&p, &loop, 4, "hlo_category", "while");
    buf copy = event_at(event_name(&p, "%copy-start", "copy-start"), 5050, 900);
    buf other = event_at(event_name(&p, "%copy-start.1", "copy-start.1"), 5200, 900);
    put_message(&modules, 4, &run);
    put_message(&ops, 4, &op);
    put_message(&ops, 4, &loop);
    put_message(&async, 4, &copy);
    put_message(&async, 4, &other);
    put_line(&p, 2, "XLA Modules", &modules);
    put_line(&p, 3, "XLA Ops", &ops);
    put_line(&p, 4, "Async XLA Ops", &async);
    buf steps = {0}, step = event_at(event_name(&p, "3", NULL), 5000, 1000);
    put_message(&steps, 4, &step);
    put_line(&p, 1, "Steps", &steps);
    put_stat_ref(&p, &p.stats, 6, "device_type_string", "TPU v6 Lite");
    end_plane(&p, file);
}

static void test_a_tpu_runs_operations_of_launched_programs(void **state) {
    (void)state;
    buf file = {0}, events = {0};
    plane_writer host = begin_plane("/host:CPU");
    buf launch = event_at(event_name(&host, "DoEnqueueProgram", NULL), 4000, 100);
    put_stat_int(&host, &launch, 4, "_pt", 12);
    put_stat_int(&host, &launch, 4, "_p", -5);
    put_message(&events, 4, &launch);
    put_line(&host, 9, "main/9", &events);
    put_tpu(&file);
    end_plane(&host, &file);
    trace *t = read_profile(&file);
    assert_int_equal(t->kernel.n - 1, 1); /* neither the loop nor what runs at the same time */
    assert_string_equal(slice_text(t, t->kernel.slice[1]), "dot.1");
    assert_string_equal(slice_text(t, t->kernel.launch[1]), "DoEnqueueProgram");
    uint32_t op = trace_op_of(t, t->kernel.op[1]);
    assert_string_equal(slice_text(t, t->kernel.op[1]), "dot_general");
    assert_true(t->op.flops[op] == 1000);
    assert_int_equal(t->op.bytes[op], 77);
    assert_int_equal(t->kind_count[KIND_ASYNC], 2);
    assert_int_equal(t->quality.n - 1, 0);
    assert_int_equal(t->step.n - 1, 1);
    assert_int_equal(t->step.number[1], 3);
    trace_release(t);
    buf_fini(&file);
}

/* ---- TensorFlow ---- */

static void test_operations_of_tensorflow(void **state) {
    (void)state;
    buf file = {0}, events = {0};
    plane_writer p = begin_plane("/host:CPU");
    buf run = event_at(event_name(&p, "ExecutorState::Process", NULL), 100, 900);
    buf one = event_at(event_name(&p, "net/dense/MatMul:MatMul", "MatMul"), 200, 100);
    buf two = event_at(event_name(&p, "net/dense/BiasAdd:BiasAdd", "BiasAdd"), 400, 100);
    buf data = event_at(event_name(&p, "Iterator::Prefetch::Map", "Iterator::Map"), 1200, 50);
    put_message(&events, 4, &run);
    put_message(&events, 4, &one);
    put_message(&events, 4, &two);
    put_message(&events, 4, &data);
    put_line(&p, 5, "tf_Compute/5", &events);
    end_plane(&p, &file);
    trace *t = read_profile(&file);
    uint32_t product = find_slice(t, "MatMul"), dense = t->slice.parent[product];
    assert_int_equal(t->slice.kind[product], KIND_OP);
    assert_string_equal(slice_text(t, dense), "dense");
    assert_int_equal(t->slice.parent[find_slice(t, "BiasAdd")], dense);
    assert_int_equal(t->slice.kind[find_slice(t, "Iterator::Prefetch::Map")], KIND_DATA);
    assert_string_equal(t->format.p, "xplane_tensorflow");
    trace_release(t);
    buf_fini(&file);
}

/* ---- damage ---- */

static void test_a_cut_file_gives_what_came_before_the_cut(void **state) {
    (void)state;
    buf file = gpu_profile();
    trace *all = read_profile(&file);
    uint32_t n_cut = 0, n_whole = 0;
    for (size_t n = 1; n < file.n; n++) {
        error err = {0};
        trace *t = read_with(ingest_xplane, str_n(file.p, n), (read_how){0}, &err);
        assert_non_null(t);
        assert_true(t->slice.n <= all->slice.n);
        n_cut += t->quality.n > 1 && t->quality.cause[1] == CAUSE_TRUNCATED;
        n_whole += t->quality.n == 1;
        trace_release(t);
    }
    assert_true(n_whole <= 4); /* between two planes it cannot be known */
    assert_true(n_cut >= file.n - 8);
    trace_release(all);
    buf_fini(&file);
}

static void test_a_damaged_event_costs_only_itself(void **state) {
    (void)state;
    buf file = {0}, events = {0};
    plane_writer p = begin_plane("/host:CPU");
    buf good = event_at(event_name(&p, "one", NULL), 100, 10), bad = {0};
    buf late = event_at(event_name(&p, "two", NULL), 300, 10);
    put_varint(&bad, 1 << 3 | 7); /* there is no such wire type */
    buf negative = {0};
    put_int(&negative, 1, 1);
    put_int(&negative, 3, (uint64_t)-5);
    put_message(&events, 4, &good);
    put_message(&events, 4, &bad);
    put_message(&events, 4, &negative);
    put_message(&events, 4, &late);
    put_line(&p, 1, "python3", &events);
    end_plane(&p, &file);
    trace *t = read_profile(&file);
    assert_int_equal(t->slice.n - 1, 2);
    find_slice(t, "two");
    assert_int_equal(t->quality.n - 1, 2);
    trace_release(t);
    buf_fini(&file);
}

static void test_a_file_converted_as_text_is_named(void **state) {
    (void)state;
    error err = {0};
    buf file = {0}, body = {0};
    put_text(&body, 2, STR("/host:CPU"));
    for (int i = 0; i < 80; i++) buf_add_cstr(&body, "\xef\xbf\xbd");
    put_message(&file, 1, &body);
    assert_null(read_with(ingest_xplane, buf_str(&file), (read_how){0}, &err));
    assert_int_equal(err.message, MSG_XPLANE_REPLACED);
    buf_fini(&file);
}

static void test_recognized_by_the_name_of_its_first_plane(void **state) {
    (void)state;
    buf file = gpu_profile();
    assert_true(xplane_head(buf_str(&file)));
    assert_true(xplane_head(str_n(file.p, 64))); /* the plane continues after what is seen */
    assert_false(xplane_head(STR("\x0a\x04\x08\x01\x10\x02")));
    assert_false(xplane_head(STR("{\"traceEvents\": []}")));
    assert_false(xplane_head(STR("")));
    buf_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_work_finds_its_launch_and_its_operation),
        cmocka_unit_test(test_details_of_kernels_and_copies),
        cmocka_unit_test(test_operations_know_shapes_flops_phase_and_scopes),
        cmocka_unit_test(test_operations_of_a_graph_share_the_time_of_its_launch),
        cmocka_unit_test(test_ranges_of_the_user_and_of_xla_are_distinguished),
        cmocka_unit_test(test_threads_have_readable_names),
        cmocka_unit_test(test_memory_of_a_device),
        cmocka_unit_test(test_a_tpu_runs_operations_of_launched_programs),
        cmocka_unit_test(test_operations_of_tensorflow),
        cmocka_unit_test(test_a_cut_file_gives_what_came_before_the_cut),
        cmocka_unit_test(test_a_damaged_event_costs_only_itself),
        cmocka_unit_test(test_a_file_converted_as_text_is_named),
        cmocka_unit_test(test_recognized_by_the_name_of_its_first_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
