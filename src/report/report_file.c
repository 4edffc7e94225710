/* report_file.c: the HTML around the parts.
 *
 *     policy      no network at all; scripts are those with the nonce of this file, and
 *                 blob: URLs, which the modules of the page become
 *     parts       the page's files, the answers, the index
 *     report.js   unpacks the page and starts it (web/src/report.ts)
 *
 * The nonce is a hash of the answers: the same report has the same bytes. Its size is known
 * before the first byte is written. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/message_ids_cli.h"
#include "base/whole_file.h"
#include "io/gzip.h"
#include "report/report_int.h"
#include "serve/page.h"

/* The file's own name, without the folder it is served from. */
static const char *file_name(const page_file *f) {
    const char *slash = strrchr(f->path, '/');
    return slash ? slash + 1 : f->path;
}

static bool is_for_report(const page_file *f) {
    str name = str_of(file_name(f));
    if (str_eq(name, STR("report.js"))) return false; /* is there as it is */
    return str_ends(name, STR(".js")) || str_ends(name, STR(".css"));
}

static const page_file *find_starter(void) {
    const page_file *f;
    for (uint64_t i = 0; (f = page_at(i)) != NULL; i++)
        if (strcmp(file_name(f), "report.js") == 0) return f;
    return NULL;
}

uint64_t report_page_bytes(void) {
    const page_file *f, *starter = find_starter();
    uint64_t n = starter ? starter->plain.n : 0;
    for (uint64_t i = 0; (f = page_at(i)) != NULL; i++)
        if (is_for_report(f)) n += f->gzip.n * 4 / 3 + 64;
    return n;
}

/* ---- the index --------------------------------------------------------------------------- */

static void put_words(buf *b, const char *key, uint16_t message) {
    buf_printf(b, ",\"%s\":{", key);
    for (int l = 0; l < N_LANGS; l++) {
        buf_printf(b, "%s\"%s\":", l ? "," : "", lang_name((lang)l));
        buf_add_json(b, str_of(text_get(message, (lang)l)));
    }
    buf_add_byte(b, '}');
}

static void put_index(const report *r, buf *b) {
    const report_run *first = &r->runs[0];
    step_range d = r->o->detail;
    buf_add_cstr(b, "{\"tacho\":");
    buf_add_json(b, STR(TACHO_VERSION));
    buf_add_cstr(b, ",\"run\":");
    buf_add_json(b, first->name);
    buf_add_cstr(b, ",\"other\":");
    buf_add_json(b, r->n_runs > 1 ? r->runs[1].name : STR(""));
    buf_add_cstr(b, ",\"workers\":{");
    for (uint32_t i = 0; i < r->n_runs; i++) {
        if (i) buf_add_byte(b, ',');
        buf_add_json(b, r->runs[i].name);
        buf_add_cstr(b, ":[");
        for (uint32_t w = 0; w < r->runs[i].n_workers; w++) {
            if (w) buf_add_byte(b, ',');
            buf_add_json(b, r->runs[i].workers[w]);
        }
        buf_add_byte(b, ']');
    }
    buf_add_byte(b, '}');
    if (!steps_are_all(d) && r->store.n_slices)
        buf_printf(b, ",\"detail\":[%lld,%lld]", (long long)d.first, (long long)d.last);
    put_words(b, "not_inside", MSG_REPORT_NOT_INSIDE);
    buf_printf(b, ",\"answers\":{%.*s},\"tiles\":[%.*s],\"slices\":[%.*s]}",
               STR_ARG(buf_str(&r->store.index)), STR_ARG(buf_str(&r->store.tiles)),
               STR_ARG(buf_str(&r->store.slices)));
    if (!buf_ok(&r->store.index) || !buf_ok(&r->store.tiles) || !buf_ok(&r->store.slices))
        b->failed = true;
}

static status put_packed_index(const report *r, buf *out, error *err) {
    buf index = {0}, packed = {0};
    put_index(r, &index);
    status st = buf_ok(&index) ? gzip_pack(buf_str(&index), &packed, err)
                               : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) report_put_part(out, "index", buf_str(&packed));
    buf_fini(&packed);
    buf_fini(&index);
    return st;
}

/* ---- the page ---------------------------------------------------------------------------- */

