/* trace_event_test.c: what Kineto's categories and Chrome's phases become in the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/tensorflow/tensorflow_timeline.h"
#include "unit/ingest/read_helper.h"

static void assert_name(const trace *t, uint32_t id, const char *expected) {
    assert_string_equal(text_of_id(t, id), expected);
}

/* ---- kinds ---- */

static void a_category_decides_the_kind(void **state) {
    static const struct {
        const char *category;
        uint8_t kind;
    } cases[] = {
        {"cpu_op", KIND_OP},
        {"Operator", KIND_OP},
        {"user_annotation", KIND_ANNOTATION},
        {"gpu_user_annotation", KIND_DEVICE_ANNOTATION},
        {"kernel", KIND_KERNEL},
        {"Kernel", KIND_KERNEL},
        {"gpu_memcpy", KIND_MEMCPY},
        {"Memcpy", KIND_MEMCPY},
        {"gpu_memset", KIND_MEMSET},
        {"cuda_runtime", KIND_RUNTIME},
        {"Runtime", KIND_RUNTIME},
        {"cuda_driver", KIND_DRIVER},
        {"python_function", KIND_PYTHON},
        {"overhead", KIND_OVERHEAD},
        {"cuda_sync", KIND_SYNC},
        {"Trace", KIND_SPAN},
        {"hpu_op", KIND_KERNEL},
        {"mtia_ccp_events", KIND_KERNEL},
        {"mtia_runtime", KIND_RUNTIME},
        {"mlu_kernel", KIND_KERNEL},
        {"mlu_memcpy", KIND_MEMCPY},
        {"mlu_memset", KIND_MEMSET},
        {"mlu_runtime", KIND_RUNTIME},
        {"musa_driver", KIND_DRIVER},
        {"xpu_runtime", KIND_RUNTIME},
        {"xpu_sync", KIND_SYNC},
        {"privateuse1_runtime", KIND_RUNTIME},
        {"mtia_insight", KIND_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        /* A second event makes the file Kineto's: only there an unknown kind stays other. */
        snprintf(text, sizeof text,
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"it\",\"ts\":1,\"dur\":2,\"pid\":1,"
                 "\"tid\":1},"
                 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"x\",\"ts\":9,\"dur\":1,\"pid\":1,"
                 "\"tid\":2}",
                 cases[i].category);
        trace *t = read_events(text);
        uint32_t it = find_slice(t, "it");
        if (t->slice.kind[it] != cases[i].kind)
            fail_msg("%s became kind %d", cases[i].category, t->slice.kind[it]);
        assert_name(t, t->category.name[t->slice.category[it]], cases[i].category);
        assert_true(str_eq(t->format, STR("kineto")));
        trace_release(t);
    }
}

static void a_name_decides_among_host_ranges(void **state) {
    static const struct {
        const char *category, *name;
        uint8_t kind;
    } cases[] = {
        {"user_annotation", "ProfilerStep#12", KIND_STEP},
        {"cpu_op", "ProfilerStep#0", KIND_STEP},
        {"cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", KIND_DATA},
        {"cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.reset", KIND_OP},
        {"user_annotation", "enumerate(DataPipe)#X", KIND_DATA},
        {"user_annotation", "Optimizer.step#SGD.step", KIND_OPTIMIZER},
        {"user_annotation", "DistributedDataParallel.forward", KIND_FORWARD},
        {"user_annotation", "nccl:all_reduce", KIND_COLLECTIVE},
        {"cpu_op", "nccl:all_reduce", KIND_OP},
        {"gpu_user_annotation", "ProfilerStep#12", KIND_DEVICE_ANNOTATION},
        {"kernel", "ProfilerStep#12", KIND_KERNEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"ts\":1,\"dur\":2,\"pid\":1,"
                 "\"tid\":1}",
                 cases[i].category, cases[i].name);
        trace *t = read_events(text);
        if (t->slice.kind[1] != cases[i].kind)
            fail_msg("%s %s became kind %d", cases[i].category, cases[i].name,
                     t->slice.kind[1]);
        trace_release(t);
    }
}

/* MTIA writes all a device does into one category. */
static void a_queue_of_a_device_holds_work_copies_and_waits(void **state) {
    static const struct {
        const char *name;
        uint8_t kind;
    } cases[] = {{"fc-dtype_Float", KIND_KERNEL},
                 {"dma_request", KIND_MEMCPY},
                 {"event_wait", KIND_SYNC},
                 {"event_record", KIND_SYNC}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"%s\",\"ts\":1,"
                 "\"dur\":2,\"pid\":9,\"tid\":801,\"args\":{\"size\":16}}",
                 cases[i].name);
        trace *t = read_events(text);
        assert_int_equal(t->slice.kind[find_slice(t, cases[i].name)], cases[i].kind);
        if (cases[i].kind == KIND_KERNEL) {
            assert_int_equal(t->device.n, 2);
            assert_int_equal(t->device.id[1], 9);
            assert_int_equal(t->device.type[1], DEVICE_MTIA);
        }
        if (cases[i].kind == KIND_MEMCPY) assert_int_equal(t->kernel.bytes[1], 16);
        trace_release(t);
    }
}

