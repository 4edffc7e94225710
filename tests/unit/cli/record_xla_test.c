/* record_xla_test.c: profiles next to a recording are waited for, and go when they are part of
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record_xla.h"

enum { PID = 1 }; /* of a process that is always there */
static char folder[64];

static void make_file(const char *name, const void *bytes, size_t n) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static bool is_there(const char *name) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static record_profiles make_recording(int64_t pid) {
    char path[160];
    tacho_file_header h = {.profile = TACHO_FILE_RECORDING,
                           .pid = pid,
                           .start_unix_ns = 1000,
                           .stop_unix_ns = 2000};
    memcpy(h.magic, TACHO_FILE_MAGIC, 8);
    make_file("x.tacho", &h, sizeof h);
    snprintf(path, sizeof path, "%s/x.tacho", folder);
    return record_profiles_of(path);
}

static int make_folder(void **state) {
    strcpy(folder, "/tmp/tacho_record_xla_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line);
}

static void only_those_of_the_recording_go(void **state) {
    static const char *const own[] = {".xla-1500-1.pb", ".xla-1600-1.pb.tmp"},
                             *const others[] = {".xla-999-1.pb",  ".xla-2001-1.pb",
                                                ".xla-1500-2.pb", ".xla-1500-1.pb.gz",
                                                ".xla-x-1.pb",    "notes"};
    record_profiles p = make_recording(PID);
    for (size_t i = 0; i < 2; i++) make_file(own[i], "", 0);
    for (size_t i = 0; i < 6; i++) make_file(others[i], "", 0);
    record_remove_profiles(&p);
    for (size_t i = 0; i < 2; i++) assert_false(is_there(own[i]));
    for (size_t i = 0; i < 6; i++) assert_true(is_there(others[i]));
}

static void a_file_that_is_not_a_recording_has_none(void **state) {
    make_file(".xla-1500-1.pb", "", 0);
    record_profiles p = record_profiles_of("/dev/null");
    assert_false(p.is_known);
    record_remove_profiles(&p);
    assert_true(is_there(".xla-1500-1.pb"));
}

static void one_that_is_being_written_is_waited_for(void **state) {
    record_profiles p = make_recording(getpid());
    char from[160], to[160];
    snprintf(from, sizeof from, "%s/.xla-1500-%d.pb.tmp", folder, (int)getpid());
    snprintf(to, sizeof to, "%s/.xla-1500-%d.pb", folder, (int)getpid());
    make_file(strrchr(from, '/') + 1, "", 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(200000);
        _exit(rename(from, to));
    }
    record_wait_for_profiles(&p);
    assert_int_equal(access(to, F_OK), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_process_that_is_gone_is_not_waited_for(void **state) {
    record_profiles p = make_recording(INT32_MAX); /* beyond the largest number of a process */
    char name[64];
    snprintf(name, sizeof name, ".xla-1500-%d.pb.tmp", INT32_MAX);
    make_file(name, "", 0);
    record_wait_for_profiles(&p);
    assert_true(is_there(name));
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(only_those_of_the_recording_go),
        IN_FOLDER(a_file_that_is_not_a_recording_has_none),
        IN_FOLDER(one_that_is_being_written_is_waited_for),
        IN_FOLDER(a_process_that_is_gone_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
