/* arena_test.c: alignment, limits, growth in place, cleanups; under ASan also the poisoning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fault.h"
#include "base/mem.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

static void allocations_are_aligned_and_apart(void **state) {
    arena a;
    arena_init(&a, 0);
    unsigned char *all[600];
    for (size_t i = 0; i < 600; i++) {
        all[i] = arena_alloc(&a, i);
        assert_non_null(all[i]);
        assert_int_equal((uintptr_t)all[i] % 16, 0);
        memset(all[i], (int)(i & 0xFF), i);
    }
    for (size_t i = 0; i < 600; i++) {
        for (size_t k = 0; k < i; k++) assert_int_equal(all[i][k], i & 0xFF);
    }
    arena_fini(&a);
    assert_null(a.blocks);
    assert_int_equal(a.used_bytes, 0);
}

static void zalloc_and_array_are_cleared_also_in_used_memory(void **state) {
    arena a;
    arena_init(&a, 0);
    for (int round = 0; round < 3; round++) {
        memset(arena_alloc(&a, 20000), 0xAA, 20000);
        arena_reset(&a);
        uint64_t *p = ARENA_ARRAY(&a, uint64_t, 2500);
        for (int i = 0; i < 2500; i++) assert_int_equal(p[i], 0);
        assert_int_equal(*ARENA_NEW(&a, uint32_t), 0);
        arena_reset(&a);
    }
}

static void an_array_whose_size_overflows_is_refused(void **state) {
    arena a;
    arena_init(&a, 0);
    assert_null(arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(arena_array(&a, SIZE_MAX, 1));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_non_null(arena_array(&a, 0, 8));
    arena_fini(&a);
}

static void the_limit_counts_bytes_and_a_refusal_changes_nothing(void **state) {
    arena a;
    arena_init(&a, 1000);
    assert_non_null(arena_alloc(&a, 900));
    size_t used = a.used_bytes;
    uint64_t refusals = arena_refusals();
    assert_null(arena_alloc(&a, 200));
    assert_null(arena_alloc(&a, (size_t)5 << 20));
    assert_int_equal(a.used_bytes, used);
    assert_int_equal(arena_refusals(), refusals + 2);
    assert_non_null(arena_alloc(&a, 64));
    arena_reset(&a);
    assert_non_null(arena_alloc(&a, 900)); /* the limit stays, the use is forgotten */
    assert_null(arena_alloc(&a, 900));
    arena_fini(&a);
}

static void large_requests_leave_the_current_block_open(void **state) {
    arena a;
    arena_init(&a, 0);
    char *small = arena_alloc(&a, 16);
    char *large = arena_alloc(&a, (size_t)3 << 20);
    memset(large, 1, (size_t)3 << 20);
    char *next = arena_alloc(&a, 16);
    assert_in_range((size_t)(next - small), 16, 64);
    arena_fini(&a);
    large = arena_alloc(&a, (size_t)3 << 20); /* also as the very first */
    memset(large, 1, (size_t)3 << 20);
    memset(arena_alloc(&a, 100), 2, 100);
    assert_int_equal(large[((size_t)3 << 20) - 1], 1);
    arena_fini(&a);
}

static void the_last_allocation_grows_in_place(void **state) {
    arena a;
    arena_init(&a, 0);
    char *p = arena_alloc(&a, 10);
    memcpy(p, "0123456789", 10);
    char *q = arena_grow(&a, p, 10, 1000);
    assert_ptr_equal(p, q);
    memset(q + 10, 'x', 990);
    char *other = arena_alloc(&a, 16);
    memset(other, 'y', 16);
    char *r = arena_grow(&a, q, 1000, 5000);
    assert_ptr_not_equal(r, q);
    assert_memory_equal(r, "0123456789xxx", 13);
    assert_int_equal(r[999], 'x');
    memset(r, 'z', 5000);
    for (int i = 0; i < 16; i++) assert_int_equal(other[i], 'y');
    assert_ptr_equal(arena_grow(&a, r, 5000, 4990), r);
    assert_non_null(arena_grow(&a, NULL, 0, 5));
    arena_fini(&a);
}

static void growing_over_the_limit_keeps_the_old_block(void **state) {
    arena a;
    arena_init(&a, 100);
    char *p = arena_alloc(&a, 50);
    memset(p, 'a', 50);
    assert_null(arena_grow(&a, p, 50, 200));
    assert_int_equal(p[49], 'a');
    arena_fini(&a);
}

enum { LARGE = 300 << 10 };

static void a_large_block_grows_without_its_old_copy_and_is_given_back(void **state) {
    arena a;
    arena_init(&a, 0);
    uint64_t before = mem_mapped_bytes();
    char *small = arena_alloc(&a, 64), *one = arena_alloc(&a, LARGE);
    char *other = arena_alloc(&a, LARGE), *last;
    memset(small, 1, 64);
    memset(one, 2, LARGE);
    memset(other, 3, LARGE);
    one = arena_grow(&a, one, LARGE, (size_t)8 << 20);
    assert_non_null(one);
    for (int i = 0; i < LARGE; i++) assert_int_equal(one[i], 2);
    assert_in_range(mem_mapped_bytes() - before, (size_t)8 << 20,
                    ((size_t)8 << 20) + 3 * LARGE);
    assert_int_equal(a.used_bytes, ((size_t)8 << 20) + LARGE + 64);
    arena_drop(&a, one, (size_t)8 << 20);
    assert_int_equal(a.used_bytes, LARGE + 64);
    assert_in_range(mem_mapped_bytes() - before, 0, 3 * LARGE);
    last = arena_alloc(&a, LARGE);
    arena_drop(&a, other, LARGE);
    arena_drop(&a, last, LARGE);
    arena_drop(&a, small, 64); /* goes with the rest */
    arena_drop(&a, NULL, LARGE);
    assert_int_equal(a.used_bytes, 64);
    arena_fini(&a);
    assert_int_equal(mem_mapped_bytes(), before);
}

