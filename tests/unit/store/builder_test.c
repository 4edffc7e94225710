/* builder_test.c: rows as they arrive, and argument records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fault.h"
#include "store/args.h"
#include "unit/ingest/read_helper.h"

static builder *b;
static part *p;

static int start(void **state) {
    b = builder_new();
    p = builder_part(b);
    return b && p ? 0 : 1;
}

static int end(void **state) {
    builder_free(b);
    return 0;
}

static uint32_t string(const char *text) {
    return intern_add(builder_strings(b), str_of(text));
}

static trace *seal(void) {
    trace *t = NULL;
    error err;
    assert_int_equal(builder_seal(b, NULL, &t, &err), OK);
    return t;
}

static void a_shape_is_a_path_of_keys(void **state) {
    uint32_t x = builder_shape(b, 0, string("x")), xy = builder_shape(b, x, string("y")),
             y = builder_shape(b, 0, string("y"));
    assert_true(x && xy && y && x != y && xy != y && x < xy);
    assert_int_equal(builder_shape(b, 0, string("x")), x);
    assert_int_equal(builder_shape(b, x, string("y")), xy);
    assert_int_not_equal(builder_shape(b, 0, 0), ARGS_SHAPE_RAW);
}

static void a_category_has_one_row(void **state) {
    uint16_t a = builder_category(b, string("a")), c = builder_category(b, string("c"));
    assert_true(a && c && a != c);
    assert_int_equal(builder_category(b, string("a")), a);
}

static void beyond_65535_categories_the_others_have_none(void **state) {
    char name[16];
    uint16_t last = 0;
    for (int i = 0; i < 65535; i++) {
        snprintf(name, sizeof name, "c%d", i);
        last = builder_category(b, string(name));
        assert_int_equal(last, i + 1);
    }
    assert_int_equal(builder_category(b, string("one more")), 0);
    assert_int_equal(builder_category(b, string("c7")), 8);
    trace_release(seal());
}

static void a_track_of_a_part_is_asked_for_by_its_ids(void **state) {
    ident one = {1, false}, two = {2, false}, text = {1, true};
    uint32_t a = part_track(p, one, one);
    assert_int_equal(part_track(p, one, one), a);
    assert_int_not_equal(part_track(p, one, two), a);
    assert_int_not_equal(part_track(p, text, one), a);
    assert_int_not_equal(part_track(p, one, text), a);
    assert_int_equal(part_track(p, one, one), a);
}

static void add_slice(uint32_t args, int64_t start_ns) {
    raw_slice row = {.start = start_ns,
                     .dur = 1,
                     .args = args,
                     .track = part_track(p, (ident){1, false}, (ident){1, false})};
    assert_int_equal(part_slice(p, &row), OK);
}

static void expected_rows_may_be_missing_and_need_no_memory(void **state) {
    uint64_t before = builder_size_bytes(b);
    part_expect(p, 1 << 20, 1 << 20);
    assert_true(builder_size_bytes(b) == before);
    fault_arm(FAULT_ALLOC, 1);
    part_expect(p, 1 << 22, 0); /* a wish that is not granted */
    fault_arm(FAULT_ALLOC, 0);
    part_expect(p, UINT64_MAX / 2, UINT64_MAX / 2);
    add_slice(0, 5);
    assert_int_equal(part_slice_at(p, 0)->start, 5);
    trace *t = seal();
    assert_int_equal(t->slice.n, 2);
    trace_release(t);
}

static void values_of_every_kind_come_back_from_a_record(void **state) {
    uint32_t place[4];
    place[0] = builder_shape(b, 0, string("i"));
    place[1] = builder_shape(b, place[0], string("d"));
    place[2] = builder_shape(b, place[1], string("s"));
    place[3] = builder_shape(b, place[2], string("r"));
    static const int64_t numbers[] = {0, -1, INT64_MAX, INT64_MIN, 5, INT64_MAX};
    for (int k = 0; k < 6; k++) {
        raw_value v[] = {{place[0], VALUE_INT, 0, numbers[k]},
                         {place[1], VALUE_DECIMAL, 3, -1500 + k},
                         {place[2], VALUE_STRING, 0, string("t\n")},
                         {place[3], VALUE_RAW, 0, string("[1, 2]")}};
        add_slice(part_args(p, v, 4), k);
    }
    trace *t = seal();
    for (int k = 0; k < 6; k++) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "{\"i\":%lld,\"d\":-1.%d,\"s\":\"t\\n\",\"r\":[1, 2]}", (long long)numbers[k],
                 500 - k);
        assert_string_equal(args_text(t, t->slice.args[k + 1]), expected);
    }
    trace_release(t);
}

static void an_empty_record_is_absent_and_a_raw_one_is_its_text(void **state) {
    assert_int_equal(part_args(p, NULL, 0), 0);
    add_slice(part_args_raw(p, string("{\"a\": [1]}")), 0);
    trace *t = seal();
    assert_string_equal(args_text(t, t->slice.args[1]), "{\"a\": [1]}");
    trace_release(t);
}

static void records_of_two_parts_do_not_mix(void **state) {
    part *q = builder_part(b);
    uint32_t place = builder_shape(b, 0, string("i"));
    uint32_t record[2][1000];
    for (int i = 0; i < 1000; i++) {
        record[0][i] = part_args(p, &(raw_value){place, VALUE_INT, 0, i * 3}, 1);
        record[1][i] = part_args(q, &(raw_value){place, VALUE_INT, 0, -i}, 1);
    }
    part_finish(q);
    trace *t = seal();
    for (int i = 0; i < 1000; i += 99) {
        char expected[32];
        snprintf(expected, sizeof expected, "{\"i\":%d}", i * 3);
        assert_string_equal(args_text(t, record[0][i]), expected);
        snprintf(expected, sizeof expected, "{\"i\":%d}", -i);
        assert_string_equal(args_text(t, record[1][i]), expected);
    }
    trace_release(t);
}

