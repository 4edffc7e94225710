/* rec_guard_test.c: the file is cut, removed or replaced while it is written. */
#include "unit/record/record_helper.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_int.h"

static char folder[64];

static void mark(int n) {
    for (int i = 0; i < n; i++) tacho_mark("m");
}

/* Cuts the file that is being written. */
static void cut_to(off_t bytes) {
    char path[4096];
    tacho_path(path, sizeof path);
    if (truncate(path, bytes) != 0) _exit(20);
}

static void end_with_a_readable_file(void) {
    char path[4096];
    usleep(300000); /* the helper has seen it */
    mark(1000);
    if (tacho_stop() != TACHO_OK) _exit(1);
    tacho_path(path, sizeof path);
    trace *t = read_recording(path);
    if (t->instant.n - 1 < 1000) _exit(2);
    if (trace_quality(t, CAUSE_RECORDER_FULL) < 1) _exit(3);
    _exit(0);
}

static void empty_it(void) {
    start_all();
    mark(300000);
    cut_to(0);
    mark(300000);
    end_with_a_readable_file();
}

static void halve_it(void) {
    start_all();
    mark(300000);
    cut_to(TACHO_FILE_HEADER_BYTES + 5 * TACHO_CHUNK_BYTES + 100);
    mark(300000);
    end_with_a_readable_file();
}

static void empty_it_again_and_again(void) {
    start_all();
    for (int i = 0; i < 20; i++) {
        mark(20000);
        cut_to(i * 1000);
        mark(20000);
        usleep(15000);
    }
    end_with_a_readable_file();
}

static void *mark_all_the_time(void *stop) {
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) mark(1000);
    return NULL;
}

static void empty_it_under_threads(void) {
    pthread_t ids[8];
    int stop = 0;
    start_all();
    for (int i = 0; i < 8; i++) pthread_create(&ids[i], NULL, mark_all_the_time, &stop);
    for (int i = 0; i < 10; i++) {
        usleep(30000);
        cut_to(0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 8; i++) pthread_join(ids[i], NULL);
    end_with_a_readable_file();
}

static void the_program_continues_when_its_recording_is_cut(void **state) {
    static void (*const WAYS[])(void) = {empty_it, halve_it, empty_it_again_and_again,
                                         empty_it_under_threads};
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        strcpy(folder, fresh_folder());
        assert_int_equal(in_child(WAYS[i]), 0);
    }
}

/* Over all of it, header and chunks, as often as there is time. */
static void *fill_all_the_time(void *stop) {
    char path[4096], block[65536];
    unsigned turn = 0;
    tacho_path(path, sizeof path);
    int fd = open(path, O_WRONLY);
    while (fd >= 0 && !__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
        struct stat st;
        for (size_t i = 0; i < sizeof block; i++)
            block[i] = (char)(turn % 3 == 0 ? 0xff : turn % 3 == 1 ? 0 : i * 7 + turn);
        if (fstat(fd, &st) != 0) break;
        for (off_t at = 0; at + (off_t)sizeof block <= st.st_size; at += (off_t)sizeof block)
            if (pwrite(fd, block, sizeof block, at) < 0) break;
        turn++;
    }
    close(fd);
    return NULL;
}

static void *range_all_the_time(void *stop) {
    static const char *const NAMES[] = {"a", "b", "c", "d"};
    for (unsigned i = 0; !__atomic_load_n((int *)stop, __ATOMIC_RELAXED); i++) {
        tacho_begin_text(NAMES[i % 4], TACHO_RANGE_PLAIN);
        tacho_counter("n", i);
        tacho_end_range();
        mark(10);
    }
    return NULL;
}

static void fill_while_recording(void) {
    pthread_t ids[5];
    int stop = 0;
    for (int i = 0; i < 5; i++)
        pthread_create(&ids[i], NULL, i ? range_all_the_time : fill_all_the_time, &stop);
    for (unsigned step = 0; step < 20; step++) {
        usleep(20000);
        tacho_step();
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 5; i++) pthread_join(ids[i], NULL);
    _exit(tacho_stop() == TACHO_OK ? 0 : 1);
}

static void fill_it(void) {
    start_all();
    fill_while_recording();
}

static void fill_a_flight_recorder(void) {
    tacho_options o = {
        .size = sizeof o, .path = folder, .flight_seconds = 0.05, .ring_bytes = 8 << 20};
    if (tacho_start(&o) != TACHO_OK) _exit(30);
    fill_while_recording();
}

/* The program only trusts its own memory; nothing that was read back is believed. */
static void the_program_continues_when_its_recording_is_overwritten(void **state) {
    static void (*const WAYS[])(void) = {fill_it, fill_a_flight_recorder};
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        strcpy(folder, fresh_folder());
        assert_int_equal(in_child(WAYS[i]), 0);
    }
}

