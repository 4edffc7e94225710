/* rec_own_test.c: a program that closes our descriptors and has its own files at their numbers.
 * */
#include "unit/record/record_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/rec_int.h"
#include "record/rec_own.h"

enum { VICTIM_BYTES = 8 << 20, MOST_NUMBERS = 1200 };
static char folder[64], victim[128];

/* A file of the program that is full of sevens. */
static int open_victim(void) {
    static char sevens[1 << 16];
    memset(sevens, 7, sizeof sevens);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    int fd = open(victim, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) _exit(10);
    for (int i = 0; i < VICTIM_BYTES; i += (int)sizeof sevens)
        if (write(fd, sevens, sizeof sevens) != (ssize_t)sizeof sevens) _exit(11);
    return fd;
}

static bool is_whole(void) {
    static char bytes[1 << 16];
    ssize_t n, all = 0;
    int fd = open(victim, O_RDONLY);
    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            if (bytes[i] != 7) return false;
        all += n;
    }
    close(fd);
    return all == VICTIM_BYTES;
}

/* Whatever number the recorder had is the program's file now. */
static void take_all_numbers(void) {
    struct rlimit limit = {4096, 4096};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 3; i < MOST_NUMBERS; i++) close(i);
    int fd = open_victim();
    (void)lseek(fd, 100, SEEK_SET);
    for (int i = 3; i < MOST_NUMBERS; i++)
        while (i != fd && dup2(fd, i) != i)
            if (errno != EBUSY) _exit(12); /* another thread is just opening a file there */
}

static void record_much(void) {
    for (int i = 0; i < 400000; i++) tacho_mark("m");
}

/* The number of marks in the only recording that is in the folder. */
static uint32_t marks_there(void) {
    char path[4096];
    tacho_path(path, sizeof path);
    trace *t = read_recording(path);
    uint32_t n = t->instant.n - 1;
    trace_release(t);
    return n;
}

static void lose_all_numbers(void) {
    tacho_options o = {.size = sizeof o, .path = folder, .listen = 1};
    if (tacho_start(&o) != TACHO_OK) _exit(1);
    tacho_mark("first");
    usleep(1200000); /* the live page is there */
    take_all_numbers();
    record_much();
    usleep(1200000);
    if (tacho_stop() != TACHO_OK) _exit(2);
    usleep(200000); /* the file is put away */
    if (!is_whole()) _exit(3);
    if (fcntl(500, F_GETFD) < 0 || fcntl(1000, F_GETFD) < 0) _exit(4); /* none was closed */
    for (int i = 600; i < MOST_NUMBERS; i++) close(i);                 /* room for the reader */
    _exit(marks_there() == 400001 ? 0 : 5);
}

static void files_at_our_old_numbers_stay_whole_and_nothing_is_lost(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(lose_all_numbers), 0);
}

/* A child that is forked then closes what it thinks is the parent's. */
static void fork_afterwards(void) {
    tacho_options o = {.size = sizeof o, .path = folder, .listen = 1};
    if (tacho_start(&o) != TACHO_OK) _exit(1);
    tacho_mark("first");
    usleep(1200000);
    take_all_numbers();
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 3; i < MOST_NUMBERS; i++)
            if (fcntl(i, F_GETFD) < 0) _exit(6);
        _exit(0);
    }
    int how = 0;
    (void)waitpid(pid, &how, 0);
    _exit(how ? 6 : 0);
}

static void a_child_keeps_the_programs_files(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(fork_afterwards), 0);
}

/* A program that does so all the time: no number that it has given a file is closed by us. */
static void take_numbers_all_the_time(void) {
    tacho_options o = {.size = sizeof o, .path = folder, .listen = 1};
    if (tacho_start(&o) != TACHO_OK) _exit(1);
    struct rlimit limit = {4096, 4096};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    usleep(200000); /* the helper has made its first room */
    for (int round = 0; round < 400; round++) {
        tacho_mark("m");
        for (int i = 3; i < MOST_NUMBERS; i++) close(i);
        int fd = open("/dev/null", O_RDWR);
        for (int i = 3; i < MOST_NUMBERS; i++)
            while (i != fd && dup2(fd, i) != i)
                if (errno != EBUSY) _exit(12);
        for (int i = 3; i < MOST_NUMBERS; i++)
            if (fcntl(i, F_GETFD) < 0) _exit(6);
    }
    _exit(0);
}

static void numbers_that_are_taken_all_the_time_stay_the_programs(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(take_numbers_all_the_time), 0);
}

/* The file has another name now, and its descriptor is gone: there is no room any more. */
static void lose_file_and_name(void) {
    char path[4096], other[4200];
    tacho_options o = {.size = sizeof o, .path = folder};
    if (tacho_start(&o) != TACHO_OK) _exit(1);
    usleep(200000); /* the helper has made its first room */
    tacho_path(path, sizeof path);
    snprintf(other, sizeof other, "%s.moved", path);
    if (rename(path, other) != 0) _exit(2);
    FILE *in_its_place = fopen(path, "w");
    if (!in_its_place) _exit(3);
    fputs("another file", in_its_place);
    fclose(in_its_place);
    take_all_numbers();
    record_much();
    record_much();
    if (tacho_stop() != TACHO_OK) _exit(4);
    usleep(200000);
    struct stat st;
    if (!is_whole() || stat(path, &st) != 0 || st.st_size != 12) _exit(5);
    for (int i = 600; i < MOST_NUMBERS; i++) close(i);
    trace *t = read_recording(other);
    int64_t lost = trace_quality(t, CAUSE_RECORDER_FULL), kept = (int64_t)t->instant.n - 1;
    _exit(lost > 0 && kept + lost == 800000 ? 0 : 6);
}

static void a_file_that_cannot_be_found_any_more_is_full(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(lose_file_and_name), 0);
}

static void a_descriptor_is_ours_until_its_number_is_reused(void **state) {
    rec_own own = REC_OWN_NONE;
    int ends[2];
    assert_int_equal(rec_own_fd(&own), -1);
    assert_false(rec_own_is_lost(&own));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    rec_own_take(&own, ends[0]);
    int fd = rec_own_fd(&own);
    assert_true(fd >= 960 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    assert_int_equal(dup2(ends[1], fd), fd); /* the other end is another socket */
    assert_true(rec_own_is_lost(&own));
    rec_own_close(&own);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    assert_false(rec_own_is_lost(&own));
    close(fd);
    close(ends[1]);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

/* Others may write into the folder of a recording. */
static void a_pipe_in_the_place_of_a_file_does_not_block(void **state) {
    char path[128];
    rec_own own;
    snprintf(path, sizeof path, "%s/pipe", fresh_folder());
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_true(rec_own_open(&own, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW) < 0);
    assert_true(rec_own_open(&own, path, O_RDONLY) >= 0);
    alarm(0);
    char byte;
    assert_int_equal(read(rec_own_fd(&own), &byte, 1), 0);
    rec_own_close(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(files_at_our_old_numbers_stay_whole_and_nothing_is_lost,
                                  tear_down),
        cmocka_unit_test_teardown(a_child_keeps_the_programs_files, tear_down),
        cmocka_unit_test_teardown(numbers_that_are_taken_all_the_time_stay_the_programs,
                                  tear_down),
        cmocka_unit_test_teardown(a_file_that_cannot_be_found_any_more_is_full, tear_down),
        cmocka_unit_test_teardown(a_pipe_in_the_place_of_a_file_does_not_block, tear_down),
        cmocka_unit_test_teardown(a_descriptor_is_ours_until_its_number_is_reused, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
