/* megengine_replay_test.c: inputs, memory and steps out of a MegEngine timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/megengine/megengine.h"
#include "unit/ingest/read_helper.h"

/* One event a line; %d is the process. */
static const char *const LINES[] = {
    "{\"args\":{\"value\":0.0},\"name\":\"train_time_ratio\",\"ph\":\"C\",\"pid\":%d,\"tid\":0,"
    "\"ts\":0.0}",
    "{\"name\":\"StartProfile\",\"ph\":\"B\",\"pid\":%d,\"tid\":0,\"ts\":1.0}",
    "{\"args\":{\"value\":1.0},\"name\":\"nr_alive_tensor\",\"ph\":\"C\",\"pid\":%d,\"tid\":0,"
    "\"ts\":2.0}",
    "{\"cat\":\"TensorLink\",\"id\":1,\"name\":\"p\",\"ph\":\"s\",\"pid\":%d,\"tid\":0,\"ts\":"
    "2.0}",
    "{\"args\":{\"value\":900.0},\"name\":\"gpu3:0_alloc_mem\",\"ph\":\"C\",\"pid\":%d,\"tid\":"
    "0,\"ts\":2.5}",
    "{\"name\":\"StartProfile\",\"ph\":\"E\",\"pid\":%d,\"tid\":0,\"ts\":3.0}",
    "{\"name\":\"ADD\",\"ph\":\"B\",\"pid\":%d,\"tid\":0,\"ts\":10.0}",
    "{\"args\":{\"device\":\"CompNode(\\\"gpu3:0\\\" from "
    "\\\"gpux:0\\\")\",\"dtype\":\"Float32\",\"id\":1,"
    "\"nr_elements\":6,\"shape\":\"{2,3}\"},\"name\":\"Input "
    "1\",\"ph\":\"B\",\"pid\":%d,\"tid\":0,\"ts\":11.0}",
    "{\"cat\":\"TensorLink\",\"id\":1,\"name\":\"p\",\"ph\":\"t\",\"pid\":%d,\"tid\":0,\"ts\":"
    "11.0}",
    "{\"name\":\"Input 1\",\"ph\":\"E\",\"pid\":%d,\"tid\":0,\"ts\":11.5}",
    "{\"args\":{\"device\":\"CompNode(\\\"gpu3:0\\\" from "
    "\\\"gpux:0\\\")\",\"dtype\":\"Float16\",\"id\":2,"
    "\"nr_elements\":10,\"shape\":\"{10}\"},\"name\":\"Output "
    "2\",\"ph\":\"B\",\"pid\":%d,\"tid\":0,\"ts\":12.0}",
    "{\"args\":{\"value\":2.0},\"name\":\"nr_alive_tensor\",\"ph\":\"C\",\"pid\":%d,\"tid\":0,"
    "\"ts\":12.1}",
    "{\"cat\":\"TensorLink\",\"id\":2,\"name\":\"p\",\"ph\":\"s\",\"pid\":%d,\"tid\":0,\"ts\":"
    "12.1}",
    "{\"name\":\"Output 2\",\"ph\":\"E\",\"pid\":%d,\"tid\":0,\"ts\":12.5}",
    "{\"args\":{\"__id__\":5},\"name\":\"ADD\",\"ph\":\"E\",\"pid\":%d,\"tid\":0,\"ts\":13.0}",
    "{\"name\":\"StopStep\",\"ph\":\"i\",\"pid\":%d,\"tid\":1,\"ts\":14.0}",
    "{\"name\":\"StopStep\",\"ph\":\"i\",\"pid\":%d,\"tid\":0,\"ts\":15.0}",
    "{\"name\":\"Del 2\",\"ph\":\"B\",\"pid\":%d,\"tid\":0,\"ts\":20.0}",
    "{\"args\":{\"value\":1.0},\"name\":\"nr_alive_tensor\",\"ph\":\"C\",\"pid\":%d,\"tid\":0,"
    "\"ts\":20.1}",
    "{\"cat\":\"TensorLink\",\"id\":2,\"name\":\"p\",\"ph\":\"t\",\"pid\":%d,\"tid\":0,\"ts\":"
    "20.1}",
    "{\"name\":\"Del 2\",\"ph\":\"E\",\"pid\":%d,\"tid\":0,\"ts\":21.0}",
    "{\"name\":\"StopStep\",\"ph\":\"i\",\"pid\":%d,\"tid\":1,\"ts\":30.0}",
    "{\"name\":\"StopStep\",\"ph\":\"i\",\"pid\":%d,\"tid\":0,\"ts\":31.0}",
    "{\"args\":{\"name\":\"worker\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":"
    "0}",
    "{\"args\":{\"name\":\"interpreter\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,"
    "\"tid\":1}",
    "{\"args\":{\"name\":\"gpux:0\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":"
    "2}",
};

