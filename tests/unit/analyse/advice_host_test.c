/* advice_host_test.c: each rule about the host once where it fires and once where it is
 * silent. */
#include "advice_case.h"

static const char SINGLE[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
static const char WORKERS[] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

/* A step of 1000 µs that loads data first. */
static void load_data(advice_case *c, const char *loader, int64_t dur) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_host(c, KIND_DATA, loader, 0, dur);
    case_kernel(c, "gemm", dur, dur + 10, 990 - dur);
    case_ask(c);
}

static void loader_without_workers_is_named_with_the_workers_it_needs(void **state) {
    advice_case c;
    load_data(&c, SINGLE, 600);
    assert_fires(&c, "data_loader_no_workers", 600 * US);
    assert_int_equal(case_value(&c, "data_loader_no_workers", "workers").u.i, 2);
    assert_near(case_value(&c, "data_loader_no_workers", "share").u.d, 0.6);
    assert_silent(&c, "data_loader_slow");
    case_end(&c);
}

static void loader_with_workers_is_advised_to_be_faster(void **state) {
    advice_case c;
    load_data(&c, WORKERS, 600);
    assert_fires(&c, "data_loader_slow", 600 * US);
    assert_silent(&c, "data_loader_no_workers");
    case_end(&c);
}

static void fast_loader_is_left_alone(void **state) {
    advice_case c;
    load_data(&c, SINGLE, 40);
    assert_silent(&c, "data_loader_no_workers");
    case_end(&c);
    load_data(&c, WORKERS, 40);
    assert_silent(&c, "data_loader_slow");
    case_end(&c);
}

static void data_loading_is_found_without_a_device(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_DATA, SINGLE, 0, 900);
    case_ask(&c);
    assert_fires(&c, "data_loader_no_workers", 900 * US);
    assert_int_equal(case_value(&c, "data_loader_no_workers", "workers").u.i, 9);
    case_end(&c);
}

/* Kernel a from 20 to 500, kernel b launched at `launched`, from 620 to 1000. */
static void two_kernels(advice_case *c, int64_t launched) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_kernel(c, "a", 0, 20, 480);
    case_kernel(c, "b", launched, 620, 380);
}

static void late_launch_is_the_hosts(void **state) {
    advice_case c;
    two_kernels(&c, 600);
    case_ask(&c);
    /* idle 20 before a and 120 before b; a graph would start at once, 0.6 µs between them */
    assert_fires(&c, "host_late", 119400);
    size_t row = case_row(&c, "host_late");
    assert_int_equal(fake_int(c.t, row, "from"), 500 * US);
    assert_int_equal(fake_int(c.t, row, "to"), 620 * US);
    assert_int_equal(fake_int(c.t, row, "step"), 1);
    assert_text(fake_text(c.t, row, "name"), "b");
    assert_int_equal(case_value(&c, "host_late", "longest").u.i, 120 * US);
    assert_silent(&c, "dependency_wait");
    assert_silent(&c, "blocking_sync");
    case_end(&c);
}

static void early_launch_is_a_dependency(void **state) {
    advice_case c;
    two_kernels(&c, 100);
    case_ask(&c);
    assert_fires(&c, "dependency_wait", 120 * US);
    assert_silent(&c, "host_late"); /* 20 µs are 2 % */
    case_end(&c);
}

static void short_gaps_between_queued_kernels_are_not_a_dependency(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    for (int i = 0; i < 100; i++) case_kernel(&c, "k", 2 + i / 25, 10 + i * 9, 5);
    case_ask(&c);
    assert_silent(&c, "dependency_wait");
    case_end(&c);
}

static void blocking_call_costs_as_much_as_the_host_was_ahead(void **state) {
    advice_case c;
    two_kernels(&c, 600);
    case_host(&c, KIND_RUNTIME, "cudaStreamSynchronize", 100, 410);
    case_ask(&c);
    assert_fires(&c, "blocking_sync", 119 * US); /* b would still come 1 µs after a */
    assert_text(case_value(&c, "blocking_sync", "call").u.text, "cudaStreamSynchronize");
    assert_silent(&c, "host_late");
    assert_silent(&c, "item_sync");
    case_end(&c);
}

static void blocking_call_of_a_late_host_is_not_to_blame(void **state) {
    advice_case c;
    two_kernels(&c, 600);
    case_host(&c, KIND_RUNTIME, "cudaStreamSynchronize", 490, 20); /* 10 µs ahead: 1 % */
    case_ask(&c);
    assert_silent(&c, "blocking_sync");
    assert_fires(&c, "host_late", 90 * US); /* the call returns at 510 no matter what
                                               launches */
    case_end(&c);
}

static void read_of_one_value_is_distinguished_from_other_blocking(void **state) {
    advice_case c;
    two_kernels(&c, 600);
    case_host(&c, KIND_OP, "aten::_local_scalar_dense", 90, 430);
    case_host(&c, KIND_RUNTIME, "cudaStreamSynchronize", 100, 410);
    case_ask(&c);
    assert_fires(&c, "item_sync", 119 * US);
    assert_near(case_value(&c, "item_sync", "reads").u.d, 1);
    assert_silent(&c, "blocking_sync");
    case_end(&c);
}

