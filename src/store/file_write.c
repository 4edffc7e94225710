/* file_write.c: writes a trace as one file.
 *
 * The table of contents comes first and holds the checksums, so the columns are read twice:
 * once to hash them, once to write them. In return the file is written from front to back,
 * which also works into a pipe, and a reader can open it without seeking to its end.
 *
 * A file gets its name only when it is whole: bytes go to a temporary name next to it, are
 * synced, and the name is moved over. On any failure the temporary file is gone and the file
 * that was at the path before is unchanged. The trace is not changed. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "store/file.h"
#include "store/file_int.h"

typedef struct {
    int fd;
    const char *path; /* for messages; NULL: the caller adds it */
    error *err;
} writer;

static status fail_write(const writer *w, int reason) {
    if (!w->path) /* who opened it knows its name, and adds it */
        FAIL(w->err, ERR_IO, NOPOS, MSG_EXPORT_WRITE, arg_cstr("reason", strerror(reason)));
    FAIL(w->err, ERR_IO, NOPOS, MSG_FILE_WRITE, arg_cstr("path", w->path),
         arg_cstr("reason", strerror(reason)));
}

/* At most 8 MiB a call: a signal or a full disk is noticed soon. */
static status put_bytes(const writer *w, const void *p, size_t n) {
    const char *at = p;
    while (n > 0) {
        if (fault_point(FAULT_WRITE)) return fail_write(w, ENOSPC);
        ssize_t done = write(w->fd, at, n < 8 << 20 ? n : 8 << 20);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail_write(w, done < 0 ? errno : ENOSPC);
        at += done;
        n -= (size_t)done;
    }
    return OK;
}

/* ---- contents ---------------------------------------------------------------------------- */

static const uint64_t ZEROS[2]; /* null row of an empty table, offsets of no strings */

static const void *or_zeros(const void *p) {
    return p ? p : ZEROS;
}

/* Where the bytes of a section are; fills type, element size and rows. */
static const void *view_section(const trace *t, int section, file_section *s) {
    section_info info = section_describe(section);
    memcpy(s->name, info.name, sizeof s->name);
    s->type = info.type;
    s->elem_bytes = info.elem_bytes;
    switch (section) {
    case SECTION_STRING_OFFSET:
        s->rows = t->n_strings ? (uint64_t)t->n_strings + 1 : 2;
        return t->n_strings ? t->string_offset : ZEROS;
    case SECTION_STRING_BYTES:
        s->rows = t->n_strings ? t->string_offset[t->n_strings] : 0;
        return or_zeros(t->string_bytes);
    case SECTION_ARG_BLOCK:
        s->rows = (uint64_t)t->n_arg_blocks + 1;
        return t->n_arg_blocks ? t->arg_block : ZEROS;
    case SECTION_ARG_BYTES:
        s->rows = t->n_arg_blocks ? t->arg_block[t->n_arg_blocks] : 0;
        return or_zeros(t->arg_bytes);
    case SECTION_SHAPE_PARENT: s->rows = t->n_shapes; return or_zeros(t->shape_parent);
    case SECTION_SHAPE_KEY: s->rows = t->n_shapes; return or_zeros(t->shape_key);
    default: {
        uint32_t n = trace_rows(t, COLUMN_INFO[section].table);
        const void *p = trace_column(t, section);
        if (n && !p) BUG("a table has rows but a column of it has no memory");
        s->rows = n ? n : 1;
        return n ? p : ZEROS;
    }
    }
}

static uint64_t find_maximum(const file_section *s, const void *p) {
    uint32_t m = 0;
    if (s->type != TYPE_STR && s->type != TYPE_REF && s->type != TYPE_U32) return 0;
    for (uint64_t i = 0; i < s->rows; i++) {
        uint32_t v = ((const uint32_t *)p)[i];
        m = v > m ? v : m;
    }
    return m;
}

static uint64_t align_up(uint64_t n) {
    return (n + FILE_ALIGN - 1) / FILE_ALIGN * FILE_ALIGN;
}

static void fill_header(const trace *t, str key, file_header *h) {
    memcpy(h->magic, FILE_MAGIC, sizeof h->magic);
    h->version = FILE_VERSION;
    h->profile = FILE_PROFILE_TRACE;
    h->n_sections = N_SECTIONS;
    h->key_bytes = (uint32_t)key.n;
    h->start_ns = t->start_ns;
    h->end_ns = t->end_ns;
    h->base_unix_ns = t->base_unix_ns;
    h->events_read = t->events_read;
    h->events_dropped = t->events_dropped;
    h->input_bytes = t->input_bytes;
    size_t n = t->format.n < FILE_FORMAT_BYTES - 1 ? t->format.n : FILE_FORMAT_BYTES - 1;
    if (n) memcpy(h->format, t->format.p, n);
    for (uint32_t i = 1; i < t->slice.n; i++)
        h->kind_count[t->slice.kind[i] % FILE_MAX_KINDS]++;
}

