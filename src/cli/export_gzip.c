/* export_gzip.c: an export through gzip into a file.
 *
 * The export writes into a pipe, a thread compresses what comes out of it: neither waits for
 * the whole, and neither knows the other. A file appears under its name when it is whole. */
#include "cli/export_gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "base/whole_file.h"
#include "io/gzip.h"

typedef struct {
    int from, to;
    status result;
    error err;
} gzip_ctx;

static void *pack(void *context) {
    gzip_ctx *p = context;
    p->result = gzip_copy(p->from, p->to, &p->err);
    close(p->from); /* a writer that continues meets a closed pipe */
    return NULL;
}

static status fail_system(error *err, const char *path) {
    if (errno == ENOMEM) FAIL_MEMORY(err);
    FAIL(err, ERR_IO, NOPOS, MSG_CLI_CANNOT_WRITE, arg_cstr("path", path),
         arg_cstr("reason", strerror(errno)));
}

static status pack_into(const trace *t, const export_options *o, int to, error *err) {
    int ends[2];
    pthread_t thread;
    gzip_ctx p = {.to = to};
    if (pipe2(ends, O_CLOEXEC) != 0) return fail_system(err, "pipe");
    p.from = ends[0];
    if (pthread_create(&thread, NULL, pack, &p) != 0) {
        close(ends[0]);
        close(ends[1]);
        FAIL_MEMORY(err);
    }
    status st = export_trace(t, o, ends[1], err);
    close(ends[1]);
    pthread_join(thread, NULL);
    if (p.result == OK) return st;
    if (err) error_copy(err, &p.err); /* the pipe broke because of it */
    return p.result;
}

status export_gzip(const trace *t, const export_options *o, const char *path, error *err) {
    whole_file f;
    if (!whole_file_begin(&f, path)) return fail_system(err, path);
    status st = pack_into(t, o, f.fd, err);
    if (st != OK)
        whole_file_drop(&f);
    else if (!whole_file_end(&f))
        st = fail_system(err, path);
    return st;
}