/* Four times: five kernels of 5 µs, launched every 20 µs, one of 200 µs, and the host waits. */
static void run_held_back(advice_case *c, const char *wait) {
    case_begin(c);
    case_step(c, 1, 0, 1300);
    for (int i = 0; i < 4; i++) {
        int64_t at = 325 * i;
        for (int k = 0; k < 5; k++)
            case_kernel(c, "small", at + 15 + 20 * k, at + 20 + 20 * k, 5);
        case_kernel(c, "large", at + 115, at + 120, 200);
        case_host(c, KIND_RUNTIME, wait, at + 122, 203);
    }
    case_ask(c);
}

/* The gap right after a wait is 20 µs; 75 µs more are lost because the host starts from nothing. */
static void calls_that_keep_the_host_from_running_ahead_cost_what_it_is_late(void **state) {
    advice_case c;
    run_held_back(&c, "cudaStreamSynchronize");
    size_t row = case_row(&c, "blocking_sync");
    assert_int_equal(row, 0);
    assert_in_range(fake_int(c.t, row, "saves"), 280 * US, 400 * US);
    assert_int_equal(case_value(&c, "blocking_sync", "held").u.i, fake_int(c.t, row, "saves"));
    assert_true(case_value(&c, "blocking_sync", "time").u.i < 150 * US);
    size_t late = case_row(&c, "host_late"); /* what it is late is theirs */
    assert_text(fake_text(c.t, late, "included_in"), "blocking_sync");
    assert_true(fake_null(c.t, late, "saves"));
    case_end(&c);
    run_held_back(&c, "cudaGetDevice"); /* does not wait */
    assert_silent(&c, "blocking_sync");
    case_end(&c);
}

static void read_of_one_value_that_costs_nothing_is_silent(void **state) {
    advice_case c;
    two_kernels(&c, 600);
    case_host(&c, KIND_OP, "aten::_local_scalar_dense", 485, 30);
    case_host(&c, KIND_RUNTIME, "cudaStreamSynchronize", 490, 20);
    case_ask(&c);
    assert_silent(&c, "item_sync");
    case_end(&c);
}

static void wait_for_a_value_is_named_with_what_it_costs(void **state) {
    advice_case c;
    two_kernels(&c, 600);
    case_host(&c, KIND_SYNC, "TensorWaitProp", 100, 410);
    case_ask(&c);
    assert_fires(&c, "value_wait", 120 * US);
    assert_text(case_value(&c, "value_wait", "call").u.text, "TensorWaitProp");
    assert_near(case_value(&c, "value_wait", "count").u.d, 1);
    assert_silent(&c, "blocking_sync");
    case_end(&c);
}

static void wait_for_a_value_while_the_device_works_has_no_saving(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_kernel(&c, "gemm", 0, 10, 990);
    case_host(&c, KIND_SYNC, "TensorWaitProp", 100, 60);
    case_ask(&c);
    assert_fires(&c, "value_wait", NOT_ESTIMATED);
    case_end(&c);
}

static void short_waits_for_values_are_silent(void **state) {
    advice_case c;
    two_kernels(&c, 600);
    case_host(&c, KIND_SYNC, "TensorWaitProp", 100, 40);
    case_ask(&c);
    assert_silent(&c, "value_wait");
    case_end(&c);
}

/* Kernels of 5 µs, one every 20 µs, inside an optimizer of 500 µs. */
static void optimize(advice_case *c, const char *kernel, int n) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_host(c, KIND_OPTIMIZER, "Optimizer.step#SGD.step", 0, 500);
    for (int i = 0; i < n; i++) case_kernel(c, kernel, i * 20, i * 20 + 10, 5);
    case_ask(c);
}

static void optimizer_that_goes_tensor_by_tensor_is_named(void **state) {
    advice_case c;
    optimize(&c, "vectorized_elementwise_kernel", 20);
    assert_fires(&c, "optimizer_not_fused", 250 * US); /* (100 of kernels + 400 idle) / 2 */
    assert_near(case_value(&c, "optimizer_not_fused", "count").u.d, 20);
    case_end(&c);
}

static void optimizer_for_many_tensors_at_once_is_left_alone(void **state) {
    advice_case c;
    optimize(&c, "multi_tensor_apply_kernel", 20);
    assert_silent(&c, "optimizer_not_fused");
    case_end(&c);
    optimize(&c, "vectorized_elementwise_kernel", 19);
    assert_silent(&c, "optimizer_not_fused");
    case_end(&c);
}

/* Steps on the host one after the other. */
static void take_steps(advice_case *c, const int64_t *lengths, int n) {
    int64_t at = 0;
    case_begin(c);
    for (int i = 0; i < n; i++) {
        case_step(c, i, at, at + lengths[i]);
        case_host(c, KIND_OP, "work", at, lengths[i]);
        at += lengths[i];
    }
    case_ask(c);
}

