/* range_stats_test.c: a range of time by name. */
#include "analyse/intervals.h"
#include "analyse/timeline/range_stats.h"

#include "timeline_trace.h"

static answer ask(timeline *x, int64_t from, int64_t to, const uint8_t *lanes) {
    static analysis_trace one;
    static analysis_input in;
    one = (analysis_trace){.trace = x->t, .rank = ABSENT_I64};
    in = (analysis_input){.traces = &one, .n_traces = 1};
    range_question q = {
        .lod = x->l, .input = &in, .from_ns = from, .to_ns = to, .lanes = lanes};
    answer out;
    assert_int_equal(range_stats_make(&q, &x->a, &out, NULL), OK);
    return out;
}

static void times_are_added_up_by_name(void **state) {
    timeline x;
    timeline_init(&x);
    answer out = ask(&x, 0, 1000, NULL);
    table *t = fake_table(&out, "area");
    size_t row = fake_row(t, "gemm");
    assert_int_equal(fake_int(t, row, "count"), 2);
    assert_int_equal(fake_int(t, row, "total"), 80);
    assert_int_equal(fake_int(t, row, "self"), 80);
    assert_int_equal(fake_int(t, row, "mean"), 40);
    assert_int_equal(fake_int(t, row, "min"), 30);
    assert_int_equal(fake_int(t, row, "max"), 50);
    assert_text(fake_text(t, row, "kind"), "kernel");
    row = fake_row(t, "aten::linear");
    assert_int_equal(fake_int(t, row, "total"), 30);
    assert_int_equal(fake_int(t, row, "self"), 10);
    double share = 0;
    for (size_t i = 0; i < t->n_rows; i++) share += fake_real(t, i, "share");
    assert_near(share, 1);
    timeline_fini(&x);
}

/* The times of two adjoining ranges are those of both together; what crosses the border counts in
 * both, and every mean is that of what was counted. */
static void adjoining_ranges_add_up(void **state) {
    timeline x;
    timeline_init(&x);
    int64_t count[3] = {0}, total[3] = {0}, self[3] = {0};
    static const int64_t ranges[3][2] = {{0, 400}, {0, 45}, {45, 400}};
    for (int k = 0; k < 3; k++) {
        answer out = ask(&x, ranges[k][0], ranges[k][1], NULL);
        table *t = fake_table(&out, "area");
        for (size_t i = 0; i < t->n_rows; i++) {
            count[k] += fake_int(t, i, "count");
            total[k] += fake_int(t, i, "total");
            self[k] += fake_int(t, i, "self");
            assert_int_equal(fake_int(t, i, "mean"),
                             mean_i64(fake_int(t, i, "total"), fake_int(t, i, "count")));
        }
    }
    assert_int_equal(count[1] + count[2], count[0] + 6);
    assert_int_equal(total[0], total[1] + total[2]);
    assert_int_equal(self[0], self[1] + self[2]);
    timeline_fini(&x);
}

static void self_time_counts_only_the_lanes_chosen(void **state) {
    timeline x;
    timeline_init(&x);
    uint8_t lanes[64] = {0};
    lanes[timeline_lane_id(&x, LANE_WORK, 0)] = 1;
    answer out = ask(&x, 0, 1000, lanes);
    table *t = fake_table(&out, "area");
    size_t row = fake_row(t, "aten::addmm");
    assert_int_equal(fake_int(t, row, "self"), 20); /* its call is on another lane */
    row = fake_row(t, "ProfilerStep#1");
    assert_int_equal(fake_int(t, row, "self"),
                     400 - 5 - 30 - 10 - 50); /* frames do not count */
    table *tracks = fake_table(&out, "tracks");
    assert_int_equal(tracks->n_rows, 1);
    assert_int_equal(fake_int(tracks, 0, "busy"), 400);
    timeline_fini(&x);
}

/* Producers write slices that overlap each other and outlast the one around them. */
static void self_time_is_never_negative(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "around", 0, 100);
    fake_add(&f, host, KIND_OP, "first", 10, 60);  /* to 70 */
    fake_add(&f, host, KIND_OP, "second", 40, 70); /* to 110: overlaps first, outlasts around */
    timeline x = {.t = fake_seal(&f)};
    arena_init(&x.a, 0);
    /* What the seal does with them: both are inside `around`. */
    FAKE_SET(&f, slice, parent, 3, 1);
    FAKE_SET(&f, slice, depth, 3, 1);
    assert_int_equal(lod_new(x.t, NULL, &x.l, NULL), OK);
    static const struct {
        int64_t from, to, self[3];
    } cases[] = {{0, 1000, {10, 60, 70}}, {0, 50, {10, 40, 10}}, {50, 1000, {0, 20, 60}}};
    for (size_t i = 0; i < 3; i++) {
        answer out = ask(&x, cases[i].from, cases[i].to, NULL);
        table *t = fake_table(&out, "area");
        assert_int_equal(fake_int(t, fake_row(t, "around"), "self"), cases[i].self[0]);
        assert_int_equal(fake_int(t, fake_row(t, "first"), "self"), cases[i].self[1]);
        assert_int_equal(fake_int(t, fake_row(t, "second"), "self"), cases[i].self[2]);
    }
    lod_free(x.l);
    arena_fini(&x.a);
    fake_fini(&f);
}

