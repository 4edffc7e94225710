/* dynamic_shapes_test.c: operators whose shapes change, step by step, in both forms. */
#include "built_trace.h"

static void ask(built *x, const char *json) {
    built_init(x);
    built_meta(x, "dynamic_shape", json);
    built_seal(x);
}

static void a_gpu_file_has_operators_and_kernels(void **state) {
    built x;
    (void)state;
    ask(&x,
        "{\"operator\": {\"1\": [{\"step\": 1, \"op_side\": \"gpu\", \"op_type\": \"Add\", "
        "\"op_name\": \"Add-op6\", \"dur\": 75.616, \"shape_info\": [\"[32, 1]\"]}], \"2\": "
        "[{\"op_name\": \"Add-op6\", \"dur\": 3, \"shape_info\": []}, {\"op_name\": "
        "\"lost\"}]}, "
        "\"kernel\": {\"1\": [{\"op_name\": \"K\", \"op_full_name\": \"Default/Add-op6\", "
        "\"dur\": 3.904, \"block_dim\": \"256,1,1\", \"grid_dim\": \"1,1,1\"}]}}");
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "by_step");
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(built_int(t, 0, "duration"), 75616);
    assert_true(built_is(t, 0, "shapes", "[\"[32, 1]\"]"));
    assert_true(built_is(t, 1, "shapes", NULL));
    assert_true(built_is(t, 2, "level", "kernel"));
    assert_true(built_is(t, 2, "op", "Default/Add-op6"));
    assert_true(built_is(t, 2, "block", "256,1,1"));
    x.answer = (answer){0};
    x.params.first_step = x.params.last_step = 2;
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    assert_int_equal(built_table(&x, "by_step")->n_rows, 1);
    built_fini(&x);
}

static void an_ascend_file_has_a_list_for_each_operator(void **state) {
    built x;
    (void)state;
    ask(&x,
        "{\"op_type\": {\"MatMul\": [0.5, 0.6]}, \"MatMul\": [{\"MatMul-op3\": "
        "{\"op_exe_time\": "
        "[0.5, 0.6], \"op_shape\": [\"{2}\", \"{3}\"], \"op_exe_occurrences\": 2}}, "
        "{\"MatMul-op4\": {\"op_exe_time\": [1, 2], \"op_shape\": [\"a\", \"b\"]}}], \"Cast\": "
        "[{\"Cast-op1\": {\"op_exe_time\": [9], \"op_shape\": [\"c\"]}}, {\"Cast-op2\": "
        "{\"op_exe_time\": [1, 2, 3], \"op_shape\": []}}]}");
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "by_step");
    assert_int_equal(t->n_rows, 4); /* Cast-op1 ran once, Cast-op2 has no shapes */
    assert_true(built_is(t, 1, "name", "MatMul-op3"));
    assert_int_equal(built_int(t, 1, "step"), 2);
    assert_int_equal(built_int(t, 1, "duration"), 600000);
    assert_true(built_is(t, 1, "shapes", "{3}"));
    built_fini(&x);
}

static void damage_gives_what_is_whole(void **state) {
    static const char *const damaged[] = {"[", "3", "{\"operator\": 3}",
                                          "{\"operator\": {\"x\": []}}",
                                          "{\"A\": [[3], {\"b\": []}]}"};
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        built x;
        ask(&x, damaged[i]);
        assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
        assert_int_equal(built_table(&x, "by_step")->n_rows, 0);
        built_fini(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_file_has_operators_and_kernels),
        cmocka_unit_test(an_ascend_file_has_a_list_for_each_operator),
        cmocka_unit_test(damage_gives_what_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
