/* mindspore_cpu_test.c: samples of the processors, whatever the form of their lists. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/mindspore/mindspore_int.h"
#include "store/trace.h"

static trace *read_text(const char *text) {
    builder *b = builder_new();
    trace *t = NULL;
    assert_int_equal(ms_read_one(MS_CPU_USE, str_of(text), b, NULL), OK);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static bool is(const trace *t, uint32_t id, const char *text) {
    return str_eq(trace_str(t, id), str_of(text));
}

/* The n-th sample of a kind, from 1; 0: there are fewer. */
static uint32_t sample(const trace *t, cpu_scope scope, const char *kind, int n) {
    for (uint32_t i = 1; i < t->cpu_sample.n; i++)
        if (t->cpu_sample.scope[i] == scope && is(t, t->cpu_sample.kind[i], kind) && --n == 0)
            return i;
    return 0;
}

static void doubled_lists_are_halved(void **state) {
    (void)state;
    trace *t = read_text(
        "{\"time_stamp\": [100, 200.5, 300], \"device_info\": {"
        "\"idle_utilization\": [0, 0, 40, 0, 60, 0], \"user_utilization\": [0, 0, 30]},"
        "\"process_info\": {\"user_utilization\": [7, null]},"
        "\"op_info\": [{\"op_id\": -1, \"metrics\": {}}, {\"op_id\": 3, \"metrics\": "
        "{\"user_utilization\": [0, 5, 15], \"sys_utilization\": [0, 1, 1]}}]}");
    uint32_t user = sample(t, CPU_MACHINE, "user", 1);
    assert_true(t->cpu_sample.value[user] == 30);
    assert_int_equal(t->cpu_sample.time[user], 200500000);
    assert_int_equal(t->cpu_sample.elapsed[user], 100500000);
    assert_int_equal(sample(t, CPU_MACHINE, "user", 2), 0); /* was not recorded */
    assert_true(t->cpu_sample.value[sample(t, CPU_MACHINE, "idle", 2)] == 60);
    assert_true(t->cpu_sample.value[sample(t, CPU_PROCESS, "user", 1)] == 7);
    assert_true(isnan(t->cpu_sample.value[sample(t, CPU_PROCESS, "user", 2)]));
    uint32_t op = sample(t, CPU_OPERATOR, "user", 2);
    assert_int_equal(t->cpu_sample.op[op], 3);
    assert_true(t->cpu_sample.value[op] == 15);
    assert_int_equal(sample(t, CPU_OPERATOR, "user", 3), 0);
    trace_release(t);
}

static void damage_gives_no_samples(void **state) {
    static const char *const damaged[] = {
        "",
        "[",
        "3",
        "{\"time_stamp\": 3}",
        "{\"time_stamp\": [1], \"device_info\": {\"idle_utilization\": [5, 6]}}",
        "{\"op_info\": [{\"op_id\": 1, \"metrics\": {\"user_utilization\": [1, 2]}}]}"};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        trace *t = read_text(damaged[i]);
        assert_int_equal(t->cpu_sample.n, 1);
        trace_release(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubled_lists_are_halved),
        cmocka_unit_test(damage_gives_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
