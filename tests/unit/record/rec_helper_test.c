/* rec_helper_test.c: the recorder's own thread: room ahead, clocks, and what is put away. */
#include "unit/record/record_helper.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/rec_int.h"

static int helper_tid; /* of the last one that was seen */

/* Threads of this process that are named "tacho". */
static int helpers(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.200s/comm", e->d_name);
        FILE *in = fopen(path, "r");
        if (in && fgets(name, sizeof name, in) && strcmp(name, "tacho\n") == 0) {
            helper_tid = atoi(e->d_name);
            n++;
        }
        if (in) fclose(in);
    }
    closedir(d);
    return n;
}

static bool wait_until(bool (*holds)(void)) {
    for (int i = 0; i < 500; i++) {
        if (holds()) return true;
        usleep(10000);
    }
    return false;
}

static bool has_room_ahead(void) {
    bool before = rec_enter(&rec_lock);
    bool ok = rec_current && rec_current->ready >= rec_current->n_chunks + 60;
    rec_leave(&rec_lock, before);
    return ok;
}

static void there_is_one_and_it_makes_room(void **state) {
    fresh_folder();
    start_all();
    tacho_mark("m");
    assert_true(wait_until(has_room_ahead));
    assert_int_equal(helpers(), 1);
    assert_int_equal(tacho_stop(), TACHO_OK);
    start_all();
    assert_int_equal(helpers(), 1);
}

static char path[4096];

static bool is_cut(void) {
    struct stat st;
    return stat(path, &st) == 0 &&
           st.st_size == TACHO_FILE_HEADER_BYTES + 2 * TACHO_CHUNK_BYTES;
}

static void a_stopped_file_is_cut_to_its_contents(void **state) {
    fresh_folder();
    start_all();
    tacho_mark("m");
    assert_true(wait_until(has_room_ahead));
    assert_int_equal(tacho_stop(), TACHO_OK);
    tacho_path(path, sizeof path);
    assert_true(wait_until(is_cut)); /* one chunk of names, one of events */
}

/* A disk that takes as long as the test wants. */
static atomic_bool is_slow, is_asked;

int fallocate(int fd, int mode, off_t from, off_t bytes) {
    atomic_store(&is_asked, true);
    while (atomic_load(&is_slow)) usleep(1000);
    return (int)syscall(SYS_fallocate, fd, mode, from, bytes);
}

static bool is_disk_asked(void) {
    return atomic_load(&is_asked);
}

static void stopping_does_not_wait_for_the_disk(void **state) {
    fresh_folder();
    atomic_store(&is_asked, false);
    atomic_store(&is_slow, true);
    start_all();
    tacho_mark("m");
    assert_true(wait_until(is_disk_asked));
    for (int i = 0; i < 100000; i++) tacho_mark("meanwhile"); /* makes its own room */
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_true(atomic_load(&is_slow)); /* the helper is still in there */
    atomic_store(&is_slow, false);
    tacho_path(path, sizeof path);
    trace *t = read_recording(path);
    assert_int_equal(t->instant.n - 1, 100001);
    trace_release(t);
}

static bool is_batch(void) {
    return helpers() == 1 && sched_getscheduler(helper_tid) == SCHED_BATCH;
}

static void it_takes_no_processor_from_the_program(void **state) {
    fresh_folder();
    start_all();
    assert_true(wait_until(is_batch));
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER); /* and the program is as it was */
}

static void clocks_are_read_from_time_to_time(void **state) {
    fresh_folder();
    start_all();
    usleep(300000);
    assert_int_equal(tacho_stop(), TACHO_OK);
    tacho_path(path, sizeof path);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    static uint8_t chunk[TACHO_CHUNK_BYTES];
    fseek(in, TACHO_FILE_HEADER_BYTES, SEEK_SET);
    assert_int_equal(fread(chunk, 1, sizeof chunk, in), sizeof chunk);
    fclose(in);
    int n = 0;
    for (size_t at = TACHO_CHUNK_HEADER_BYTES; at + 8 < sizeof chunk;) {
        tacho_side head;
        memcpy(&head, chunk + at, sizeof head);
        if (!head.bytes) break;
        n += head.type == TACHO_SIDE_CLOCK;
        at += head.bytes;
    }
    assert_true(n >=
                5); /* loaded, started, three early ones, stopped; fewer on a busy machine */
}

