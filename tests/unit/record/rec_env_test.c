/* rec_env_test.c: children, exec, _exit, SIGKILL, the environment and late loading. */
#include "unit/record/record_helper.h"

#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/rec_int.h"

static void say_child(void) {
    TACHO_SCOPE("in the child");
}

static void a_child_leaves_the_parents_recording_alone(void **state) {
    fresh_folder();
    start_all();
    tacho_mark("before");
    assert_int_equal(in_child(say_child), 0);
    tacho_mark("after");
    trace *t = stop_and_read();
    assert_int_equal(t->instant.n - 1, 2);
    assert_int_equal(count_slices(t, "in the child"), 0);
    trace_release(t);
    char names[4][512];
    assert_int_equal(list_recordings(names, 4), 1);
}

static void a_followed_child_has_a_separate_file(void **state) {
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .follow_children = 1};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    assert_int_equal(in_child(say_child), 0);
    char names[4][512];
    assert_int_equal(list_recordings(names, 4), 2);
    trace *t = stop_and_read();
    assert_int_equal(count_slices(t, "in the child"), 0);
    trace_release(t);
    uint32_t found = 0;
    for (int i = 0; i < 2; i++) {
        t = read_recording(names[i]);
        found += count_slices(t, "in the child");
        trace_release(t);
    }
    assert_int_equal(found, 1);
}

/* ---- children made without fork handlers ---- */

/* AddressSanitizer has its own locks, which such a child sometimes finds locked: it has no
 * handler, either. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_UNTOLD = false };
#else
enum { HAS_UNTOLD = true };
#endif

static void *block;

static pid_t clone_raw(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Takes names all the time, so that a lock is often held while a child is made. */
static void *make_names(void *stop) {
    char name[32];
    for (unsigned i = 0; !__atomic_load_n((int *)stop, __ATOMIC_RELAXED); i++) {
        snprintf(name, sizeof name, "name %u", i % 30000);
        tacho_mark(name);
    }
    return NULL;
}

static int end_of(pid_t pid) {
    int how = -1;
    for (int i = 0; i < 2000; i++) {
        if (waitpid(pid, &how, WNOHANG) == pid) return how;
        usleep(5000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &how, 0);
    return how;
}

static void a_child_made_without_fork_handlers_records_like_any_other(void **state) {
    if (!HAS_UNTOLD) skip();
    static pid_t (*const WAYS[])(void) = {clone_raw, _Fork};
    for (int i = 0; i < 4; i++) {
        pthread_t other;
        int stop = 0;
        char names[32][512];
        tacho_options o = {.size = sizeof o, .path = fresh_folder(), .follow_children = i & 1};
        assert_int_equal(tacho_start(&o), TACHO_OK);
        tacho_mark("before");
        assert_int_equal(pthread_create(&other, NULL, make_names, &stop), 0);
        for (int n = 0; n < 8; n++) {
            pid_t pid = WAYS[i / 2]();
            assert_true(pid >= 0);
            if (pid == 0) {
                say_child();
                tacho_step();
                tacho_note("of the child");
                _exit(0);
            }
            assert_int_equal(end_of(pid), 0);
        }
        __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
        pthread_join(other, NULL);
        tacho_mark("after");
        trace *t = stop_and_read();
        assert_int_equal(count_slices(t, "in the child"), 0);
        trace_release(t);
        assert_int_equal(list_recordings(names, 32), i & 1 ? 9 : 1);
    }
}

/* Holds every mutex of the recorder while a child is made. */
static void *hold_all(void *stop) {
    extern pthread_mutex_t *const __start_rec_mutexes[], *const __stop_rec_mutexes[];
    int *word = stop;
    size_t n = (size_t)(__stop_rec_mutexes - __start_rec_mutexes);
    assert_in_range(n, 16, 64);
    for (size_t i = 0; i < n; i++) pthread_mutex_lock(__start_rec_mutexes[i]);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 1) usleep(1000);
    for (size_t i = 0; i < n; i++) pthread_mutex_unlock(__start_rec_mutexes[i]);
    return NULL;
}