/* PyTorch on Ascend: rows without a category, launches and owners as arrows. */
static void tasks_of_an_ascend_have_launch_and_operator(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"name\":\"aten::zero_\",\"pid\":7,\"tid\":7,\"ts\":\"100.000\","
        "\"dur\":20,\"cat\":\"cpu_op\",\"args\":{\"Sequence number\":-1}},"
        "{\"ph\":\"s\",\"name\":\"torch_to_npu\",\"cat\":\"async_npu\",\"id\":140000,"
        "\"pid\":7,\"tid\":7,\"ts\":\"100.000\"},"
        "{\"name\":\"AscendCL@aclnnInplaceZero\",\"pid\":702,\"tid\":8,\"ts\":\"125.000\","
        "\"dur\":10,\"args\":{\"level\":\"acl\",\"connection_id\":3},\"ph\":\"X\"},"
        "{\"name\":\"HostToDevice9\",\"ph\":\"s\",\"cat\":\"HostToDevice\",\"id\":\"9\","
        "\"pid\":702,\"tid\":8,\"ts\":\"130.000\"},"
        "{\"name\":\"HostToDevice9\",\"ph\":\"f\",\"cat\":\"HostToDevice\",\"id\":\"9\","
        "\"pid\":800,\"tid\":3,\"ts\":\"140.000\",\"bp\":\"e\"},"
        "{\"name\":\"aclnnInplaceZero_ZerosLike\",\"pid\":800,\"tid\":3,\"ts\":\"140.000\","
        "\"dur\":1.35,\"args\":{\"Task Type\":\"AI_VECTOR_CORE\",\"Stream Id\":3,"
        "\"connection_id\":8},\"ph\":\"X\"},"
        "{\"name\":\"wait\",\"pid\":800,\"tid\":3,\"ts\":\"150.000\",\"dur\":1,"
        "\"args\":{\"Task Type\":\"EVENT_WAIT\",\"Stream Id\":3,\"connection_id\":8},"
        "\"ph\":\"X\"},"
        "{\"name\":\"MEMCPY_ASYNC\",\"pid\":800,\"tid\":3,\"ts\":\"160.000\",\"dur\":1,"
        "\"args\":{\"Task Type\":\"Other\",\"Stream Id\":3,\"connection_id\":-1},"
        "\"ph\":\"X\"},"
        "{\"name\":\"Computing\",\"pid\":711,\"tid\":0,\"ts\":\"140.000\",\"dur\":1.35,"
        "\"ph\":\"X\"},"
        "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"torch_to_npu\",\"cat\":\"async_npu\","
        "\"id\":140000,\"pid\":800,\"tid\":3,\"ts\":\"140.000\"}");
    uint32_t work = find_slice(t, "aclnnInplaceZero_ZerosLike");
    uint32_t k = trace_kernel_of(t, work);
    assert_true(str_eq(t->format, STR("torch_npu")));
    assert_int_equal(t->slice.kind[work], KIND_KERNEL);
    assert_int_equal(t->slice.kind[find_slice(t, "wait")], KIND_SYNC);
    assert_int_equal(t->slice.kind[find_slice(t, "MEMCPY_ASYNC")], KIND_MEMCPY);
    assert_int_equal(t->slice.kind[find_slice(t, "Computing")], KIND_OTHER);
    assert_int_equal(t->kernel.op[k], find_slice(t, "aten::zero_"));
    assert_int_equal(t->kernel.launch[k], find_slice(t, "AscendCL@aclnnInplaceZero"));
    assert_int_equal(t->kernel.device[k], 0);
    assert_int_equal(t->kernel.stream[k], 3);
    assert_int_equal(t->device.type[1], DEVICE_ASCEND);
    assert_int_equal(t->flow.n, 1); /* they are links, not flows */
    assert_int_equal(trace_quality(t, CAUSE_MISSING_CATEGORY), 0);
    trace_release(t);
}

