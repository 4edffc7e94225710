/* api_export.c: a trace, or a window of it, as a file to save.
 *
 * The file is written whole to a nameless file first: a failure is then an answer and not a
 * broken download, and no thread waits for a slow reader. It is in TMPDIR, otherwise in
 * /var/tmp, which is on a disk where /tmp may be memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/message_ids_http.h"
#include "base/num.h"
#include "export/export.h"
#include "serve/service.h"

/* Clients that do not read what they asked for would fill the disk: so many, and none begins
 * while others hold so much of it. One alone may be of any size. */
enum { MOST_EXPORTS = 8, MOST_EXPORT_BYTES = 1 << 30 };

static int open_nameless(void) {
    const char *set = getenv("TMPDIR");
    const char *folders[] = {set && set[0] ? set : "/var/tmp", "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        int fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd >= 0) return fd;
        char name[512];
        int n = snprintf(name, sizeof name, "%s/tacho-XXXXXX", folders[i]);
        if (n < 0 || (size_t)n >= sizeof name) continue;
        fd = mkostemp(name, O_CLOEXEC);
        if (fd < 0) continue;
        unlink(name);
        return fd;
    }
    return -1;
}

static status check_form(str form, error *err) {
    buf names = {0};
    const char *name;
    for (uint32_t i = 0; (name = export_form_name(i)) != NULL; i++) {
        if (str_eq(str_of(name), form)) {
            buf_fini(&names);
            return OK;
        }
        if (i != 0) buf_add_byte(&names, '|');
        buf_add_cstr(&names, name);
    }
    buf_add_byte(&names, '\0');
    (void)value_fail(VALUE_CHOICE, names.p ? names.p : "", &(spelling){STR("form"), "="}, form,
                     err);
    buf_fini(&names);
    return ERR_ARG;
}

status route_export(request_ctx *x, error *err) {
    const request *q = &x->request;
    reply *r = &x->reply;
    struct stat st;
    TRY(check_form(q->form, err));
    r->exports = true;
    if (atomic_fetch_add(&x->service->n_exports, 1) >= MOST_EXPORTS ||
        atomic_load(&x->service->export_bytes) >= MOST_EXPORT_BYTES)
        FAIL0(err, ERR_LIMIT, NOPOS, MSG_HTTP_BUSY);
    r->fd = open_nameless();
    if (r->fd < 0)
        FAIL(err, ERR_IO, NOPOS, MSG_CLI_CANNOT_WRITE, arg_cstr("path", "TMPDIR"),
             arg_cstr("reason", strerror(errno)));
    const time_window window = {q->question.from, q->question.to};
    picture_options picture = {
        .words = q->words, .title = x->traces[0].run, .lod = request_lod(x)};
    if (q->width > 0) picture.width_px = sat_u32((uint64_t)q->width);
    export_options how = {.form = q->form, .window = &window, .picture = &picture};
    TRY(export_trace(x->traces[0].trace, &how, r->fd, err));
    if (fstat(r->fd, &st) != 0)
        FAIL(err, ERR_IO, NOPOS, MSG_CLI_CANNOT_WRITE, arg_cstr("path", "TMPDIR"),
             arg_cstr("reason", strerror(errno)));
    r->fd_bytes = (uint64_t)st.st_size;
    atomic_fetch_add(&x->service->export_bytes, r->fd_bytes);
    r->media = str_eq(q->form, STR("chrome")) || str_eq(q->form, STR("speedscope"))
                   ? "application/json"
               : str_eq(q->form, STR("svg")) ? "image/svg+xml"
                                             : "application/octet-stream";
    export_name_file(x->traces[0].worker, q->form, r->name);
    return OK;
}
