/* cmd_attach.c: `tacho attach PID`: a recording of a program that runs already.
 *
 *     idle, listening   the recorder makes a recording for the time asked, hooks of Python
 *                       included
 *     recording already its recording continues; what happens in the time asked is copied
 *                       out of it
 *     flight recorder   without --for: it writes its last seconds; with --for as above
 *
 * Several processes (the ranks of a launcher) are recorded at the same time. Ctrl-C, or the end
 * of the program, ends the recording early; what there is is kept. Then it is compacted and
 * summed up. The recorder's side and the words of their talk are in
 * src/record/rec_control.c. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <tacho/format.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "cli/attach.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/record_run.h"

enum { LOOK_MS = 100, INSISTS_NS = 500000000 };

typedef struct {
    int64_t pid;
    int fd;   /* of a recording made for us; -1: a separate window */
    int live; /* of a window: the file, held open whatever becomes of its name */
    attach_moment from;
    uint32_t flags; /* of a window: what the recording has, TACHO_FILE_* */
    char path[ATTACH_LINE_BYTES];
    bool has_ended; /* the process, or what it recorded for us */
} target;

typedef struct {
    options *o;
    arena *a;
    const char *folder, *file; /* one of them; absolute */
    const char *package;       /* the folder of the Python package, or NULL */
    target *v;
    uint32_t n;
} attachment;

static volatile sig_atomic_t n_interrupts;

/* Who insists is obeyed. The same signal sent to us and to our group is one. */
static void on_interrupt(int number) {
    static int64_t first_ns;
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (n_interrupts && now - first_ns > INSISTS_NS) _exit(128 + number);
    if (!n_interrupts) first_ns = now;
    n_interrupts = 1;
}

static void say(const attachment *at, uint16_t message, const target *t, const char *text) {
    buf line = {0};
    text_put(&line, at->o->words, message, arg_id("pid", t->pid), arg_cstr("path", t->path),
             arg_cstr("what", text ? text : ""),
             arg_time("time", at->o->time == ABSENT_I64 ? 0 : at->o->time));
    buf_add_byte(&line, '\n');
    if (!at->o->quiet && buf_ok(&line)) (void)!write(STDERR_FILENO, line.p, line.n);
    buf_fini(&line);
}

/* ---- where it goes ----------------------------------------------------------------------- */

/* -o NAME.tacho is a file, any other -o a folder. */
static status find_place(attachment *at, error *err) {
    str reported = at->o->record_output;
    char real[PATH_MAX];
    record_run r;
    if (!reported.p || !str_ends(reported, STR(".tacho"))) {
        TRY(record_folder(at->a, at->o, "attach", &r, err));
        at->folder = r.folder;
        return OK;
    }
    if (at->n > 1)
        FAIL(err, ERR_ARG, NOPOS, MSG_ATTACH_ONE_FILE, arg_int("count", at->n),
             arg_text("path", reported));
    const char *slash = NULL;
    for (size_t i = 0; i < reported.n; i++)
        if (reported.p[i] == '/') slash = reported.p + i;
    options in_folder = *at->o;
    in_folder.record_output =
        slash ? str_n(reported.p, (size_t)(slash - reported.p)) : STR(".");
    if (slash == reported.p) in_folder.record_output = STR("/");
    TRY(record_folder(at->a, &in_folder, "attach", &r, err));
    str name =
        slash ? str_n(slash + 1, reported.n - (size_t)(slash + 1 - reported.p)) : reported;
    snprintf(real, sizeof real, "%s/%.*s", r.folder, STR_ARG(name));
    at->file = arena_str(at->a, str_of(real)).p;
    if (!at->file) FAIL_MEMORY(err);
    return OK;
}

/* The name a window gets: the file asked for, or as the recorder names its own. */
static void name_window(const attachment *at, target *t, const tacho_file_header *h) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at->file)
        snprintf(t->path, sizeof t->path, "%s", at->file);
    else
        snprintf(t->path, sizeof t->path, "%s/%.255s.%lld.tacho", at->folder, h->worker,
                 (long long)now.tv_sec * 1000000000 + now.tv_nsec);
}

/* ---- what can go wrong ------------------------------------------------------------------- */

static status fail_answer(int64_t pid, const char *reason, error *err) {
    static const struct {
        const char *reason;
        uint16_t message;
    } KNOWN[] = {{"attached", MSG_ATTACH_OTHER},
                 {"between", MSG_ATTACH_BETWEEN},
                 {"idle", MSG_ATTACH_ENDED},
                 {"no flight recorder", MSG_ATTACH_NO_FLIGHT}};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (strcmp(reason, KNOWN[i].reason) == 0)
            FAIL(err, ERR_UNSUPPORTED, NOPOS, KNOWN[i].message, arg_id("pid", pid));
    FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_ATTACH_FAILED, arg_id("pid", pid),
         arg_cstr("reason", reason));
}