/* MegEngine, Paddle and Kineto never name a process so; TensorFlow 1 names its streams first. */
static void a_process_named_after_a_stream_holds_device_work(void **state) {
    static const char text[] =
        "["
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,"
        "\"args\":{\"name\":\"/device:GPU:2/stream:15 Compute\"}},"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":2,"
        "\"args\":{\"name\":\"/device:GPU:2/stream:all Compute\"}},"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":3,"
        "\"args\":{\"name\":\"/job:localhost/replica:0/task:0/device:GPU:2 Compute\"}},"
        "{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"Conv2D\",\"pid\":1,\"tid\":0,\"ts\":10,"
        "\"dur\":5},"
        "{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"MEMCPYDtoH\",\"pid\":1,\"tid\":0,"
        "\"ts\":20,\"dur\":5},"
        "{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"Conv2D\",\"pid\":2,\"tid\":0,\"ts\":10,"
        "\"dur\":5},"
        "{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"NoOp\",\"pid\":3,\"tid\":0,\"ts\":1,"
        "\"dur\":5}]";
    trace *t = read_with(ingest_tensorflow, str_of(text), (read_how){.threads = 2}, NULL);
    assert_int_equal(t->kernel.n, 3); /* stream:all tells the same work again */
    assert_int_equal(t->kind_count[KIND_KERNEL], 1);
    assert_int_equal(t->kind_count[KIND_MEMCPY], 1);
    assert_int_equal(t->kernel.device[1], 2);
    assert_int_equal(t->kernel.stream[1], 15);
    assert_int_equal(t->slice.kind[find_slice(t, "NoOp")], KIND_OP);
    trace_release(t);
}

/* The file that JAX's profiler writes for people without TensorBoard. */
static void streams_of_a_device_of_xla_hold_device_work(void **state) {
    static const char text[] =
        "{\"traceEvents\":["
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/"
        "device:GPU:3\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":14,\"name\":\"thread_name\","
        "\"args\":{\"name\":\"Stream #14(Compute)\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":15,\"name\":\"thread_name\","
        "\"args\":{\"name\":\"Stream #15(MemcpyH2D)\"}},"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":20,\"name\":\"thread_name\","
        "\"args\":{\"name\":\"XLA Modules\"}},"
        "{\"ph\":\"M\",\"pid\":7,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}},"
        "{\"ph\":\"X\",\"name\":\"fusion_2\",\"pid\":1,\"tid\":14,\"ts\":10,\"dur\":5,"
        "\"args\":{\"correlation_id\":\"8\",\"kernel_details\":\"regs:90 static_shared:4 "
        "dynamic_shared:8 grid:128,2,1 block:64,1,1 occ_pct:6.25\"}},"
        "{\"ph\":\"X\",\"name\":\"launch\",\"pid\":7,\"tid\":1,\"ts\":3,\"dur\":2,"
        "\"args\":{\"correlation_id\":\"8\",\"device_id\":\"3\"}},"
        "{\"ph\":\"X\",\"name\":\"MemcpyH2D\",\"pid\":1,\"tid\":15,\"ts\":20,\"dur\":5,"
        "\"args\":{\"memcpy_details\":\"kind_src:pinned size:4 async:1\"}},"
        "{\"ph\":\"X\",\"name\":\"jit_f\",\"pid\":1,\"tid\":20,\"ts\":10,\"dur\":15},"
        "{\"ph\":\"X\",\"name\":\"step\",\"pid\":7,\"tid\":1,\"ts\":1,\"dur\":50,"
        "\"args\":{\"step_num\":\"4\"}},{}]}";
    trace *t = read_with(ingest_tensorflow, str_of(text), (read_how){.threads = 2}, NULL);
    assert_int_equal(t->kernel.n, 3); /* modules add up what the streams do */
    assert_int_equal(t->kernel.launch[1], find_slice(t, "launch"));
    assert_int_equal(t->kernel.registers[1], 90);
    assert_int_equal(t->kernel.shared_memory[1], 12);
    assert_int_equal(t->kernel.grid_y[1], 2);
    assert_int_equal(t->kernel.block_x[1], 64);
    assert_true(t->kernel.occupancy[1] == 0.0625);
    assert_int_equal(t->slice.kind[find_slice(t, "launch")], KIND_RUNTIME);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 0); /* the list ends with {} */
    assert_int_equal(t->kind_count[KIND_KERNEL], 1);
    assert_int_equal(t->kind_count[KIND_MEMCPY], 1);
    assert_int_equal(t->kernel.bytes[2], 4);
    assert_int_equal(t->kernel.device[1], 3);
    assert_int_equal(t->kernel.stream[1], 14);
    assert_int_equal(t->slice.kind[find_slice(t, "jit_f")], KIND_SPAN);
    assert_int_equal(t->slice.kind[find_slice(t, "step")], KIND_STEP);
    trace_release(t);
}

