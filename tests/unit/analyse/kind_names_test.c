/* kind_names_test.c: names of kinds and devices. */
#include "fake_trace.h"

#include "analyse/kind_names.h"

static void every_kind_has_a_unique_name(void **state) {
    for (uint8_t i = 0; i < N_KINDS; i++)
        for (uint8_t k = 0; k < i; k++) assert_false(str_eq(kind_name(i), kind_name(k)));
    assert_text(kind_name(KIND_DATA), "data_loading");
    assert_text(kind_name(255), "other");
}

static void copies_tell_their_way(void **state) {
    assert_int_equal(copy_way_of(STR("Memcpy HtoD (Pinned -> Device)")), COPY_TO_DEVICE);
    assert_int_equal(copy_way_of(STR("MemcpyH2D")), COPY_TO_DEVICE);
    assert_int_equal(copy_way_of(STR("HostToDevice")), COPY_TO_DEVICE);
    assert_int_equal(copy_way_of(STR("MEMCPYDtoH")), COPY_TO_HOST);
    assert_int_equal(copy_way_of(STR("memory copy, device to host")), COPY_TO_HOST);
    assert_int_equal(copy_way_of(STR("Memcpy DtoD (Device -> Device)")), COPY_ELSEWHERE);
    assert_int_equal(copy_way_of(STR("Memcpy PtoP")), COPY_ELSEWHERE);
    assert_int_equal(copy_way_of(STR("")), COPY_ELSEWHERE);
}

static void devices_are_named_by_type_and_number(void **state) {
    arena a = {0};
    assert_text(device_name(NULL, &a, DEVICE_CPU, -1), "CPU");
    assert_text(device_name(NULL, &a, DEVICE_CUDA, 3), "GPU3");
    assert_text(device_name(NULL, &a, DEVICE_XPU, 0), "XPU0");
    assert_text(device_name(NULL, &a, DEVICE_MPS, -1), "MPS");
    assert_text(device_name(NULL, &a, 77, 1), "Device1");
    arena_fini(&a);
}

/* HIP devices come as CUDA's: their names tell. */
static void parts_of_a_device_are_called_as_its_makers_do(void **state) {
    static const struct {
        uint8_t type;
        const char *name, *unit, *matrix, *module, *graphs;
    } cases[] = {
        {DEVICE_CUDA, "NVIDIA H100", "SM", "Tensor Core", "cuda", "CUDA graphs"},
        {DEVICE_CUDA, "AMD Instinct MI300X", "CU", "Matrix Core", "cuda", "HIP graphs"},
        {DEVICE_XPU, "Intel Data Center GPU Max", "Xe core", "XMX engine", "xpu", ""},
        {DEVICE_ASCEND, "", "AI Core", "Cube unit", "npu", ""},
        {DEVICE_PRIVATE, "", "core", "matrix unit", "accelerator", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake f;
        fake_init(&f);
        FAKE_SET(&f, device, type, 1, cases[i].type);
        FAKE_SET(&f, device, name, 1, fake_str(&f, cases[i].name));
        f.t.device.n = 2;
        assert_text(device_unit(&f.t), cases[i].unit);
        assert_text(device_matrix_unit(&f.t), cases[i].matrix);
        assert_text(device_module(&f.t), cases[i].module);
        assert_text(device_graphs(&f.t), cases[i].graphs);
        fake_fini(&f);
    }
}

static void a_kernel_name_in_a_sentence_is_short(void **state) {
    (void)state;
    static const struct {
        str full, brief;
    } cases[] = {
        {STR("void cudnn::bn_bw<float, 1>(float)"), STR("cudnn::bn_bw")},
        {STR("sm90_xmma_gemm"), STR("sm90_xmma_gemm")},
        {STR("ncclDevKernel_AllReduce(ncclDevComm*)"), STR("ncclDevKernel_AllReduce")},
        {STR("void at::(anonymous namespace)::f<int>(int)"),
         STR("at::(anonymous namespace)::f")},
        {STR("void cutlass::Kernel2<cutlass_75_gemm_align1>(cutlass_75_gemm_align1::Params)"),
         STR("cutlass_75_gemm_align1")},
        {STR("void cutlass::device_kernel<at::(anonymous namespace)::f<int, 4>, 2>(int)"),
         STR("at::(anonymous namespace)::f")},
        {STR("void cutlass::Kernel<>(int)"), STR("cutlass::Kernel")},
        {STR(""), STR("")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(str_eq(kernel_short_name(cases[i].full), cases[i].brief));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_device_are_called_as_its_makers_do),
        cmocka_unit_test(a_kernel_name_in_a_sentence_is_short),
        cmocka_unit_test(every_kind_has_a_unique_name),
        cmocka_unit_test(copies_tell_their_way),
        cmocka_unit_test(devices_are_named_by_type_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
