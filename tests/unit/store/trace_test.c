/* trace_test.c: the life of a trace and the questions asked of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "unit/store/sample_trace.h"

static void trace_of_a_slice_is_found_by_its_tracks_range(void **state) {
    trace *t = sample_trace();
    assert_int_equal(trace_track_of(t, 0), 0);
    assert_int_equal(trace_track_of(t, 1), 1);
    assert_int_equal(trace_track_of(t, 3), 1);
    assert_int_equal(trace_track_of(t, 4), 2);
    assert_int_equal(trace_track_of(t, 5), 3);
    assert_int_equal(trace_track_of(t, 6), 0);
    trace_release(t);
}

static void trace_lower_bound_finds_the_first_slice_at_or_after_a_time(void **state) {
    trace *t = sample_trace();
    assert_int_equal(trace_lower_bound(t, 1, INT64_MIN), 1);
    assert_int_equal(trace_lower_bound(t, 1, 10000), 1);
    assert_int_equal(trace_lower_bound(t, 1, 10001), 2);
    assert_int_equal(trace_lower_bound(t, 1, 25000), 3);
    assert_int_equal(trace_lower_bound(t, 1, 25001), 4);
    assert_int_equal(trace_lower_bound(t, 2, 0), 4);
    trace_release(t);
}

static void trace_rows_of_a_slice_are_found_or_zero(void **state) {
    trace *t = sample_trace();
    assert_int_equal(trace_op_of(t, 2), 2);
    assert_int_equal(trace_op_of(t, 3), 0);
    assert_int_equal(trace_op_of(t, 0), 0);
    assert_int_equal(trace_kernel_of(t, 4), 1);
    assert_int_equal(trace_kernel_of(t, 5), 0);
    assert_int_equal(trace_call_of(t, 3), 1);
    assert_int_equal(trace_comm_of(t, 3), 0);
    assert_int_equal(trace_module_call_of(t, 1), 0);
    trace_release(t);
}

static void trace_meta_quality_and_steps_answer(void **state) {
    trace *t = sample_trace();
    assert_true(str_eq(trace_meta(t, STR("schemaVersion")), STR("1")));
    assert_null(trace_meta(t, STR("nothing")).p);
    assert_int_equal(trace_quality(t, CAUSE_TRAILING_COMMA), 3);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 0);
    assert_int_equal(trace_step_at(t, 9999), 0);
    assert_int_equal(trace_step_at(t, 10000), 1);
    assert_int_equal(trace_step_at(t, 100499), 1);
    assert_int_equal(trace_step_at(t, 100500), 0);
    assert_int_equal(t->kind_count[KIND_OP], 1);
    assert_int_equal(t->kind_count[KIND_OTHER], 0);
    assert_true(trace_size_bytes(t) > 500);
    assert_int_equal(trace_str(t, UINT32_MAX).n, 0);
    trace_release(t);
}

/* Steps 1 [0,100) and 2 [100,200). Slice 1 is a kernel at 120 that was launched by the call at
 * 50, slice 2 a kernel at 150 without a known launch; slice 3 is the call. */
static trace *stepped_trace(bool with_calls) {
    static const int64_t starts[] = {0, 120, 150, 50};
    maker m;
    maker_init(&m);
    maker_table(&m, TABLE_slice, 4);
    maker_table(&m, TABLE_kernel, 3);
    maker_table(&m, TABLE_step, 3);
    for (uint32_t i = 1; i < 4; i++) {
        SET(&m, slice, start)[i] = starts[i];
        SET(&m, slice, dur)[i] = 5;
        SET(&m, slice, kind)[i] = i < 3 ? KIND_KERNEL : KIND_RUNTIME;
    }
    for (uint32_t k = 1; k < 3; k++) SET(&m, kernel, slice)[k] = k;
    if (with_calls) {
        maker_table(&m, TABLE_call, 2);
        SET(&m, call, slice)[1] = 3;
        SET(&m, kernel, launch)[1] = 3;
    }
    for (uint32_t i = 1; i < 3; i++) {
        SET(&m, step, start)[i] = 100 * (i - 1);
        SET(&m, step, end)[i] = 100 * i;
        SET(&m, step, number)[i] = i;
    }
    return maker_done(&m);
}

static void trace_step_of_device_work_is_the_step_of_its_launch(void **state) {
    trace *t = stepped_trace(true);
    assert_int_equal(trace_step_of(t, 1), 1);
    assert_int_equal(trace_step_of(t, 2), 0);
    assert_int_equal(trace_step_of(t, 3), 1);
    assert_int_equal(trace_step_of_work(t, 1), 1);
    assert_int_equal(trace_step_of_work(t, 2), 0);
    trace_release(t);
}

