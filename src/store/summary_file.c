/* summary_file.c: summaries as bytes: the file RUN.tacho, and what travels between processes.
 *
 * The container is that of a sealed trace (file_int.h): header, table of contents with
 * checksums, sections at multiples of 64. A summary is read whole, so its columns are packed:
 * each number is the zigzag varint of its difference to the one before it, texts are numbers of
 * strings in the order of their first use. Columns of a table follow each other, so that most
 * differences are small: a collective takes about 25 bytes.
 *
 * Bytes from elsewhere are hostile: sums are checked first, then every column of a table must
 * have as many values as the others, texts must exist, sums must not be negative. A section
 * this program does not know is skipped; a column the file does not have is absent. What is
 * read is settled again, so that an unsorted file is no way to a wrong answer. */
#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "store/file.h"
#include "store/file_int.h"
#include "store/summary_int.h"

enum { TYPE_PACKED = 9 };

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct {
    buf *out;
    size_t start; /* of this file in out */
    uint32_t n_sections;
    map numbers; /* intern id → number in the file */
    buf offsets, bytes;
    uint32_t n_texts;
} pack_ctx;

static void put_varint(buf *b, uint64_t v) {
    for (; v > 127; v >>= 7) buf_add_byte(b, (char)(v | 128));
    buf_add_byte(b, (char)v);
}

WRAPS static void put_difference(buf *b, int64_t v, int64_t *last) {
    uint64_t d = (uint64_t)v - (uint64_t)*last; /* wraps, and so does the sum */
    *last = v;
    put_varint(b, d << 1 ^ (uint64_t)((int64_t)d >> 63));
}

/* The number of a text in the file; -1 when out of memory. */
static int64_t number_of(pack_ctx *p, const summary *s, str text) {
    if (!text.n) return 0;
    uint32_t id = intern_add(s->texts, text), *at = NULL;
    if (id != UINT32_MAX) at = map_at(&p->numbers, id);
    if (!at) return -1;
    if (*at == MAP_NONE) {
        *at = ++p->n_texts;
        buf_add_str(&p->bytes, text);
        uint64_t end = p->bytes.n;
        buf_add(&p->offsets, &end, sizeof end);
    }
    return *at;
}

static status pack_column(pack_ctx *p, const summary *s, const summary_column *c, error *err) {
    const summary_rows *r = &s->tables[c->table];
    size_t bytes = SUMMARY_TABLES[c->table].row_bytes;
    int64_t last = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const char *cell = r->rows + bytes * i + c->offset;
        int64_t v = 0;
        if (c->cell == CELL_REAL) {
            buf_add(p->out, cell, sizeof(double));
            continue;
        }
        if (c->cell == CELL_TEXT)
            v = number_of(p, s, *(const str *)(const void *)cell);
        else
            memcpy(&v, cell, sizeof v);
        if (c->cell == CELL_TEXT && v < 0) FAIL_MEMORY(err);
        put_difference(p->out, v, &last);
    }
    return OK;
}

static void align_out(pack_ctx *p) {
    size_t over = (p->out->n - p->start) % FILE_ALIGN;
    if (over) buf_add_repeat(p->out, 0, FILE_ALIGN - over);
}

static file_section *section_at(pack_ctx *p, uint32_t i) {
    return (file_section *)(void *)(p->out->p + p->start + sizeof(file_header) +
                                    i * sizeof(file_section));
}

/* The section that was written from `from` to the end. */
static void end_section(pack_ctx *p, const char *name, uint32_t type, size_t from) {
    if (!buf_ok(p->out)) return;
    file_section *s = section_at(p, p->n_sections++);
    size_t n = strlen(name);
    memcpy(s->name, name, n < FILE_NAME_BYTES ? n : FILE_NAME_BYTES - 1);
    s->type = type;
    s->elem_bytes = type == TYPE_PACKED || type == TYPE_U8 ? 1 : 8;
    s->offset = from - p->start;
    s->size_bytes = p->out->n - from;
    s->rows = s->size_bytes / s->elem_bytes;
    s->checksum = hash_bytes64(p->out->p + from, (size_t)s->size_bytes);
    align_out(p);
}

static status pack_sections(pack_ctx *p, const summary *s, error *err) {
    for (int c = 0; c < N_SUMMARY_COLUMNS; c++) {
        const summary_column *column = &SUMMARY_COLUMNS[c];
        if (!s->tables[column->table].n) continue;
        size_t from = p->out->n;
        TRY(pack_column(p, s, column, err));
        end_section(p, column->name, column->cell == CELL_REAL ? TYPE_F64 : TYPE_PACKED, from);
    }
    size_t from = p->out->n;
    buf_add_str(p->out, buf_str(&p->offsets));
    end_section(p, "string.offset", TYPE_U64, from);
    from = p->out->n;
    buf_add_str(p->out, buf_str(&p->bytes));
    end_section(p, "string.bytes", TYPE_U8, from);
    return buf_ok(p->out) && buf_ok(&p->offsets) && buf_ok(&p->bytes) ? OK : ERR_MEMORY;
}

