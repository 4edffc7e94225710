/* discover.c: walks a directory and sorts what it finds into runs, workers and spans.
 *
 * Two steps. The walk makes one flat list of trace files, each with the run, worker and stamp
 * its place and name say. Sorting that list puts the files of a run, of a worker and of a span
 * next to each other, so the catalogue is cut out of it in one pass.
 *
 * Symbolic links are followed; a link back to a directory on the way down would loop, so the
 * way is compared by device and inode, and it ends at 64 levels. A directory below the root
 * that cannot be read is skipped, as is a file that vanishes while we look. Two files of the
 * same worker and stamp (a trace and its compressed copy) are one span: the least packed one
 * counts. Nothing is opened whose name says what it is. What is not a trace is kept in a list
 * with what it is, so that nothing is skipped in silence.
 *
 * MindSpore's profiler writes folders, not files: a flat folder holds the files of several
 * devices, each a worker; a folder NAME_PID_TIME_ascend_ms is one span. Such a worker is named
 * by one of its files, and its own subfolders are not searched again. So does torch_npu: a
 * folder WORKER_TIME_ascend_pt is one span, named by the timeline in it. */
#include "session/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "base/vec.h"
#include "ingest/ascend/ascend_db.h"
#include "ingest/ascend/torch_npu.h"
#include "ingest/mindspore/mindspore.h"
#include "ingest/rocm/rocm.h"
#include "io/remote.h"
#include "session/beside.h"
#include "session/discover_int.h"
#include "session/sniff.h"

#define MOST_LEVELS 64

/* A directory on the way from the root to the current one. */
typedef struct level level;
struct level {
    const level *above;
    dev_t device;
    ino_t inode;
    int depth;
};

/* Files without a trace's name or content are opened to be named up to this many; a folder of
 * thousands of checkpoints must not be read through. The others are named by their names. */
enum { MOST_LOOKS = 256 };

typedef struct {
    arena *a;
    vec files;  /* found */
    vec passed; /* passed_file */
    uint32_t n_looks;
    size_t n_seen; /* entries of all folders */
    size_t n_root; /* bytes of the root's path, with the slash after it */
} walk;

typedef struct {
    str name;
    struct stat st;
} dir_item;

