/* file.c: reads a sealed trace file and makes a trace of it.
 *
 * The columns lie in the file as they lie in memory, so opening is: reserve as much room as the
 * file is long, read header and table of contents, compare the size with the header, verify the
 * checksum, compare every section's place and length with the file, set pointers. The sections
 * themselves are read to their places when they are checked (file_check.c), the small tables at
 * once, the large ones before their first use: opening takes about the same time for any size
 * of trace. Only the strings are always read.
 *
 * What was checked is our own copy. A map of the file would be what anybody makes of the file
 * afterwards: ids that point nowhere when it is written to, SIGBUS when it is cut. The copy has
 * its price: a question that needs all of a file of 1 GB takes about a second longer.
 *
 * Sections are found by name. One that this program does not know is ignored, one that the file
 * does not have (it is older than the column) becomes a column of absent values, so that a file
 * of version 1 can be read for ever. */
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/args.h"
#include "store/file_int.h"
#include "store/summary.h"

enum { SMALL_FILE_BYTES = 1 << 20 };

section_info section_describe(int section) {
    static const struct {
        const char *name;
        uint8_t type, elem_bytes;
    } others[] = {
        {"string.offset", TYPE_U64, 8},  {"string.bytes", TYPE_U8, 1},
        {"argument.block", TYPE_U64, 8}, {"argument.bytes", TYPE_U8, 1},
        {"shape.parent", TYPE_U32, 4},   {"shape.key", TYPE_STR, 4},
    };
    section_info info = {.name = ""};
    if (section < N_COLUMNS) {
        const column_info *c = &COLUMN_INFO[section];
        snprintf(info.name, sizeof info.name, "%s.%s", c->table_name, c->name);
        info.type = c->type;
        info.elem_bytes = (uint8_t)c->elem_bytes;
    } else {
        int i = section - N_COLUMNS;
        snprintf(info.name, sizeof info.name, "%s", others[i].name);
        info.type = others[i].type;
        info.elem_bytes = others[i].elem_bytes;
    }
    return info;
}

bool section_is_named(const char *in_file, const char *name) {
    static const char NOW[] = "producer_",
                      BEFORE[] = "given_"; /* written until November 2026 */
    if (strcmp(in_file, name) == 0) return true;
    return strncmp(name, NOW, sizeof NOW - 1) == 0 &&
           strncmp(in_file, BEFORE, sizeof BEFORE - 1) == 0 &&
           strcmp(in_file + sizeof BEFORE - 1, name + sizeof NOW - 1) == 0;
}

bool file_is_ours(str head) {
    return str_starts(head, STR(FILE_MAGIC));
}

status file_damaged(const open_file *f, const char *where, error *err) {
    FAIL(err, ERR_FORMAT, NOPOS, MSG_FILE_DAMAGED, arg_cstr("path", f->path),
         arg_cstr("where", where));
}

/* ---- reading ----------------------------------------------------------------------------- */

static void close_file(void *p, size_t bytes) {
    open_file *f = p;
    (void)bytes;
    if (f->fd >= 0) close(f->fd);
    mem_unmap((void *)(uintptr_t)f->copy, f->file_bytes);
    pthread_mutex_destroy(&f->lock);
    mem_free(f->path);
    mem_free(f);
}