static void trace_step_of_device_work_without_any_calls_is_where_it_starts(void **state) {
    trace *t = stepped_trace(false);
    assert_int_equal(trace_step_of(t, 1), 2);
    assert_int_equal(trace_step_of_work(t, 2), 2);
    trace_release(t);
}

/* One track: 1 [0,10] holds 2 [0,4] holds 3 [4,4] (empty, at its end); 4 [4,10] is 2's sibling;
 * 5 [5,15] spills out of 1; 6 [6,7] is inside 4. */
static trace *nested_trace(void) {
    static const int64_t rows[][4] = {
        {0, 0, 0, 0}, {0, 10, 0, 0}, {0, 4, 1, 1}, {4, 0, 2, 2},
        {4, 6, 1, 1}, {5, 10, 0, 0}, {6, 1, 4, 2}, {20, 1, 0, 0},
    };
    maker m;
    maker_init(&m);
    maker_table(&m, TABLE_track, 2);
    SET(&m, track, first)[1] = 1;
    SET(&m, track, end)[1] = 8;
    maker_table(&m, TABLE_slice, 8);
    for (uint32_t i = 0; i < 8; i++) {
        SET(&m, slice, start)[i] = rows[i][0];
        SET(&m, slice, dur)[i] = rows[i][1];
        SET(&m, slice, parent)[i] = (uint32_t)rows[i][2];
        SET(&m, slice, depth)[i] = (uint16_t)rows[i][3];
    }
    return maker_done(&m);
}

static void trace_subtree_ends_after_the_last_descendant(void **state) {
    trace *t = nested_trace();
    assert_int_equal(trace_subtree_end(t, 1), 7);
    assert_int_equal(trace_subtree_end(t, 2), 4);
    assert_int_equal(trace_subtree_end(t, 3), 4);
    assert_int_equal(trace_subtree_end(t, 4), 7);
    assert_int_equal(trace_subtree_end(t, 5), 6);
    assert_int_equal(trace_subtree_end(t, 7), 8);
    trace_release(t);
}

static int n_released;

static void count_release(void *p, size_t bytes) {
    n_released += (int)bytes;
}

static void trace_gives_back_what_it_owns_with_the_last_reference(void **state) {
    int something;
    trace *t = trace_alloc();
    assert_non_null(t);
    trace_own(t, &something, 7, count_release);
    trace_own_map(t, NULL, 9); /* nothing to own */
    assert_ptr_equal(trace_retain(t), t);
    n_released = 0;
    trace_release(t);
    assert_int_equal(n_released, 0);
    trace_release(t);
    assert_int_equal(n_released, 7);
    trace_release(NULL);
}

static void trace_column_table_matches_the_struct(void **state) {
    trace *t = sample_trace();
    assert_ptr_equal(trace_column(t, COLUMN_slice_start), t->slice.start);
    assert_ptr_equal(trace_column(t, COLUMN_producer_step_duration), t->producer_step.duration);
    assert_int_equal(trace_rows(t, TABLE_slice), 6);
    assert_string_equal(COLUMN_INFO[COLUMN_kernel_op].table_name, "kernel");
    assert_string_equal(COLUMN_INFO[COLUMN_kernel_op].name, "op");
    assert_int_equal(COLUMN_INFO[COLUMN_kernel_op].target, TABLE_slice);
    assert_int_equal(COLUMN_INFO[COLUMN_kernel_op].type, TYPE_REF);
    assert_int_equal(COLUMN_INFO[COLUMN_slice_depth].elem_bytes, 2);
    int next = 0;
    for (int i = 0; i < N_TABLES; i++) {
        assert_int_equal(TABLE_INFO[i].first_column, next);
        next = TABLE_INFO[i].end_column;
        for (int c = TABLE_INFO[i].first_column; c < next; c++)
            assert_int_equal(COLUMN_INFO[c].table, i);
    }
    assert_int_equal(next, N_COLUMNS);
    trace_release(t);
}

static void trace_require_of_a_trace_in_memory_is_free(void **state) {
    trace *t = sample_trace();
    assert_int_equal(trace_require(t, TRACE_ALL, NULL), OK);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_of_a_slice_is_found_by_its_tracks_range),
        cmocka_unit_test(trace_lower_bound_finds_the_first_slice_at_or_after_a_time),
        cmocka_unit_test(trace_rows_of_a_slice_are_found_or_zero),
        cmocka_unit_test(trace_meta_quality_and_steps_answer),
        cmocka_unit_test(trace_step_of_device_work_is_the_step_of_its_launch),
        cmocka_unit_test(trace_step_of_device_work_without_any_calls_is_where_it_starts),
        cmocka_unit_test(trace_subtree_ends_after_the_last_descendant),
        cmocka_unit_test(trace_gives_back_what_it_owns_with_the_last_reference),
        cmocka_unit_test(trace_column_table_matches_the_struct),
        cmocka_unit_test(trace_require_of_a_trace_in_memory_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
