/* processes.c: a file of several processes is several workers.
 *
 * Nsight Systems writes one report of everything a launcher started. Each process that used a
 * device is a worker, named FILE.PID, and they are the ranks of one run in the order of their
 * ids. One that is packed is unpacked for the answer, which the cache keeps; one that is far
 * away is not asked, it would have to be fetched whole. */
#include <pthread.h>

#include "base/intern.h"
#include "base/map.h"
#include "ingest/nsight/nsight.h"
#include "io/remote.h"
#include "session/cache.h"
#include "session/discover_int.h"
#include "session/sniff.h"
#include "store/builder.h"

/* Is it a report of Nsight? A file that cannot be read is not, unless it was named. */
static status is_nsight(const found_file *f, bool named, source *s, bool *is, error *err) {
    const format *is_of = NULL;
    status st = sniff_source(s, f->path.p, &is_of, named ? err : NULL);
    *is = st == OK && is_of->read == ingest_nsight;
    return (st == ERR_IO && named) || st == ERR_MEMORY ? st : OK;
}

/* ---- what was asked before ---- */

/* A folder is looked through again whenever something in it changes, and an export that does
 * not name its processes is read whole for the answer: that of a file that did not change is
 * kept. */
typedef struct {
    uint32_t first, n; /* in pids */
} kept_answer;

enum { MOST_KEPT = 1 << 16 }; /* numbers of processes and files; then all is forgotten */
static struct {
    pthread_mutex_t lock;
    map by_file; /* path, size and time → answers */
    vec answers; /* kept_answer */
    vec pids;    /* int64_t */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .answers = VEC_INIT(kept_answer),
          .pids = VEC_INIT(int64_t)};

static uint64_t file_key(const found_file *f) {
    uint64_t path = intern_hash(f->path);
    return hash_pair(path, hash_pair(f->size_bytes, (uint64_t)f->mtime_ns));
}

static bool copy_pids(const int64_t *v, size_t n, vec *to) {
    if (!n) return true;
    if (vec_reserve(to, n) != OK) return false;
    memcpy(VEC(to, int64_t) + to->n, v, n * sizeof *v);
    to->n += n;
    return true;
}

static bool find_kept(const found_file *f, vec *pids) {
    pthread_mutex_lock(&kept.lock);
    uint32_t at = map_get(&kept.by_file, file_key(f));
    const kept_answer *a = at == MAP_NONE ? NULL : &VEC(&kept.answers, kept_answer)[at];
    bool found = a && copy_pids(VEC(&kept.pids, int64_t) + a->first, a->n, pids);
    pthread_mutex_unlock(&kept.lock);
    return found;
}

/* Without memory it is asked again next time. */
static void keep(const found_file *f, const vec *pids) {
    pthread_mutex_lock(&kept.lock);
    if (kept.answers.n + kept.pids.n + pids->n > MOST_KEPT) {
        map_fini(&kept.by_file);
        kept.answers.n = kept.pids.n = 0;
    }
    kept_answer a = {(uint32_t)kept.pids.n, (uint32_t)pids->n}, *to = NULL;
    if (vec_reserve(&kept.answers, 1) == OK && copy_pids(pids->p, pids->n, &kept.pids))
        to = vec_push(&kept.answers);
    uint32_t *at = to ? map_at(&kept.by_file, file_key(f)) : NULL;
    if (to) *to = a;
    if (at) *at = (uint32_t)(kept.answers.n - 1);
    pthread_mutex_unlock(&kept.lock);
}

/* ---- what another program asked before ---- */

/* Answers that cost unpacking a whole file are entries of the cache: traces without events,
 * whose one fact is the list. */
#define FACT STR("processes")

static cache_key packed_key(const char *path) {
    cache_key key = {.n = 0};
    if (cache_enabled()) key = cache_key_of(path);
    cache_key_extend(&key, "processes", 0);
    return key;
}

static bool read_list(str text, vec *pids) {
    while (text.n) {
        str number = str_cut(&text, STR(","));
        int64_t pid, *to = str_to_i64(number, &pid) ? vec_push(pids) : NULL;
        if (!to) return false;
        *to = pid;
    }
    return true;
}

