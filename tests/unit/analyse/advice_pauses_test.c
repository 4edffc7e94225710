/* advice_pauses_test.c: the device waits and nothing runs on the host: loading, or something else. */
#include "advice_case.h"

/* A step of 10 ms: work until 2 ms, nothing until `next`, then an operator that launches. */
static void pause_until(advice_case *c, int64_t next, uint8_t kind, const char *work) {
    case_begin(c);
    case_step(c, 1, 0, 10000);
    case_host(c, KIND_OP, "aten::mm", 0, 30);
    case_kernel(c, "a", 10, 20, 1980);
    case_host(c, KIND_OP, "aten::copy_", next, 40);
    int call = case_host(c, KIND_RUNTIME, "cudaMemcpyAsync", next + 10, 5);
    fake_work(&c->f, c->gpu, kind, work, (next + 20) * US, (9980 - next) * US, call);
}

static void a_pause_before_a_batch_counts_as_loading(void **state) {
    advice_case c;
    pause_until(&c, 6000, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)");
    case_ask(&c);
    assert_fires(&c, "data_loader_unmarked", 4000 * US);
    assert_int_equal(case_value(&c, "data_loader_unmarked", "longest").u.i, 4000 * US);
    assert_silent(&c, "host_pause");
    assert_silent(&c, "host_late"); /* the pause is not the launches' fault */
    assert_text(str_of(c.out.verdict.id), "data_loader_unmarked");
    case_end(&c);
}

static void a_pause_elsewhere_is_something_else(void **state) {
    advice_case c;
    pause_until(&c, 6000, KIND_KERNEL, "b");
    case_ask(&c);
    assert_fires(&c, "host_pause", 4000 * US);
    assert_silent(&c, "data_loader_unmarked");
    case_end(&c);
}

static void a_step_that_begins_with_a_pause_loads(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 10000);
    case_host(&c, KIND_OP, "aten::mm", 4000, 30);
    case_kernel(&c, "a", 4010, 4020, 5980);
    case_ask(&c);
    assert_fires(&c, "data_loader_unmarked", 4000 * US);
    case_end(&c);
}

static void a_loader_that_marks_itself_is_not_looked_for(void **state) {
    advice_case c;
    pause_until(&c, 6000, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)");
    case_host(&c, KIND_DATA, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
              40, 20);
    case_ask(&c);
    assert_silent(&c, "data_loader_unmarked");
    assert_fires(&c, "host_pause", 4000 * US);
    case_end(&c);
}

/* Once in five steps: the step is too long, and the program pauses in no other. */
static void a_pause_of_one_step_is_not_one_of_each(void **state) {
    advice_case c;
    case_begin(&c);
    for (int i = 0; i < 5; i++) {
        int64_t at = i < 4 ? 1000 * i : 4000, pause = i < 4 ? 0 : 5000;
        case_step(&c, i, at, at + 1000 + pause);
        case_host(&c, KIND_OP, "aten::mm", at, 100);
        case_kernel(&c, "a", at + 10, at + 20, 480);
        case_host(&c, KIND_OP, "aten::add", at + 500 + pause, 100);
        case_kernel(&c, "b", at + 510 + pause, at + 520 + pause, 480);
    }
    case_ask(&c);
    assert_silent(&c, "host_pause");
    assert_silent(&c, "data_loader_unmarked");
    assert_fires(&c, "step_variance", 1000 * US);
    case_end(&c);
}

static void what_an_interpreter_takes_is_not_a_pause(void **state) {
    advice_case c;
    pause_until(&c, 2400, KIND_KERNEL, "b"); /* 0.4 ms */
    case_ask(&c);
    assert_silent(&c, "host_pause");
    assert_silent(&c, "data_loader_unmarked");
    case_end(&c);
    pause_until(&c, 6000, KIND_KERNEL, "b");
    case_host(&c, KIND_OP, "aten::unique", 2000, 3990); /* the host works */
    case_ask(&c);
    assert_silent(&c, "host_pause");
    assert_fires(&c, "host_late", 4029400); /* idle for 4040, but a launch takes its time */
    case_end(&c);
}

static void a_frame_of_the_thread_that_launches_is_named(void **state) {
    advice_case c;
    pause_until(&c, 6000, KIND_KERNEL, "b");
    int other = fake_thread(&c.f);
    case_host(&c, KIND_PYTHON, "train.py(1): main", 0, 10000);
    case_host(&c, KIND_PYTHON, "train.py(7): log", 1500, 4700);
    fake_add(&c.f, other, KIND_PYTHON, "threading.py(3): wait", 1900 * US, 4200 * US);
    case_ask(&c);
    assert_text(case_value(&c, "host_pause", "frame").u.text, "train.py(7): log");
    case_end(&c);
}

static void a_program_without_a_device_pauses_too(void **state) {
    advice_case c;
    case_begin(&c);
    c.f.t.device.n = 1;
    case_step(&c, 1, 0, 10000);
    case_host(&c, KIND_OP, "aten::mm", 0, 3000);
    case_host(&c, KIND_OP, "aten::mm", 7000, 3000);
    case_ask(&c);
    assert_fires(&c, "host_pause", 4000 * US);
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_before_a_batch_counts_as_loading),
        cmocka_unit_test(a_pause_elsewhere_is_something_else),
        cmocka_unit_test(a_step_that_begins_with_a_pause_loads),
        cmocka_unit_test(a_loader_that_marks_itself_is_not_looked_for),
        cmocka_unit_test(a_pause_of_one_step_is_not_one_of_each),
        cmocka_unit_test(what_an_interpreter_takes_is_not_a_pause),
        cmocka_unit_test(a_frame_of_the_thread_that_launches_is_named),
        cmocka_unit_test(a_program_without_a_device_pauses_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
