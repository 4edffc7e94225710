/* chrome_slice_test.c: slices, their cuts, their arrows, their arguments, async ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/args.h"
#include "unit/export/export_helper.h"
#include "unit/store/sample_trace.h"

/* One track of these slices: start, end (µs), parent, kind. */
static void make_track(maker *m, track_kind kind, const int64_t (*rows)[4], uint32_t n) {
    maker_init(m);
    maker_table(m, TABLE_process, 2);
    SET(m, process, pid)[1] = 1;
    maker_table(m, TABLE_track, 2);
    SET(m, track, process)[1] = 1;
    SET(m, track, kind)[1] = (uint8_t)kind;
    SET(m, track, tid)[1] = 2;
    SET(m, track, first)[1] = 1;
    SET(m, track, end)[1] = n + 1;
    maker_table(m, TABLE_slice, n + 1);
    SET(m, slice, start)[0] = SET(m, slice, dur)[0] = 0;
    for (uint32_t i = 1; i <= n; i++) {
        static char names[32][4];
        snprintf(names[i], sizeof names[i], "s%u", i);
        SET(m, slice, name)[i] = maker_str(m, names[i]);
        SET(m, slice, start)[i] = rows[i - 1][0] * 1000;
        SET(m, slice, dur)[i] = (rows[i - 1][1] - rows[i - 1][0]) * 1000;
        SET(m, slice, parent)[i] = (uint32_t)rows[i - 1][2];
        SET(m, slice, kind)[i] = (uint8_t)rows[i - 1][3];
    }
    m->t->end_ns = 100000;
}

static char *export_window(const trace *t, int64_t from_ns, int64_t to_ns) {
    char *text = export_text(
        t, &(export_options){.form = STR("chrome"), .window = &(time_window){from_ns, to_ns}});
    assert_true(is_json(text));
    return text;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s is not in\n%s", part, text);
}

static const int64_t OVERLAPS[][4] = {{0, 10, 0, KIND_OP},
                                      {2, 6, 1, KIND_OP},
                                      {4, 7, 1, KIND_OP},
                                      {8, 20, 0, KIND_OP},
                                      {10, 10, 4, KIND_OP}};

static void chrome_host_slices_are_cut_where_least_is_lost(void **state) {
    maker m;
    make_track(&m, TRACK_THREAD, OVERLAPS, 5);
    trace *t = maker_done(&m);
    char *text = export_window(t, OPEN_START, OPEN_END);
    assert_has(text,
               "\"name\":\"s1\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"dur\":8.000}"); /* by s4 */
    assert_has(text, "\"name\":\"s2\",\"pid\":1,\"tid\":2,\"ts\":2.000,\"dur\":4.000}");
    assert_has(text,
               "\"name\":\"s3\",\"pid\":1,\"tid\":2,\"ts\":4.000,\"dur\":2.000}"); /* by s2 */
    assert_has(text, "\"name\":\"s4\",\"pid\":1,\"tid\":2,\"ts\":8.000,\"dur\":12.000}");
    assert_has(text, "\"name\":\"s5\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"dur\":0.000}");
    free(text);
    trace_release(t);
}

static void chrome_python_frames_are_cut_before_steps(void **state) {
    static const int64_t rows[][4] = {
        {0, 50, 0, KIND_STEP}, {10, 95, 1, KIND_PYTHON}, {80, 99, 0, KIND_STEP}};
    maker m;
    make_track(&m, TRACK_THREAD, rows, 3);
    trace *t = maker_done(&m);
    char *text = export_window(t, OPEN_START, OPEN_END);
    assert_has(text, "\"name\":\"s1\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"dur\":50.000}");
    assert_has(text, "\"name\":\"s2\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"dur\":40.000}");
    assert_has(text, "\"name\":\"s3\",\"pid\":1,\"tid\":2,\"ts\":80.000,\"dur\":19.000}");
    free(text);
    trace_release(t);
}