static void long_step_among_short_ones_costs_mean_minus_median(void **state) {
    advice_case c;
    take_steps(&c, (int64_t[]){100, 100, 100, 100, 200}, 5);
    assert_fires(&c, "step_variance", 20 * US); /* of the average of all five */
    assert_int_equal(case_value(&c, "step_variance", "step").u.i, 4);
    assert_int_equal(fake_int(c.t, case_row(&c, "step_variance"), "step"), 4);
    assert_silent(&c, "first_step");
    case_end(&c);
}

static void equal_steps_are_left_alone(void **state) {
    advice_case c;
    take_steps(&c, (int64_t[]){100, 100, 110, 100, 100}, 5);
    assert_silent(&c, "step_variance");
    assert_silent(&c, "first_step");
    case_end(&c);
}

static void long_first_step_is_reported_and_not_counted_as_variance(void **state) {
    advice_case c;
    take_steps(&c, (int64_t[]){300, 100, 100, 100}, 4);
    assert_fires(&c, "first_step", NOT_ESTIMATED);
    assert_near(case_value(&c, "first_step", "ratio").u.d, 3);
    assert_silent(&c, "step_variance");
    case_end(&c);
}

static void long_step_leads_to_itself_and_not_to_the_first(void **state) {
    advice_case c;
    take_steps(&c, (int64_t[]){300, 100, 100, 100, 200}, 5);
    params p = fake_params();
    p.extra[p.n_extra].name = STR("evidence");
    p.extra[p.n_extra++].value = STR("yes");
    answer out = fake_ask(analyse_advise, &c.f.t, &p, &c.arena);
    const table *events = fake_table(&out, "events");
    int64_t seen[2] = {0, 0};
    for (size_t i = 0; i < events->n_rows; i++) {
        bool first = str_eq(fake_text(events, i, "advice"), STR("first_step"));
        assert_int_equal(fake_int(events, i, "step"), first ? 0 : 4);
        seen[first]++;
    }
    assert_true(seen[0] == 1 && seen[1] == 1);
    case_end(&c);
}

static void profiler_that_takes_a_tenth_is_reported(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_OVERHEAD, "Activity Buffer Request", 0, 50);
    for (int i = 0; i < 50; i++) case_host(&c, KIND_PYTHON, "f", 100 + i * 10, 5);
    case_ask(&c);
    assert_fires(&c, "profiler_overhead", NOT_ESTIMATED);
    assert_int_equal(case_value(&c, "profiler_overhead", "frames").u.i, 50);
    assert_int_equal(case_value(&c, "profiler_overhead", "overhead").u.i, 50 * US);
    case_end(&c);
}

static void profiler_that_takes_little_is_not_mentioned(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_OVERHEAD, "Activity Buffer Request", 0, 50);
    case_ask(&c);
    assert_silent(&c, "profiler_overhead");
    case_end(&c);
}

static void a_short_dependency_is_left_alone(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_kernel(&c, "a", 0, 20, 560);
    case_kernel(&c, "b", 100, 620, 380); /* 40 µs are 4 % */
    case_ask(&c);
    assert_silent(&c, "dependency_wait");
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loader_without_workers_is_named_with_the_workers_it_needs),
        cmocka_unit_test(loader_with_workers_is_advised_to_be_faster),
        cmocka_unit_test(fast_loader_is_left_alone),
        cmocka_unit_test(data_loading_is_found_without_a_device),
        cmocka_unit_test(late_launch_is_the_hosts),
        cmocka_unit_test(early_launch_is_a_dependency),
        cmocka_unit_test(short_gaps_between_queued_kernels_are_not_a_dependency),
        cmocka_unit_test(blocking_call_costs_as_much_as_the_host_was_ahead),
        cmocka_unit_test(blocking_call_of_a_late_host_is_not_to_blame),
        cmocka_unit_test(read_of_one_value_is_distinguished_from_other_blocking),
        cmocka_unit_test(calls_that_keep_the_host_from_running_ahead_cost_what_it_is_late),
        cmocka_unit_test(read_of_one_value_that_costs_nothing_is_silent),
        cmocka_unit_test(wait_for_a_value_is_named_with_what_it_costs),
        cmocka_unit_test(wait_for_a_value_while_the_device_works_has_no_saving),
        cmocka_unit_test(short_waits_for_values_are_silent),
        cmocka_unit_test(optimizer_that_goes_tensor_by_tensor_is_named),
        cmocka_unit_test(optimizer_for_many_tensors_at_once_is_left_alone),
        cmocka_unit_test(long_step_among_short_ones_costs_mean_minus_median),
        cmocka_unit_test(equal_steps_are_left_alone),
        cmocka_unit_test(long_first_step_is_reported_and_not_counted_as_variance),
        cmocka_unit_test(long_step_leads_to_itself_and_not_to_the_first),
        cmocka_unit_test(profiler_that_takes_a_tenth_is_reported),
        cmocka_unit_test(profiler_that_takes_little_is_not_mentioned),
        cmocka_unit_test(a_short_dependency_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