static void a_child_made_without_fork_handlers_waits_for_no_mutex(void **state) {
    if (!HAS_UNTOLD) skip();
    for (int way = 0; way < 2; way++) {
        pthread_t other;
        int word = 0;
        tacho_options o = {.size = sizeof o, .path = fresh_folder(), .follow_children = 1};
        assert_int_equal(tacho_start(&o), TACHO_OK);
        tacho_mark("before");
        assert_int_equal(pthread_create(&other, NULL, hold_all, &word), 0);
        while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) usleep(1000);
        pid_t pid = way ? _Fork() : clone_raw();
        assert_true(pid >= 0);
        if (pid == 0) {
            (void)tacho_torch(0); /* the first lock that is taken is not rec_lock */
            say_child();
            tacho_step();
            tacho_name_thread("child");
            _exit(tacho_stop() == TACHO_OK ? 0 : 1);
        }
        int how = end_of(pid);
        __atomic_store_n(&word, 2, __ATOMIC_RELEASE);
        pthread_join(other, NULL);
        assert_int_equal(how, 0);
        assert_int_equal(tacho_stop(), TACHO_OK);
    }
}

/* The lock of the memory that the main thread has is held by this one nearly always. */
static void *allocate(void *stop) {
    void *p = block;
    for (size_t n = 64; !__atomic_load_n((int *)stop, __ATOMIC_RELAXED); n = n * 5 % 30011)
        p = realloc(p, 1000 + n);
    free(p);
    return NULL;
}

/* It would wait for ever for a thread that it does not have. */
static void a_child_made_without_fork_handlers_needs_no_malloc(void **state) {
    if (!HAS_UNTOLD) skip();
    pthread_t other;
    int stop = 0;
    block = malloc(1000);
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .follow_children = 1};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    assert_int_equal(pthread_create(&other, NULL, allocate, &stop), 0);
    for (int n = 0; n < 40; n++) {
        pid_t pid = n & 1 ? _Fork() : clone_raw();
        assert_true(pid >= 0);
        if (pid == 0) {
            say_child();
            tacho_mark("another name");
            tacho_step();
            _exit(0);
        }
        assert_int_equal(end_of(pid), 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(other, NULL);
    char names[64][512];
    assert_int_equal(list_recordings(names, 64), 41);
}

static void do_nothing(void) {}

static void a_followed_child_that_records_nothing_leaves_no_file(void **state) {
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .follow_children = 1};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    assert_int_equal(in_child(do_nothing), 0);
    char names[4][512];
    assert_int_equal(list_recordings(names, 4), 1);
}

/* ---- ends without a stop ---- */

static void record_a_little(void) {
    start_all();
    for (int i = 0; i < 10000; i++) {
        TACHO_SCOPE("kept");
    }
    tacho_begin_text("open at the end", TACHO_RANGE_PLAIN);
}

static void and_leave(void) {
    record_a_little();
    _exit(0);
}

static void and_be_killed(void) {
    record_a_little();
    raise(SIGKILL);
}

static void and_become_another(void) {
    record_a_little();
    execl("/bin/true", "true", NULL);
}

static void and_crash(void) {
    record_a_little();
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void what_was_recorded_survives_any_end(void **state) {
    static void (*const ENDS[])(void) = {and_leave, and_be_killed, and_become_another,
                                         and_crash};
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        char names[4][512];
        fresh_folder();
        (void)in_child(ENDS[i]);
        assert_int_equal(list_recordings(names, 4), 1);
        trace *t = read_recording(names[0]);
        assert_int_equal(count_slices(t, "kept"), 10000);
        assert_true(t->slice.flags[one_slice(t, "open at the end")] & SLICE_UNFINISHED);
        assert_true(trace_meta(t, STR("recording")).n > 0);
        assert_true(t->end_ns > 0 && t->end_ns < (int64_t)60 * 1000000000);
        trace_release(t);
    }
}

/* ---- a file that is full ---- */

enum { LOSERS = 4 };

static void *make_marks(void *n) {
    for (int i = 0; i < *(int *)n; i++) tacho_mark("m");
    return NULL;
}

static const char *folder_of_child;

/* It is not stopped and nothing waits: the file itself must know. */
static void lose_and_be_killed(void) {
    pthread_t id[LOSERS];
    int each = 30000;
    tacho_options o = {.size = sizeof o, .path = folder_of_child, .ring_bytes = 1 << 20};
    if (tacho_start(&o) != TACHO_OK) _exit(1);
    for (int i = 0; i < LOSERS; i++) pthread_create(&id[i], NULL, make_marks, &each);
    for (int i = 0; i < LOSERS; i++) pthread_join(id[i], NULL);
    int more = 77;
    (void)make_marks(&more);
    raise(SIGKILL);
}