static void remove_it(void) {
    char path[4096];
    start_all();
    mark(100000);
    tacho_path(path, sizeof path);
    if (unlink(path) != 0) _exit(20);
    FILE *other = fopen(path, "w");
    if (!other) _exit(21);
    fputs("another", other);
    fclose(other);
    mark(1000000);
    struct stat st;
    if (tacho_stop() != TACHO_OK) _exit(1);
    usleep(300000);
    _exit(stat(path, &st) == 0 && st.st_size == 7 ? 0 : 2); /* it is not ours */
}

static void a_file_in_its_place_stays_whole(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(remove_it), 0);
}

/* ---- the program's own SIGBUS ---- */

static sigjmp_buf back;
static void jump_back(int number) {
    siglongjmp(back, number);
}

/* Touches a map beyond the end of its file. */
static void fault(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/own", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    volatile char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    p[4096] = 1;
}

static void have_a_handler(void) {
    signal(SIGBUS, jump_back);
    start_all();
    mark(1000);
    if (sigsetjmp(back, 1) == 0) {
        fault();
        _exit(1);
    }
    cut_to(0);
    mark(300000);
    if (sigsetjmp(back, 1) == 0) {
        raise(SIGBUS);
        _exit(2);
    }
    end_with_a_readable_file();
}

static void have_none(void) {
    signal(SIGBUS, SIG_DFL); /* that of the tests */
    start_all();
    mark(1000);
    fault();
}

static void have_none_and_be_sent_one(void) {
    signal(SIGBUS, SIG_DFL);
    start_all();
    mark(1000);
    raise(SIGBUS);
}

static void a_fault_of_the_program_is_its_own(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(have_a_handler), 0);
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(have_none) & 127, SIGBUS);
    assert_int_equal(in_child(have_none_and_be_sent_one) & 127, SIGBUS);
}

/* ---- programs with signals of their own ---- */

static int n_of_the_program;

static void count_and_leave(int number) {
    (void)number;
    n_of_the_program++;
    siglongjmp(back, 1);
}

/* Set when we are there already: it must not get what is ours, and must get what is its own,
 * also a second time. */
static void set_a_handler_later(void) {
    struct sigaction own = {.sa_handler = count_and_leave};
    start_all();
    mark(1000);
    (void)sigaction(SIGBUS, &own, NULL);
    usleep(200000);
    cut_to(0);
    mark(100000);
    if (n_of_the_program) _exit(7);
    for (int i = 1; i < 4; i++) {
        if (sigsetjmp(back, 1) == 0) fault();
        if (n_of_the_program != i) _exit(8);
    }
    end_with_a_readable_file();
}

static void *mark_with_all_signals_blocked(void *stop) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    return mark_all_the_time(stop);
}

static void block_all_signals(void) {
    pthread_t id;
    int stop = 0;
    start_all();
    pthread_create(&id, NULL, mark_with_all_signals_blocked, &stop);
    for (int i = 0; i < 10; i++) {
        usleep(30000);
        cut_to(0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(id, NULL);
    end_with_a_readable_file();
}

static void signals_of_the_program_do_not_matter(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(set_a_handler_later), 0);
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(block_all_signals), 0);
}

/* The program sets a limit when the file is there: to pass it would be the end. */
static void limit_files(void) {
    start_all();
    mark(1000);
    struct rlimit small = {1 << 20, 1 << 20};
    (void)setrlimit(RLIMIT_FSIZE, &small);
    mark(400000);
    usleep(100000);
    if (tacho_stop() != TACHO_OK) _exit(1);
    char path[4096];
    tacho_path(path, sizeof path);
    trace *t = read_recording(path);
    int64_t lost = trace_quality(t, CAUSE_RECORDER_FULL);
    _exit(lost > 0 && (int64_t)t->instant.n - 1 + lost == 401000 ? 0 : 2);
}

static void a_limit_that_is_set_later_is_kept(void **state) {
    strcpy(folder, fresh_folder());
    assert_int_equal(in_child(limit_files), 0);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_program_continues_when_its_recording_is_cut, tear_down),
        cmocka_unit_test_teardown(the_program_continues_when_its_recording_is_overwritten,
                                  tear_down),
        cmocka_unit_test_teardown(a_file_in_its_place_stays_whole, tear_down),
        cmocka_unit_test_teardown(a_fault_of_the_program_is_its_own, tear_down),
        cmocka_unit_test_teardown(signals_of_the_program_do_not_matter, tear_down),
        cmocka_unit_test_teardown(a_limit_that_is_set_later_is_kept, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