static void chrome_slice_that_outlasts_several_open_ones_cuts_them_all(void **state) {
    static const int64_t rows[][4] = {{0, 100, 0, KIND_OP},
                                      {1, 12, 1, KIND_PYTHON},
                                      {2, 11, 2, KIND_PYTHON},
                                      {10, 90, 1, KIND_STEP}};
    maker m;
    make_track(&m, TRACK_THREAD, rows, 4);
    trace *t = maker_done(&m);
    char *text = export_window(t, OPEN_START, OPEN_END);
    assert_has(text, "\"name\":\"s1\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"dur\":100.000}");
    assert_has(text, "\"name\":\"s2\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"dur\":9.000}");
    assert_has(text, "\"name\":\"s3\",\"pid\":1,\"tid\":2,\"ts\":2.000,\"dur\":8.000}");
    assert_has(text, "\"name\":\"s4\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"dur\":80.000}");
    /* and the file says so */
    assert_has(text, "\"tacho_shortened\",\"pid\":0,\"args\":{\"slices\":2,\"time_ns\":3000}}");
    free(text);
    trace_release(t);
}

static void chrome_plain_traces_stay_as_they_are(void **state) {
    maker m;
    make_track(&m, TRACK_THREAD, OVERLAPS, 5);
    m.t->format = STR("chrome");
    trace *t = maker_done(&m);
    char *text = export_window(t, OPEN_START, OPEN_END);
    assert_has(text,
               "\"cat\":\"\",\"name\":\"s1\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"dur\":10.000}");
    assert_int_equal(count_of(text, "Profiler"), 0);
    free(text);
    trace_release(t);
}

static void chrome_device_slices_keep_their_overlaps(void **state) {
    maker m;
    make_track(&m, TRACK_STREAM, OVERLAPS, 5);
    trace *t = maker_done(&m);
    char *text = export_window(t, OPEN_START, OPEN_END);
    assert_has(text, "\"name\":\"s3\",\"pid\":1,\"tid\":2,\"ts\":4.000,\"dur\":3.000}");
    assert_has(text, "\"name\":\"s4\",\"pid\":1,\"tid\":2,\"ts\":8.000,\"dur\":12.000}");
    free(text);
    trace_release(t);
}

static void chrome_window_cuts_slices_and_leaves_out_the_rest(void **state) {
    maker m;
    make_track(&m, TRACK_STREAM, OVERLAPS, 5);
    trace *t = maker_done(&m);
    char *text = export_window(t, 5000, 10000);
    assert_has(text, "\"name\":\"s1\",\"pid\":1,\"tid\":2,\"ts\":5.000,\"dur\":5.000}");
    assert_has(text, "\"name\":\"s2\",\"pid\":1,\"tid\":2,\"ts\":5.000,\"dur\":1.000}");
    assert_has(text, "\"name\":\"s4\",\"pid\":1,\"tid\":2,\"ts\":8.000,\"dur\":2.000}");
    assert_int_equal(count_of(text, "\"name\":\"s5\""), 0);
    free(text);
    text = export_window(t, 10000, OPEN_END);
    assert_int_equal(count_of(text, "\"name\":\"s5\""), 1);
    assert_int_equal(count_of(text, "\"name\":\"s1\""), 0);
    free(text);
    trace_release(t);
}

static void chrome_arrow_needs_both_ends_in_the_window(void **state) {
    trace *t = sample_trace();
    char *text = export_window(t, 26000, 30000); /* the call, not its kernel */
    assert_int_equal(count_of(text, "cudaLaunchKernel"), 1);
    assert_int_equal(count_of(text, "ac2g"), 0);
    free(text);
    text = export_window(t, 30000, OPEN_END); /* the kernel, not its call */
    assert_int_equal(count_of(text, "sgemm"), 1);
    assert_int_equal(count_of(text, "ac2g"), 0);
    free(text);
    text = export_window(t, 26000, 36000);
    assert_int_equal(count_of(text, "\"cat\":\"ac2g\""), 2);
    free(text);
    trace_release(t);
}

static void chrome_external_id_is_that_of_the_op_that_was_found(void **state) {
    trace *t = sample_trace();
    ((int64_t *)(uintptr_t)t->op.external)[2] = 4711;
    char *text = export_window(t, OPEN_START, OPEN_END);
    assert_int_equal(count_of(text, "\"External id\":4711,\"correlation\":7"), 2);
    free(text);
    ((uint32_t *)(uintptr_t)t->kernel.op)[1] = 0;
    ((uint32_t *)(uintptr_t)t->slice.args)[3] = 0;
    ((int64_t *)(uintptr_t)t->kernel.correlation)[1] = ABSENT_I64;
    text = export_window(t, OPEN_START, OPEN_END);
    assert_has(text, "\"name\":\"sgemm\",\"pid\":0,\"tid\":7,\"ts\":7693164000033.125,\"dur\":"
                     "5.500,\"args\":{\"correlation\":7,");
    assert_has(text,
               "\"args\":{\"External id\":4711,\"correlation\":7}"); /* made from the columns */
    assert_has(text, "\"bp\":\"e\",\"id\":3}"); /* no correlation: the call's row */
    free(text);
    trace_release(t);
}

