/* mindspore_arrows_test.c: the arrows of a timeline say which call launched a task and which operator it
 * belongs to. */
#include "mindspore_folder.h"

#define NAMES                                                                               \
    "{\"name\":\"process_name\",\"pid\":1,\"ph\":\"M\",\"args\":{\"name\":\"MindSpore\"}}," \
    "{\"name\":\"process_name\",\"pid\":4,\"ph\":\"M\",\"args\":{\"name\":\"CANN\"}},"      \
    "{\"name\":\"process_name\",\"pid\":2,\"ph\":\"M\",\"args\":{\"name\":\"Ascend "        \
    "Hardware\"}}"
#define X(name, pid, tid, ts, dur, args)                                                   \
    ",{\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid ",\"ph\":\"X\",\"ts\":\"" #ts \
    ".000\",\"dur\":" #dur ",\"args\":{" args "}}"
#define HOST(name, ts, dur) X(name, 1, 77, ts, dur, "")
#define CALL(name, ts, dur) X(name, 4, 77, ts, dur, "")
#define TASK(name, stream, ts) X(name, 2, stream, ts, 5, "\"Task Type\":\"AI_CORE\"")
#define END(ph, cat, id, pid, tid, ts)                                                       \
    ",{\"name\":\"x\",\"ph\":\"" ph "\",\"cat\":\"" cat "\",\"id\":\"" id "\",\"pid\":" #pid \
    ",\"tid\":" #tid ",\"ts\":" #ts "}"
#define LAUNCHES(id, ts) END("s", "HostToDevice", id, 4, 77, ts)
#define LAUNCHED(id, stream, ts) END("f", "HostToDevice", id, 2, stream, ts)
#define OWNS(from, stream, ts)                     \
    END("s", "async_npu", #ts ".000", 1, 77, from) \
    END("f", "async_npu", #ts ".000", 2, stream, ts)

static trace *read_timeline(const char *events) {
    buf b = {0};
    buf_add_cstr(&b, "[" NAMES);
    buf_add_cstr(&b, events);
    buf_add_byte(&b, ']');
    put_bytes("trace_view.json", b.p, b.n);
    buf_fini(&b);
    put("profiler_info_0.json", "{}");
    return read_worker("profiler_info_0.json");
}

/* The row of a task among the kernels. */
static uint32_t task(const trace *t, const char *name) {
    for (uint32_t i = 1; i < t->kernel.n; i++)
        if (named(t, t->slice.name[t->kernel.slice[i]], name)) return i;
    fail_msg("no task %s", name);
    return 0;
}

static void assert_link(const trace *t, const char *name, const char *launch, const char *op) {
    uint32_t i = task(t, name);
    assert_true(named(t, t->slice.name[t->kernel.launch[i]], launch));
    assert_true(named(t, t->slice.name[t->kernel.op[i]], op));
}

static void a_task_has_its_call_and_its_operator(void **state) {
    trace *t = read_timeline(OWNS(10, 3, 30) LAUNCHED("9", 3, 30) TASK("MatMul", 3, 30)
                                 TASK("Add", 3, 40) HOST("Launch::MatMul", 10, 8)
                                     CALL("Node@launch", 12, 2) LAUNCHES("9", 12));
    assert_link(t, "MatMul", "Node@launch", "Launch::MatMul");
    assert_int_equal(t->kernel.link[task(t, "MatMul")], LINK_EXACT);
    assert_int_equal(t->slice.kind[t->kernel.op[task(t, "MatMul")]], KIND_OP);
    assert_link(t, "Add", "", "");
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 0);
    assert_int_equal(trace_quality(t, CAUSE_ORPHAN_CORRELATION), 1);
    trace_release(t);
}

static void one_arrow_is_enough_for_what_it_says(void **state) {
    trace *t = read_timeline(OWNS(10, 3, 30) TASK("A", 3, 30) HOST("a", 10, 8)
                                 CALL("call", 12, 2) TASK("B", 3, 40) LAUNCHES("9", 12)
                                     LAUNCHED("9", 3, 40) LAUNCHED("8", 3, 30));
    assert_link(t, "A", "", "a");
    assert_link(t, "B", "call", "");
    assert_int_equal(t->kernel.link[task(t, "B")], LINK_LAUNCH_ONLY);
    trace_release(t);
}

static void a_call_may_launch_several_tasks(void **state) {
    trace *t = read_timeline(CALL("call", 12, 2) TASK("A", 3, 30) TASK("B", 3, 40)
                                 LAUNCHES("9", 12) LAUNCHED("9", 3, 30) LAUNCHED("9", 3, 40)
                                     HOST("op", 10, 8) OWNS(10, 3, 30) OWNS(10, 3, 40));
    assert_link(t, "A", "call", "op");
    assert_link(t, "B", "call", "op");
    trace_release(t);
}

static void tasks_that_start_together_share_an_id(void **state) {
    trace *t = read_timeline(HOST("a", 10, 2) HOST("b", 15, 2) TASK("A", 3, 30) TASK("B", 4, 30)
                                 OWNS(10, 3, 30) OWNS(15, 4, 30));
    assert_link(t, "A", "", "a");
    assert_link(t, "B", "", "b");
    trace_release(t);
}

static void of_operators_that_start_together_the_innermost_is_meant(void **state) {
    trace *t = read_timeline(HOST("outer", 10, 9) HOST("inner", 10, 2) HOST("middle", 10, 5)
                                 TASK("A", 3, 30) OWNS(10, 3, 30));
    assert_link(t, "A", "", "inner");
    int n = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) n += t->slice.kind[i] == KIND_OP;
    assert_int_equal(n, 1);
    trace_release(t);
}

