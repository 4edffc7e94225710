/* merge_test.c: several traces as one: what stays, what moves, what must not be mixed up. Whether the
 * result keeps the promises of a sealed trace is asked of the checks for foreign files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/mem.h"
#include "store/merge.h"
#include "unit/store/file_helper.h"

static trace *merge_two(trace *a, const char *name_a, trace *b, const char *name_b,
                        uint32_t *n_clockless) {
    merge_input in[] = {{a, str_of(name_a), false}, {b, str_of(name_b), false}};
    trace *t = NULL;
    assert_int_equal(trace_merge(in, 2, &t, n_clockless, NULL), OK);
    trace_release(a);
    trace_release(b);
    return t;
}

/* The sample twice, the second by so many ns later. */
static trace *merge_samples(const char *a, const char *b, int64_t later_ns) {
    trace *first = sample_trace(), *second = sample_trace();
    uint32_t n_clockless = 9;
    second->base_unix_ns += later_ns;
    trace *t = merge_two(first, a, second, b, &n_clockless);
    assert_int_equal(n_clockless, 0);
    return t;
}

static void merged_trace_keeps_the_promises_of_a_sealed_one(void **state) {
    trace *t = merge_samples("a", "b", 2500000);
    assert_int_equal(file_write(t, path, STR_NONE, NULL), OK);
    assert_int_equal(open_and_require(), OK);
    trace_release(t);
    unlink(path);
}

static void every_row_of_every_table_is_there(void **state) {
    trace *one = sample_trace(), *t = merge_samples("a", "b", 0);
    for (int table = 0; table < N_TABLES; table++) {
        if (table == TABLE_category || table == TABLE_meta || table == TABLE_quality) continue;
        assert_int_equal(trace_rows(t, table) - 1, 2 * (trace_rows(one, table) - 1));
    }
    assert_int_equal(t->category.n, one->category.n); /* the same words */
    for (int kind = 0; kind < N_KINDS; kind++)
        assert_int_equal(t->kind_count[kind], 2 * one->kind_count[kind]);
    assert_int_equal(t->events_read, 2 * one->events_read);
    assert_true(str_eq(t->format, STR("kineto")));
    trace_release(t);
    trace_release(one);
}

static void times_move_by_the_difference_of_the_times_of_day(void **state) {
    trace *one = sample_trace(), *t = merge_samples("a", "b", 2500125);
    uint32_t n = one->slice.n - 1;
    for (uint32_t i = 1; i <= n; i++) {
        assert_int_equal(t->slice.start[i], one->slice.start[i]);
        assert_int_equal(t->slice.start[i + n], one->slice.start[i] + 2500125);
        assert_int_equal(t->slice.dur[i + n], one->slice.dur[i]);
    }
    assert_int_equal(t->step.start[2], one->step.start[1] + 2500125);
    assert_int_equal(t->start_ns, one->start_ns);
    assert_int_equal(t->end_ns, one->end_ns + 2500125);
    assert_int_equal(t->base_unix_ns, one->base_unix_ns);
    trace_release(t);
    trace_release(one);
}

static void a_trace_that_began_earlier_is_put_before_the_first(void **state) {
    trace *one = sample_trace(), *t = merge_samples("a", "b", -1000);
    assert_int_equal(t->slice.start[one->slice.n], one->slice.start[1] - 1000);
    assert_int_equal(t->start_ns, one->start_ns - 1000);
    /* Points are sorted by time, so the second input's come first. */
    assert_int_equal(t->memory.time[1], one->memory.time[1] - 1000);
    assert_int_equal(t->memory.time[2], one->memory.time[1]);
    assert_int_equal(t->memory.track[1], one->track.n);
    trace_release(t);
    trace_release(one);
}

static void links_stay_inside_their_own_trace(void **state) {
    trace *one = sample_trace(), *t = merge_samples("a", "b", 0);
    uint32_t n = one->slice.n - 1;
    assert_int_equal(t->kernel.slice[2], one->kernel.slice[1] + n);
    assert_int_equal(t->kernel.launch[2], one->kernel.launch[1] + n);
    assert_int_equal(t->kernel.op[2], one->kernel.op[1] + n);
    assert_int_equal(t->slice.parent[2 + n], 1 + n);
    assert_int_equal(t->slice.parent[1 + n], 0);
    assert_int_equal(t->flow.from[2], one->flow.from[1] + n);
    /* Equal ids would be the same call to a reader of an export. */
    assert_int_equal(t->kernel.correlation[1], 7);
    assert_int_equal(t->call.correlation[2], t->kernel.correlation[2]);
    assert_int_not_equal(t->kernel.correlation[2], 7);
    assert_int_not_equal(t->op.external[3], t->op.external[1]);
    assert_int_not_equal(t->flow.id[2], t->flow.id[1]);
    trace_release(t);
    trace_release(one);
}

