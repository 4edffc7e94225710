/* record_run.c: `tacho record` around a program: the folder, the environment, the wait, the
 * live line.
 *
 * The recorder is preloaded and configured by the environment, so every process the program
 * starts is recorded, too, both ranks and their helpers; each writes a separate file. Nothing
 * is transmitted while it runs: the live line is read from the headers of those files.
 *
 * Ctrl-C reaches the program from the terminal; we wait for its end. A signal that was sent to
 * us alone is handed on. Who insists is obeyed: the second one ends the program, the third
 * kills it. Files are whole whatever happens to the program. */
#include "cli/record_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/record_end.h"
#include "cli/record_target.h"
#include "text/text.h"

#define LOOK_NS 500000000
#define TRIGGER_FLIGHT_NS 30000000000 /* what a trigger writes when --flight does not say */

/* ---- what is needed before --------------------------------------------------------------- */

const char *record_find(arena *a, const char *name, const char *where) {
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (!slash) return NULL;
    *slash = 0;
    str path = arena_printf(a, "%s/%s", exe, name);
    if (path.p && access(path.p, R_OK) == 0) return path.p;
    str installed = arena_printf(a, "%s/../%s/%s", exe, where, name);
    return installed.p && access(installed.p, R_OK) == 0 ? installed.p : NULL;
}

/* NAME_DATE_TIME: in the local time of the user, as people will look for it. */
static str run_name(arena *a, const char *name) {
    char stamp[CLOCK_DATE_BYTES] = "";
    (void)clock_date(clock_ns(CLOCK_REALTIME), "%Y-%m-%d_%H-%M-%S", stamp);
    return arena_printf(a, "%s%s%s", name, *name ? "_" : "", stamp);
}

static void note_made(record_run *r, const char *path) {
    if (!r->made_from) r->made_from = strlen(path);
}

static status make_folder(arena *a, str name, record_run *out, error *err) {
    char real[PATH_MAX];
    char *path = arena_alloc(a, name.n + 1);
    if (!path) FAIL_MEMORY(err);
    memcpy(path, name.p, name.n);
    path[name.n] = 0;
    int reason = 0;
    for (size_t i = 1; i <= name.n && !reason; i++) {
        char end = path[i];
        if (end && end != '/') continue;
        path[i] = 0;
        reason = mkdir(path, 0777) == 0 ? 0 : errno;
        if (!reason)
            note_made(out, path);
        else if (access(path, F_OK) == 0)
            reason = 0; /* it was there */
        path[i] = end;
    }
    struct stat is;
    if (!reason && (!realpath(path, real) || stat(real, &is) != 0 || access(real, W_OK) != 0))
        reason = errno;
    if (!reason && !S_ISDIR(is.st_mode)) reason = ENOTDIR;
    if (reason)
        FAIL(err, ERR_IO, NOPOS, MSG_RECORD_FOLDER, arg_cstr("path", path),
             arg_cstr("reason", strerror(reason)));
    out->made = path;
    out->folder = arena_str(a, str_of(real)).p;
    if (!out->folder) FAIL_MEMORY(err);
    return OK;
}

void record_remove_folder(const record_run *r) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", r->made ? r->made : "");
    for (size_t n = strlen(path); r->made_from && n >= r->made_from; n--) {
        if (path[n] && path[n] != '/') continue;
        path[n] = 0;
        if (rmdir(path) != 0) return;
    }
}

const char *record_python(arena *a) {
    static const char *const PLACES[] = {".", "python/tacho", "../python/tacho",
                                         "share/tacho/python/tacho", "lib/tacho/python/tacho"};
    const char *reported = getenv("TACHO_PYTHON"), *found = NULL;
    if (reported) return *reported ? reported : NULL;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES && !found; i++)
        found = record_find(a, "inject/sitecustomize.py", PLACES[i]);
    char real[PATH_MAX];
    if (!found || !realpath(found, real)) return NULL;
    *strrchr(real, '/') = 0;
    return arena_str(a, str_of(real)).p;
}