static void chrome_async_ranges_begin_and_end_in_order(void **state) {
    static const int64_t rows[][4] = {{0, 10, 0, KIND_ASYNC},
                                      {1, 10, 1, KIND_ASYNC},
                                      {5, 15, 0, KIND_ASYNC},
                                      {12, 13, 0, KIND_ASYNC}};
    maker m;
    make_track(&m, TRACK_ASYNC, rows, 4);
    trace *t = maker_done(&m);
    char *text = export_window(t, OPEN_START, OPEN_END);
    static const char *const order[] = {
        "{\"ph\":\"b\",\"cat\":\"\",\"name\":\"s1\",\"pid\":1,\"tid\":2,\"ts\":0.000,\"id\":1}",
        "{\"ph\":\"b\",\"cat\":\"\",\"name\":\"s2\",\"pid\":1,\"tid\":2,\"ts\":1.000,\"id\":1}",
        "{\"ph\":\"b\",\"cat\":\"\",\"name\":\"s3\",\"pid\":1,\"tid\":2,\"ts\":5.000,\"id\":3}",
        "{\"ph\":\"e\",\"cat\":\"\",\"name\":\"s3\",\"pid\":1,\"tid\":2,\"ts\":15.000,\"id\":"
        "3}",
        "{\"ph\":\"e\",\"cat\":\"\",\"name\":\"s2\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"id\":"
        "1}",
        "{\"ph\":\"e\",\"cat\":\"\",\"name\":\"s1\",\"pid\":1,\"tid\":2,\"ts\":10.000,\"id\":"
        "1}",
        "{\"ph\":\"b\",\"cat\":\"\",\"name\":\"s4\",\"pid\":1,\"tid\":2,\"ts\":12.000,\"id\":"
        "4}",
        "{\"ph\":\"e\",\"cat\":\"\",\"name\":\"s4\",\"pid\":1,\"tid\":2,\"ts\":13.000,\"id\":"
        "4}",
    };
    const char *at = text;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_has(at, order[i]);
        at = strstr(at, order[i]);
    }
    free(text);
    trace_release(t);
}

static void chrome_names_and_raw_arguments_stay_valid_json(void **state) {
    maker m;
    make_track(&m, TRACK_THREAD, OVERLAPS, 5);
    SET(&m, slice, name)[1] = maker_str(&m, "a\"b\\c\n\xff");
    uint32_t shape = maker_shape(&m, 0, "k\"");
    args_put_varint(&m.arg_at, shape);
    args_put_raw(&m.arg_at, maker_str(&m, "NaN"));
    SET(&m, slice, args)[1] = maker_record(&m);
    args_put_varint(&m.arg_at, ARGS_SHAPE_RAW);
    args_put_raw(&m.arg_at, maker_str(&m, "{\"broken\": \"x"));
    SET(&m, slice, args)[2] = maker_record(&m);
    trace *t = maker_done(&m);
    char *text = export_window(t, OPEN_START, OPEN_END); /* asserts that it is JSON */
    assert_has(text, "\"name\":\"a\\\"b\\\\c\\n");
    free(text);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chrome_host_slices_are_cut_where_least_is_lost),
        cmocka_unit_test(chrome_python_frames_are_cut_before_steps),
        cmocka_unit_test(chrome_slice_that_outlasts_several_open_ones_cuts_them_all),
        cmocka_unit_test(chrome_plain_traces_stay_as_they_are),
        cmocka_unit_test(chrome_device_slices_keep_their_overlaps),
        cmocka_unit_test(chrome_window_cuts_slices_and_leaves_out_the_rest),
        cmocka_unit_test(chrome_arrow_needs_both_ends_in_the_window),
        cmocka_unit_test(chrome_external_id_is_that_of_the_op_that_was_found),
        cmocka_unit_test(chrome_async_ranges_begin_and_end_in_order),
        cmocka_unit_test(chrome_names_and_raw_arguments_stay_valid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