static void what_a_killed_program_lost_is_counted_to_the_last(void **state) {
    char names[2][512];
    folder_of_child = fresh_folder();
    assert_int_equal(in_child(lose_and_be_killed), SIGKILL);
    assert_int_equal(list_recordings(names, 2), 1);
    trace *t = read_recording(names[0]);
    int64_t lost = trace_quality(t, CAUSE_RECORDER_FULL);
    assert_true(lost > 0);
    assert_int_equal((int64_t)t->instant.n - 1 + lost, LOSERS * 30000 + 77);
    trace_release(t);
}

/* A thread that counts without a lock must not do so in a file that the child does not have,
 * however the child was made; and what the child records is its own. */
static void a_child_of_a_thread_that_finds_no_room_starts_again(void **state) {
    static pid_t (*const WAYS[])(void) = {fork, _Fork, clone_raw};
    enum { N_WAYS = HAS_UNTOLD ? 3 : 1 };
    for (int i = 0; i < 2 * N_WAYS; i++) {
        int fill = 1 << 17, how = -1;
        char names[4][512];
        bool follows = i >= N_WAYS;
        tacho_options o = {.size = sizeof o,
                           .path = fresh_folder(),
                           .ring_bytes = 1 << 20,
                           .follow_children = follows};
        assert_int_equal(tacho_start(&o), TACHO_OK);
        (void)make_marks(&fill);
        assert_true(rec_self.refused);
        uint64_t lost = rec_current->header->lost[TACHO_LOST_FULL];
        pid_t pid = WAYS[i % N_WAYS]();
        assert_true(pid >= 0);
        if (pid == 0) {
            for (int k = 0; k < 600; k++) tacho_mark("of the child");
            _exit(rec_self.refused ? 3 : 0);
        }
        assert_int_equal(waitpid(pid, &how, 0), pid);
        assert_int_equal(how, 0);
        assert_int_equal(rec_current->header->lost[TACHO_LOST_FULL], lost);
        assert_int_equal(tacho_stop(), TACHO_OK);
        assert_int_equal(list_recordings(names, 4), follows ? 2 : 1);
    }
}

/* ---- a handler with a stack of its own ---- */

static void mark_in_handler(int number) {
    (void)number;
    tacho_mark("from a small stack");
    tacho_step();
}

/* The first event of all, and later ones: where it needs more than there is, it does without. */
static void record_on_a_small_stack(void) {
    enum { BYTES = 8192, GUARD = 65536 };
    char *at = mmap(NULL, 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + GUARD, GUARD, PROT_READ | PROT_WRITE) != 0) _exit(1);
    stack_t small = {.ss_sp = at + GUARD, .ss_size = BYTES};
    struct sigaction sa = {.sa_handler = mark_in_handler, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&small, NULL) != 0 || sigaction(SIGUSR1, &sa, NULL) != 0) _exit(2);
    rec_set_pending(&(tacho_options){.size = sizeof(tacho_options), .path = folder_of_child});
    raise(SIGUSR1);
    if (tacho_is_recording()) _exit(3);
    tacho_mark("m");
    for (int i = 0; i < 9000; i++) raise(SIGUSR1);
    char path[4096];
    if (rec_stop(true, path, sizeof path) != TACHO_OK) _exit(4);
    trace *t = read_recording(path);
    int64_t lost = trace_quality(t, CAUSE_RECORDER_INSIDE); /* the first one, too */
    _exit(lost > 1 && (int64_t)t->instant.n - 1 + lost == 9002 ? 0 : 5);
}

static void a_handler_on_a_small_stack_does_no_harm(void **state) {
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its handlers need more */
#endif
    folder_of_child = fresh_folder();
    assert_int_equal(in_child(record_on_a_small_stack), 0);
}

/* ---- the library itself, as tacho record loads it ---- */

static const char *library(void) {
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
    assert_true(n > 0);
    path[n] = 0;
    dirname(dirname(path));
    strcat(path, "/libtacho.so");
    if (access(path, R_OK) != 0) skip();
    return path;
}