const char *record_package(arena *a) {
    const char *inject = record_python(a);
    char path[PATH_MAX];
    if (!inject) return NULL;
    snprintf(path, sizeof path, "%s", inject);
    for (int i = 0; i < 2; i++) { /* PACKAGES/tacho/inject */
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = 0;
    }
    return arena_str(a, str_of(path)).p;
}

status record_folder(arena *a, const options *o, const char *name, record_run *out,
                     error *err) {
    *out = (record_run){.o = o, .start_unix_ns = clock_ns(CLOCK_REALTIME)};
    uint64_t number = (uint64_t)out->start_unix_ns << 12 ^ (uint32_t)getpid();
    str run = run_name(a, name);
    str id = arena_printf(a, "%.*s.%llx", STR_ARG(run), (unsigned long long)number);
    str folder = o->record_output.p ? arena_str(a, o->record_output)
                                    : arena_printf(a, "tacho_runs/%.*s", STR_ARG(run));
    if (!run.p || !id.p || !folder.p) FAIL_MEMORY(err);
    out->run = id.p;
    return make_folder(a, folder, out, err);
}

static status take_trigger(arena *a, const options *o, record_run *out, error *err) {
    buf rules = {0};
    status st = record_trigger(o, &rules, err);
    if (st == OK && rules.n) out->trigger = arena_str(a, buf_str(&rules)).p;
    if (st == OK && rules.n && !out->trigger)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    buf_fini(&rules);
    return st;
}

/* 1/N or N. */
static status take_sample(const options *o, record_run *out, error *err) {
    enum { MOST = 1000000 };
    int64_t n = 0;
    str value = o->sample;
    if (!value.p) return OK;
    if (str_starts(value, STR("1/"))) value = str_from(value, 2);
    if (!str_to_i64(value, &n) || n < 1 || n > MOST)
        FAIL(err, ERR_ARG, NOPOS, MSG_SAMPLE_VALUE, arg_text("value", o->sample));
    out->sample_every = (uint32_t)n;
    return OK;
}

static status copy_words(arena *a, const options *o, char ***out, error *err) {
    char **argv = ARENA_ARRAY(a, char *, (size_t)o->n_traces + 1);
    if (!argv) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->n_traces; i++) {
        str word = arena_str(a, str_of(o->traces[i]));
        if (!word.p) FAIL_MEMORY(err);
        argv[i] = (char *)(uintptr_t)word.p; /* execvp wants it so and does not write */
    }
    argv[o->n_traces] = NULL;
    *out = argv;
    return OK;
}

