/* megengine_test.c: what the events of a MegEngine timeline become in the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/megengine/megengine.h"
#include "unit/ingest/read_helper.h"

#define B(name, tid, ts) \
    "{\"name\":\"" name "\",\"ph\":\"B\",\"pid\":7,\"tid\":" #tid ",\"ts\":" #ts "},"
#define E(name, tid, ts, args)                                                        \
    "{\"args\":{" args "},\"name\":\"" name "\",\"ph\":\"E\",\"pid\":7,\"tid\":" #tid \
    ",\"ts\":" #ts "},"
#define KERNEL_B(name, tid, ts)                                                      \
    "{\"cat\":\"Kernel\",\"name\":\"" name "\",\"ph\":\"B\",\"pid\":7,\"tid\":" #tid \
    ",\"ts\":" #ts "},"
#define KERNEL_E(name, id, tid, ts)                                      \
    "{\"args\":{\"__id__\":" #id "},\"cat\":\"Kernel\",\"name\":\"" name \
    "\",\"ph\":\"E\",\"pid\":7,\"tid\":" #tid ",\"ts\":" #ts "},"
#define FLOW(cat, ph, id, pid, tid, ts)                                                   \
    "{\"bp\":\"e\",\"cat\":\"" cat "\",\"id\":" #id ",\"name\":\"" #pid "\",\"ph\":\"" ph \
    "\",\"pid\":" #pid ",\"scope\":\"" #pid "\",\"tid\":" #tid ",\"ts\":" #ts "},"
#define COUNT(name, tid, ts, v)                                                               \
    "{\"args\":{\"value\":" #v "},\"name\":\"" name "\",\"ph\":\"C\",\"pid\":7,\"tid\":" #tid \
    ",\"ts\":" #ts "},"
#define ROW(name, tid)            \
    "{\"args\":{\"name\":\"" name \
    "\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":7,\"tid\":" #tid "},"
#define ROWS ROW("interpreter", 1) ROW("worker", 0) ROW("gpux:0", 2)
#define TENSOR(id, n)                                                                          \
    "\"device\":\"CompNode(\\\"gpu3:0\\\" from "                                               \
    "\\\"gpux:0\\\")\",\"dtype\":\"Float32\",\"id\":" #id ",\"name\":\"\",\"nr_elements\":" #n \
    ",\"shape\":\"{" #n "}\""

static trace *read_how_of(const char *events, read_how how) {
    buf b = {0};
    buf_printf(&b, "{\"traceEvents\":[%s", events);
    if (b.n && b.p[b.n - 1] == ',') b.n--;
    buf_add_cstr(&b, "],\"metadata\":{\"localTime\":\"1704164645000000007\"}}");
    error err;
    trace *t = read_with(ingest_megengine, buf_str(&b), how, &err);
    if (!t) fail_msg("refused with message %d", err.message);
    buf_fini(&b);
    return t;
}

static trace *read_timeline(const char *events) {
    return read_how_of(events, (read_how){0});
}

static void a_type_has_a_size_and_a_device_a_number(void **state) {
    megengine_device d;
    assert_int_equal(megengine_bytes(STR("Float32"), 3), 12);
    assert_int_equal(megengine_bytes(STR("Bool"), 3), 3);
    assert_int_equal(megengine_bytes(STR("Byte"), 3), 3);
    assert_int_equal(megengine_bytes(STR("BFloat16"), 3), 6);
    assert_int_equal(megengine_bytes(STR("Quantized8Asymm(0.5,32)"), 3), 3);
    assert_int_equal(megengine_bytes(STR("QuantizedS4(0.5)"), 3), 2);
    assert_int_equal(megengine_bytes(STR("invalid"), 3), ABSENT_I64);
    assert_int_equal(megengine_bytes(STR("Float99999999999999999999"), 3), ABSENT_I64);
    assert_int_equal(megengine_bytes(STR("Float32"), INT64_MAX), ABSENT_I64);
    assert_int_equal(megengine_bytes(STR(""), 1), ABSENT_I64);
    assert_true(megengine_device_of(STR("CompNode(\"gpu3:0\" from \"gpux:1\")"), &d));
    assert_int_equal(d.type, DEVICE_CUDA);
    assert_int_equal(d.id, 3);
    assert_true(str_eq(d.logical, STR("gpux:1")));
    assert_true(megengine_device_of(STR("xpux:0"), &d));
    assert_int_equal(d.id, 0);
    assert_true(megengine_device_of(STR("cambricon2:0"), &d));
    assert_int_equal(d.type, DEVICE_MLU);
    assert_false(megengine_device_of(STR("worker"), &d));
    assert_false(megengine_device_of(STR("gpu99999999999999:0"), &d));
    assert_false(megengine_device_of(STR("CompNode("), &d));
}

static void only_its_end_says_that_a_range_is_an_operator(void **state) {
    trace *t = read_timeline(B("conv1", 0, 1) B("Convolution", 0, 2) E(
        "Convolution", 0, 5, "\"__id__\":9,\"pad_h\":\"1\"") E("conv1", 0, 8, "") ROWS);
    uint32_t op = find_slice(t, "Convolution"), scope = find_slice(t, "conv1");
    assert_int_equal(t->slice.kind[op], KIND_OP);
    assert_int_equal(t->slice.kind[scope], KIND_MODULE);
    assert_int_equal(t->slice.parent[op], scope);
    assert_int_equal(t->op.external[trace_op_of(t, op)], 9);
    assert_string_equal(args_text(t, t->slice.args[op]), "{\"__id__\":9,\"pad_h\":\"1\"}");
    assert_true(str_eq(t->format, STR("megengine")));
    assert_int_equal(t->base_unix_ns, 1704164645000000007);
    trace_release(t);
}

static void scopes_count_on_the_worker_only(void **state) {
    trace *t = read_timeline(B("fc", 1, 1) E("fc", 1, 3, "") B("backward", 1, 4)
                                 E("backward", 1, 5, "") B("fc", 0, 11) E("fc", 0, 13, "")
                                     B("backward", 0, 14) E("backward", 0, 15, "") ROWS);
    assert_int_equal(t->kind_count[KIND_MODULE], 1);
    assert_int_equal(t->kind_count[KIND_BACKWARD], 1);
    assert_int_equal(t->kind_count[KIND_ANNOTATION], 2);
    trace_release(t);
}

static void the_number_of_a_tensor_is_not_part_of_a_name(void **state) {
    trace *t = read_timeline(B("Put 12", 0, 1) E("Put 12", 0, 2, TENSOR(12, 4))
                                 B("Put it", 0, 3) E("Put it", 0, 4, ""));
    uint32_t put = find_slice(t, "Put");
    assert_int_equal(t->slice.kind[put], KIND_OTHER);
    assert_non_null(strstr(args_text(t, t->slice.args[put]), "\"id\":12"));
    find_slice(t, "Put it"); /* a scope's own name */
    trace_release(t);
}

