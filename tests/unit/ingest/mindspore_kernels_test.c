/* mindspore_kernels_test.c: tasks that are in a timeline and in kernel_details.csv are one
 * task, with what both say of it. */
#include "mindspore_folder.h"

#include "ingest/mindspore/mindspore_int.h"

#define NAMES                                                                               \
    "{\"name\":\"process_name\",\"pid\":1,\"ph\":\"M\",\"args\":{\"name\":\"MindSpore\"}}," \
    "{\"name\":\"process_name\",\"pid\":2,\"ph\":\"M\",\"args\":{\"name\":\"Ascend "        \
    "Hardware\"}},"
#define TASK(name, ts, dur)                                                                  \
    "{\"name\":\"" name "\",\"pid\":2,\"tid\":3,\"ph\":\"X\",\"ts\":\"" ts "\",\"dur\":" dur \
    ",\"args\":{\"Task Type\":\"AI_CORE\"}}"
#define HEADER                                                                      \
    "Step ID,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us)," \
    "Duration(us),Wait Time(us),Block Num,Input Shapes,Input Data Types,aic_mac_ratio\n"

static void put_timeline(const char *tasks) {
    buf b = {0};
    buf_add_cstr(&b, "[" NAMES);
    buf_add_cstr(&b, tasks);
    buf_add_byte(&b, ']');
    put_bytes("trace_view.json", b.p, b.n);
    buf_fini(&b);
}

static str args_of(const trace *t, uint32_t slice, char *to, size_t n) {
    buf out = {0};
    assert_int_equal(trace_args_json(t, t->slice.args[slice], &out, NULL), OK);
    assert_in_range(out.n, 1, n);
    memcpy(to, out.p, out.n);
    size_t size = out.n;
    buf_fini(&out);
    return str_n(to, size);
}

/* The i-th slice of a kind, from 1; steps that were found are among them. */
static uint32_t nth(const trace *t, uint8_t kind, int i) {
    for (uint32_t s = 1; s < t->slice.n; s++)
        if (t->slice.kind[s] == kind && !--i) return s;
    return 0;
}

static bool has(str text, const char *piece_of_it) {
    return str_find(text, str_of(piece_of_it), 0) != SIZE_MAX;
}

static void a_task_of_both_files_is_one_task(void **state) {
    char text[1024];
    put_timeline(TASK("MatMul", "1794707784411120.000",
                      "10.5") "," TASK("MatMul", "1794707784411140.000", "2.5"));
    put("kernel_details.csv",
        HEADER "0,1,9,3,MatMul,MatMulV2,AI_CORE,1794707784411120.000\t,10.5,1.25,20,\"\"\"16,8;"
               "8,8\"\"\",DT_FLOAT16;DT_FLOAT16,0.75\n"
               "0,1,10,3,MatMul,MatMulV2,AI_CORE,1794707784411140.000\t,2.5,N/"
               "A,20,\"\"\"4,8;8,8\"\"\",DT_FLOAT16;DT_FLOAT16,0.5\n"
               "0,1,11,3,Missing,X,AI_CORE,1794707784411160.000,2.5,,,,,\n");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    assert_int_equal(t->kernel.n - 1, 2);
    str args = args_of(t, nth(t, KIND_KERNEL, 1), text, sizeof text);
    assert_true(has(args, "\"Task Type\": \"AI_CORE\""));
    assert_true(has(args, "\"Wait Time(us)\": \"1.25\""));
    assert_true(has(args, "\"Input Shapes\": \"16,8;8,8\""));
    assert_true(has(args, "\"aic_mac_ratio\": \"0.75\""));
    assert_false(has(args_of(t, nth(t, KIND_KERNEL, 2), text, sizeof text), "Wait Time"));
    /* Added up by what equal calls share: the counters are not part of it. */
    assert_int_equal(t->producer_op.n - 1, 2);
    assert_true(named(t, t->producer_op.type[1], "MatMulV2"));
    assert_true(named(t, t->producer_op.info[1],
                      "{\"Accelerator Core\": \"AI_CORE\", \"Block Num\": \"20\", \"Input "
                      "Shapes\": \"16,8;8,8\", \"Input Data Types\": "
                      "\"DT_FLOAT16;DT_FLOAT16\"}"));
    trace_release(t);
}