static void processes_and_devices_of_two_workers_are_distinguished(void **state) {
    trace *t = merge_samples("rank0", "rank1", 0);
    assert_int_equal(t->process.pid[1], 100);
    assert_int_equal(t->process.pid[4], 1000100);
    assert_true(str_eq(trace_str(t, t->process.name[1]), STR("python (rank0)")));
    assert_true(str_eq(trace_str(t, t->process.name[4]), STR("python (rank1)")));
    assert_true(str_eq(trace_str(t, t->process.name[2]), STR("rank0")));
    assert_true(str_eq(trace_str(t, t->process.pid_text[6]), STR("Spans (rank1)")));
    assert_int_equal(t->device.id[1], 0);
    assert_int_equal(t->device.id[2], 1);
    assert_int_equal(t->kernel.device[2], 1);
    assert_int_equal(t->track.device[5], 1);
    assert_int_equal(t->memory.device[2], 1);
    assert_true(str_eq(trace_meta(t, STR("merged workers")), STR("[\"rank0\",\"rank1\"]")));
    trace_release(t);
}

static void two_recordings_of_one_worker_keep_their_numbers(void **state) {
    trace *t = merge_samples("rank0", "rank0", 1000000);
    assert_int_equal(t->process.pid[4], 100);
    assert_int_equal(t->kernel.device[2], 0);
    assert_true(str_eq(trace_str(t, t->process.pid_text[6]), STR("Spans")));
    assert_int_not_equal(t->kernel.correlation[2], t->kernel.correlation[1]);
    trace_release(t);
}

static void arguments_say_the_same_as_before(void **state) {
    trace *one = sample_trace(), *t = merge_samples("a", "b", 0);
    uint32_t n = one->slice.n - 1, seen = 0;
    for (uint32_t i = 1; i <= n; i++) {
        buf want = {0}, first = {0}, second = {0};
        assert_int_equal(trace_args_json(one, one->slice.args[i], &want, NULL), OK);
        assert_int_equal(trace_args_json(t, t->slice.args[i], &first, NULL), OK);
        assert_int_equal(trace_args_json(t, t->slice.args[i + n], &second, NULL), OK);
        assert_true(str_eq(buf_str(&want), buf_str(&first)));
        assert_true(str_eq(buf_str(&want), buf_str(&second)));
        seen += one->slice.args[i] != 0;
        buf_fini(&want);
        buf_fini(&first);
        buf_fini(&second);
    }
    assert_true(seen > 2);
    trace_release(t);
    trace_release(one);
}

static void only_metadata_all_agree_about_is_kept(void **state) {
    maker m;
    maker_init(&m);
    maker_table(&m, TABLE_meta, 2);
    SET(&m, meta, key)[1] = maker_str(&m, "distributedInfo");
    SET(&m, meta, value)[1] = maker_str(&m, "{\"rank\": 1}");
    trace *other = maker_done(&m);
    uint32_t n_clockless;
    trace *t = merge_two(sample_trace(), "a", other, "b", &n_clockless);
    assert_null(trace_meta(t, STR("distributedInfo")).p);
    assert_null(trace_meta(t, STR("deviceProperties")).p);
    assert_int_equal(n_clockless, 1); /* that one tells no time */
    trace_release(t);
}

static void a_trace_without_a_clock_begins_with_the_others(void **state) {
    trace *a = sample_trace(), *b = sample_trace();
    uint32_t n_clockless;
    b->base_unix_ns = ABSENT_I64;
    int64_t start = a->start_ns;
    trace *t = merge_two(a, "a", b, "b", &n_clockless);
    assert_int_equal(n_clockless, 1);
    assert_int_equal(t->start_ns, start);
    trace_release(t);
    a = sample_trace();
    b = sample_trace();
    a->base_unix_ns = b->base_unix_ns = ABSENT_I64;
    t = merge_two(a, "a", b, "b", &n_clockless);
    assert_int_equal(n_clockless, 0); /* none has one: nothing to complain about */
    assert_int_equal(t->base_unix_ns, ABSENT_I64);
    trace_release(t);
}

static void a_clock_ages_away_is_not_believed(void **state) {
    trace *a = sample_trace(), *b = sample_trace();
    uint32_t n_clockless;
    a->base_unix_ns = INT64_MIN + 1;
    b->base_unix_ns = INT64_MAX;
    trace *t = merge_two(a, "a", b, "b", &n_clockless);
    assert_int_equal(n_clockless, 1);
    assert_int_equal(file_write(t, path, STR_NONE, NULL), OK);
    assert_int_equal(open_and_require(), OK);
    trace_release(t);
    unlink(path);
}

