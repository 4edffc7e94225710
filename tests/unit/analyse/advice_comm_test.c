/* advice_comm_test.c: each rule about several devices and workers, firing and silent. */
#include "advice_case.h"

static void run_data_parallel(advice_case *c, int32_t second) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_host(c, KIND_ANNOTATION, "DataParallel.forward", 0, 500);
    case_kernel(c, "gemm", 10, 20, 300);
    int call = case_host(c, KIND_RUNTIME, "cudaLaunchKernel", 30, 5);
    fake_work(&c->f, fake_stream(&c->f, second), KIND_KERNEL, "gemm", 50 * US, 300 * US, call);
    case_ask(c);
}

static void data_parallel_on_two_devices_is_reported(void **state) {
    advice_case c;
    run_data_parallel(&c, 1);
    assert_fires(&c, "data_parallel", NOT_ESTIMATED);
    assert_int_equal(case_value(&c, "data_parallel", "devices").u.i, 2);
    case_end(&c);
}

static void data_parallel_on_one_device_is_left_alone(void **state) {
    advice_case c;
    run_data_parallel(&c, 0);
    assert_silent(&c, "data_parallel");
    case_end(&c);
}

/* A collective on the host that is exposed. */
static void communicate(advice_case *c, const char *collective, int64_t dur) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_host(c, KIND_ANNOTATION, "DistributedDataParallel.forward", 0, 100);
    case_kernel(c, "gemm", 5, 20, 380);
    case_host(c, KIND_COLLECTIVE, collective, 400, dur);
    case_ask(c);
}

static void gradients_over_another_library_are_reported(void **state) {
    advice_case c;
    communicate(&c, "gloo:all_reduce", 300);
    assert_fires(&c, "nccl_missing", 300 * US);
    assert_text(case_value(&c, "nccl_missing", "collective").u.text, "gloo:all_reduce");
    assert_silent(&c, "communication_exposed");
    case_end(&c);
}

static void exposed_communication_is_reported(void **state) {
    advice_case c;
    communicate(&c, "nccl:all_reduce", 300);
    assert_fires(&c, "communication_exposed", 300 * US);
    assert_int_equal(fake_int(c.t, case_row(&c, "communication_exposed"), "from"), 400 * US);
    assert_silent(&c, "nccl_missing");
    case_end(&c);
}

static void a_little_communication_is_left_alone(void **state) {
    advice_case c;
    communicate(&c, "nccl:all_reduce", 50);
    assert_silent(&c, "communication_exposed");
    assert_silent(&c, "nccl_missing");
    case_end(&c);
    communicate(&c, "gloo:all_reduce", 5);
    assert_silent(&c, "nccl_missing");
    case_end(&c);
}

/* Two workers: kernels of these lengths, then a collective that both leave at 900. */
static void compare_workers(advice_case *a, advice_case *b, const int64_t *computes,
                            const int64_t *arrives) {
    advice_case *both[] = {a, b};
    analysis_trace traces[2];
    for (int i = 0; i < 2; i++) {
        case_begin(both[i]);
        case_step(both[i], 1, 0, 1000);
        case_kernel(both[i], "gemm", 0, 10, computes[i]);
        case_host(both[i], KIND_COLLECTIVE, "nccl:all_reduce", arrives[i], 900 - arrives[i]);
        traces[i] = (analysis_trace){.trace = fake_seal(&both[i]->f),
                                     .rank = i,
                                     .worker = i ? STR("worker1") : STR("worker0")};
    }
    analysis_input in = {.traces = traces, .n_traces = 2};
    params p = fake_params();
    error err;
    assert_int_equal(analyse_advise(&in, &p, &a->arena, &a->out, &err), OK);
    a->t = fake_table(&a->out, "advice");
}

static void worker_that_computes_longer_is_named(void **state) {
    advice_case a, b;
    compare_workers(&a, &b, (int64_t[]){200, 600}, (int64_t[]){700, 700});
    assert_fires(&a, "load_imbalance", 200 * US); /* 600 minus the mean of 400 */
    assert_text(case_value(&a, "load_imbalance", "worker").u.text, "worker1");
    assert_silent(&a, "straggler");
    case_end(&a);
    case_end(&b);
}

static void workers_that_compute_the_same_are_left_alone(void **state) {
    advice_case a, b;
    compare_workers(&a, &b, (int64_t[]){400, 420}, (int64_t[]){700, 700});
    assert_silent(&a, "load_imbalance");
    case_end(&a);
    case_end(&b);
}

static void worker_that_comes_late_is_named(void **state) {
    advice_case a, b;
    compare_workers(&a, &b, (int64_t[]){100, 100}, (int64_t[]){300, 800});
    assert_fires(&a, "straggler", 500 * US);
    assert_int_equal(case_value(&a, "straggler", "rank").u.i, 1);
    case_end(&a);
    case_end(&b);
}

static void workers_that_come_together_are_left_alone(void **state) {
    advice_case a, b;
    compare_workers(&a, &b, (int64_t[]){100, 100}, (int64_t[]){800, 805});
    assert_silent(&a, "straggler");
    case_end(&a);
    case_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_parallel_on_two_devices_is_reported),
        cmocka_unit_test(data_parallel_on_one_device_is_left_alone),
        cmocka_unit_test(gradients_over_another_library_are_reported),
        cmocka_unit_test(exposed_communication_is_reported),
        cmocka_unit_test(a_little_communication_is_left_alone),
        cmocka_unit_test(worker_that_computes_longer_is_named),
        cmocka_unit_test(workers_that_compute_the_same_are_left_alone),
        cmocka_unit_test(worker_that_comes_late_is_named),
        cmocka_unit_test(workers_that_come_together_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
