/* discover.c: walks a directory and sorts what it finds into runs, workers and spans.
 *
 * Two steps. The walk makes one flat list of trace files, each with the run, worker and stamp
 * its place and name say. Sorting that list puts the files of a run, of a worker and of a span
 * next to each other, so the catalogue is cut out of it in one pass.
 *
 * Symbolic links are followed; a link back to a directory on the way down would loop, so the
 * way is compared by device and inode, and it ends at 64 levels. A directory below the root
 * that cannot be read is passed over, as is a file that vanishes while we look. Two files of
 * the same worker and stamp (a trace and its compressed copy) are one span: the least packed
 * one counts. Nothing is opened whose name says what it is.
 *
 * MindSpore's profiler writes folders, not files: a flat folder holds the files of several devices,
 * each a worker; a folder NAME_PID_TIME_ascend_ms is one span. Such a worker is named by one of its
 * files, and what lies in folders of its own below is not looked at again. */
#include "session/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/vec.h"
#include "ingest/mindspore.h"
#include "io/remote.h"
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

typedef struct {
    arena *a;
    vec files; /* found */
} walk;

typedef struct {
    str name;
    struct stat st;
} dir_item;

static int64_t mtime_of(const struct stat *st) {
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static status fail_path(error *err, uint16_t message, const char *path, int code) {
    char text[128];
    FAIL(err, ERR_IO, NOPOS, message, arg_cstr("path", path),
         arg_cstr("reason", strerror_r(code, text, sizeof text)));
}

static int compare_items(const void *a, const void *b) {
    return str_cmp(((const dir_item *)a)->name, ((const dir_item *)b)->name);
}

/* Everything of interest in one directory, sorted by name. */
static status list_directory(walk *w, const char *path, vec *items, error *err) {
    DIR *d = fault_point(FAULT_READ) ? (errno = EIO, NULL) : opendir(path);
    if (!d) return fail_path(err, MSG_CANNOT_READ, path, errno);
    status s = OK;
    for (struct dirent *e; s == OK && (e = readdir(d));) {
        struct stat st;
        if (e->d_name[0] == '.' || str_ends(str_of(e->d_name), STR(".tmp"))) continue;
        if (fstatat(dirfd(d), e->d_name, &st, 0) != 0) continue;
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) continue;
        dir_item *item = vec_push(items);
        if (item) *item = (dir_item){.name = arena_str(w->a, str_of(e->d_name)), .st = st};
        if (!item || !item->name.p)
            s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    closedir(d);
    if (s == OK && items->n > 1) qsort(items->p, items->n, sizeof(dir_item), compare_items);
    return s;
}

static status add_file(walk *w, const dir_item *item, const found *like, error *err) {
    found *f = vec_push(&w->files);
    if (!f) FAIL_MEMORY(err);
    *f = *like;
    f->path = arena_printf(w->a, "%.*s/%.*s", STR_ARG(like->run_path), STR_ARG(item->name));
    f->size_bytes = item->st.st_size > 0 ? (uint64_t)item->st.st_size : 0;
    f->mtime_ns = mtime_of(&item->st);
    if (!f->path.p) FAIL_MEMORY(err);
    return OK;
}

/* The trace files of one directory: those named like traces, else those that are by content. */
static status add_files(walk *w, const vec *items, str run_path, str run_name, error *err) {
    size_t before = w->files.n;
    found like = {.run_name = run_name, .run_path = run_path};
    for (int by_content = 0; by_content < 2 && w->files.n == before; by_content++) {
        for (size_t i = 0; i < items->n; i++) {
            const dir_item *item = &VEC(items, dir_item)[i];
            if (!S_ISREG(item->st.st_mode)) continue;
            bool known = name_parse(item->name, &like.name);
            if (by_content == 0 && known) TRY(add_file(w, item, &like, err));
            if (by_content == 0 || known || !name_may_be_trace(item->name)) continue;
            str path = arena_printf(w->a, "%.*s/%.*s", STR_ARG(run_path), STR_ARG(item->name));
            if (!path.p) FAIL_MEMORY(err);
            name_of_any(item->name, &like.name);
            if (sniff_is_trace(path.p)) TRY(add_file(w, item, &like, err));
        }
    }
    return OK;
}

/* ---- folders of MindSpore's profiler: a worker is all files of one device ---------------- */

/* The first file in a folder that MindSpore wrote, below it also in the folders that belong to it. */
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

static status add_worker(walk *w, str path, const struct stat *st, const found *like,
                         error *err) {
    found *f = vec_push(&w->files);
    if (!f) FAIL_MEMORY(err);
    *f = *like;
    f->path = path;
    f->size_bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0;
    f->mtime_ns = mtime_of(st);
    return OK;
}

/* A cycle of 2.7 and later: its folder is one span of a worker of the run around it. */
static status add_cycle(walk *w, str folder, str name, const found *run, error *err) {
    struct stat st;
    found like = *run;
    like.name = (trace_name){.packing = 0};
    if (!mindspore_folder_parse(name, &like.name.worker, &like.name.stamp)) return OK;
    str file = find_own_file(w, folder);
    if (!file.p || stat(file.p, &st) != 0) return OK;
    return add_worker(w, file, &st, &like, err);
}

/* The devices of a flat folder, each with the first of its files. */
static status add_devices(walk *w, const vec *items, const found *run, error *err) {
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
            found like = *run;
            like.name = (trace_name){.stamp = str_n("", 0)};
            like.name.worker = arena_printf(w->a, "rank%lld", (long long)name.id);
            str path =
                arena_printf(w->a, "%.*s/%.*s", STR_ARG(run->run_path), STR_ARG(item->name));
            if (!to || !like.name.worker.p || !path.p)
                s = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
            else {
                *to = name.id;
                s = add_worker(w, path, &item->st, &like, err);
            }
        }
    }
    vec_fini(&ids);
    return s;
}