/* The events above for each process in turn, the last without a comma. */
static buf write_timeline(int n_processes) {
    buf b = {0};
    buf_add_cstr(&b, "{\"traceEvents\":[");
    for (int p = 0; p < n_processes; p++)
        for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
            const char *at = strstr(LINES[i], "%d");
            if (p || i) buf_add_byte(&b, ',');
            buf_add(&b, LINES[i], (size_t)(at - LINES[i]));
            buf_add_i64(&b, p + 7);
            buf_add_cstr(&b, at + 2);
        }
    buf_add_cstr(&b, "]}");
    assert_true(buf_ok(&b));
    return b;
}

static trace *read_timeline(int n_processes, read_how how) {
    buf b = write_timeline(n_processes);
    error err;
    trace *t = read_with(ingest_megengine, buf_str(&b), how, &err);
    buf_fini(&b);
    assert_non_null(t);
    return t;
}

static void an_operator_has_the_shapes_and_types_of_its_inputs(void **state) {
    trace *t = read_timeline(1, (read_how){0});
    uint32_t op = trace_op_of(t, find_slice(t, "ADD"));
    assert_string_equal(text_of_id(t, t->op.shapes[op]), "[[2,3]]");
    assert_string_equal(text_of_id(t, t->op.types[op]), "[\"float\"]");
    assert_int_equal(t->op.bytes[op], 24 + 20);
    assert_true(isnan(t->op.flops[op]));
    trace_release(t);
}

static void a_tensor_is_memory_from_its_making_to_its_release(void **state) {
    static const struct {
        int64_t time, bytes, allocated;
    } rows[] = {{2000, 24, 24}, {12100, 20, 44}, {20100, -20, 24}};
    trace *t = read_timeline(1, (read_how){0});
    assert_int_equal(t->memory.n, 4); /* a use is not an event */
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(t->memory.time[i + 1], rows[i].time);
        assert_int_equal(t->memory.bytes[i + 1], rows[i].bytes);
        assert_int_equal(t->memory.allocated[i + 1], rows[i].allocated);
        assert_int_equal(t->memory.device[i + 1], 3);
        assert_int_equal(t->memory.device_type[i + 1], DEVICE_CUDA);
        assert_int_equal(t->memory.address[i + 1], 0);
    }
    assert_int_equal(t->memory.partner[2], 3);
    assert_int_equal(t->memory.partner[1], 0);
    assert_int_equal(t->memory.reserved[1], ABSENT_I64);
    assert_int_equal(t->memory.reserved[2], 900);
    assert_int_equal(t->memory.op[2], find_slice(t, "ADD"));
    trace_release(t);
}

static void a_step_ends_with_the_workers_mark(void **state) {
    trace *t = read_timeline(1, (read_how){0});
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.start[1], 0);
    assert_int_equal(t->step.end[1], 15000);
    assert_int_equal(t->step.start[2], 15000);
    assert_int_equal(t->step.end[2], 31000);
    assert_int_equal(t->step.number[2], 2);
    assert_int_equal(t->slice.flags[t->step.slice[1]], SLICE_SYNTHETIC);
    assert_int_equal(trace_quality(t, CAUSE_PARTIAL_OVERLAP), 0);
    trace_release(t);
}

static void processes_are_distinguished(void **state) {
    trace *t = read_timeline(3, (read_how){0});
    assert_int_equal(t->process.n, 4);
    assert_int_equal(t->memory.n, 10);
    assert_int_equal(t->step.n, 3);   /* of one process: they take their steps together */
    assert_int_equal(t->device.n, 2); /* all use the same */
    for (uint32_t i = 1; i < t->memory.n; i++) assert_true(t->memory.allocated[i] <= 44);
    trace_release(t);
}

static void the_answer_does_not_depend_on_threads_and_pieces(void **state) {
    trace *one = read_timeline(20, (read_how){0});
    static const read_how hows[] = {{.piece_bytes = 700},
                                    {.threads = 2, .piece_bytes = 900},
                                    {.threads = 4, .piece_bytes = 3000}};
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        trace *other = read_timeline(20, hows[i]);
        assert_same_trace(one, other, WITH_OFFSETS);
        trace_release(other);
    }
    trace_release(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operator_has_the_shapes_and_types_of_its_inputs),
        cmocka_unit_test(a_tensor_is_memory_from_its_making_to_its_release),
        cmocka_unit_test(a_step_ends_with_the_workers_mark),
        cmocka_unit_test(processes_are_distinguished),
        cmocka_unit_test(the_answer_does_not_depend_on_threads_and_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
