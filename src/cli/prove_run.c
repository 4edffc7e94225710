/* prove_run.c: starting programs, letting one of them run, and stopping it.
 *
 * A program connects to its own socket when it is warm (inject/tacho_prove.py) and runs blocks
 * of steps on request from then on. In between it and all its child processes are stopped by a
 * signal: loaders would fill their queues otherwise, and take processors from the other
 * program. */
#include "cli/prove_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/attach.h"
#include "cli/cli.h"
#include "cli/record_run.h"

enum { LOOK_MS = 100, MOST_PROCESSES = 4096 };

static volatile sig_atomic_t is_cancelled;

static void cancel(int signo) {
    (void)signo;
    is_cancelled = 1;
}

bool prove_is_cancelled(void) {
    return is_cancelled != 0;
}

/* ---- all processes of a program ---------------------------------------------------------- */

typedef struct {
    int64_t pid[MOST_PROCESSES];
    uint32_t n;
} process_list;

static bool is_listed(const process_list *l, int64_t pid) {
    for (uint32_t i = 0; i < l->n; i++)
        if (l->pid[i] == pid) return true;
    return false;
}

/* Adds those whose parent is listed; false: there were none. */
static bool add_children(process_list *l) {
    DIR *d = opendir("/proc");
    uint32_t before = l->n;
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        int64_t pid, parent;
        char state;
        if (!str_to_i64(str_of(e->d_name), &pid) || is_listed(l, pid) ||
            !attach_parent(pid, &state, &parent) || state == 'Z' || !is_listed(l, parent))
            continue;
        if (l->n < MOST_PROCESSES) l->pid[l->n++] = pid;
    }
    closedir(d);
    return l->n > before;
}

static void signal_all(const prove_program *p, int signo) {
    static process_list l; /* one thread; too large for a stack */
    l.n = 0;
    l.pid[l.n++] = p->pid;
    while (add_children(&l)) {}
    for (uint32_t i = 0; i < l.n; i++) kill((pid_t)l.pid[i], signo);
}

/* ---- starting ---------------------------------------------------------------------------- */

static void set_up_child(const prove_setup *s, const char *changes, const char *environment,
                         const char *path) {
    char name[64];
    size_t n = environment ? strcspn(environment, "=") : 0;
    if (n && n < sizeof name && environment[n]) {
        memcpy(name, environment, n);
        name[n] = 0;
        setenv(name, environment + n + 1, 1);
    }
    setenv("TACHO_PROVE", path, 1);
    setenv("TACHO_PROVE_CHANGES", changes, 1);
    record_set_before("PYTHONPATH", s->python);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void run_child(const prove_program *p, int tell) {
    int to = open(p->printed, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
        from = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (to >= 0) dup2(to, STDOUT_FILENO);
    if (to >= 0) dup2(to, STDERR_FILENO);
    if (from >= 0) dup2(from, STDIN_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    cli_restore_pipes();
    execvp(p->setup->argv[0], p->setup->argv);
    int code = errno;
    (void)!write(tell, &code, sizeof code);
    _exit(127);
}

static status fail_run(const prove_setup *s, int code, error *err) {
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_RECORD_CANNOT_RUN, arg_cstr("program", s->argv[0]),
         arg_cstr("reason", strerror(code)), arg_text("hint", STR("")));
}

static int listen_at(const char *path) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || strlen(path) >= sizeof at.sun_path) {
        if (fd >= 0) close(fd);
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    unlink(path);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0) return fd;
    close(fd);
    return -1;
}

status prove_start(const prove_setup *setup, const char *changes, const char *environment,
                   prove_program *out, error *err) {
    static int n_started;
    char path[256];
    int tell[2], code = 0;
    struct sigaction on = {.sa_handler = cancel};
    *out = (prove_program){.setup = setup, .waits = -1, .talks = -1};
    sigaction(SIGINT, &on, NULL);
    sigaction(SIGTERM, &on, NULL);
    snprintf(path, sizeof path, "%s/%d.sock", setup->folder, ++n_started);
    snprintf(out->printed, sizeof out->printed, "%s/%d.txt", setup->folder, n_started);
    out->waits = listen_at(path);
    if (out->waits < 0 || pipe2(tell, O_CLOEXEC) != 0) return fail_run(setup, errno, err);
    out->pid = fork();
    if (out->pid == 0) {
        set_up_child(setup, changes, environment, path);
        run_child(out, tell[1]);
    }
    if (out->pid < 0) code = errno;
    close(tell[1]);
    if (out->pid > 0 && read(tell[0], &code, sizeof code) != (ssize_t)sizeof code) code = 0;
    close(tell[0]);
    if (!code) return OK;
    prove_end(out);
    return fail_run(setup, code, err);
}