static void a_python_function_with_a_module_id_is_a_module(void **state) {
    trace *t =
        read_events("{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: "
                    "Linear_0\",\"ts\":1,\"dur\":5,"
                    "\"pid\":1,\"tid\":1,\"args\":{\"Python id\":1,\"Python module id\":7}}");
    assert_int_equal(t->slice.kind[1], KIND_MODULE);
    assert_int_equal(t->module_call.n, 2);
    assert_int_equal(t->module_call.slice[1], 1);
    assert_int_equal(t->module.id[t->module_call.module[1]], 7);
    assert_name(t, t->module.name[t->module_call.module[1]], "nn.Module: Linear_0");
    trace_release(t);
}

static void in_a_plain_chrome_trace_ranges_are_operators(void **state) {
    trace *t =
        read_events("{\"ph\":\"X\",\"name\":\"work\",\"cat\":\"mine\",\"ts\":1,\"dur\":2}");
    assert_true(str_eq(t->format, STR("chrome")));
    assert_int_equal(t->slice.kind[1], KIND_OP);
    assert_int_equal(t->op.slice[1], 1);
    assert_int_equal(t->base_unix_ns, ABSENT_I64);
    trace_release(t);
}

/* ---- arguments with columns ---- */

static void a_kernel_keeps_its_launch_configuration(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":7,\"ts\":1,\"dur\":"
        "2,\"args\":{"
        "\"correlation\":11,\"External id\":5,\"device\":2,\"context\":1,\"stream\":7,"
        "\"registers per thread\":56,\"shared memory\":1024,\"blocks per SM\":0.5,"
        "\"est. achieved occupancy %\":31,\"grid\":[66,2,1],\"block\":[256,1,4],"
        "\"graph node id\":9}}");
    assert_int_equal(t->kernel.n, 2);
    assert_int_equal(t->kernel.slice[1], 1);
    assert_int_equal(t->kernel.correlation[1], 11);
    assert_int_equal(t->kernel.device[1], 2);
    assert_int_equal(t->kernel.context[1], 1);
    assert_int_equal(t->kernel.stream[1], 7);
    assert_int_equal(t->kernel.registers[1], 56);
    assert_int_equal(t->kernel.shared_memory[1], 1024);
    assert_true(t->kernel.blocks_per_sm[1] == 0.5);
    assert_true(t->kernel.occupancy[1] == 0.31);
    assert_int_equal(t->kernel.grid_x[1], 66);
    assert_int_equal(t->kernel.grid_y[1], 2);
    assert_int_equal(t->kernel.grid_z[1], 1);
    assert_int_equal(t->kernel.block_x[1], 256);
    assert_int_equal(t->kernel.block_z[1], 4);
    assert_int_equal(t->kernel.graph_node[1], 9);
    assert_int_equal(t->kernel.bytes[1], ABSENT_I64);
    trace_release(t);
}

