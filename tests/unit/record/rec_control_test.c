/* rec_control_test.c: another program asks this one to record. */
#include "unit/record/record_helper.h"

#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/rec_int.h"

static char run_folder[64];

static void socket_path(struct sockaddr_un *name) {
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(name->sun_path, sizeof name->sun_path, "%s/tacho/%d.sock", run_folder,
             (int)getpid());
}

static int ask(const char *line) {
    struct sockaddr_un name;
    socket_path(&name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(write(fd, line, strlen(line)), (ssize_t)strlen(line));
    return fd;
}

/* Everything that is answered until the other side closes. */
static void answers(int fd, char *to, size_t size) {
    size_t at = 0;
    for (ssize_t n; at + 1 < size && (n = read(fd, to + at, size - 1 - at)) > 0;)
        at += (size_t)n;
    to[at] = 0;
    close(fd);
}

static void the_socket_is_its_owners_alone(void **state) {
    struct sockaddr_un name;
    struct stat st;
    socket_path(&name);
    assert_int_equal(stat(name.sun_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    *strrchr(name.sun_path, '/') = 0;
    assert_int_equal(stat(name.sun_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

/* What another user gets who was let through to the socket: bytes, or -1. */
static int sent_to_another(const struct sockaddr_un *name) {
    pid_t child = fork();
    if (child == 0) {
        char said[64];
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(101);
        if (connect(fd, (const struct sockaddr *)name, sizeof *name) != 0) _exit(102);
        (void)!write(fd, "status\n", 7);
        ssize_t n = read(fd, said, sizeof said);
        _exit(n > 0 ? (int)n : 0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

/* The rights of the files are one bar, who is at the other end is the second. */
static void another_user_is_not_answered(void **state) {
    struct sockaddr_un name;
    char folder[sizeof name.sun_path];
    if (geteuid() != 0) skip(); /* only root can be another user */
    socket_path(&name);
    snprintf(folder, sizeof folder, "%s/tacho", run_folder);
    assert_int_equal(sent_to_another(&name), 102);
    assert_int_equal(chmod(run_folder, 0755) | chmod(folder, 0755), 0);
    assert_int_equal(chmod(name.sun_path, 0666), 0);
    signal(SIGPIPE, SIG_IGN);
    int told = sent_to_another(&name);
    assert_int_equal(chmod(name.sun_path, 0600), 0);
    assert_int_equal(chmod(run_folder, 0700) | chmod(folder, 0700), 0);
    assert_int_equal(told, 0);
    char said[64];
    answers(ask("status\n"), said, sizeof said);
    assert_true(strncmp(said, "idle", 4) == 0);
}

static void a_recording_is_made_for_the_time_asked(void **state) {
    char line[512], said[4096], path[512] = "";
    snprintf(line, sizeof line, "record 0.1 sm %s\n", fresh_folder());
    int fd = ask(line);
    while (!tacho_is_recording()) usleep(1000);
    TACHO_BEGIN("while attached");
    TACHO_END();
    answers(fd, said, sizeof said);
    assert_int_equal(tacho_is_recording(), 0);
    assert_int_equal(sscanf(said, "started %511s done", path), 1);
    assert_non_null(strstr(said, "\ndone "));
    trace *t = read_recording(path);
    assert_int_equal(count_slices(t, "while attached"), 1);
    trace_release(t);
}

static void a_client_that_goes_away_ends_its_recording(void **state) {
    char line[512];
    snprintf(line, sizeof line, "record 60 - %s\n", fresh_folder());
    int fd = ask(line);
    while (!tacho_is_recording()) usleep(1000);
    close(fd);
    for (int i = 0; i < 500 && tacho_is_recording(); i++) usleep(10000);
    assert_int_equal(tacho_is_recording(), 0);
}

static void what_is_not_understood_is_refused(void **state) {
    static const char *const LINES[] = {"record\n", "record x y z\n", "record -1 - /tmp\n",
                                        "hello\n", "trigger now\n"};
    char said[512];
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        answers(ask(LINES[i]), said, sizeof said);
        if (strncmp(said, "failed ", 7) != 0) fail_msg("%s: %s", LINES[i], said);
    }
    answers(ask("status\n"), said, sizeof said);
    assert_true(strncmp(said, "idle", 4) == 0);
}

static void a_running_recording_is_not_taken_away(void **state) {
    char line[512], said[512];
    snprintf(line, sizeof line, "record 1 - %s\n", fresh_folder());
    start_all();
    answers(ask(line), said, sizeof said);
    assert_string_equal(said, "failed recording\n");
    assert_int_equal(tacho_is_recording(), 1);
}

/* Where a window begins and ends in the file that is being written. */
static void a_running_recording_says_where_it_is(void **state) {
    char said[512], path[512], file[512] = "";
    unsigned long long first = 0, last = 0;
    long long unix_ns = 0;
    fresh_folder();
    answers(ask("window\n"), said, sizeof said);
    assert_string_equal(said, "failed idle\n");
    start_all();
    (void)tacho_path(path, sizeof path);
    answers(ask("window\n"), said, sizeof said);
    assert_int_equal(sscanf(said, "at %llu %lld %511s", &first, &unix_ns, file), 3);
    assert_string_equal(file, path);
    answers(ask("flush\n"), said, sizeof said);
    assert_int_equal(sscanf(said, "at %llu %lld %511s", &last, &unix_ns, file), 3);
    assert_true(last > first);
    answers(ask("status\n"), said, sizeof said);
    assert_true(strncmp(said, "recording ", 10) == 0);
    assert_int_equal(tacho_is_recording(), 1);
}

static void a_flight_recorders_answer_names_its_dump(void **state) {
    char said[512], dump[512] = "";
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .flight_seconds = 5};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    TACHO_BEGIN("before");
    TACHO_END();
    answers(ask("trigger now\n"), said, sizeof said);
    assert_int_equal(sscanf(said, "done %511s", dump), 1);
    trace *t = read_recording(dump);
    assert_int_equal(count_slices(t, "before"), 1);
    trace_release(t);
    assert_int_equal(tacho_is_recording(), 1);
}

static int set_up(void **state) {
    strcpy(run_folder, "/tmp/tacho_run_XXXXXX");
    assert_non_null(mkdtemp(run_folder));
    setenv("XDG_RUNTIME_DIR", run_folder, 1);
    return rec_helper_start(true) ? 0 : -1;
}

static int clean_up(void **state) {
    char path[96];
    rec_helper_finish();
    snprintf(path, sizeof path, "%s/tacho", run_folder);
    rmdir(path);
    return rmdir(run_folder);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_socket_is_its_owners_alone),
        cmocka_unit_test(another_user_is_not_answered),
        cmocka_unit_test_teardown(a_recording_is_made_for_the_time_asked, tear_down),
        cmocka_unit_test_teardown(a_client_that_goes_away_ends_its_recording, tear_down),
        cmocka_unit_test(what_is_not_understood_is_refused),
        cmocka_unit_test_teardown(a_running_recording_is_not_taken_away, tear_down),
        cmocka_unit_test_teardown(a_running_recording_says_where_it_is, tear_down),
        cmocka_unit_test_teardown(a_flight_recorders_answer_names_its_dump, tear_down),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
