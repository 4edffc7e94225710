/* processes.c: a file of several processes is several workers.
 *
 * Nsight Systems writes one report of everything a launcher started. Each process that used a
 * device is a worker, named FILE.PID, and they are the ranks of one run in the order of their
 * ids. Only a plain file is asked: what is packed or far away would have to be read whole. */
#include <pthread.h>

#include "base/hash.h"
#include "base/map.h"
#include "ingest/nsight/nsight.h"
#include "io/remote.h"
#include "session/discover_int.h"
#include "session/sniff.h"

/* Is it a report of Nsight? A file that cannot be read is none, unless it was named. */
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
    uint64_t path = hash_bytes64(f->path.p, f->path.n);
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

/* ---- asking ---- */

/* The processes of a file, none when it is no such one. */
static status ask_processes(const found_file *f, bool named, vec *pids, error *err) {
    source *s = NULL;
    ingest_options o = {.path = f->path.p};
    bool is = false;
    *pids = VEC_INIT(int64_t);
    if (!f->name.database || f->name.packing || remote_is_url(f->path.p)) return OK;
    if (find_kept(f, pids)) return OK;
    status st = source_open(f->path.p, &s, named ? err : NULL);
    if (st == OK) st = is_nsight(f, named, s, &is, err);
    if (st == OK && is && source_codec(s) == CODEC_NONE)
        st = nsight_processes(s, &o, pids, NULL);
    source_close(s);
    if (st == OK) keep(f, pids);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return named && st == ERR_IO ? st : OK;
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

status processes_part(arena *a, vec *files, bool named, error *err) {
    size_t n = files->n, left = 0;
    for (size_t i = 0; i < n; i++) {
        found_file file = VEC(files, found_file)[i];
        vec pids;
        status st = OK;
        TRY(ask_processes(&file, named, &pids, err));
        bool several = pids.n > 1;
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
