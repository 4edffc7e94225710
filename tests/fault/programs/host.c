/* host.c: the programs of tests/fault/hosts: `host KIND` does one thing that is hard for a
 * recorder, and KINDS at the end lists them all.
 *
 * Each event is a mark, and mark() counts it in a page that HOST_COUNT names and all processes
 * share: the recordings must have as many, or say how many were lost. What a program prints
 * depends on nothing but its kind, so that a plain run and a recorded one can be compared. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <tacho/tacho.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t *n_made, local_count;
static const char *own_path;
static int n_arg; /* the second argument of the program: how many */

/* Before main: some programs make events in constructors. */
static __attribute__((constructor(101))) void map_count(void) {
    const char *path = getenv("HOST_COUNT");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map = fd < 0 ? MAP_FAILED
                       : mmap(NULL, sizeof *n_made, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    n_made = map == MAP_FAILED ? &local_count : map;
}

static void mark(int n) {
    for (int i = 0; i < n; i++) {
        tacho_mark("mark");
        atomic_fetch_add_explicit(n_made, 1, memory_order_relaxed);
    }
}

static void nap_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
}

/* With pauses, in which the recorder's own thread does its work. */
static void mark_slowly(int n_rounds, int n, long pause_ms) {
    for (int i = 0; i < n_rounds; i++) {
        mark(n);
        nap_ms(pause_ms);
    }
}

static void limit(int what, rlim_t most) {
    struct rlimit r = {most, most};
    if (setrlimit(what, &r) != 0) perror("setrlimit");
}

/* How a child ended, when it did so within ten seconds. */
static void await_child(pid_t pid) {
    int how = 0;
    for (int i = 0; i < 10000; i++, nap_ms(1))
        if (waitpid(pid, &how, WNOHANG) == pid) {
            if (how) printf("a child ended with %x\n", (unsigned)how);
            return;
        }
    puts("a child hangs");
    kill(pid, SIGKILL);
    (void)waitpid(pid, &how, 0);
}

static pid_t fork_bare(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void fork_children(pid_t (*make)(void), int n, int n_marks) {
    for (int i = 0; i < n; i++) {
        pid_t pid = make();
        if (pid == 0) {
            mark(n_marks);
            _exit(0);
        }
        await_child(pid);
    }
}

/* ---- threads ---- */

static void *run_marks(void *n) {
    mark((int)(intptr_t)n);
    return NULL;
}

static void run_threads(int n, int n_marks) {
    pthread_t ids[512];
    for (int i = 0; i < n; i++)
        if (pthread_create(&ids[i], NULL, run_marks, (void *)(intptr_t)n_marks) != 0)
            puts("no thread");
    for (int i = 0; i < n; i++) pthread_join(ids[i], NULL);
}

static void plain(void) {
    mark(100000);
}
static void first_events_at_once(void) {
    run_threads(8, n_arg ? n_arg : 50000);
}
static void many_threads(void) {
    run_threads(n_arg ? n_arg : 100, 1000);
}
static void thread_after_thread(void) {
    for (int i = 0; i < (n_arg ? n_arg : 300); i++) run_threads(1, 20);
}
static void *run_later(void *x) {
    mark(100);
    nap_ms(100);
    mark(100);
    puts("the last thread ends");
    return x;
}
static void main_leaves_first(void) {
    pthread_t id;
    mark(1000);
    pthread_create(&id, NULL, run_later, NULL);
    pthread_exit(NULL);
}
static void *run_exit(void *x) {
    mark(100);
    exit(3);
    return x;
}
static void thread_exits(void) {
    pthread_t id;
    mark(100);
    pthread_create(&id, NULL, run_exit, NULL);
    pthread_join(id, NULL);
}
static void *run_forever(void *x) {
    for (;;) mark(100);
    return x;
}
static void exits_while_a_thread_records(void) {
    pthread_t id;
    pthread_create(&id, NULL, run_forever, NULL);
    nap_ms(50);
    exit(4);
}
static void cancelled_threads(void) {
    pthread_t id;
    for (int i = 0; i < 20; i++) {
        pthread_create(&id, NULL, run_later, NULL);
        pthread_cancel(id); /* at its nap */
        pthread_join(id, NULL);
    }
}
static void small_stacks(void) {
    limit(RLIMIT_STACK, 128 << 10); /* of threads, too */
    pthread_attr_t how;
    pthread_t id;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 64 << 10);
    for (int i = 0; i < 20; i++) {
        if (pthread_create(&id, &how, run_marks, (void *)5000) != 0) puts("no thread");
        pthread_join(id, NULL);
    }
}