static void check_child(void) {
    if (helpers() != 0) _exit(1);
    start_all();
    for (int i = 0; i < 500 && helpers() != 1; i++)
        usleep(10000); /* it names itself when it runs */
    if (helpers() != 1) _exit(2);
    _exit(tacho_stop() == TACHO_OK ? 0 : 3);
}

static void a_child_makes_its_own(void **state) {
    fresh_folder();
    start_all();
    assert_int_equal(in_child(check_child), 0);
}

/* ---- the end of a program whose main thread left before ---- */

static void *work_a_little(void *unused) {
    usleep(300000);
    tacho_mark("at last");
    return unused;
}

static void leave_main_thread(void) {
    pthread_t id;
    start_all();
    tacho_mark("m");
    if (pthread_create(&id, NULL, work_a_little, NULL) != 0) _exit(9);
    pthread_exit(NULL);
}

static void stop_and_leave_main_thread(void) {
    pthread_t id;
    start_all();
    tacho_mark("m");
    (void)tacho_stop();
    usleep(200000); /* the helper sleeps */
    if (pthread_create(&id, NULL, work_a_little, NULL) != 0) _exit(9);
    pthread_exit(NULL);
}

/* LeakSanitizer asks before it looks: the stack of a main thread that
 * left holds what is not lost. */
int __lsan_is_turned_off(void) __attribute__((visibility("default")));
static int is_not_asked_for_leaks;
int __lsan_is_turned_off(void) {
    return is_not_asked_for_leaks;
}

/* ThreadSanitizer ends a child of a program with threads when it starts one itself, unless it
 * is asked not to. What it knew of the other threads is wrong there, but these children share
 * nothing with them. */
const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void) {
    return "die_after_fork=0";
}

/* The status of a child that may not end by itself. */
static int status_within_seconds(void (*fn)(void), int seconds) {
    int how = -1;
    pid_t pid = fork();
    if (pid == 0) {
        is_not_asked_for_leaks = 1;
        fn();
        _exit(8);
    }
    for (int i = 0; i < seconds * 100; i++) {
        if (waitpid(pid, &how, WNOHANG) == pid) return how;
        usleep(10000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &how, 0);
    return how;
}

static void a_program_ends_with_its_own_last_thread(void **state) {
    fresh_folder();
    char names[2][512];
    assert_int_equal(status_within_seconds(leave_main_thread, 20), 0);
    assert_int_equal(list_recordings(names, 2), 1);
    trace *t = read_recording(names[0]);
    assert_int_equal(t->instant.n - 1, 2);
    trace_release(t);
    tacho_file_header head = {.state = TACHO_FILE_RUNNING};
    FILE *in = fopen(names[0], "rb");
    assert_non_null(in);
    assert_int_equal(fread(&head, sizeof head, 1, in), 1);
    fclose(in);
    assert_int_equal(head.state, TACHO_FILE_STOPPED); /* as any exit does it */
    fresh_folder();
    assert_int_equal(status_within_seconds(stop_and_leave_main_thread, 20), 0);
}

/* As some sandboxes have it: threads cannot be counted there. */
static void leave_main_thread_without_proc(void) {
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, NULL) != 0 ||
        umount2("/proc", MNT_DETACH) != 0)
        _exit(77);
    leave_main_thread();
}

static void a_program_ends_also_where_there_is_no_proc(void **state) {
    fresh_folder();
    int how = status_within_seconds(leave_main_thread_without_proc, 20);
    if (how == 77 << 8) skip();
    assert_int_equal(how, 0);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(there_is_one_and_it_makes_room, tear_down),
        cmocka_unit_test_teardown(a_stopped_file_is_cut_to_its_contents, tear_down),
        cmocka_unit_test_teardown(stopping_does_not_wait_for_the_disk, tear_down),
        cmocka_unit_test_teardown(it_takes_no_processor_from_the_program, tear_down),
        cmocka_unit_test_teardown(clocks_are_read_from_time_to_time, tear_down),
        cmocka_unit_test_teardown(a_child_makes_its_own, tear_down),
        cmocka_unit_test_teardown(a_program_ends_with_its_own_last_thread, tear_down),
        cmocka_unit_test_teardown(a_program_ends_also_where_there_is_no_proc, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
