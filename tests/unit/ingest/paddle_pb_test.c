/* paddle_pb_test.c: Paddle's protobuf trace, from bytes to a sealed trace. The messages are written
 * here field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/paddle/paddle_pb.h"
#include "unit/ingest/read_helper.h"

/* ---- a writer ---- */

static void put_varint(buf *b, uint64_t v) {
    for (; v >= 0x80; v >>= 7) buf_add_byte(b, (char)(v | 0x80));
    buf_add_byte(b, (char)v);
}

static void put_int(buf *b, uint32_t number, uint64_t v) {
    put_varint(b, number << 3);
    put_varint(b, v);
}

static void put_text(buf *b, uint32_t number, str s) {
    put_varint(b, number << 3 | 2);
    put_varint(b, s.n);
    buf_add_str(b, s);
}

/* The message of `inner` as a field, and its end. */
static void put_message(buf *b, uint32_t number, buf *inner) {
    put_text(b, number, buf_str(inner));
    buf_fini(inner);
}

#define BASE 1700000000000000000ull

static buf host_event(const char *name, int type, uint64_t start, uint64_t end) {
    buf e = {0};
    put_text(&e, 1, str_of(name));
    put_int(&e, 2, (uint64_t)type);
    put_int(&e, 3, BASE + start);
    put_int(&e, 4, BASE + end);
    put_int(&e, 5, 7);
    put_int(&e, 6, 70);
    return e;
}

static buf host_node(int64_t id, int64_t parent, buf event_bytes) {
    buf n = {0};
    put_int(&n, 1, (uint64_t)id);
    put_int(&n, 2, (uint64_t)parent);
    put_message(&n, 3, &event_bytes);
    return n;
}

static void put_call(buf *node, const char *name, uint64_t start, uint64_t end) {
    buf call = {0}, runtime = {0}, work = {0}, device = {0}, info = {0};
    put_text(&call, 1, str_of(name));
    put_int(&call, 2, BASE + start);
    put_int(&call, 3, BASE + end);
    put_int(&call, 4, 7);
    put_int(&call, 5, 70);
    put_int(&call, 6, 900);
    put_int(&info, 1, 256); /* block x */
    put_int(&info, 4, 8);   /* grid x */
    put_int(&info, 7, 100);
    put_int(&info, 8, 24);
    put_varint(&info, 17 << 3 | 5); /* occupancy 0.25 */
    buf_add_str(&info, str_n("\0\0\x80\x3e", 4));
    put_text(&work, 1, STR("gemm"));
    put_int(&work, 2, 4);
    put_int(&work, 3, BASE + end);
    put_int(&work, 4, BASE + end + 50);
    put_int(&work, 5, 1);
    put_int(&work, 7, 20);
    put_int(&work, 8, 900);
    put_message(&work, 9, &info);
    put_message(&runtime, 1, &call);
    put_message(&device, 1, &work);
    put_message(&runtime, 2, &device);
    put_message(node, 4, &runtime);
}

static void put_memory(buf *node, uint64_t time, const char *place) {
    buf e = {0}, m = {0};
    put_int(&e, 1, BASE + time);
    put_int(&e, 2, 0);
    put_int(&e, 3, 4096);
    put_int(&e, 4, 7);
    put_int(&e, 5, 70);
    put_int(&e, 6, 64);
    put_text(&e, 7, str_of(place));
    for (uint32_t i = 8; i < 12; i++) put_int(&e, i, 100 + i);
    put_message(&m, 1, &e);
    put_message(node, 5, &m);
}

/* {"X": [[32, -1]]}, {"X": ["FP32"]} and a call stack. */
static void put_supplement(buf *node) {
    buf size = {0}, shapes = {0}, all = {0}, types = {0}, words = {0}, event_bytes = {0},
        s = {0};
    put_int(&size, 1, 32);
    put_int(&size, 1, (uint64_t)-1);
    put_message(&shapes, 1, &size);
    put_text(&all, 1, STR("X"));
    put_message(&all, 2, &shapes);
    put_text(&types, 1, STR("FP32"));
    put_text(&words, 1, STR("X"));
    put_message(&words, 2, &types);
    put_message(&event_bytes, 5, &all);
    put_message(&event_bytes, 6, &words);
    put_text(
        &event_bytes, 7,
        STR("  File \"a.py\", line 3, in main\n    f()\n  File \"b.py\", line 4, in f\n    g"));
    put_message(&s, 1, &event_bytes);
    put_message(node, 6, &s);
}

