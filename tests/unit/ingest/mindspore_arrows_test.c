/* mindspore_arrows_test.c: arrows of a timeline tell what launched a task and whose it is. */
#include "mindspore_folder.h"

#define PROCESS(pid, name)                                 \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" pid \
    ",\"tid\":0,\"args\":{\"name\":\"" name "\"}},"
#define RANGE(name, pid, tid, ts, dur, args)                                           \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":\"" ts \
    "\",\"dur\":" dur ",\"args\":{" args "}},"
#define ARROW(ph, cat, name, id, pid, tid, ts)                                               \
    "{\"ph\":\"" ph "\",\"bp\":\"e\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"id\":\"" id \
    "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":\"" ts "\"},"
#define TASK(name, ts) RANGE(name, "4", "3", ts, "10", "\"Task Type\":\"AI_CORE\"")
#define TIMELINE                                                                               \
    "[" PROCESS("1", "MindSpore") PROCESS("2", "CANN") PROCESS("4", "Ascend Hardware") RANGE(  \
        "PynativeFramework::mul", "1", "7", "1000.000", "50",                                  \
        "") RANGE("Node@launch", "2", "8", "1010.250", "5", "") TASK("Mul-op1", "1100.001")    \
        TASK("Cast-op2", "1200.001") TASK("lonely", "1300.001") ARROW(                         \
            "s", "HostToDevice", "HostToDevice9", "9", "2", "8",                               \
            "1010.250") ARROW("f", "HostToDevice", "HostToDevice9", "9", "4", "3", "1100.001") \
            ARROW("s", "async_npu", "mindspore_to_npu", "1100001", "1", "7",                   \
                  "1000.000") ARROW("f", "async_npu", "mindspore_to_npu", "1100001", "4", "3", \
                                    "1100.001") ARROW("f", "async_npu", "mindspore_to_npu",    \
                                                      "1200001", "4", "3", "1200.001")         \
                ARROW("s", "async_npu", "mindspore_to_npu", "1200001", "1", "7", "1000.000")   \
                    ARROW("s", "HostToDevice", "HostToDevice5", "5", "2", "8", "999.000")      \
                        ARROW("f", "HostToDevice", "HostToDevice5", "5", "4", "3", "1200.001") \
                            ARROW("s", "async_mindspore", "mindspore_to_self", "3", "1", "7",  \
                                  "1000.000") "{}]"

static uint32_t find(const trace *t, const char *name) {
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (named(t, t->slice.name[i], name)) return i;
    fail_msg("no %s", name);
    return 0;
}

static void tasks_have_launch_and_operator(void **state) {
    (void)state;
    put("profiler_info_0.json", "{}");
    put("trace_view.json", TIMELINE);
    trace *t = read_worker("trace_view.json");
    uint32_t op = find(t, "PynativeFramework::mul"), call = find(t, "Node@launch");
    uint32_t mul = trace_kernel_of(t, find(t, "Mul-op1"));
    uint32_t cast = trace_kernel_of(t, find(t, "Cast-op2"));
    uint32_t lonely = trace_kernel_of(t, find(t, "lonely"));
    assert_int_equal(t->slice.kind[op], KIND_OP);
    assert_int_equal(t->kernel.launch[mul], call);
    assert_int_equal(t->kernel.op[mul], op);
    /* One operator has several tasks; its launch is an arrow from where nothing is. */
    assert_int_equal(t->kernel.op[cast], op);
    assert_int_equal(t->kernel.launch[cast], 0);
    assert_int_equal(t->kernel.op[lonely], 0);
    assert_int_equal(t->kernel.launch[lonely], 0);
    trace_release(t);
}

/* Arrows that were cut away leave what they would have joined as it is. */
static void a_timeline_without_arrows_has_no_separate_operators(void **state) {
    (void)state;
    put("profiler_info_0.json", "{}");
    put("trace_view.json",
        "[" PROCESS("1", "MindSpore") PROCESS("4", "Ascend Hardware")
            RANGE("PynativeFramework::mul", "1", "7", "1000.000", "50", "")
                TASK("Mul-op1", "1100.001") ARROW("f", "async_npu", "mindspore_to_npu", "1",
                                                  "4", "3", "1100.001") "{}]");
    trace *t = read_worker("trace_view.json");
    assert_int_equal(t->slice.kind[find(t, "PynativeFramework::mul")], KIND_OTHER);
    assert_int_equal(t->kernel.op[trace_kernel_of(t, find(t, "Mul-op1"))], 0);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tasks_have_launch_and_operator, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_timeline_without_arrows_has_no_separate_operators,
                                        make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
