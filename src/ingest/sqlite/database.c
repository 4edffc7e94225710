/* database.c: opens a file of SQLite that anybody may have made.
 *
 * The schema of such a file is a program: views, triggers, generated columns, virtual tables.
 * None of it runs: only tables are read, functions are refused (but the one that takes the
 * rows, which no schema may call), and nothing is written, attached or loaded. A plain file
 * is read through the source's descriptor (descriptor_vfs.c), without locks and without its
 * journal. Anything else than a plain file is held in memory; so is a file that is shorter than
 * its header says, since SQLite would refuse it: the copy's header gets the true size. */
#include "ingest/sqlite/database.h"

#include <errno.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sqlite_start.h"
#include "ingest/sqlite/database_int.h"
#include "ingest/util/whole_input.h"

enum { HEAD_BYTES = 100, STEPS_BETWEEN_LOOKS = 2000 };
/* Places in the first page. */
enum { AT_PAGE_SIZE = 16, AT_VERSIONS = 18, AT_CHANGES = 24, AT_PAGES = 28, AT_COUNTED = 92 };

bool database_head(str head) {
    return str_starts(head, STR("SQLite format 3\0"));
}

/* ---- failures ---- */

status database_failure(const database *d, int code) {
    switch (code & 0xff) {
    case SQLITE_NOMEM: return ERR_MEMORY;
    case SQLITE_INTERRUPT: return ERR_CANCELLED;
    default: return d->stopped ? ERR_CANCELLED : database_read_errno(d->db) ? ERR_IO : OK;
    }
}

static status fail_io(const database *d, error *err) {
    int number = database_read_errno(d->db);
    FAIL(err, ERR_IO, NOPOS, MSG_CANNOT_READ, arg_cstr("path", d->o->path ? d->o->path : "-"),
         arg_cstr("reason", strerror(number ? number : EIO)));
}

status database_fail(const database *d, status st, error *err) {
    switch (st) {
    case OK: return database_read_errno(d->db) ? fail_io(d, err) : OK;
    case ERR_IO: return fail_io(d, err);
    case ERR_LIMIT:
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
             arg_bytes("limit", sat_i64(d->o->memory_limit_bytes)));
    case ERR_CANCELLED: FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    case ERR_FORMAT:
        FAIL(err, ERR_FORMAT, 0, MSG_DATABASE_DAMAGED,
             arg_cstr("path", d->o->path ? d->o->path : "-"));
    default: FAIL_MEMORY(err);
    }
}

/* ---- bytes ---- */

static uint64_t big_endian(str head, size_t at, size_t n) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v = v << 8 | (unsigned char)head.p[at + i];
    return v;
}

/* Bytes that the head promises; 0 where it promises nothing. */
static uint64_t promised_bytes(str head) {
    if (head.n < HEAD_BYTES) return UINT64_MAX;
    uint64_t page = big_endian(head, AT_PAGE_SIZE, 2);
    bool counted = memcmp(head.p + AT_CHANGES, head.p + AT_COUNTED, 4) == 0;
    return counted ? (page == 1 ? 65536 : page) * big_endian(head, AT_PAGES, 4) : 0;
}

static status load_bytes(database *d, source *src, error *err) {
    TRY(whole_bytes(src, d->o, &d->bytes, err));
    d->size_bytes = d->bytes.n;
    if (source_damaged(src)) part_lost(d->part, CAUSE_STREAM_DAMAGED, d->bytes.n, 0);
    return d->bytes.n < HEAD_BYTES ? database_fail(d, ERR_FORMAT, err) : OK;
}

/* The header of the copy says what is true of it: it has no journal, and its real size. */
static void repair_head(database *d) {
    char *p = d->bytes.p;
    if (promised_bytes(buf_str(&d->bytes)) > d->bytes.n) {
        part_lost(d->part, CAUSE_TRUNCATED, d->bytes.n, 0);
        p[AT_COUNTED] = (char)~p[AT_CHANGES];
    }
    p[AT_VERSIONS] = p[AT_VERSIONS + 1] = 1;
}

/* ---- what is allowed ---- */

static int authorize(void *context, int action, const char *first, const char *second,
                     const char *name, const char *trigger) {
    const database *d = context;
    (void)first, (void)name, (void)trigger;
    bool own = action == SQLITE_FUNCTION && d->giving && strcmp(second, DATABASE_GIVE) == 0;
    return own || action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

static void end_giving(sqlite3_context *context) {
    (void)context;
}

/* Far more than reading a table takes means that a damaged tree is walked in circles. */
static int look(void *context) {
    database *d = context;
    uint64_t most = 1000 + d->size_bytes / 100, half = d->size_bytes / 2;
    uint64_t done = d->n_rows * 32 < half ? d->n_rows * 32 : half;
    const ingest_options *o = d->o;
    if (o->progress && o->progress(o->progress_context, half + done, d->size_bytes))
        d->stopped = true;
    return d->stopped || d->n_steps++ > most;
}

static void guard(database *d) {
    static const struct {
        int id, most;
    } limits[] = {{SQLITE_LIMIT_LENGTH, 64 << 20},    {SQLITE_LIMIT_ATTACHED, 0},
                  {SQLITE_LIMIT_TRIGGER_DEPTH, 0},    {SQLITE_LIMIT_WORKER_THREADS, 0},
                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 20}, {SQLITE_LIMIT_COLUMN, 2000}};
    static const struct {
        int id, on;
    } switches[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},    {SQLITE_DBCONFIG_DQS_DML, 0}};
    for (size_t i = 0; i < N_OF(limits); i++)
        sqlite3_limit(d->db, limits[i].id, limits[i].most);
    /* Nothing can be written; but of a damaged schema SQLite then keeps what it could read. */
    (void)sqlite3_exec(d->db, "PRAGMA writable_schema=ON", NULL, NULL, NULL);
    for (size_t i = 0; i < N_OF(switches); i++)
        (void)sqlite3_db_config(d->db, switches[i].id, switches[i].on, NULL);
    (void)sqlite3_exec(d->db, "PRAGMA mmap_size=0", NULL, NULL,
                       NULL); /* it may be cut meanwhile */
    /* Without it (no memory) rows come one by one. */
    (void)sqlite3_create_function_v2(d->db, DATABASE_GIVE, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                     d, NULL, database_give, end_giving, NULL);
    sqlite3_set_authorizer(d->db, authorize, d);
    sqlite3_progress_handler(d->db, STEPS_BETWEEN_LOOKS, look, d);
}