static open_file *new_file(const char *path) {
    open_file *f = mem_zalloc(sizeof *f);
    size_t n = strlen(path) + 1;
    char *copy = f ? mem_alloc(n) : NULL;
    if (!copy) {
        mem_free(f);
        return NULL;
    }
    memcpy(copy, path, n);
    f->path = copy;
    f->fd = -1;
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

static status fail_read(const open_file *f, int reason, error *err) {
    status code = reason == ENOENT ? ERR_NOT_FOUND : reason == ENOMEM ? ERR_MEMORY : ERR_IO;
    FAIL(err, code, NOPOS, MSG_FILE_READ, arg_cstr("path", f->path),
         arg_cstr("reason", strerror(reason)));
}

static status fail_cut(const open_file *f, uint64_t size, uint64_t expected, error *err) {
    FAIL(err, ERR_FORMAT, size, MSG_FILE_CUT, arg_cstr("path", f->path),
         arg_bytes("size", (int64_t)(size & INT64_MAX)),
         arg_bytes("expected", (int64_t)(expected & INT64_MAX)));
}

/* These bytes of the file into the copy. */
static status read_part(open_file *f, uint64_t from, uint64_t n, error *err) {
    if (n > 0 && fault_point(FAULT_READ)) return fail_read(f, EIO, err);
    char *copy = (char *)(uintptr_t)f->copy; /* the trace sees it as const */
    mem_enlarge(copy + from, (size_t)n);
    for (uint64_t at = from, end = from + n; at < end;) {
        ssize_t got = pread(f->fd, copy + at, (size_t)(end - at), (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_read(f, errno, err);
        if (got == 0) return fail_cut(f, at, f->file_bytes, err);
        at += (uint64_t)got;
    }
    return OK;
}

status file_read_section(open_file *f, int section, error *err) {
    const file_section *s = f->toc[section];
    if (!s || f->has[section]) return OK;
    TRY(read_part(f, s->offset, s->size_bytes, err));
    f->has[section] = true;
    return OK;
}

void file_close_when_read(open_file *f) {
    for (int s = 0; s < N_SECTIONS; s++)
        if (f->toc[s] && !f->has[s]) return;
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

/* The smallest file of ours is one header. */
static status open_descriptor(open_file *f, error *err) {
    if (fault_point(FAULT_READ)) return fail_read(f, EIO, err);
    struct stat st;
    if (f->fd < 0) f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &st) != 0) return fail_read(f, errno, err);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(file_header))
        FAIL(err, ERR_FORMAT, NOPOS, MSG_FILE_NOT_TACHO, arg_cstr("path", f->path));
    f->copy = mem_reserve((size_t)st.st_size);
    if (!f->copy) FAIL_MEMORY(err);
    f->file_bytes = (size_t)st.st_size;
    return OK;
}

/* A small file is read at once: hundreds of calls for a few bytes each cost more. */
static status read_small(open_file *f, error *err) {
    if (f->file_bytes > SMALL_FILE_BYTES) return OK;
    TRY(read_part(f, 0, f->file_bytes, err));
    for (int s = 0; s < N_SECTIONS; s++) f->has[s] = true;
    return OK;
}

/* The header, and what it says belongs to it; whether that can be is asked afterwards. */
static status read_header(open_file *f, error *err) {
    const file_header *h = (const file_header *)f->copy;
    if (f->has[0]) return OK; /* and everything else */
    TRY(read_part(f, 0, sizeof *h, err));
    uint64_t more = h->header_bytes > sizeof *h ? h->header_bytes - sizeof *h : 0;
    if (memcmp(h->magic, FILE_MAGIC, sizeof h->magic) != 0 || more > f->file_bytes - sizeof *h)
        return OK;
    return read_part(f, sizeof *h, more, err);
}

/* ---- header and table of contents -------------------------------------------------------- */

status file_check_header(const open_file *f, error *err) {
    const file_header *h = (const file_header *)f->copy;
    arg path = arg_cstr("path", f->path);
    if (memcmp(h->magic, FILE_MAGIC, sizeof h->magic) != 0)
        FAIL(err, ERR_FORMAT, 0, MSG_FILE_NOT_TACHO, path);
    if (h->version < 1 || h->version > FILE_VERSION)
        FAIL(err, ERR_FORMAT, 8, MSG_FILE_VERSION, path, arg_int("version", h->version),
             arg_int("known", FILE_VERSION));
    if (h->profile != FILE_PROFILE_TRACE && h->profile != FILE_PROFILE_SUMMARY)
        FAIL(err, ERR_FORMAT, 12, MSG_FILE_PROFILE, path, arg_int("profile", h->profile));
    if (h->file_bytes != f->file_bytes) return fail_cut(f, f->file_bytes, h->file_bytes, err);
    if (h->n_sections > FILE_MAX_SECTIONS || h->key_bytes > FILE_MAX_KEY)
        return file_damaged(f, "header", err);
    uint64_t needed = sizeof *h + h->n_sections * sizeof(file_section) + h->key_bytes;
    if (h->header_bytes < needed || h->header_bytes - needed >= FILE_ALIGN ||
        h->header_bytes > f->file_bytes || h->format[FILE_FORMAT_BYTES - 1] != 0)
        return file_damaged(f, "header", err);
    /* Covers all after its own field; what comes before it was compared with what it must
     * be. */
    size_t at = offsetof(file_header, checksum) + sizeof h->checksum;
    uint64_t sum = hash_bytes64((const char *)h + at, (size_t)h->header_bytes - at);
    if (sum != h->checksum) return file_damaged(f, "header", err);
    return OK;
}

/* Place, length and element size of one section, before anything of it is touched. */
status file_check_section(const open_file *f, const file_section *s, error *err) {
    const file_header *h = (const file_header *)f->copy;
    if (memchr(s->name, 0, sizeof s->name) == NULL) return file_damaged(f, "header", err);
    if (s->offset % FILE_ALIGN != 0 || s->offset < h->header_bytes ||
        s->offset > f->file_bytes || s->size_bytes > f->file_bytes - s->offset ||
        s->elem_bytes == 0 || s->elem_bytes > 8 || s->rows != s->size_bytes / s->elem_bytes ||
        s->size_bytes % s->elem_bytes != 0)
        return file_damaged(f, s->name, err);
    return OK;
}

static status read_contents(open_file *f, error *err) {
    const file_header *h = (const file_header *)f->copy;
    const file_section *toc = (const file_section *)(f->copy + sizeof *h);
    for (uint32_t i = 0; i < h->n_sections; i++) TRY(file_check_section(f, &toc[i], err));
    uint32_t next = 0; /* the writer's order is ours: the search is one step for each section */
    for (int s = 0; s < N_SECTIONS; s++) {
        section_info info = section_describe(s);
        for (uint32_t k = 0; k < h->n_sections; k++, next++) {
            if (next == h->n_sections) next = 0;
            if (!section_is_named(toc[next].name, info.name)) continue;
            if (toc[next].type != info.type || toc[next].elem_bytes != info.elem_bytes)
                return file_damaged(f, info.name, err);
            f->toc[s] = &toc[next++];
            break;
        }
        if (next >= h->n_sections) next = 0;
    }
    return OK;
}

/* ---- the trace --------------------------------------------------------------------------- */

/* A column the file does not have: absent numbers, no string, no row. */
static status add_absent_column(trace *t, int column, uint32_t rows, error *err) {
    const column_info *c = &COLUMN_INFO[column];
    size_t bytes = (size_t)rows * c->elem_bytes;
    void *p = mem_map(bytes);
    if (!p) FAIL_MEMORY(err);
    trace_own_map(t, p, bytes);
    for (uint32_t i = 0; i < rows && c->type == TYPE_I64; i++) ((int64_t *)p)[i] = ABSENT_I64;
    for (uint32_t i = 0; i < rows && c->type == TYPE_I32; i++) ((int32_t *)p)[i] = ABSENT_I32;
    for (uint32_t i = 0; i < rows && c->type == TYPE_F64; i++) ((double *)p)[i] = (double)NAN;
    *trace_column_slot(t, column) = p;
    return OK;
}

static status set_table(const open_file *f, trace *t, int table, error *err) {
    const table_info *info = &TABLE_INFO[table];
    uint64_t rows = 1; /* the null row, when the file knows nothing of the table */
    for (int c = info->first_column; c < info->end_column; c++)
        if (f->toc[c]) rows = f->toc[c]->rows;
    if (rows == 0 || rows > UINT32_MAX - 1) return file_damaged(f, info->name, err);
    *trace_rows_slot(t, table) = (uint32_t)rows;
    for (int c = info->first_column; c < info->end_column; c++) {
        if (!f->toc[c]) {
            TRY(add_absent_column(t, c, (uint32_t)rows, err));
            continue;
        }
        if (f->toc[c]->rows != rows) return file_damaged(f, info->name, err);
        *trace_column_slot(t, c) = f->copy + f->toc[c]->offset;
    }
    return OK;
}

/* Start of a section that must be there with at least this many rows, else NULL. */
static const void *find_part(const open_file *f, int section, uint64_t rows_min) {
    const file_section *s = f->toc[section];
    return s && s->rows >= rows_min && s->rows <= UINT32_MAX + (uint64_t)1 ? f->copy + s->offset
                                                                           : NULL;
}

static status set_strings(open_file *f, trace *t, error *err) {
    TRY(file_read_section(f, SECTION_STRING_OFFSET, err));
    TRY(file_read_section(f, SECTION_STRING_BYTES, err));
    t->string_offset = find_part(f, SECTION_STRING_OFFSET, 2);
    if (!t->string_offset || !f->toc[SECTION_STRING_BYTES])
        return file_damaged(f, "string.offset", err);
    t->n_strings = (uint32_t)(f->toc[SECTION_STRING_OFFSET]->rows - 1);
    t->string_bytes = f->copy + f->toc[SECTION_STRING_BYTES]->offset;
    /* The two ends always; the order between them before the first use. */
    if (t->string_offset[0] != 0 || t->string_offset[1] != 0 ||
        t->string_offset[t->n_strings] != f->toc[SECTION_STRING_BYTES]->rows)
        return file_damaged(f, "string.offset", err);
    return OK;
}

static status set_arguments(open_file *f, trace *t, error *err) {
    TRY(file_read_section(f, SECTION_ARG_BLOCK, err));
    t->arg_block = find_part(f, SECTION_ARG_BLOCK, 1);
    t->shape_parent = find_part(f, SECTION_SHAPE_PARENT, 0);
    t->shape_key = find_part(f, SECTION_SHAPE_KEY, 0);
    const file_section *bytes = f->toc[SECTION_ARG_BYTES];
    if (!t->arg_block || !t->shape_parent || !t->shape_key || !bytes ||
        f->toc[SECTION_SHAPE_KEY]->rows != f->toc[SECTION_SHAPE_PARENT]->rows ||
        f->toc[SECTION_SHAPE_KEY]->rows > UINT32_MAX ||
        f->toc[SECTION_ARG_BLOCK]->rows - 1 > ARGS_MAX_BLOCKS)
        return file_damaged(f, "argument.block", err);
    t->n_shapes = (uint32_t)f->toc[SECTION_SHAPE_KEY]->rows;
    t->n_arg_blocks = (uint32_t)(f->toc[SECTION_ARG_BLOCK]->rows - 1);
    t->arg_bytes = (const uint8_t *)(f->copy + bytes->offset);
    if (t->arg_block[0] != 0 || t->arg_block[t->n_arg_blocks] != bytes->rows)
        return file_damaged(f, "argument.block", err);
    return OK;
}

static status set_trace(open_file *f, trace *t, error *err) {
    const file_header *h = (const file_header *)f->copy;
    for (int table = 0; table < N_TABLES; table++) TRY(set_table(f, t, table, err));
    TRY(set_strings(f, t, err));
    TRY(set_arguments(f, t, err));
    t->start_ns = h->start_ns;
    t->end_ns = h->end_ns;
    t->base_unix_ns = h->base_unix_ns;
    t->events_read = h->events_read;
    t->events_dropped = h->events_dropped;
    t->input_bytes = h->input_bytes;
    t->format = str_of(h->format);
    memcpy(t->kind_count, h->kind_count, sizeof t->kind_count);
    for (int k = 0; k < N_KINDS; k++)
        if (t->kind_count[k] > t->slice.n) return file_damaged(f, "slice.kind", err);
    TRY(file_check_small(t, err));
    file_close_when_read(f);
    return OK;
}

/* A file of merged summaries: a trace without events that carries them. */
static status set_summary(open_file *f, trace *t, error *err) {
    summary *s;
    uint64_t head = ((const file_header *)f->copy)->header_bytes;
    if (!f->has[0]) TRY(read_part(f, head, f->file_bytes - head, err));
    TRY(summary_decode(str_n(f->copy, f->file_bytes), f->path, &s, err));
    trace_own_summary(t, s);
    return OK;
}

static status open_trace(open_file *f, str key, trace *t, error *err) {
    TRY(open_descriptor(f, err));
    TRY(read_small(f, err));
    TRY(read_header(f, err));
    const file_header *h = (const file_header *)f->copy;
    TRY(file_check_header(f, err));
    str own = {f->copy + sizeof *h + h->n_sections * sizeof(file_section), h->key_bytes};
    if (key.n && !str_eq(key, own))
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_FILE_STALE, arg_cstr("path", f->path));
    if (h->profile == FILE_PROFILE_SUMMARY) return set_summary(f, t, err);
    TRY(read_contents(f, err));
    return set_trace(f, t, err);
}

/* fd: open already, and owned from here on; -1: opened by its path. */
static status open_owned(int fd, const char *path, str key, trace **out, error *err) {
    trace *t = trace_alloc();
    open_file *f = t ? new_file(path) : NULL;
    if (!f) {
        trace_release(t);
        if (fd >= 0) close(fd);
        FAIL_MEMORY(err);
    }
    f->fd = fd;
    trace_own(t, f, sizeof *f, close_file);
    t->owner->file = f;
    status s = open_trace(f, key, t, err);
    if (!t->summary) t->owner->require = file_require;
    if (s != OK) {
        trace_release(t);
        return s;
    }
    *out = t;
    return OK;
}

status file_open(const char *path, str key, trace **out, error *err) {
    return open_owned(-1, path, key, out, err);
}

status file_open_fd(int fd, const char *path, trace **out, error *err) {
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        FAIL(err, ERR_IO, NOPOS, MSG_FILE_READ, arg_cstr("path", path),
             arg_cstr("reason", strerror(errno)));
    return open_owned(own, path, STR_NONE, out, err);
}