static void a_small_block_that_grows_large_is_a_separate_one(void **state) {
    arena a;
    arena_init(&a, 0);
    for (int i = 0; i < 20; i++) assert_non_null(arena_alloc(&a, 60000)); /* a large block */
    size_t bytes = 16;
    char *p = arena_alloc(&a, bytes);
    memset(p, 7, bytes);
    for (; bytes < (size_t)4 << 20; bytes *= 2) {
        p = arena_grow(&a, p, bytes, 2 * bytes);
        assert_non_null(p);
        for (int i = 0; i < 16; i++) assert_int_equal(p[i], 7);
        p[2 * bytes - 1] = 1;
    }
    assert_true(a.used_bytes < ((size_t)4 << 20) + 20 * 60032 + 600000);
    arena_drop(&a, p, bytes);
    arena_fini(&a);
}

static void strings_end_in_nul(void **state) {
    arena a;
    arena_init(&a, 0);
    str s = arena_str(&a, str_n("abcdef", 3));
    assert_int_equal(s.n, 3);
    assert_string_equal(s.p, "abc");
    assert_string_equal(arena_str(&a, STR_NONE).p, "");
    s = arena_printf(&a, "%d-%s", 17, "x");
    assert_string_equal(s.p, "17-x");
    assert_int_equal(s.n, 4);
    arena_fini(&a);
}

static char trail[8];
static size_t trail_n;
static void note(void *what) {
    trail[trail_n++] = *(const char *)what;
}

static void cleanups_run_newest_first_and_once(void **state) {
    arena a;
    arena_init(&a, 0);
    trail_n = 0;
    assert_true(arena_on_reset(&a, note, "a"));
    assert_true(arena_on_reset(&a, note, "b"));
    assert_int_equal(trail_n, 0);
    arena_reset(&a);
    arena_reset(&a);
    assert_int_equal(trail_n, 2);
    assert_memory_equal(trail, "ba", 2);
}

static void a_cleanup_that_cannot_be_kept_runs_at_once(void **state) {
    arena a;
    arena_init(&a, 0);
    trail_n = 0;
    fault_arm(FAULT_ALLOC, 1);
    assert_false(arena_on_reset(&a, note, "c"));
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(trail_n, 1);
    arena_reset(&a);
    assert_int_equal(trail_n, 1);
}

static void without_memory_every_call_says_so(void **state) {
    arena a;
    arena_init(&a, 0);
    fault_arm(FAULT_ALLOC, 1);
    assert_null(arena_alloc(&a, 5));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(arena_zalloc(&a, 5));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(arena_alloc(&a, (size_t)9 << 20));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(arena_str(&a, STR("abc")).p);
    fault_arm(FAULT_ALLOC, 1);
    assert_null(arena_printf(&a, "%d", 5).p);
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(a.used_bytes, 0);
    assert_non_null(arena_alloc(&a, 5));
    arena_fini(&a);
}

static void under_asan_what_was_not_given_out_is_poisoned(void **state) {
#ifdef __SANITIZE_ADDRESS__
    arena a;
    arena_init(&a, 0);
    char *p = arena_alloc(&a, 20);
    assert_null(__asan_region_is_poisoned(p, 20));
    assert_true(__asan_address_is_poisoned(p + 20));
    assert_true(__asan_address_is_poisoned(p + 40));
    char *q = arena_alloc(&a, 32);
    assert_true(__asan_address_is_poisoned(q - 1)); /* the red zone between */
    (void)arena_grow(&a, p, 20, 500);
    assert_true(__asan_address_is_poisoned(p)); /* moved away */
    arena_fini(&a);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_apart),
        cmocka_unit_test(zalloc_and_array_are_cleared_also_in_used_memory),
        cmocka_unit_test(an_array_whose_size_overflows_is_refused),
        cmocka_unit_test(the_limit_counts_bytes_and_a_refusal_changes_nothing),
        cmocka_unit_test(large_requests_leave_the_current_block_open),
        cmocka_unit_test(the_last_allocation_grows_in_place),
        cmocka_unit_test(growing_over_the_limit_keeps_the_old_block),
        cmocka_unit_test(a_large_block_grows_without_its_old_copy_and_is_given_back),
        cmocka_unit_test(a_small_block_that_grows_large_is_a_separate_one),
        cmocka_unit_test(strings_end_in_nul),
        cmocka_unit_test(cleanups_run_newest_first_and_once),
        cmocka_unit_test(a_cleanup_that_cannot_be_kept_runs_at_once),
        cmocka_unit_test(without_memory_every_call_says_so),
        cmocka_unit_test(under_asan_what_was_not_given_out_is_poisoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