static void a_library_loaded_late_records_all_threads(void **state) {
    fresh_folder();
    /* A separate copy next to the one this test is linked with. */
    void *lib = dlopen(library(), RTLD_NOW | RTLD_LOCAL);
    if (!lib) fail_msg("%s", dlerror());
    int (*start)(const tacho_options *) =
        (int (*)(const tacho_options *))dlsym(lib, "tacho_start");
    int (*stop)(void) = (int (*)(void))dlsym(lib, "tacho_stop");
    void (*mark)(const char *) = (void (*)(const char *))dlsym(lib, "tacho_mark");
    assert_true(start && stop && mark);
    char path[512], names[4][512];
    snprintf(path, sizeof path, "%s/late.tacho", fresh_folder());
    tacho_options o = {.size = sizeof o, .path = path};
    assert_int_equal(start(&o), TACHO_OK);
    mark("late");
    assert_int_equal(stop(), TACHO_OK);
    assert_int_equal(dlclose(lib), 0); /* it stays: its thread runs */
    assert_int_equal(list_recordings(names, 4), 1);
    trace *t = read_recording(names[0]);
    assert_int_equal(t->instant.n - 1, 1);
    trace_release(t);
}

static void only_the_interface_is_exported(void **state) {
    char command[4200], line[512];
    int n = 0;
    snprintf(command, sizeof command, "nm -D --defined-only '%s' 2>/dev/null", library());
    FILE *in = popen(command, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char *name = strrchr(line, ' ');
        if (!name) continue;
        n++;
        if (strncmp(name + 1, "tacho_", 6) != 0 &&
            strncmp(name + 1, "InitializeInjection", 19) != 0 &&
            strncmp(name + 1, "__", 2) != 0)
            fail_msg("exports %s", name + 1);
    }
    pclose(in);
    assert_true(n > 20);
}

static void the_environment_starts_with_the_first_event(void **state) {
    const char *folder = fresh_folder();
    char names[4][512];
    tacho_options o = {.size = sizeof o,
                       .path = folder,
                       .follow_children = 1,
                       .schedule = {.skip_first = 1, .active = 1, .repeat = 1}};
    rec_set_pending(&o);
    assert_int_equal(list_recordings(names, 4), 0);
    assert_int_equal(tacho_start(NULL), TACHO_BUSY); /* the program's own start has no effect */
    assert_int_equal(tacho_stop(), TACHO_OFF);
    for (int i = 0; i < 4; i++) {
        tacho_begin_text(i == 1 ? "second step" : "another", TACHO_RANGE_PLAIN);
        tacho_end_range();
        tacho_step();
    }
    assert_int_equal(rec_stop(true, NULL, 0), TACHO_OK);
    assert_int_equal(list_recordings(names, 4), 1);
    trace *t = read_recording(names[0]);
    assert_int_equal(t->slice.n - 1, 2); /* the range and its step */
    (void)one_slice(t, "second step");
    trace_release(t);
}

/* Hooks that have nothing more to record; what the program says alone does not end it. */
static void hooks_end_what_was_started_from_outside(void **state) {
    char names[4][512];
    tacho_options o = {.size = sizeof o, .path = fresh_folder()};
    rec_set_pending(&o);
    tacho_mark("first");
    assert_int_equal(tacho_stop(), TACHO_OFF);
    assert_int_equal(tacho_is_recording(), 1);
    assert_int_equal(tacho_finish(), TACHO_OK);
    assert_int_equal(tacho_is_recording(), 0);
    assert_int_equal(list_recordings(names, 4), 1);
    assert_int_equal(tacho_start(&o), TACHO_OK); /* another start may begin a new one */
    assert_int_equal(tacho_finish(), TACHO_OK);
    assert_int_equal(tacho_finish(), TACHO_OFF);
}

/* ---- a program that has more rights than who runs it ---- */

/* LeakSanitizer asks before it looks: no process may trace a set-uid program. */
int __lsan_is_turned_off(void) __attribute__((visibility("default")));
static int is_not_asked_for_leaks;
int __lsan_is_turned_off(void) {
    return is_not_asked_for_leaks;
}