static void without_a_timeline_the_rows_are_the_tasks(void **state) {
    char text[1024];
    put("kernel_details.csv", HEADER "0,1,9,3,Add,Add,AI_CORE,100.5,10,1,20,\"8\",DT,0.5\n"
                                     "0,1,9,4,hcom_allReduce__1,x,COMMUNICATION,111,5,,,,,\n"
                                     "0,1,9,5,Cast,Cast,AI_CPU,120,5,,,,,\n"
                                     "0,1,9,5,broken,Cast,AI_CPU,x,5,,,,,\n");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    assert_int_equal(t->kernel.n - 1, 3);
    assert_int_equal(t->comm.n - 1, 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (named(t, t->slice.name[i], "Add"))
            assert_true(has(args_of(t, i, text, sizeof text), "\"Input Shapes\": \"8\""));
    trace_release(t);
}

static void equal_starts_take_a_row_each(void **state) {
    put_timeline(
        TASK("A", "5.000", "1") "," TASK("A", "5.000", "1") "," TASK("A", "5.000", "1"));
    put("kernel_details.csv",
        HEADER "0,1,1,3,A,A,AI_CORE,5,1,7,,,,\n0,1,2,4,A,A,AI_CORE,5,1,7,,,,\n");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    int with = 0;
    for (int i = 1; i <= 3; i++) {
        char text[512];
        with += has(args_of(t, nth(t, KIND_KERNEL, i), text, sizeof text), "Wait Time(us)");
    }
    assert_int_equal(t->kernel.n - 1, 3);
    assert_int_equal(with, 2);
    trace_release(t);
}

/* Three equal tasks of one step; the third waits for 800 µs, and its row tells 1 or all of them. */
static void steps_are_those_of_the_rows(void **state) {
    for (int whole = 0; whole < 2; whole++) {
        put("kernel_details.csv",
            whole ? HEADER
                "19,1,1,3,A,A,AI_CORE,100,10,0,,,,\n19,1,2,3,A,A,AI_CORE,110,10,0,,,,\n"
                "19,1,3,3,A,A,AI_CORE,920,10,800,,,,\n"
                  : HEADER
                "19,1,1,3,A,A,AI_CORE,100,10,0,,,,\n19,1,2,3,A,A,AI_CORE,110,10,0,,,,\n"
                "19,1,3,3,A,A,AI_CORE,920,10,1,,,,\n");
        put("profiler_info_0.json", "{}");
        trace *t = read_worker("profiler_info_0.json");
        assert_int_equal(t->step.n - 1, 1);
        assert_int_equal(t->step.number[1], 19);
        assert_int_equal(trace_quality(t, CAUSE_ROWS_MISSING), whole ? 0 : 1);
        trace_release(t);
    }
}

/* A range of the framework: 54 fixed bytes and its name. */
static void put_range(void) {
    unsigned char bytes[128] = {0}, *p = bytes;
    add_le(&p, 0, 2);
    add_le(&p, 54 + 6 + 3, 4);
    add_le(&p, 77, 8);
    p += 16;
    add_le(&p, 1000, 8);
    add_le(&p, 2000, 8);
    p = bytes + 6 + 54;
    add_le(&p, 14, 2);
    add_le(&p, 3, 4);
    memcpy(p, "Add", 3);
    put_bytes("mindspore.op_range", bytes, 6 + 54 + 6 + 3);
}

static void ranges_the_timeline_was_made_of_are_not_read_again(void **state) {
    put_range();
    trace *t = read_worker("mindspore.op_range");
    assert_int_equal(t->slice.n - 1, 1);
    trace_release(t);
    put_timeline("{\"name\":\"Kernel::X::Add\",\"pid\":1,\"tid\":77,\"ph\":\"X\",\"ts\":"
                 "\"1794707784411120.000\",\"dur\":\"1.000\",\"args\":{}}");
    put("profiler_info_0.json", "{}");
    t = read_worker("profiler_info_0.json");
    assert_int_equal(t->slice.n - 1, 1);
    assert_int_equal(t->end_ns - t->start_ns, 1000);
    assert_false(trace_meta(t, STR("host_clock")).n);
    trace_release(t);
    /* A timeline of the device alone has none of them. */
    put_timeline(TASK("A", "0.001", "1"));
    t = read_worker("profiler_info_0.json");
    assert_true(nth(t, KIND_OTHER, 1) && nth(t, KIND_KERNEL, 1));
    trace_release(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_task_of_both_files_is_one_task),
        TEST(without_a_timeline_the_rows_are_the_tasks),
        TEST(equal_starts_take_a_row_each),
        TEST(steps_are_those_of_the_rows),
        TEST(ranges_the_timeline_was_made_of_are_not_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