/* ---- children ---- */

static void forks(void) {
    mark(1000);
    fork_children(fork, 10, 1000);
}
static void forks_in_forks(void) {
    for (int i = 0; i < (n_arg ? n_arg : 8); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            fork_children(fork, 2, 50);
            mark(50);
            _exit(0);
        }
        await_child(pid);
    }
}
static void fork_among_threads(pid_t (*make)(void)) {
    pthread_t ids[4];
    for (int i = 0; i < 4; i++) pthread_create(&ids[i], NULL, run_marks, (void *)200000);
    fork_children(make, n_arg ? n_arg : 8, 100);
    for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
}
static void forks_among_threads(void) {
    fork_among_threads(fork);
}
static void bare_forks(void) {
    mark(1000);
    fork_children(fork_bare, 4, 1000);
}
static void bare_forks_among_threads(void) {
    fork_among_threads(fork_bare);
}
static int run_clone(void *x) {
    mark(1000);
    _exit(x ? 1 : 0);
}
static void cloned(void) {
    static char stack[1 << 20];
    mark(1000);
    await_child(clone(run_clone, stack + sizeof stack, SIGCHLD, NULL));
}
static void vforks_and_executes(void) {
    mark(1000);
    for (int i = 0; i < 10; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        await_child(pid);
    }
}
static void vforks_and_records(void) {
    mark(1000);
    for (int i = 0; i < 10; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            mark(1); /* with the memory of its parent, so into its recording */
            _exit(0);
        }
        await_child(pid);
        mark(100);
    }
}
static void executes_itself(void) {
    char left[16];
    mark(100);
    snprintf(left, sizeof left, "%d", n_arg ? n_arg - 1 : 10);
    if (n_arg != 1) execl(own_path, own_path, "executes_itself", left, (char *)NULL);
    puts("the last one");
}
static void reap_children(int number) {
    int how, before = errno;
    (void)number;
    while (waitpid(-1, &how, WNOHANG) > 0) {}
    errno = before;
}
static void reaps_in_a_handler(void) {
    signal(SIGCHLD, reap_children);
    for (int i = 0; i < 20; i++) {
        if (fork() == 0) {
            mark(10);
            _exit(0);
        }
        mark(1000);
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {}
}
static void ignores_children(void) {
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 10; i++) {
        if (fork() == 0) {
            mark(10);
            _exit(0);
        }
        mark(1000);
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {}
}
static void has_no_other_children(void) {
    mark(1000);
    nap_ms(200); /* until the recorder's own thread has begun */
    printf("%d %s\n", (int)waitpid(-1, NULL, WNOHANG), strerror(errno));
}

/* ---- signals ---- */

static volatile sig_atomic_t n_signals;
static void mark_in_handler(int number) {
    (void)number;
    n_signals = n_signals + 1;
    mark(1);
}
static void interrupt_often(void (*handler)(int), int flags) {
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART | flags};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGPROF, &act, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    while (n_signals < 40) mark(10000);
    setitimer(ITIMER_PROF, &never, NULL);
}
static void profiled(void) {
    mark(1);
    interrupt_often(mark_in_handler, 0);
}
static void use_small_stack(void) {
    static char stack[16 << 10];
    stack_t s = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&s, NULL) != 0) perror("sigaltstack");
}
static void profiled_on_a_small_stack(void) {
    use_small_stack();
    mark(1);
    interrupt_often(mark_in_handler, SA_ONSTACK);
}
static void first_event_on_a_small_stack(void) {
    struct sigaction act = {.sa_handler = mark_in_handler, .sa_flags = SA_ONSTACK};
    use_small_stack();
    sigaction(SIGUSR1, &act, NULL);
    raise(SIGUSR1);
    mark(10);
}
static void fork_in_handler(int number) {
    pid_t pid = fork();
    (void)number;
    if (pid == 0) _exit(0);
    (void)waitpid(pid, NULL, 0);
    n_signals = n_signals + 1;
}
static void forks_in_a_handler(void) {
    mark(1);
    interrupt_often(fork_in_handler, 0);
}
static void blocks_all_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    mark_slowly(5, 20000, 10);
}
static void touch_past_end(void) {
    FILE *own = tmpfile();
    if (!own || ftruncate(fileno(own), 8192) != 0) return;
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(own), 0);
    if (ftruncate(fileno(own), 0) == 0) map[5000] = 1;
    puts("not reached");
}
static void own_file_cut(void) {
    mark(1000);
    touch_past_end();
}
static void leave_at_bus(int number) {
    (void)number;
    _exit(77);
}
static void handles_its_own_file_cut(void) {
    signal(SIGBUS, leave_at_bus);
    mark(1000);
    touch_past_end();
}
static void stopped_for_a_while(void) {
    pid_t self = getpid();
    for (int i = 0; i < 3; i++) {
        mark(1000);
        pid_t pid = fork();
        if (pid == 0) {
            nap_ms(n_arg ? n_arg : 100);
            kill(self, SIGCONT);
            _exit(0);
        }
        raise(SIGSTOP);
        await_child(pid);
    }
}

