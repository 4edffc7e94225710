/* op_text_test.c: lists of the op table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/op_text.h"

static void items_come_in_order(void **state) {
    op_list l = op_list_open(STR("[[8, 512], \"float\", 3.5]"));
    str one;
    int64_t i;
    double d;
    (void)state;
    assert_true(op_list_next(&l, &one));
    op_list dims = op_list_open(one);
    assert_true(op_list_next(&dims, &one) && op_item_i64(one, &i));
    assert_int_equal(i, 8);
    assert_true(op_list_next(&l, &one));
    assert_true(str_eq(op_item_text(one), STR("float")));
    assert_false(op_item_f64(one, &d));
    assert_true(op_list_next(&l, &one) && op_item_f64(one, &d));
    assert_true(d == 3.5);
    assert_false(op_list_next(&l, &one));
}

static void items_may_have_names(void **state) {
    str one;
    (void)state;
    op_list l = op_list_open(op_list_named(STR("{\"X\": [[2]], \"Y\": []}"), STR("X")));
    assert_true(op_list_next(&l, &one));
    assert_true(str_eq(one, STR("[2]")));
    assert_int_equal(op_list_named(STR("{\"X\": 1}"), STR("Z")).n, 0);
}

static void damage_ends_a_list(void **state) {
    static const str damaged[] = {STR(""), STR("3"), STR("["), STR("]"), STR_NONE};
    str one;
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        op_list l = op_list_open(damaged[i]);
        assert_false(op_list_next(&l, &one));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_in_order),
        cmocka_unit_test(items_may_have_names),
        cmocka_unit_test(damage_ends_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
