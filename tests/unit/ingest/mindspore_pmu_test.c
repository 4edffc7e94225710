/* mindspore_pmu_test.c: counters of the AI Core (aicore.data) become operations of operators. */
#include <math.h>

#include "base/json.h"
#include "unit/ingest/mindspore_folder.h"

typedef struct {
    unsigned stream, task;
    uint64_t count[8];
} pmu;

static const char TASKS[] = "Default/net/Conv2D-op3 1 3 5\n"
                            "Gradients/MatMul-op4 1 30004 5\n";

static const pmu ROWS[] = {
    {5, 3, {100, 10, 7, 6, 5, 4, 3, 999}},
    {5, 30004, {1000, 0, 0, 0, 0, 0, 0, 0}},
    {5, 3, {300, 10, 7, 6, 5, 4, 3, 999}}, /* the mean counts */
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };
/* 200 · 16³ · 2 + 10 · 16 · 16 · 32 · 2; 7 · 32 + 6 · 128 + 5 · 64 + 4 · 64 + 3 · 32 */
#define CONV_CUBE 1802240.0
#define CONV_VECTOR 1664.0
#define MATMUL_CUBE 8192000.0

static size_t write_rows(unsigned char *bytes, const pmu *rows, size_t n) {
    memset(bytes, 0, n * 128);
    for (size_t i = 0; i < n; i++) {
        unsigned char *p = bytes + i * 128 + 6;
        add_le(&p, rows[i].task, 2);
        p = bytes + i * 128 + 32;
        for (int k = 0; k < 8; k++) add_le(&p, rows[i].count[k], 8);
        add_le(&p, rows[i].stream, 4);
    }
    return n * 128;
}

static void put_rows(const char *name, const pmu *rows, size_t n) {
    unsigned char bytes[128 * 8];
    put_bytes(name, bytes, write_rows(bytes, rows, n));
}

static uint32_t row_of(const trace *t, const char *full_name) {
    for (uint32_t i = 1; i < t->producer_op.n; i++)
        if (named(t, t->producer_op.full_name[i], full_name)) return i;
    fail_msg("no operator %s", full_name);
    return 0;
}

static void check_near(double right, double got) {
    if (!(fabs(got - right) <= fabs(right) * 1e-12)) fail_msg("%.17g is not %.17g", got, right);
}

/* Conv2D: 4 calls of 2 µs, MatMul 1 call of 10 µs. */
static void put_details(void) {
    put("Framework.host.vm.task_desc_info.0.slice_0", TASKS);
    put("aicore_intermediate_0_detail.csv",
        "full_op_name,execution_time,execution_frequency\nDefault/net/Conv2D-op3,0.002,4\n"
        "Gradients/MatMul-op4,0.01,1\nDefault/Cast-op5,0.001,1\n");
}

static void check_figures(const trace *t) {
    uint32_t conv = row_of(t, "Default/net/Conv2D-op3"),
             mul = row_of(t, "Gradients/MatMul-op4");
    check_near(CONV_CUBE, t->producer_op.flops[conv]);
    check_near(CONV_VECTOR, t->producer_op.vector_flops[conv]);
    check_near(CONV_CUBE / 2e-6, t->producer_op.flops_per_s[conv]);
    check_near(CONV_VECTOR / 2e-6, t->producer_op.vector_flops_per_s[conv]);
    check_near(MATMUL_CUBE, t->producer_op.flops[mul]);
    check_near(MATMUL_CUBE / 1e-5, t->producer_op.flops_per_s[mul]);
    check_near(0, t->producer_op.vector_flops[mul]);
    check_near(CONV_CUBE + MATMUL_CUBE + CONV_VECTOR, t->resource.flops[1]);
    check_near((4 * CONV_CUBE + MATMUL_CUBE + 4 * CONV_VECTOR) / 18e-6,
               t->resource.flops_per_s[1]);
}

static void counters_become_operations_and_rates(void **state) {
    put_details();
    put_rows("aicore.data.0.slice_0", ROWS, N_ROWS);
    trace *t = read_worker("aicore.data.0.slice_0");
    check_figures(t);
    assert_true(isnan(t->producer_op.flops[row_of(t, "Default/Cast-op5")]));
    assert_int_equal(t->quality.n, 1);
    trace_release(t);
}

static void records_go_on_in_the_next_slice(void **state) {
    put_details();
    put_rows("aicore.data.43.dev.profiler_default_tag.0.slice_0", ROWS, 1);
    put_rows("aicore.data.43.dev.profiler_default_tag.0.slice_1", ROWS + 1, 2);
    trace *t = read_worker("aicore_intermediate_0_detail.csv");
    check_figures(t);
    trace_release(t);
}