/* ---- ends ---- */

static void aborts(void) {
    mark(5000);
    abort();
}
static void crashes(void) {
    mark(5000);
    raise(SIGSEGV);
}
static void leaves_at_once(void) {
    mark(5000);
    _exit(5);
}
static void leaves_quickly(void) {
    mark(5000);
    quick_exit(6);
}
static void killed(void) {
    mark(5000);
    kill(getpid(), SIGKILL);
}
static void terminated(void) {
    mark(5000);
    raise(SIGTERM);
}
static void record_late(void) {
    mark(100);
}
static void records_at_exit(void) {
    mark(100);
    atexit(record_late);
}
static __attribute__((constructor(102))) void record_early(void) {
    const char *kind = getenv("HOST_EARLY");
    if (kind) mark(10);
}

/* ---- limits ---- */

static void few_descriptors(void) {
    int n = 0;
    limit(RLIMIT_NOFILE, 12);
    mark(1000);
    while (n < 100 && dup(1) >= 0) n++;
    mark_slowly(5, 20000, 10);
}
static void no_descriptors(void) {
    limit(RLIMIT_NOFILE, 3);
    mark(1000);
}
static void little_address_space(void) {
    limit(RLIMIT_AS, 200 << 20);
    mark_slowly(5, 40000, 10);
}
static void no_more_address_space(void) {
    mark(1000);
    limit(RLIMIT_AS, 1 << 20);
    mark_slowly(5, 100000, 10);
}
static void small_files(void) {
    limit(RLIMIT_FSIZE, 1 << 20);
    mark_slowly(5, 100000, 10);
}
static void smaller_files_later(void) {
    mark(1000);
    limit(RLIMIT_FSIZE, 4096);
    mark_slowly(5, 100000, 10);
}
static void no_files(void) {
    limit(RLIMIT_FSIZE, 0);
    mark_slowly(5, 1000, 10);
}
static void locked_memory(void) {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) limit(RLIMIT_MEMLOCK, 0);
    mark_slowly(5, 20000, 10);
}

/* ---- who and where it is ---- */

static void must(int result, const char *what) {
    if (result != 0) perror(what);
}
static void another_root(void) {
    char folder[] = "/tmp/host_XXXXXX";
    mark(1000);
    if (!mkdtemp(folder)) return;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    must(chroot(folder), "chroot");
    must(chdir("/"), "chdir");
    mark_slowly(5, 20000, 10);
    must(fchdir(here), "fchdir"); /* out again, to clean up */
    must(chroot("."), "chroot");
    must(rmdir(folder), "rmdir");
}
static void another_user_later(void) {
    mark(1000);
    must(setuid(65534), "setuid");
    mark_slowly(5, 100000, 10);
}
static void another_user_first(void) {
    must(setuid(65534), "setuid");
    mark(1000);
}
static void another_folder(void) {
    must(chdir("/"), "chdir");
    mark(1000);
}
static void strict_umask(void) {
    umask(0777);
    mark_slowly(5, 20000, 10);
}
static void own_descriptor_table(void) {
    mark(1000);
    must(unshare(CLONE_FILES | CLONE_FS), "unshare");
    closefrom(3);
    mark_slowly(5, 20000, 10);
}

