/* whole_file_test.c: a file is there when it is whole, and before that nothing is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/whole_file.h"

static char folder[64], path[128];

static int make_folder(void **state) {
    snprintf(folder, sizeof folder, "/tmp/tacho-whole-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.json", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)unlink(path);
    return rmdir(folder);
}

static int count_files(void) {
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void put(const char *text) {
    whole_file f;
    assert_true(whole_file_begin(&f, path));
    assert_int_equal(write(f.fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_true(whole_file_end(&f));
}

static void expect(const char *text) {
    char got[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, got, sizeof got - 1) >= 0);
    close(fd);
    assert_string_equal(got, text);
    assert_int_equal(count_files(), 1);
}

static void a_file_takes_its_name_and_that_of_an_older_one(void **state) {
    put("one");
    expect("one");
    put("two");
    expect("two");
}

static void what_is_dropped_leaves_the_older_file(void **state) {
    whole_file f;
    put("one");
    assert_true(whole_file_begin(&f, path));
    assert_int_equal(write(f.fd, "half", 4), 4);
    whole_file_drop(&f);
    expect("one");
}

/* By a signal that cannot be caught. */
static void a_killed_program_leaves_nothing(void **state) {
    int status;
    put("one");
    pid_t pid = fork();
    if (pid == 0) {
        whole_file f;
        if (!whole_file_begin(&f, path) || write(f.fd, "half", 4) != 4) _exit(1);
        if (f.named) _exit(77); /* this file system cannot */
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
    assert_true(WIFSIGNALED(status));
    expect("one");
}

static void a_place_that_does_not_exist_is_reported(void **state) {
    whole_file f;
    errno = 0;
    assert_false(whole_file_begin(&f, "/no/such/folder/a.json"));
    assert_int_equal(errno, ENOENT);
}

static void a_folder_in_the_place_is_reported_and_stays(void **state) {
    whole_file f;
    (void)unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(whole_file_begin(&f, path));
    assert_false(whole_file_end(&f));
    assert_int_equal(count_files(), 1);
    assert_int_equal(rmdir(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_takes_its_name_and_that_of_an_older_one),
        cmocka_unit_test(what_is_dropped_leaves_the_older_file),
        cmocka_unit_test(a_killed_program_leaves_nothing),
        cmocka_unit_test(a_place_that_does_not_exist_is_reported),
        cmocka_unit_test(a_folder_in_the_place_is_reported_and_stays),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
