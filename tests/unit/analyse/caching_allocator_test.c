/* caching_allocator_test.c: what PyTorch's allocator takes from the device, by its own rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/fits/caching_allocator.h"

#define MIB ((int64_t)1 << 20)

static caching_allocator c;
static arena memory;

static void begin(allocator_kind kind, int64_t limit) {
    arena_reset(&memory);
    assert_int_equal(allocator_init(&c, kind, limit, &memory, NULL), OK);
}

static uint32_t take(int64_t bytes) {
    uint32_t block;
    assert_int_equal(allocator_take(&c, bytes, &block, NULL), OK);
    return block;
}

static void segments_have_the_sizes_of_pytorch(void **state) {
    begin(ALLOCATOR_CACHING, INT64_MAX);
    take(1);
    assert_int_equal(c.allocated, 512);
    assert_int_equal(c.reserved, 2 * MIB);
    take(MIB + 1);
    assert_int_equal(c.reserved, 22 * MIB);
    take(21 * MIB); /* in one segment, in steps of 2 MiB */
    assert_int_equal(c.reserved, 44 * MIB);
}

static void small_blocks_share_a_segment(void **state) {
    begin(ALLOCATOR_CACHING, INT64_MAX);
    for (int i = 0; i < 4096; i++) take(512);
    assert_int_equal(c.reserved, 2 * MIB);
    take(512);
    assert_int_equal(c.reserved, 4 * MIB);
}

static void the_smallest_free_block_that_is_large_enough_is_taken(void **state) {
    begin(ALLOCATOR_CACHING, INT64_MAX);
    uint32_t large = take(60 * MIB), middle = take(40 * MIB);
    allocator_release(&c, large);
    allocator_release(&c, middle);
    take(39 * MIB); /* out of 40: the rest of 1 MiB is not split off */
    assert_int_equal(c.allocated, 40 * MIB);
    take(50 * MIB); /* out of 60: the rest is */
    assert_int_equal(c.allocated, 90 * MIB);
    take(9 * MIB);
    assert_int_equal(c.reserved, 100 * MIB);
}

static void released_neighbors_become_one_block(void **state) {
    begin(ALLOCATOR_CACHING, INT64_MAX);
    uint32_t a = take(5 * MIB), b = take(5 * MIB), d = take(5 * MIB);
    allocator_release(&c, a);
    allocator_release(&c, d);
    allocator_release(&c, b);
    take(9 * MIB + 512 * 1024);
    assert_int_equal(c.reserved, 20 * MIB);
    assert_int_equal(c.allocated, 9 * MIB + 512 * 1024);
}

static void free_segments_are_given_back_before_memory_is_exhausted(void **state) {
    begin(ALLOCATOR_CACHING, 100 * MIB);
    allocator_release(&c, take(60 * MIB));
    take(80 * MIB);
    assert_int_equal(c.retries, 1);
    assert_int_equal(c.reserved, 80 * MIB);
    assert_false(c.exhausted);
    take(30 * MIB);
    assert_true(c.exhausted);
}

/* 58.5 MiB are free, in two segments, one of which holds a block. */
static void gaps_can_exhaust_it_where_expandable_segments_do_not(void **state) {
    for (int kind = ALLOCATOR_CACHING; kind <= ALLOCATOR_EXPANDABLE; kind++) {
        begin((allocator_kind)kind, 60 * MIB);
        uint32_t first = take(30 * MIB), second = take(30 * MIB);
        allocator_release(&c, first);
        take(1536 * 1024);
        allocator_release(&c, second);
        assert_int_equal(c.reserved, 60 * MIB);
        take(40 * MIB);
        assert_int_equal(c.exhausted, kind == ALLOCATOR_CACHING);
    }
}

static void an_expandable_segment_grows_at_its_end(void **state) {
    begin(ALLOCATOR_EXPANDABLE, INT64_MAX);
    uint32_t block = take(30 * MIB);
    assert_int_equal(c.reserved, 40 * MIB);
    allocator_release(&c, block);
    take(60 * MIB);
    assert_int_equal(c.reserved, 60 * MIB);
}

static void a_host_takes_exactly_what_is_asked_for(void **state) {
    begin(ALLOCATOR_EXACT, INT64_MAX);
    uint32_t block = take(5);
    take(7);
    allocator_release(&c, block);
    take(1);
    assert_int_equal(c.allocated, 8);
    assert_int_equal(c.most_allocated, 12);
}

/* Sizes in no order, so that the list of free blocks has many levels. */
static void what_is_released_is_found_again(void **state) {
    enum { N = 2000 };
    static uint32_t blocks[N];
    int64_t sum = 0;
    begin(ALLOCATOR_CACHING, INT64_MAX);
    for (int64_t i = 0; i < N; i++) blocks[i] = take((i * 7919 % 1000 + 1) * 512);
    int64_t reserved = c.reserved, allocated = c.allocated;
    for (int i = 0; i < N; i++) allocator_release(&c, blocks[(i * 1231) % N]);
    assert_int_equal(c.allocated, 0);
    for (int64_t i = 0; i < N; i++) blocks[i] = take((i * 7919 % 1000 + 1) * 512);
    for (int64_t i = 0; i < N; i++) sum += (i * 7919 % 1000 + 1) * 512;
    assert_int_equal(c.reserved, reserved);
    assert_int_equal(c.allocated, allocated);
    assert_true(c.allocated >= sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_have_the_sizes_of_pytorch),
        cmocka_unit_test(small_blocks_share_a_segment),
        cmocka_unit_test(the_smallest_free_block_that_is_large_enough_is_taken),
        cmocka_unit_test(released_neighbors_become_one_block),
        cmocka_unit_test(free_segments_are_given_back_before_memory_is_exhausted),
        cmocka_unit_test(gaps_can_exhaust_it_where_expandable_segments_do_not),
        cmocka_unit_test(an_expandable_segment_grows_at_its_end),
        cmocka_unit_test(a_host_takes_exactly_what_is_asked_for),
        cmocka_unit_test(what_is_released_is_found_again),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_reset(&memory);
    return failed;
}