static void counters_tell_their_values(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "op", 0, 400);
    fake_add_memory(&f, (fake_memory){.time = 100,
                                      .track = host,
                                      .bytes = 10,
                                      .allocated = 10,
                                      .reserved = ABSENT_I64,
                                      .device_type = DEVICE_CUDA});
    fake_add_memory(&f, (fake_memory){.time = 300,
                                      .track = host,
                                      .bytes = 30,
                                      .allocated = 40,
                                      .reserved = ABSENT_I64,
                                      .device_type = DEVICE_CUDA});
    timeline x = {.t = fake_seal(&f)};
    assert_int_equal(lod_new(x.t, NULL, &x.l, NULL), OK);
    arena_init(&x.a, 0);
    answer out = ask(&x, 200, 400, NULL);
    table *t = fake_table(&out, "counters");
    assert_int_equal(t->n_rows, 1);
    assert_near(fake_real(t, 0, "first"), 10);
    assert_near(fake_real(t, 0, "last"), 40);
    assert_near(fake_real(t, 0, "mean"), 25);
    lod_free(x.l);
    arena_fini(&x.a);
    fake_fini(&f);
}

/* All causes together are the time in which no device worked. */
static void idle_time_is_shared_out_among_its_causes(void **state) {
    timeline x;
    timeline_init(&x);
    analysis_trace one = {.trace = x.t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    range_question q = {.lod = x.l, .input = &in, .from_ns = 0, .to_ns = 1000};
    answer out;
    intervals busy = intervals_in(&x.a);
    for (uint32_t k = 1; k < x.t->kernel.n; k++) {
        uint32_t slice = x.t->kernel.slice[k];
        intervals_add(&busy, x.t->slice.start[slice], trace_slice_end(x.t, slice));
    }
    intervals_merge(&busy);
    assert_int_equal(range_idle(&q, &x.a, &out, NULL), OK);
    table *t = fake_table(&out, "idle");
    int64_t sum = 0;
    double share = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        sum += fake_int(t, i, "time");
        share += fake_real(t, i, "share");
    }
    assert_int_equal(sum, 1000 - intervals_ns_in(&busy, 0, 1000));
    assert_near(share, (double)sum / 1000);
    timeline_fini(&x);
}

/* While only a collective runs, on the device or on the host, no device computes. */
static void collectives_are_a_cause(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 0, 5);
    fake_add(&f, host, KIND_COLLECTIVE, "gloo:all_reduce", 600, 100);
    fake_work(&f, gpu, KIND_KERNEL, "gemm", 10, 90, call);
    fake_work(&f, gpu, KIND_KERNEL, "ncclDevKernel_AllReduce", 200, 300, call);
    timeline x = {.t = fake_seal(&f)};
    assert_int_equal(lod_new(x.t, NULL, &x.l, NULL), OK);
    arena_init(&x.a, 0);
    analysis_trace one = {.trace = x.t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    range_question q = {.lod = x.l, .input = &in, .from_ns = 0, .to_ns = 1000};
    answer out;
    assert_int_equal(range_idle(&q, &x.a, &out, NULL), OK);
    table *t = fake_table(&out, "idle");
    int64_t sum = 0, collective = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        sum += fake_int(t, i, "time");
        if (str_eq(fake_text(t, i, "cause"), STR("communication")))
            collective = fake_int(t, i, "time");
    }
    assert_int_equal(sum, 1000 - 90);
    assert_int_equal(collective, 300 + 100);
    lod_free(x.l);
    arena_fini(&x.a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_added_up_by_name),
        cmocka_unit_test(idle_time_is_shared_out_among_its_causes),
        cmocka_unit_test(collectives_are_a_cause),
        cmocka_unit_test(adjoining_ranges_add_up),
        cmocka_unit_test(self_time_counts_only_the_lanes_chosen),
        cmocka_unit_test(self_time_is_never_negative),
        cmocka_unit_test(counters_tell_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
