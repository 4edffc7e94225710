/* status_test.c: what an error keeps of the values it was made from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"

static status fail_with_path(const char *path, error *err) {
    FAIL(err, ERR_IO, 77, MSG_OUT_OF_MEMORY, arg_cstr("path", path), arg_int("n", 5));
}

static status fail_without_values(error *err) {
    FAIL0(err, ERR_LIMIT, NOPOS, MSG_NONE);
}

static status forward(int64_t *out, error *err) {
    TRY(fail_without_values(err));
    *out = 1;
    return OK;
}

static void an_error_holds_status_offset_message_and_values(void **state) {
    error err;
    assert_int_equal(fail_with_path("/a/b", &err), ERR_IO);
    assert_int_equal(err.status, ERR_IO);
    assert_int_equal(err.offset, 77);
    assert_int_equal(err.message, MSG_OUT_OF_MEMORY);
    assert_int_equal(err.n_args, 2);
    assert_string_equal(err.args[0].name, "path");
    assert_int_equal(err.args[1].type, ARG_INT);
    assert_int_equal(err.args[1].u.i, 5);
}

static void a_text_value_outlives_what_it_was_made_from(void **state) {
    error err;
    char path[] = "/tmp/x";
    (void)fail_with_path(path, &err);
    memset(path, '#', sizeof path - 1);
    assert_true(str_eq(err.args[0].u.text, STR("/tmp/x")));
    assert_true(err.args[0].u.text.p >= err.text && err.args[0].u.text.p < err.text + 1024);
    assert_int_equal(err.text_used, 6);
}

static void the_error_may_be_null(void **state) {
    assert_int_equal(fail_with_path("/a", NULL), ERR_IO);
    assert_int_equal(fail_without_values(NULL), ERR_LIMIT);
}

static void try_forwards_a_failure_and_leaves_the_output_alone(void **state) {
    int64_t out = 42;
    error err;
    assert_int_equal(forward(&out, &err), ERR_LIMIT);
    assert_int_equal(out, 42);
    assert_int_equal(err.n_args, 0);
}

static void a_long_text_is_cut_and_leaves_room_for_the_next(void **state) {
    static char text[5000];
    memset(text, 'a', sizeof text - 1);
    error err;
    arg args[] = {arg_cstr("path", text), arg_cstr("why", "because")};
    (void)error_set(&err, ERR_IO, 0, MSG_NONE, 2, args);
    assert_int_equal(err.args[0].u.text.n, 512);
    assert_true(str_eq(err.args[1].u.text, STR("because")));
    (void)error_set(&err, ERR_IO, 0, MSG_NONE, 1, args);
    assert_int_equal(err.args[0].u.text.n, 1024);
}

static void a_cut_never_splits_a_character(void **state) {
    for (size_t shift = 0; shift < 4; shift++) {
        char text[2000];
        memset(text, 'x', sizeof text);
        for (size_t i = shift; i + 4 <= sizeof text; i += 4)
            memcpy(text + i, "\xF0\x9F\x98\x80", 4);
        error err;
        arg value = arg_text("s", str_n(text, sizeof text));
        (void)error_set(&err, ERR_IO, 0, MSG_NONE, 1, &value);
        str kept = err.args[0].u.text;
        assert_in_range(kept.n, 1021, 1024);
        size_t at = 0;
        while (at < kept.n) {
            size_t n = str_utf8(kept, at);
            assert_int_not_equal(n, 0);
            at += n;
        }
    }
}

static void bytes_that_are_not_utf8_are_cut_anywhere(void **state) {
    char text[2000];
    memset(text, 0x80, sizeof text);
    error err;
    arg value = arg_text("s", str_n(text, sizeof text));
    (void)error_set(&err, ERR_IO, 0, MSG_NONE, 1, &value);
    assert_int_equal(err.args[0].u.text.n, 1024);
}

static void an_error_can_be_made_from_its_own_values(void **state) {
    error err;
    arg first[] = {arg_cstr("a", "one"), arg_cstr("b", "twothree")};
    (void)error_set(&err, ERR_IO, 0, MSG_NONE, 2, first);
    arg again[] = {err.args[1], err.args[0]};
    (void)error_set(&err, ERR_FORMAT, 0, MSG_NONE, 2, again);
    assert_true(str_eq(err.args[0].u.text, STR("twothree")));
    assert_true(str_eq(err.args[1].u.text, STR("one")));
}

static void a_copied_error_is_independent(void **state) {
    error one, two;
    (void)fail_with_path("/some/path", &one);
    error_copy(&two, &one);
    memset(&one, 0, sizeof one);
    assert_int_equal(two.status, ERR_IO);
    assert_true(str_eq(two.args[0].u.text, STR("/some/path")));
}

static void a_bug_says_where_and_aborts(void **state) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        signal(SIGABRT, SIG_DFL); /* cmocka catches it */
        bug_at("file.c", 12, "the sky fell");
    }
    close(ends[1]);
    char text[200] = {0};
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    int how;
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
    assert_string_equal(text, "file.c:12: BUG: the sky fell\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_holds_status_offset_message_and_values),
        cmocka_unit_test(a_text_value_outlives_what_it_was_made_from),
        cmocka_unit_test(the_error_may_be_null),
        cmocka_unit_test(try_forwards_a_failure_and_leaves_the_output_alone),
        cmocka_unit_test(a_long_text_is_cut_and_leaves_room_for_the_next),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(bytes_that_are_not_utf8_are_cut_anywhere),
        cmocka_unit_test(an_error_can_be_made_from_its_own_values),
        cmocka_unit_test(a_copied_error_is_independent),
        cmocka_unit_test(a_bug_says_where_and_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
