/* load.c: from a file to a sealed trace, by the shortest way.
 *
 *     .tacho file ──────────────────────────> map it
 *     anything else ──> cache? ──── hit ────> map the entry
 *                          └─ miss ─> recognize ─> read ─> seal ─> keep in the cache
 *
 * The key is taken before and after reading; only when both are the same was the file quiet all
 * the time, and only then the trace is kept. Whatever goes wrong with the cache is a note,
 * never an error. Standard input and pipes have no key. Damage is not failure either, unless
 * --strict asks. */
#include "session/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "ingest/serving/request_log.h"
#include "io/remote.h"
#include "session/beside.h"
#include "session/cache.h"
#include "session/sniff.h"
#include "store/file.h"
#include "store/summary.h"
#include "store/traits.h"

/* An event takes at least this many bytes of the store and at most this many of plain JSON,
 * stacks and shapes included: a bound from below, so that nothing is refused that would have
 * fitted. */
#define STORE_BYTES_PER_EVENT 60
#define JSON_BYTES_PER_EVENT 1000
#define COPY_BYTES ((size_t)4 << 20)

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct {
    const char *path;
    int threads;
} reopen_ctx;

static status reopen_source(void *context, source **out, error *err) {
    const reopen_ctx *r = context;
    TRY(source_open(r->path, out, err));
    source_set_threads(*out, r->threads);
    return OK;
}

static status check_estimate(const source *s, const char *path, uint64_t limit, error *err) {
    if (limit == 0 || source_codec(s) != CODEC_NONE) return OK;
    uint64_t need = source_file_bytes(s) / JSON_BYTES_PER_EVENT * STORE_BYTES_PER_EVENT;
    if (need > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_NEEDS_MEMORY, arg_cstr("path", path),
             arg_bytes("need", (int64_t)need), arg_bytes("limit", (int64_t)limit));
    return OK;
}

static status check_size(const trace *t, const char *path, const load_options *o, error *err) {
    uint64_t need = trace_size_bytes(t), limit = o->memory_limit_bytes;
    if (limit == 0 || need <= limit) return OK;
    FAIL(err, ERR_LIMIT, NOPOS, MSG_NEEDS_MEMORY, arg_cstr("path", path),
         arg_bytes("need", sat_i64(need)), arg_bytes("limit", sat_i64(limit)));
}

/* A source to read, and how. */
typedef struct {
    source *from;
    const format *format;
    const char *path;
    const load_options *o;
    pool *pool;
} job;

static ingest_options options_of(const job *j, reopen_ctx *again) {
    bool can_reopen = source_file_bytes(j->from) > 0 && strcmp(j->path, "-") != 0;
    return (ingest_options){.pool = j->pool,
                            .path = j->path,
                            .process = j->o->process,
                            .reopen = can_reopen ? reopen_source : NULL,
                            .reopen_context = again,
                            .progress = j->o->progress,
                            .progress_context = j->o->progress_context,
                            .memory_limit_bytes = j->o->memory_limit_bytes};
}

/* Reads a source with the reader of its format and seals what it built. The source is closed
 * between the two: sealing needs the most memory, and the source's buffers are not needed
 * then. */
static status read_and_seal(job *j, trace **out, error *err) {
    reopen_ctx again = {.path = j->path, .threads = pool_threads(j->pool)};
    ingest_options how = options_of(j, &again);
    beside_file et;
    if (beside_find(j->path, &et)) how.beside = et.path;
    builder *b = builder_new();
    if (!b) FAIL_MEMORY(err);
    source_set_threads(j->from, again.threads);
    trace *t = NULL;
    status st = j->format->read(j->from, &how, b, err);
    source_close(j->from);
    j->from = NULL;
    bool joins = st == OK && j->format->read != ingest_request_log;
    if (joins && beside_find_log(j->path, &et)) st = request_log_join(et.path, &how, b, err);
    if (st == OK) st = builder_seal(b, j->pool, &t, err);
    builder_free(b);
    if (st != OK) return st;
    st = check_size(t, j->path, j->o, err);
    if (st == OK)
        *out = t;
    else
        trace_release(t);
    return st;
}

/* With a separate pool when the caller has none. */
static status read_source(job *j, trace **out, error *err) {
    TRY(check_estimate(j->from, j->path, j->o->memory_limit_bytes, err));
    j->pool = j->o->pool;
    if (j->pool) return read_and_seal(j, out, err);
    j->pool = pool_new(j->o->threads > 0 ? j->o->threads : pool_cpus());
    if (!j->pool) FAIL_MEMORY(err);
    status st = read_and_seal(j, out, err);
    pool_free(j->pool);
    return st;
}

/* ---- the front --------------------------------------------------------------------------- */

/* Repairs and facts that cost nothing are not damage: strict is about what is lost or changed.
 * */
static bool is_harmless(uint32_t c) {
    return c == CAUSE_NONE || c == CAUSE_PARTIAL_OVERLAP || c == CAUSE_ORPHAN_CORRELATION ||
           c == CAUSE_DANGLING_FLOW || c == CAUSE_MISSING_CATEGORY;
}

