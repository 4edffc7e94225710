/* map_test.c: any key finds its value, whatever the keys look like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/map.h"

static void any_key_is_allowed(void **state) {
    map m = {0};
    assert_int_equal(map_get(&m, 0), MAP_NONE);
    static const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, 1ULL << 63, UINT32_MAX};
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t *v = map_at(&m, keys[i]);
        assert_non_null(v);
        assert_int_equal(*v, MAP_NONE);
        *v = i;
    }
    assert_int_equal(m.n, 6);
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(map_get(&m, keys[i]), i);
    assert_int_equal(map_get(&m, 2), MAP_NONE);
    map_fini(&m);
    assert_int_equal(map_get(&m, 1), MAP_NONE);
}

static void at_gives_the_old_value_again(void **state) {
    map m = {0};
    *map_at(&m, 5) = 50;
    *map_at(&m, 5) += 1;
    assert_int_equal(map_get(&m, 5), 51);
    assert_int_equal(m.n, 1);
    map_fini(&m);
}

static uint64_t key_of(int pattern, uint64_t i) {
    switch (pattern) {
    case 0: return i;
    case 1: return i << 32;
    case 2: return i << 44;
    case 3: return i * 4096 + 0x7F0000000000;
    case 5: return (i & 1023) << 32 | i >> 10;
    default: return ~hash_u64(i);
    }
}

static void many_keys_of_any_pattern_are_kept_and_found_quickly(void **state) {
    enum { N = 100000 };
    for (int pattern = 0; pattern < 6; pattern++) {
        map m = {0};
        for (uint32_t i = 0; i < N; i++) *map_at(&m, key_of(pattern, i)) = i;
        assert_int_equal(m.n, N);
        assert_true(m.cap >= 2 * (size_t)N && m.cap < 8 * (size_t)N);
        size_t run = 0, longest = 0; /* the longest run of taken places bounds every search */
        for (size_t i = 0; i < m.cap; i++) {
            run = m.values[i] == MAP_NONE ? 0 : run + 1;
            if (run > longest) longest = run;
        }
        assert_true(longest < 100);
        for (uint32_t i = 0; i < N; i++) assert_int_equal(map_get(&m, key_of(pattern, i)), i);
        for (uint64_t i = N; i < N + 1000; i++)
            assert_int_equal(map_get(&m, key_of(pattern, i)), MAP_NONE);
        map_fini(&m);
    }
}

static void reserved_room_is_enough(void **state) {
    map m = {0};
    assert_int_equal(map_reserve(&m, 50000), OK);
    const uint64_t *keys = m.keys;
    for (uint32_t i = 0; i < 50000; i++) *map_at(&m, i) = i;
    assert_ptr_equal(m.keys, keys);
    assert_int_equal(map_reserve(&m, 10), OK); /* never shrinks */
    assert_ptr_equal(m.keys, keys);
    assert_int_equal(map_reserve(&m, SIZE_MAX), ERR_MEMORY);
    assert_int_equal(map_reserve(&m, SIZE_MAX / 8), ERR_MEMORY);
    assert_int_equal(map_get(&m, 49999), 49999);
    map_fini(&m);
}

static void without_memory_the_content_stays(void **state) {
    map m = {0};
    fault_arm(FAULT_ALLOC, 1);
    assert_null(map_at(&m, 1));
    assert_int_equal(m.n, 0);
    uint32_t i = 0;
    for (; m.n < m.cap / 2 || i == 0; i++) *map_at(&m, i) = i;
    fault_arm(FAULT_ALLOC, 1);
    assert_null(map_at(&m, i));
    assert_int_equal(*map_at(&m, i - 1), i - 1); /* a known key needs no room */
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(map_get(&m, i), MAP_NONE);
    *map_at(&m, i) = i;
    for (uint32_t k = 0; k <= i; k++) assert_int_equal(map_get(&m, k), k);
    map_fini(&m);
}

static void one_changed_bit_changes_about_half_of_a_hash(void **state) {
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t flip = 1ULL << bit;
        assert_in_range(__builtin_popcountll(hash_u64(12345) ^ hash_u64(12345 ^ flip)), 10, 54);
        uint64_t h = hash_pair(12345, 678);
        assert_in_range(__builtin_popcountll(h ^ hash_pair(12345 ^ flip, 678)), 10, 54);
        /* the second word is folded once: enough for a key, not for a checksum */
        assert_true(h != hash_pair(12345, 678 ^ flip));
    }
}

static void small_pairs_have_different_hashes(void **state) {
    map m = {0};
    for (uint64_t a = 0; a < 300; a++) {
        for (uint64_t b = 0; b < 300; b++) {
            uint32_t *v = map_at(&m, hash_pair(a, b));
            assert_int_equal(*v, MAP_NONE);
            *v = 1;
        }
    }
    map_fini(&m);
}

static void hash_u64_is_fixed_for_ever(void **state) {
    assert_int_equal(hash_u64(0), 0);
    assert_true(hash_u64(1) == 0x4179B061E0C0E0D0U);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_key_is_allowed),
        cmocka_unit_test(at_gives_the_old_value_again),
        cmocka_unit_test(many_keys_of_any_pattern_are_kept_and_found_quickly),
        cmocka_unit_test(reserved_room_is_enough),
        cmocka_unit_test(without_memory_the_content_stays),
        cmocka_unit_test(one_changed_bit_changes_about_half_of_a_hash),
        cmocka_unit_test(small_pairs_have_different_hashes),
        cmocka_unit_test(hash_u64_is_fixed_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
