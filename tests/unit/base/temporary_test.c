/* temporary_test.c: what killed programs left goes, what others hold stays. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/temporary.h"

static char top[64];

static int set_up(void **state) {
    strcpy(top, "/tmp/temporary_test_XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state) {
    temporary_remove(top);
    return access(top, F_OK) == 0;
}

static int make(char *path, const char *name) {
    snprintf(path, 128, "%s/%s", top, name);
    return temporary_folder(path);
}

static void what_is_not_held_goes_and_the_rest_stays(void **state) {
    char held[128], left[128], next[128], other[128], inside[160];
    int first = make(held, "drop-XXXXXX"), second = make(left, "drop-XXXXXX");
    struct stat st;
    assert_true(first >= 0 && second >= 0);
    assert_int_equal(stat(held, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    snprintf(inside, sizeof inside, "%s/7.tmp", left);
    close(open(inside, O_WRONLY | O_CREAT, 0600));
    close(second); /* as the end of its program does */
    snprintf(other, sizeof other, "%s/drop-of-the-user", top);
    mkdir(other, 0700);
    close(make(next, "drop-XXXXXX"));
    assert_int_equal(access(left, F_OK), 0); /* so young that its lock may be about to come */
    sleep(4);
    close(make(next, "drop-XXXXXX"));
    assert_int_equal(access(held, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_not_equal(access(left, F_OK), 0);
    close(first);
}

static void a_lock_goes_with_its_process(void **state) {
    char path[128];
    int ends[2];
    snprintf(path, sizeof path, "%s/held", top);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(path, O_RDWR | O_CREAT, 0600);
        temporary_hold(fd);
        (void)!write(ends[1], "x", 1);
        pause();
    }
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    int fd = open(path, O_RDONLY);
    assert_int_not_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

static void nothing_a_link_points_to_is_removed(void **state) {
    char outside[128], folder[128], link[256], file[256];
    snprintf(outside, sizeof outside, "%s/outside", top);
    snprintf(folder, sizeof folder, "%s/folder", top);
    mkdir(outside, 0700);
    mkdir(folder, 0700);
    snprintf(file, sizeof file, "%s/file", outside);
    snprintf(link, sizeof link, "%s/link", folder);
    close(open(file, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(symlink(outside, link), 0);
    temporary_remove(folder);
    assert_int_not_equal(access(folder, F_OK), 0);
    assert_int_equal(access(file, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_held_goes_and_the_rest_stays, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_lock_goes_with_its_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_a_link_points_to_is_removed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