static void named_devices_keep_their_words(void **state) {
    trace *in[2];
    static const char *const words[] = {"dsp", "fpga"};
    for (int k = 0; k < 2; k++) {
        maker m;
        maker_init(&m);
        maker_table(&m, TABLE_device_word, k ? 3 : 2);
        for (int i = 0; i <= k; i++) {
            SET(&m, device_word, type)[i + 1] = (uint8_t)(DEVICE_NAMED + i);
            SET(&m, device_word, name)[i + 1] = maker_str(&m, words[k ? i : 1]);
        }
        maker_table(&m, TABLE_device, 2);
        SET(&m, device, id)[1] = k;
        SET(&m, device, type)[1] = (uint8_t)(DEVICE_NAMED + k); /* fpga in both */
        in[k] = maker_done(&m);
    }
    uint32_t n_clockless;
    trace *t = merge_two(in[0], "a", in[1], "b", &n_clockless);
    assert_int_equal(t->device_word.n, 3);
    assert_true(str_eq(trace_str(t, t->device_word.name[1]), STR("fpga")));
    assert_true(str_eq(trace_str(t, t->device_word.name[2]), STR("dsp")));
    assert_int_equal(t->device_word.type[2], DEVICE_NAMED + 1);
    assert_int_equal(t->device.type[1], DEVICE_NAMED);
    assert_int_equal(t->device.type[2], DEVICE_NAMED);
    trace_release(t);
}

static void host_memory_is_that_of_all_processes(void **state) {
    trace *in[2];
    for (int k = 0; k < 2; k++) {
        maker m;
        maker_init(&m);
        maker_table(&m, TABLE_memory, 3);
        for (uint32_t i = 1; i < 3; i++) {
            SET(&m, memory, time)[i] = 100 * (int64_t)i + k;
            SET(&m, memory, bytes)[i] = 10 + k;
            SET(&m, memory, allocated)[i] = (10 + k) * (int64_t)i;
            SET(&m, memory, kind)[i] = MEMORY_ALLOC;
        }
        in[k] = maker_done(&m);
    }
    uint32_t n_clockless;
    trace *t = merge_two(in[0], "a", in[1], "b", &n_clockless);
    static const int64_t want[] = {10, 21, 31, 42};
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(t->memory.allocated[i + 1], want[i]);
    trace_release(t);
}

static void merging_survives_any_failed_allocation(void **state) {
    trace *a = sample_trace(), *b = sample_trace();
    merge_input in[] = {{a, STR("a"), false}, {b, STR("b"), false}};
    uint64_t before = mem_mapped_bytes();
    bool hit = true;
    for (uint64_t nth = 1; hit; nth++) {
        trace *t = NULL;
        uint32_t n_clockless;
        error err = {0};
        fault_arm(FAULT_ALLOC, nth);
        status s = trace_merge(in, 2, &t, &n_clockless, &err);
        hit = fault_count(FAULT_ALLOC) >= nth;
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(s, hit ? ERR_MEMORY : OK);
        trace_release(t);
        assert_int_equal(mem_mapped_bytes(), before);
    }
    trace_release(a);
    trace_release(b);
}

static void a_helper_has_no_steps_of_the_whole(void **state) {
    trace *one = sample_trace(), *helper = sample_trace(), *t = NULL;
    uint32_t n_clockless;
    merge_input in[] = {{one, STR("a"), false}, {helper, STR("a.loader_9"), true}};
    helper->base_unix_ns -= 500;
    assert_true(one->step.n > 1);
    assert_int_equal(trace_merge(in, 2, &t, &n_clockless, NULL), OK);
    assert_int_equal(t->step.n, one->step.n);
    assert_int_equal(t->base_unix_ns + t->start_ns, one->base_unix_ns + one->start_ns);
    assert_int_equal(t->end_ns - t->start_ns, one->end_ns - one->start_ns);
    for (uint32_t i = 1; i < one->step.n; i++)
        assert_int_equal(t->step.slice[i], one->step.slice[i]);
    assert_int_equal(t->slice.n - 1, 2 * (one->slice.n - 1));
    trace_release(t);
    trace_release(one);
    trace_release(helper);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(merged_trace_keeps_the_promises_of_a_sealed_one,
                                        make_folder, remove_folder),
        cmocka_unit_test(every_row_of_every_table_is_there),
        cmocka_unit_test(times_move_by_the_difference_of_the_times_of_day),
        cmocka_unit_test(a_trace_that_began_earlier_is_put_before_the_first),
        cmocka_unit_test(links_stay_inside_their_own_trace),
        cmocka_unit_test(processes_and_devices_of_two_workers_are_distinguished),
        cmocka_unit_test(two_recordings_of_one_worker_keep_their_numbers),
        cmocka_unit_test(arguments_say_the_same_as_before),
        cmocka_unit_test(only_metadata_all_agree_about_is_kept),
        cmocka_unit_test(a_trace_without_a_clock_begins_with_the_others),
        cmocka_unit_test_setup_teardown(a_clock_ages_away_is_not_believed, make_folder,
                                        remove_folder),
        cmocka_unit_test(named_devices_keep_their_words),
        cmocka_unit_test(host_memory_is_that_of_all_processes),
        cmocka_unit_test(a_helper_has_no_steps_of_the_whole),
        cmocka_unit_test(merging_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
