/* sandbox_test.c: what a process may still do inside, tried in a separate child. A kernel
 * without Landlock or seccomp skips what it cannot show. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "serve/sandbox.h"

static char top[64];

static const char *in_top(const char *name) {
    static char path[4][PATH_MAX];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, PATH_MAX, "%s/%s", top, name);
    return to;
}

static void write_file(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
}

static int make_places(void **state) {
    snprintf(top, sizeof top, "/tmp/tacho-sandbox-XXXXXX");
    if (!mkdtemp(top)) return -1;
    const char *const folders[] = {"log", "log/run", "cache", "made", "outside"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(in_top(folders[i]), 0700) != 0) return -1;
    write_file(in_top("log/run/a"));
    write_file(in_top("cache/a"));
    write_file(in_top("outside/secret"));
    return 0;
}

static int remove_places(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

/* 0, or the errno of opening. */
static int try_open(const char *name, int flags) {
    int fd = open(in_top(name), flags | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    close(fd);
    return 0;
}

static int try_socket(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) return errno;
    close(fd);
    return 0;
}

static int try_exec(void) {
    execl("/bin/true", "true", (char *)NULL);
    return errno;
}

enum { MISSING = 77 };
#define EXPECT(expression)                                \
    do {                                                  \
        if (!(expression)) {                              \
            fprintf(stderr, "not so: %s\n", #expression); \
            _exit(1);                                     \
        }                                                 \
    } while (0)

static sandbox_rules usual(void) {
    return (sandbox_rules){
        .served = in_top("log"), .cache = in_top("cache"), .temporary = in_top("made")};
}

/* The status of a child that did this. */
static int in_child(void (*body)(void)) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(0);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    if (WEXITSTATUS(status) == MISSING) skip();
    return WEXITSTATUS(status);
}

static void enter_for_files(const sandbox_rules *r) {
    if (!sandbox_enter(r).landlock) _exit(MISSING);
}

