/* whole_input_test.c: all bytes of a source, its limit and its room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/util/whole_input.h"

static status load(str bytes, const ingest_options *o, size_t room, buf *out, error *err) {
    source *src;
    builder *b = builder_new();
    assert_int_equal(source_open_memory(bytes, &src, NULL), OK);
    status st = whole_input(src, o, b, builder_part(b), room, out, err);
    source_close(src);
    builder_free(b);
    return st;
}

static void pieces_become_one_with_room_after_it(void **state) {
    buf out = {0};
    ingest_options o = {.piece_bytes = 3};
    assert_int_equal(load(STR("0123456789"), &o, 8, &out, NULL), OK);
    assert_true(str_eq(buf_str(&out), STR("0123456789")));
    assert_memory_equal(out.p + out.n, "\0\0\0\0\0\0\0\0", 8);
    buf_fini(&out);
}

static void nothing_is_an_error_and_so_is_too_much(void **state) {
    buf out = {0};
    error err = {0};
    ingest_options o = {.piece_bytes = 3, .memory_limit_bytes = 5};
    assert_int_equal(load(STR(""), &o, 0, &out, &err), ERR_FORMAT);
    assert_int_equal(err.message, MSG_EMPTY_FILE);
    assert_int_equal(load(STR("01234"), &o, 0, &out, &err), OK);
    buf_clear(&out);
    assert_int_equal(load(STR("012345"), &o, 0, &out, &err), ERR_LIMIT);
    assert_int_equal(err.message, MSG_MEMORY_LIMIT);
    buf_fini(&out);
}

static bool stop(void *context, uint64_t done, uint64_t total) {
    *(uint64_t *)context = done;
    return done * 2 >= total;
}

static void loading_is_the_first_half_and_can_be_stopped(void **state) {
    buf out = {0};
    error err = {0};
    uint64_t done = 0;
    ingest_options o = {.progress = stop, .progress_context = &done};
    assert_int_equal(load(STR("0123456789"), &o, 0, &out, &err), ERR_CANCELLED);
    assert_int_equal(done, 5);
    buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_one_with_room_after_it),
        cmocka_unit_test(nothing_is_an_error_and_so_is_too_much),
        cmocka_unit_test(loading_is_the_first_half_and_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
