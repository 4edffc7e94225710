/* mindspore_track_test.c: raw step traces of an Ascend (ts_track): points become steps and collectives,
 * markers become operators. */
#include "unit/ingest/mindspore_folder.h"

typedef struct {
    unsigned type, stream, task, tag;
    uint64_t counter;
} mark;

/* The markers M are before or after what they mark. */
static const char TASKS[] = "Default/Profiling-op1 1 1 5\n" /* model start */
                            "Default/Profiling-op2 1 2 5\n" /* forward pass */
                            "Default/Conv2D-op3 1 3 5\n"
                            "Default/MatMul-op4 1 4 5\n"
                            "Default/Profiling-op5 1 5 5\n" /* backward pass */
                            "Default/Profiling-op6 1 1 7\n"
                            "Gradients/AllReduce-op7 1 2 7\n"
                            "Default/Profiling-op8 1 3 7\n"
                            "Default/Adam-op9 1 6 5\n"
                            "Default/Profiling-op10 1 7 5\n"; /* end of the step */

static const mark STEPS[] = {
    {10, 5, 1, 0, 90},      {10, 5, 2, 2, 100}, {10, 7, 1, 10000, 140},
    {10, 7, 3, 10001, 170}, {10, 5, 5, 3, 200}, {10, 5, 7, 4, 260},
    {3, 5, 7, 4, 261},      {10, 5, 2, 2, 300}, {10, 7, 1, 10000, 340},
    {10, 7, 3, 10001, 360}, {10, 5, 5, 3, 390}, {10, 5, 7, 4, 450},
};
enum { N_STEPS = sizeof STEPS / sizeof *STEPS };

static size_t write_marks(unsigned char *p, const mark *rows, size_t n) {
    const unsigned char *start = p;
    for (size_t i = 0; i < n; i++) {
        add_le(&p, 1, 1);
        add_le(&p, rows[i].type, 1);
        add_le(&p, 40, 2);
        add_le(&p, 0, 4);
        add_le(&p, rows[i].counter, 8);
        add_le(&p, 1, 8);
        add_le(&p, 11, 8);
        add_le(&p, rows[i].stream, 2);
        add_le(&p, rows[i].task, 2);
        add_le(&p, rows[i].tag, 2);
        add_le(&p, 0, 2);
    }
    return (size_t)(p - start);
}

static trace *read_marks(const mark *rows, size_t n) {
    unsigned char bytes[40 * 32];
    put_bytes("ts_track.data.3.slice_0", bytes, write_marks(bytes, rows, n));
    return read_worker("ts_track.data.3.slice_0");
}

/* The stage of a step, ns; -1: there is none. */
static int64_t stage(const trace *t, int64_t number, const char *name) {
    for (uint32_t i = 1; i < t->producer_step.n; i++)
        if (t->producer_step.number[i] == number && named(t, t->producer_step.stage[i], name))
            return t->producer_step.duration[i];
    return -1;
}

static const char *comm_name(const trace *t, int64_t number) {
    static char text[80];
    for (uint32_t i = 1; i < t->producer_step.n; i++)
        if (t->producer_step.number[i] == number &&
            named(t, t->producer_step.stage[i], "communication")) {
            snprintf(text, sizeof text, "%.*s",
                     STR_ARG(trace_str(t, t->producer_step.name[i])));
            return text;
        }
    return "";
}

static void check_both_steps(const trace *t) {
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.start[1], 1000);
    assert_int_equal(t->step.start[2], 2600);
    assert_int_equal(t->step.end[2], 4500);
    assert_int_equal(stage(t, 1, "interval"), 0);
    assert_int_equal(stage(t, 1, "forward_backward"), 1000);
    assert_int_equal(stage(t, 1, "tail"), 600);
    assert_int_equal(stage(t, 1, "communication"), 300);
    assert_int_equal(stage(t, 2, "total"), 1900);
    assert_int_equal(stage(t, 2, "interval"), 400);
    assert_int_equal(stage(t, 2, "forward_backward"), 900);
    assert_int_equal(stage(t, 2, "tail"), 600);
    assert_int_equal(stage(t, 2, "communication"), 200);
}

/* Nothing of the marks was lost (that a collective has no launch is another matter). */
static void check_nothing_lost(const trace *t) {
    for (uint32_t i = 1; i < t->quality.n; i++)
        assert_int_equal(t->quality.cause[i], CAUSE_ORPHAN_CORRELATION);
}

static void marks_become_steps_collectives_and_points(void **state) {
    put("Framework.host.vm.task_desc_info.3.slice_0", TASKS);
    trace *t = read_marks(STEPS, N_STEPS);
    check_both_steps(t);
    assert_string_equal(comm_name(t, 2), "stream_7_0_AllReduce-op7");
    assert_true(str_eq(trace_meta(t, STR("fp_point")), STR("\"Default/Conv2D-op3\"")));
    assert_true(str_eq(trace_meta(t, STR("bp_point")), STR("\"Default/MatMul-op4\"")));
    check_nothing_lost(t);
    trace_release(t);
}

