/* stop_test.c: work that no one waits for ends at the next block of its arena. */
#include "base/stop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int n_asked;
static bool is_left(const void *context) {
    n_asked++;
    return *(const bool *)context;
}

static void an_arena_gives_no_block_when_no_one_waits(void **state) {
    arena a, other;
    bool left = false;
    arena_init(&a, 0);
    arena_init(&other, 0);
    stop_begin(&a, is_left, &left);
    char *small = arena_alloc(&a, 100), *large = arena_alloc(&a, 1 << 20);
    assert_non_null(small);
    assert_non_null(large);
    left = true;
    assert_non_null(arena_alloc(&a, 100)); /* in the block that is there */
    assert_null(arena_alloc(&a, 1 << 20));
    assert_null(arena_grow(&a, large, 1 << 20, 2 << 20));
    assert_non_null(arena_alloc(&other, 1 << 20)); /* what others share */
    left = false;
    assert_null(arena_alloc(&a, 1 << 20)); /* it does not start again */
    assert_true(stop_end());
    int before = n_asked;
    assert_non_null(arena_alloc(&a, 1 << 20));
    assert_int_equal(n_asked, before);
    arena_fini(&a);
    arena_fini(&other);
}

static void a_request_that_is_waited_for_is_not_stopped(void **state) {
    arena a;
    bool left = false;
    arena_init(&a, 0);
    stop_begin(&a, is_left, &left);
    for (int i = 0; i < 10; i++) assert_non_null(arena_alloc(&a, 1 << 20));
    assert_false(stop_end());
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arena_gives_no_block_when_no_one_waits),
        cmocka_unit_test(a_request_that_is_waited_for_is_not_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
