/* lexicon_test.c: what names of kernels say, and what they only seem to say. */
#include "fake_trace.h"

#include "analyse/lexicon.h"

typedef struct {
    const char *name;
    kernel_class class;
    matrix_use matrix;
} wanted;

static void check(const wanted *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        lexicon_entry e = lexicon_kernel(str_of(rows[i].name));
        if (e.class != rows[i].class || e.matrix != rows[i].matrix)
            fail_msg("%s: class %d, matrix %d instead of %d, %d", rows[i].name, e.class,
                     e.matrix, rows[i].class, rows[i].matrix);
    }
}

#define CHECK(rows) check(rows, sizeof rows / sizeof *rows)

static void matrix_cores_of_every_vendor_are_recognized(void **state) {
    static const wanted rows[] = {
        {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tt", CLASS_GEMM, MATRIX_YES},
        {"nvjet_sm103_tst_256x16_64x6_4x1_v_bz_TNT", CLASS_GEMM, MATRIX_YES},
        {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN", CLASS_GEMM,
         MATRIX_YES},
        {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_"
         "v3",
         CLASS_CONVOLUTION, MATRIX_YES},
        {"igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32", CLASS_CONVOLUTION, MATRIX_YES},
        {"_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelI", CLASS_ATTENTION,
         MATRIX_YES},
        {"void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>", CLASS_ATTENTION,
         MATRIX_YES},
        {"bmm_Bfloat16_Bfloat16Bfloat16_Fp32_t128x8x128u2_s6_sm100f", CLASS_GEMM, MATRIX_YES},
        {"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_sm100f", CLASS_MOE, MATRIX_YES},
        {"fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64ForGen", CLASS_ATTENTION,
         MATRIX_YES},
        {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", CLASS_MOE, MATRIX_YES},
        {"void deep_gemm::fp8_gemm_kernel<4096u>", CLASS_GEMM, MATRIX_YES},
        {"gptq_marlin_repack_kernel", CLASS_QUANTIZATION, MATRIX_NO},
        {"void marlin_moe_wna16::Marlin<1125899906909960l, 128, 1, 8, 4>", CLASS_MOE,
         MATRIX_YES},
        {"aclnnMm_MatMulCommon_MatMulV2", CLASS_GEMM, MATRIX_YES},
    };
    CHECK(rows);
}

static void what_looks_like_matrix_work_and_is_not(void **state) {
    static const wanted rows[] = {
        {"SubTensorOpWithScalar1d", CLASS_COPY, MATRIX_NO},
        {"triton_poi_fused__to_copy_add_fmha_v3_fwd_view_24", CLASS_ELEMENTWISE, MATRIX_NO},
        {"triton_red_fused_add_addmm_mul_native_layer_norm_split_15", CLASS_NORMALIZATION,
         MATRIX_NO},
        {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_ffma_cublas", CLASS_GEMM,
         MATRIX_NO},
        {"ampere_fp16_sgemm_fp16_32x128_tn", CLASS_GEMM, MATRIX_NO},
        {"Cijk_B_PostGSU2", CLASS_GEMM, MATRIX_NO},
        {"void flash_bwd_dot_do_o_kernel<true>", CLASS_ATTENTION, MATRIX_NO},
        {"void cudnn::ops::nchwToNhwcKernel<__half, __half>", CLASS_COPY, MATRIX_NO},
        {"void cask_cudnn::computeOffsetsKernel(Params)", CLASS_CONVOLUTION, MATRIX_NO},
        {"aclnnMm_TransData_TransData", CLASS_COPY, MATRIX_NO},
        {"__amd_rocclr_fillBufferAligned.kd", CLASS_COPY, MATRIX_NO},
        {"wrapped_convert.kd", CLASS_COPY, MATRIX_NO},
        {"Conv2DBackpropFilter6_MemSet", CLASS_COPY, MATRIX_NO},
        {"Mul", CLASS_ELEMENTWISE, MATRIX_NO},
        {"void "
         "cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<"
         "cutlass_cudnn_train::MatrixShape<4, 128> > >",
         CLASS_CONVOLUTION, MATRIX_NO},
        {"moeTopK", CLASS_MOE_ROUTING, MATRIX_NO},
        {"mxfp4_moe_sort_kernel", CLASS_MOE_ROUTING, MATRIX_NO},
        {"l2norm_fwd_kernel", CLASS_NORMALIZATION,
         MATRIX_NO}, /* not every fwd_kernel is attention */
    };
    CHECK(rows);
}

static void what_a_name_does_not_tell_is_not_known(void **state) {
    static const wanted rows[] = {
        {"triton__0d1d2de", CLASS_UNKNOWN, MATRIX_UNKNOWN},
        {"Kernel", CLASS_UNKNOWN, MATRIX_UNKNOWN},
        {"", CLASS_UNKNOWN, MATRIX_UNKNOWN},
        {"gemm_fusion_dot_2", CLASS_GEMM, MATRIX_UNKNOWN},
        {"_glm53_moe_int4_gemv_partial", CLASS_MOE, MATRIX_UNKNOWN},
        {"_roll_pad_partition_kernel", CLASS_UNKNOWN, MATRIX_UNKNOWN},
        {"Cijk_Ailk_Bljk_BBS_BH_MT1x4x256_SN", CLASS_GEMM, MATRIX_UNKNOWN},
        {"attn_fwd", CLASS_ATTENTION, MATRIX_BY_TYPE},
        {"triton_tem_fused_mm_0", CLASS_GEMM, MATRIX_BY_TYPE},
        {"Conv2DBackpropFilter6", CLASS_CONVOLUTION, MATRIX_ON_CUBE},
        {"MatMul", CLASS_GEMM, MATRIX_ON_CUBE},
    };
    CHECK(rows);
}

/* Libraries of models that serve: products by the types of both sides, and what is around
 * them. */
static void kernels_of_serving_libraries_are_known(void **state) {
    static const wanted rows[] = {
        {"_ZN5aiter28pa_bf16_noquant_gqa16_1tg_4wE", CLASS_ATTENTION, MATRIX_YES},
        {"_ZN5aiter26pa_p16_d128_reduce_ps_bf16E", CLASS_ATTENTION, MATRIX_NO},
        {"ZN5aiter29fmha_bwd_hd64_dq_convert_fp16E", CLASS_ATTENTION, MATRIX_NO},
        {"_ZN5aiter32a16w8gemm_bf16_mxfp8_tr1_tn1_nw2E", CLASS_GEMM, MATRIX_YES},
        {"_ZN5aiter4mla_E", CLASS_UNKNOWN, MATRIX_UNKNOWN},
        {"_ZN5aiter999mla_a8w8E", CLASS_ATTENTION, MATRIX_YES}, /* a wrong length */
        {"void w4a16_my_kernel<true>(Params)", CLASS_GEMM, MATRIX_YES},
        {"flash_mla_combine_kernel", CLASS_ATTENTION, MATRIX_NO},
        {"my_router_gemm_kernel<__nv_bfloat16>", CLASS_GEMM, MATRIX_NO},
        {"computeStridesTmaWarpSpecializedKernel", CLASS_MOE_ROUTING, MATRIX_NO},
        {"sortTokensByExpertKernel<256>", CLASS_MOE_ROUTING, MATRIX_NO},
        {"my_moe_mm_sm100", CLASS_MOE, MATRIX_YES},
        {"void deep_gemm::my_layout::transpose_fp32<512>", CLASS_COPY, MATRIX_NO},
        {"appendPagedKVCacheKernel", CLASS_KV_CACHE, MATRIX_NO},
        {"flashinfer::BatchDecodeWithPagedKVCacheKernel<x>", CLASS_ATTENTION, MATRIX_UNKNOWN},
        {"flashinfer::ropeQuantizeKernel<x>", CLASS_ROPE, MATRIX_NO},
        {"_temperature_kernel", CLASS_SAMPLING, MATRIX_NO},
        {"TopKTopPSamplingFromProb", CLASS_SAMPLING, MATRIX_NO},
        {"per_token_group_quant_for_deep_gemm", CLASS_QUANTIZATION, MATRIX_NO},
        {"cast_and_transpose<float>", CLASS_QUANTIZATION, MATRIX_NO},
        {"swiglu_and_cast_to_fp8<x>", CLASS_ELEMENTWISE, MATRIX_NO},
        {"_fwd_kernel_silu_and_mul", CLASS_ELEMENTWISE, MATRIX_NO},
        {"wrapped_reduce", CLASS_REDUCTION, MATRIX_NO},
    };
    CHECK(rows);
}

static void collectives_of_every_library_are_communication(void **state) {
    static const char *const names[] = {
        "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
        "ncclSymkDevKernel_AllReduce_RSxLD_AGxST(ncclSymkDevWorkArgs4K)",
        "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, "
        "16>(c10::BFloat16*)",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "void sglang::cross_device_reduce_2stage<__nv_bfloat16, 4>(sglang::RankData*)",
        "one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>",
        "two_shot_all_reduce_kernel<float, 16, 8>",
        "void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<half>",
        "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot>",
        "void mscclpp::collective::allreduceNvls<float>",
        "void nvshmemi_proxy_kernel()",
        "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)",
        "void deep_ep::internode_ll::combine<true, 7168, 8>(void*)",
        "void deep_ep::intranode::notify_dispatch<8>(int const*)",
        "mcclKernel_AllReduce_RING_LL_Sum_float(mcclDevComm*)",
        "hcom_allReduce__123_0_1",
        "rccl_main_kernel(ncclDevComm*)",
        "oneccl_allreduce_small_kernel",
        "cnclAllReduceKernel",
        "all-reduce-start.3",
        "mori::moe::EpDispatchIntraNodeKernel<float>",
        "EpCombineInterNodeKernel",
        "pplx::dispatchKernel<4>",
        "aclnnMoeDistributeCombine",
    };
    static const char *const others[] = {
        "__amd_rocclr_copyBuffer",
        "void (anonymous namespace)::groupnorm_kernel_dispatch_up<__hip_bfloat16, 1024u>(int)",
        "void cub::DeviceSelectSweepKernel<cub::DispatchSelectIf<int*> >(int)",
        "_combined_routing_compute",
        "void recat_copy_async_kernel<float>(long const*)",
        "void at::native::_scatter_gather_elementwise_kernel<128, 4>(int)",
        "triton_poi_fused_all_reduce_add_0",
        "void deep_ep::layout::get_dispatch_layout<256>(long const*)",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (lexicon_kernel(str_of(names[i])).class != CLASS_COMMUNICATION)
            fail_msg("missed: %s", names[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (lexicon_kernel(str_of(others[i])).class == CLASS_COMMUNICATION)
            fail_msg("taken for a collective: %s", others[i]);
}

static void the_type_is_that_of_the_inputs(void **state) {
    static const struct {
        const char *name;
        kernel_type type;
    } rows[] = {
        {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT64x32x256_MI16x16x1_SN", DTYPE_BF16},
        {"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_MT16x16x128_MI16x16x1_SN", DTYPE_FP32},
        {"volta_sgemm_128x64_nt", DTYPE_FP32},
        {"cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4", DTYPE_TF32},
        {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_relu_f2f_stages_32x5_tn", DTYPE_FP16},
        {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1", DTYPE_FP4},
        {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
         DTYPE_BF16}, /* the first letter: inputs */
        {"nvjet_sm90_hsh_64x16_64x16_2x4_h_bz_bias_NNT", DTYPE_FP16},
        {"nvjet_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", DTYPE_FP8},
        {"nvjet_test", DTYPE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (lexicon_kernel(str_of(rows[i].name)).type != rows[i].type)
            fail_msg("%s: %d", rows[i].name, lexicon_kernel(str_of(rows[i].name)).type);
    assert_int_equal(lexicon_input_type(STR("[\"c10::BFloat16\",\"float\"]")), DTYPE_BF16);
    assert_int_equal(lexicon_input_type(STR("[\"float\",\"Scalar\"]")), DTYPE_FP32);
    assert_int_equal(lexicon_input_type(STR("[\"long int\"]")), DTYPE_UNKNOWN);
}

static void classes_have_the_words_of_the_contract(void **state) {
    assert_text(kernel_class_word(CLASS_NORMALIZATION), "normalization");
    assert_text(kernel_class_word(CLASS_COMMUNICATION), "communication");
    assert_text(kernel_class_word(CLASS_KV_CACHE), "kv_cache");
    assert_text(kernel_class_word(CLASS_QUANTIZATION), "quantization");
    assert_text(kernel_class_word(CLASS_SORT), "other");
    assert_null(kernel_class_word(CLASS_UNKNOWN).p);
}

/* One name, two operators: the types of the inputs decide what the name leaves open. */
static void types_of_the_inputs_decide(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int op1 = fake_add(&f, host, KIND_OP, "aten::mm", 0, 50);
    int call1 = fake_add(&f, host, KIND_RUNTIME, "launch", 10, 5);
    int op2 = fake_add(&f, host, KIND_OP, "aten::mm", 60, 50);
    int call2 = fake_add(&f, host, KIND_RUNTIME, "launch", 70, 5);
    f.slices[op1].has_op_row = f.slices[op2].has_op_row = true;
    f.slices[op1].types = "[\"c10::BFloat16\",\"c10::BFloat16\"]";
    f.slices[op2].types = "[\"float\",\"float\"]";
    fake_work(&f, gpu, KIND_KERNEL, "triton_tem_fused_mm_0", 100, 5, call1);
    fake_work(&f, gpu, KIND_KERNEL, "triton_tem_fused_mm_0", 110, 5, call2);
    fake_work(&f, gpu, KIND_KERNEL, "my_own", 120, 5, call2);
    const trace *t = fake_seal(&f);
    lexicon l;
    assert_int_equal(lexicon_init(&l, t, &f.arena, NULL), OK);
    assert_int_equal(lexicon_kernel_row(&l, 1).matrix, MATRIX_YES);
    assert_int_equal(lexicon_kernel_row(&l, 1).type, DTYPE_BF16);
    assert_int_equal(lexicon_kernel_row(&l, 2).matrix, MATRIX_UNKNOWN);
    assert_int_equal(lexicon_kernel_row(&l, 3).class, CLASS_GEMM);
    assert_int_equal(lexicon_kernel_row(&l, 3).matrix, MATRIX_UNKNOWN);
    fake_fini(&f);
}

/* The name of an operator alone: on the cube of an Ascend, not known on a GPU. */
static void on_an_ascend_products_run_on_the_cube(void **state) {
    for (int ascend = 0; ascend < 2; ascend++) {
        fake f;
        fake_init(&f);
        FAKE_SET(&f, device, type, f.t.device.n, ascend ? DEVICE_ASCEND : DEVICE_CUDA);
        f.t.device.n++;
        fake_work(&f, fake_stream(&f, 0), KIND_KERNEL, "MatMul", 100, 5, -1);
        lexicon l;
        assert_int_equal(lexicon_init(&l, fake_seal(&f), &f.arena, NULL), OK);
        assert_int_equal(lexicon_kernel_row(&l, 1).matrix,
                         ascend ? MATRIX_YES : MATRIX_UNKNOWN);
        fake_fini(&f);
    }
}

/* Calls as roctracer and rocprofiler name them. */
static void calls_of_hip_are_known(void **state) {
    static const struct {
        const char *name;
        uint32_t means;
    } calls[] = {{"hipLaunchKernel", MEANS_LAUNCHES},
                 {"hipExtLaunchKernel", MEANS_LAUNCHES},
                 {"hipModuleLaunchKernel", MEANS_LAUNCHES},
                 {"hipExtModuleLaunchKernel", MEANS_LAUNCHES},
                 {"hipHccModuleLaunchKernel", MEANS_LAUNCHES},
                 {"hipLaunchCooperativeKernel", MEANS_LAUNCHES},
                 {"hipGraphLaunch", MEANS_LAUNCHES},
                 {"hipGraphLaunch", MEANS_REPLAYS},
                 {"hipStreamBeginCapture", MEANS_CAPTURES},
                 {"hipDeviceSynchronize", MEANS_BLOCKS},
                 {"hipEventSynchronize", MEANS_BLOCKS},
                 {"hipMemcpyWithStream", MEANS_BLOCKS},
                 {"hipMemcpyDtoH", MEANS_BLOCKS},
                 {"hipMemcpyHtoD", MEANS_COPIES},
                 {"hipMemcpyAsync", MEANS_COPY_CALL},
                 {"hipHostMalloc", MEANS_ALLOCATES},
                 {"hipFreeHost", MEANS_ALLOCATES},
                 {"np.asarray(jax.Array)", MEANS_READS_VALUE},
                 {"jax.block_until_ready", MEANS_BLOCKS},
                 {"jax.lower(train_step)", MEANS_COMPILES},
                 {"backend_compile (dynamo_timed)", MEANS_COMPILES}};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!lexicon_means(str_of(calls[i].name), calls[i].means))
            fail_msg("%s is not known", calls[i].name);
    assert_false(lexicon_means(STR("hipMemcpyAsync"), MEANS_BLOCKS));
    assert_false(lexicon_means(STR("PjitFunction(compile)"), MEANS_COMPILES));
    assert_false(lexicon_means(STR("hipGetDevicePropertiesR0600"), MEANS_LAUNCHES));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_cores_of_every_vendor_are_recognized),
        cmocka_unit_test(what_looks_like_matrix_work_and_is_not),
        cmocka_unit_test(what_a_name_does_not_tell_is_not_known),
        cmocka_unit_test(kernels_of_serving_libraries_are_known),
        cmocka_unit_test(collectives_of_every_library_are_communication),
        cmocka_unit_test(the_type_is_that_of_the_inputs),
        cmocka_unit_test(classes_have_the_words_of_the_contract),
        cmocka_unit_test(types_of_the_inputs_decide),
        cmocka_unit_test(on_an_ascend_products_run_on_the_cube),
        cmocka_unit_test(calls_of_hip_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
