/* viewport_test.c: boxes and points of a range of time. */
#include "analyse/timeline/viewport.h"

#include "timeline_trace.h"

static viewport ask(const timeline *x, arena *a, viewport_question q) {
    viewport v;
    viewport_lane all[64];
    if (!q.lanes) {
        for (uint32_t i = 1; i < lane_id_end(x->l); i++) all[i - 1] = (viewport_lane){.id = i};
        q.lanes = all;
        q.n_lanes = lane_id_end(x->l) - 1;
    }
    assert_int_equal(viewport_make(x->l, &q, a, &v, NULL), OK);
    return v;
}

static str name_of_box(const viewport *v, uint32_t box) {
    uint32_t n = v->name[box];
    return str_n(v->name_text + v->name_at[n], v->name_at[n + 1] - v->name_at[n]);
}

static void every_slice_is_a_box_when_there_is_room(void **state) {
    timeline x;
    timeline_init(&x);
    viewport v =
        ask(&x, &x.a, (viewport_question){.from_ns = 0, .to_ns = 400, .width_px = 400});
    assert_int_equal(v.shift, 0);
    assert_int_equal(v.unit_shift, 0);
    assert_int_equal(v.n_boxes, x.t->slice.n - 1);
    assert_int_equal(v.run_first[v.n_runs], v.n_boxes);
    for (uint32_t i = 0; i < v.n_boxes; i++) {
        uint32_t slice = v.slice[i];
        assert_int_equal(v.count[i], 1);
        assert_int_equal(v.start[i], x.t->slice.start[slice]);
        assert_int_equal(v.end[i], trace_slice_end(x.t, slice));
        assert_near(v.time[i], (double)x.t->slice.dur[slice]);
        assert_true(str_eq(name_of_box(&v, i), trace_slice_name(x.t, slice)));
        assert_int_equal(v.name_kind[v.name[i]], x.t->slice.kind[slice]);
    }
    timeline_fini(&x);
}

static void boxes_are_cut_to_the_range_and_say_so(void **state) {
    timeline x;
    timeline_init(&x);
    uint32_t lane = timeline_lane_id(&x, LANE_STREAM, 0);
    viewport_lane one = {.id = lane};
    viewport v =
        ask(&x, &x.a,
            (viewport_question){
                .from_ns = 50, .to_ns = 60, .width_px = 10, .lanes = &one, .n_lanes = 1});
    assert_int_equal(v.n_boxes, 1); /* gemm, 40 … 70 */
    assert_int_equal(v.start[0], 0);
    assert_int_equal(v.end[0], 10);
    assert_near(v.time[0], 30);
    assert_int_equal(v.flags[0], BOX_BEFORE | BOX_AFTER);
    assert_int_equal(v.run_lane[0], lane);
    timeline_fini(&x);
}

static void small_slices_become_one_box_for_a_bucket(void **state) {
    timeline x;
    timeline_init(&x);
    viewport v = ask(&x, &x.a, (viewport_question){.from_ns = 0, .to_ns = 400, .width_px = 1});
    assert_int_equal(v.shift, 9);
    uint32_t n = 0;
    for (uint32_t i = 0; i < v.n_boxes; i++) n += v.count[i];
    assert_int_equal(n, x.t->slice.n - 1);
    assert_true(v.n_boxes < x.t->slice.n - 1);
    timeline_fini(&x);
}

static void wider_buckets_can_be_asked_for_one_lane(void **state) {
    timeline x;
    timeline_init(&x);
    uint32_t lane = timeline_lane_id(&x, LANE_WORK, 0);
    viewport_lane fine = {.id = lane}, coarse = {.id = lane, .coarser = 9};
    viewport_question q = {
        .from_ns = 0, .to_ns = 400, .width_px = 400, .lanes = &fine, .n_lanes = 1};
    uint32_t n = ask(&x, &x.a, q).n_boxes;
    q.lanes = &coarse;
    assert_true(ask(&x, &x.a, q).n_boxes < n);
    q.max_rows = 1;
    viewport v = ask(&x, &x.a, q);
    assert_int_equal(v.n_runs, 1);
    timeline_fini(&x);
}

/* However crowded: the limit holds, nothing is lost. */
static void an_answer_stays_below_its_limit(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    char names[400][48];
    for (int i = 0; i < 400; i++) {
        snprintf(names[i], sizeof names[i], "a name like many others %d", i);
        fake_add(&f, host, KIND_OP, names[i], i * 10, 5);
    }
    const trace *t = fake_seal(&f);
    lod *l = NULL;
    viewport v;
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    viewport_lane one = {.id = 1};
    viewport_question q = {.from_ns = 0,
                           .to_ns = 4000,
                           .width_px = 4000,
                           .lanes = &one,
                           .n_lanes = 1,
                           .max_bytes = 6000};
    assert_int_equal(viewport_make(l, &q, &f.arena, &v, NULL), OK);
    assert_true(v.shift > 0);
    assert_false(v.cut);
    assert_true(v.n_boxes * 21 + v.name_at[v.n_names] + v.n_names * 9 < 6000);
    uint32_t n = 0;
    for (uint32_t i = 0; i < v.n_boxes; i++) n += v.count[i];
    assert_int_equal(n, 400);
    lod_free(l);
    fake_fini(&f);
}