static void what_a_kernel_does_not_say_is_absent_and_not_zero(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":3,\"tid\":\"stream "
        "7\",\"ts\":1,\"dur\":2,\"args\":{\"grid\":7,\"block\":[1.5,-2]}}");
    assert_int_equal(t->kernel.correlation[1], ABSENT_I64);
    assert_int_equal(t->kernel.device[1], 3); /* the process is the device */
    assert_int_equal(t->kernel.stream[1], ABSENT_I64);
    assert_int_equal(t->kernel.registers[1], ABSENT_I32);
    assert_int_equal(t->kernel.shared_memory[1], ABSENT_I64);
    assert_true(isnan(t->kernel.occupancy[1]));
    assert_true(isnan(t->kernel.blocks_per_sm[1]));
    assert_int_equal(t->kernel.grid_x[1], 0);
    assert_int_equal(t->kernel.block_y[1], 0);
    trace_release(t);
}

static void numbers_may_be_quoted_or_have_a_fraction(void **state) {
    trace *t = read_events("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":2,\"tid\":"
                           "7,\"ts\":1,\"dur\":2,\"args\":{"
                           "\"correlation\":\"11\",\"device\":2.0,\"stream\":\"7.9\","
                           "\"context\":\"x\",\"shared memory\":1e3,"
                           "\"registers per thread\":99999999999,\"est. achieved occupancy "
                           "%\":\"50\",\"blocks per SM\":\"NaN\"}}");
    assert_int_equal(t->kernel.correlation[1], 11);
    assert_int_equal(t->kernel.device[1], 2);
    assert_int_equal(t->kernel.stream[1], 7);
    assert_int_equal(t->kernel.context[1], ABSENT_I64);
    assert_int_equal(t->kernel.shared_memory[1], 1000);
    assert_int_equal(t->kernel.registers[1], INT32_MAX);
    assert_true(t->kernel.occupancy[1] == 0.5);
    assert_true(isnan(t->kernel.blocks_per_sm[1]));
    trace_release(t);
}

static void an_operator_keeps_shapes_types_and_numbers(void **state) {
    trace *t =
        read_events("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":"
                    "1,\"ts\":1,\"dur\":2,"
                    "\"args\":{\"External id\":5,\"Sequence number\":77,\"Fwd thread id\":3,"
                    "\"Input Dims\":[[8,4],[4,2]],\"Input type\":[\"float\",\"float\"],"
                    "\"Concrete Inputs\":[\"\",\"\"],\"flops\":1024}}");
    assert_int_equal(t->op.external[1], 5);
    assert_int_equal(t->op.sequence[1], 77);
    assert_int_equal(t->op.forward_thread[1], 3);
    assert_name(t, t->op.shapes[1], "[[8, 4], [4, 2]]");
    assert_name(t, t->op.types[1], "[\"float\", \"float\"]");
    assert_name(t, t->op.inputs[1], "[\"\", \"\"]");
    assert_true(t->op.flops[1] == 1024);
    trace_release(t);
}

static void an_operator_without_numbers_has_none(void **state) {
    trace *t =
        read_events("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":2}");
    assert_int_equal(t->op.external[1], ABSENT_I64);
    assert_int_equal(t->op.sequence[1], ABSENT_I64);
    assert_int_equal(t->op.shapes[1], 0);
    assert_true(isnan(t->op.flops[1]));
    assert_int_equal(t->op.bytes[1], ABSENT_I64);
    trace_release(t);
}

static void a_collective_names_its_group(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel\",\"pid\":0,\"tid\":7,\"ts\":1,"
        "\"dur\":2,"
        "\"args\":{\"Collective name\":\"allreduce\",\"In msg nelems\":10,\"Out msg "
        "nelems\":20,"
        "\"dtype\":\"Float\",\"Process Group Name\":\"1\",\"Process Group Description\":\"dp\","
        "\"Process Group Ranks\":\"[0, 1]\",\"Group size\":2,\"Seq\":4,\"Comms Id\":99,"
        "\"Src Rank\":0,\"Dst Rank\":1}}");
    assert_int_equal(t->comm.n, 2);
    assert_int_equal(t->comm.slice[1], 1);
    assert_name(t, t->comm.name[1], "allreduce");
    assert_int_equal(t->comm.in_elements[1], 10);
    assert_int_equal(t->comm.out_elements[1], 20);
    assert_name(t, t->comm.dtype[1], "Float");
    assert_int_equal(t->comm.sequence[1], 4);
    assert_int_equal(t->comm.comms_id[1], 99);
    assert_int_equal(t->comm.src[1], 0);
    assert_int_equal(t->comm.dst[1], 1);
    uint32_t g = t->comm.group[1];
    assert_name(t, t->group.name[g], "1");
    assert_name(t, t->group.description[g], "dp");
    assert_name(t, t->group.ranks[g], "[0, 1]");
    assert_int_equal(t->group.size[g], 2);
    trace_release(t);
}