int64_t found_mtime(const struct stat *st) {
    return seconds_ns(st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

status found_fail(error *err, uint16_t message, const char *path, int code) {
    char text[128];
    FAIL(err, ERR_IO, NOPOS, message, arg_cstr("path", path),
         arg_cstr("reason", strerror_r(code, text, sizeof text)));
}

static int discover_compare_items(const void *a, const void *b) {
    return str_cmp(((const dir_item *)a)->name, ((const dir_item *)b)->name);
}

/* An agent does not even learn the names that a link outside its folder leads to. */
static bool leads_out(DIR *d, const struct dirent *e) {
    if (!source_confined()) return false;
    int fd = openat(dirfd(d), e->d_name, O_PATH | O_CLOEXEC);
    bool within = fd >= 0 && source_is_within(fd);
    if (fd >= 0) close(fd);
    return !within;
}

/* Everything of interest in one directory, sorted by name. */
static status list_directory(walk *w, const char *path, vec *items, error *err) {
    DIR *d = fault_point(FAULT_READ) ? (errno = EIO, NULL) : opendir(path);
    if (!d) return found_fail(err, MSG_CANNOT_READ, path, errno);
    status s = source_is_within(dirfd(d)) ? OK : found_fail(err, MSG_CANNOT_READ, path, EACCES);
    for (struct dirent *e; s == OK && (e = readdir(d));) {
        struct stat st;
        if (e->d_name[0] == '.' || str_ends(str_of(e->d_name), STR(".tmp"))) continue;
        if (fstatat(dirfd(d), e->d_name, &st, 0) != 0) continue;
        if (leads_out(d, e)) continue;
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) continue;
        dir_item *item = vec_push(items);
        if (item) *item = (dir_item){.name = arena_str(w->a, str_of(e->d_name)), .st = st};
        if (!item || !item->name.p)
            s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    closedir(d);
    if (s == OK && items->n > 1)
        qsort(items->p, items->n, sizeof(dir_item), discover_compare_items);
    return s;
}

static status add_file(walk *w, const dir_item *item, const found_file *like, error *err) {
    found_file *f = vec_push(&w->files);
    if (!f) FAIL_MEMORY(err);
    *f = *like;
    f->path = arena_printf(w->a, "%.*s/%.*s", STR_ARG(like->run_path), STR_ARG(item->name));
    f->size_bytes = item->st.st_size > 0 ? (uint64_t)item->st.st_size : 0;
    f->mtime_ns = found_mtime(&item->st);
    if (!f->path.p) FAIL_MEMORY(err);
    return OK;
}

static status pass_over(walk *w, str path, const sniff_result *as, error *err) {
    passed_file *p = vec_push(&w->passed);
    if (!p) FAIL_MEMORY(err);
    *p = (passed_file){str_from(path, w->n_root), as->what, as->message};
    return OK;
}

static status add_by_content(walk *w, const dir_item *item, found_file *like, error *err) {
    sniff_result what;
    str path = arena_printf(w->a, "%.*s/%.*s", STR_ARG(like->run_path), STR_ARG(item->name));
    if (!path.p) FAIL_MEMORY(err);
    bool may_be = name_may_be_trace(item->name);
    if (may_be || w->n_looks++ < MOST_LOOKS)
        what = sniff_file(path.p);
    else
        what = sniff_name(item->name);
    if (!may_be && what.trace) what.message = MSG_NONE, what.what = MSG_WHAT_ODD_NAME;
    if (!may_be || !what.trace) return pass_over(w, path, &what, err);
    name_of_any(item->name, &like->name);
    return add_file(w, item, like, err);
}

/* The workers whose traces are in a folder: another view of one of them is skipped. */
typedef struct {
    map workers; /* told_key → 1 */
    bool any_host;
} told_workers;

/* By tables: rocprofv3's; by results: its PREFIX_results.json or .db, which have all that the
 * tables have. */
enum { TOLD_BY_HOST, TOLD_BY_TRACE, TOLD_BY_TABLES, TOLD_BY_RESULTS };
static const str RESULTS = STR("_results");

static uint64_t told_key(uint64_t by, str worker) {
    return hash_pair(by, intern_hash(worker));
}

static status add_told(told_workers *t, uint64_t by, str worker, error *err) {
    uint32_t *at = map_at(&t->workers, told_key(by, worker));
    if (!at) FAIL_MEMORY(err);
    *at = 1;
    return OK;
}

static status list_told(const vec *items, told_workers *out, error *err) {
    for (size_t i = 0; i < items->n; i++) {
        str file = VEC(items, dir_item)[i].name;
        trace_name name;
        bool parsed = name_parse(file, &name);
        if (!parsed && !name_may_be_trace(file)) continue;
        if (!parsed) name_of_any(file, &name);
        if (parsed && name.host) {
            out->any_host = true;
            TRY(add_told(out, TOLD_BY_HOST, name.worker, err));
        }
        if (name.perfetto) continue;
        TRY(add_told(out, name.table ? TOLD_BY_TABLES : TOLD_BY_TRACE, name.worker, err));
        str stem = name.worker;
        if (!str_ends(stem, RESULTS)) continue;
        stem.n -= RESULTS.n;
        TRY(add_told(out, TOLD_BY_RESULTS, stem, err));
    }
    return OK;
}

static bool is_told_by(const told_workers *t, uint64_t by, str worker) {
    return map_get(&t->workers, told_key(by, worker)) != MAP_NONE;
}

/* Is it what JAX wrote of a profile in the same folder for other viewers, Perfetto's form of a
 * trace in the same folder, as rocprofv3 writes both and `export` does, or rocprofv3's tables
 * of what is in its JSON or database? */
static bool is_retold(const told_workers *t, str file) {
    str host;
    trace_name own;
    if (name_is_retold(file, &host) &&
        (host.n ? is_told_by(t, TOLD_BY_HOST, host) : t->any_host))
        return true;
    name_of_any(file, &own);
    if (own.table) return is_told_by(t, TOLD_BY_RESULTS, own.worker);
    str stem = own.worker;
    if (own.perfetto && str_ends(stem, RESULTS)) stem.n -= RESULTS.n;
    return own.perfetto &&
           (is_told_by(t, TOLD_BY_TRACE, own.worker) || is_told_by(t, TOLD_BY_TABLES, stem));
}

static status pass_retold(walk *w, const dir_item *item, const found_file *run, error *err) {
    const sniff_result retold = {.what = MSG_WHAT_RETOLD};
    str path = arena_printf(w->a, "%.*s/%.*s", STR_ARG(run->run_path), STR_ARG(item->name));
    if (!path.p) FAIL_MEMORY(err);
    return pass_over(w, path, &retold, err);
}

/* Of one directory. npu: the parts of torch_npu's results are not traces by themselves. */
typedef struct {
    const vec *items;
    const found_file *run;
    bool by_content, npu;
    told_workers told;
} folder_files;

static status add_one(walk *w, const folder_files *f, const dir_item *item, error *err) {
    found_file like = *f->run;
    if (!S_ISREG(item->st.st_mode) || (f->npu && torch_npu_is_part(item->name)) ||
        rocm_csv_is_part(item->name))
        return OK;
    if (is_retold(&f->told, item->name)) return pass_retold(w, item, f->run, err);
    if (name_parse(item->name, &like.name)) return add_file(w, item, &like, err);
    return f->by_content ? add_by_content(w, item, &like, err) : OK;
}

/* The trace files of one directory: those named like traces, and those that are by content,
 * unless the folder is another profiler's own. */
static status add_files(walk *w, folder_files *f, error *err) {
    status st = list_told(f->items, &f->told, err);
    for (size_t i = 0; i < f->items->n && st == OK; i++)
        st = add_one(w, f, &VEC(f->items, dir_item)[i], err);
    map_fini(&f->told.workers);
    return st;
}

static bool is_database(const found_file *f) {
    return f->name.database;
}

static bool is_perfetto(const found_file *f) {
    return f->name.perfetto;
}

/* Databases, and files of Perfetto, next to other traces are a separate run: another
 * profiler's, of another time. first: of the files that were found in this folder. */
static status part_form(walk *w, size_t first, bool (*is)(const found_file *f),
                        const char *path, const char *name, error *err) {
    size_t n = 0;
    for (size_t i = first; i < w->files.n; i++) n += is(&VEC(&w->files, found_file)[i]);
    if (n == 0 || n == w->files.n - first) return OK;
    for (size_t i = first; i < w->files.n; i++) {
        found_file *f = &VEC(&w->files, found_file)[i];
        if (!is(f)) continue;
        f->run_path = arena_printf(w->a, "%.*s%s", STR_ARG(f->run_path), path);
        f->run_name = arena_printf(w->a, "%.*s%s", STR_ARG(f->run_name), name);
        if (!f->run_path.p || !f->run_name.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- what CANN's profiler leaves of any framework ---------------------------------------- */

static str path_below(walk *w, str folder, const char *name) {
    return arena_printf(w->a, "%.*s/%s", STR_ARG(folder), name);
}

/* The database of a framework's results among the files of a folder; NULL: there is none. */
static const dir_item *find_database(const vec *items) {
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (S_ISREG(item->st.st_mode) && ascend_db_name(item->name)) return item;
    }
    return NULL;
}

static const dir_item *find_file(const vec *items, str name) {
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (S_ISREG(item->st.st_mode) && str_eq(item->name, name)) return item;
    }
    return NULL;
}

/* What results are read from: the timeline with its tables, which say more about collectives
 * than a database of the same run; otherwise that database; otherwise the table of tasks
 * alone. */
static const dir_item *choose_results(const vec *items) {
    const dir_item *timeline = find_file(items, STR("trace_view.json")),
                   *database = find_database(items);
    if (timeline) return timeline;
    return database ? database : find_file(items, STR("kernel_details.csv"));
}

static status find_results(walk *w, str folder, str *file, struct stat *st, error *err) {
    vec items = VEC_INIT(dir_item);
    str results = path_below(w, folder, "ASCEND_PROFILER_OUTPUT");
    *file = STR_NONE;
    if (!results.p) FAIL_MEMORY(err);
    status s = list_directory(w, results.p, &items, NULL);
    const dir_item *item = s == OK ? choose_results(&items) : NULL;
    if (item) {
        *st = item->st;
        *file = arena_printf(w->a, "%.*s/%.*s", STR_ARG(results), STR_ARG(item->name));
    }
    bool failed = s == ERR_MEMORY || (item && !file->p);
    vec_fini(&items);
    if (failed) FAIL_MEMORY(err);
    return OK;
}

/* ---- folders of MindSpore's profiler: a worker is all files of one device ---------------- */

/* The first file in a folder that MindSpore wrote, below it also in the folders that belong to
 * it. */
static str find_own_file(walk *w, str folder) {
    static const char *const parts[] = {"", "/FRAMEWORK", "/ASCEND_PROFILER_OUTPUT"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        str path = arena_printf(w->a, "%.*s%s", STR_ARG(folder), parts[i]);
        vec items = VEC_INIT(dir_item);
        str file = STR_NONE;
        mindspore_name name;
        if (path.p && list_directory(w, path.p, &items, NULL) == OK)
            for (size_t k = 0; k < items.n && !file.p; k++) {
                const dir_item *item = &VEC(&items, dir_item)[k];
                if (S_ISREG(item->st.st_mode) && mindspore_name_parse(item->name, &name))
                    file = arena_printf(w->a, "%.*s/%.*s", STR_ARG(path), STR_ARG(item->name));
            }
        vec_fini(&items);
        if (file.p) return file;
    }
    return STR_NONE;
}

static status discover_add_worker(walk *w, str path, const struct stat *st,
                                  const found_file *like, error *err) {
    found_file *f = vec_push(&w->files);
    if (!f) FAIL_MEMORY(err);
    *f = *like;
    f->path = path;
    f->size_bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0;
    f->mtime_ns = found_mtime(st);
    return OK;
}

/* A cycle of 2.7 and later: its folder is one span of a worker of the run around it. */
static status add_cycle(walk *w, str folder, str name, const found_file *run, error *err) {
    struct stat st;
    found_file like = *run;
    like.name = (trace_name){.packing = 0};
    if (!mindspore_folder_parse(name, &like.name.worker, &like.name.stamp)) return OK;
    str file = STR_NONE;
    TRY(find_results(w, folder, &file, &st, err));
    if (!str_ends(file, STR(".db"))) file = find_own_file(w, folder);
    if (!file.p || stat(file.p, &st) != 0) return OK;
    return discover_add_worker(w, file, &st, &like, err);
}

/* The devices of a flat folder, each with the first of its files. */
static status discover_add_devices(walk *w, const vec *items, const found_file *run,
                                   error *err) {
    vec ids = VEC_INIT(int64_t);
    status s = OK;
    bool any = false;
    for (int pass = 0; pass < 2 && s == OK; pass++) {
        for (size_t i = 0; i < items->n && s == OK; i++) {
            const dir_item *item = &VEC(items, dir_item)[i];
            mindspore_name name;
            if (!S_ISREG(item->st.st_mode) || !mindspore_name_is_sure(item->name) ||
                !mindspore_name_parse(item->name, &name))
                continue;
            /* Files without a number belong to every device; alone they are one. */
            if (pass == 0 ? name.id == MINDSPORE_ANY_ID : any || ids.n) continue;
            if (pass == 1) name.id = 0, any = true;
            bool known = false;
            for (size_t k = 0; k < ids.n; k++) known |= VEC(&ids, int64_t)[k] == name.id;
            int64_t *to = known ? NULL : vec_push(&ids);
            if (known) continue;
            found_file like = *run;
            like.name = (trace_name){.stamp = str_n("", 0)};
            like.name.worker = arena_printf(w->a, "rank%lld", (long long)name.id);
            str path =
                arena_printf(w->a, "%.*s/%.*s", STR_ARG(run->run_path), STR_ARG(item->name));
            if (!to || !like.name.worker.p || !path.p)
                s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
            else {
                *to = name.id;
                s = discover_add_worker(w, path, &item->st, &like, err);
            }
        }
    }
    vec_fini(&ids);
    return s;
}

/* Everything of MindSpore's in one folder; *mine: what is below belongs to it. */
static status add_mindspore(walk *w, const vec *items, const found_file *run, bool *mine,
                            error *err) {
    size_t before = w->files.n;
    str own = run->run_path, worker, stamp;
    size_t slash = str_rfind_byte(own, '/');
    if (slash != SIZE_MAX) own = str_from(own, slash + 1);
    if (mindspore_folder_parse(own, &worker, &stamp)) {
        TRY(add_cycle(w, run->run_path, own, run, err));
    } else {
        for (size_t i = 0; i < items->n; i++) {
            const dir_item *item = &VEC(items, dir_item)[i];
            if (!S_ISDIR(item->st.st_mode)) continue;
            str path =
                arena_printf(w->a, "%.*s/%.*s", STR_ARG(run->run_path), STR_ARG(item->name));
            if (!path.p) FAIL_MEMORY(err);
            TRY(add_cycle(w, path, item->name, run, err));
        }
        TRY(discover_add_devices(w, items, run, err));
    }
    *mine = w->files.n > before;
    return OK;
}

/* The name of a directory as a person calls it, also for "." and "..": its last part. */
str folder_own_name(arena *a, const char *path) {
    char real[PATH_MAX];
    str whole = str_of(realpath(path, real) ? real : path);
    while (whole.n > 1 && whole.p[whole.n - 1] == '/') whole.n--;
    size_t slash = str_rfind_byte(whole, '/');
    return arena_str(a, slash == SIZE_MAX || whole.n == 1 ? whole : str_from(whole, slash + 1));
}

/* ---- folders of torch_npu: one span of one worker ---------------------------------------- */

/* rankN of profiler_info_N.json; a run of one device has no number there. */
static status name_by_rank(walk *w, str folder, str *worker, error *err) {
    vec items = VEC_INIT(dir_item);
    int64_t rank, found = INT64_MIN;
    status s = list_directory(w, folder.p, &items, NULL);
    for (size_t i = 0; s == OK && i < items.n; i++)
        if (torch_npu_rank_parse(VEC(&items, dir_item)[i].name, &rank)) found = rank;
    vec_fini(&items);
    if (s == ERR_MEMORY) FAIL_MEMORY(err);
    if (found == INT64_MIN) return OK;
    *worker = arena_printf(w->a, "rank%lld", (long long)found);
    if (!worker->p) FAIL_MEMORY(err);
    return OK;
}

/* *mine: it is such a folder, read or not. */
static status add_npu_cycle(walk *w, str folder, str name, const found_file *run, bool *mine,
                            error *err) {
    const sniff_result raw = {.what = MSG_WHAT_ASCEND_RAW, .message = MSG_FOREIGN_ASCEND_RAW};
    struct stat st;
    str file;
    found_file like = *run;
    like.name = (trace_name){.packing = 0};
    if (!torch_npu_folder_parse(name, &like.name.worker, &like.name.stamp)) return OK;
    *mine = true;
    TRY(find_results(w, folder, &file, &st, err));
    if (!file.p) return pass_over(w, folder, &raw, err);
    TRY(name_by_rank(w, folder, &like.name.worker, err));
    return discover_add_worker(w, file, &st, &like, err);
}

static bool is_npu_timeline(const char *path) {
    source *s = NULL;
    if (source_open(path, &s, NULL) != OK) return false;
    bool is;
    status st = sniff_torch_npu(s, &is, NULL);
    source_close(s);
    return st == OK && is;
}

static bool has_mindspore(const vec *items) {
    for (size_t i = 0; i < items->n; i++)
        if (mindspore_name_is_sure(VEC(items, dir_item)[i].name)) return true;
    return false;
}

/* The folder of results itself, under whatever name; not where the timeline is another's. */
static status add_npu_results(walk *w, const vec *items, const found_file *run, bool *mine,
                              error *err) {
    const dir_item *item = choose_results(items);
    if (!item || has_mindspore(items)) return OK;
    str path = arena_printf(w->a, "%.*s/%.*s", STR_ARG(run->run_path), STR_ARG(item->name));
    if (!path.p) FAIL_MEMORY(err);
    if (str_ends(item->name, STR(".json")) && !is_npu_timeline(path.p)) return OK;
    found_file like = *run;
    name_of_any(item->name, &like.name);
    *mine = true;
    return discover_add_worker(w, path, &item->st, &like, err);
}

/* Everything of torch_npu's in one folder; *mine: its contents belong to its worker. */
static status add_npu(walk *w, const vec *items, const found_file *run, bool *mine,
                      error *err) {
    str own = run->run_path;
    size_t slash = str_rfind_byte(own, '/');
    bool below = false;
    if (slash != SIZE_MAX) own = str_from(own, slash + 1);
    if (str_eq(own, STR(".")) || str_eq(own, STR("..")) || !own.n)
        own = folder_own_name(w->a, run->run_path.p);
    TRY(add_npu_cycle(w, run->run_path, own, run, mine, err));
    if (*mine) return OK;
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (!S_ISDIR(item->st.st_mode)) continue;
        str path = arena_printf(w->a, "%.*s/%.*s", STR_ARG(run->run_path), STR_ARG(item->name));
        if (!path.p) FAIL_MEMORY(err);
        TRY(add_npu_cycle(w, path, item->name, run, &below, err));
    }
    return add_npu_results(w, items, run, mine, err);
}

static bool is_on_the_way(const level *way, const struct stat *st) {
    for (; way; way = way->above)
        if (way->device == st->st_dev && way->inode == st->st_ino) return true;
    return false;
}

static status walk_directory(walk *w, str path, str name, const level *way, error *err);

/* The name of a run below the root. TensorBoard's folders around the runs of XLA's profiler
 * (LOG/plugins/profile/RUN) say nothing. */
static str name_below(walk *w, str above, str own, bool root) {
    static const str folders = STR("plugins/profile");
    if (root) return own;
    if (str_eq(above, folders)) return own;
    if (str_ends(above, folders) && above.p[above.n - folders.n - 1] == '/')
        above.n -= folders.n + 1;
    return arena_printf(w->a, "%.*s/%.*s", STR_ARG(above), STR_ARG(own));
}

static status walk_below(walk *w, const vec *items, const found_file *here, const level *way,
                         bool mine, error *err) {
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (!S_ISDIR(item->st.st_mode) || is_on_the_way(way, &item->st)) continue;
        str worker, stamp;
        if (torch_npu_folder_parse(item->name, &worker, &stamp)) continue;
        if (mine && (mindspore_is_part(item->name) ||
                     mindspore_folder_parse(item->name, &worker, &stamp)))
            continue;
        bool root = way->above == NULL;
        str path =
            arena_printf(w->a, "%.*s/%.*s", STR_ARG(here->run_path), STR_ARG(item->name));
        str name = name_below(w, here->run_name, item->name, root);
        if (!path.p || !name.p) FAIL_MEMORY(err);
        level next = {.above = way,
                      .device = item->st.st_dev,
                      .inode = item->st.st_ino,
                      .depth = way->depth + 1};
        status s = next.depth < MOST_LEVELS ? walk_directory(w, path, name, &next, err) : OK;
        if (s == ERR_IO) {
            const sniff_result closed = {.what = MSG_WHAT_UNREADABLE_FOLDER};
            s = pass_over(w, path, &closed, err);
        }
        TRY(s);
    }
    return OK;
}

static status walk_directory(walk *w, str path, str name, const level *way, error *err) {
    vec items = VEC_INIT(dir_item);
    found_file here = {.run_path = path, .run_name = name};
    status s = list_directory(w, path.p, &items, err);
    bool mine = false, npu = false;
    size_t first = w->files.n;
    w->n_seen += items.n;
    if (s == OK) s = add_npu(w, &items, &here, &npu, err);
    if (s == OK && !npu) s = add_mindspore(w, &items, &here, &mine, err);
    if (s == OK)
        s = add_files(
            w, &(folder_files){.items = &items, .run = &here, .by_content = !mine, .npu = npu},
            err);
    if (s == OK) s = part_form(w, first, is_database, "/.", "/sqlite", err);
    if (s == OK) s = part_form(w, first, is_perfetto, "/./.", "/perfetto", err);
    if (s == OK) s = walk_below(w, &items, &here, way, mine || npu, err);
    vec_fini(&items);
    return s;
}

/* ---- from the flat list to the catalogue ------------------------------------------------- */

int found_compare(const void *pa, const void *pb) {
    const found_file *a = pa, *b = pb;
    int c = name_compare(a->run_name, b->run_name);
    if (c == 0) c = str_cmp(a->name.worker, b->name.worker);
    if (c == 0) c = name_compare_stamps(a->name.stamp, b->name.stamp);
    if (c == 0) c = a->name.memory - b->name.memory;
    if (c == 0) c = a->name.packing - b->name.packing;
    return c ? c : str_cmp(a->path, b->path);
}

static bool same_run(const found_file *a, const found_file *b) {
    return str_eq(a->run_path, b->run_path) && str_eq(a->run_name, b->run_name);
}
static bool same_worker(const found_file *a, const found_file *b) {
    return same_run(a, b) && str_eq(a->name.worker, b->name.worker);
}
static bool same_span(const found_file *a, const found_file *b) {
    return same_worker(a, b) && name_compare_stamps(a->name.stamp, b->name.stamp) == 0;
}

static void note_time(run_entry *run, int64_t start_ns, int64_t mtime_ns) {
    bool known = start_ns != INT64_MIN;
    if (known && (run->start_ns == INT64_MIN || start_ns < run->start_ns))
        run->start_ns = start_ns;
    run->newest_ns = max_i64(run->newest_ns, known ? start_ns : mtime_ns);
}

/* files: sorted, n > 0. Each file starts a new run, worker or span, or is another copy of the
 * last. */
static status make_catalogue(arena *a, const found_file *f, size_t n, catalogue *out,
                             error *err) {
    size_t n_runs = 0, n_workers = 0, n_spans = 0;
    for (size_t i = 0; i < n; i++) {
        n_runs += i == 0 || !same_run(&f[i - 1], &f[i]);
        n_workers += i == 0 || !same_worker(&f[i - 1], &f[i]);
        n_spans += i == 0 || !same_span(&f[i - 1], &f[i]);
    }
    run_entry *run = ARENA_ARRAY(a, run_entry, n_runs);
    worker_entry *worker = ARENA_ARRAY(a, worker_entry, n_workers);
    span_entry *span = ARENA_ARRAY(a, span_entry, n_spans);
    if (!run || !worker || !span) FAIL_MEMORY(err);
    out->runs = run--;
    worker--;
    span--;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !same_run(&f[i - 1], &f[i]))
            *++run = (run_entry){.name = f[i].run_name,
                                 .path = f[i].run_path,
                                 .workers = worker + 1,
                                 .start_ns = INT64_MIN,
                                 .newest_ns = INT64_MIN};
        if (i == 0 || !same_worker(&f[i - 1], &f[i])) {
            run->n_workers++;
            *++worker = (worker_entry){.name = f[i].name.worker,
                                       .memory = f[i].name.memory,
                                       .host = f[i].name.host,
                                       .spans = span + 1};
        }
        if (i > 0 && same_span(&f[i - 1], &f[i])) continue;
        int64_t start = f[i].start_ns ? f[i].start_ns : name_stamp_ns(f[i].name.stamp);
        note_time(run, start, f[i].mtime_ns);
        *++span = (span_entry){.path = f[i].path,
                               .start_ns = start,
                               .stamp = f[i].name.stamp,
                               .own = f[i].own,
                               .process = f[i].process,
                               .number = ++worker->n_spans,
                               .size_bytes = f[i].size_bytes,
                               .mtime_ns = f[i].mtime_ns};
    }
    out->n_runs = (uint32_t)n_runs;
    for (uint32_t i = 0; i < out->n_runs; i++) roles_settle(&out->runs[i]);
    return OK;
}