/* ---- opening ---- */

static bool is_plain_file(const source *src, const ingest_options *o, str head) {
    return o->path && strcmp(o->path, "-") != 0 && source_descriptor(src) >= 0 &&
           source_codec(src) == CODEC_NONE && source_file_bytes(src) > 0 &&
           promised_bytes(head) <= source_file_bytes(src);
}

static int open_bytes(database *d) {
    int rc =
        sqlite3_open_v2(":memory:", &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) return rc;
    return sqlite3_deserialize(d->db, "main", (unsigned char *)d->bytes.p,
                               (sqlite3_int64)d->bytes.n, (sqlite3_int64)d->bytes.n,
                               SQLITE_DESERIALIZE_READONLY);
}

/* Names of the tables that are tables: not those of modules, nor SQLite's own. When the list is
 * damaged, those before the damage. */
static int list_tables(database *d) {
    sqlite3_stmt *s = NULL;
    int rc =
        sqlite3_prepare_v2(d->db, "SELECT type, name, sql FROM sqlite_master", -1, &s, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text[3];
        for (int i = 0; i < 3; i++) text[i] = (const char *)sqlite3_column_text(s, i);
        rc = SQLITE_OK;
        if (!text[0] || !text[1] || !text[2] || strcmp(text[0], "table") != 0 ||
            sqlite3_strnicmp(text[2], "CREATE TABLE", 12) != 0)
            continue;
        str *name = vec_push(&d->tables), copy = arena_str(&d->arena, str_of(text[1]));
        if (name) *name = copy;
        if (!name || !copy.p) rc = SQLITE_NOMEM;
    }
    sqlite3_finalize(s);
    bool damaged = rc != SQLITE_DONE && database_failure(d, rc) == OK;
    if (damaged && d->tables.n) part_lost_many(d->part, CAUSE_DATABASE_DAMAGED, 1);
    return rc == SQLITE_DONE || (damaged && d->tables.n) ? SQLITE_OK : rc;
}

static status open_all(database *d, source *src, error *err) {
    str head;
    TRY(source_peek(src, HEAD_BYTES, &head, err));
    bool plain = is_plain_file(src, d->o, head);
    d->size_bytes = source_file_bytes(src);
    if (!plain) TRY(load_bytes(d, src, err));
    if (!plain) repair_head(d);
    builder_set_input_bytes(d->b, d->size_bytes);
    TRY(sqlite_start(err));
    int rc = plain ? database_open_descriptor(source_descriptor(src), &d->db) : open_bytes(d);
    if ((rc & 0xff) == SQLITE_IOERR) return database_fail(d, ERR_IO, err);
    if (rc == SQLITE_OK) {
        guard(d);
        rc = list_tables(d);
    }
    if (rc == SQLITE_OK) return database_fail(d, OK, err);
    status st = database_failure(d, rc);
    return database_fail(d, st == OK ? ERR_FORMAT : st, err);
}

status database_open(source *src, const ingest_options *o, builder *b, part *p, database **out,
                     error *err) {
    database *d = mem_zalloc(sizeof *d);
    if (!d) FAIL_MEMORY(err);
    *d = (database){.o = o, .b = b, .part = p, .tables = VEC_INIT(str)};
    arena_init(&d->arena, 0);
    status st = open_all(d, src, err);
    if (st != OK) {
        database_close(d);
        return st;
    }
    *out = d;
    return OK;
}

void database_close(database *d) {
    if (!d) return;
    (void)sqlite3_close(d->db);
    buf_fini(&d->bytes);
    vec_fini(&d->tables);
    arena_reset(&d->arena);
    mem_free(d);
}

void database_watch(database *d, const bool *failed) {
    d->failed = failed;
}

uint64_t database_n_rows(const database *d) {
    return d->n_rows;
}

size_t database_n_tables(const database *d) {
    return d->tables.n;
}

str database_table(const database *d, size_t i) {
    return VEC(&d->tables, str)[i];
}

bool database_has(const database *d, str table) {
    for (size_t i = 0; i < d->tables.n; i++)
        if (str_eq(VEC(&d->tables, str)[i], table)) return true;
    return false;
}
