/* folders_test.c: making a folder with those above it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folders.h"

static char home[] = "/tmp/folders_test_XXXXXX";

static const char *at(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", home, name);
    return path;
}

static int make_home(void **state) {
    return mkdtemp(home) ? 0 : -1;
}

static int remove_home(void **state) {
    static const char *const names[] = {"a/b/c", "a/b", "a", "d", "file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) (void)remove(at(names[i]));
    return rmdir(home);
}

static void what_is_missing_is_made(void **state) {
    assert_int_equal(folders_make(at("a/b/c"), 0700), 0);
    assert_true(folder_exists(at("a/b/c")));
    assert_int_equal(folders_make(at("a/b/c"), 0700), 0); /* once more */
    assert_int_equal(folders_make(at("d///"), 0700), 0);
    assert_true(folder_exists(at("d")));
}

static void a_file_is_not_a_folder(void **state) {
    int fd = open(at("file"), O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_false(folder_exists(at("file")));
    assert_int_equal(folders_make(at("file"), 0700), ENOTDIR);
    assert_int_equal(folders_make(at("file/below"), 0700), ENOTDIR);
}

static void a_path_that_cannot_be_is_refused(void **state) {
    char path[8192];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(folders_make("", 0700), ENOENT);
    assert_int_equal(folders_make(path, 0700), ENAMETOOLONG);
    assert_int_equal(folders_make("/", 0700), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_made),
        cmocka_unit_test(a_file_is_not_a_folder),
        cmocka_unit_test(a_path_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
