/* names_test.c: worker, stamp and rank out of names; the order of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "session/names_int.h"

static void the_worker_is_what_precedes_stamp_and_suffix(void **state) {
    static const struct {
        const char *file, *worker, *stamp;
        int packing;
    } cases[] = {
        {"a.b.123.pt.trace.json", "a.b", "123", 0},
        {"123.pt.trace.json", "123", "", 0},
        {"host_42.1623212756351.pt.trace.json.gz", "host_42", "1623212756351", 1},
        {"w.pt.trace.json.zst", "w", "", 2},
        {"rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", "rank-0.Apr_03_18_51_38", "1102", 1},
        {"a.1.2.pt.trace.json", "a.1", "2", 0},
        {"w.77.tacho", "w", "77", 0},
        {"w.tacho", "w", "", 0},
        {"w.77.tacho.gz", "w", "77", 1},
        {"w.tacho.zst", "w", "", 2},
        {"w.12x.pt.trace.json", "w.12x", "", 0},
        {"host_apid_7_time_2024_01_02_03_04_05_000006.paddle_trace.json", "host_apid_7",
         "2024_01_02_03_04_05_000006", 0},
        {"a_time_b_time_2.paddle_trace.pb.gz", "a_time_b", "2", 1},
        {"plain.paddle_trace.pb", "plain", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trace_name n;
        assert_true(name_parse(str_of(cases[i].file), &n));
        assert_true(str_eq(n.worker, str_of(cases[i].worker)));
        assert_true(str_eq(n.stamp, str_of(cases[i].stamp)));
        assert_int_equal(n.packing, cases[i].packing);
    }
}

static void other_names_are_not_taken_for_traces(void **state) {
    static const char *const names[] = {"key_averages.json",  ".pt.trace.json",
                                        "x.pt.trace.json.xz", "x.pt.trace",
                                        "x.tacho.xz",         "",
                                        "pt.trace.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        trace_name n;
        assert_false(name_parse(str_of(names[i]), &n));
    }
    assert_true(name_may_be_trace(STR("x.json.gz")));
    assert_true(name_may_be_trace(STR("x.trace")));
    assert_true(name_may_be_trace(STR("x.pickle")));
    assert_true(name_may_be_trace(STR("x_kernel_trace.csv")));
    assert_false(name_may_be_trace(STR("x_kernel_stats.csv")));
    assert_false(name_may_be_trace(STR("x.pt")));
    assert_false(name_may_be_trace(STR("x.gz")));
}

static void megengine_names_its_files_after_the_process(void **state) {
    trace_name n;
    assert_true(name_parse(STR("7001.chrome_timeline.json.gz"), &n));
    assert_true(str_eq(n.worker, STR("7001")));
    assert_true(str_eq(n.stamp, STR("")));
    assert_int_equal(n.packing, 1);
    assert_true(name_parse(STR("7001.memory_flow.svg"), &n));
    assert_true(str_eq(n.worker, STR("7001.memory_flow")));
    assert_false(name_parse(STR(".chrome_timeline.json"), &n));
    assert_false(name_parse(STR("chrome_timeline.json"), &n));
}

static void xla_names_its_files_after_the_host(void **state) {
    trace_name n;
    str host;
    assert_true(name_parse(STR("34.83.195.179_6003.xplane.pb"), &n));
    assert_true(str_eq(n.worker, STR("34.83.195.179_6003")));
    assert_true(str_eq(n.stamp, STR("")));
    assert_true(n.host);
    assert_true(name_parse(STR("vm.xplane.pb.gz"), &n));
    assert_int_equal(n.packing, 1);
    assert_false(name_parse(STR(".xplane.pb"), &n));
    assert_true(name_may_be_trace(STR("profile.pb")));
    assert_true(name_is_retold(STR("vm.trace.json.gz"), &host));
    assert_true(str_eq(host, STR("vm")));
    assert_true(name_is_retold(STR("perfetto_trace.json.gz"), &host));
    assert_int_equal(host.n, 0);
    assert_false(name_is_retold(STR("vm.json"), &host));
}

static void any_name_has_a_worker(void **state) {
    trace_name n;
    name_of_any(STR("trace.json.gz"), &n);
    assert_true(str_eq(n.worker, STR("trace")));
    assert_int_equal(n.packing, 1);
    name_of_any(STR("memory_snapshot.pickle"), &n);
    assert_true(str_eq(n.worker, STR("memory_snapshot")));
    name_of_any(STR("x_hip_api_trace.csv.gz"), &n);
    assert_true(str_eq(n.worker, STR("x")) && n.table && n.packing == 1);
    name_of_any(STR("-"), &n);
    assert_true(str_eq(n.worker, STR("-")));
    name_of_any(STR(".json"), &n);
    assert_true(str_eq(n.worker, STR(".json")));
}

static void the_rank_is_a_word_of_the_name(void **state) {
    assert_int_equal(name_rank(STR("rank3")), 3);
    assert_int_equal(name_rank(STR("rank-12.Apr")), 12);
    assert_int_equal(name_rank(STR("job_Rank_7_x")), 7);
    assert_int_equal(name_rank(STR("frank3")), INT64_MIN);
    assert_int_equal(name_rank(STR("frank3_rank4")), 4);
    assert_int_equal(name_rank(STR("rank")), INT64_MIN);
    assert_int_equal(name_rank(STR("worker0")), INT64_MIN);
    assert_int_equal(name_rank(STR("rank99999999999999999999999")), INT64_MIN);
}

static void numbers_in_names_count(void **state) {
    static const char *const order[] = {"a",   "a01",   "a1",     "a2", "a2b",
                                        "a10", "a10b9", "a10b10", "b"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            int c = name_compare(str_of(order[i]), str_of(order[k]));
            assert_int_equal(i < k ? -1 : i > k, (c > 0) - (c < 0));
        }
}

static void stamps_are_numbers_of_any_length(void **state) {
    assert_true(name_compare_stamps(STR("9"), STR("10")) < 0);
    assert_true(name_compare_stamps(STR("0010"), STR("10")) == 0);
    assert_true(name_compare_stamps(STR(""), STR("0")) < 0);
    assert_true(name_compare_stamps(STR("1623212756351"), STR("1794700906491364851")) < 0);
    assert_true(name_compare_stamps(STR("99999999999999999999999999"),
                                    STR("100000000000000000000000000")) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worker_is_what_precedes_stamp_and_suffix),
        cmocka_unit_test(other_names_are_not_taken_for_traces),
        cmocka_unit_test(megengine_names_its_files_after_the_process),
        cmocka_unit_test(xla_names_its_files_after_the_host),
        cmocka_unit_test(any_name_has_a_worker),
        cmocka_unit_test(the_rank_is_a_word_of_the_name),
        cmocka_unit_test(numbers_in_names_count),
        cmocka_unit_test(stamps_are_numbers_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
