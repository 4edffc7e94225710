/* hash_test.c: values that stand in files must never change; pieces give the value of the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fault.h"
#include "base/hash.h"

static void values_are_those_of_xxh3(void **state) {
    /* As `xxhsum -H3` prints them. */
    assert_true(hash_bytes64("", 0) == 0x2D06800538D394C2U);
    assert_true(hash_bytes64(NULL, 0) == 0x2D06800538D394C2U);
    assert_true(hash_bytes64("abc", 3) == 0x78AF5F94892F3950U);
}

static void pieces_give_the_value_of_the_whole(void **state) {
    static char text[10000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 7 + i / 251);
    hash_stream *s = hash_stream_new();
    assert_int_equal((uintptr_t)s % 64, 0);
    for (size_t piece = 1; piece < 3000; piece = piece * 3 + 1) {
        hash_stream_reset(s);
        for (size_t at = 0; at < sizeof text; at += piece) {
            size_t n = sizeof text - at < piece ? sizeof text - at : piece;
            hash_stream_add(s, text + at, n);
            hash_stream_add(s, NULL, 0);
            if (at == 0) assert_true(hash_stream_value(s) == hash_bytes64(text, n));
        }
        assert_true(hash_stream_value(s) == hash_bytes64(text, sizeof text));
    }
    hash_stream_free(s);
    hash_stream_free(NULL);
}

static void a_new_stream_is_the_empty_text(void **state) {
    hash_stream *s = hash_stream_new();
    assert_true(hash_stream_value(s) == hash_bytes64("", 0));
    hash_stream_free(s);
}

static void without_memory_there_is_no_stream(void **state) {
    fault_arm(FAULT_ALLOC, 1);
    assert_null(hash_stream_new());
    fault_arm(FAULT_ALLOC, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_xxh3),
        cmocka_unit_test(pieces_give_the_value_of_the_whole),
        cmocka_unit_test(a_new_stream_is_the_empty_text),
        cmocka_unit_test(without_memory_there_is_no_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
