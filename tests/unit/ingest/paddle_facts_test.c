/* paddle_facts_test.c: Paddle's trace files, from text to a sealed trace: clock, devices, kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/paddle/paddle_facts.h"
#include "ingest/paddle/paddle_json.h"
#include "unit/ingest/read_helper.h"

#define HEAD "{\"schemaVersion\": \"1.0.2\", \"span_indx\": \"0\", \"traceEvents\": [\n"
#define TAIL                                                                                   \
    "{} ], \"ExtraInfo\": {\"7\": \"MainThread\", \"Process Cpu Utilization\": \"0.500000\"} " \
    "}"

/* One range in Paddle's words; ts in µs, times as texts. */
#define RANGE(name, cat, tid, ts, dur, from, to)                                         \
    "{\"name\": \"" name "[" dur " us]\", \"pid\": 7, \"tid\": \"" tid "\", \"ts\": " ts \
    ", \"dur\": " dur ", \"ph\": \"X\", \"cat\": \"" cat                                 \
    "\", \"args\": {\"start_time\": \"" from " us\", \"end_time\": \"" to " us\"}},\n"
#define MEMORY(cat, place, ts, bytes)                                       \
    "{\"name\": \"[memory]\", \"pid\": 7, \"tid\": \"7(C++)\", \"ts\": " ts \
    ", \"ph\": \"i\", \"cat\": \"" cat "\", \"args\": {\"place\": \"" place \
    "\", \"addr\": \"4096\", \"increase_bytes\": " bytes                    \
    ", \"current_allocated\": 64, \"current_reserved\": 128}},\n"

static trace *read_paddle(const char *text) {
    error err;
    trace *t = read_with(ingest_paddle_json, str_of(text), (read_how){0}, &err);
    if (!t) fail_msg("refused with message %d", err.message);
    return t;
}

static const char TWO_ROWS[] = HEAD RANGE("ProfileStep#3", "ProfileStep", "7(Python)",
                                          "1000100", "20.500", "0.000", "20.500")
    RANGE("add dygraph", "Operator", "7(C++)", "1000101", "10.250", "1.125", "11.375")
        RANGE("add infer_meta", "OperatorInner", "7(C++)", "1000102", "1.000", "2.000", "3.000")
            RANGE("add kernel launch", "DygraphKernelLaunch", "7(C++)", "1000103", "2.001",
                  "3.500", "5.501") RANGE("wrapper", "UserDefined", "7(C++)", "1000120",
                                          "0.100", "20.200", "20.300")
                MEMORY("Allocate", "Place(gpu:0)", "1000104", "64")
                    MEMORY("ReservedAllocate", "Place(my_npu:1)", "1000105", "128") TAIL;