/* ---- talking ----------------------------------------------------------------------------- */

static bool has_ended(prove_program *p) {
    siginfo_t info = {0};
    if (!p->is_over && waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid)
        p->is_over = true;
    return p->is_over;
}

/* Until there is something to read; false: the program ended, the time is up, or the user does
 * not want to wait any longer. */
static bool wait_for(prove_program *p, int fd) {
    int64_t until = add_i64(clock_ns(CLOCK_MONOTONIC), p->setup->limit_ns);
    while (!is_cancelled && clock_ns(CLOCK_MONOTONIC) < until) {
        struct pollfd at = {.fd = fd, .events = POLLIN};
        if (poll(&at, 1, LOOK_MS) > 0) return true;
        if (has_ended(p)) return false;
    }
    return false;
}

static bool read_line(prove_program *p, char *to, size_t size) {
    char part[4096];
    for (;;) {
        size_t n = 0;
        while (n < p->unread.n && p->unread.p[n] != '\n') n++;
        if (n < p->unread.n) {
            if (n + 1 > size) return false;
            memcpy(to, p->unread.p, n);
            to[n] = 0;
            buf_clear(&p->unread); /* it says nothing more before it is asked to */
            return true;
        }
        if (!wait_for(p, p->talks)) return false;
        ssize_t got = read(p->talks, part, sizeof part);
        if (got <= 0) return false;
        buf_add(&p->unread, part, (size_t)got);
        if (!buf_ok(&p->unread)) return false;
    }
}

static void take_losses(const char *text, prove_losses *to) {
    while (strcmp(text, "-") != 0 && to->n < LOSSES_MOST) {
        char *end;
        double v = strtod(text, &end);
        if (end == text) return;
        to->v[to->n++] = v;
        if (*end != ',') return;
        text = end + 1;
    }
}

static bool read_block(prove_program *p, prove_block *block, prove_losses *losses) {
    char line[1 << 14];
    long long ns, applied;
    int at = 0;
    if (!read_line(p, line, sizeof line) ||
        sscanf(line, "%15s %lld %lld %n", block->unit, &ns, &applied, &at) != 3)
        return false;
    block->ns = ns;
    block->applied = applied;
    take_losses(line + at, losses);
    signal_all(p, SIGSTOP);
    return true;
}

bool prove_warm(prove_program *p, prove_block *block, prove_losses *losses) {
    if (!wait_for(p, p->waits)) return false;
    p->talks = accept4(p->waits, NULL, NULL, SOCK_CLOEXEC);
    return p->talks >= 0 && read_block(p, block, losses);
}

bool prove_go(prove_program *p, uint32_t steps, prove_block *block, prove_losses *losses) {
    char line[32];
    int n = snprintf(line, sizeof line, "go %u\n", steps);
    if (send(p->talks, line, (size_t)n, MSG_NOSIGNAL) != n) return false;
    signal_all(p, SIGCONT);
    return read_block(p, block, losses);
}

bool prove_wait(prove_program *p, bool ask) {
    int64_t until = add_i64(clock_ns(CLOCK_MONOTONIC), p->setup->limit_ns);
    signal_all(p, SIGCONT);
    if (ask) kill(p->pid, SIGTERM);
    while (!has_ended(p) && !is_cancelled && clock_ns(CLOCK_MONOTONIC) < until)
        (void)poll(NULL, 0, LOOK_MS / 10);
    return p->is_over;
}

void prove_end(prove_program *p) {
    if (p->pid > 0) {
        signal_all(p, SIGKILL);
        (void)waitpid(p->pid, NULL, 0);
    }
    if (p->talks >= 0) close(p->talks);
    if (p->waits >= 0) close(p->waits);
    buf_fini(&p->unread);
    p->pid = 0;
    p->talks = p->waits = -1;
}

str prove_last_line(const prove_program *p, arena *a) {
    char text[2048];
    int fd = open(p->printed, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return STR_NONE;
    off_t size = lseek(fd, 0, SEEK_END);
    off_t from = max_i64(0, sub_i64(size, (int64_t)sizeof text));
    ssize_t n = pread(fd, text, sizeof text, from);
    close(fd);
    if (n <= 0) return STR_NONE;
    str all = str_trim(str_n(text, (size_t)n));
    size_t start = all.n;
    while (start && all.p[start - 1] != '\n') start--;
    return arena_str(a, str_from(all, start));
}
