/* lod_rows_test.c: tracks cut into lanes and rows. */
#include "unit/store/lod_helper.h"

static void rows_of_a_lane_count_only_its_own_slices(void **state) {
    scene s;
    scene_init(&s);
    uint32_t t1 = scene_track(&s, 1, 1);
    scene_slice(&s, t1, KIND_PYTHON, "main", 0, 1000);
    scene_slice(&s, t1, KIND_PYTHON, "step", 10, 900);
    scene_slice(&s, t1, KIND_OP, "outer", 20, 800);
    scene_slice(&s, t1, KIND_PYTHON, "inside", 30, 700);
    scene_slice(&s, t1, KIND_OP, "inner", 40, 600);
    scene_slice(&s, t1, KIND_RUNTIME, "call", 50, 100);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    assert_int_equal(l->n_lanes, 4);
    assert_int_equal(l->lanes[1].kind, LANE_WORK);
    assert_int_equal(l->lanes[1].n_rows, 2);
    assert_int_equal(l->lanes[1].n_slices, 2);
    assert_int_equal(l->lanes[1].busy_ns, 800);
    assert_int_equal(l->lanes[2].kind, LANE_CALLS);
    assert_int_equal(l->lanes[2].n_rows, 1);
    assert_int_equal(l->lanes[3].kind, LANE_PYTHON);
    assert_int_equal(l->lanes[3].n_rows, 3);
    uint32_t lane, row, place;
    assert_true(lod_find(l, 5, &lane, &row, &place));
    assert_int_equal(lane, 1);
    assert_int_equal(row, 1);
    assert_int_equal(l->entries[place].id, 5);
    lod_free(l);
    trace_release(t);
}

static void overlapping_kernels_go_to_separate_rows(void **state) {
    scene s;
    scene_init(&s);
    uint32_t stream = scene_track(&s, 0, 7);
    scene_kernel(&s, stream, "a", 0, 0, 100);
    scene_kernel(&s, stream, "b", 0, 50, 100);
    scene_kernel(&s, stream, "c", 0, 60, 10);
    scene_kernel(&s, stream, "d", 0, 200, 10);
    scene_slice(&s, stream, KIND_DEVICE_ANNOTATION, "range", 0, 300);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    uint32_t work = lane_of(l, LANE_STREAM, 0), ranges = lane_of(l, LANE_RANGES, 0);
    assert_int_equal(l->lanes[work].n_rows, 3);
    assert_int_equal(l->lanes[ranges].n_rows, 1);
    assert_int_equal(l->rows[l->lanes[work].first_row].end -
                         l->rows[l->lanes[work].first_row].first,
                     2); /* a and d */
    lod_free(l);
    trace_release(t);
}

static void steps_and_instants_have_lanes(void **state) {
    scene s;
    scene_init(&s);
    uint32_t t1 = scene_track(&s, 1, 1);
    scene_slice(&s, t1, KIND_STEP, "Step#1", 0, 100);
    scene_slice(&s, t1, KIND_STEP, "Step#2", 100, 100);
    scene_instant(&s, t1, "mark", 50);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    assert_int_equal(l->lanes[1].kind, LANE_STEPS);
    assert_int_equal(l->lanes[1].n_slices, 2);
    assert_int_equal(l->lanes[1].n_rows, 1);
    uint32_t instants = lane_of(l, LANE_INSTANTS, 0);
    assert_int_equal(l->lanes[instants].n_slices, 1);
    lod_free(l);
    trace_release(t);
}

/* No two slices of a row overlap, all slices are there once, rows ascend by start. */
static void every_slice_is_on_one_row_and_rows_do_not_overlap(void **state) {
    for (uint32_t seed = 1; seed < 6; seed++) {
        trace *t = random_trace(seed, 800);
        lod *l = lod_of(t);
        uint32_t n = 0;
        for (uint32_t r = 0; r < l->n_rows; r++) {
            lane_kind kind = l->lanes[l->rows[r].lane].kind;
            if (kind == LANE_STEPS || kind == LANE_INSTANTS) continue;
            int64_t end = INT64_MIN;
            for (uint32_t i = l->rows[r].first; i < l->rows[r].end; i++, n++) {
                uint32_t id = l->entries[i].id, lane, row, place;
                assert_int_equal(l->entries[i].start_ns, t->slice.start[id]);
                if (l->rows[r].index < LOD_MAX_ROWS - 1) assert_true(t->slice.start[id] >= end);
                end = trace_slice_end(t, id);
                assert_true(lod_find(l, id, &lane, &row, &place));
                assert_int_equal(place, i);
                assert_int_equal(l->lanes[lane].track, trace_track_of(t, id));
            }
        }
        assert_int_equal(n, t->slice.n - 1);
        lod_free(l);
        trace_release(t);
    }
}

static void a_trace_without_anything_has_no_lanes(void **state) {
    scene s;
    scene_init(&s);
    trace *t = scene_done(&s);
    lod *l = lod_of(t);
    assert_int_equal(l->n_lanes, 1);
    assert_int_equal(l->n_rows, 0);
    assert_int_equal(l->n_names, 0);
    uint32_t lane, row, place;
    assert_false(lod_find(l, 0, &lane, &row, &place));
    assert_false(lod_find(l, 99, &lane, &row, &place));
    lod_free(l);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_lane_count_only_its_own_slices),
        cmocka_unit_test(overlapping_kernels_go_to_separate_rows),
        cmocka_unit_test(steps_and_instants_have_lanes),
        cmocka_unit_test(every_slice_is_on_one_row_and_rows_do_not_overlap),
        cmocka_unit_test(a_trace_without_anything_has_no_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
