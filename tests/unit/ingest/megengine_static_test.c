/* megengine_static_test.c: the profile of a static graph as a timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fault.h"
#include "ingest/megengine/megengine.h"
#include "unit/ingest/read_helper.h"

static const char PROFILE[] =
    "{\"profiler\":{\"device\":{\"6\":{\"CompNode(\\\"gpu1:0\\\" from \\\"gpux:0\\\")\":"
    "{\"end\":0.0016,\"kern\":0.0001,\"start\":0.000000001}}},"
    "\"host\":{\"6\":{\"main\":{\"start\":0.5,\"kern\":-1,\"end\":0.50001}},\"7\":{\"main\":{"
    "\"start\":1}}},"
    "\"opr_footprint\":{\"6\":{\"computation\":100,\"memory\":64,\"in_shapes\":[[2,3],[]],"
    "\"out_shapes\":[[2]]}}},"
    "\"graph_exec\":{\"var\":{\"1\":{\"mem_plan\":{\"layout\":{\"dtype\":\"Float32\"}}},\"2\":{"
    "\"mem_plan\":null}},"
    "\"operator\":{\"6\":{\"name\":\"conv "
    "\\\"a\\\"\",\"type\":\"Convolution\",\"input\":[\"1\",\"2\"]},"
    "\"7\":{\"name\":\"late\",\"type\":\"Reduce\"},\"8\":{\"name\":\"never "
    "ran\",\"type\":\"Weight\"}}}}";

static trace *read_profile(const char *text) {
    error err;
    return read_with(ingest_megengine_static, str_of(text), (read_how){0}, &err);
}

static void a_sample_is_a_slice_of_its_row(void **state) {
    trace *t = read_profile(PROFILE);
    assert_int_equal(t->slice.n, 3);
    assert_int_equal(t->kernel.n, 2);
    uint32_t work = t->kernel.slice[1], op = t->kernel.op[1];
    assert_int_equal(t->slice.start[work], 1);
    assert_int_equal(t->slice.dur[work], 1599999);
    assert_int_equal(t->kernel.device[1], 1);
    assert_int_equal(t->slice.kind[op], KIND_OP);
    assert_string_equal(text_of_id(t, t->slice.name[op]), "conv \"a\"");
    assert_int_equal(t->slice.dur[op], 10000);
    assert_true(t->op.flops[1] == 100);
    assert_int_equal(t->op.bytes[1], 64);
    assert_string_equal(text_of_id(t, t->op.shapes[1]), "[[2,3],[]]");
    assert_true(str_eq(t->format, STR("megengine_static")));
    trace_release(t);
}

static void everything_else_is_an_argument_with_every_digit(void **state) {
    trace *t = read_profile(PROFILE);
    const char *args = args_text(t, t->slice.args[t->kernel.slice[1]]);
    assert_non_null(strstr(args, "\"type\":\"Convolution\""));
    assert_non_null(strstr(args, "\"start\":0.000000001"));
    assert_non_null(strstr(args, "\"input_dtypes\":[\"Float32\"]"));
    assert_non_null(strstr(args, "\"order\":1"));
    trace_release(t);
}

static void a_sample_without_times_is_dropped_and_counted(void **state) {
    trace *t = read_profile(PROFILE);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_TIME), 1);
    assert_int_equal(t->events_dropped, 1);
    trace_release(t);
}

static void what_is_not_a_profile_is_refused(void **state) {
    static const char *const texts[] = {"{}", "{\"graph_exec\":{}}",
                                        "{\"profiler\":{\"device\":{}}}", "[]", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(read_profile(texts[i]));
}

static void cut_anywhere_it_is_read_or_refused(void **state) {
    size_t n_read = 0;
    for (size_t n = 0; n < sizeof PROFILE - 1; n++) {
        error err;
        trace *t = read_with(ingest_megengine_static, str_n(PROFILE, n), (read_how){0}, &err);
        if (!t) continue;
        n_read++;
        assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
        trace_release(t);
    }
    assert_true(n_read > 0); /* operators before the cut are kept */
}

static void every_failed_allocation_is_an_error(void **state) {
    for (uint64_t n = 1;; n++) {
        source *s;
        error err = {0};
        builder *to = builder_new();
        assert_int_equal(source_open_memory(str_of(PROFILE), &s, NULL), OK);
        fault_arm(FAULT_ALLOC, n);
        status st = ingest_megengine_static(s, &(ingest_options){0}, to, &err);
        bool hit = fault_count(FAULT_ALLOC) >= n;
        fault_arm(FAULT_ALLOC, 0);
        source_close(s);
        builder_free(to);
        if (st != OK) assert_int_equal(err.message, MSG_OUT_OF_MEMORY);
        if (!hit) break;
        assert_true(n < 2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_a_slice_of_its_row),
        cmocka_unit_test(everything_else_is_an_argument_with_every_digit),
        cmocka_unit_test(a_sample_without_times_is_dropped_and_counted),
        cmocka_unit_test(what_is_not_a_profile_is_refused),
        cmocka_unit_test(cut_anywhere_it_is_read_or_refused),
        cmocka_unit_test(every_failed_allocation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