static void a_set_uid_program_does_not_obey_the_environment(void **state) {
    char self[4096], copy[600], names[4][512], command[8192];
    const char *folder = fresh_folder();
    if (geteuid() != 0) skip();
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = 0;
    snprintf(copy, sizeof copy, "%s/program", folder);
    for (int is_set = 0; is_set < 2; is_set++) {
        snprintf(
            command, sizeof command,
            "mkdir -m 777 '%s/out%d' && chmod 755 '%s' && cp '%s' '%s' && chown 65534 '%s' "
            "&& chmod %s '%s' && TACHO_RECORD='%s/out%d' '%s' mark "
            "&& rm '%s'",
            folder, is_set, folder, self, copy, copy, is_set ? "4755" : "755", copy, folder,
            is_set, copy, copy);
        assert_int_equal(system(command), 0); /* NOLINT: our own names */
    }
    n = list_recordings(names, 4);
    assert_int_equal(n, 2);
    assert_int_not_equal(rmdir(names[0]), 0); /* out0: something was recorded */
    assert_int_equal(rmdir(names[1]), 0);     /* out1: nothing */
}

/* All threads have their first event at the same time. */
enum { FIRST_THREADS = 8, FIRST_EVENTS = 2000 };
static pthread_barrier_t all_there;

static void *mark_at_once(void *unused) {
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < FIRST_EVENTS; i++) tacho_mark("first");
    return unused;
}

static void no_event_is_lost_while_the_first_one_starts(void **state) {
    for (int round = 0; round < 20; round++) {
        pthread_t ids[FIRST_THREADS];
        char names[2][512];
        tacho_options o = {.size = sizeof o, .path = fresh_folder()};
        rec_set_pending(&o);
        pthread_barrier_init(&all_there, NULL, FIRST_THREADS);
        for (int i = 0; i < FIRST_THREADS; i++)
            assert_int_equal(pthread_create(&ids[i], NULL, mark_at_once, NULL), 0);
        for (int i = 0; i < FIRST_THREADS; i++) pthread_join(ids[i], NULL);
        pthread_barrier_destroy(&all_there);
        assert_int_equal(rec_stop(true, NULL, 0), TACHO_OK);
        assert_int_equal(list_recordings(names, 2), 1);
        trace *t = read_recording(names[0]);
        int64_t lost = trace_quality(t, CAUSE_RECORDER_FULL);
        assert_int_equal((int64_t)t->instant.n - 1 + lost, FIRST_THREADS * FIRST_EVENTS);
        assert_int_equal(lost, 0);
        trace_release(t);
    }
}

static int tear_down(void **state) {
    (void)rec_stop(true, NULL, 0);
    remove_folder();
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "mark") == 0) {
        is_not_asked_for_leaks = 1;
        tacho_mark("m");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        /* These two first: small files are full of names when there are many. */
        cmocka_unit_test_teardown(what_a_killed_program_lost_is_counted_to_the_last, tear_down),
        cmocka_unit_test_teardown(a_child_of_a_thread_that_finds_no_room_starts_again,
                                  tear_down),
        cmocka_unit_test_teardown(a_child_leaves_the_parents_recording_alone, tear_down),
        cmocka_unit_test_teardown(a_followed_child_has_a_separate_file, tear_down),
        cmocka_unit_test_teardown(a_followed_child_that_records_nothing_leaves_no_file,
                                  tear_down),
        cmocka_unit_test_teardown(a_child_made_without_fork_handlers_records_like_any_other,
                                  tear_down),
        cmocka_unit_test_teardown(a_child_made_without_fork_handlers_needs_no_malloc,
                                  tear_down),
        cmocka_unit_test_teardown(a_child_made_without_fork_handlers_waits_for_no_mutex,
                                  tear_down),
        cmocka_unit_test_teardown(what_was_recorded_survives_any_end, tear_down),
        cmocka_unit_test_teardown(a_handler_on_a_small_stack_does_no_harm, tear_down),
        cmocka_unit_test_teardown(a_library_loaded_late_records_all_threads, tear_down),
        cmocka_unit_test_teardown(only_the_interface_is_exported, tear_down),
        cmocka_unit_test_teardown(the_environment_starts_with_the_first_event, tear_down),
        cmocka_unit_test_teardown(hooks_end_what_was_started_from_outside, tear_down),
        cmocka_unit_test_teardown(a_set_uid_program_does_not_obey_the_environment, tear_down),
        cmocka_unit_test_teardown(no_event_is_lost_while_the_first_one_starts, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
