/* cli_test.c: exit statuses, and output to readers that leave and disks that are full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/message_ids_cli.h"
#include "cli/cli.h"

static void failures_end_in_the_statuses_of_the_contract(void **state) {
    assert_int_equal(cli_exit_status(OK), 0);
    assert_int_equal(cli_exit_status(ERR_ARG), 1);
    assert_int_equal(cli_exit_status(ERR_IO), 2);
    assert_int_equal(cli_exit_status(ERR_FORMAT), 2);
    assert_int_equal(cli_exit_status(ERR_UNSUPPORTED), 2);
    assert_int_equal(cli_exit_status(ERR_NOT_FOUND), 2);
    assert_int_equal(cli_exit_status(ERR_LIMIT), 3);
    assert_int_equal(cli_exit_status(ERR_MEMORY), 3);
}

/* Runs with stderr in the bin. */
static int end_quietly(output *out, status s, error *err) {
    options o = {.words = LANG_EN};
    int kept = dup(STDERR_FILENO), bin = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_true(kept >= 0 && bin >= 0);
    dup2(bin, STDERR_FILENO);
    int code = output_end(out, &o, s, err);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(bin);
    return code;
}

static void what_was_written_comes_out_whole(void **state) {
    int ends[2];
    char text[32] = "";
    assert_int_equal(pipe(ends), 0);
    output out = {.fd = ends[1], .name = "pipe"};
    error err = {0};
    buf_add_cstr(&out.buf, "hello");
    assert_int_equal(end_quietly(&out, OK, &err), 0);
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    assert_string_equal(text, "hello");
    close(ends[0]);
    close(ends[1]);
}

static void a_reader_that_left_is_not_an_error(void **state) {
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    output out = {.fd = ends[1], .name = "pipe"};
    error err = {0};
    buf_add_cstr(&out.buf, "hello");
    assert_int_equal(end_quietly(&out, OK, &err), 0);
    assert_true(out.closed);
    close(ends[1]);
}

static void a_full_disk_is_status_three(void **state) {
    output out = {.fd = STDOUT_FILENO, .name = "disk"};
    error err = {0};
    buf_add_cstr(&out.buf, "hello");
    fault_arm(FAULT_WRITE, 1);
    assert_int_equal(end_quietly(&out, OK, &err), 3);
    fault_arm(FAULT_WRITE, 0);
    assert_int_equal(err.message, MSG_CLI_CANNOT_WRITE);
}

static void a_failed_command_keeps_its_status(void **state) {
    output out = {.fd = STDOUT_FILENO, .name = "out"};
    error err = {0};
    buf_add_cstr(&out.buf, "half of a table that must not be seen");
    (void)error_set(&err, ERR_FORMAT, NOPOS, MSG_CLI_NO_COLUMN, 0, NULL);
    assert_int_equal(end_quietly(&out, ERR_FORMAT, &err), 2);
}

static void no_memory_is_status_three(void **state) {
    output out = {.fd = STDOUT_FILENO, .name = "out"};
    error err = {0};
    out.buf.failed = true;
    assert_int_equal(end_quietly(&out, OK, &err), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_end_in_the_statuses_of_the_contract),
        cmocka_unit_test(what_was_written_comes_out_whole),
        cmocka_unit_test(a_reader_that_left_is_not_an_error),
        cmocka_unit_test(a_full_disk_is_status_three),
        cmocka_unit_test(a_failed_command_keeps_its_status),
        cmocka_unit_test(no_memory_is_status_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
