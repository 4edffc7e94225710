/* in_use_test.c: what a program uses, by its events. */
#include "fake_trace.h"

#include "analyse/operators/in_use.h"

static in_use find(fake *f) {
    in_use found;
    assert_int_equal(in_use_find(fake_seal(f), &f->arena, &found, NULL), OK);
    return found;
}

static void names_of_events_show_what_is_used(void **state) {
    static const struct {
        uint8_t kind;
        const char *name;
        use_kind use;
    } rows[] = {
        {KIND_OP, "CompiledFunction", USE_COMPILER},
        {KIND_ANNOTATION, "Torch-Compiled Region: 0/0", USE_COMPILER},
        {KIND_RUNTIME, "cudaGraphLaunch", USE_GRAPHS},
        {KIND_OP, "aten::_fused_adamw_", USE_FUSED_OPTIMIZER},
        {KIND_OP, "aten::_foreach_addcdiv_", USE_FOREACH_OPTIMIZER},
        {KIND_DATA, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
         USE_LOADER_WORKERS},
        {KIND_ANNOTATION, "DistributedDataParallel.forward", USE_DDP},
        {KIND_ANNOTATION, "FullyShardedDataParallel.forward", USE_FSDP},
        {KIND_OP, "CheckpointFunction", USE_CHECKPOINTING},
        {KIND_PYTHON, "torch/utils/checkpoint.py(12): checkpoint", USE_CHECKPOINTING},
        {KIND_OP, "aten::_flash_attention_forward", USE_FUSED_ATTENTION},
        {KIND_OP, "aten::_cudnn_attention_forward", USE_CUDNN_ATTENTION},
        {KIND_OP, "AddmmBackward", USE_PYTORCH_1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake f;
        fake_init(&f);
        fake_add(&f, fake_thread(&f), rows[i].kind, rows[i].name, 0, 10);
        in_use found = find(&f);
        for (use_kind u = 0; u < N_USES; u++)
            if (found.n[u] != (u == rows[i].use))
                fail_msg("%s: %s %d times", rows[i].name, use_word(u).p, (int)found.n[u]);
        fake_fini(&f);
    }
}

static void a_python_frame_of_that_name_shows_nothing(void **state) {
    fake f;
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_PYTHON, "CompiledFunction", 0, 10);
    assert_int_equal(find(&f).n[USE_COMPILER], 0);
    fake_fini(&f);
}

/* The operator is shown, although the kernel is earlier in the trace. */
static void an_operator_is_the_better_evidence(void **state) {
    fake f;
    fake_init(&f);
    int gpu = fake_stream(&f, 0), host = fake_thread(&f);
    fake_work(&f, gpu, KIND_KERNEL, "flash_fwd_kernel<1>", 0, 5, -1);
    fake_add(&f, host, KIND_OP, "aten::_flash_attention_forward", 10, 5);
    const trace *t = fake_seal(&f);
    in_use found;
    assert_int_equal(in_use_find(t, &f.arena, &found, NULL), OK);
    assert_int_equal(found.n[USE_FUSED_ATTENTION], 2);
    assert_text(trace_slice_name(t, found.slice[USE_FUSED_ATTENTION]),
                "aten::_flash_attention_forward");
    fake_fini(&f);
}

/* Inside and with a copy. */
static void casts_inside_a_product_are_autocast(void **state) {
    for (int i = 0; i < 4; i++) {
        fake f;
        fake_init(&f);
        int host = fake_thread(&f), at = i & 1 ? 10 : 60;
        fake_add(&f, host, KIND_OP, "aten::addmm", 0, 50);
        fake_add(&f, host, KIND_OP, "aten::to", at, 20);
        if (i & 2) fake_add(&f, host, KIND_OP, "aten::_to_copy", at + 5, 10);
        assert_int_equal(find(&f).n[USE_AUTOCAST], i == 3);
        fake_fini(&f);
    }
}

static void a_cast_that_copies_by_itself_is_of_pytorch_1(void **state) {
    for (int old = 0; old < 2; old++) {
        fake f;
        fake_init(&f);
        int host = fake_thread(&f);
        fake_add(&f, host, KIND_OP, "aten::to", 0, 50);
        if (!old) fake_add(&f, host, KIND_OP, "aten::_to_copy", 5, 40);
        fake_add(&f, host, KIND_OP, "aten::copy_", 10, 20);
        assert_int_equal(find(&f).n[USE_PYTORCH_1], old);
        fake_fini(&f);
    }
}

/* One cudaMalloc in ten tensors is a cache that grows; one in each is not. */
static void an_allocator_that_always_asks_the_driver_has_no_cache(void **state) {
    for (int every = 1; every <= 10; every += 9) {
        fake f;
        fake_init(&f);
        int host = fake_thread(&f);
        for (int i = 0; i < 100; i++) {
            fake_add(&f, host, KIND_OP, "aten::empty", 100 * i, 50);
            if (i % every == 0) fake_add(&f, host, KIND_RUNTIME, "hipMalloc", 100 * i + 10, 20);
        }
        assert_int_equal(find(&f).n[USE_DEVICE_MALLOC], every == 1 ? 100 : 0);
        fake_fini(&f);
    }
}

static void softmax_between_batched_products_is_unfused_attention(void **state) {
    for (int fused = 0; fused < 2; fused++) {
        fake f;
        fake_init(&f);
        int host = fake_thread(&f);
        for (int i = 0; i < 6; i++) {
            fake_add(&f, host, KIND_OP, "aten::bmm", 100 * i, 10);
            fake_add(&f, host, KIND_OP, "aten::_softmax", 100 * i + 20, 10);
            fake_add(&f, host, KIND_OP, "aten::bmm", 100 * i + 40, 10);
        }
        if (fused) fake_add(&f, host, KIND_OP, "aten::_flash_attention_forward", 900, 10);
        assert_int_equal(find(&f).n[USE_UNFUSED_ATTENTION], fused ? 0 : 6);
        fake_fini(&f);
    }
}

static void a_backward_pass_is_training(void **state) {
    for (int trains = 0; trains < 2; trains++) {
        fake f;
        fake_init(&f);
        fake_add(&f, fake_thread(&f), KIND_OP,
                 trains ? "autograd::engine::evaluate_function: MmBackward0" : "aten::mm", 0,
                 10);
        assert_int_equal(find(&f).trains, trains);
        fake_fini(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_events_show_what_is_used),
        cmocka_unit_test(a_python_frame_of_that_name_shows_nothing),
        cmocka_unit_test(an_operator_is_the_better_evidence),
        cmocka_unit_test(casts_inside_a_product_are_autocast),
        cmocka_unit_test(a_cast_that_copies_by_itself_is_of_pytorch_1),
        cmocka_unit_test(an_allocator_that_always_asks_the_driver_has_no_cache),
        cmocka_unit_test(softmax_between_batched_products_is_unfused_attention),
        cmocka_unit_test(a_backward_pass_is_training),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
