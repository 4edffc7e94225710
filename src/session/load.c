/* load.c: from a file to a sealed trace, by the shortest way.
 *
 *     .tacho file ──────────────────────────> map it
 *     anything else ──> cache? ──── hit ────> map the entry
 *                          └─ miss ─> recognise ─> read ─> seal ─> keep in the cache
 *
 * The key is taken before and after reading; only when both are the same was the file quiet all the
 * time, and only then the trace is kept. Whatever goes wrong with the cache is a note, never an
 * error. Standard input and pipes have no key. Damage is no failure either, unless --strict asks. */
#include "session/load.h"

#include <string.h>

#include "session/cache.h"
#include "session/sniff.h"
#include "store/file.h"

/* An event takes at least this many bytes of the store and at most this many of plain JSON, stacks
 * and shapes included: a bound from below, so that nothing is refused that would have fitted. */
#define STORE_BYTES_PER_EVENT 60
#define JSON_BYTES_PER_EVENT 1000

/* ---- reading ----------------------------------------------------------------------------------- */

typedef struct {
    const char *path;
    int threads;
} reopening;

static status reopen_source(void *context, source **out, error *err) {
    const reopening *r = context;
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

/* Reads a source with the reader of its format and seals what it built. */
static status read_and_seal(source *s, const format *f, const char *path, const load_options *o,
                            trace **out, error *err) {
    reopening again = {.path = path, .threads = pool_threads(o->pool)};
    ingest_options how = {
        .pool = o->pool,
        .reopen = source_file_bytes(s) > 0 && strcmp(path, "-") != 0 ? reopen_source : NULL,
        .reopen_context = &again,
        .progress = o->progress,
        .progress_context = o->progress_context,
        .memory_limit_bytes = o->memory_limit_bytes};
    builder *b = builder_new();
    if (!b) FAIL_MEMORY(err);
    source_set_threads(s, again.threads);
    trace *t = NULL;
    status st = f->read(s, &how, b, err);
    if (st == OK) st = builder_seal(b, o->pool, &t, err);
    builder_free(b);
    if (st != OK) return st;
    uint64_t need = trace_size_bytes(t);
    if (o->memory_limit_bytes && need > o->memory_limit_bytes) {
        trace_release(t);
        FAIL(err, ERR_LIMIT, NOPOS, MSG_NEEDS_MEMORY, arg_cstr("path", path),
             arg_bytes("need", (int64_t)need),
             arg_bytes("limit", (int64_t)o->memory_limit_bytes));
    }
    *out = t;
    return OK;
}

/* Recognises and reads, with a pool of its own when the caller has none. */
static status read_source(source *s, const format *f, const char *path, const load_options *o,
                          trace **out, error *err) {
    TRY(check_estimate(s, path, o->memory_limit_bytes, err));
    if (o->pool) return read_and_seal(s, f, path, o, out, err);
    load_options own = *o;
    own.pool = pool_new(o->threads > 0 ? o->threads : pool_cpus());
    if (!own.pool) FAIL_MEMORY(err);
    status st = read_and_seal(s, f, path, &own, out, err);
    pool_free(own.pool);
    return st;
}

/* ---- the front --------------------------------------------------------------------------------- */

/* Repairs and facts that cost nothing are no damage: strict is about what is lost or changed. */
static bool is_harmless(uint32_t c) {
    return c == CAUSE_NONE || c == CAUSE_PARTIAL_OVERLAP || c == CAUSE_ORPHAN_CORRELATION ||
           c == CAUSE_DANGLING_FLOW || c == CAUSE_MISSING_CATEGORY;
}

static status check_strict(const trace *t, const char *path, error *err) {
    static const char *const NAMES[] = {[CAUSE_NONE] = "",
#define CAUSE_NAME(name) [CAUSE_##name] = #name,
                                        CAUSES(CAUSE_NAME)
#undef CAUSE_NAME
    };
    for (uint32_t c = 0; c < N_CAUSES; c++) {
        int64_t count = is_harmless(c) ? 0 : trace_quality(t, (cause)c);
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

static void keep_in_cache(const cache_key *before, const char *path, loaded *l) {
    cache_key after = cache_key_of(path);
    if (before->n == 0 || !str_eq(str_n(before->text, before->n), str_n(after.text, after.n)))
        return;
    if (cache_keep(before, l->trace, &l->note) == OK) l->note = (error){0};
}

/* Opens the file and takes the way its content asks for; *made: it was read, not mapped. */
static status load_file(const char *path, const load_options *o, trace **out, bool *made,
                        error *err) {
    source *s = NULL;
    const format *f = NULL;
    TRY(source_open(path, &s, err));
    status st = sniff_source(s, path, &f, err);
    if (st == OK && format_is_tacho(f)) {
        source_close(s);
        *made = false;
        return file_open(path, STR_NONE, out, err);
    }
    if (st == OK) st = read_source(s, f, path, o, out, err);
    source_close(s);
    *made = true;
    return st;
}

status load(const char *path, const load_options *o, loaded *out, error *err) {
    load_options plain = {0};
    loaded l = {.trace = NULL};
    cache_key key = {.n = 0};
    if (!o) o = &plain;
    bool cached = !o->no_cache && strcmp(path, "-") != 0 && cache_enabled();
    if (cached) key = cache_key_of(path);
    if (key.n) l.trace = cache_find(&key, o->tables ? o->tables : TRACE_ALL | TRACE_ARGUMENTS);
    l.from_cache = l.trace != NULL;
    if (!l.trace) {
        bool made = false;
        TRY(load_file(path, o, &l.trace, &made, err));
        if (key.n && made) keep_in_cache(&key, path, &l);
    }
    status st = o->strict ? check_strict(l.trace, path, err) : OK;
    if (st != OK) {
        trace_release(l.trace);
        return st;
    }
    *out = l;
    return OK;
}