/* Everything of MindSpore's in one folder; *mine: what lies below belongs to it. */
static status add_mindspore(walk *w, const vec *items, const found *run, bool *mine,
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
        TRY(add_devices(w, items, run, err));
    }
    *mine = w->files.n > before;
    return OK;
}

static bool is_on_the_way(const level *way, const struct stat *st) {
    for (; way; way = way->above)
        if (way->device == st->st_dev && way->inode == st->st_ino) return true;
    return false;
}

static status walk_directory(walk *w, str path, str name, const level *way, error *err);

static status walk_below(walk *w, const vec *items, const found *here, const level *way,
                         bool mine, error *err) {
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (!S_ISDIR(item->st.st_mode) || is_on_the_way(way, &item->st)) continue;
        str worker, stamp;
        if (mine && (mindspore_is_part(item->name) ||
                     mindspore_folder_parse(item->name, &worker, &stamp)))
            continue;
        bool root = way->above == NULL;
        str path =
            arena_printf(w->a, "%.*s/%.*s", STR_ARG(here->run_path), STR_ARG(item->name));
        str name = root ? item->name
                        : arena_printf(w->a, "%.*s/%.*s", STR_ARG(here->run_name),
                                       STR_ARG(item->name));
        if (!path.p || !name.p) FAIL_MEMORY(err);
        level next = {.above = way,
                      .device = item->st.st_dev,
                      .inode = item->st.st_ino,
                      .depth = way->depth + 1};
        status s = next.depth < MOST_LEVELS ? walk_directory(w, path, name, &next, err) : OK;
        if (s != OK && s != ERR_IO) return s;
    }
    return OK;
}

static status walk_directory(walk *w, str path, str name, const level *way, error *err) {
    vec items = VEC_INIT(dir_item);
    found here = {.run_path = path, .run_name = name};
    status s = list_directory(w, path.p, &items, err);
    bool mine = false;
    if (s == OK) s = add_mindspore(w, &items, &here, &mine, err);
    if (s == OK && !mine) s = add_files(w, &items, path, name, err);
    if (s == OK) s = walk_below(w, &items, &here, way, mine, err);
    vec_fini(&items);
    return s;
}

/* ---- from the flat list to the catalogue ------------------------------------------------- */

static int compare_found(const void *pa, const void *pb) {
    const found *a = pa, *b = pb;
    int c = name_compare(a->run_name, b->run_name);
    if (c == 0) c = str_cmp(a->name.worker, b->name.worker);
    if (c == 0) c = name_compare_stamps(a->name.stamp, b->name.stamp);
    if (c == 0) c = a->name.packing - b->name.packing;
    return c ? c : str_cmp(a->path, b->path);
}

static int compare_workers_by_name(const void *a, const void *b) {
    return name_compare(((const worker_entry *)a)->name, ((const worker_entry *)b)->name);
}

static int compare_workers_by_rank(const void *pa, const void *pb) {
    const worker_entry *a = pa, *b = pb;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return compare_workers_by_name(pa, pb);
}

static void sort_workers(run_entry *r) {
    bool all_ranks = true;
    for (uint32_t i = 0; i < r->n_workers; i++) all_ranks &= r->workers[i].rank != INT64_MIN;
    qsort(r->workers, r->n_workers, sizeof *r->workers,
          all_ranks ? compare_workers_by_rank : compare_workers_by_name);
}

static bool same_run(const found *a, const found *b) {
    return str_eq(a->run_path, b->run_path);
}
static bool same_worker(const found *a, const found *b) {
    return same_run(a, b) && str_eq(a->name.worker, b->name.worker);
}
static bool same_span(const found *a, const found *b) {
    return same_worker(a, b) && name_compare_stamps(a->name.stamp, b->name.stamp) == 0;
}

/* files: sorted, n > 0. Each file starts a new run, worker or span, or is another copy of the
 * last. */
static status make_catalogue(arena *a, const found *f, size_t n, catalogue *out, error *err) {
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
            *++run = (run_entry){
                .name = f[i].run_name, .path = f[i].run_path, .workers = worker + 1};
        if (i == 0 || !same_worker(&f[i - 1], &f[i])) {
            run->n_workers++;
            *++worker = (worker_entry){.name = f[i].name.worker,
                                       .rank = name_rank(f[i].name.worker),
                                       .spans = span + 1};
        }
        if (i > 0 && same_span(&f[i - 1], &f[i])) continue;
        *++span = (span_entry){.path = f[i].path,
                               .stamp = f[i].name.stamp,
                               .own = f[i].own,
                               .number = ++worker->n_spans,
                               .size_bytes = f[i].size_bytes,
                               .mtime_ns = f[i].mtime_ns};
    }
    out->n_runs = (uint32_t)n_runs;
    for (uint32_t i = 0; i < out->n_runs; i++) sort_workers(&out->runs[i]);
    return OK;
}

