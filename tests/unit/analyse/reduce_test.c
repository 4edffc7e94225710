/* reduce_test.c: a trace's summary holds what the trace says, and stays small. */
#include "analyse/run/reduce.h"

#include "fake_trace.h"

static summary *reduced(fake *f, const char *worker) {
    summary *s = summary_new();
    params p = fake_params();
    analysis_trace at = {.trace = fake_seal(f), .worker = str_of(worker), .rank = 3};
    reduce_question q = {.at = &at, .params = &p, .tables = true};
    assert_int_equal(reduce_trace(&q, 0, s, NULL), OK);
    assert_int_equal(summary_settle(s, NULL), OK);
    return s;
}

static void steps_tables_and_collectives_are_written_down(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "model", 0, 150);
    int op = fake_add(&f, host, KIND_OP, "aten::mm", 5, 45);
    int k = fake_work(&f, gpu, KIND_KERNEL, "gemm", 10, 30, -1);
    f.slices[k].op = op;
    k = fake_work(&f, gpu, KIND_KERNEL, "gemm", 50, 10, -1);
    f.slices[k].op = op;
    fake_add(&f, host, KIND_RUNTIME, "cudaMalloc", 70, 20);
    fake_add(&f, host, KIND_RUNTIME, "cudaMallocAsync", 92, 3);
    fake_add(&f, host, KIND_COLLECTIVE, "gloo:all_reduce", 100, 40);
    summary *s = reduced(&f, "node7_1234");
    const summary_worker *w = SUMMARY_ROWS(s, worker);
    assert_int_equal(w->rank, 3);
    assert_text(w->host, "node7");
    assert_int_equal(w->collectives, 1);
    assert_int_equal(w->collectives_left_out, 0);
    const summary_step *step = SUMMARY_ROWS(s, step);
    assert_int_equal(SUMMARY_N(s, step), 1);
    assert_int_equal(step->kernel, 40);
    assert_int_equal(step->communication, 40);
    assert_int_equal(step->device, 40);    /* a collective on the host leaves it idle */
    assert_int_equal(step->allocator, 20); /* the other call does not wait for the device */
    assert_int_equal(step->computation + step->overlapping + step->exposed + step->neither,
                     step->end - step->start);
    const summary_kernel *kernel = SUMMARY_ROWS(s, kernel);
    assert_int_equal(SUMMARY_N(s, kernel), 1);
    assert_int_equal(kernel->calls, 2);
    assert_int_equal(kernel->total, 40);
    assert_int_equal(kernel->max, 30);
    assert_int_equal(kernel->min, 10);
    assert_text(kernel->worst_worker, "node7_1234");
    assert_int_equal(SUMMARY_N(s, comm), 1);
    assert_int_equal(SUMMARY_ROWS(s, range)->start, 100);
    assert_int_equal(SUMMARY_ROWS(s, range)->end, 140);
    int64_t counted = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, histogram); i++)
        counted += SUMMARY_ROWS(s, histogram)[i].count;
    assert_int_equal(counted, 4);
    /* What this worker spent in each name: two operators, then the kernel. */
    const summary_worker_time *spent = SUMMARY_ROWS(s, worker_time);
    assert_int_equal(SUMMARY_N(s, worker_time), 3);
    assert_int_equal(spent[2].what, 1);
    assert_int_equal(spent[2].bucket, summary_fine_bucket(40));
    assert_int_equal(spent[2].count, 1);
    assert_int_equal(kernel->least, 40);
    assert_int_equal(kernel->worst, 40);
    summary_free(s);
    fake_fini(&f);
}

static void the_host_is_known_by_the_name_of_the_worker(void **state) {
    fake f;
    fake_init(&f);
    const trace *t = fake_seal(&f);
    assert_text(reduce_host(t, STR("gpu-12_4711")), "gpu-12");
    assert_text(reduce_host(t, STR("rank_3")), "");
    assert_text(reduce_host(t, STR("rank3")), "");
    assert_text(reduce_host(t, STR("_3")), "");
    assert_text(reduce_host(t, STR("")), "");
    fake_fini(&f);
}

/* A synthetic summary that is far too large is cut, and says by how much. */
static void a_worker_takes_a_megabyte_at_most(void **state) {
    enum { N = 200 };
    static fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    for (int i = 0; i < N; i++)
        fake_add(&f, host, KIND_COLLECTIVE, "gloo:all_reduce", 100 * i, 40);
    analysis_trace at = {.trace = fake_seal(&f), .worker = STR("w"), .rank = 0};
    trace *out;
    assert_int_equal(reduce_worker(&at, 0, &out, NULL), OK);
    buf bytes = {0};
    summary *s = (summary *)(uintptr_t)out->summary;
    assert_int_equal(SUMMARY_ROWS(s, worker)->collectives, N);
    assert_int_equal(SUMMARY_N(s, comm), N);
    assert_int_equal(summary_encode(s, STR_NONE, &bytes, NULL), OK);
    assert_true(bytes.n < N * 40 + 20000); /* some 25 bytes a collective */
    buf_fini(&bytes);
    trace_release(out);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_tables_and_collectives_are_written_down),
        cmocka_unit_test(the_host_is_known_by_the_name_of_the_worker),
        cmocka_unit_test(a_worker_takes_a_megabyte_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
