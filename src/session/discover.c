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
 * Profilers that write folders instead of files have a row in session/layouts. The list
 * is sorted in found_files.c. */
#include "session/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "base/vec.h"
#include "io/remote.h"
#include "session/beside.h"
#include "session/folder_walk_int.h"

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

int64_t found_mtime(const struct stat *st) {
    return seconds_ns(st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

status found_fail(error *err, uint16_t message, const char *path, int code) {
    char text[128];
    FAIL(err, ERR_IO, NOPOS, message, arg_cstr("path", path),
         arg_cstr("reason", strerror_r(code, text, sizeof text)));
}

static int compare_items(const void *a, const void *b) {
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
status walk_list(walk *w, const char *path, vec *items, error *err) {
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
    if (s == OK && items->n > 1) qsort(items->p, items->n, sizeof(dir_item), compare_items);
    return s;
}

str walk_join(walk *w, str folder, str name) {
    return arena_printf(w->a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name));
}

status walk_add_worker(walk *w, str path, const struct stat *st, const found_file *like,
                       error *err) {
    found_file *f = vec_push(&w->files);
    if (!f) FAIL_MEMORY(err);
    *f = *like;
    f->path = path;
    f->size_bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0;
    f->mtime_ns = found_mtime(st);
    return OK;
}

static status add_file(walk *w, const dir_item *item, const found_file *like, error *err) {
    str path = walk_join(w, like->run_path, item->name);
    if (!path.p) FAIL_MEMORY(err);
    return walk_add_worker(w, path, &item->st, like, err);
}

status walk_skip(walk *w, str path, const sniff_result *as, error *err) {
    passed_file *p = vec_push(&w->passed);
    if (!p) FAIL_MEMORY(err);
    *p = (passed_file){str_from(path, w->n_root), as->what, as->message};
    return OK;
}

static status add_by_content(walk *w, const dir_item *item, found_file *like, error *err) {
    sniff_result what;
    str path = walk_join(w, like->run_path, item->name);
    if (!path.p) FAIL_MEMORY(err);
    bool may_be = name_may_be_trace(item->name) || beside_may_be_log(item->name);
    if (may_be || w->n_looks++ < MOST_LOOKS)
        what = sniff_file(path.p);
    else
        what = sniff_name(item->name);
    if (!may_be && what.trace) what.message = MSG_NONE, what.what = MSG_WHAT_ODD_NAME;
    if (!may_be || !what.trace) return walk_skip(w, path, &what, err);
    name_of_any(item->name, &like->name);
    return add_file(w, item, like, err);
}

static status skip_duplicate_view(walk *w, const dir_item *item, const found_file *run,
                                  error *err) {
    const sniff_result duplicate = {.what = MSG_WHAT_RETOLD};
    str path = walk_join(w, run->run_path, item->name);
    if (!path.p) FAIL_MEMORY(err);
    return walk_skip(w, path, &duplicate, err);
}

/* Of one directory. taken: the layout whose folder it is, or NULL. */
typedef struct {
    const vec *items;
    const found_file *run;
    const folder_layout *taken;
    seen_workers seen;
} folder_files;

static bool is_part_of_folder(const dir_item *item, const folder_layout *taken) {
    for (size_t i = 0; i < N_FOLDER_LAYOUTS; i++) {
        const folder_layout *l = &FOLDER_LAYOUTS[i];
        if (l->skips_file && l->skips_file(item->name, taken)) return true;
    }
    return false;
}

static status add_one(walk *w, const folder_files *f, const dir_item *item, error *err) {
    found_file like = *f->run;
    if (!S_ISREG(item->st.st_mode) || is_part_of_folder(item, f->taken)) return OK;
    if (seen_workers_has_view(&f->seen, item->name))
        return skip_duplicate_view(w, item, f->run, err);
    if (name_parse(item->name, &like.name)) return add_file(w, item, &like, err);
    return f->taken && f->taken->names_all ? OK : add_by_content(w, item, &like, err);
}

/* The trace files of one directory: those named like traces, and those that are by content,
 * unless the folder is another profiler's own. */
static status add_files(walk *w, folder_files *f, error *err) {
    status st = seen_workers_find(f->items, &f->seen, err);
    for (size_t i = 0; i < f->items->n && st == OK; i++)
        st = add_one(w, f, &VEC(f->items, dir_item)[i], err);
    seen_workers_fini(&f->seen);
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
static status split_by_format(walk *w, size_t first, bool (*is)(const found_file *f),
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

/* The name of a directory as a person calls it, also for "." and "..": its last part. */
str folder_own_name(arena *a, const char *path) {
    char real[PATH_MAX];
    str whole = str_of(realpath(path, real) ? real : path);
    while (whole.n > 1 && whole.p[whole.n - 1] == '/') whole.n--;
    size_t slash = str_rfind_byte(whole, '/');
    return arena_str(a, slash == SIZE_MAX || whole.n == 1 ? whole : str_from(whole, slash + 1));
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
    return walk_join(w, above, own);
}

static bool is_folder_of_worker(const dir_item *item, const folder_layout *taken) {
    for (size_t i = 0; i < N_FOLDER_LAYOUTS; i++) {
        const folder_layout *l = &FOLDER_LAYOUTS[i];
        if (l->skips_folder && l->skips_folder(item->name, taken)) return true;
    }
    return false;
}

static status walk_below(walk *w, const vec *items, const found_file *here, const level *way,
                         const folder_layout *taken, error *err) {
    for (size_t i = 0; i < items->n; i++) {
        const dir_item *item = &VEC(items, dir_item)[i];
        if (!S_ISDIR(item->st.st_mode) || is_on_the_way(way, &item->st)) continue;
        if (is_folder_of_worker(item, taken)) continue;
        bool root = way->above == NULL;
        str path = walk_join(w, here->run_path, item->name);
        str name = name_below(w, here->run_name, item->name, root);
        if (!path.p || !name.p) FAIL_MEMORY(err);
        level next = {.above = way,
                      .device = item->st.st_dev,
                      .inode = item->st.st_ino,
                      .depth = way->depth + 1};
        status s = next.depth < MOST_LEVELS ? walk_directory(w, path, name, &next, err) : OK;
        if (s == ERR_IO) {
            const sniff_result closed = {.what = MSG_WHAT_UNREADABLE_FOLDER};
            s = walk_skip(w, path, &closed, err);
        }
        TRY(s);
    }
    return OK;
}

/* *taken: the layout that the folder has, or NULL. */
static status add_folder(walk *w, const vec *items, const found_file *here,
                         const folder_layout **taken, error *err) {
    bool mine = false;
    *taken = NULL;
    for (size_t i = 0; i < N_FOLDER_LAYOUTS && !mine; i++) {
        if (!FOLDER_LAYOUTS[i].take) continue;
        TRY(FOLDER_LAYOUTS[i].take(w, items, here, &mine, err));
        if (mine) *taken = &FOLDER_LAYOUTS[i];
    }
    return OK;
}

static status walk_directory(walk *w, str path, str name, const level *way, error *err) {
    vec items = VEC_INIT(dir_item);
    found_file here = {.run_path = path, .run_name = name};
    status s = walk_list(w, path.p, &items, err);
    const folder_layout *taken = NULL;
    size_t first = w->files.n;
    w->n_seen += items.n;
    if (s == OK) s = add_folder(w, &items, &here, &taken, err);
    if (s == OK)
        s = add_files(w, &(folder_files){.items = &items, .run = &here, .taken = taken}, err);
    if (s == OK) s = split_by_format(w, first, is_database, "/.", "/sqlite", err);
    if (s == OK) s = split_by_format(w, first, is_perfetto, "/./.", "/perfetto", err);
    if (s == OK) s = walk_below(w, &items, &here, way, taken, err);
    vec_fini(&items);
    return s;
}

/* ---- the front --------------------------------------------------------------------------- */

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

/* Another file of the same worker and stamp: its packed copy, or the same under another
 * form. */
static status skip_copies(walk *w, const found_file *f, size_t n, error *err) {
    const sniff_result copy = {.what = MSG_WHAT_COPY};
    for (size_t i = 1; i < n; i++)
        if (found_same_span(&f[i - 1], &f[i]) && !f[i].name.table)
            TRY(walk_skip(w, f[i].path, &copy, err));
    return OK;
}

static void unskip(walk *w, str path) {
    passed_file *p = VEC(&w->passed, passed_file);
    for (size_t i = 0; i < w->passed.n;)
        if (str_eq(p[i].path, path))
            p[i] = p[--w->passed.n];
        else
            i++;
}

static str name_in_path(str path) {
    size_t slash = str_rfind_byte(path, '/');
    return slash == SIZE_MAX ? path : str_from(path, slash + 1);
}

static str folder_in_path(str path) {
    size_t slash = str_rfind_byte(path, '/');
    return slash == SIZE_MAX ? STR("") : str_n(path.p, slash);
}

/* A log of requests next to a trace is read with it: it is neither skipped nor a worker. Files
 * of one folder follow each other. */
static size_t leave_out_logs(found_file *f, size_t n) {
    size_t left = 0;
    for (size_t from = 0, end; from < n; from = end) {
        size_t n_traces = 0;
        for (end = from;
             end < n && str_eq(folder_in_path(f[end].path), folder_in_path(f[from].path));
             end++)
            n_traces += !beside_is_log(f[end].path.p);
        for (size_t i = from; i < end; i++)
            if (!n_traces || !beside_is_log(f[i].path.p)) f[left++] = f[i];
    }
    return left;
}

/* Is it the log that is joined to the traces of its folder? */
static bool is_joined_log(const walk *w, str path, const found_file *f, size_t n) {
    beside_file log;
    if (!beside_may_be_log(name_in_path(path))) return false;
    for (size_t i = 0; i < n; i++) {
        str at = str_from(f[i].path, w->n_root);
        if (!str_eq(folder_in_path(at), folder_in_path(path))) continue;
        return beside_find_log(f[i].path.p, &log) &&
               str_eq(str_from(str_of(log.path), w->n_root), path);
    }
    return false;
}

static void unskip_logs(walk *w, const found_file *f, size_t n) {
    for (size_t i = 0; i < w->passed.n;) {
        str path = VEC(&w->passed, passed_file)[i].path;
        if (is_joined_log(w, path, f, n))
            unskip(w, path);
        else
            i++;
    }
}

/* An execution trace that is joined to a trace is read, not skipped. */
static void unskip_joined(walk *w, const found_file *f, size_t n) {
    bool any = false;
    for (size_t i = 0; i < w->passed.n; i++)
        any |= VEC(&w->passed, passed_file)[i].what == MSG_WHAT_CHAKRA;
    for (size_t i = 0; i < n && any; i++) {
        beside_file et;
        if (str_find(f[i].path, STR(".json"), 0) != SIZE_MAX && !f[i].name.memory &&
            beside_find(f[i].path.p, &et))
            unskip(w, str_from(str_of(et.path), w->n_root));
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
    size_t n = s == OK ? leave_out_logs(f, w.files.n) : 0;
    if (s == OK && n) s = found_sort(a, f, n, err);
    if (s == OK && n) s = rank_folders_join(a, top, name, f, n, err);
    if (s == OK && n) qsort(f, n, sizeof *f, found_compare);
    if (s == OK && n) s = recordings_split(a, f, n, err);
    if (s == OK && n) qsort(f, n, sizeof *f, found_compare);
    if (s == OK && n) s = skip_copies(&w, f, n, err);
    if (s == OK) unskip_joined(&w, f, n);
    if (s == OK) unskip_logs(&w, f, n);
    if (s == OK) s = keep_passed(&w, out, err);
    if (s == OK && n == 0) s = fail_without_traces(&w, top.p, w.n_seen == 0, err);
    if (s == OK) s = catalogue_cut(a, f, n, out, err);
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
