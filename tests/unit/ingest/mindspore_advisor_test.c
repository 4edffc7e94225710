/* mindspore_advisor_test.c: what msadvisor wrote next to a run becomes findings of its
 * worker. */
#include <fcntl.h>

#include "unit/ingest/mindspore_folder.h"

#define RECOMMENDATION "msadvisor/device_1/recommendation"
#define STATISTICS(rows)                                                        \
    "{\"extendtitle\": \"Operator statistics, sorted by duration percentage:\"" \
    ", \"key\": [\"OP Name\", \"Count\", \"Time(%)\"], \"value\": [" rows "]}"
#define ADVISED(model, lists) \
    "{\"model\": {\"" model "\": {\"summary\": \"Needs work\", \"extend\": [" lists "]}}}"

static void make_folders(const char *const *names, int n) {
    for (int i = 0; i < n; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
}

static int make_device(void **state) {
    static const char *const names[] = {"msadvisor", "msadvisor/device_1", RECOMMENDATION,
                                        "msadvisor/device_0",
                                        "msadvisor/device_0/recommendation"};
    if (make_folder(state)) return -1;
    make_folders(names, 5);
    put("profiler_info_1.json", "{}");
    return 0;
}

static void set_time(const char *name, int64_t seconds) {
    char path[256];
    struct timespec both[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
}

static void check(const trace *t, uint32_t id, const char *right) {
    str got = trace_str(t, id);
    if (!str_eq(got, str_of(right))) fail_msg("%.*s is not %s", STR_ARG(got), right);
}

static void findings_have_advice_and_the_worst_operators(void **state) {
    put(RECOMMENDATION "/a.json",
        "{\"model\": {\"AICPUModel\": {\"summary\": \"Needs \\u0022work\\u0022\", \"extend\": "
        "[" STATISTICS(
            "[\"Add\", 3, 1.5], [\"TopK\", 12, 30.5], [\"Cast\", \"4\", \"2.5\"], "
            "[\"Unique\", 1, 0.5], [\"Sort\", 9, 20]") ", {\"extendtitle\": \"Identifications "
                                                       "of aicpu operations optimization:\", "
                                                       "\"key\": "
                                                       "[\"Operator name\", \"Task Start "
                                                       "Time(us)\"], \"value\": [[\"TopK\", 5, "
                                                       "6, 7]]}"
                                                       ", {\"extendtitle\": \"Recommendations "
                                                       "of aicpu operations optimization:\", "
                                                       "\"value\": [[\"avoid\", \"fuse\"]]}]}"
                                                       ", \"Fine\": {\"summary\": \"nothing to "
                                                       "do\"}"
                                                       ", \"TransDataModel\": {\"summary\": "
                                                       "\"Much\", \"extendResult\": "
                                                       "[{\"extend_title\": "
                                                       "\"Recommendations:\", \"value\": "
                                                       "[\"one\", \"two\"]}]}}}");
    trace *t = read_worker("profiler_info_1.json");
    assert_int_equal(t->finding.n, 3);
    assert_int_equal(t->finding.topic[1], FINDING_AI_CPU);
    check(t, t->finding.model[1], "AICPUModel");
    check(t, t->finding.summary[1], "Needs \"work\"");
    check(t, t->finding.advice[1], "avoid; fuse");
    assert_int_equal(t->finding_op.n, 4);
    assert_int_equal(t->finding_op.finding[1], 1);
    check(t, t->finding_op.name[1], "TopK");
    assert_int_equal(t->finding_op.calls[1], 12);
    assert_true(t->finding_op.share[1] == 0.305);
    check(t, t->finding_op.name[2], "Sort");
    check(t, t->finding_op.name[3], "Cast");
    assert_int_equal(t->finding.topic[2], FINDING_OTHER);
    check(t, t->finding.model[2], "TransDataModel");
    check(t, t->finding.advice[2], "one; two");
    assert_int_equal(t->quality.n, 1);
    trace_release(t);
}

static void the_newest_of_the_device_counts(void **state) {
    put(RECOMMENDATION "/a.json", ADVISED("New", "{}"));
    put(RECOMMENDATION "/b.json", ADVISED("Old", "{}"));
    put(RECOMMENDATION "/c.txt", ADVISED("Text", "{}"));
    put("msadvisor/device_0/recommendation/z.json", ADVISED("Other device", "{}"));
    set_time(RECOMMENDATION "/b.json", 1000);
    set_time(RECOMMENDATION "/a.json", 2000);
    set_time(RECOMMENDATION "/c.txt", 3000);
    trace *t = read_worker("profiler_info_1.json");
    assert_int_equal(t->finding.n, 2);
    check(t, t->finding.model[1], "New");
    trace_release(t);
}

static void damage_is_counted(void **state) {
    put(RECOMMENDATION "/a.json",
        ADVISED("AICPUModel", STATISTICS("[\"Add\", 3, 1e9], [\"\", 1, 2], [7], "
                                         "[\"Mul\", 2, 5]")));
    trace *t = read_worker("profiler_info_1.json");
    check(t, t->finding_op.name[1], "Mul");
    assert_int_equal(trace_quality(t, CAUSE_NUMBER_RANGE), 3);
    trace_release(t);
    put(RECOMMENDATION "/a.json", "{\"model\": {\"AICPUModel\": {\"summary\": \"cut");
    t = read_worker("profiler_info_1.json");
    assert_int_equal(t->finding.n, 1);
    assert_int_equal(trace_quality(t, CAUSE_BAD_SYNTAX), 1);
    trace_release(t);
    put(RECOMMENDATION "/a.json", "{\"another\": 1}");
    t = read_worker("profiler_info_1.json");
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    trace_release(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_device, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(findings_have_advice_and_the_worst_operators),
        TEST(the_newest_of_the_device_counts),
        TEST(damage_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
