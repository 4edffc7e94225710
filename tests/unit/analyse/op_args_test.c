/* op_args_test.c: inputs of operators as profilers write them. */
#include "fake_trace.h"

#include <math.h>

#include "analyse/operators/op_args.h"

static void shapes_types_and_values_are_read(void **state) {
    op_args in;
    assert_true(op_args_read(STR("[[8, 512], [512,64], [], []]"),
                             STR("[\"c10::BFloat16\", \"float\", \"double\", \"ScalarList\"]"),
                             STR("[\"\", \"\", \"\", \"[2, -1]\"]"), &in));
    assert_int_equal(in.n, 4);
    assert_int_equal(in.arg[0].rank, 2);
    assert_int_equal(in.arg[1].dim[1], 64);
    assert_near(in.arg[0].elements, 8 * 512);
    assert_near(in.arg[0].item_bytes, 2);
    assert_true(in.arg[2].tensor); /* of one value */
    assert_near(in.arg[2].elements, 1);
    assert_false(in.arg[3].tensor);
    int64_t v[OP_MOST_VALUES];
    assert_int_equal(op_args_numbers(&in, 3, v), 2);
    assert_int_equal(v[1], -1);
    assert_int_equal(op_args_numbers(&in, 0, v), 0);
    assert_int_equal(op_args_numbers(&in, 9, v), 0);
    assert_false(op_args_true(&in, 3));
}

static void lists_of_tensors_are_added_up(void **state) {
    op_args in;
    assert_true(op_args_read(STR("[[[8, 2], [3]], []]"), STR("[\"TensorList\", \"Scalar\"]"),
                             STR("[\"\", \"2\"]"), &in));
    assert_true(in.arg[0].list);
    assert_near(in.arg[0].elements, 19);
    assert_true(isnan(in.arg[0].item_bytes));
    assert_null(op_args_tensor(&in, 0));
    int64_t v[OP_MOST_VALUES];
    assert_int_equal(op_args_numbers(&in, 1, v), 1);
    assert_true(op_args_read(STR("[[], []]"), STR("[\"TensorList\", \"\"]"), STR_NONE, &in));
    assert_false(in.arg[0].tensor); /* more tensors than the profiler writes */
}

static void impossible_text_is_not_a_list_of_inputs(void **state) {
    op_args in;
    static const str bad[] = {STR(""),
                              STR("{\"X\": [[1]]}"),
                              STR("[[99999999999999999999]]"),
                              STR("[[1,2,3,4,5,6,7,8,9]]"),
                              STR("[[-1]]"),
                              STR("[[\"a\"]]")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(op_args_read(bad[i], STR_NONE, STR_NONE, &in));
    assert_true(
        op_args_read(STR("[[1,2"), STR_NONE, STR_NONE, &in)); /* cut off: what is whole */
    assert_int_equal(in.n, 0);
    assert_near(op_type_bytes(STR("c10::Float8_e4m3fn")), 1);
    assert_true(isnan(op_type_bytes(STR("something"))));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_types_and_values_are_read),
        cmocka_unit_test(lists_of_tensors_are_added_up),
        cmocka_unit_test(impossible_text_is_not_a_list_of_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
