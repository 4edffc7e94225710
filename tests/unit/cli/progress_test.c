/* progress_test.c: progress is only shown on a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "cli/progress.h"

static void into_a_pipe_nothing_is_written(void **state) {
    int ends[2], kept = dup(STDERR_FILENO);
    char text[8];
    options o = {.words = LANG_EN};
    progress p;
    assert_true(kept >= 0);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    progress_begin(&p, &o, "a.json");
    bool stop = progress_step(&p, 1, 2);
    progress_end(&p);
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_false(stop);
    assert_false(p.on);
    assert_int_equal(read(ends[0], text, sizeof text), -1);
    close(ends[0]);
    close(ends[1]);
}

static void after_half_a_second_there_is_one_line(void **state) {
    int ends[2], kept = dup(STDERR_FILENO);
    char text[256] = "";
    progress p = {.on = true, .words = LANG_EN, .path = "a.json"}; /* began long ago */
    assert_true(kept >= 0);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    (void)progress_step(&p, 500, 2000);
    (void)progress_step(&p, 600, 2000); /* too soon after the last */
    progress_end(&p);
    dup2(kept, STDERR_FILENO);
    close(kept);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    assert_string_equal(text, "\rreading a.json: 25.0 % of 1.95 KiB\033[K\r\033[K");
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(into_a_pipe_nothing_is_written),
        cmocka_unit_test(after_half_a_second_there_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
