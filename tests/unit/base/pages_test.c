/* pages_test.c: blocks of pages keep what is written to them, are cleared when that was asked for, and
 * never overlap, whatever the order they come and go in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/pages.h"

static bool is_all(const unsigned char *p, size_t n, int value) {
    return n == 0 ||
           (p[0] == value && memcmp(p, p + 1, n - 1) == 0); /* quick under sanitizers */
}

static void a_cleared_block_is_zero_also_where_others_were(void **state) {
    static const size_t SIZES[] = {1, 4096, 5000, 70000, 1 << 20, 3 << 20, 9 << 20, 33 << 20};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
            unsigned char *p = pages_take_zeroed(SIZES[i]);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 64, 0);
            assert_true(is_all(p, SIZES[i], 0));
            memset(p, 0xA5, SIZES[i]);
            pages_give(p, SIZES[i]);
        }
    pages_give(NULL, 17);
}

static void a_block_that_is_resized_keeps_its_content(void **state) {
    size_t size = 3000;
    unsigned char *p = pages_take(size);
    memset(p, 7, size);
    for (; size < (size_t)70 << 20; size = size * 5 / 2) {
        unsigned char *other = pages_take(5000); /* so that it cannot stay where it is */
        unsigned char *q = pages_resize(p, size, size * 5 / 2);
        assert_non_null(q);
        assert_true(is_all(q, size, 7));
        memset(q, 7, size * 5 / 2);
        pages_give(other, 5000);
        p = q;
    }
    static const size_t SMALLER[] = {(size_t)20 << 20, 3 << 20, 1 << 20, 900000,
                                     100000,           50,      50};
    for (size_t i = 0; i < sizeof SMALLER / sizeof *SMALLER; i++) {
        p = pages_resize(p, size, SMALLER[i]);
        size = SMALLER[i];
        assert_true(is_all(p, size, 7));
    }
    pages_give(p, size);
}

typedef struct {
    unsigned char *p;
    size_t size;
    int value;
} held;

/* Takes, resizes and gives back at random; each block has its own pattern. */
static void churn(held *h, int n_held, unsigned seed, int steps) {
    for (int i = 0; i < steps; i++) {
        held *x = &h[(unsigned)rand_r(&seed) % (unsigned)n_held];
        size_t size = (size_t)rand_r(&seed) % 200000 + 1;
        if (x->p && !is_all(x->p, x->size, x->value)) abort();
        if (x->p && i % 3 == 0) {
            unsigned char *q = pages_resize(x->p, x->size, size);
            if (!q || !is_all(q, size < x->size ? size : x->size, x->value)) abort();
            x->p = q;
        } else {
            pages_give(x->p, x->size);
            x->p = i % 2 ? pages_take(size) : pages_take_zeroed(size);
            if (!x->p || (i % 2 == 0 && !is_all(x->p, size, 0))) abort();
        }
        x->size = size;
        x->value = i % 255 + 1;
        memset(x->p, x->value, size);
    }
    for (int i = 0; i < n_held; i++) {
        if (h[i].p && !is_all(h[i].p, h[i].size, h[i].value)) abort();
        pages_give(h[i].p, h[i].size);
    }
}

static void *churn_alone(void *seed) {
    held mine[64] = {{0}};
    churn(mine, 64, (unsigned)(uintptr_t)seed, 1500);
    return NULL;
}

static void blocks_of_several_threads_never_overlap(void **state) {
    uint64_t before = mem_mapped_bytes();
    pthread_t threads[3];
    for (uintptr_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_alone, (void *)(i + 1)), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_int_equal(mem_mapped_bytes(), before);
}

static void more_than_a_span_can_be_held_and_is_counted(void **state) {
    enum { N = 50, SIZE = 5 << 20 };
    uint64_t before = mem_mapped_bytes();
    unsigned char *p[N];
    for (int i = 0; i < N; i++) {
        p[i] = pages_take(SIZE);
        assert_non_null(p[i]);
        memset(p[i], i, 10);
        memset(p[i] + SIZE - 10, i, 10);
    }
    assert_true(mem_mapped_bytes() >= before + (uint64_t)N * SIZE);
    for (int i = 0; i < N; i++) {
        assert_true(is_all(p[i], 10, i) && is_all(p[i] + SIZE - 10, 10, i));
        if (i % 2) pages_give(p[i], SIZE);
    }
    for (int i = 0; i < N; i++)
        if (i % 2 == 0) {
            assert_true(is_all(p[i], 10, i) && is_all(p[i] + SIZE - 10, 10, i));
            pages_give(p[i], SIZE);
        }
    assert_int_equal(mem_mapped_bytes(), before);
}

static void what_a_large_block_leaves_is_cleared_for_the_next(void **state) {
    enum { N = 12, LARGE = 7 << 20, SIZE = 1 << 20 };
    uint64_t before = mem_mapped_bytes();
    for (int round = 0; round < 4; round++) {
        unsigned char *small = pages_take(5000), *p = pages_take(100000), *next[N];
        memset(small, 3, 5000);
        p = pages_resize(p, 100000, LARGE); /* by growing: separate pages */
        assert_non_null(p);
        memset(p, 0xA5, LARGE);
        pages_give(p, LARGE);
        for (int i = 0; i < N; i++) {
            next[i] = i % 2 ? pages_take_zeroed(SIZE) : pages_take(SIZE);
            assert_true(i % 2 == 0 || is_all(next[i], SIZE, 0));
            memset(next[i], i + 1, SIZE);
        }
        for (int i = 0; i < N; i++) {
            assert_true(is_all(next[i], SIZE, i + 1));
            pages_give(next[i], SIZE);
        }
        assert_true(is_all(small, 5000, 3));
        pages_give(small, 5000);
    }
    assert_int_equal(mem_mapped_bytes(), before);
}

static void sizes_beyond_the_address_space_fail(void **state) {
    assert_null(pages_take(SIZE_MAX));
    assert_null(pages_take(SIZE_MAX / 2));
    char *p = pages_take(10);
    assert_null(pages_resize(p, 10, SIZE_MAX - 5));
    p[9] = 1; /* still there */
    pages_give(p, 10);
}

static void every_block_taken_is_a_fault_point(void **state) {
    static const size_t SIZES[] = {10, 100000, 40 << 20};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        char *p = pages_take(SIZES[i]);
        fault_arm(FAULT_ALLOC, 1);
        assert_null(pages_take(SIZES[i]));
        fault_arm(FAULT_ALLOC, 1);
        assert_null(pages_take_zeroed(SIZES[i]));
        fault_arm(FAULT_ALLOC, 1);
        assert_null(pages_resize(p, SIZES[i], SIZES[i] * 3));
        fault_arm(FAULT_ALLOC, 0);
        p[SIZES[i] - 1] = 1; /* a failed growth leaves the old one */
        pages_give(p, SIZES[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cleared_block_is_zero_also_where_others_were),
        cmocka_unit_test(a_block_that_is_resized_keeps_its_content),
        cmocka_unit_test(blocks_of_several_threads_never_overlap),
        cmocka_unit_test(more_than_a_span_can_be_held_and_is_counted),
        cmocka_unit_test(what_a_large_block_leaves_is_cleared_for_the_next),
        cmocka_unit_test(sizes_beyond_the_address_space_fail),
        cmocka_unit_test(every_block_taken_is_a_fault_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