/* No answer at all: the process is gone, or its recorder never gets to it. */
static status fail_silent(int64_t pid, error *err) {
    if (!attach_is_alive(pid))
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_ATTACH_ENDED, arg_id("pid", pid));
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_ATTACH_SILENT, arg_id("pid", pid));
}

/* ---- beginning --------------------------------------------------------------------------- */

/* "at TICK UNIX_NS FILE" */
static bool read_moment(const char *line, attach_moment *out, const char **file) {
    unsigned long long tick;
    long long unix_ns;
    int at = 0;
    if (sscanf(line, "at %llu %lld %n", &tick, &unix_ns, &at) != 2 || at == 0) return false;
    *out = (attach_moment){tick, unix_ns};
    *file = line + at;
    return true;
}

static void say_what_is_missing(const attachment *at, const target *t) {
    const struct {
        bool asked;
        uint32_t flag;
        const char *name;
    } ALL[] = {{at->o->record_shapes, TACHO_FILE_SHAPES, "--shapes"},
               {at->o->record_memory, TACHO_FILE_MEMORY, "--memory"},
               {at->o->record_stack, TACHO_FILE_STACKS, "--stack"}};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (ALL[i].asked && !(t->flags & ALL[i].flag))
            say(at, MSG_ATTACH_WITHOUT, t, ALL[i].name);
}

static status open_window(const attachment *at, target *t, error *err) {
    char line[ATTACH_LINE_BYTES];
    tacho_file_header h;
    const char *file;
    snprintf(line, sizeof line, "window %.6f\n", (double)at->o->time * 1e-9);
    if (!attach_ask(t->pid, line, line, sizeof line)) return fail_silent(t->pid, err);
    if (strncmp(line, "failed ", 7) == 0) return fail_answer(t->pid, line + 7, err);
    if (!read_moment(line, &t->from, &file)) return fail_silent(t->pid, err);
    t->live = open(file, O_RDONLY | O_CLOEXEC);
    if (t->live < 0 || pread(t->live, &h, sizeof h, 0) != (ssize_t)sizeof h)
        return fail_answer(t->pid, t->live < 0 ? strerror(errno) : strerror(EIO), err);
    t->flags = h.flags;
    name_window(at, t, &h);
    say_what_is_missing(at, t);
    return OK;
}

