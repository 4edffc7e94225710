/* memory_view_test.c: devices and names of blocks. */
#include "fake_trace.h"

#include "analyse/memory/memory_view.h"

static void an_empty_is_named_with_its_caller(void **state) {
    fake f;
    memory_view m = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_STEP, "ProfilerStep#1", 0, 300);
    fake_add(&f, host, KIND_OP, "aten::zeros", 10, 50);
    fake_add(&f, host, KIND_PYTHON, "frame", 15, 30);
    int inner = fake_add(&f, host, KIND_OP, "aten::empty", 20, 10);
    int in_step = fake_add(&f, host, KIND_OP, "aten::empty_strided", 100, 10);
    int plain = fake_add(&f, host, KIND_OP, "aten::mm", 150, 10);
    int alone = fake_add(&f, host, KIND_OP, "aten::empty", 400, 10);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    assert_int_equal(memory_view_init(&m, t, &p, &f.arena, NULL), OK);
    bool ok = true;
    assert_text(memory_op_name(&m, f.id[inner], &ok), "aten::zeros (aten::empty)");
    assert_text(memory_op_name(&m, f.id[in_step], &ok), "ProfilerStep#1 (aten::empty_strided)");
    assert_text(memory_op_name(&m, f.id[plain], &ok), "aten::mm");
    assert_text(memory_op_name(&m, f.id[alone], &ok), "aten::empty");
    assert_null(memory_op_name(&m, 0, &ok).p);
    assert_true(ok);
    fake_fini(&f);
}

static void a_release_takes_the_op_of_its_allocation(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    int op = fake_add(&f, host, KIND_OP, "a", 0, 10);
    fake_add(&f, host, KIND_OP, "b", 20, 10);
    for (int i = 0; i < 2; i++)
        fake_add_memory(&f, (fake_memory){.time = 5 + 20 * i,
                                          .track = host,
                                          .address = 1,
                                          .bytes = i ? -8 : 8,
                                          .device_type = DEVICE_CUDA});
    fake_add_memory(
        &f,
        (fake_memory){
            .time = 26, .track = host, .address = 2, .bytes = -8, .device_type = DEVICE_CUDA});
    const trace *t = fake_seal(&f);
    assert_int_equal(memory_op(t, 1), f.id[op]);
    assert_int_equal(memory_op(t, 2), f.id[op]);
    assert_int_equal(memory_op(t, 3), 0); /* who allocated it is not known */
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_is_named_with_its_caller),
        cmocka_unit_test(a_release_takes_the_op_of_its_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