/* Closes every descriptor but the standard ones, takes all numbers for its own files, and
 * looks at them again when the recorder has had time to write. */
static void own_files_at_all_numbers(void) {
    enum { N = 64, BYTES = 1 << 14 };
    static char bytes[BYTES], again[BYTES];
    FILE *files[N];
    int n_bad = 0;
    mark(20000);
    closefrom(3);
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < N; i++) {
        files[i] = tmpfile();
        if (!files[i] || pwrite(fileno(files[i]), bytes, BYTES, 0) != BYTES) n_bad++;
    }
    for (int i = 0; i < N; i++) (void)dup2(fileno(files[i]), 200 + 10 * i);
    mark_slowly(10, 50000, 10);
    for (int i = 0; i < N; i++) {
        struct stat st;
        if (fstat(fileno(files[i]), &st) != 0 || st.st_size != BYTES ||
            pread(fileno(files[i]), again, BYTES, 0) != BYTES || memcmp(bytes, again, BYTES))
            n_bad++;
    }
    printf("%d files changed\n", n_bad);
}
static void closes_one_by_one(void) {
    mark(20000);
    for (int fd = 3; fd < 2000; fd++) close(fd);
    mark_slowly(10, 20000, 10);
}

/* A filter as programs install that keep themselves from the file system: no file is opened,
 * made larger or mapped, no thread started. */
static void forbids_system_calls(void) {
    static const int FORBIDDEN[] = {SYS_openat, SYS_fallocate, SYS_ftruncate, SYS_clone,
                                    SYS_clone3, SYS_socket,    SYS_renameat};
    enum { N = sizeof FORBIDDEN / sizeof *FORBIDDEN };
    struct sock_filter code[2 + 2 * N] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (size_t i = 0; i < N; i++) {
        code[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                       (unsigned)FORBIDDEN[i], 0, 1);
        code[2 + 2 * i] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    code[1 + 2 * N] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {2 + 2 * N, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        perror("seccomp");
}
static void forbids_files_later(void) {
    mark(1000);
    forbids_system_calls();
    mark_slowly(5, 100000, 10);
}
static void forbids_files_first(void) {
    forbids_system_calls();
    mark(1000);
}

/* What a program inherits from its parent before its first event. */
static void inherits(void) {
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0)
            fputs(line, stdout);
    if (status) fclose(status);
    for (int fd = 0; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0) printf("descriptor %d\n", fd);
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit r;
        if (getrlimit((__rlimit_resource_t)i, &r) == 0)
            printf("limit %d: %llx %llx\n", i, (unsigned long long)r.rlim_cur,
                   (unsigned long long)r.rlim_max);
    }
    mode_t mask = umask(0);
    printf("umask %o, nice %d\n", mask, getpriority(PRIO_PROCESS, 0));
    mark(10);
}

/* ---- its recording ---- */

