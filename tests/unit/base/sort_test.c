/* sort_test.c: sorted, stable and complete, for every kind of key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"

enum { N_PATTERNS = 13 };

static uint64_t key_of(int pattern, uint32_t i) {
    uint64_t r = hash_u64(i + 1);
    switch (pattern) {
    case 0: return r;        /* all digits: an even number of passes */
    case 1: return r & 0xFF; /* one digit: an odd number */
    case 2: return 0x1234000000000000 | (r & 0xFFFF00); /* constant digits around */
    case 3: return i;                                   /* sorted */
    case 4: return UINT64_MAX - i;                      /* reversed */
    case 5: return 42;                                  /* all the same */
    case 6: return r & 1 ? UINT64_MAX : 0;
    case 7: return i % 4001 / 3;                           /* runs that rise, with equal keys */
    case 8: return ((uint64_t)(i % 700) << 40) + (i & 63); /* more of them */
    case 9: return i < 5000 ? i + 9 : i - 9;               /* two that hardly overlap */
    case 10: return (i / 1100 * 1000ull + i % 1100) << 20; /* many, each overlaps the next */
    case 11: return i / 1100 ? (uint64_t)(i % 1100) << 30 : i; /* many over each other */
    default: return 1700000000000000000U + r % 1000000000;     /* times */
    }
}

static void radix_sorts_stably_for_any_keys_and_length(void **state) {
    static const size_t lengths[] = {0, 1, 2, 3, 47, 48, 49, 255, 1000, 8191, 8192, 70001};
    for (int pattern = 0; pattern < N_PATTERNS; pattern++) {
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            size_t n = lengths[k];
            sort_pair *a = malloc((n + 1) * sizeof *a), *scratch = malloc((n + 1) * sizeof *a);
            for (uint32_t i = 0; i < n; i++) a[i] = (sort_pair){key_of(pattern, i), i};
            sort_radix(a, scratch, n);
            uint64_t rows = 0;
            for (size_t i = 0; i < n; i++) {
                rows += a[i].row;
                assert_int_equal(a[i].key, key_of(pattern, a[i].row));
                if (i == 0) continue;
                assert_true(a[i - 1].key < a[i].key ||
                            (a[i - 1].key == a[i].key && a[i - 1].row < a[i].row));
            }
            assert_int_equal(rows, n * (n ? n - 1 : 0) / 2);
            free(a);
            free(scratch);
        }
    }
}

static int by_key(uint32_t a, uint32_t b, const void *context) {
    const uint64_t *keys = context;
    return keys[a] < keys[b] ? -1 : keys[a] > keys[b];
}

static void index_sort_is_stable_and_complete(void **state) {
    static const size_t lengths[] = {0, 1, 2, 7, 8, 9, 17, 100, 5000};
    for (int pattern = 0; pattern < N_PATTERNS; pattern++) {
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            size_t n = lengths[k];
            uint64_t *keys = malloc((n + 1) * sizeof *keys);
            uint32_t *a = malloc((n + 1) * sizeof *a), *scratch = malloc((n + 1) * sizeof *a);
            for (uint32_t i = 0; i < n; i++) {
                keys[i] = key_of(pattern, i) % 100;
                a[i] = i;
            }
            sort_index(a, scratch, n, by_key, keys);
            uint64_t rows = 0;
            for (size_t i = 0; i < n; i++) {
                rows += a[i];
                if (i == 0) continue;
                assert_true(keys[a[i - 1]] < keys[a[i]] ||
                            (keys[a[i - 1]] == keys[a[i]] && a[i - 1] < a[i]));
            }
            assert_int_equal(rows, n * (n ? n - 1 : 0) / 2);
            free(keys);
            free(a);
            free(scratch);
        }
    }
}

static unsigned n_compared;
static int counting(uint32_t a, uint32_t b, const void *context) {
    n_compared++;
    return by_key(a, b, context);
}

static void an_array_in_order_costs_one_comparison_per_element(void **state) {
    static uint64_t keys[4096];
    static uint32_t a[4096], scratch[4096];
    for (uint32_t i = 0; i < 4096; i++) {
        keys[i] = i;
        a[i] = i;
    }
    n_compared = 0;
    sort_index(a, scratch, 4096, counting, keys);
    assert_true(n_compared < 4096);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radix_sorts_stably_for_any_keys_and_length),
        cmocka_unit_test(index_sort_is_stable_and_complete),
        cmocka_unit_test(an_array_in_order_costs_one_comparison_per_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
