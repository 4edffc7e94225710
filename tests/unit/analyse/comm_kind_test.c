/* comm_kind_test.c: what is communication. */
#include "fake_trace.h"

#include "analyse/comm/comm_kind.h"

static void host_ranges_of_any_library_count(void **state) {
    assert_true(comm_host_name(STR("nccl:all_reduce")));
    assert_true(comm_host_name(STR("gloo:broadcast")));
    assert_true(comm_host_name(STR("nccl:_all_gather_base")));
    assert_true(comm_host_name(STR("hccl:all_to_all")));
    assert_false(comm_host_name(STR("c10d::allreduce_")));
    assert_false(comm_host_name(STR("nccl:")));
    assert_false(comm_host_name(STR("ncclx")));
    assert_false(comm_host_name(STR("aten::mm")));
}

static void kernels_count_by_name_arguments_or_launching_op(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "nccl:all_reduce", 0, 50);
    int call = fake_add(&f, host, KIND_RUNTIME, "launch", 10, 5);
    int plain = fake_add(&f, host, KIND_RUNTIME, "launch", 60, 5);
    fake_work(&f, gpu, KIND_KERNEL, "some_kernel", 100, 5, call);
    fake_work(&f, gpu, KIND_KERNEL, "ncclDevKernel_AllReduce", 110, 5, plain);
    fake_work(&f, gpu, KIND_KERNEL, "gemm", 120, 5, plain);
    int tagged = fake_work(&f, gpu, KIND_KERNEL, "with arguments", 130, 5, plain);
    fake_work(&f, gpu, KIND_MEMCPY, "copy", 140, 5, call);
    int params_op = fake_add(&f, host, KIND_OP, "record_param_comms", 70, 20);
    int inside = fake_add(&f, host, KIND_RUNTIME, "launch", 75, 5);
    fake_work(&f, gpu, KIND_KERNEL, "plugin_kernel", 150, 5, inside);
    const trace *t = fake_seal(&f);
    f.t.comm.n = 3;
    FAKE_SET(&f, comm, slice, 1,
             f.id[tagged] < f.id[params_op] ? f.id[tagged] : f.id[params_op]);
    FAKE_SET(&f, comm, slice, 2,
             f.id[tagged] < f.id[params_op] ? f.id[params_op] : f.id[tagged]);
    comm_names n;
    assert_int_equal(comm_names_init(&n, t, &f.arena, NULL), OK);
    static const bool want[] = {false, true, true, false, true, false, true};
    for (uint32_t k = 1; k < t->kernel.n; k++)
        assert_int_equal(comm_kernel_row(&n, k), want[k]);
    fake_fini(&f);
}

static void collectives_of_serving_engines_count(void **state) {
    assert_true(comm_kernel_name(STR("multimem_all_reduce_kernel<c10::BFloat16, 16>")));
    assert_true(comm_kernel_name(STR("void vllm::cross_device_reduce_2stage<float, 8>(int)")));
    assert_true(comm_kernel_name(STR("Default/AllReduce-op12")));
    assert_false(comm_kernel_name(STR("__amd_rocclr_copyBuffer")));
    assert_true(comm_host_name(STR("mccl:all_reduce")));
}

static void names_of_kernels_and_ranges_speak_of_one_collective(void **state) {
    assert_int_equal(comm_type_of(STR("nccl:all_reduce")), COMM_ALL_REDUCE);
    assert_int_equal(comm_type_of(STR("ncclDevKernel_AllReduce_Sum_f32_RING_LL")),
                     COMM_ALL_REDUCE);
    assert_int_equal(comm_type_of(STR("nccl:_reduce_scatter_base")), COMM_REDUCE_SCATTER);
    assert_int_equal(comm_type_of(STR("ncclKernel_Broadcast_RING_LL")), COMM_BROADCAST);
    assert_int_equal(comm_type_of(STR("gloo:reduce")), COMM_REDUCE);
    assert_int_equal(comm_type_of(STR("nccl:send 0->1")), COMM_POINT);
    assert_int_equal(comm_type_of(STR("what")), COMM_OTHER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_ranges_of_any_library_count),
        cmocka_unit_test(kernels_count_by_name_arguments_or_launching_op),
        cmocka_unit_test(collectives_of_serving_engines_count),
        cmocka_unit_test(names_of_kernels_and_ranges_speak_of_one_collective),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