static void cut_recording(off_t to) {
    char path[PATH_MAX];
    mark(100000);
    if (tacho_path(path, sizeof path)) must(truncate(path, to), "truncate");
    mark_slowly(10, 20000, 20);
}
static void cuts_the_recording(void) {
    cut_recording(0);
}
static void cuts_a_part_of_the_recording(void) {
    cut_recording(100000);
}
static void removes_the_recording(void) {
    char path[PATH_MAX];
    mark(100000);
    if (tacho_path(path, sizeof path)) must(unlink(path), "unlink");
    mark_slowly(10, 20000, 20);
}
static void renames_the_recording(void) {
    char path[PATH_MAX], to[PATH_MAX + 8];
    mark(100000);
    if (tacho_path(path, sizeof path)) {
        snprintf(to, sizeof to, "%.*s.2.tacho", (int)strlen(path) - 6, path);
        must(rename(path, to), "rename");
    }
    mark_slowly(10, 20000, 20);
}
static void many_names(void) {
    char name[64];
    for (int i = 0; i < (n_arg ? n_arg : 50000); i++) {
        snprintf(name, sizeof name, "mark %d", i);
        tacho_mark(name);
        atomic_fetch_add(n_made, 1);
    }
}
static void long_names(void) {
    size_t n = 16 << 20;
    char *name = malloc(n + 1);
    if (!name) return;
    memset(name, 'A', n);
    name[n] = 0;
    for (int i = 0; i < 3; i++) {
        tacho_mark(name);
        atomic_fetch_add(n_made, 1);
    }
    tacho_counter(name, 1);
    free(name);
}
static void bad_arguments(void) {
    static const char *const NAMES[] = {NULL, "", "\xff\xfe\x80", "\x1b]0;title\x07<script>"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        tacho_begin_text(NAMES[i], (tacho_range_kind)99);
        tacho_end_range();
        tacho_counter(NAMES[i], 0);
        tacho_meta(NAMES[i], NAMES[i]);
    }
    for (int i = 0; i < 100; i++) tacho_end_range();
    tacho_op_begin(NULL);
    tacho_op_end();
    tacho_collective_begin(NULL);
    tacho_collective_end();
    tacho_alloc(NULL);
    tacho_release(NULL);
    mark(10);
}
static void deep_ranges(void) {
    for (int i = 0; i < 100000; i++) tacho_begin_text("deep", TACHO_RANGE_PLAIN);
    mark(1);
    for (int i = 0; i < 100000; i++) tacho_end_range();
}
static void marks_for_a_while(void) {
    mark_slowly(n_arg ? n_arg : 20, 1000, 25);
}
static void many_marks(void) {
    mark(n_arg ? n_arg : 3000000);
}

#define KIND(name) \
    { #name, name }
static const struct {
    const char *name;
    void (*run)(void);
} KINDS[] = {
    KIND(plain),
    KIND(first_events_at_once),
    KIND(many_threads),
    KIND(thread_after_thread),
    KIND(main_leaves_first),
    KIND(thread_exits),
    KIND(exits_while_a_thread_records),
    KIND(cancelled_threads),
    KIND(small_stacks),
    KIND(forks),
    KIND(forks_in_forks),
    KIND(forks_among_threads),
    KIND(bare_forks),
    KIND(bare_forks_among_threads),
    KIND(cloned),
    KIND(vforks_and_executes),
    KIND(vforks_and_records),
    KIND(executes_itself),
    KIND(reaps_in_a_handler),
    KIND(ignores_children),
    KIND(has_no_other_children),
    KIND(profiled),
    KIND(profiled_on_a_small_stack),
    KIND(forks_in_a_handler),
    KIND(first_event_on_a_small_stack),
    KIND(blocks_all_signals),
    KIND(own_file_cut),
    KIND(handles_its_own_file_cut),
    KIND(stopped_for_a_while),
    KIND(aborts),
    KIND(crashes),
    KIND(leaves_at_once),
    KIND(leaves_quickly),
    KIND(killed),
    KIND(terminated),
    KIND(records_at_exit),
    KIND(few_descriptors),
    KIND(no_descriptors),
    KIND(little_address_space),
    KIND(no_more_address_space),
    KIND(small_files),
    KIND(smaller_files_later),
    KIND(no_files),
    KIND(locked_memory),
    KIND(another_root),
    KIND(another_user_later),
    KIND(another_user_first),
    KIND(another_folder),
    KIND(strict_umask),
    KIND(own_descriptor_table),
    KIND(own_files_at_all_numbers),
    KIND(closes_one_by_one),
    KIND(forbids_files_later),
    KIND(forbids_files_first),
    KIND(inherits),
    KIND(cuts_the_recording),
    KIND(cuts_a_part_of_the_recording),
    KIND(removes_the_recording),
    KIND(renames_the_recording),
    KIND(many_names),
    KIND(long_names),
    KIND(bad_arguments),
    KIND(deep_ranges),
    KIND(marks_for_a_while),
    KIND(many_marks),
};

int main(int argc, char **argv) {
    own_path = argv[0];
    n_arg = argc > 2 ? atoi(argv[2]) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (argc > 1 && strcmp(argv[1], KINDS[i].name) == 0) {
            KINDS[i].run();
            puts("done");
            return 0;
        }
    fprintf(stderr, "host: no such kind\n");
    return 99;
}
