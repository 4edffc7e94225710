/* advice_memory_test.c: each rule about copies and memory, firing and silent. */
#include "advice_case.h"

/* A copy of 200 µs from 100 on, along with a kernel that starts at `kernel`. */
static void copy(advice_case *c, const char *name, int64_t kernel) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    int call = case_host(c, KIND_RUNTIME, "cudaMemcpyAsync", 90, 5);
    int h = fake_work(&c->f, c->gpu, KIND_MEMCPY, name, 100 * US, 200 * US, call);
    c->f.slices[h].device_bytes = 4096;
    int other = fake_stream(&c->f, 0);
    fake_work(&c->f, other, KIND_KERNEL, "gemm", kernel * US, 300 * US, call);
    case_ask(c);
}

static void pageable_copy_costs_what_no_kernel_covers(void **state) {
    advice_case c;
    copy(&c, "Memcpy HtoD (Pageable -> Device)", 200);
    assert_fires(&c, "pageable_copies", 100 * US);
    assert_int_equal(case_value(&c, "pageable_copies", "bytes").u.i, 4096);
    assert_near(case_value(&c, "pageable_copies", "count").u.d, 1);
    case_end(&c);
}

/* A copy that is all there is: 900 µs for 2.4 MB, which pinned memory copies in 60 µs. */
static void pageable_copy_without_kernels_still_takes_its_time(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    int call = case_host(&c, KIND_RUNTIME, "cudaMemcpyAsync", 90, 5);
    int h = fake_work(&c.f, c.gpu, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 100 * US,
                      900 * US, call);
    c.f.slices[h].device_bytes = 2400000;
    case_ask(&c);
    assert_fires(&c, "pageable_copies", 840 * US);
    case_end(&c);
}

/* An asynchronous call that lasts as long as its copy: the memory is not pinned. */
static void copy_that_stays_in_its_call(advice_case *c, int64_t call_ends, const char *way) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    int call = case_host(c, KIND_RUNTIME, "cudaMemcpyAsync", 90, call_ends - 90);
    int h = fake_work(&c->f, c->gpu, KIND_MEMCPY, way, 100 * US, 200 * US, call);
    c->f.slices[h].device_bytes = 4096;
    case_ask(c);
}

static void memory_is_known_by_the_call_of_its_copy(void **state) {
    advice_case c;
    copy_that_stays_in_its_call(&c, 305, "Memcpy HtoD");
    assert_true(case_row(&c, "pageable_copies") != SIZE_MAX);
    assert_silent(&c, "copies_exposed");
    case_end(&c);
    copy_that_stays_in_its_call(&c, 95, "Memcpy HtoD");
    assert_silent(&c, "pageable_copies");
    case_end(&c);
    copy_that_stays_in_its_call(&c, 305, "Memcpy HtoD (Pinned -> Device)");
    assert_silent(&c, "pageable_copies");
    case_end(&c);
}

static void copy_to_the_host_is_not_needed(void **state) {
    advice_case c;
    copy_that_stays_in_its_call(&c, 305, "Memcpy DtoH");
    assert_fires(&c, "pageable_copies", 200 * US);
    assert_int_equal(case_value(&c, "pageable_copies", "to_host").u.i, 1);
    case_end(&c);
}

static void pageable_copy_after_a_kernel_is_left_alone(void **state) {
    advice_case c;
    copy(&c, "Memcpy HtoD (Pageable -> Device)", 50);
    assert_silent(&c, "pageable_copies");
    case_end(&c);
    copy(&c, "Memcpy HtoD (Pageable -> Device)", 110); /* 10 µs are 1 % */
    assert_silent(&c, "pageable_copies");
    case_end(&c);
}

static void pinned_copy_is_left_alone(void **state) {
    advice_case c;
    copy(&c, "Memcpy HtoD (Pinned -> Device)", 200);
    assert_silent(&c, "pageable_copies");
    case_end(&c);
}

static void pinned_copy_costs_what_no_kernel_covers(void **state) {
    advice_case c;
    copy(&c, "Memcpy HtoD (Pinned -> Device)", 200);
    assert_fires(&c, "copies_exposed", 100 * US);
    assert_int_equal(case_value(&c, "copies_exposed", "bytes").u.i, 4096);
    case_end(&c);
    copy(&c, "Memcpy DtoH (Device -> Pinned)", 200);
    assert_fires(&c, "copies_exposed", 100 * US);
    case_end(&c);
}