static uint32_t count_sections(const summary *s) {
    uint32_t n = 2;
    for (int c = 0; c < N_SUMMARY_COLUMNS; c++) n += s->tables[SUMMARY_COLUMNS[c].table].n != 0;
    return n;
}

static status pack(pack_ctx *p, const summary *s, str key, error *err) {
    uint32_t n = count_sections(s);
    size_t used = sizeof(file_header) + n * sizeof(file_section) + key.n;
    uint64_t zero = 0;
    buf_add_repeat(p->out, 0, used - key.n);
    buf_add_str(p->out, key);
    align_out(p);
    size_t header_bytes = p->out->n - p->start;
    buf_add(&p->offsets, &zero, sizeof zero); /* string 0 is empty */
    buf_add(&p->offsets, &zero, sizeof zero);
    if (!buf_ok(p->out) || pack_sections(p, s, err) != OK) FAIL_MEMORY(err);
    file_header *h = (file_header *)(void *)(p->out->p + p->start);
    memcpy(h->magic, FILE_MAGIC, sizeof h->magic);
    h->version = FILE_VERSION;
    h->profile = FILE_PROFILE_SUMMARY;
    h->header_bytes = header_bytes;
    h->file_bytes = p->out->n - p->start;
    h->n_sections = n;
    h->key_bytes = (uint32_t)key.n;
    memcpy(h->format, "tacho_summary", 13);
    size_t start = offsetof(file_header, checksum) + sizeof h->checksum;
    h->checksum = hash_bytes64((const char *)h + start, header_bytes - start);
    return OK;
}

status summary_encode(summary *s, str key, buf *out, error *err) {
    TRY(summary_settle(s, err));
    pack_ctx p = {.out = out, .start = out->n};
    status st = pack(&p, s, key, err);
    map_fini(&p.numbers);
    buf_fini(&p.offsets);
    buf_fini(&p.bytes);
    return st;
}

status summary_write(summary *s, const char *path, str key, error *err) {
    buf bytes = {0};
    status st = summary_encode(s, key, &bytes, err);
    if (st == OK) st = file_replace(path, buf_str(&bytes), err);
    buf_fini(&bytes);
    return st;
}

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct {
    open_file file;
    const file_header *header;
    const file_section *toc;
    const uint64_t *offsets;
    const char *bytes;
    uint64_t n_texts;
    str *texts; /* in the summary, by number */
    summary *out;
} unpack_ctx;

static const file_section *find_section(const unpack_ctx *u, const char *name) {
    for (uint32_t i = 0; i < u->header->n_sections; i++)
        if (section_is_named(u->toc[i].name, name)) return &u->toc[i];
    return NULL;
}

static const uint8_t *bytes_of(const unpack_ctx *u, const file_section *s) {
    return (const uint8_t *)u->file.copy + s->offset;
}

static status check_sections(unpack_ctx *u, error *err) {
    TRY(file_check_header(&u->file, err));
    u->header = (const file_header *)u->file.copy;
    u->toc = (const file_section *)(u->file.copy + sizeof *u->header);
    if (u->header->profile != FILE_PROFILE_SUMMARY)
        FAIL(err, ERR_FORMAT, 12, MSG_FILE_PROFILE, arg_cstr("path", u->file.path),
             arg_int("profile", u->header->profile));
    for (uint32_t i = 0; i < u->header->n_sections; i++) {
        const file_section *s = &u->toc[i];
        TRY(file_check_section(&u->file, s, err));
        if (hash_bytes64(bytes_of(u, s), (size_t)s->size_bytes) != s->checksum)
            return file_damaged(&u->file, s->name, err);
    }
    return OK;
}

static status read_texts(unpack_ctx *u, error *err) {
    const file_section *offsets = find_section(u, "string.offset"),
                       *bytes = find_section(u, "string.bytes");
    if (!offsets || !bytes || offsets->elem_bytes != 8 || bytes->elem_bytes != 1 ||
        offsets->rows < 2)
        return file_damaged(&u->file, "string.offset", err);
    u->offsets = (const uint64_t *)(const void *)bytes_of(u, offsets);
    u->n_texts = offsets->rows - 1;
    if (u->offsets[0] != 0 || u->offsets[u->n_texts] != bytes->rows)
        return file_damaged(&u->file, "string.offset", err);
    u->texts = mem_alloc((size_t)u->n_texts * sizeof *u->texts);
    if (!u->texts) FAIL_MEMORY(err);
    for (uint64_t i = 0; i < u->n_texts; i++) {
        uint64_t from = u->offsets[i], to = u->offsets[i + 1];
        if (from > to || to > bytes->rows) return file_damaged(&u->file, "string.offset", err);
        str text = str_n((const char *)bytes_of(u, bytes) + from, (size_t)(to - from));
        u->texts[i] = summary_text(u->out, text);
        if (!u->texts[i].p) FAIL_MEMORY(err);
    }
    return OK;
}

