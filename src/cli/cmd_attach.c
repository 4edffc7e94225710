/* cmd_attach.c: `tacho attach PID`: asks a running program that has the recorder loaded.
 *
 * The recorder listens on a socket that only its owner can reach (src/record/rec_control.c has the
 * words). With --for a recording of that length is made; without, a flight recorder is asked for its
 * last seconds. The program writes the file itself; we wait, compact it and show the summary. When we
 * are interrupted the connection closes and the recording ends. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/record_run.h"

static bool connect_to(int fd, const char *folder, int64_t pid) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int n =
        snprintf(name.sun_path, sizeof name.sun_path, "%s/%lld.sock", folder, (long long)pid);
    return n > 0 && (size_t)n < sizeof name.sun_path &&
           connect(fd, (struct sockaddr *)&name, sizeof name) == 0;
}

/* The program's environment need not be ours: both places are tried. */
static int open_socket(int64_t pid) {
    char folder[256];
    const char *run = getenv("XDG_RUNTIME_DIR");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    snprintf(folder, sizeof folder, "%s/tacho", run ? run : "");
    if (run && *run && connect_to(fd, folder, pid)) return fd;
    snprintf(folder, sizeof folder, "/tmp/tacho-%u", (unsigned)geteuid());
    if (connect_to(fd, folder, pid)) return fd;
    close(fd);
    return -1;
}

static status fail_answer(int64_t pid, const char *reason, error *err) {
    FAIL(err, ERR_UNSUPPORTED, NOPOS, MSG_ATTACH_FAILED, arg_int("pid", pid),
         arg_cstr("reason", reason));
}

/* Lines until the last: "done PATH" is the end, "failed REASON" a failure. */
static status read_answer(int fd, int64_t pid, char *path, size_t size, error *err) {
    FILE *in = fdopen(fd, "r");
    char line[4200] = "";
    bool done = false;
    if (!in) {
        close(fd);
        FAIL_MEMORY(err);
    }
    while (!done && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        done = strncmp(line, "done ", 5) == 0 || strncmp(line, "failed ", 7) == 0;
    }
    fclose(in);
    if (!done) return fail_answer(pid, "-", err);
    if (line[0] == 'f') return fail_answer(pid, line + 7, err);
    snprintf(path, size, "%s", line + 5);
    return OK;
}

static status ask(const options *o, const record_run *r, int64_t pid, char *path, size_t size,
                  error *err) {
    char line[4400];
    int fd = open_socket(pid);
    if (fd < 0) FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_ATTACH_NOT_THERE, arg_int("pid", pid));
    int n = o->time == ABSENT_I64
                ? snprintf(line, sizeof line, "trigger attach\n")
                : snprintf(line, sizeof line, "record %.6f d%s%s%s %s\n",
                           (double)o->time * 1e-9, o->record_shapes ? "s" : "",
                           o->record_memory ? "m" : "", o->record_stack ? "t" : "", r->folder);
    if (write(fd, line, (size_t)n) != n) {
        close(fd);
        return fail_answer(pid, strerror(errno), err);
    }
    return read_answer(fd, pid, path, size, err);
}

int cmd_attach(options *o) {
    arena a;
    error err = {0};
    record_run r = {.folder = NULL};
    int64_t pid = 0;
    char path[4200] = "";
    status st = OK;
    arena_init(&a, 0);
    if (o->n_traces != 1 || !str_to_i64(str_of(o->traces[0]), &pid) || pid <= 0)
        st = error_set(&err, ERR_ARG, NOPOS, MSG_ATTACH_NO_PID, 0, NULL);
    if (st == OK && o->time != ABSENT_I64) st = record_prepare(&a, o, &r, &err);
    if (st == OK) st = ask(o, &r, pid, path, sizeof path, &err);
    if (st == OK) st = record_compact_file(o, path, &err);
    int code = st == OK ? EXIT_DONE : cli_complain(o, &err);
    if (st == OK) {
        const char *traces[] = {path};
        o->traces = traces;
        o->n_traces = 1;
        code = cmd_summary(o);
    }
    arena_fini(&a);
    return code;
}