static void copy_that_stays_or_hides_is_left_alone(void **state) {
    advice_case c;
    copy(&c, "Memcpy DtoD (Device -> Device)", 200);
    assert_silent(&c, "copies_exposed");
    case_end(&c);
    copy(&c, "Memcpy HtoD (Pinned -> Device)", 190); /* 90 µs are 9 % */
    assert_silent(&c, "copies_exposed");
    case_end(&c);
    copy(&c, "Memcpy HtoD (Pageable -> Device)", 200); /* its own rule */
    assert_silent(&c, "copies_exposed");
    case_end(&c);
}

/* A copy of 200 µs; a kernel of so many. */
static void copy_next_to(advice_case *c, int64_t kernel) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    int call = case_host(c, KIND_RUNTIME, "cudaMemcpyAsync", 90, 5);
    fake_work(&c->f, c->gpu, KIND_MEMCPY, "MemcpyH2D", 100 * US, 200 * US, call);
    if (kernel) fake_work(&c->f, c->gpu, KIND_KERNEL, "gemm", 400 * US, kernel * US, call);
    case_ask(c);
}

static void copy_saves_no_more_than_kernels_hide(void **state) {
    advice_case c;
    copy_next_to(&c, 50);
    assert_fires(&c, "copies_exposed", 50 * US);
    case_end(&c);
    copy_next_to(&c, 0);
    assert_fires(&c, "copies_exposed", NOT_ESTIMATED);
    case_end(&c);
}

/* A call from 100 to 300 µs, and a kernel that ends at `until`. */
static void call_copy(advice_case *c, const char *call, int64_t until) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_host(c, KIND_RUNTIME, call, 100, 200);
    case_kernel(c, "gemm", 10, 20, until - 20);
    case_ask(c);
}

static void copy_the_host_waits_for_costs_what_no_kernel_covers(void **state) {
    advice_case c;
    call_copy(&c, "cudaMemcpy", 200);
    assert_fires(&c, "synchronous_copies", 100 * US);
    assert_text(case_value(&c, "synchronous_copies", "call").u.text, "cudaMemcpy");
    case_end(&c);
}

static void copy_that_nothing_waits_for_is_left_alone(void **state) {
    advice_case c;
    call_copy(&c, "cudaMemcpyAsync", 200);
    assert_silent(&c, "synchronous_copies");
    case_end(&c);
    call_copy(&c, "cudaMemcpy", 290); /* 10 µs are 1 % */
    assert_silent(&c, "synchronous_copies");
    case_end(&c);
}

/* Two steps of 1000 µs with a call that takes memory. */
static void allocate(advice_case *c, int64_t at, int64_t dur) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_step(c, 2, 1000, 2000);
    case_kernel(c, "gemm", 10, 20, 500);
    case_kernel(c, "gemm", 1010, 1020, 500);
    case_host(c, KIND_RUNTIME, "cudaMalloc", at, dur);
    case_ask(c);
}

static void allocation_in_a_later_step_is_reported(void **state) {
    advice_case c;
    allocate(&c, 1600, 100);
    assert_fires(&c, "allocator_calls", 50 * US); /* of the average of two steps */
    assert_int_equal(fake_int(c.t, case_row(&c, "allocator_calls"), "step"), 2);
    case_end(&c);
}

/* The device copies meanwhile, until 620, which no allocator can change. */
static void calls_of_the_allocator_save_at_most_the_idle_time(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    int call = case_host(&c, KIND_RUNTIME, "cudaMemcpyAsync", 10, 5);
    fake_work(&c.f, c.gpu, KIND_MEMCPY, "MemcpyD2D", 20 * US, 600 * US, call);
    case_host(&c, KIND_RUNTIME, "cudaMalloc", 100, 900);
    case_ask(&c);
    size_t row = case_row(&c, "allocator_calls");
    assert_int_equal(fake_int(c.t, row, "saves"), 380 * US);
    assert_int_equal(case_value(&c, "allocator_calls", "time").u.i, 900 * US);
    case_end(&c);
}