static void look_at_files(void) {
    sandbox_rules r = usual();
    enter_for_files(&r);
    EXPECT(try_open("log/run/a", O_RDONLY) == 0);
    EXPECT(try_open("log/run", O_RDONLY | O_DIRECTORY) == 0);
    EXPECT(try_open("outside/secret", O_RDONLY) == EACCES);
    EXPECT(try_open("outside", O_RDONLY | O_DIRECTORY) == EACCES);
    EXPECT(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    EXPECT(symlink(in_top("outside/secret"), in_top("cache/link")) != 0);
}

static void change_files(void) {
    sandbox_rules r = usual();
    enter_for_files(&r);
    EXPECT(try_open("log/run/a", O_WRONLY) == EACCES);
    EXPECT(try_open("log/run/new", O_WRONLY | O_CREAT) == EACCES);
    EXPECT(unlink(in_top("log/run/a")) != 0);
    EXPECT(try_open("outside/secret", O_WRONLY) == EACCES);
    EXPECT(unlink(in_top("outside/secret")) != 0);
    EXPECT(try_open("cache/new", O_WRONLY | O_CREAT | O_TRUNC) == 0);
    EXPECT(rename(in_top("cache/new"), in_top("cache/a")) == 0);
    EXPECT(try_open("made", O_TMPFILE | O_RDWR) == 0);
    EXPECT(try_open("made/1.tmp", O_WRONLY | O_CREAT) == 0);
    EXPECT(mkdir(in_top("made/run"), 0700) == 0);
    EXPECT(link(in_top("made/1.tmp"), in_top("made/run/a")) == 0); /* as uploads do */
    EXPECT(link(in_top("cache/a"), in_top("log/run/b")) != 0);
    EXPECT(unlink(in_top("made/run/a")) == 0 && unlink(in_top("made/1.tmp")) == 0);
    EXPECT(rmdir(in_top("made/run")) == 0 && rmdir(in_top("made")) == 0);
}

static void read_a_nameless_file_again(void) {
    char path[64];
    sandbox_rules r = usual();
    (void)mkdir(r.temporary, 0700);
    enter_for_files(&r);
    int fd = open(r.temporary, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    EXPECT(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    EXPECT(open(path, O_RDONLY | O_CLOEXEC) >= 0);
}

/* A file that is replaced is another one: its folder is what may be read. */
static void serve_one_file(void) {
    sandbox_rules r = {.served = in_top("log/run/a")};
    enter_for_files(&r);
    EXPECT(try_open("log/run/a", O_RDONLY) == 0);
    EXPECT(try_open("log", O_RDONLY | O_DIRECTORY) == EACCES);
    EXPECT(try_open("outside/secret", O_RDONLY) == EACCES);
}

static void read_everything(void) {
    sandbox_rules r = {.served = NULL, .network = true};
    enter_for_files(&r);
    EXPECT(try_open("outside/secret", O_RDONLY) == 0);
    EXPECT(try_open("outside/secret", O_WRONLY) == EACCES);
}

static void call_the_system(void) {
    sandbox_rules r = usual();
    if (!sandbox_enter(&r).seccomp) _exit(MISSING);
    EXPECT(try_exec() == EPERM);
    EXPECT(try_socket() == EPERM);
    EXPECT(listen(0, 1) != 0 && errno == EPERM);
    EXPECT(chmod(in_top("cache/a"), 0777) != 0);
    EXPECT(chroot("/") != 0 && errno == EPERM);
}

static void call_other_hosts(void) {
    sandbox_rules r = {.network = true};
    if (!sandbox_enter(&r).seccomp) _exit(MISSING);
    EXPECT(try_exec() == EPERM);
    EXPECT(try_socket() == 0);
}

static void make_a_folder(void) {
    char path[256];
    struct stat st;
    EXPECT(setenv("TMPDIR", top, 1) == 0);
    EXPECT(sandbox_folder_make(path, sizeof path));
    EXPECT(strncmp(path, top, strlen(top)) == 0 && strcmp(getenv("TMPDIR"), path) == 0);
    EXPECT(stat(path, &st) == 0 && (st.st_mode & 077) == 0);
    EXPECT(setenv("TMPDIR", "/no/such/place", 1) == 0);
    EXPECT(sandbox_folder_make(path, sizeof path)); /* in /tmp then */
    EXPECT(rmdir(path) == 0);
}

static void only_the_folders_are_read(void **state) {
    assert_int_equal(in_child(look_at_files), 0);
}

static void only_cache_and_temporary_files_are_written(void **state) {
    assert_int_equal(in_child(change_files), 0);
}

static void files_without_a_name_can_be_opened_again(void **state) {
    assert_int_equal(in_child(read_a_nameless_file_again), 0);
}

static void the_folder_of_one_file_is_read(void **state) {
    assert_int_equal(in_child(serve_one_file), 0);
}

static void without_a_folder_everything_is_read_and_nothing_written(void **state) {
    assert_int_equal(in_child(read_everything), 0);
}

static void no_program_is_started_and_no_connection_is_made(void **state) {
    assert_int_equal(in_child(call_the_system), 0);
}

static void other_hosts_are_asked_where_that_is_needed(void **state) {
    assert_int_equal(in_child(call_other_hosts), 0);
}

static void temporary_files_get_a_separate_folder(void **state) {
    assert_int_equal(in_child(make_a_folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_folders_are_read),
        cmocka_unit_test(only_cache_and_temporary_files_are_written),
        cmocka_unit_test(files_without_a_name_can_be_opened_again),
        cmocka_unit_test(the_folder_of_one_file_is_read),
        cmocka_unit_test(without_a_folder_everything_is_read_and_nothing_written),
        cmocka_unit_test(no_program_is_started_and_no_connection_is_made),
        cmocka_unit_test(other_hosts_are_asked_where_that_is_needed),
        cmocka_unit_test(temporary_files_get_a_separate_folder),
    };
    return cmocka_run_group_tests(tests, make_places, remove_places);
}