/* ---- the front --------------------------------------------------------------------------- */

/* The number a file gives to its span. */
static status ask_file(arena *a, found_file *f, error *err) {
    int64_t number;
    f->own = str_n("", 0);
    if (!f->name.asks_file || !sniff_span(f->path.p, &number)) return OK;
    f->own = arena_printf(a, "%lld", (long long)number);
    if (!f->own.p) FAIL_MEMORY(err);
    return OK;
}

/* The names were borrowed from file names: make them end in NUL. */
static status own_names(arena *a, found_file *f, size_t n, error *err) {
    for (size_t i = 0; i < n; i++) {
        f[i].name.worker = arena_str(a, f[i].name.worker);
        f[i].name.stamp = arena_str(a, f[i].name.stamp);
        if (!f[i].name.worker.p || !f[i].name.stamp.p) FAIL_MEMORY(err);
        TRY(ask_file(a, &f[i], err));
    }
    return OK;
}

/* A snapshot or another form of the same stem is not a copy of the trace: it is named by its
 * whole name. */
static void part_forms(found_file *f, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (same_span(&f[i - 1], &f[i]) && f[i - 1].name.memory != f[i].name.memory) {
            found_file *m = f[i].name.memory ? &f[i] : &f[i - 1];
            size_t slash = str_rfind_byte(m->path, '/');
            m->name.worker = slash == SIZE_MAX ? m->path : str_from(m->path, slash + 1);
        }
}