static void a_click_shows_everything_the_producer_wrote(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"cname\":\"red\",\"args\":{"
        "\"i\":-5,\"d\":0.50,\"s\":\"x\\n\",\"l\":[1,2],\"t\":true,\"n\":null,"
        "\"big\":123456789012345678901,\"e\":1e5,\"\":7}}");
    assert_string_equal(
        args_text(t, t->slice.args[1]),
        "{\"cname\":\"red\",\"i\":-5,\"d\":0.50,\"s\":\"x\\n\",\"l\":[1, 2],"
        "\"t\":true,\"n\":null,\"big\":123456789012345678901,\"e\":1e5,\"\":7}");
    trace_release(t);
    t = read_events("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"args\":{\"\":5,\"b\":6}},"
                    "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"args\":{\"\":7}},"
                    "{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"args\":{\"b\":8}}");
    assert_string_equal(args_text(t, t->slice.args[find_slice(t, "a")]), "{\"\":5,\"b\":6}");
    assert_string_equal(args_text(t, t->slice.args[find_slice(t, "b")]), "{\"\":7}");
    assert_string_equal(args_text(t, t->slice.args[find_slice(t, "c")]), "{\"b\":8}");
    trace_release(t);
}

static void of_a_key_given_twice_the_last_counts(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,\"args\":{"
        "\"correlation\":1,\"x\":2,\"correlation\":3,\"x\":4,\"y\":5}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"l\",\"ts\":2,\"dur\":2,\"args\":{"
        "\"correlation\":6,\"x\":7,\"y\":8}}");
    assert_int_equal(t->kernel.correlation[trace_kernel_of(t, find_slice(t, "k"))], 3);
    assert_string_equal(args_text(t, t->slice.args[find_slice(t, "k")]),
                        "{\"correlation\":3,\"x\":4,\"y\":5}");
    assert_string_equal(args_text(t, t->slice.args[find_slice(t, "l")]),
                        "{\"correlation\":6,\"x\":7,\"y\":8}");
    assert_int_equal(trace_quality(t, CAUSE_DUPLICATE_KEY), 2);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

/* ---- phases ---- */

static void a_memory_event_is_a_memory_row(void **state) {
    trace *t = read_events(
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":"
        "1,\"tid\":1,"
        "\"ts\":5,\"args\":{\"Device Type\":1,\"Device Id\":0,\"Addr\":140000000000000,"
        "\"Bytes\":512,\"Total Allocated\":1024,\"Total Reserved\":2048}},"
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[OutOfMemory]\","
        "\"pid\":1,"
        "\"tid\":1,\"ts\":6,\"args\":{\"Bytes\":999}}");
    assert_true(str_eq(t->format, STR("kineto"))); /* its category alone tells it */
    assert_int_equal(t->memory.n, 3);
    assert_int_equal(t->instant.n, 1);
    assert_int_equal(t->memory.time[1], 5000);
    assert_int_equal(t->memory.address[1], 140000000000000);
    assert_int_equal(t->memory.bytes[1], 512);
    assert_int_equal(t->memory.allocated[1], 1024);
    assert_int_equal(t->memory.reserved[1], 2048);
    assert_int_equal(t->memory.device_type[1], DEVICE_CUDA);
    assert_int_equal(t->memory.device[1], 0);
    assert_int_equal(t->memory.kind[1], MEMORY_ALLOC);
    assert_int_equal(t->memory.kind[2], MEMORY_OOM);
    assert_int_equal(t->memory.allocated[2], ABSENT_I64);
    trace_release(t);
}

