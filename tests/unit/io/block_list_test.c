/* block_list_test.c: blocks are recycled, sized and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/fault.h"
#include "unit/io/io_helper.h"

static void a_block_has_the_room_that_was_asked_for_and_a_pad(void **state) {
    block_list l;
    block_list_init(&l);
    block *b = block_take(&l, 1000000, 12345);
    assert_non_null(b);
    assert_true(block_front(b) >= 1000000);
    assert_true(block_room(b) >= 12345);
    memset(b->data - 1000000, 1, 1000000 + 12345 + SOURCE_PAD);
    block_drop(&l, b);
    block_list_fini(&l);
}

static void a_dropped_block_is_taken_again(void **state) {
    block_list l;
    block_list_init(&l);
    block *a = block_take(&l, 0, 4096), *b = block_take(&l, 0, 4096);
    char *base = a->base;
    assert_ptr_not_equal(base, b->base);
    block_hold(&l, a);
    block_drop(&l, a);
    block *c = block_take(&l, 0, 4096); /* a is still held */
    assert_ptr_not_equal(c->base, base);
    block_drop(&l, a);
    block *d = block_take(&l, 0, 4096);
    assert_ptr_equal(d->base, base);
    block_drop(&l, b);
    block_drop(&l, c);
    block_drop(&l, d);
    block_drop(&l, NULL);
    block_list_fini(&l);
}

static void a_block_of_the_wrong_size_is_not_taken_again(void **state) {
    block_list l;
    block_list_init(&l);
    block_drop(&l, block_take(&l, 0, 1 << 20));
    block *b = block_take(&l, 0, 8 << 20);
    assert_true(block_room(b) >= 8 << 20);
    block_drop(&l, b);
    b = block_take(&l, 0, 4096);
    assert_true(block_room(b) < 4 << 20);
    block_drop(&l, b);
    block_list_fini(&l);
}

static void no_memory_and_impossible_sizes_give_no_block(void **state) {
    block_list l;
    block_list_init(&l);
    assert_null(block_take(&l, SIZE_MAX - 100, 4096));
    assert_null(block_take(&l, 0, SIZE_MAX - 100));
    for (uint64_t n = 1; n <= 2; n++) {
        fault_arm(FAULT_ALLOC, n);
        assert_null(block_take(&l, 0, 4096));
    }
    fault_arm(FAULT_ALLOC, 0);
    block_list_fini(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_has_the_room_that_was_asked_for_and_a_pad),
        cmocka_unit_test(a_dropped_block_is_taken_again),
        cmocka_unit_test(a_block_of_the_wrong_size_is_not_taken_again),
        cmocka_unit_test(no_memory_and_impossible_sizes_give_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
