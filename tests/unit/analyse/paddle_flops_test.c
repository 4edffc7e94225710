/* paddle_flops_test.c: floating-point operations from names and shapes. */
#include "fake_trace.h"

#include "analyse/cost/paddle_flops.h"

static void counts_follow_from_shapes(void **state) {
    (void)state;
    assert_near(paddle_flops(STR("relu dygraph"), STR("{\"X\": [[2, 3, 4]]}")), 24);
    assert_near(paddle_flops(STR("softmax"), STR("{\"X\": [[2, 5]]}")), 30);
    assert_near(
        paddle_flops(STR("elementwise_add"), STR("{\"X\": [[4, 1, 3]], \"Y\": [[2, 3]]}")), 24);
    assert_near(paddle_flops(STR("matmul_v2"), STR("{\"X\": [[8, 2, 3]], \"Y\": [[3, 5]]}")),
                2 * 8 * 2 * 3 * 5);
}

static void what_shapes_do_not_tell_is_zero(void **state) {
    (void)state;
    assert_near(paddle_flops(STR("conv2d"), STR("{\"Input\": [[1, 3, 8, 8]]}")), 0);
    assert_near(paddle_flops(STR("relu"), STR("{}")), 0);
    assert_near(paddle_flops(STR("relu"), STR("")), 0);
    assert_near(paddle_flops(STR("matmul"), STR("{\"X\": [[8, 2]]}")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow_from_shapes),
        cmocka_unit_test(what_shapes_do_not_tell_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