static void instants_of_every_phase_are_kept(void **state) {
    trace *t = read_events(
        "{\"ph\":\"i\",\"name\":\"a\",\"ts\":1,\"s\":\"g\"},{\"ph\":\"I\",\"name\":\"b\","
        "\"ts\":2},{\"ph\":\"R\",\"name\":\"c\",\"ts\":3},{\"ph\":\"n\",\"name\":\"d\","
        "\"ts\":4,\"id\":1}");
    assert_int_equal(t->instant.n, 5);
    assert_name(t, t->instant.name[1], "a");
    assert_int_equal(t->instant.scope[1], 'g');
    assert_int_equal(t->instant.scope[2], 't');
    assert_int_equal(t->instant.time[4], 4000);
    trace_release(t);
}

static void each_series_of_a_counter_is_a_sample(void **state) {
    trace *t =
        read_events("{\"ph\":\"C\",\"name\":\"queue\",\"pid\":1,\"ts\":5,\"args\":{\"in\":1.5,"
                    "\"out\":\"2\",\"text\":\"x\",\"\":3}}");
    assert_int_equal(t->counter.n, 4);
    assert_name(t, t->counter.series[1], "");
    assert_true(t->counter.value[1] == 3);
    assert_name(t, t->counter.series[2], "in");
    assert_true(t->counter.value[2] == 1.5);
    assert_name(t, t->counter.series[3], "out");
    assert_true(t->counter.value[3] == 2);
    assert_name(t, t->counter.name[3], "queue");
    assert_int_equal(t->track.kind[t->counter.track[3]], TRACK_COUNTER);
    trace_release(t);
}

static void launch_arrows_are_left_out_and_others_kept(void **state) {
    trace *t =
        read_events("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1},"
                    "{\"ph\":\"X\",\"name\":\"b\",\"ts\":5,\"dur\":2,\"pid\":1,\"tid\":2},"
                    "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"ts\":1,"
                    "\"pid\":1,\"tid\":1},"
                    "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"ts\":5,"
                    "\"pid\":1,\"tid\":2,\"bp\":\"e\"},"
                    "{\"ph\":\"s\",\"cat\":\"mine\",\"name\":\"w\",\"id\":\"k\",\"ts\":1,"
                    "\"pid\":1,\"tid\":1},"
                    "{\"ph\":\"f\",\"cat\":\"mine\",\"name\":\"w\",\"id\":\"k\",\"ts\":5,"
                    "\"pid\":1,\"tid\":2,\"bp\":\"e\"}");
    assert_int_equal(t->flow.n, 2);
    assert_int_equal(t->flow.from[1], find_slice(t, "a"));
    assert_int_equal(t->flow.to[1], find_slice(t, "b"));
    assert_int_equal(t->flow.kind[1], FLOW_OTHER);
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 0);
    trace_release(t);
}

static void metadata_names_processes_and_threads(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":2},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}},"
        "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":\"CPU\"}},"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":-3}},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":"
        "\"main\"}},"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":\"2\",\"args\":{\"sort_"
        "index\":7}},"
        "{\"ph\":\"M\",\"name\":\"something\",\"pid\":1,\"args\":{\"x\":7}}");
    assert_int_equal(t->process.n, 2);
    assert_int_equal(t->track.n, 2);
    assert_name(t, t->process.name[1], "python");
    assert_name(t, t->process.labels[1], "CPU");
    assert_int_equal(t->process.sort[1], -3);
    assert_name(t, t->track.name[1], "main");
    assert_int_equal(t->track.sort[1], 7);
    assert_int_equal(t->events_read, 7);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

static void an_operator_that_was_still_open_is_flagged(void **state) {
    trace *t = read_events(
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"args\":{"
        "\"finished\":\"false\"}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"ts\":5,"
        "\"dur\":2,\"args\":{\"finished\":\"true\"}}");
    assert_int_equal(t->slice.flags[find_slice(t, "a")], SLICE_UNFINISHED);
    assert_int_equal(t->slice.flags[find_slice(t, "b")], 0);
    trace_release(t);
}

/* ---- events that cannot be kept ---- */