static int64_t load_count_damage(const trace *t, uint32_t c) {
    int64_t n = 0;
    if (is_harmless(c)) return 0;
    if (!t->summary) return trace_quality(t, (cause)c);
    for (uint32_t i = 0; i < SUMMARY_N(t->summary, damage); i++) {
        const summary_damage *d = &SUMMARY_ROWS(t->summary, damage)[i];
        if (d->cause == c) n = add_i64(n, max_i64(0, d->count));
    }
    return n;
}

bool trace_is_damaged(const trace *t) {
    for (uint32_t c = 0; c < N_CAUSES; c++)
        if (load_count_damage(t, c) > 0) return true;
    return false;
}

static status check_strict(const trace *t, const char *path, error *err) {
    static const char *const NAMES[] = {[CAUSE_NONE] = "",
#define CAUSE_NAME(name) [CAUSE_##name] = #name,
                                        CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
    };
    for (uint32_t c = 0; c < N_CAUSES; c++) {
        int64_t count = load_count_damage(t, c);
        if (count <= 0) continue;
        char name[64];
        size_t n = 0;
        for (; NAMES[c][n] && n < sizeof name; n++)
            name[n] = NAMES[c][n] == '_' ? ' ' : (char)(NAMES[c][n] | 0x20);
        FAIL(err, ERR_FORMAT, NOPOS, MSG_STRICT_DAMAGE, arg_cstr("path", path),
             arg_text("cause", str_n(name, n)), arg_int("count", count));
    }
    return OK;
}

/* A file of ours has to lie on a disk as it is to be mapped. */
static bool can_be_mapped(const source *from, const char *path) {
    return !remote_is_url(path) && source_codec(from) == CODEC_NONE &&
           source_file_bytes(from) > 0 && strcmp(path, "-") != 0;
}

/* One after a URL, packed or from a pipe is copied to a file without a name first, which lives
 * as long as the map. */
static status map_copy(source *from, const char *shown, trace **out, error *err) {
    const char *dir = getenv("TMPDIR");
    status st = OK;
    int fd = open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool failed = fd < 0;
    for (piece pc; !failed; source_release(from, &pc)) {
        st = source_next(from, COPY_BYTES, 0, &pc, err);
        if (st != OK || pc.n == 0) break;
        failed = fault_point(FAULT_WRITE) || write(fd, pc.p, pc.n) != (ssize_t)pc.n;
    }
    arg name =
        arg_text("path", remote_is_url(shown) ? remote_shown(str_of(shown)) : str_of(shown));
    if (failed)
        st = error_set(err, ERR_IO, NOPOS, MSG_CANNOT_READ, 2,
                       (arg[]){name, arg_cstr("reason", strerror(errno))});
    else if (st == OK && source_damaged(from))
        st = error_set(err, ERR_FORMAT, NOPOS, MSG_FOUND_BROKEN_STREAM, 1, &name);
    if (st == OK) st = file_open_fd(fd, shown, out, err);
    if (fd >= 0) close(fd);
    return st;
}

/* Opens the file and takes the way its content asks for; *made: it was read, not mapped. */
static status load_file(const char *path, const load_options *o, trace **out, bool *made,
                        error *err) {
    job j = {.path = path, .o = o};
    TRY(o->named ? source_open_named(path, &j.from, err) : source_open(path, &j.from, err));
    j.format = format_of_name(str_of(path));
    bool npu = false;
    status st = j.format ? sniff_torch_npu(j.from, &npu, err)
                         : sniff_source(j.from, path, &j.format, err);
    if (npu) j.format = format_torch_npu();
    bool ours = st == OK && format_is_tacho(j.format);
    bool copied = ours && !can_be_mapped(j.from, path);
    if (copied) st = map_copy(j.from, path, out, err);
    if (st == OK && !ours) st = read_source(&j, out, err);
    if (ours && !copied) st = file_open_fd(source_descriptor(j.from), path, out, err);
    source_close(j.from); /* or NULL, when it was read */
    *made = !ours || copied;
    return st;
}

/* The key of a file, or of a process in it. */
static cache_key key_of(const char *path, const load_options *o) {
    cache_key key = cache_key_of(path);
    if (o->process) cache_key_extend(&key, "process", (uint64_t)o->process);
    return key;
}

static status keep_in_cache(const cache_key *before, const char *path, const load_options *o,
                            const trace *t, error *note) {
    cache_key after = key_of(path, o);
    bool quiet = str_eq(str_n(before->text, before->n), str_n(after.text, after.n));
    return quiet ? cache_keep(before, t, note) : OK;
}

