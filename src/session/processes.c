/* processes.c: a file of several processes is several workers.
 *
 * Nsight Systems writes one report of everything a launcher started. Each process that used a
 * device is a worker, named FILE.PID, and they are the ranks of one run in the order of their
 * ids. Only a plain file is asked: what is packed or far away would have to be read whole. */
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

/* The processes of a file, none when it is no such one. */
static status ask_processes(const found_file *f, bool named, vec *pids, error *err) {
    source *s = NULL;
    ingest_options o = {.path = f->path.p};
    bool is = false;
    *pids = VEC_INIT(int64_t);
    if (!f->name.database || f->name.packing || remote_is_url(f->path.p)) return OK;
    status st = source_open(f->path.p, &s, named ? err : NULL);
    if (st == OK) st = is_nsight(f, named, s, &is, err);
    if (st == OK && is && source_codec(s) == CODEC_NONE)
        st = nsight_processes(s, &o, pids, NULL);
    source_close(s);
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