static void the_table_of_tasks_may_be_a_csv(void **state) {
    put("framework_raw_3.csv",
        "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info,graph_id\n"
        "2,5,1,Default/Profiling-op2,Profiling-op2,Profiling,Default,,1\n"
        "3,5,1,Default/Conv2D-op3,Conv2D-op3,Conv2D,Default,,1\n");
    trace *t = read_marks(STEPS, N_STEPS);
    assert_true(str_eq(trace_meta(t, STR("fp_point")), STR("\"Default/Conv2D-op3\"")));
    assert_int_equal(trace_meta(t, STR("bp_point")).n, 0);
    trace_release(t);
}

static void without_tasks_the_times_are_the_same(void **state) {
    trace *t = read_marks(STEPS, N_STEPS);
    check_both_steps(t);
    assert_string_equal(comm_name(t, 1), "stream_7_0_parallel");
    assert_int_equal(trace_meta(t, STR("fp_point")).n, 0);
    trace_release(t);
}

/* Cut between the begin and the end of a collective; slice_10 comes after slice_9. */
static void a_step_continues_from_slice_to_slice(void **state) {
    unsigned char bytes[40 * 32];
    put("Framework.host.vm.task_desc_info.3.slice_0", TASKS);
    put_bytes("ts_track.data.3.slice_9", bytes, write_marks(bytes, STEPS, 3));
    put_bytes("ts_track.data.3.slice_10", bytes, write_marks(bytes, STEPS + 3, N_STEPS - 3));
    put("ts_track.data.3.slice_10.done", "filesize:360\n");
    trace *t = read_worker("ts_track.data.3.slice_10");
    check_both_steps(t);
    check_nothing_lost(t);
    trace_release(t);
}

static void a_table_made_of_it_wins(void **state) {
    put("step_trace_raw_3_detail_time.csv",
        "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,"
        "tail\n1,10,90,80,20,60,10,40,30\n");
    trace *t = read_marks(STEPS, N_STEPS);
    assert_int_equal(t->step.n, 2);
    assert_int_equal(stage(t, 1, "total"), 800);
    trace_release(t);
}

static void points_of_a_file_win(void **state) {
    put("Framework.host.vm.task_desc_info.3.slice_0", TASKS);
    put("step_trace_point_info_3.json", "{\"fp_start\": \"Default/X-op1\", \"bp_end\": \"Y\"}");
    trace *t = read_marks(STEPS, N_STEPS);
    assert_true(str_eq(trace_meta(t, STR("fp_point")), STR("\"Default/X-op1\"")));
    assert_true(str_eq(trace_meta(t, STR("bp_point")), STR("\"Y\"")));
    assert_int_equal(t->step_point.point[1], POINT_FORWARD_START);
    assert_true(str_eq(trace_str(t, t->step_point.name[1]), STR("Default/X-op1")));
    trace_release(t);
}

static void a_collective_of_two_operators_is_counted(void **state) {
    mark rows[N_STEPS];
    memcpy(rows, STEPS, sizeof rows);
    rows[3].task = 9; /* no task */
    put("Framework.host.vm.task_desc_info.3.slice_0", TASKS);
    trace *t = read_marks(rows, N_STEPS);
    assert_int_equal(stage(t, 1, "communication"), -1);
    assert_int_equal(stage(t, 2, "communication"), 200);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 1);
    trace_release(t);
}

static void points_without_their_other_half_are_counted(void **state) {
    static const mark rows[] = {
        {10, 5, 2, 2, 100},
        {10, 7, 1, 10000, 140},
        {10, 5, 5, 3, 200},
        {10, 5, 7, 4, 260},
        /* two begins, and no end of the backward pass */
        {10, 5, 2, 2, 300},
        {10, 7, 1, 10000, 340},
        {10, 7, 1, 10000, 350},
        {10, 5, 7, 4, 400},
        {10, 5, 2, 2, 410},
        {10, 7, 1, 10000, 420},
        {10, 7, 1, 10002, 430},
        {10, 5, 5, 3, 440},
        {10, 5, 7, 4, 450},
        /* no tag, and a time no counter has */
        {10, 5, 9, 77, 460},
        {10, 5, 2, 2, UINT64_MAX},
    };
    trace *t = read_marks(rows, sizeof rows / sizeof *rows);
    assert_int_equal(stage(t, 1, "total"), 1600);
    assert_int_equal(stage(t, 2, "total"), -1);
    assert_int_equal(stage(t, 3, "total"), 500);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 2);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    assert_int_equal(trace_quality(t, CAUSE_UNKNOWN_PHASE), 1);
    assert_int_equal(trace_quality(t, CAUSE_NUMBER_RANGE), 1);
    trace_release(t);
}

static void a_cut_record_is_counted(void **state) {
    unsigned char bytes[40 * 32];
    size_t n = write_marks(bytes, STEPS, N_STEPS);
    put_bytes("ts_track.data.3.slice_0", bytes, n - 7);
    trace *t = read_worker("ts_track.data.3.slice_0");
    assert_int_equal(t->step.n, 2);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    trace_release(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(marks_become_steps_collectives_and_points),
        TEST(the_table_of_tasks_may_be_a_csv),
        TEST(without_tasks_the_times_are_the_same),
        TEST(a_step_continues_from_slice_to_slice),
        TEST(a_table_made_of_it_wins),
        TEST(points_of_a_file_win),
        TEST(a_collective_of_two_operators_is_counted),
        TEST(points_without_their_other_half_are_counted),
        TEST(a_cut_record_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