static void a_scope_without_a_name_is_kept(void **state) {
    trace *t = read_timeline("{\"ph\":\"B\",\"pid\":7,\"tid\":0,\"ts\":1},{\"ph\":\"E\","
                             "\"pid\":7,\"tid\":0,\"ts\":3},");
    assert_int_equal(t->slice.n, 2);
    assert_int_equal(t->slice.dur[1], 2000);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

static void a_kernel_finds_operator_and_launch_by_its_arrow(void **state) {
    /* The device clock is early: the kernel begins before its launch. A kernel of no length touches
     * it, so that two begin at the same moment. */
    trace *t = read_timeline(
        B("Conv", 0, 10) FLOW("KernelLaunch", "s", 102, 7, 0, 12) KERNEL_B("Conv", 2, 5)
            FLOW("KernelLaunch", "f", 102, 7, 2, 5) KERNEL_E("Conv", 101, 2, 5)
                E("Conv", 0, 13, "\"__id__\":101") B("Relu", 0, 20)
                    FLOW("KernelLaunch", "s", 112, 7, 0, 21) KERNEL_B("Relu", 2, 5)
                        FLOW("KernelLaunch", "f", 112, 7, 2, 5) KERNEL_E("Relu", 111, 2, 9)
                            E("Relu", 0, 22, "\"__id__\":111") ROWS);
    assert_int_equal(t->kernel.n, 3);
    for (uint32_t k = 1; k < 3; k++) {
        assert_int_equal(t->slice.name[t->kernel.op[k]], t->slice.name[t->kernel.slice[k]]);
        assert_int_equal(t->kernel.link[k], LINK_EXACT);
        assert_int_equal(t->slice.parent[t->kernel.launch[k]], t->kernel.op[k]);
        assert_int_equal(t->slice.kind[t->kernel.launch[k]], KIND_RUNTIME);
    }
    assert_int_equal(t->flow.n, 1); /* launches are not flows */
    assert_int_equal(trace_quality(t, CAUSE_ORPHAN_CORRELATION), 0);
    trace_release(t);
}

static void a_kernel_without_an_arrow_is_counted(void **state) {
    trace *t = read_timeline(KERNEL_B("Conv", 2, 5) KERNEL_E("Conv", 101, 2, 6) ROWS);
    assert_int_equal(trace_quality(t, CAUSE_ORPHAN_CORRELATION), 1);
    assert_int_equal(t->kernel.device[1], 0);
    trace_release(t);
}

static void arrows_lead_from_dispatch_to_every_execution(void **state) {
    trace *t =
        read_timeline(B("OpDispatch", 1, 1) FLOW("OpDispatch", "s", 5, 7, 1, 1)
                          E("OpDispatch", 1, 1, "\"__id__\":5") B("ADD", 0, 3)
                              FLOW("OpDispatch", "t", 5, 7, 0, 3) E("ADD", 0, 4, "\"__id__\":5")
                                  B("ADD", 0, 6) FLOW("OpDispatch", "t", 5, 7, 0, 6)
                                      E("ADD", 0, 7, "\"__id__\":5") ROWS);
    uint32_t dispatch = find_slice(t, "OpDispatch");
    assert_int_equal(t->flow.n, 3);
    for (uint32_t i = 1; i < 3; i++) {
        assert_int_equal(t->flow.from[i], dispatch);
        assert_int_equal(t->slice.kind[t->flow.to[i]], KIND_OP);
        assert_int_equal(t->flow.kind[i], FLOW_DISPATCH);
    }
    assert_int_not_equal(t->flow.to[1], t->flow.to[2]);
    trace_release(t);
}

static void a_value_ends_the_wait_that_is_over_at_that_moment(void **state) {
    trace *t = read_timeline(
        B("loss", 1, 0) B("TensorWaitProp", 1, 1) B("GetValue 4", 0, 2)
            FLOW("TensorProp", "s", 4, 7, 0, 3) E("GetValue 4", 0, 4, TENSOR(4, 1))
                FLOW("TensorProp", "f", 4, 7, 1, 5) E("TensorWaitProp", 1, 5, TENSOR(4, 1))
                    E("loss", 1, 9, "") ROWS);
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(t->flow.kind[1], FLOW_VALUE);
    assert_int_equal(t->flow.from[1], find_slice(t, "GetValue"));
    assert_int_equal(t->flow.to[1], find_slice(t, "TensorWaitProp"));
    assert_int_equal(t->slice.kind[t->flow.to[1]], KIND_SYNC);
    trace_release(t);
}

static void an_id_of_another_process_is_another_arrow(void **state) {
    trace *t = read_timeline(
        B("a", 0, 1) FLOW("TensorLink", "s", 1, 7, 0, 1) FLOW("TensorLink", "s", 1, 8, 0, 1)
            E("a", 0, 2, "") B("b", 0, 3) FLOW("TensorLink", "t", 1, 7, 0, 3) E("b", 0, 4, ""));
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(t->flow.from[1], find_slice(t, "a"));
    assert_int_equal(t->flow.to[1], find_slice(t, "b"));
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 1); /* of process 8 */
    trace_release(t);
}

