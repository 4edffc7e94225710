/* given_files.c: several files that a user names, as a shell does for a pattern: the workers of
 * one run, or several runs.
 *
 * Files in one folder are workers of one run, and so are files that each have a different rank,
 * wherever they are: hosts write into separate folders. Otherwise each folder is a run, with
 * the name it would have if the folder around all of them had been given. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/message_ids_cli.h"
#include "io/remote.h"
#include "session/beside.h"
#include "session/discover_int.h"

static str folder_part(str path, size_t *n_path) {
    size_t slash = str_rfind_byte(path, '/');
    str folder = slash == SIZE_MAX ? STR_NONE : str_n(path.p, slash);
    size_t above = folder.n ? str_rfind_byte(folder, '/') : SIZE_MAX;
    *n_path = folder.n;
    return above == SIZE_MAX ? folder : str_from(folder, above + 1);
}

/* Files of one name in several folders: hostA/rank0.json, hostB/rank0.json are two workers. */
static status part_folders(arena *a, found_file *f, size_t n, error *err) {
    bool same = false;
    size_t n_i, n_k;
    for (size_t i = 0; i < n && !same; i++)
        for (size_t k = i + 1; k < n && !same; k++) {
            (void)folder_part(f[i].path, &n_i);
            (void)folder_part(f[k].path, &n_k);
            bool apart = !str_eq(str_n(f[i].path.p, n_i), str_n(f[k].path.p, n_k));
            same = apart && str_eq(f[i].name.worker, f[k].name.worker);
        }
    for (size_t i = 0; i < n && same; i++) {
        str folder = folder_part(f[i].path, &n_i);
        if (!folder.n) continue;
        f[i].name.worker =
            arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(f[i].name.worker));
        if (!f[i].name.worker.p) FAIL_MEMORY(err);
    }
    return OK;
}

static status add_given(arena *a, const char *path, found_file *f, error *err) {
    struct stat st = {0};
    if (remote_is_url(path) || strcmp(path, "-") == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_FILES_ONLY, arg_cstr("path", path));
    if (stat(path, &st) != 0) return found_fail(err, MSG_CANNOT_OPEN, path, errno);
    if (S_ISDIR(st.st_mode))
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_FILES_ONLY, arg_cstr("path", path));
    str whole = arena_str(a, str_of(path));
    if (!whole.p) FAIL_MEMORY(err);
    size_t slash = str_rfind_byte(whole, '/');
    str base = slash == SIZE_MAX ? whole : str_from(whole, slash + 1);
    *f = (found_file){.path = whole, .mtime_ns = found_mtime(&st)};
    if (st.st_size > 0) f->size_bytes = (uint64_t)st.st_size;
    if (!name_parse(base, &f->name)) name_of_any(base, &f->name);
    return OK;
}

/* Execution traces and logs of requests are not workers: each is read with the trace next to
 * it. */
static uint32_t leave_out_joined(const char **paths, uint32_t n) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!beside_is_execution_trace(paths[i]) && !beside_is_log(paths[i]))
            paths[left++] = paths[i];
    return left ? left : n;
}

static str folder_of(str path) {
    size_t slash = str_rfind_byte(path, '/');
    if (slash == SIZE_MAX) return STR(".");
    return str_n(path.p, slash ? slash : 1);
}

static bool are_in_one_folder(const found_file *f, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (!str_eq(folder_of(f[i].path), folder_of(f[0].path))) return false;
    return true;
}

/* Does each file have a different rank, as those of one job do, on whichever host? */
static bool are_different_ranks(const found_file *f, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int64_t rank = name_rank(f[i].name.worker);
        if (rank == INT64_MIN) return false;
        for (size_t k = 0; k < i; k++)
            if (name_rank(f[k].name.worker) == rank) return false;
    }
    return true;
}

/* The folder around the folders of all files; "." or "/" when they share none. */
static str common_folder(const found_file *f, size_t n) {
    str top = folder_of(f[0].path);
    for (size_t i = 1; i < n; i++) {
        str other = folder_of(f[i].path);
        size_t same = 0, end = 0;
        while (same < top.n && same < other.n && top.p[same] == other.p[same]) same++;
        bool whole = (same == top.n && (same == other.n || other.p[same] == '/')) ||
                     (same == other.n && top.p[same] == '/');
        for (size_t k = 0; k < same; k++)
            if (top.p[k] == '/') end = k;
        top.n = whole ? same : end;
    }
    if (top.n) return top;
    return f[0].path.p[0] == '/' ? STR("/") : STR(".");
}

static status join_given(arena *a, found_file *f, size_t n, catalogue *out, error *err) {
    str parent = arena_str(a, common_folder(f, n));
    str name = parent.p ? folder_own_name(a, parent.p) : STR_NONE;
    if (!name.p) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) f[i].run_path = parent, f[i].run_name = name;
    TRY(part_folders(a, f, n, err));
    return catalogue_of_given(a, f, n, out, err);
}

/* Each folder is a run, as it would be if the folder around all of them had been given. */
static status part_runs(arena *a, found_file *f, size_t n, catalogue *out, error *err) {
    str top = arena_str(a, common_folder(f, n));
    str name = top.p ? folder_own_name(a, top.p) : STR_NONE;
    if (!name.p) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) {
        str folder = folder_of(f[i].path);
        bool below = folder.n > top.n && str_starts(folder, top);
        str rest = below ? str_from(folder, top.n + (top.p[top.n - 1] != '/')) : folder;
        bool is_top = str_eq(folder, top);
        f[i].run_path = arena_printf(a, "%s%.*s", below || is_top ? "" : "./", STR_ARG(folder));
        f[i].run_name = is_top ? name : arena_str(a, rest);
        if (!f[i].run_path.p || !f[i].run_name.p) FAIL_MEMORY(err);
    }
    qsort(f, n, sizeof *f, found_compare);
    TRY(rank_folders_join(a, top, name, f, n, err));
    out->path = top;
    return catalogue_of_given(a, f, n, out, err);
}

status discover_files(arena *a, const char *const *given, uint32_t n, files_meant meant,
                      catalogue *out, error *err) {
    catalogue c = {.path = arena_str(a, str_of(given[0]))};
    found_file *f = ARENA_ARRAY(a, found_file, n);
    const char **paths = ARENA_ARRAY(a, const char *, n);
    if (!f || !c.path.p || !paths) FAIL_MEMORY(err);
    memcpy(paths, given, n * sizeof *paths);
    n = leave_out_joined(paths, n);
    for (uint32_t i = 0; i < n; i++) TRY(add_given(a, paths[i], &f[i], err));
    bool one = meant == FILES_ONE_RUN || are_in_one_folder(f, n) || are_different_ranks(f, n);
    TRY(one ? join_given(a, f, n, &c, err) : part_runs(a, f, n, &c, err));
    *out = c;
    return OK;
}
