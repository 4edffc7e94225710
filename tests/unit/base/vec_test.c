/* vec_test.c: a column keeps its values while it grows, and when it cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/vec.h"

static void values_stay_while_it_grows(void **state) {
    vec v = VEC_INIT(uint64_t);
    for (uint64_t i = 0; i < 2000000; i++) {
        uint64_t *p = vec_push(&v);
        assert_non_null(p);
        *p = i * 3;
    }
    assert_int_equal(v.n, 2000000);
    for (uint64_t i = 0; i < v.n; i++) {
        if (VEC(&v, uint64_t)[i] != i * 3) fail_msg("value %lu", (unsigned long)i);
    }
    vec_fini(&v);
    assert_int_equal(v.n, 0);
    assert_non_null(vec_push(&v)); /* may be used again */
    vec_fini(&v);
}

typedef struct {
    char odd[13];
} odd_sized;

static void elements_of_any_size_fit(void **state) {
    vec v = VEC_INIT(odd_sized);
    for (int i = 0; i < 50000; i++) {
        odd_sized *o = vec_push(&v);
        memset(o, i & 0x7F, sizeof *o);
    }
    for (int i = 0; i < 50000; i++) {
        assert_int_equal(VEC(&v, odd_sized)[i].odd[0], i & 0x7F);
        assert_int_equal(VEC(&v, odd_sized)[i].odd[12], i & 0x7F);
    }
    vec_fini(&v);
}

static void reserve_makes_room_for_that_many_more(void **state) {
    vec v = VEC_INIT(uint32_t);
    *(uint32_t *)vec_push(&v) = 5;
    assert_int_equal(vec_reserve(&v, 3000000), OK);
    assert_true(v.cap >= 3000001);
    assert_int_equal(v.n, 1);
    void *before = v.p;
    for (int i = 0; i < 3000000; i++) *(uint32_t *)vec_push(&v) = 6;
    assert_ptr_equal(v.p, before);
    assert_int_equal(VEC(&v, uint32_t)[0], 5);
    assert_int_equal(vec_reserve(&v, 0), OK);
    vec_fini(&v);
}

static void impossible_sizes_are_refused(void **state) {
    vec v = VEC_INIT(uint64_t);
    *(uint64_t *)vec_push(&v) = 5;
    assert_int_equal(vec_reserve(&v, SIZE_MAX), ERR_MEMORY);
    assert_int_equal(vec_reserve(&v, SIZE_MAX / 8), ERR_MEMORY);
    assert_int_equal(vec_reserve(&v, SIZE_MAX / 17), ERR_MEMORY);
    assert_int_equal(VEC(&v, uint64_t)[0], 5);
    vec_fini(&v);
}

static void without_memory_the_content_stays(void **state) {
    vec v = VEC_INIT(uint64_t);
    fault_arm(FAULT_ALLOC, 1);
    assert_null(vec_push(&v));
    fault_arm(FAULT_ALLOC, 0);
    while (v.n < v.cap || v.n == 0) {
        uint64_t *last = vec_push(&v);
        *last = v.n;
    }
    fault_arm(FAULT_ALLOC, 1);
    assert_null(vec_push(&v));
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(v.n, v.cap);
    assert_int_equal(VEC(&v, uint64_t)[v.n - 1], v.n);
    assert_non_null(vec_push(&v));
    vec_fini(&v);
}

static void elements_up_to_the_one_asked_for_are_zero(void **state) {
    vec v = VEC_INIT(uint32_t);
    *(uint32_t *)vec_push(&v) = 7;
    uint32_t *far = vec_at(&v, 100000);
    assert_non_null(far);
    assert_int_equal(VEC(&v, uint32_t)[0], 7);
    for (size_t i = 1; i < v.n; i++) assert_int_equal(VEC(&v, uint32_t)[i], 0);
    *far = 9;
    assert_true(v.n > 100000);
    assert_ptr_equal(vec_at(&v, 100000), &VEC(&v, uint32_t)[100000]);
    assert_int_equal(VEC(&v, uint32_t)[100000], 9);
    size_t n = v.n;
    fault_arm(FAULT_ALLOC, 1);
    assert_null(vec_at(&v, 10 * n));
    fault_arm(FAULT_ALLOC, 0);
    assert_null(vec_at(&v, SIZE_MAX));
    assert_int_equal(v.n, n);
    vec_fini(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stay_while_it_grows),
        cmocka_unit_test(elements_of_any_size_fit),
        cmocka_unit_test(reserve_makes_room_for_that_many_more),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(without_memory_the_content_stays),
        cmocka_unit_test(elements_up_to_the_one_asked_for_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