static void cupti_rows_are_calls_kernels_and_copies(void **state) {
    trace *t = read_timeline(
        B("void k<int>(int*)", 0, 1) FLOW("KernelLink", "s", 77, 7, 0, 2) E("void k<int>(int*)",
                                                                            0, 3, "")
            B("cudaLaunchKernel", 0, 4) E("cudaLaunchKernel", 0, 5, "") B("cuMemAlloc", 0, 6) E(
                "cuMemAlloc", 0, 7,
                "") "{\"args\":{\"execution_time\":4000},\"name\":\"k\",\"ph\":\"B\",\"pid\":7,"
                    "\"tid\":3,\"ts\":4}," FLOW("KernelLink", "f", 77, 7, 3, 8)
                        E("k", 3, 8,
                          "\"execution_time\":4000") "{\"args\":{\"bytes\":\"64\"},\"name\":"
                                                     "\"Memcpy\",\"ph\":\"B\",\"pid\":7,"
                                                     "\"tid\":3,\"ts\":9}," E(
                                                         "Memcpy", 3, 10, "\"bytes\":\"64\""));
    assert_int_equal(t->slice.kind[find_slice(t, "void k<int>(int*)")], KIND_RUNTIME);
    assert_int_equal(t->slice.kind[find_slice(t, "cudaLaunchKernel")], KIND_RUNTIME);
    assert_int_equal(t->slice.kind[find_slice(t, "cuMemAlloc")], KIND_DRIVER);
    uint32_t k = find_slice(t, "k");
    assert_int_equal(t->slice.kind[k], KIND_KERNEL);
    assert_int_equal(t->kernel.launch[trace_kernel_of(t, k)],
                     find_slice(t, "void k<int>(int*)"));
    uint32_t copy = find_slice(t, "Memcpy");
    assert_int_equal(t->slice.kind[copy], KIND_MEMCPY);
    assert_int_equal(t->kernel.bytes[trace_kernel_of(t, copy)], 64);
    trace_release(t);
}