static status load_trace(const char *path, const load_options *o, loaded_trace *out,
                         error *err) {
    cache_key key = {.n = 0};
    trace *t = NULL;
    error note = {0};
    bool made = false;
    if (!o->no_cache && strcmp(path, "-") != 0 && cache_enabled()) key = key_of(path, o);
    if (key.n) t = cache_find(&key, o->tables ? o->tables : TRACE_ALL | TRACE_ARGUMENTS);
    bool from_cache = t != NULL;
    if (!t) TRY(load_file(path, o, &t, &made, err));
    status kept = key.n && made && !o->unkept ? keep_in_cache(&key, path, o, t, &note) : OK;
    /* No table of our own file has been read yet; a caller that needs only a few may have
     * them. */
    status st = o->tables ? OK : check_size(t, path, o, err);
    if (st == OK && o->strict) st = check_strict(t, path, err);
    if (st != OK) {
        trace_release(t);
        return st;
    }
    *out = (loaded_trace){.trace = t, .from_cache = from_cache};
    if (kept != OK) error_copy(&out->note, &note);
    return OK;
}

/* The key of a summary: that of the file, and of what else it depends on. */
static cache_key summary_key(const char *path, const load_options *o) {
    cache_key key = {.n = 0};
    if (o->no_cache || strcmp(path, "-") == 0 || !cache_enabled()) return key;
    key = key_of(path, o);
    if (!key.n) return key;
    uint64_t parts[2] = {hash_bytes64(o->who.worker.p, o->who.worker.n), (uint64_t)o->who.rank};
    cache_key_extend(&key, "summary3", hash_bytes64(parts, sizeof parts));
    return key;
}

/* The trace to be reduced: the one the caller has, else read and not kept itself. */
static status load_whole(const char *path, const load_options *o, trace **out, error *err) {
    loaded_trace whole;
    if (o->known) {
        *out = trace_retain(o->known);
        return OK;
    }
    load_options plain = *o;
    plain.unkept = true;
    plain.strict = false;
    plain.tables = 0;
    TRY(load_trace(path, &plain, &whole, err));
    *out = whole.trace;
    return OK;
}

/* Makes the summary; kept when the file was quiet all the time. */
static status make_summary(const char *path, const load_options *o, const cache_key *key,
                           loaded_trace *out, error *err) {
    trace *whole = NULL, *made = NULL;
    error note = {0};
    status kept = OK;
    TRY(load_whole(path, o, &whole, err));
    if (whole->summary) {
        *out = (loaded_trace){.trace = whole};
        return OK;
    }
    trace_source who = o->who;
    who.trace = whole;
    if (who.rank == ABSENT_I64) who.rank = trace_rank(whole);
    status st = o->reduce(&who, 0, &made, err);
    trace_release(whole);
    TRY(st);
    if (key->n) {
        cache_key now = summary_key(path, o);
        if (str_eq(str_n(key->text, key->n), str_n(now.text, now.n)))
            kept = cache_keep(key, made, &note);
    }
    *out = (loaded_trace){.trace = made};
    if (kept != OK) error_copy(&out->note, &note);
    return OK;
}

/* The summary from the cache, else made of the trace and kept. A file that is a summary already
 * is taken as it is. */
static status load_summary(const char *path, const load_options *o, loaded_trace *out,
                           error *err) {
    cache_key key = summary_key(path, o);
    trace *t = key.n ? cache_find(&key, 0) : NULL;
    if (t && t->summary) {
        *out = (loaded_trace){.trace = t, .from_cache = true};
    } else {
        trace_release(t);
        TRY(make_summary(path, o, &key, out, err));
    }
    status st = o->strict ? check_strict(out->trace, path, err) : OK;
    if (st != OK) trace_release(out->trace);
    return st;
}

static status load(const char *path, const load_options *o, loaded_trace *out, error *err) {
    return o->reduce ? load_summary(path, o, out, err) : load_trace(path, o, out, err);
}

/* The program itself has as much; a limit below is one for the sealed trace alone. */
#define LEAST_CEILING_BYTES (UINT64_C(16) << 20)

/* Below a ceiling: what a shape of file needs beyond its rows counts, too. */
static status load_counted(const char *path, const load_options *o, loaded_trace *out,
                           error *err) {
    uint64_t refusals = mem_refusals(), held = mem_mapped_bytes();
    uint64_t limit = o->memory_limit_bytes;
    mem_set_ceiling(held + (limit < LEAST_CEILING_BYTES ? LEAST_CEILING_BYTES : limit));
    status st = load(path, o, out, err);
    mem_set_ceiling(0);
    if (st != ERR_MEMORY || mem_refusals() == refusals) return st;
    FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
}

status trace_load(const char *path, const load_options *o, loaded_trace *out, error *err) {
    load_options how = o ? *o : (load_options){0};
    if (how.memory_limit_bytes == 0) how.memory_limit_bytes = mem_usual_limit_bytes();
    o = &how;
    status st = o->counts_reading ? load_counted(path, o, out, err) : load(path, o, out, err);
    /* Readers do not know what their bytes are called. */
    if (st == ERR_FORMAT || st == ERR_UNSUPPORTED || st == ERR_IO || st == ERR_LIMIT)
        error_add_file(err, remote_is_url(path) ? remote_shown(str_of(path)) : str_of(path));
    return st;
}