static status sort_files(arena *a, found_file *files, size_t n, error *err) {
    TRY(own_names(a, files, n, err));
    qsort(files, n, sizeof *files, found_compare);
    part_forms(files, n);
    qsort(files, n, sizeof *files, found_compare);
    return OK;
}

/* Files that were named, and all of the processes in them. */
status catalogue_of_given(arena *a, const found_file *f, size_t n, catalogue *out, error *err) {
    vec files = VEC_INIT(found_file);
    status s = OK;
    for (size_t i = 0; i < n && s == OK; i++) {
        found_file *to = vec_push(&files);
        if (to)
            *to = f[i];
        else
            s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    if (s == OK) s = processes_part(a, &files, true, err);
    found_file *all = VEC(&files, found_file);
    if (s == OK) s = sort_files(a, all, files.n, err);
    if (s == OK) s = recordings_split(a, all, files.n, err);
    if (s == OK) qsort(all, files.n, sizeof *all, found_compare);
    if (s == OK) s = make_catalogue(a, all, files.n, out, err);
    vec_fini(&files);
    return s;
}

static status discover_file(arena *a, const char *path, const struct stat *st, catalogue *out,
                            error *err) {
    str whole = arena_str(a, str_of(path)), parent;
    if (!whole.p) FAIL_MEMORY(err);
    size_t slash = str_rfind_byte(whole, '/');
    parent = arena_str(a, slash == SIZE_MAX ? STR(".") : str_n(whole.p, slash ? slash : 1));
    if (!parent.p) FAIL_MEMORY(err);
    found_file f = {.run_path = parent, .path = whole, .mtime_ns = found_mtime(st)};
    f.run_name = strcmp(path, "-") == 0 ? STR("") : folder_own_name(a, parent.p);
    if (!f.run_name.p) FAIL_MEMORY(err);
    if (st->st_size > 0) f.size_bytes = (uint64_t)st->st_size;
    str base = slash == SIZE_MAX ? whole : str_from(whole, slash + 1);
    if (!name_parse(base, &f.name)) name_of_any(base, &f.name);
    return catalogue_of_given(a, &f, 1, out, err);
}

status catalogue_of_files(arena *a, found_file *files, size_t n, catalogue *out, error *err) {
    TRY(sort_files(a, files, n, err));
    return make_catalogue(a, files, n, out, err);
}

/* Another file of the same worker and stamp: its packed copy, or the same under another
 * form. */
static status pass_copies(walk *w, const found_file *f, size_t n, error *err) {
    const sniff_result copy = {.what = MSG_WHAT_COPY};
    for (size_t i = 1; i < n; i++)
        if (same_span(&f[i - 1], &f[i]) && !f[i].name.table)
            TRY(pass_over(w, f[i].path, &copy, err));
    return OK;
}

static void forget_passed(walk *w, str path) {
    passed_file *p = VEC(&w->passed, passed_file);
    for (size_t i = 0; i < w->passed.n; i++)
        if (p[i].what == MSG_WHAT_CHAKRA && str_eq(p[i].path, path)) p[i] = p[--w->passed.n];
}

/* An execution trace that is joined to a trace is read, not skipped. */
static void take_back_joined(walk *w, const found_file *f, size_t n) {
    bool any = false;
    for (size_t i = 0; i < w->passed.n; i++)
        any |= VEC(&w->passed, passed_file)[i].what == MSG_WHAT_CHAKRA;
    for (size_t i = 0; i < n && any; i++) {
        beside_file et;
        if (str_find(f[i].path, STR(".json"), 0) != SIZE_MAX && !f[i].name.memory &&
            beside_find(f[i].path.p, &et))
            forget_passed(w, str_from(str_of(et.path), w->n_root));
    }
}

static int compare_passed(const void *a, const void *b) {
    return name_compare(((const passed_file *)a)->path, ((const passed_file *)b)->path);
}

static status keep_passed(walk *w, catalogue *out, error *err) {
    passed_file *p = ARENA_ARRAY(w->a, passed_file, w->passed.n + 1);
    if (!p) FAIL_MEMORY(err);
    if (w->passed.n) memcpy(p, w->passed.p, w->passed.n * sizeof *p);
    qsort(p, w->passed.n, sizeof *p, compare_passed);
    out->passed = p;
    out->n_passed = (uint32_t)w->passed.n;
    return OK;
}

/* Why a folder has no run: it is empty, all it has is of one foreign kind, or just so. */
static status fail_without_traces(walk *w, const char *path, bool empty, error *err) {
    const passed_file *p = VEC(&w->passed, passed_file), *first_told = NULL;
    bool one_kind = true;
    for (size_t i = 0; i < w->passed.n; i++) {
        if (p[i].message == MSG_NONE) continue;
        if (!first_told) first_told = &p[i];
        one_kind &= p[i].message == first_told->message;
    }
    if (empty) FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_NO_TRACES_EMPTY, arg_cstr("path", path));
    if (!first_told || !one_kind)
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_NO_TRACES_IN, arg_cstr("path", path));
    str first = arena_printf(w->a, "%s%s%.*s", path, first_told->path.n ? "/" : "",
                             STR_ARG(first_told->path));
    if (!first.p) FAIL_MEMORY(err);
    FAIL(err, ERR_NOT_FOUND, NOPOS, first_told->message, arg_text("path", first));
}