static void allocation_in_the_first_step_or_a_short_one_is_usual(void **state) {
    advice_case c;
    allocate(&c, 600, 100);
    assert_silent(&c, "allocator_calls");
    case_end(&c);
    allocate(&c, 1600, 5);
    assert_silent(&c, "allocator_calls");
    case_end(&c);
}

static void hold_memory(advice_case *c, int64_t allocated, int64_t reserved) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    fake_add_memory(&c->f, (fake_memory){.time = 500 * US,
                                         .track = c->host,
                                         .address = 64,
                                         .bytes = allocated,
                                         .allocated = allocated,
                                         .reserved = reserved,
                                         .device_type = DEVICE_CUDA,
                                         .device = 0});
    case_ask(c);
}

static void nearly_full_device_is_reported(void **state) {
    advice_case c;
    hold_memory(&c, 920000, 930000);
    assert_fires(&c, "memory_near_capacity", NOT_ESTIMATED);
    size_t row = case_row(&c, "memory_near_capacity");
    assert_text(fake_text(c.t, row, "severity"), "warning");
    assert_near(case_value(&c, "memory_near_capacity", "memory_share").u.d, 0.92);
    assert_silent(&c, "fragmentation");
    case_end(&c);
    hold_memory(&c, 960000, 970000);
    row = case_row(&c, "memory_near_capacity");
    assert_text(fake_text(c.t, row, "severity"), "critical");
    case_end(&c);
}

static void half_full_device_is_left_alone(void **state) {
    advice_case c;
    hold_memory(&c, 500000, 510000);
    assert_silent(&c, "memory_near_capacity");
    assert_silent(&c, "fragmentation");
    case_end(&c);
}

static void memory_of_the_host_does_not_belong_to_a_device(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    fake_add_memory(&c.f, (fake_memory){.time = 500 * US,
                                        .track = c.host,
                                        .address = 64,
                                        .bytes = 990000,
                                        .allocated = 990000,
                                        .reserved = 0,
                                        .device_type = DEVICE_CPU,
                                        .device = -1});
    case_ask(&c);
    assert_silent(&c, "memory_near_capacity");
    case_end(&c);
}

static void reserved_memory_that_is_not_used_is_reported(void **state) {
    advice_case c;
    hold_memory(&c, 100000, 200000);
    assert_fires(&c, "fragmentation", NOT_ESTIMATED);
    assert_int_equal(case_value(&c, "fragmentation", "unused").u.i, 100000);
    case_end(&c);
}

static void a_little_unused_memory_is_left_alone(void **state) {
    advice_case c;
    hold_memory(&c, 20000, 60000); /* three times as much, but 4 % of the device */
    assert_silent(&c, "fragmentation");
    case_end(&c);
    hold_memory(&c, 500000, 700000); /* a fifth of the device, but 1.4 times as much */
    assert_silent(&c, "fragmentation");
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pageable_copy_costs_what_no_kernel_covers),
        cmocka_unit_test(pageable_copy_without_kernels_still_takes_its_time),
        cmocka_unit_test(memory_is_known_by_the_call_of_its_copy),
        cmocka_unit_test(copy_to_the_host_is_not_needed),
        cmocka_unit_test(pageable_copy_after_a_kernel_is_left_alone),
        cmocka_unit_test(pinned_copy_is_left_alone),
        cmocka_unit_test(pinned_copy_costs_what_no_kernel_covers),
        cmocka_unit_test(copy_that_stays_or_hides_is_left_alone),
        cmocka_unit_test(copy_saves_no_more_than_kernels_hide),
        cmocka_unit_test(copy_the_host_waits_for_costs_what_no_kernel_covers),
        cmocka_unit_test(copy_that_nothing_waits_for_is_left_alone),
        cmocka_unit_test(allocation_in_a_later_step_is_reported),
        cmocka_unit_test(calls_of_the_allocator_save_at_most_the_idle_time),
        cmocka_unit_test(allocation_in_the_first_step_or_a_short_one_is_usual),
        cmocka_unit_test(nearly_full_device_is_reported),
        cmocka_unit_test(half_full_device_is_left_alone),
        cmocka_unit_test(memory_of_the_host_does_not_belong_to_a_device),
        cmocka_unit_test(reserved_memory_that_is_not_used_is_reported),
        cmocka_unit_test(a_little_unused_memory_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