/* ---- the front --------------------------------------------------------------------------- */

/* The name of a directory as a person calls it, also for "." and "..": its last part. */
static str own_name(arena *a, const char *path) {
    char real[PATH_MAX];
    str whole = str_of(realpath(path, real) ? real : path);
    while (whole.n > 1 && whole.p[whole.n - 1] == '/') whole.n--;
    size_t slash = str_rfind_byte(whole, '/');
    return arena_str(a, slash == SIZE_MAX || whole.n == 1 ? whole : str_from(whole, slash + 1));
}

/* The number a file gives to its span. */
static status ask_file(arena *a, found *f, error *err) {
    int64_t number;
    f->own = str_n("", 0);
    if (!f->name.asks_file || !sniff_span(f->path.p, &number)) return OK;
    f->own = arena_printf(a, "%lld", (long long)number);
    if (!f->own.p) FAIL_MEMORY(err);
    return OK;
}

static status discover_file(arena *a, const char *path, const struct stat *st, catalogue *out,
                            error *err) {
    str whole = arena_str(a, str_of(path)), parent;
    if (!whole.p) FAIL_MEMORY(err);
    size_t slash = str_rfind_byte(whole, '/');
    parent = arena_str(a, slash == SIZE_MAX ? STR(".") : str_n(whole.p, slash ? slash : 1));
    if (!parent.p) FAIL_MEMORY(err);
    found f = {.run_path = parent, .path = whole, .mtime_ns = mtime_of(st)};
    f.run_name = strcmp(path, "-") == 0 ? STR("") : own_name(a, parent.p);
    if (!f.run_name.p) FAIL_MEMORY(err);
    if (st->st_size > 0) f.size_bytes = (uint64_t)st->st_size;
    str base = slash == SIZE_MAX ? whole : str_from(whole, slash + 1);
    if (!name_parse(base, &f.name)) name_of_any(base, &f.name);
    f.name.worker = arena_str(a, f.name.worker);
    f.name.stamp = arena_str(a, f.name.stamp);
    if (!f.name.worker.p || !f.name.stamp.p) FAIL_MEMORY(err);
    TRY(ask_file(a, &f, err));
    return make_catalogue(a, &f, 1, out, err);
}

/* The names were borrowed from file names: make them end in NUL. */
static status own_names(arena *a, found *f, size_t n, error *err) {
    for (size_t i = 0; i < n; i++) {
        f[i].name.worker = arena_str(a, f[i].name.worker);
        f[i].name.stamp = arena_str(a, f[i].name.stamp);
        if (!f[i].name.worker.p || !f[i].name.stamp.p) FAIL_MEMORY(err);
        TRY(ask_file(a, &f[i], err));
    }
    return OK;
}

status catalogue_of_files(arena *a, found *files, size_t n, catalogue *out, error *err) {
    TRY(own_names(a, files, n, err));
    qsort(files, n, sizeof *files, compare_found);
    return make_catalogue(a, files, n, out, err);
}

static status discover_tree(arena *a, const char *path, const struct stat *st, catalogue *out,
                            error *err) {
    walk w = {.a = a, .files = VEC_INIT(found)};
    level root = {.device = st->st_dev, .inode = st->st_ino};
    str trimmed = str_of(path);
    while (trimmed.n > 1 && trimmed.p[trimmed.n - 1] == '/') trimmed.n--;
    str top = arena_str(a, trimmed), name = own_name(a, path);
    if (!top.p || !name.p) FAIL_MEMORY(err);
    status s = walk_directory(&w, top, name, &root, err);
    found *f = VEC(&w.files, found);
    size_t n = w.files.n;
    if (s == OK && n == 0)
        s = error_set(err, ERR_NOT_FOUND, NOPOS, MSG_NO_TRACES_IN, 1,
                      (arg[]){arg_cstr("path", path)});
    if (s == OK) s = catalogue_of_files(a, f, n, out, err);
    vec_fini(&w.files);
    return s;
}

status discover(arena *a, const char *path, catalogue *out, error *err) {
    struct stat st = {0};
    catalogue c = {.path = arena_str(a, str_of(path))};
    if (!c.path.p) FAIL_MEMORY(err);
    if (remote_is_url(path)) {
        TRY(discover_remote(a, path, &c, err));
        *out = c;
        return OK;
    }
    if (strcmp(path, "-") != 0 && stat(path, &st) != 0)
        return fail_path(err, MSG_CANNOT_OPEN, path, errno);
    if (S_ISDIR(st.st_mode))
        TRY(discover_tree(a, path, &st, &c, err));
    else
        TRY(discover_file(a, path, &st, &c, err));
    *out = c;
    return OK;
}
