/* export.c: chooses the form, turns the window into the trace's time, and owns the bytes' way
 * out.
 *
 * A form appends to one buffer and says when a row is done; the buffer goes to the file in
 * pieces of a quarter MiB, so an export of any size needs the memory of one. Before anything is
 * written the whole trace is checked (trace_require), because an export touches all of it.
 *
 * What a form looks like is in its own file; nothing here knows JSON or CSV. */
#include "export/export_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/whole_file.h"

static const struct {
    const char *name;
    const char *ending;
    status (*write)(export_ctx *x);
    bool windowed, valued;
} FORMS[] = {
    {"chrome", "json", export_chrome, true, false},
    {"perfetto", "pftrace", export_perfetto, true, false},
    {"csv", "csv", export_csv, true, false},
    {"stacks", "txt", export_stacks, true, true},
    {"speedscope", "speedscope.json", export_speedscope, true, true},
    {"tacho", "tacho", export_tacho, false, false},
    {"memory_flow.svg", "memory_flow.svg", export_memory_flow, true, false},
    {"arrow", "arrows", export_arrow, false, false},
    {"svg", "timeline.svg", export_svg, true, false},
    {"chakra", "et", export_chakra, true, false},
};
enum { N_FORMS = sizeof FORMS / sizeof *FORMS };

const char *export_form_name(uint32_t i) {
    return i < N_FORMS ? FORMS[i].name : NULL;
}