/* Values of a packed section: its bytes without a following one. */
static uint64_t count_values(const uint8_t *p, uint64_t n) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) count += p[i] < 128;
    return count;
}

static uint64_t rows_of(const unpack_ctx *u, const file_section *s) {
    return s->type == TYPE_PACKED ? count_values(bytes_of(u, s), s->rows) : s->rows;
}

/* Rows of a table, the same in all its columns that are there. */
static status count_rows(const unpack_ctx *u, int table, uint64_t *rows, error *err) {
    bool seen = false;
    *rows = 0;
    for (int c = SUMMARY_TABLES[table].first; c < summary_end(table); c++) {
        const file_section *s = find_section(u, SUMMARY_COLUMNS[c].name);
        if (!s) continue;
        bool real = SUMMARY_COLUMNS[c].cell == CELL_REAL;
        if (s->type != (real ? (uint32_t)TYPE_F64 : (uint32_t)TYPE_PACKED) ||
            s->elem_bytes != (real ? 8 : 1))
            return file_damaged(&u->file, s->name, err);
        uint64_t n = rows_of(u, s);
        if ((seen && n != *rows) || n > UINT32_MAX / 4)
            return file_damaged(&u->file, s->name, err);
        *rows = n;
        seen = true;
    }
    return OK;
}

/* The next number; false at the end or after a varint that is too long. */
WRAPS static bool take_difference(const uint8_t **p, const uint8_t *end, int64_t *last) {
    uint64_t v = 0;
    for (int shift = 0; *p < end && shift < 70; shift += 7) {
        uint8_t b = *(*p)++;
        v |= shift < 64 ? (uint64_t)(b & 127) << shift : 0;
        if (b > 127) continue;
        uint64_t d = v >> 1 ^ (0 - (v & 1));
        *last = (int64_t)((uint64_t)*last + d);
        return true;
    }
    return false;
}

static bool set_cell(const unpack_ctx *u, const summary_column *c, char *cell, int64_t v) {
    if (c->cell == CELL_TEXT) {
        if (v < 0 || (uint64_t)v >= u->n_texts) return false;
        *(str *)(void *)cell = u->texts[v];
        return true;
    }
    if ((c->how == HOW_SUM || c->how == HOW_WORST) && v < 0 && v != ABSENT_I64) return false;
    memcpy(cell, &v, sizeof v);
    return true;
}

static status read_column(unpack_ctx *u, const summary_column *c, error *err) {
    const file_section *s = find_section(u, c->name);
    summary_rows *r = &u->out->tables[c->table];
    size_t bytes = SUMMARY_TABLES[c->table].row_bytes;
    int64_t absent = ABSENT_I64, last = 0;
    const uint8_t *at = s ? bytes_of(u, s) : NULL, *end = s ? at + s->size_bytes : NULL;
    for (uint32_t i = 0; i < r->n; i++) {
        char *cell = r->rows + bytes * i + c->offset;
        if (!s) {
            if (c->cell == CELL_INT) memcpy(cell, &absent, sizeof absent);
        } else if (c->cell == CELL_REAL) {
            memcpy(cell, at + i * sizeof(double), sizeof(double));
        } else if (!take_difference(&at, end, &last) || !set_cell(u, c, cell, last)) {
            return file_damaged(&u->file, c->name, err);
        }
    }
    return OK;
}

static status read_table(unpack_ctx *u, int table, error *err) {
    uint64_t rows;
    TRY(count_rows(u, table, &rows, err));
    for (uint64_t i = 0; i < rows; i++)
        if (!summary_add(u->out, table)) FAIL_MEMORY(err);
    for (int c = SUMMARY_TABLES[table].first; c < summary_end(table); c++)
        TRY(read_column(u, &SUMMARY_COLUMNS[c], err));
    return OK;
}

static status unpack(unpack_ctx *u, error *err) {
    TRY(check_sections(u, err));
    TRY(read_texts(u, err));
    for (int i = 0; i < N_SUMMARIES; i++) TRY(read_table(u, i, err));
    return summary_settle(u->out, err);
}

status summary_decode(str bytes, const char *path, summary **out, error *err) {
    if (bytes.n < sizeof(file_header))
        FAIL(err, ERR_FORMAT, NOPOS, MSG_FILE_NOT_TACHO, arg_cstr("path", path));
    unpack_ctx u = {.file = {.copy = bytes.p, .file_bytes = bytes.n}};
    u.file.path = (char *)(uintptr_t)path;
    u.out = summary_new();
    if (!u.out) FAIL_MEMORY(err);
    status st = unpack(&u, err);
    mem_free(u.texts);
    if (st != OK) {
        summary_free(u.out);
        return st;
    }
    *out = u.out;
    return OK;
}