static void events_that_make_no_sense_are_dropped_and_counted(void **state) {
    static const struct {
        const char *event;
        cause why;
        bool dropped;
    } cases[] = {
        {"{\"ph\":\"X\",\"ts\":1,\"dur\":2}", CAUSE_MISSING_NAME, true},
        {"{\"ph\":\"X\",\"name\":7,\"ts\":1,\"dur\":2}", CAUSE_MISSING_NAME, true},
        {"{\"ph\":\"X\",\"name\":\"a\",\"dur\":2}", CAUSE_MISSING_TIME, true},
        {"{\"ph\":\"X\",\"name\":\"a\",\"ts\":null,\"dur\":2}", CAUSE_NUMBER_RANGE, true},
        {"{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":\"x\"}", CAUSE_NUMBER_RANGE, true},
        {"{\"ph\":\"X\",\"name\":\"a\",\"ts\":9000000000000000,\"dur\":2}", CAUSE_NUMBER_RANGE,
         true},
        {"{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":9000000000000000}", CAUSE_NUMBER_RANGE,
         true},
        {"{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-0.001}", CAUSE_NEGATIVE_DURATION,
         true},
        {"{\"ph\":\"Z\",\"name\":\"a\",\"ts\":1}", CAUSE_UNKNOWN_PHASE, true},
        {"{\"name\":\"a\",\"ts\":1}", CAUSE_UNKNOWN_PHASE, true},
        {"{\"ph\":\"E\",\"ts\":1}", CAUSE_UNMATCHED_END, true},
        {"{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}", CAUSE_MISSING_CATEGORY, false},
        {"{\"ph\":\"B\",\"name\":\"a\",\"cat\":\"c\",\"ts\":1}", CAUSE_UNMATCHED_BEGIN, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trace *t = read_events(cases[i].event);
        for (cause c = 1; c < N_CAUSES; c++)
            if (trace_quality(t, c) != (c == cases[i].why))
                fail_msg("%s: cause %d is counted %lld times", cases[i].event, c,
                         (long long)trace_quality(t, c));
        assert_int_equal(t->events_read, 1);
        assert_int_equal(t->events_dropped, cases[i].dropped);
        assert_int_equal(t->slice.n, cases[i].dropped ? 1 : 2);
        trace_release(t);
    }
}

static void a_range_without_duration_is_a_point_that_lasts_nothing(void **state) {
    trace *t = read_events("{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"c\",\"ts\":1}");
    assert_int_equal(t->slice.dur[1], 0);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_category_decides_the_kind),
        cmocka_unit_test(a_name_decides_among_host_ranges),
        cmocka_unit_test(a_queue_of_a_device_holds_work_copies_and_waits),
        cmocka_unit_test(tasks_of_an_ascend_have_launch_and_operator),
        cmocka_unit_test(a_process_named_after_a_stream_holds_device_work),
        cmocka_unit_test(streams_of_a_device_of_xla_hold_device_work),
        cmocka_unit_test(a_python_function_with_a_module_id_is_a_module),
        cmocka_unit_test(in_a_plain_chrome_trace_ranges_are_operators),
        cmocka_unit_test(a_kernel_keeps_its_launch_configuration),
        cmocka_unit_test(what_a_kernel_does_not_say_is_absent_and_not_zero),
        cmocka_unit_test(numbers_may_be_quoted_or_have_a_fraction),
        cmocka_unit_test(an_operator_keeps_shapes_types_and_numbers),
        cmocka_unit_test(an_operator_without_numbers_has_none),
        cmocka_unit_test(a_collective_names_its_group),
        cmocka_unit_test(a_click_shows_everything_the_producer_wrote),
        cmocka_unit_test(of_a_key_given_twice_the_last_counts),
        cmocka_unit_test(a_memory_event_is_a_memory_row),
        cmocka_unit_test(instants_of_every_phase_are_kept),
        cmocka_unit_test(each_series_of_a_counter_is_a_sample),
        cmocka_unit_test(launch_arrows_are_left_out_and_others_kept),
        cmocka_unit_test(metadata_names_processes_and_threads),
        cmocka_unit_test(an_operator_that_was_still_open_is_flagged),
        cmocka_unit_test(events_that_make_no_sense_are_dropped_and_counted),
        cmocka_unit_test(a_range_without_duration_is_a_point_that_lasts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
