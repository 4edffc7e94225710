/* rank_folders.c: a folder for each rank is one run.
 *
 *     job/rank0/trace.json          one run `job` with the workers rank0/trace and rank1/trace,
 *     job/rank1/trace.json          not two runs
 *
 * Only folders whose whole name is a rank, and only where at least two of them are in one
 * folder: a single folder rank0 is a run like any other. MindSpore's files say themselves whose
 * they are, and what belongs to them is in separate folders: those stay as they are. */
#include "ingest/mindspore/mindspore.h"
#include "session/discover_int.h"

/* The place of a file's folder, where that is a rank's: its parent; its own name. */
typedef struct {
    str parent, own;
} rank_folder;

static bool is_rank(str name) {
    static const str word = STR("rank");
    size_t at = word.n;
    if (name.n <= at || str_find_nocase(name, word, 0) != 0) return false;
    if (name.p[at] == '-' || name.p[at] == '_') at++;
    for (size_t i = at; i < name.n; i++)
        if (name.p[i] < '0' || name.p[i] > '9') return false;
    return at < name.n;
}

static str last_part(str path) {
    size_t slash = str_rfind_byte(path, '/');
    return slash == SIZE_MAX ? path : str_from(path, slash + 1);
}

static bool find_folder(const found_file *f, size_t n_top, rank_folder *out) {
    mindspore_name name;
    size_t slash = str_rfind_byte(f->run_path, '/');
    if (f->run_path.n <= n_top || slash == SIZE_MAX || slash < n_top) return false;
    *out = (rank_folder){str_n(f->run_path.p, slash), str_from(f->run_path, slash + 1)};
    return is_rank(out->own) && !mindspore_name_parse(last_part(f->path), &name);
}

/* The file becomes one of the run around its folder. */
static status join(arena *a, found_file *f, const rank_folder *in, str top_name, size_t n_top,
                   error *err) {
    size_t slash = str_rfind_byte(f->run_name, '/');
    f->run_path = arena_str(a, in->parent);
    f->run_name = in->parent.n == n_top ? top_name : arena_str(a, str_n(f->run_name.p, slash));
    if (name_rank(f->name.worker) != name_rank(in->own))
        f->name.worker =
            arena_printf(a, "%.*s/%.*s", STR_ARG(in->own), STR_ARG(f->name.worker));
    if (!f->run_path.p || !f->run_name.p || !f->name.worker.p) FAIL_MEMORY(err);
    return OK;
}

static bool is_below(const found_file *f, str folder) {
    return f->run_path.n > folder.n && str_starts(f->run_path, folder) &&
           f->run_path.p[folder.n] == '/';
}

status rank_folders_join(arena *a, str top, str top_name, found_file *f, size_t n, error *err) {
    rank_folder first, next;
    for (size_t from = 0; from < n; from++) {
        size_t end = from + 1;
        bool several = false;
        if (!find_folder(&f[from], top.n, &first)) continue;
        /* Files are sorted by their folders: those around the same ranks lie together. */
        for (; end < n && is_below(&f[end], first.parent); end++)
            several |= find_folder(&f[end], top.n, &next) &&
                       str_eq(next.parent, first.parent) && !str_eq(next.own, first.own);
        for (size_t i = from; several && i < end; i++)
            if (find_folder(&f[i], top.n, &next) && str_eq(next.parent, first.parent))
                TRY(join(a, &f[i], &next, top_name, top.n, err));
    }
    return OK;
}