void export_name_file(str worker, str form, char to[EXPORT_NAME_BYTES]) {
    const char *ending = "out";
    size_t n = 0;
    for (uint32_t i = 0; i < N_FORMS; i++)
        if (str_eq(form, str_of(FORMS[i].name))) ending = FORMS[i].ending;
    for (size_t i = 0; i < worker.n && n + 32 < EXPORT_NAME_BYTES; i++) {
        char c = worker.p[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || (c == '.' && n);
        to[n++] = ok ? c : '_';
    }
    to[n] = '\0';
    snprintf(to + n, EXPORT_NAME_BYTES - n, "%s.%s", n ? "" : "trace", ending);
}

bool export_is_of_one_rank(str form) {
    return str_eq(form, STR("chakra"));
}

bool export_takes_table(str form) {
    return str_eq(form, STR("arrow"));
}

/* ---- the way out ------------------------------------------------------------------------- */

static status fail_write(error *err, int reason) {
    if (reason == ENOMEM) FAIL_MEMORY(err);
    FAIL(err, ERR_IO, NOPOS, MSG_EXPORT_WRITE, arg_cstr("reason", strerror(reason)));
}

status export_drain(export_ctx *x) {
    if (!buf_ok(&x->out)) FAIL_MEMORY(x->err);
    const char *p = x->out.p;
    size_t n = x->out.n;
    while (n > 0) {
        if (fault_point(FAULT_WRITE)) return fail_write(x->err, ENOSPC);
        ssize_t done = write(x->fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_write(x->err, done < 0 ? errno : ENOSPC);
        p += done;
        n -= (size_t)done;
    }
    buf_clear(&x->out);
    return OK;
}

status export_flush(export_ctx *x) {
    return x->out.n < 1 << 18 && buf_ok(&x->out) ? OK : export_drain(x);
}

/* ---- the window -------------------------------------------------------------------------- */

bool export_clip(const export_ctx *x, uint32_t slice, int64_t *start_ns, int64_t *end_ns) {
    int64_t start = x->t->slice.start[slice], end = trace_slice_end(x->t, slice);
    if (start >= x->to_ns || (end <= x->from_ns && start < x->from_ns)) return false;
    *start_ns = max_i64(start, x->from_ns);
    *end_ns = min_i64(end, x->to_ns);
    return true;
}

/* ---- processes --------------------------------------------------------------------------- */

/* The first row of a process that is a device's or the profiler's own decides. */
static status find_roles(const trace *t, uint8_t **out, error *err) {
    uint8_t *roles = mem_zalloc((size_t)t->process.n + 1);
    if (!roles) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->track.n; i++) {
        uint32_t process = t->track.process[i];
        int64_t pid = t->process.pid[process];
        if (roles[process] != ROLE_HOST) continue;
        if (t->track.kind[i] == TRACK_STREAM &&
            (pid == ABSENT_I64 || pid == t->track.device[i]))
            roles[process] = ROLE_DEVICE;
        else if (t->track.kind[i] == TRACK_SPAN)
            roles[process] = ROLE_SPANS;
    }
    *out = roles;
    return OK;
}

/* ---- forms ------------------------------------------------------------------------------- */

static status find_form(const export_options *o, uint32_t *out, error *err) {
    for (uint32_t i = 0; i < N_FORMS; i++) {
        if (!str_eq(o->form, str_of(FORMS[i].name))) continue;
        *out = i;
        return OK;
    }
    name_hint hint = hint_for(o->form);
    for (uint32_t i = 0; i < N_FORMS; i++) hint_offer(&hint, str_of(FORMS[i].name));
    FAIL(err, ERR_ARG, NOPOS, MSG_EXPORT_UNKNOWN, arg_text("name", o->form), HINT_ARGS(&hint));
}

status export_trace(const trace *t, const export_options *o, int fd, error *err) {
    uint32_t form = 0;
    TRY(find_form(o, &form, err));
    time_window w = window_at(o->window ? *o->window : WINDOW_OPEN, t->start_ns);
    export_ctx x = {.t = t,
                    .from_ns = w.from_ns,
                    .to_ns = w.to_ns,
                    .fd = fd,
                    .err = err,
                    .value = o->value,
                    .shortened = o->shortened,
                    .table = o->table,
                    .picture = o->picture};
    if (!FORMS[form].windowed && !export_is_whole(&x))
        FAIL(err, ERR_ARG, NOPOS, MSG_EXPORT_WHOLE, arg_cstr("name", FORMS[form].name));
    if (!FORMS[form].valued && o->value != EXPORT_VALUE_NONE)
        FAIL(err, ERR_ARG, NOPOS, MSG_EXPORT_NO_VALUE, arg_cstr("name", FORMS[form].name));
    if (o->table.n && !export_takes_table(o->form))
        FAIL(err, ERR_ARG, NOPOS, MSG_EXPORT_NO_TABLES, arg_cstr("name", FORMS[form].name));
    TRY(trace_require(t, TRACE_ALL, err));
    TRY(find_roles(t, &x.roles, err));
    status s = args_reader_new(t, &x.args, err);
    if (s == OK) s = FORMS[form].write(&x);
    if (s == OK) s = export_drain(&x);
    args_reader_free(x.args);
    mem_free(x.roles);
    buf_fini(&x.out);
    return s;
}

/* ---- names ------------------------------------------------------------------------------- */

static status write_whole(const trace *t, const export_options *o, const char *path,
                          error *err) {
    whole_file f;
    if (!whole_file_begin(&f, path)) return fail_write(err, errno);
    status s = export_trace(t, o, f.fd, err);
    if (s == OK && fault_point(FAULT_WRITE)) s = fail_write(err, EACCES);
    if (s != OK)
        whole_file_drop(&f);
    else if (!whole_file_end(&f))
        s = fail_write(err, errno);
    return s;
}

static status write_directly(const trace *t, const export_options *o, const char *path,
                             error *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return fail_write(err, errno);
    status s = export_trace(t, o, fd, err);
    if (close(fd) != 0 && s == OK) s = fail_write(err, errno);
    return s;
}

status export_file(const trace *t, const export_options *o, const char *path, error *err) {
    struct stat st;
    if (strcmp(path, "-") == 0) return export_trace(t, o, STDOUT_FILENO, err);
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    status s = special ? write_directly(t, o, path, err) : write_whole(t, o, path, err);
    if (s == ERR_IO) error_add_file(err, str_of(path));
    return s;
}