static void times_come_from_the_texts_and_points_are_moved_to_their_zero(void **state) {
    (void)state;
    trace *t = read_paddle(TWO_ROWS);
    uint32_t op = find_slice(t, "add dygraph"), step = find_slice(t, "ProfileStep#3");
    assert_int_equal(t->base_unix_ns, 1000100000);
    assert_int_equal(t->slice.start[step], 0);
    assert_int_equal(t->slice.dur[step], 20500);
    assert_int_equal(t->slice.start[op], 1125);
    assert_int_equal(t->slice.dur[op], 10250);
    assert_int_equal(t->slice.parent[op], step);
    assert_int_equal(t->memory.time[1], 4000);
    assert_int_equal(t->step.number[1], 3);
    assert_int_equal(t->track.n, 2);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

static void categories_become_kinds(void **state) {
    (void)state;
    trace *t = read_paddle(TWO_ROWS);
    assert_int_equal(t->slice.kind[find_slice(t, "ProfileStep#3")], KIND_STEP);
    assert_int_equal(t->slice.kind[find_slice(t, "add dygraph")], KIND_OP);
    assert_int_equal(t->slice.kind[find_slice(t, "add infer_meta")], KIND_OP_PHASE);
    assert_int_equal(t->slice.kind[find_slice(t, "add kernel launch")], KIND_OP_PHASE);
    assert_int_equal(t->slice.kind[find_slice(t, "wrapper")], KIND_FRAMEWORK);
    assert_int_equal(t->memory.kind[1], MEMORY_ALLOC);
    assert_int_equal(t->memory.kind[2], MEMORY_SEGMENT_ALLOC);
    assert_true(str_eq(trace_meta(t, STR("Process Cpu Utilization")), STR("\"0.500000\"")));
    trace_release(t);
}

static void devices_of_plug_ins_keep_their_names(void **state) {
    (void)state;
    trace *t = read_paddle(TWO_ROWS);
    assert_int_equal(t->memory.device_type[1], DEVICE_CUDA);
    assert_int_equal(t->memory.device[1], 0);
    assert_int_equal(t->memory.device_type[2], DEVICE_NAMED);
    assert_int_equal(t->memory.device[2], 1);
    assert_int_equal(t->device_word.n, 2);
    assert_int_equal(t->device_word.type[1], DEVICE_NAMED);
    assert_true(str_eq(trace_str(t, t->device_word.name[1]), STR("my_npu")));
    trace_release(t);
    t = read_paddle(HEAD MEMORY("Allocate", "Place(zeta:0)", "5", "1")
                        MEMORY("Allocate", "Place(xpu:2)", "6", "1")
                            MEMORY("Allocate", "Place(alpha:0)", "7", "1")
                                MEMORY("Allocate", "Place(cpu)", "8", "1") TAIL);
    assert_int_equal(t->memory.device_type[1],
                     DEVICE_NAMED + 1); /* by the order of the words */
    assert_int_equal(t->memory.device_type[2], DEVICE_XPU);
    assert_int_equal(t->memory.device_type[3], DEVICE_NAMED);
    assert_int_equal(t->memory.device_type[4], DEVICE_CPU);
    trace_release(t);
}

static void without_a_range_at_zero_the_smallest_fit_is_taken(void **state) {
    (void)state;
    trace *t =
        read_paddle(HEAD RANGE("a", "Operator", "7(C++)", "1000102", "1.000", "1.999", "2.999")
                        RANGE("b", "Operator", "7(C++)", "1000105", "1.000", "5.100", "6.100")
                            MEMORY("Allocate", "Place(cpu)", "1000104", "64") TAIL);
    assert_int_equal(t->base_unix_ns, 1000100000);
    assert_int_equal(t->memory.time[1], 4000);
    trace_release(t);
}

static void a_call_that_wrapped_below_zero_is_placed_by_its_time_of_day(void **state) {
    (void)state;
    trace *t =
        read_paddle(HEAD RANGE("a", "Operator", "7(C++)", "1000100", "9.000", "0.000", "9.000")
                        RANGE("early", "CudaRuntime", "7(C++)", "1000098", "1.500",
                              "18446744073709550.000", "18446744073709551.500") TAIL);
    uint32_t early = find_slice(t, "early");
    assert_int_equal(t->slice.start[early], -2000);
    assert_int_equal(t->slice.dur[early], 1500);
    trace_release(t);
}

static void memory_outside_operators_belongs_to_the_range_around_it(void **state) {
    (void)state;
    trace *t = read_paddle(HEAD RANGE("Gradient Backward", "Backward", "7(Python)", "1000100",
                                      "9.000", "0.000", "9.000")
                               RANGE("op", "Operator", "7(C++)", "1000102", "2.000", "2.000",
                                     "4.000") MEMORY("Allocate", "Place(cpu)", "1000103", "64")
                                   MEMORY("Free", "Place(cpu)", "1000106", "-64") TAIL);
    assert_int_equal(t->memory.op[1], find_slice(t, "op"));
    assert_int_equal(t->memory.op[2], find_slice(t, "Gradient Backward"));
    trace_release(t);
}

static void threads_and_pieces_change_nothing(void **state) {
    (void)state;
    buf b = {0};
    buf_add_cstr(&b, HEAD);
    for (int i = 0; i < 300; i++) {
        buf_printf(&b, RANGE("op%d", "Operator", "7(C++)", "%d", "1.000", "%d.000", "%d.000"),
                   i % 9, 1000100 + 2 * i, 2 * i, 2 * i + 1);
        if (i % 7 == 0)
            buf_printf(&b, MEMORY("Allocate", "Place(dev%d:0)", "%d", "%d"), i % 3,
                       1000100 + 2 * i, i + 1);
    }
    buf_add_cstr(&b, TAIL);
    error err;
    trace *one = read_with(ingest_paddle_json, buf_str(&b), (read_how){0}, &err);
    for (size_t bytes = 700; bytes < 4000; bytes += 611) {
        trace *many = read_with(ingest_paddle_json, buf_str(&b), (read_how){3, bytes}, &err);
        assert_same_trace(one, many, WITH_OFFSETS);
        trace_release(many);
    }
    trace_release(one);
    buf_fini(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_from_the_texts_and_points_are_moved_to_their_zero),
        cmocka_unit_test(categories_become_kinds),
        cmocka_unit_test(devices_of_plug_ins_keep_their_names),
        cmocka_unit_test(without_a_range_at_zero_the_smallest_fit_is_taken),
        cmocka_unit_test(a_call_that_wrapped_below_zero_is_placed_by_its_time_of_day),
        cmocka_unit_test(memory_outside_operators_belongs_to_the_range_around_it),
        cmocka_unit_test(threads_and_pieces_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