/* Without a page the run is the same, and less is known about it. It lives as long as we do. */
static void make_status(record_run *r) {
    int fd = memfd_create("tacho status", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return;
    void *map = MAP_FAILED;
    if (ftruncate(fd, sizeof *r->status) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        map = mmap(NULL, sizeof *r->status, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        close(fd);
        return;
    }
    r->status = map;
    r->status_fd = fd;
    memcpy(r->status->magic, TACHO_STATUS_MAGIC, sizeof r->status->magic);
}

status record_prepare(arena *a, const options *o, record_run *out, error *err) {
    record_run checked = {.o = o};
    TRY(take_trigger(a, o, &checked, err)); /* before a folder is made */
    TRY(take_sample(o, &checked, err));
    TRY(copy_words(a, o, &checked.argv, err));
    const char *reported = getenv("TACHO_LIBRARY"), *name = target_name(a, checked.argv);
    checked.library = reported && *reported ? reported : record_find(a, "libtacho.so", "lib");
    if (!checked.library) FAIL0(err, ERR_NOT_FOUND, NOPOS, MSG_RECORD_NO_LIBRARY);
    if (!name) FAIL_MEMORY(err);
    TRY(record_folder(a, o, name, out, err));
    out->trigger = checked.trigger;
    out->sample_every = checked.sample_every;
    out->argv = checked.argv;
    out->library = checked.library;
    out->python = record_python(a);
    make_status(out);
    return OK;
}

/* ---- the child --------------------------------------------------------------------------- */

static void set_text(const char *name, const char *format, ...) {
    char value[PATH_MAX + 256];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    setenv(name, value, 1);
}

/* A port, or a folder, which the program may see from another one. */
static void set_metrics(const options *o) {
    char here[PATH_MAX];
    int64_t port;
    if (str_to_i64(o->metrics, &port) || o->metrics.p[0] == '/' || !getcwd(here, sizeof here))
        set_text("TACHO_METRICS", "%.*s", STR_ARG(o->metrics));
    else
        set_text("TACHO_METRICS", "%s/%.*s", here, STR_ARG(o->metrics));
}

void record_set_before(const char *name, const char *value) {
    const char *old = getenv(name);
    if (old && *old)
        set_text(name, "%s:%s", value, old);
    else
        set_text(name, "%s", value);
}

/* AddressSanitizer wants to be the first library of a program, ThreadSanitizer takes what it
 * does not know for races: a library that is loaded before is neither. What the user set comes
 * later and wins. */
static void set_sanitizers(void) {
    record_set_before("ASAN_OPTIONS", "verify_asan_link_order=0");
    record_set_before("TSAN_OPTIONS", "ignore_noninstrumented_modules=1");
}

static void set_environment(const record_run *r) {
    const options *o = r->o;
    char real[PATH_MAX];
    const char *library = realpath(r->library, real) ? real : r->library;
    record_set_before("LD_PRELOAD", library);
    if (r->python) record_set_before("PYTHONPATH", r->python);
    set_sanitizers();
    set_text("NVTX_INJECTION64_PATH", "%s", library);
    set_text("CUDA_INJECTION64_PATH", "%s", library);
    set_text("INTEL_LIBITTNOTIFY64", "%s", library);
    set_text("TACHO_RECORD", "%s", r->folder);
    set_text("TACHO_RUN", "%s", r->run);
    if (r->status) set_text("TACHO_STATUS", "/proc/%d/fd/%d", (int)getppid(), r->status_fd);
    if (o->record_no_source) set_text("TACHO_SOURCE", "0");
    set_text("TACHO_WITH", "device%s%s%s%s%s", o->record_nodes ? ",nodes" : "",
             o->record_sync ? ",sync" : "", o->record_shapes ? ",shapes" : "",
             o->record_memory ? ",memory" : "", o->record_stack ? ",stacks" : "");
    set_text("TACHO_LISTEN", "1");
    if (!steps_are_all(o->steps))
        set_text("TACHO_STEPS", "%lld..%lld", (long long)o->steps.first,
                 (long long)min_i64(o->steps.last, INT32_MAX));
    int64_t flight = o->flight == ABSENT_I64 && r->trigger ? TRIGGER_FLIGHT_NS : o->flight;
    if (flight != ABSENT_I64) set_text("TACHO_FLIGHT", "%.9f", (double)flight * 1e-9);
    if (r->trigger) set_text("TACHO_TRIGGER", "%s", r->trigger);
    if (o->metrics.p) set_metrics(o);
    if (r->sample_every) set_text("TACHO_SAMPLE", "%u", r->sample_every);
    if (o->ring != ABSENT_I64) set_text("TACHO_RING", "%lld", (long long)o->ring);
}

/* In the child: tells the parent through the pipe when the program cannot be run. */
static void run_child(const record_run *r, int tell, const sigset_t *mask) {
    sigprocmask(SIG_SETMASK, mask, NULL);
    cli_restore_pipes();
    set_environment(r);
    execvp(r->argv[0], r->argv);
    int code = errno;
    (void)!write(tell, &code, sizeof code);
    _exit(127);
}

static status fail_run(const record_run *r, int code, error *err) {
    buf hint = {0};
    target_hint(r->argv, code, r->o->words, &hint);
    status st =
        error_set(err, ERR_NOT_FOUND, NOPOS, MSG_RECORD_CANNOT_RUN, 3,
                  (arg[]){arg_cstr("program", r->argv[0]), arg_cstr("reason", strerror(code)),
                          arg_text("hint", buf_str(&hint))});
    buf_fini(&hint);
    return st;
}

static status start_child(const record_run *r, const sigset_t *mask, pid_t *pid, error *err) {
    int tell[2], code = 0;
    if (pipe2(tell, O_CLOEXEC) != 0) return fail_run(r, errno, err);
    *pid = fork();
    if (*pid == 0) run_child(r, tell[1], mask);
    if (*pid < 0) code = errno;
    close(tell[1]);
    ssize_t n = *pid > 0 ? read(tell[0], &code, sizeof code) : (ssize_t)sizeof code;
    close(tell[0]);
    if (n != (ssize_t)sizeof code) return OK; /* closed by a successful exec */
    if (*pid > 0) (void)waitpid(*pid, NULL, 0);
    return fail_run(r, code, err);
}

/* ---- the live line ----------------------------------------------------------------------- */

typedef struct {
    bool on;
    int64_t started_ns;
    uint64_t last_steps;
    int64_t last_ns;
    double rate;
} live_line;

static void show_live(const record_run *r, live_line *l) {
    if (!l->on) return;
    record_state s = record_look(r);
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    uint64_t more = s.n_steps > l->last_steps ? s.n_steps - l->last_steps : 0;
    if (l->last_ns) l->rate = (double)more * 1e9 / (double)max_i64(1, now - l->last_ns);
    l->last_ns = now;
    l->last_steps = s.n_steps;
    buf line = {0};
    buf_add_cstr(&line, "\r\x1b[K");
    text_put(&line, r->o->words, MSG_RECORD_LIVE, arg_time("time", now - l->started_ns),
             arg_int("files", s.n_files), arg_int("steps", (int64_t)s.n_steps),
             arg_real("rate", l->rate), arg_int("events", (int64_t)s.n_events),
             arg_bytes("size", (int64_t)s.n_bytes));
    if (buf_ok(&line)) (void)!write(STDERR_FILENO, line.p, line.n);
    buf_fini(&line);
}

/* ---- the wait ---------------------------------------------------------------------------- */

static void pass_on(pid_t pid, const siginfo_t *info, int n_so_far) {
    bool from_terminal = info->si_code == SI_KERNEL && info->si_signo == SIGINT;
    if (n_so_far == 1 && from_terminal) return; /* the program got it, too */
    if (n_so_far == 1) kill(pid, info->si_signo);
    if (n_so_far == 2) kill(pid, SIGTERM);
    if (n_so_far > 2) kill(pid, SIGKILL);
}

static void wait_for_end(const record_run *r, pid_t pid, const sigset_t *waited,
                         record_outcome *end) {
    live_line live = {.on = !r->o->quiet && isatty(STDERR_FILENO) != 0,
                      .started_ns = clock_ns(CLOCK_MONOTONIC)};
    struct timespec tick = {.tv_nsec = LOOK_NS};
    int how = 0, n_signals = 0;
    for (pid_t done = 0; done != pid;) {
        siginfo_t info;
        int signo = sigtimedwait(waited, &info, &tick);
        if (signo == SIGINT || signo == SIGTERM) pass_on(pid, &info, ++n_signals);
        if (n_signals == 1 && signo > 0 && signo != SIGCHLD) end->passed_on = signo;
        done = waitpid(pid, &how, WNOHANG);
        if (done < 0 && errno != EINTR) break;
        if (done == 0) show_live(r, &live);
    }
    if (live.on && live.last_ns) (void)!write(STDERR_FILENO, "\r\x1b[K", 4);
    end->how = how;
    end->ns = sub_i64(clock_ns(CLOCK_MONOTONIC), live.started_ns);
}

status record_program(const record_run *r, record_outcome *end, error *err) {
    sigset_t waited, before;
    pid_t pid = 0;
    const char *from;
    *end = (record_outcome){.oom_before = record_oom_kills(&from)};
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    sigaddset(&waited, SIGINT);
    sigaddset(&waited, SIGTERM);
    sigprocmask(SIG_BLOCK, &waited, &before);
    status st = start_child(r, &before, &pid, err);
    if (st == OK) wait_for_end(r, pid, &waited, end);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return st;
}
