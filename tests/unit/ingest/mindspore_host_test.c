/* mindspore_host_test.c: ranges of the host (host_info) and the sums of the input pipeline (dataset.csv). */
#include "mindspore_folder.h"

#include "ingest/mindspore/mindspore_int.h"

#define HEADER                                                                                 \
    "tid,pid,parent_pid,module_name,event,stage,level,start_end,custom_info,memory_usage(kB)," \
    "time_stamp(us)\n"

static void put_host(const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/host_info", folder);
    (void)!mkdir(path, 0700);
    put("host_info/host_info_0.csv", text);
}

static void a_range_ends_with_its_end(void **state) {
    put_host(HEADER
             "1400,10,9,Dataset,GetNext,Read,2,0,,1000,1700000000000100\n"
             "1500,10,9,Dataset,GetNext,Read,2,0,,1000,1700000000000105\n"
             "1400,10,9,Dataset,GetNext,Read,3,0,\"{{a:1},{b:2}}\",1200,1700000000000110\n"
             "1400,10,9,Dataset,GetNext,Read,3,1,,1100,1700000000000150\n"
             "1400,10,9,Dataset,GetNext,Read,2,1,,1100,1700000000000200\n"
             "1400,10,9,Compiler,Compile,,0,2,,1100,1700000000000210\n");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    assert_int_equal(t->slice.n - 1, 4);
    assert_true(named(t, t->slice.name[1], "Dataset::GetNext::Read"));
    assert_int_equal(t->slice.start[1], 0);
    assert_int_equal(t->slice.dur[1], 100000);
    assert_int_equal(t->slice.parent[2], 1);
    assert_int_equal(t->slice.dur[2], 40000);
    assert_true(named(t, t->slice.name[3], "Compiler::Compile"));
    assert_int_equal(t->slice.dur[3], 0);
    assert_int_equal(t->slice.dur[4], 105000); /* without an end: as long as the file */
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 1);
    buf args = {0};
    assert_int_equal(trace_args_json(t, t->slice.args[2], &args, NULL), OK);
    assert_true(str_find(buf_str(&args), STR("{{a:1},{b:2}}"), 0) != SIZE_MAX);
    buf_fini(&args);
    /* Memory where it changed. */
    assert_int_equal(t->memory.n - 1, 3);
    assert_int_equal(t->memory.allocated[2], 1200 * 1024);
    assert_int_equal(t->memory.bytes[3], -100 * 1024);
    assert_int_equal(t->memory.device_type[1], DEVICE_CPU);
    trace_release(t);
}

static void any_file_of_the_folder_opens_the_worker(void **state) {
    put_host(HEADER "1,1,1,A,B,C,0,2,,0,1700000000000100\n");
    put("profiler_info_0.json", "{\"mode\": 3}");
    trace *t = read_worker("host_info/host_info_0.csv");
    assert_true(str_eq(trace_meta(t, STR("mode")), STR("3")));
    assert_int_equal(t->slice.n - 1, 1);
    assert_int_equal(t->memory.n - 1, 0); /* 0 is "not measured" */
    trace_release(t);
}

static void rows_that_cannot_be_used_are_counted(void **state) {
    put_host(HEADER "1,1,1,A,B,C,0,0,,0,0\n" /* memory only: no times */
                    "1,1,1,A,B,C,0,x,,0,1700000000000100\n"
                    "1,1,1,A,B,C,0,1,,0,1700000000000100\n"
                    "x\n"
                    "1,1,1,,,,0,2,,-5,1700000000000100\n");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    assert_int_equal(t->slice.n - 1, 1);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 3);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 1);
    trace_release(t);
}

static void sums_of_the_pipeline_are_rows(void **state) {
    put("dataset.csv", "Operation,Stage,Occurrences,Avg. time (us),Custom Info\n"
                       "BatchOp,WorkerProcess,10,12.34,\"{'a': '1', 'b': '2'}\"\n"
                       "MapOp,WorkerGet,x,,\n"
                       ",lost,1,1,\n");
    put("profiler_info_0.json", "{}");
    trace *t = read_worker("profiler_info_0.json");
    assert_int_equal(t->pipe_stage.n, 3);
    assert_true(named(t, t->pipe_stage.operation[1], "BatchOp"));
    assert_true(named(t, t->pipe_stage.stage[1], "WorkerProcess"));
    assert_int_equal(t->pipe_stage.calls[1], 10);
    assert_int_equal(t->pipe_stage.total[1], 123400);
    assert_true(named(t, t->pipe_stage.info[1], "{'a': '1', 'b': '2'}"));
    assert_int_equal(t->pipe_stage.calls[2], ABSENT_I64);
    assert_int_equal(t->pipe_stage.total[2], ABSENT_I64);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    trace_release(t);
    put("dataset.csv", "Operation,Stage,Occurrences\n");
    t = read_worker("profiler_info_0.json");
    assert_int_equal(t->pipe_stage.n, 1);
    trace_release(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_range_ends_with_its_end),
        TEST(any_file_of_the_folder_opens_the_worker),
        TEST(rows_that_cannot_be_used_are_counted),
        TEST(sums_of_the_pipeline_are_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
