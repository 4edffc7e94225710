/* record_end.c: see the header.
 *
 * Only facts are printed: the status that the system reports, the steps in the headers of the
 * recordings, the kernel's own count of processes it killed for memory, and what the recorders
 * left in the status page (tacho/live.h). What others may have written there is treated as
 * data. */
#include "cli/record_end.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/record_target.h"

static void say(const record_run *r, uint16_t message, const arg *args, uint32_t n) {
    buf sentence = {0};
    text_format(&sentence, r->o->words, message, args, n);
    if (buf_ok(&sentence)) cli_say(r->o, buf_str(&sentence));
    buf_fini(&sentence);
}
#define SAY(r, message, ...)                  \
    say((r), (message), (arg[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((arg[]){__VA_ARGS__}) / sizeof(arg)))

/* ---- how it ended ------------------------------------------------------------------------ */

int record_exit_status(const record_outcome *end) {
    return WIFSIGNALED(end->how) ? 128 + WTERMSIG(end->how) : WEXITSTATUS(end->how);
}

static const char *signal_name(int number, char *to, size_t size) {
    static const struct {
        int number;
        const char *name;
    } NAMES[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                 {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
                 {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
                 {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                 {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                 {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].number == number) return NAMES[i].name;
    snprintf(to, size, "signal %d", number);
    return to;
}

int64_t record_oom_parse(const char *text) {
    for (const char *p = text; (p = strstr(p, "oom_kill ")) != NULL; p += 9)
        if (p == text || p[-1] == '\n') return strtoll(p + 9, NULL, 10);
    return -1;
}

static int64_t read_count(const char *path) {
    char text[1 << 14];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return record_oom_parse(text);
}

/* "0::/PATH" of version 2, "N:memory:/PATH" of version 1. */
static bool find_group(const char *mark, const char *format, char *to, size_t size) {
    char line[PATH_MAX];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, mark);
        if (!at) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(to, size, format, at + strlen(mark));
        found = true;
    }
    if (f) fclose(f);
    return found;
}

int64_t record_oom_kills(const char **from) {
    static char path[PATH_MAX + 64];
    static const struct {
        const char *mark, *format;
    } GROUPS[] = {{"0::", "/sys/fs/cgroup%s/memory.events"},
                  {":memory:", "/sys/fs/cgroup/memory%s/memory.oom_control"}};
    *from = path;
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        if (!find_group(GROUPS[i].mark, GROUPS[i].format, path, sizeof path)) continue;
        int64_t n = read_count(path);
        if (n >= 0) return n;
    }
    *from = "/proc/vmstat";
    return read_count(*from);
}

static void say_kills(const record_run *r, const record_outcome *end) {
    const char *from;
    int64_t now = record_oom_kills(&from);
    if (end->oom_before >= 0 && now > end->oom_before)
        SAY(r, MSG_RECORD_OOM, arg_int("count", sub_i64(now, end->oom_before)),
            arg_cstr("path", from));
}

void record_say_end(const record_run *r, const record_outcome *end, uint64_t n_steps) {
    char number[32];
    buf after = {0};
    int by = WIFSIGNALED(end->how) ? WTERMSIG(end->how) : 0;
    uint16_t message = by ? MSG_RECORD_KILLED : MSG_RECORD_EXITED;
    if (end->passed_on ? r->o->quiet : end->how == 0) return;
    if (end->passed_on) message = MSG_RECORD_INTERRUPTED, by = end->passed_on;
    if (n_steps)
        text_put(&after, r->o->words, MSG_RECORD_AFTER_STEPS,
                 arg_int("steps", sat_i64(n_steps)));
    else
        text_put(&after, r->o->words, MSG_RECORD_AFTER_TIME, arg_time("time", end->ns));
    SAY(r, message, arg_cstr("program", target_program(r->argv)),
        arg_int("status", WEXITSTATUS(end->how)), arg_text("after", buf_str(&after)),
        arg_cstr("signal", signal_name(by, number, sizeof number)));
    buf_fini(&after);
    if (end->how != 0) say_kills(r, end);
}

/* ---- what was not recorded --------------------------------------------------------------- */

/* "PyTorch, PaddlePaddle, …" */
static const char FRAMEWORKS[] =
#define FRAMEWORK(module, name) ", " name
#include "cli/frameworks.def"
#undef FRAMEWORK
    ;
#define FRAMEWORK_LIST (FRAMEWORKS + 2)

/* The system's words, and the user when that explains them. */
static void put_reason(const record_run *r, const tacho_status_failure *f, buf *out) {
    bool is_other = (f->code == EACCES || f->code == EPERM) && f->uid != geteuid();
    const char *reason = f->code > 0 && f->code < 4096 ? strerror(f->code) : strerror(EIO);
    if (is_other)
        text_put(out, r->o->words, MSG_RECORD_AS_USER, arg_cstr("reason", reason),
                 arg_id("pid", f->pid), arg_id("user", f->uid));
    else
        buf_add_cstr(out, reason);
}

static bool say_failures(const record_run *r, uint32_t n_files) {
    const tacho_status_page *p = r->status;
    uint64_t n = p ? __atomic_load_n(&p->n_failures, __ATOMIC_RELAXED) : 0;
    buf reason = {0};
    if (!n || !__atomic_load_n(&p->failures[0].is_written, __ATOMIC_ACQUIRE)) return false;
    tacho_status_failure first = p->failures[0];
    first.program[sizeof first.program - 1] = 0;
    put_reason(r, &first, &reason);
    if (n_files)
        SAY(r, MSG_RECORD_FAILED_SOME, arg_int("count", sat_i64(n)),
            arg_cstr("program", first.program), arg_id("pid", first.pid),
            arg_cstr("path", r->folder), arg_text("reason", buf_str(&reason)));
    else
        SAY(r, MSG_RECORD_FAILED, arg_cstr("path", r->folder),
            arg_text("reason", buf_str(&reason)));
    buf_fini(&reason);
    return true;
}

static uint16_t find_reason(const record_run *r) {
    const tacho_status_page *p = r->status;
    if (!p) return MSG_RECORD_NO_EVENTS;
    if (__atomic_load_n(&p->n_begun, __ATOMIC_RELAXED)) return MSG_RECORD_REMOVED;
    if (!__atomic_load_n(&p->n_loaded, __ATOMIC_RELAXED)) return target_obstacle(r->argv[0]);
    if (!__atomic_load_n(&p->n_python, __ATOMIC_RELAXED)) return MSG_RECORD_NO_EVENTS;
    return r->python ? MSG_RECORD_NO_FRAMEWORK : MSG_RECORD_NO_PACKAGE;
}

void record_say_losses(const record_run *r, uint32_t n_files) {
    if (say_failures(r, n_files) || n_files) return;
    SAY(r, find_reason(r), arg_cstr("program", target_program(r->argv)),
        arg_cstr("path", r->folder), arg_cstr("list", FRAMEWORK_LIST));
}