static void of_losses_the_first_offset_and_its_example_are_kept(void **state) {
    part *q = builder_part(b);
    part_lost(p, CAUSE_BAD_UTF8, 70, string("seventy"));
    part_lost(q, CAUSE_BAD_UTF8, 50, string("fifty"));
    part_lost(q, CAUSE_BAD_UTF8, 60, string("sixty"));
    part_lost(q, CAUSE_BAD_UTF8, 40, string("forty"));
    part_lost(p, CAUSE_TRUNCATED, NOPOS, 0);
    assert_int_equal(part_loss_count(q, CAUSE_BAD_UTF8), 3);
    part_count(p, 10, 1);
    part_count(q, 5, 2);
    trace *t = seal();
    assert_int_equal(t->events_read, 15);
    assert_int_equal(t->events_dropped, 3);
    assert_int_equal(t->quality.n, 3);
    assert_int_equal(trace_quality(t, CAUSE_BAD_UTF8), 4);
    assert_int_equal(t->quality.offset[2], 40);
    assert_string_equal(text_of_id(t, t->quality.example[2]), "forty");
    assert_int_equal(t->quality.offset[1], ABSENT_I64);
    trace_release(t);
}

static void losses_without_end_saturate(void **state) {
    part *q = builder_part(b);
    for (int i = 0; i < 3; i++) part_lost_many(p, CAUSE_RECORDER_NAMES, UINT64_MAX);
    part_lost_many(q, CAUSE_RECORDER_NAMES, UINT64_MAX);
    assert_true(part_loss_count(p, CAUSE_RECORDER_NAMES) == INT64_MAX);
    trace *t = seal();
    assert_true(trace_quality(t, CAUSE_RECORDER_NAMES) == INT64_MAX);
    trace_release(t);
}

static void a_cleared_builder_forgets_its_rows(void **state) {
    add_slice(part_args(p, &(raw_value){builder_shape(b, 0, string("i")), VALUE_INT, 0, 7}, 1),
              5);
    part_lost(p, CAUSE_BAD_UTF8, 1, 0);
    builder_set_base_unix_ns(b, 99);
    assert_int_equal(builder_add_meta(b, string("k"), string("v"), NULL), OK);
    assert_true(builder_size_bytes(b) >= sizeof(raw_slice));
    assert_int_equal(builder_category(b, string("forgotten")), 1);
    builder_clear(b);
    p = builder_part(b);
    assert_int_equal(builder_category(b, string("kept")), 1);
    uint32_t place = builder_shape(b, 0, string("j"));
    add_slice(part_args(p, &(raw_value){place, VALUE_INT, 0, 8}, 1), 9);
    trace *t = seal();
    assert_int_equal(t->category.n, 2);
    assert_string_equal(text_of_id(t, t->category.name[1]), "kept");
    assert_string_equal(args_text(t, t->slice.args[1]), "{\"j\":8}");
    assert_int_equal(t->n_shapes, 3);
    assert_int_equal(t->slice.n, 2);
    assert_int_equal(t->slice.start[1], 9);
    assert_int_equal(t->quality.n, 1);
    assert_int_equal(t->meta.n, 1);
    assert_int_equal(t->base_unix_ns, ABSENT_I64);
    trace_release(t);
}

static void a_lost_record_makes_the_seal_fail(void **state) {
    uint32_t place = builder_shape(b, 0, string("i"));
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(part_args(p, &(raw_value){place, VALUE_INT, 0, 7}, 1), 0);
    fault_arm(FAULT_ALLOC, 0);
    trace *t = NULL;
    error err;
    assert_int_equal(builder_seal(b, NULL, &t, &err), ERR_MEMORY);
    assert_int_equal(err.message, MSG_OUT_OF_MEMORY);
    assert_null(t);
}

static void a_builder_is_made_whole_or_not_at_all(void **state) {
    bool hit = true;
    for (uint64_t nth = 1; hit; nth++) {
        fault_arm(FAULT_ALLOC, nth);
        builder *other = builder_new();
        part *its = other ? builder_part(other) : NULL;
        hit = fault_count(FAULT_ALLOC) >= nth;
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(hit, its == NULL);
        builder_free(other);
        assert_true(nth < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_shape_is_a_path_of_keys, start, end),
        cmocka_unit_test_setup_teardown(a_category_has_one_row, start, end),
        cmocka_unit_test_setup_teardown(beyond_65535_categories_the_others_have_none, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_track_of_a_part_is_asked_for_by_its_ids, start, end),
        cmocka_unit_test_setup_teardown(expected_rows_may_be_missing_and_need_no_memory, start,
                                        end),
        cmocka_unit_test_setup_teardown(values_of_every_kind_come_back_from_a_record, start,
                                        end),
        cmocka_unit_test_setup_teardown(an_empty_record_is_absent_and_a_raw_one_is_its_text,
                                        start, end),
        cmocka_unit_test_setup_teardown(records_of_two_parts_do_not_mix, start, end),
        cmocka_unit_test_setup_teardown(of_losses_the_first_offset_and_its_example_are_kept,
                                        start, end),
        cmocka_unit_test_setup_teardown(losses_without_end_saturate, start, end),
        cmocka_unit_test_setup_teardown(a_cleared_builder_forgets_its_rows, start, end),
        cmocka_unit_test_setup_teardown(a_lost_record_makes_the_seal_fail, start, end),
        cmocka_unit_test_setup_teardown(a_builder_is_made_whole_or_not_at_all, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
