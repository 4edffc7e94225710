/* traits_test.c: what formats say of their traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/traits.h"

static void a_format_has_its_traits(void **state) {
    trace t = {.format = STR("memory_flow")};
    (void)state;
    assert_true(trace_has(&t, TRAIT_MEMORY_PICTURE));
    assert_false(trace_has(&t, TRAIT_STATIC_GRAPH));
    assert_int_equal(format_framework(STR("megengine_static")), FRAMEWORK_MEGENGINE);
    assert_int_equal(format_framework(STR("kineto")), FRAMEWORK_PYTORCH);
}

static void an_unknown_format_has_none(void **state) {
    static const str names[] = {STR("mixed"), STR("tacho_summary"), STR(""), STR("kinet")};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(format_traits(names[i]), 0);
        assert_int_equal(format_framework(names[i]), FRAMEWORK_NONE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_has_its_traits),
        cmocka_unit_test(an_unknown_format_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