static void arrows_that_lead_nowhere_link_nothing(void **state) {
    trace *t = read_timeline(
        TASK("A", 3, 30) HOST("a", 10, 2) END("f", "async_npu", "5", 2, 3, 30) OWNS(11, 3, 30)
            END("s", "other", "7", 1, 77, 10) END("f", "other", "7", 2, 3, 30));
    assert_link(t, "A", "", "");
    assert_int_equal(trace_quality(t, CAUSE_DANGLING_FLOW), 1);
    trace_release(t);
}

static void tasks_of_the_ai_cpu_are_added_up_apart(void **state) {
    trace *t =
        read_timeline(TASK("Cast", 3, 30) X("Cast", 2, 3, 40, 7, "\"Task Type\":\"AI_CPU\""));
    assert_int_equal(t->kernel.n - 1, 2);
    assert_int_equal(t->given_op.n - 1, 2);
    for (uint32_t i = 1; i < t->given_op.n; i++) {
        bool core = t->given_op.total[i] == 5000;
        assert_true(named(t, t->given_op.side[i], core ? "AI Core" : "AI CPU"));
    }
    trace_release(t);
    /* Where the AI CPU has a table of its own, that counts. */
    put("aicpu_intermediate_0.csv",
        "serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end\n"
        "1,Cast,0.007,0.001,0.006,1,2\n");
    t = read_worker("profiler_info_0.json");
    int n = 0;
    for (uint32_t i = 1; i < t->given_op.n; i++)
        n += named(t, t->given_op.side[i], "AI CPU") && t->given_op.level[i] == GIVEN_OPERATOR;
    assert_int_equal(n, 1);
    trace_release(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_task_has_its_call_and_its_operator),
        TEST(one_arrow_is_enough_for_what_it_says),
        TEST(a_call_may_launch_several_tasks),
        TEST(tasks_that_start_together_share_an_id),
        TEST(of_operators_that_start_together_the_innermost_is_meant),
        TEST(arrows_that_lead_nowhere_link_nothing),
        TEST(tasks_of_the_ai_cpu_are_added_up_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
