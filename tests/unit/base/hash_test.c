/* hash_test.c: values that are in files must never change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"

static void values_are_those_of_xxh3(void **state) {
    /* As `xxhsum -H3` prints them. */
    assert_true(hash_bytes64("", 0) == 0x2D06800538D394C2U);
    assert_true(hash_bytes64(NULL, 0) == 0x2D06800538D394C2U);
    assert_true(hash_bytes64("abc", 3) == 0x78AF5F94892F3950U);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_xxh3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
