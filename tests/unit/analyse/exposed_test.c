/* exposed_test.c: one definition of exposed communication, the same in every analysis. */
#include "fake_trace.h"

#include "analyse/device/breakdown.h"

static int64_t exposed_of(fake *f) {
    role_ranges ranges;
    const trace *t = fake_seal(f);
    assert_int_equal(
        role_ranges_make(t, (interval){INT64_MIN, INT64_MAX}, &f->arena, &ranges, NULL), OK);
    int64_t ns = intervals_ns(&ranges.exposed);
    fake_fini(f);
    return ns;
}

static void a_kernel_of_the_same_device_hides(void **state) {
    fake f;
    fake_init(&f);
    int comm = fake_stream(&f, 0), compute = fake_stream(&f, 0);
    fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce", 100, 50, -1);
    fake_work(&f, compute, KIND_KERNEL, "gemm", 120, 100, -1);
    fake_work(&f, compute, KIND_MEMCPY, "Memcpy HtoD", 90, 20, -1); /* no computation */
    assert_int_equal(exposed_of(&f), 20);
}

static void a_kernel_of_another_device_hides_nothing(void **state) {
    fake f;
    fake_init(&f);
    int comm = fake_stream(&f, 0), other = fake_stream(&f, 1), too = fake_stream(&f, 1);
    fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce", 100, 50, -1);
    fake_work(&f, other, KIND_KERNEL, "gemm", 100, 30, -1);
    fake_work(&f, too, KIND_KERNEL, "ncclDevKernel_AllReduce", 100, 50, -1);
    assert_int_equal(exposed_of(&f), 50); /* both at once count once */
}

static void the_call_on_the_host_is_not_the_collective(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), comm = fake_stream(&f, 0);
    fake_add(&f, host, KIND_ANNOTATION, "nccl:all_reduce", 0, 90);
    fake_add(&f, host, KIND_ANNOTATION, "gloo:barrier", 200, 7);
    fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce", 100, 50, -1);
    assert_int_equal(exposed_of(&f), 57);
}

static void a_stage_of_our_own_recording_has_no_kernels(void **state) {
    fake f;
    fake_init(&f);
    f.t.format = STR("tacho_recording");
    int host = fake_thread(&f), comm = fake_thread(&f);
    fake_add(&f, host, KIND_BACKWARD, "backward", 0, 100);
    fake_add(&f, comm, KIND_COLLECTIVE, "all_reduce", 10, 80);
    assert_int_equal(exposed_of(&f), 80);
}

/* Two steps with collectives on the host and on the device, half hidden; copies meanwhile. The
 * host waits for them: without them the step would be shorter. */
static const trace *make(fake *f) {
    fake_init(f);
    int host = fake_thread(f), comm = fake_stream(f, 0), compute = fake_stream(f, 0);
    for (int i = 0; i < 2; i++) {
        int64_t at = 1000 * i;
        fake_step(f, i + 1, at, at + 900);
        fake_add(f, host, KIND_OP, "aten::mm", at + 5, 100);
        fake_add(f, host, KIND_ANNOTATION, "nccl:all_reduce", at + 30, 600);
        int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 10, 5);
        fake_work(f, compute, KIND_KERNEL, "gemm", at + 100, 300, call);
        call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 20, 5);
        fake_work(f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce", at + 200, 400, call);
        call = fake_add(f, host, KIND_RUNTIME, "cudaMemcpyAsync", at + 30, 5);
        fake_work(f, compute, KIND_MEMCPY, "Memcpy DtoH", at + 420, 50, call);
        fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 40, 561);
    }
    return fake_seal(f);
}

static void every_analysis_says_the_same(void **state) {
    fake f;
    arena a = {0};
    params p = fake_params();
    const trace *t = make(&f);
    answer steps = fake_ask(analyse_steps, t, &p, &a),
           distributed = fake_ask(analyse_distributed, t, &p, &a),
           overview = fake_ask(analyse_overview, t, &p, &a),
           advise = fake_ask(analyse_advise, t, &p, &a);
    table *v = fake_table(&steps, "steps");
    assert_int_equal(fake_int(v, 0, "exposed_communication"), 200);
    assert_int_equal(fake_int(v, 1, "exposed_communication"), 200);
    assert_int_equal(fake_int(fake_table(&distributed, "overlap"), 0, "communication"), 200);
    table *advice = fake_table(&advise, "advice");
    size_t row = fake_row(advice, "communication_exposed");
    const verdict *said = advice->columns[fake_column(advice, "values")].v.sentence[row];
    assert_string_equal(said->args[0].name, "time");
    assert_int_equal(said->args[0].u.i, 200);
    assert_string_equal(overview.verdict.args[0].name, "idle_share");
    assert_near(overview.verdict.args[0].u.d, 1 - 1000.0 / 1800); /* 500 of each 900 */
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_of_the_same_device_hides),
        cmocka_unit_test(a_kernel_of_another_device_hides_nothing),
        cmocka_unit_test(the_call_on_the_host_is_not_the_collective),
        cmocka_unit_test(a_stage_of_our_own_recording_has_no_kernels),
        cmocka_unit_test(every_analysis_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