static status begin(const attachment *at, target *t, error *err) {
    char line[ATTACH_LINE_BYTES * 2];
    const options *o = at->o;
    snprintf(line, sizeof line, "record %.6f d%s%s%s %s%s%s\n", (double)o->time * 1e-9,
             o->record_shapes ? "s" : "", o->record_memory ? "m" : "",
             o->record_stack ? "t" : "", at->file ? at->file : at->folder,
             at->package ? "\t" : "", at->package ? at->package : "");
    t->fd = attach_send(t->pid, line);
    if (t->fd < 0 || !attach_read_line(t->fd, line, sizeof line))
        return fail_silent(t->pid, err);
    if (strncmp(line, "started ", 8) == 0) {
        snprintf(t->path, sizeof t->path, "%.*s", (int)sizeof t->path - 1, line + 8);
        return OK;
    }
    close(t->fd);
    t->fd = -1;
    if (strcmp(line, "failed recording") == 0) return open_window(at, t, err);
    return fail_answer(t->pid, strncmp(line, "failed ", 7) == 0 ? line + 7 : line, err);
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* A recording made for us ends by a line or by the end of its process; a window by the
 * latter. */
static bool look_at(target *t) {
    char byte;
    if (t->has_ended) return true;
    if (t->fd < 0)
        t->has_ended = !attach_is_alive(t->pid);
    else
        t->has_ended = recv(t->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
    return t->has_ended;
}

static void wait_for(attachment *at) {
    int64_t until = add_i64(clock_ns(CLOCK_MONOTONIC), at->o->time);
    bool all = false;
    while (!all && n_interrupts == 0) {
        int64_t left_ms = (sub_i64(until, clock_ns(CLOCK_MONOTONIC)) + 999999) / 1000000;
        if (left_ms <= 0) break;
        (void)poll(NULL, 0, (int)min_i64(LOOK_MS, left_ms));
        all = true;
        for (uint32_t i = 0; i < at->n; i++) all &= look_at(&at->v[i]);
    }
}

/* ---- ending ------------------------------------------------------------------------------ */

/* Where a window ends: now, or where the recording did. */
static attach_moment end_of_window(const target *t) {
    char line[ATTACH_LINE_BYTES];
    attach_moment to = {.tick = UINT64_MAX};
    const char *file;
    tacho_file_header h;
    if (attach_ask(t->pid, "flush\n", line, sizeof line) && read_moment(line, &to, &file))
        return to;
    if (pread(t->live, &h, sizeof h, 0) == (ssize_t)sizeof h && h.state == TACHO_FILE_STOPPED)
        to = (attach_moment){h.stop_tick, h.stop_unix_ns};
    return to;
}

static status end(const attachment *at, target *t, error *err) {
    char line[ATTACH_LINE_BYTES];
    bool early = t->has_ended && !attach_is_alive(t->pid);
    if (t->fd < 0) {
        attach_moment to = end_of_window(t);
        TRY(attach_copy_window(t->live, t->from, to, t->path, err));
    } else {
        if (n_interrupts) (void)shutdown(t->fd, SHUT_WR);
        if (attach_read_line(t->fd, line, sizeof line) && strncmp(line, "done ", 5) == 0)
            snprintf(t->path, sizeof t->path, "%.*s", (int)sizeof t->path - 1, line + 5);
    }
    if (early) say(at, MSG_ATTACH_PROGRAM_ENDED, t, NULL);
    return record_compact_file(at->o, t->path, t->path, NULL, err);
}

/* ---- a flight recorder ------------------------------------------------------------------- */

static status pull_trigger(const attachment *at, target *t, error *err) {
    char line[ATTACH_LINE_BYTES], dump[ATTACH_LINE_BYTES];
    if (!attach_ask(t->pid, "trigger written because tacho attach asked for it\n", line,
                    sizeof line))
        return fail_silent(t->pid, err);
    if (strncmp(line, "done ", 5) != 0)
        return fail_answer(t->pid, strncmp(line, "failed ", 7) == 0 ? line + 7 : line, err);
    snprintf(dump, sizeof dump, "%s", line + 5);
    const char *slash = strrchr(dump, '/');
    if (at->file)
        snprintf(t->path, sizeof t->path, "%s", at->file);
    else if (at->folder && slash)
        snprintf(t->path, sizeof t->path, "%s/%.*s", at->folder,
                 (int)(sizeof t->path - strlen(at->folder) - 2), slash + 1);
    else
        snprintf(t->path, sizeof t->path, "%s", dump);
    return record_compact_file(at->o, dump, t->path, NULL, err);
}

/* ---- the command ------------------------------------------------------------------------- */

static status record_all(attachment *at, error *err) {
    struct sigaction act = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    status st = OK;
    for (uint32_t i = 0; i < at->n && st == OK; i++) st = begin(at, &at->v[i], err);
    if (st != OK) return st;
    for (uint32_t i = 0; i < at->n; i++) say(at, MSG_ATTACH_BEGINS, &at->v[i], NULL);
    wait_for(at);
    for (uint32_t i = 0; i < at->n && st == OK; i++) st = end(at, &at->v[i], err);
    return st;
}

static status attach(attachment *at, int64_t pid, error *err) {
    int64_t *pids;
    TRY(attach_find(at->a, pid, &pids, &at->n, err));
    at->v = ARENA_ARRAY(at->a, target, at->n);
    if (!at->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < at->n; i++)
        at->v[i] = (target){.pid = pids[i], .fd = -1, .live = -1};
    bool triggers = at->o->time == ABSENT_I64;
    if (!triggers || at->o->record_output.p) TRY(find_place(at, err));
    at->package = record_package(at->a);
    if (!triggers) return record_all(at, err);
    for (uint32_t i = 0; i < at->n; i++) TRY(pull_trigger(at, &at->v[i], err));
    return OK;
}

static int show(attachment *at) {
    for (uint32_t i = 0; i < at->n; i++) say(at, MSG_ATTACH_DONE, &at->v[i], NULL);
    const char *traces[] = {at->n == 1 || !at->folder ? at->v[0].path : at->folder};
    at->o->traces = traces;
    at->o->n_traces = 1;
    (void)command_find(STR("summary"), &at->o->command);
    return cmd_summary(at->o);
}

int cmd_attach(options *o) {
    arena a;
    error err = {0};
    attachment at = {.o = o, .a = &a};
    int64_t pid = 0;
    status st = OK;
    arena_init(&a, 0);
    if (o->n_traces != 1 || !str_to_i64(str_of(o->traces[0]), &pid) || pid <= 0)
        st = error_set(&err, ERR_ARG, NOPOS, MSG_ATTACH_NO_PID, 0, NULL);
    if (st == OK && o->time != ABSENT_I64 && o->time <= 0)
        st = error_set(&err, ERR_ARG, NOPOS, MSG_ATTACH_NO_TIME, 0, NULL);
    if (st == OK && o->now && o->time != ABSENT_I64)
        st = error_set(&err, ERR_ARG, NOPOS, MSG_ATTACH_NOW_AND_FOR, 0, NULL);
    if (st == OK) st = attach(&at, pid, &err);
    int code = st == OK ? show(&at) : cli_complain(o, &err);
    for (uint32_t i = 0; at.v && i < at.n; i++) {
        if (at.v[i].fd >= 0) close(at.v[i].fd);
        if (at.v[i].live >= 0) close(at.v[i].live);
    }
    arena_fini(&a);
    return code;
}