/* A step with an operator, an inner range with a supplement and a call. */
static buf small_trace(void) {
    buf file = {0}, thread = {0}, extra = {0}, device = {0};
    buf root = host_node(0, -1, host_event("root node", 7, 0, UINT64_MAX - BASE));
    put_memory(&root, 90, "Place(cpu)");
    buf step = host_node(1, 0, host_event("ProfileStep#4", 2, 100, 900));
    buf op = host_node(2, 1, host_event("say \"conv\"", 0, 200, 500));
    put_memory(&op, 210, "Place(fpga:1)");
    buf inner = host_node(3, 2, host_event("infer_shape", 8, 250, 300));
    put_supplement(&inner);
    buf launch = host_node(4, 2, host_event("conv kernel launch", 15, 310, 480));
    put_call(&launch, "cudaLaunchKernel", 320, 340);
    put_text(&file, 1, STR("1.0.2"));
    put_int(&file, 2, 5);
    put_int(&thread, 1, 70);
    put_message(&thread, 2, &root);
    put_message(&thread, 2, &step);
    put_message(&thread, 2, &op);
    put_message(&thread, 2, &inner);
    put_message(&thread, 2, &launch);
    put_message(&file, 3, &thread);
    put_text(&extra, 1, STR("Process Cpu Utilization"));
    put_text(&extra, 2, STR("0.5"));
    put_message(&file, 4, &extra);
    put_int(&device, 1, 1);
    put_text(&device, 2, STR("Card"));
    put_int(&device, 13, 108);
    put_message(&file, 5, &device);
    return file;
}

static trace *read_pb(str bytes, size_t piece_bytes) {
    error err;
    trace *t = read_with(ingest_paddle_pb, bytes, (read_how){.piece_bytes = piece_bytes}, &err);
    if (!t) fail_msg("refused with message %d", err.message);
    return t;
}

static void a_file_becomes_ranges_calls_work_and_memory(void **state) {
    (void)state;
    buf file = small_trace();
    trace *t = read_pb(buf_str(&file), 0);
    uint32_t op = find_slice(t, "say \"conv\""), launch = find_slice(t, "conv kernel launch");
    uint32_t gemm = find_slice(t, "gemm"), call = find_slice(t, "cudaLaunchKernel");
    assert_int_equal(t->slice.start[op], (int64_t)BASE + 200);
    assert_int_equal(t->slice.dur[op], 300);
    assert_int_equal(t->slice.kind[op], KIND_OP);
    assert_int_equal(t->slice.kind[launch], KIND_OP_PHASE);
    assert_int_equal(t->slice.parent[launch], op);
    assert_int_equal(t->kernel.launch[trace_kernel_of(t, gemm)], call);
    assert_int_equal(t->kernel.op[trace_kernel_of(t, gemm)], op);
    assert_int_equal(t->kernel.shared_memory[1], 124);
    assert_int_equal(t->kernel.block_x[1], 256);
    assert_true(t->kernel.occupancy[1] == 0.25);
    assert_int_equal(t->kernel.device[1], 1);
    assert_int_equal(t->step.number[1], 4);
    assert_int_equal(t->device.sm_count[1], 108);
    assert_true(str_eq(trace_meta(t, STR("span_indx")), STR("\"5\"")));
    assert_int_equal(t->memory.n, 3);
    assert_int_equal(t->memory.range[1], 0); /* of the root */
    assert_int_equal(t->memory.range[2], op);
    assert_int_equal(t->memory.device_type[2], DEVICE_NAMED);
    trace_release(t);
    buf_fini(&file);
}

static void shapes_of_an_inner_range_are_those_of_its_operator(void **state) {
    (void)state;
    buf file = small_trace();
    trace *t = read_pb(buf_str(&file), 0);
    uint32_t row = trace_op_of(t, find_slice(t, "say \"conv\""));
    assert_string_equal(text_of_id(t, t->op.shapes[row]), "{\"X\": [[32, -1]]}");
    assert_string_equal(text_of_id(t, t->op.types[row]), "{\"X\": [\"FP32\"]}");
    assert_string_equal(text_of_id(t, t->frame.name[t->op.frame[row]]), "b.py(4): f");
    trace_release(t);
    buf_fini(&file);
}

static void pieces_change_nothing(void **state) {
    (void)state;
    buf file = small_trace();
    trace *whole = read_pb(buf_str(&file), 0);
    for (size_t bytes = 1; bytes < 200; bytes += 13) {
        trace *t = read_pb(buf_str(&file), bytes);
        assert_same_trace(whole, t, WITH_OFFSETS);
        trace_release(t);
    }
    trace_release(whole);
    buf_fini(&file);
}

static void a_file_cut_anywhere_keeps_what_came_before(void **state) {
    (void)state;
    buf file = small_trace();
    uint32_t last = 0;
    for (size_t n = 8; n <= file.n; n++) {
        trace *t = read_pb(str_n(file.p, n), 0);
        assert_true(t->slice.n >= last);
        last = t->slice.n;
        trace_release(t);
    }
    buf_fini(&file);
}

static void damaged_bytes_never_break_the_reader(void **state) {
    (void)state;
    buf file = small_trace();
    uint32_t random = 1;
    for (int round = 0; round < 2000; round++) {
        size_t at = next_random(&random) % file.n;
        char before = file.p[at];
        file.p[at] = (char)next_random(&random);
        error err;
        trace *t = read_with(ingest_paddle_pb, buf_str(&file), (read_how){0}, &err);
        trace_release(t);
        file.p[at] = before;
    }
    buf_fini(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_becomes_ranges_calls_work_and_memory),
        cmocka_unit_test(shapes_of_an_inner_range_are_those_of_its_operator),
        cmocka_unit_test(pieces_change_nothing),
        cmocka_unit_test(a_file_cut_anywhere_keeps_what_came_before),
        cmocka_unit_test(damaged_bytes_never_break_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