static bool find_cached(const cache_key *key, vec *pids) {
    trace *t = key->n ? cache_find(key, TRACE_TABLE(meta)) : NULL;
    bool found = false;
    for (uint32_t i = 1; t && i < t->meta.n && !found; i++)
        found = str_eq(trace_str(t, t->meta.key[i]), FACT) &&
                read_list(trace_str(t, t->meta.value[i]), pids);
    if (!found) pids->n = 0;
    if (t) trace_release(t);
    return found;
}

/* When it fails, it is asked again next time. */
static void keep_cached(const cache_key *key, const vec *pids) {
    buf text = {0};
    trace *t = NULL;
    builder *b = key->n ? builder_new() : NULL;
    for (size_t i = 0; i < pids->n; i++) {
        if (i) buf_add_byte(&text, ',');
        buf_add_i64(&text, VEC(pids, int64_t)[i]);
    }
    uint32_t name = b ? intern_add(builder_strings(b), FACT) : UINT32_MAX;
    uint32_t list = b && buf_ok(&text) ? intern_add(builder_strings(b), buf_str(&text)) : name;
    if (b && buf_ok(&text) && name != UINT32_MAX && list != UINT32_MAX &&
        builder_add_meta(b, name, list, NULL) == OK && builder_seal(b, NULL, &t, NULL) == OK)
        (void)!cache_keep(key, t, NULL);
    if (t) trace_release(t);
    builder_free(b);
    buf_fini(&text);
}

/* ---- asking ---- */

static status ask_packed(const found_file *f, source *s, vec *pids) {
    ingest_options o = {.path = f->path.p};
    cache_key key = packed_key(f->path.p);
    if (find_cached(&key, pids)) return OK;
    TRY(nsight_processes(s, &o, pids, NULL));
    keep_cached(&key, pids);
    return OK;
}

/* The processes of a file, none when it is no such one. */
static status ask_processes(const found_file *f, bool named, vec *pids, error *err) {
    source *s = NULL;
    ingest_options o = {.path = f->path.p};
    bool is = false;
    *pids = VEC_INIT(int64_t);
    if (!f->name.database || remote_is_url(f->path.p)) return OK;
    if (find_kept(f, pids)) return OK;
    status st = source_open(f->path.p, &s, named ? err : NULL);
    if (st == OK) st = is_nsight(f, named, s, &is, err);
    bool packed = st == OK && source_codec(s) != CODEC_NONE;
    if (st == OK && is)
        st = packed ? ask_packed(f, s, pids) : nsight_processes(s, &o, pids, NULL);
    source_close(s);
    if (st == OK) keep(f, pids);
    bool fails = st == ERR_MEMORY || (named && st == ERR_IO);
    if (!fails) return OK;
    vec_fini(pids);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

/* `like`: the file as it was found, by value: the list may move. */
static status add_worker(arena *a, vec *files, found_file like, int64_t process, error *err) {
    found_file *to = vec_push(files);
    if (!to) FAIL_MEMORY(err);
    *to = like;
    to->name.worker =
        arena_printf(a, "%.*s.%lld", STR_ARG(like.name.worker), (long long)process);
    to->name.host = true;
    to->process = process;
    if (!to->name.worker.p) FAIL_MEMORY(err);
    return OK;
}

/* A worker is read from the whole file: thousands of them, which no machine runs, would be read
 * for hours. They stay one worker. */
enum { MOST_PROCESSES = 256 };

status processes_part(arena *a, vec *files, bool named, error *err) {
    size_t n = files->n, left = 0;
    for (size_t i = 0; i < n; i++) {
        found_file file = VEC(files, found_file)[i];
        vec pids;
        status st = OK;
        TRY(ask_processes(&file, named, &pids, err));
        bool several = pids.n > 1 && pids.n <= MOST_PROCESSES;
        for (size_t k = 0; several && k < pids.n && st == OK; k++)
            st = add_worker(a, files, file, VEC(&pids, int64_t)[k], err);
        vec_fini(&pids);
        TRY(st);
        if (!several) VEC(files, found_file)[left++] = file;
    }
    size_t added = files->n - n;
    if (added)
        memmove(VEC(files, found_file) + left, VEC(files, found_file) + n,
                added * sizeof(found_file));
    files->n = left + added;
    return OK;
}