/* No table has the times: they follow from the tasks. */
static void raw_tasks_have_operations(void **state) {
    static const hwts_row rows[] = {
        {0, 3, 100, 5}, {1, 3, 300, 5}, {0, 30004, 400, 5}, {1, 30004, 1400, 5}};
    put("Framework.host.vm.task_desc_info.0.slice_0", TASKS);
    put_hwts("hwts.log.data.45.dev.tag.0.slice_0", rows, 4);
    put_rows("aicore.data.0.slice_0", ROWS, N_ROWS);
    trace *t = read_worker("aicore.data.0.slice_0");
    check_near(CONV_CUBE / 2e-6,
               t->producer_op.flops_per_s[row_of(t, "Default/net/Conv2D-op3")]);
    check_near(MATMUL_CUBE / 1e-5,
               t->producer_op.flops_per_s[row_of(t, "Gradients/MatMul-op4")]);
    check_near((CONV_CUBE + MATMUL_CUBE + CONV_VECTOR) / 12e-6, t->resource.flops_per_s[1]);
    trace_release(t);
}

static void the_tables_made_of_them_win(void **state) {
    put_details();
    put("flops_0.txt", "full_op_name, MFLOPs(10^6 cube), GFLOPS(10^9 cube), MFLOPs(10^6 "
                       "vector), GFLOPS(10^9 vector)\nDefault/net/Conv2D-op3, 5, 6, 7, 8\n");
    put("flops_summary_0.json", "{\"cube_FLOPs\": 1, \"cube_FLOPS\": 2}");
    put_rows("aicore.data.0.slice_0", ROWS, N_ROWS);
    trace *t = read_worker("aicore.data.0.slice_0");
    check_near(5e6, t->producer_op.flops[row_of(t, "Default/net/Conv2D-op3")]);
    check_near(6e9, t->producer_op.flops_per_s[row_of(t, "Default/net/Conv2D-op3")]);
    assert_true(isnan(t->producer_op.flops[row_of(t, "Gradients/MatMul-op4")]));
    check_near(1e6, t->resource.flops[1]);
    trace_release(t);
}

/* As 2.0 writes it. */
static void a_table_may_shorten_its_words(void **state) {
    put_details();
    put("flops_0.txt",
        "op_full_name, MFLOPs(10^6 cube), GFLOPS(10^9 cube), FLOPS utilization(% cube), "
        "MFLOPs(10^6 vec), GFLOPS(10^9 vec), FLOPS utilization(% vec) \n"
        "Default/net/Conv2D-op3, 5, 6, 50, 7, 8, 9\n");
    trace *t = read_worker("flops_0.txt");
    uint32_t conv = row_of(t, "Default/net/Conv2D-op3");
    check_near(6e9, t->producer_op.flops_per_s[conv]);
    check_near(7e6, t->producer_op.vector_flops[conv]);
    check_near(8e9, t->producer_op.vector_flops_per_s[conv]);
    trace_release(t);
}

static void the_peak_follows_from_the_device(void **state) {
    char path[128];
    snprintf(path, sizeof path, "%s/data", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put("data/Framework.host.vm.task_desc_info.0.slice_0", TASKS);
    put("info.json.0",
        "{\"DeviceInfo\": [{\"aic_frequency\": \"1000\", \"ai_core_num\": 32}]}");
    put_rows("data/aicore.data.0.slice_0", ROWS, N_ROWS);
    trace *t = read_worker("data/aicore.data.0.slice_0");
    check_near(1000e6 * 32 * 4096 * 2, t->resource.peak_flops_per_s[1]);
    trace_release(t);
}

static void damage_is_counted(void **state) {
    static const pmu rows[] = {
        {5, 3, {200, 10, 7, 6, 5, 4, 3, 0}},
        {0, 0, {0}},                      /* blank: nothing was lost */
        {6, 3, {1, 1, 1, 1, 1, 1, 1, 1}}, /* an unknown task */
        {5, 3, {UINT64_MAX, 0, 0, 0, 0, 0, 0, 0}},
        {5, 3, {0, 0, 0, 0, 0, 0, (uint64_t)1 << 50, 0}},
        {5, 3, {1, 0, 0, 0, 0, 0, 0, 0}}, /* cut */
    };
    unsigned char bytes[128 * 8];
    put_details();
    put_bytes("aicore.data.0.slice_0", bytes, write_rows(bytes, rows, 6) - 1);
    trace *t = read_worker("aicore.data.0.slice_0");
    check_near(CONV_CUBE, t->producer_op.flops[row_of(t, "Default/net/Conv2D-op3")]);
    assert_int_equal(trace_quality(t, CAUSE_MISSING_NAME), 1);
    assert_int_equal(trace_quality(t, CAUSE_NUMBER_RANGE), 2);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    trace_release(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(counters_become_operations_and_rates),
        TEST(records_go_on_in_the_next_slice),
        TEST(raw_tasks_have_operations),
        TEST(the_tables_made_of_them_win),
        TEST(a_table_may_shorten_its_words),
        TEST(the_peak_follows_from_the_device),
        TEST(damage_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