static void put_head(const report *r, buf *b, const char *nonce) {
    buf_add_cstr(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    buf_printf(b,
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "script-src 'nonce-%s' blob:; style-src 'nonce-%s'; img-src data: blob:; "
               "base-uri 'none'; form-action 'none'\">\n",
               nonce, nonce);
    buf_add_cstr(b, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    for (uint32_t i = 0; i < r->n_runs; i++) {
        if (i) buf_add_cstr(b, " – ");
        report_put_html(b, r->runs[i].name);
    }
    buf_add_cstr(b, " · tacho</title>\n<link rel=\"icon\" href=\"data:,\">\n</head>\n<body>\n"
                    "<div id=\"page\"><p>");
    for (int l = 0; l < N_LANGS; l++) {
        if (l) buf_add_cstr(b, "<br>");
        report_put_html(b, str_of(text_get(MSG_REPORT_OLD_BROWSER, (lang)l)));
    }
    buf_add_cstr(b, "</p></div>\n");
}

static status put_tail(const report *r, buf *b, const char *nonce, error *err) {
    const page_file *f, *starter = find_starter();
    if (!starter) BUG("the page has no report.js");
    TRY(put_packed_index(r, b, err));
    for (uint64_t i = 0; (f = page_at(i)) != NULL; i++)
        if (is_for_report(f)) report_put_part(b, file_name(f), str_n(f->gzip.bytes, f->gzip.n));
    buf_printf(b, "<script nonce=\"%s\">", nonce);
    buf_add(b, starter->plain.bytes, starter->plain.n);
    buf_add_cstr(b, "</script>\n</body>\n</html>\n");
    if (!buf_ok(b)) FAIL_MEMORY(err);
    return OK;
}

/* ---- the way out ------------------------------------------------------------------------- */

static status fail_write(const report *r, int reason, error *err) {
    if (reason == ENOMEM) FAIL_MEMORY(err);
    FAIL(err, ERR_IO, NOPOS, MSG_CLI_CANNOT_WRITE, arg_cstr("path", r->o->output),
         arg_cstr("reason", strerror(reason)));
}

static status write_all(const report *r, int fd, str bytes, error *err) {
    while (bytes.n) {
        if (fault_point(FAULT_WRITE)) return fail_write(r, ENOSPC, err);
        ssize_t done = write(fd, bytes.p, bytes.n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_write(r, done < 0 ? errno : ENOSPC, err);
        bytes = str_from(bytes, (size_t)done);
    }
    return OK;
}

static status write_pieces(const report *r, int fd, const str pieces[3], error *err) {
    for (int i = 0; i < 3; i++) TRY(write_all(r, fd, pieces[i], err));
    return OK;
}

static status write_whole(const report *r, const str pieces[3], error *err) {
    whole_file f;
    if (!whole_file_begin(&f, r->o->output)) return fail_write(r, errno, err);
    status st = write_pieces(r, f.fd, pieces, err);
    if (st != OK)
        whole_file_drop(&f);
    else if (!whole_file_end(&f))
        st = fail_write(r, errno, err);
    return st;
}

static status write_file(const report *r, const str pieces[3], error *err) {
    struct stat there;
    if (strcmp(r->o->output, "-") == 0) return write_pieces(r, STDOUT_FILENO, pieces, err);
    if (stat(r->o->output, &there) == 0 && S_ISDIR(there.st_mode))
        return fail_write(r, EISDIR, err);
    if (stat(r->o->output, &there) != 0 || S_ISREG(there.st_mode))
        return write_whole(r, pieces, err);
    int fd = open(r->o->output, O_WRONLY | O_CLOEXEC); /* a device, a pipe */
    if (fd < 0) return fail_write(r, errno, err);
    status st = write_pieces(r, fd, pieces, err);
    if (close(fd) != 0 && st == OK) st = fail_write(r, errno, err);
    return st;
}

status report_file(report *r, uint64_t *bytes, error *err) {
    buf head = {0}, tail = {0};
    char nonce[24];
    snprintf(nonce, sizeof nonce, "%016llx",
             (unsigned long long)hash_bytes64(r->store.parts.p, r->store.parts.n));
    put_head(r, &head, nonce);
    status st = put_tail(r, &tail, nonce, err);
    if (st == OK && !buf_ok(&head))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    const str pieces[3] = {buf_str(&head), buf_str(&r->store.parts), buf_str(&tail)};
    if (st == OK) st = write_file(r, pieces, err);
    *bytes = head.n + r->store.parts.n + tail.n;
    buf_fini(&head);
    buf_fini(&tail);
    return st;
}
