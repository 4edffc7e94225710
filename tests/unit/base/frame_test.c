/* frame_test.c: what is around blocks, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/frame.h"

static void a_frame_has_a_head_and_aligned_blocks(void **state) {
    buf out = {0}, description = {0};
    buf_add_cstr(&description, "{\"n\":1}..");
    frame_begin(&out, "TACHOXYZ", &description);
    assert_null(description.p);
    assert_memory_equal(out.p, "TACHOXYZ\1\0\0\0\x10\0\0\0{\"n\":1}..       ", 32);
    assert_int_equal(out.n, 32);
    buf_add(&out, "abc", 3);
    frame_pad(&out, 3);
    frame_pad(&out, 0);
    frame_pad(&out, 8);
    assert_int_equal(out.n, 40);
    assert_memory_equal(out.p + 32, "abc\0\0\0\0\0", 8);
    buf_fini(&out);
}

static void a_description_that_failed_fails_the_frame(void **state) {
    buf out = {0}, description = {.failed = true};
    frame_begin(&out, "TACHOXYZ", &description);
    assert_false(buf_ok(&out));
    buf_fini(&out);
}

static void room_is_a_multiple_of_eight(void **state) {
    static const uint64_t cases[][2] = {
        {0, 0}, {1, 8}, {8, 8}, {9, 16}, {1ull << 40, 1ull << 40}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(frame_room(cases[i][0]), cases[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_has_a_head_and_aligned_blocks),
        cmocka_unit_test(a_description_that_failed_fails_the_frame),
        cmocka_unit_test(room_is_a_multiple_of_eight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