static status discover_tree(arena *a, const char *path, const struct stat *st, catalogue *out,
                            error *err) {
    walk w = {.a = a, .files = VEC_INIT(found_file), .passed = VEC_INIT(passed_file)};
    level root = {.device = st->st_dev, .inode = st->st_ino};
    str trimmed = str_of(path);
    while (trimmed.n > 1 && trimmed.p[trimmed.n - 1] == '/') trimmed.n--;
    str top = arena_str(a, trimmed), name = folder_own_name(a, path);
    if (!top.p || !name.p) FAIL_MEMORY(err);
    w.n_root = top.n + 1;
    status s = walk_directory(&w, top, name, &root, err);
    if (s == OK) s = processes_part(a, &w.files, false, err);
    found_file *f = VEC(&w.files, found_file);
    size_t n = w.files.n;
    if (s == OK && n) s = sort_files(a, f, n, err);
    if (s == OK && n) s = rank_folders_join(a, top, name, f, n, err);
    if (s == OK && n) qsort(f, n, sizeof *f, found_compare);
    if (s == OK && n) s = recordings_split(a, f, n, err);
    if (s == OK && n) qsort(f, n, sizeof *f, found_compare);
    if (s == OK && n) s = pass_copies(&w, f, n, err);
    if (s == OK) take_back_joined(&w, f, n);
    if (s == OK) s = keep_passed(&w, out, err);
    if (s == OK && n == 0) s = fail_without_traces(&w, top.p, w.n_seen == 0, err);
    if (s == OK) s = make_catalogue(a, f, n, out, err);
    vec_fini(&w.files);
    vec_fini(&w.passed);
    return s;
}

status run_discover(arena *a, const char *path, catalogue *out, error *err) {
    struct stat st = {0};
    catalogue c = {.path = arena_str(a, str_of(path))};
    if (!c.path.p) FAIL_MEMORY(err);
    if (remote_is_url(path)) {
        TRY(discover_remote(a, path, &c, err));
        *out = c;
        return OK;
    }
    if (strcmp(path, "-") != 0 && stat(path, &st) != 0)
        return found_fail(err, MSG_CANNOT_OPEN, path, errno);
    status s = S_ISDIR(st.st_mode) ? discover_tree(a, path, &st, &c, err)
                                   : discover_file(a, path, &st, &c, err);
    if (s == OK || s == ERR_NOT_FOUND) *out = c; /* the skipped files are included, too */
    return s;
}