static void a_long_name_keeps_its_ends(void **state) {
    fake f;
    char name[600];
    fake_init(&f);
    memset(name, 'x', sizeof name);
    memcpy(name, "begin", 5);
    memcpy(name + 590, "end\xE4\xB8\xAD", 7); /* and a character of three bytes */
    name[596] = '\0';
    fake_add(&f, fake_thread(&f), KIND_OP, name, 0, 5);
    const trace *t = fake_seal(&f);
    lod *l = NULL;
    viewport v;
    viewport_lane one = {.id = 1};
    viewport_question q = {
        .from_ns = 0, .to_ns = 10, .width_px = 10, .lanes = &one, .n_lanes = 1};
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    assert_int_equal(viewport_make(l, &q, &f.arena, &v, NULL), OK);
    str text = str_n(v.name_text, v.name_at[1]);
    assert_true(text.n <= VIEWPORT_NAME_BYTES);
    assert_true(str_starts(text, STR("begin")));
    assert_true(str_ends(text, STR("end\xE4\xB8\xAD")));
    lod_free(l);
    fake_fini(&f);
}

static void utilization_is_the_share_of_each_bucket(void **state) {
    timeline x;
    timeline_init(&x);
    viewport_lane one = {.id = lane_id_end(x.l) - 2}; /* after it: SM efficiency */
    viewport v =
        ask(&x, &x.a,
            (viewport_question){
                .from_ns = 0, .to_ns = 400, .width_px = 400, .lanes = &one, .n_lanes = 1});
    assert_int_equal(v.n_counters, 1);
    assert_int_equal(v.counter_first[1], v.n_points);
    bool busy = false, idle = false;
    for (uint32_t i = 0; i < v.n_points; i++) {
        assert_true(v.point_last[i] >= 0 && v.point_last[i] <= 1);
        busy |= v.point_last[i] == 1;
        idle |= v.point_last[i] == 0;
    }
    assert_true(busy && idle);
    timeline_fini(&x);
}

static void a_lane_that_does_not_exist_is_refused(void **state) {
    timeline x;
    viewport v;
    error err;
    timeline_init(&x);
    viewport_lane one = {.id = 999};
    viewport_question q = {
        .from_ns = 0, .to_ns = 10, .width_px = 10, .lanes = &one, .n_lanes = 1};
    assert_int_equal(viewport_make(x.l, &q, &x.a, &v, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_NO_SUCH_LANE);
    timeline_fini(&x);
}

static void too_little_memory_is_a_status(void **state) {
    timeline x;
    viewport v;
    arena tight;
    timeline_init(&x);
    arena_init(&tight, 1000);
    viewport_lane one = {.id = 1};
    viewport_question q = {
        .from_ns = 0, .to_ns = 10, .width_px = 10, .lanes = &one, .n_lanes = 1};
    assert_int_equal(viewport_make(x.l, &q, &tight, &v, NULL), ERR_MEMORY);
    arena_fini(&tight);
    timeline_fini(&x);
}

static void a_range_of_hours_fits_into_32_bits(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    int64_t hour = INT64_C(3600000000000);
    fake_add(&f, host, KIND_OP, "first", 0, 10);
    fake_add(&f, host, KIND_OP, "last", 5 * hour, hour);
    const trace *t = fake_seal(&f);
    lod *l = NULL;
    viewport v;
    viewport_lane one = {.id = 1};
    viewport_question q = {
        .from_ns = 0, .to_ns = 6 * hour, .width_px = 1000, .lanes = &one, .n_lanes = 1};
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    assert_int_equal(viewport_make(l, &q, &f.arena, &v, NULL), OK);
    assert_int_equal(v.n_boxes, 2);
    assert_true(v.end[0] > v.start[0]);
    assert_int_equal((int64_t)v.start[1] << v.unit_shift >> v.unit_shift, v.start[1]);
    assert_true(((int64_t)v.start[1] << v.unit_shift) - 5 * hour <= 1 << v.unit_shift);
    lod_free(l);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slice_is_a_box_when_there_is_room),
        cmocka_unit_test(boxes_are_cut_to_the_range_and_say_so),
        cmocka_unit_test(small_slices_become_one_box_for_a_bucket),
        cmocka_unit_test(wider_buckets_can_be_asked_for_one_lane),
        cmocka_unit_test(an_answer_stays_below_its_limit),
        cmocka_unit_test(a_long_name_keeps_its_ends),
        cmocka_unit_test(utilization_is_the_share_of_each_bucket),
        cmocka_unit_test(a_lane_that_does_not_exist_is_refused),
        cmocka_unit_test(too_little_memory_is_a_status),
        cmocka_unit_test(a_range_of_hours_fits_into_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
