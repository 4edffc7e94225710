/* sniff_test.c: the message about files that are not traces, and what counts as one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/message_ids_cli.h"
#include "session/sniff.h"
#include "unit/io/io_helper.h"
#include "unit/session/session_helper.h"

/* The name of the format, or NULL and the message. */
static const char *name_of(str bytes, status *st, uint16_t *message) {
    source *s;
    error err = {0};
    const format *f = NULL;
    assert_int_equal(source_open_memory(bytes, &s, NULL), OK);
    *st = sniff_source(s, "some/path", &f, &err);
    *message = err.message;
    if (*st != OK) assert_true(str_eq(err.args[0].u.text, STR("some/path")));
    source_close(s);
    return f ? f->name : NULL;
}

static void check_refused(str bytes, status expected, uint16_t message) {
    status st;
    uint16_t found;
    assert_null(name_of(bytes, &st, &found));
    assert_int_equal(st, expected);
    assert_int_equal(found, message);
}

static void each_foreign_thing_has_its_sentence(void **state) {
    check_refused(STR_NONE, ERR_FORMAT, MSG_FOUND_EMPTY);
    check_refused(STR(" \n\t\n"), ERR_FORMAT, MSG_FOUND_EMPTY);
    check_refused(STR("{\"a\": 1}"), ERR_FORMAT, MSG_FOUND_JSON);
    check_refused(STR("[1, 2]"), ERR_FORMAT, MSG_FOUND_JSON);
    check_refused(STR("once upon a time"), ERR_FORMAT, MSG_FOUND_TEXT);
    check_refused(STR("\x01\x02\x03\x04\x05"), ERR_FORMAT, MSG_FOUND_BINARY);
    check_refused(STR("PK\x03\x04 zip"), ERR_UNSUPPORTED, MSG_FOREIGN_ARCHIVE);
    check_refused(STR("SQLite format 3\0 x"), ERR_UNSUPPORTED, MSG_FOREIGN_SQLITE);
    check_refused(STR("\x1f\x8b\x08 not really"), ERR_FORMAT, MSG_FOUND_BROKEN_STREAM);
}

static void compression_is_seen_through(void **state) {
    buf packed[2] = {gzip_of(small_trace(10), 6), zstd_of(small_trace(10), 3)};
    for (int i = 0; i < 2; i++) {
        status st;
        uint16_t message;
        assert_string_equal(name_of(buf_str(&packed[i]), &st, &message), "trace json");
        buf_fini(&packed[i]);
    }
    buf text = gzip_of(STR("just a letter"), 6);
    check_refused(buf_str(&text), ERR_FORMAT, MSG_FOUND_TEXT);
    buf_fini(&text);
}

static void events_long_after_a_large_head_are_found(void **state) {
    buf b = {0};
    buf_add_cstr(&b, "{\"notes\": \"");
    buf_add_repeat(&b, 'x', 1 << 20);
    buf_add_cstr(&b, "\", \"traceEvents\": []}");
    folder f = folder_new();
    assert_true(sniff_is_trace(put_file(&f, "large.json", buf_str(&b))));
    b.n -= 30;
    buf_add_repeat(&b, 'x', 8 << 20);
    buf_add_cstr(&b, "\", \"traceEvents\": []}");
    /* Too far for looking around in folders, not for a reader that was asked for this file. */
    assert_false(sniff_is_trace(put_file(&f, "larger.json", buf_str(&b))));
    status st;
    uint16_t message;
    assert_string_equal(name_of(buf_str(&b), &st, &message), "trace json");
    folder_gone(&f);
    buf_fini(&b);
}

static void nothing_is_taken_from_the_source(void **state) {
    str text = small_trace(20);
    source *s;
    const format *f;
    piece pc;
    assert_int_equal(source_open_memory(text, &s, NULL), OK);
    assert_int_equal(sniff_source(s, "x", &f, NULL), OK);
    assert_int_equal(source_next(s, 1 << 20, 0, &pc, NULL), OK);
    assert_int_equal(pc.n, text.n);
    assert_int_equal(pc.offset, 0);
    source_release(s, &pc);
    source_close(s);
}

static void a_path_that_does_not_exist_is_not_a_trace(void **state) {
    assert_false(sniff_is_trace("/nowhere/at/all"));
    assert_false(sniff_is_trace("/tmp"));
}

static void bytes_in_memory_are_named_too(void **state) {
    uint16_t found = 99;
    assert_string_equal(sniff_bytes(small_trace(1), true, &found)->name, "trace json");
    assert_int_equal(found, MSG_NONE);
    assert_null(sniff_bytes(STR("hello"), true, &found));
    assert_int_equal(found, MSG_FOUND_TEXT);
    assert_null(sniff_bytes(STR("BZh9"), true, &found));
    assert_int_equal(found, MSG_FOREIGN_ARCHIVE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_foreign_thing_has_its_sentence),
        cmocka_unit_test(compression_is_seen_through),
        cmocka_unit_test(events_long_after_a_large_head_are_found),
        cmocka_unit_test(nothing_is_taken_from_the_source),
        cmocka_unit_test(a_path_that_does_not_exist_is_not_a_trace),
        cmocka_unit_test(bytes_in_memory_are_named_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