/* Header, table of contents and key in one block of *bytes, zero padded. NULL: out of
 * memory. */
static char *make_head(const trace *t, str key, size_t *bytes) {
    size_t used = sizeof(file_header) + N_SECTIONS * sizeof(file_section) + key.n;
    *bytes = (size_t)align_up(used);
    char *head = mem_zalloc(*bytes);
    if (!head) return NULL;
    file_header *h = (file_header *)head;
    fill_header(t, key, h);
    h->header_bytes = *bytes;
    uint64_t at = *bytes;
    file_section *toc = (file_section *)(head + sizeof *h);
    for (int i = 0; i < N_SECTIONS; i++) {
        const void *p = view_section(t, i, &toc[i]);
        toc[i].offset = at;
        toc[i].size_bytes = toc[i].rows * toc[i].elem_bytes;
        toc[i].checksum = hash_bytes64(p, (size_t)toc[i].size_bytes);
        toc[i].maximum = find_maximum(&toc[i], p);
        at = align_up(at + toc[i].size_bytes);
    }
    h->file_bytes = at;
    if (key.n) memcpy(head + used - key.n, key.p, key.n);
    size_t start = offsetof(file_header, checksum) + sizeof h->checksum;
    h->checksum = hash_bytes64(head + start, *bytes - start);
    return head;
}

static status put_sections(const writer *w, const trace *t, const file_section *toc) {
    static const char padding[FILE_ALIGN];
    for (int i = 0; i < N_SECTIONS; i++) {
        file_section s;
        const void *p = view_section(t, i, &s);
        size_t n = (size_t)toc[i].size_bytes;
        TRY(put_bytes(w, p, n));
        TRY(put_bytes(w, padding, (size_t)align_up(n) - n));
    }
    return OK;
}

static status put_trace(const writer *w, const trace *t, str key) {
    TRY(trace_require(t, TRACE_ALL | TRACE_ARGUMENTS, w->err));
    if (key.n > FILE_MAX_KEY) return fail_write(w, ENAMETOOLONG);
    size_t bytes;
    char *head = make_head(t, key, &bytes);
    if (!head) FAIL_MEMORY(w->err);
    status s = put_bytes(w, head, bytes);
    if (s == OK) s = put_sections(w, t, (const file_section *)(head + sizeof(file_header)));
    mem_free(head);
    return s;
}

/* ---- names ------------------------------------------------------------------------------- */

status file_write_fd(const trace *t, int fd, str key, error *err) {
    writer w = {.fd = fd, .err = err};
    return put_trace(&w, t, key);
}

/* What is to be written: a trace, or bytes as they are. */
typedef struct {
    const trace *trace;
    str key, bytes;
} content;

static status put_content(const writer *w, const content *c) {
    return c->trace ? put_trace(w, c->trace, c->key) : put_bytes(w, c->bytes.p, c->bytes.n);
}

static status write_and_rename(writer *w, const content *c, const char *temporary) {
    w->fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (w->fd < 0) return fail_write(w, errno);
    temporary_hold(w->fd);
    status s = put_content(w, c);
    if (s == OK && fault_point(FAULT_WRITE)) s = fail_write(w, ENOSPC);
    if (s == OK && fsync(w->fd) != 0) s = fail_write(w, errno);
    if (close(w->fd) != 0 && s == OK) s = fail_write(w, errno);
    if (s == OK && fault_point(FAULT_WRITE)) s = fail_write(w, EACCES);
    if (s == OK && rename(temporary, w->path) != 0) s = fail_write(w, errno);
    if (s != OK) unlink(temporary);
    return s;
}

static status write_content(const content *c, const char *path, error *err) {
    /* Two threads or processes may write the same cache entry: each has its own name. */
    static _Atomic uint32_t counter;
    size_t n = strlen(path) + 48;
    char *temporary = mem_alloc(n);
    if (!temporary) FAIL_MEMORY(err);
    snprintf(temporary, n, "%s.%ld.%u.tmp", path, (long)getpid(),
             atomic_fetch_add(&counter, 1));
    writer w = {.fd = -1, .path = path, .err = err};
    status s = write_and_rename(&w, c, temporary);
    mem_free(temporary);
    return s;
}

status file_write(const trace *t, const char *path, str key, error *err) {
    return write_content(&(content){.trace = t, .key = key}, path, err);
}

status file_replace(const char *path, str bytes, error *err) {
    return write_content(&(content){.bytes = bytes}, path, err);
}