static void the_old_layout_has_its_start_in_the_first_event(void **state) {
    static const char text[] =
        "{\"traceEvents\":[{\"args\":{\"localTime\":1704164645002500.5},\"name\":\"Metadata\","
        "\"ph\":\"I\",\"pid\":7,\"ts\":0.0}," B("a", 0, 1) E("a", 0, 2, "") "{}]}";
    error err;
    trace *t = read_with(ingest_megengine, STR(text), (read_how){0}, &err);
    assert_non_null(t);
    assert_int_equal(t->base_unix_ns, 1704164645002500500);
    assert_int_equal(t->instant.n, 1);
    trace_release(t);
}

static void a_stack_is_read_from_its_text(void **state) {
    trace *t = read_timeline(B("ADD", 0, 1) E(
        "ADD", 0, 2,
        "\"__id__\":1,\"python_backtrace\":\"Python Backtrace: /u/a.py , line 10, "
        "in main\\nscope: <fc>\\n/u/b.py , line 2, in add\\n\"") ROWS);
    uint32_t frame = t->op.frame[trace_op_of(t, find_slice(t, "ADD"))];
    assert_string_equal(text_of_id(t, t->frame.name[frame]), "/u/b.py(2): add");
    assert_int_equal(t->frame.line[frame], 2);
    frame = t->frame.parent[frame];
    assert_string_equal(text_of_id(t, t->frame.name[frame]), "/u/a.py(10): main");
    assert_int_equal(t->frame.parent[frame], 0);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_has_a_size_and_a_device_a_number),
        cmocka_unit_test(only_its_end_says_that_a_range_is_an_operator),
        cmocka_unit_test(scopes_count_on_the_worker_only),
        cmocka_unit_test(the_number_of_a_tensor_is_not_part_of_a_name),
        cmocka_unit_test(a_scope_without_a_name_is_kept),
        cmocka_unit_test(a_kernel_finds_operator_and_launch_by_its_arrow),
        cmocka_unit_test(a_kernel_without_an_arrow_is_counted),
        cmocka_unit_test(arrows_lead_from_dispatch_to_every_execution),
        cmocka_unit_test(a_value_ends_the_wait_that_is_over_at_that_moment),
        cmocka_unit_test(an_id_of_another_process_is_another_arrow),
        cmocka_unit_test(cupti_rows_are_calls_kernels_and_copies),
        cmocka_unit_test(the_old_layout_has_its_start_in_the_first_event),
        cmocka_unit_test(a_stack_is_read_from_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
