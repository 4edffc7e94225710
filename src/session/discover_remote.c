/* discover_remote.c: runs, workers and spans after a URL.
 *
 * An object store has no folders, only names with slashes in them; they are treated as folders
 * here, so that a log directory copied into a bucket looks as it did on disk. What a name
 * cannot say is not looked up: opening each of ten thousand objects to see whether it is a
 * trace would take longer than reading those that are. So only names of traces count; a single
 * object is taken as it is. */
#include "base/vec.h"
#include "io/remote.h"
#include "session/discover_int.h"

static str discover_remote_last_part(str path) {
    size_t slash = str_rfind_byte(path, '/');
    return slash == SIZE_MAX ? path : str_from(path, slash + 1);
}

static str folder_of(str path) {
    size_t slash = str_rfind_byte(path, '/');
    return slash == SIZE_MAX ? STR("") : str_n(path.p, slash);
}

/* The run an object belongs to: its folder below the prefix, or the last part of the prefix. */
static status set_run(arena *a, str prefix, str name, found_file *f, error *err) {
    str folder = folder_of(name), whole = remote_shown(prefix);
    while (whole.n && whole.p[whole.n - 1] == '/') whole.n--;
    f->run_name = arena_str(a, folder.n ? folder : discover_remote_last_part(whole));
    f->run_path =
        arena_printf(a, "%.*s%s%.*s", STR_ARG(whole), folder.n ? "/" : "", STR_ARG(folder));
    if (!f->run_name.p || !f->run_path.p) FAIL_MEMORY(err);
    return OK;
}

static status add_object(arena *a, vec *files, str prefix, const remote_object *o, error *err) {
    found_file f = {.path = o->url, .size_bytes = o->size_bytes, .mtime_ns = o->mtime_ns};
    if (!name_parse(discover_remote_last_part(o->name), &f.name)) return OK;
    TRY(set_run(a, prefix, o->name, &f, err));
    found_file *to = vec_push(files);
    if (!to) FAIL_MEMORY(err);
    *to = f;
    return OK;
}

/* One object: its folder is its run. */
static status take_one(arena *a, const remote_object *o, catalogue *out, error *err) {
    found_file f = {.path = o->url, .size_bytes = o->size_bytes, .mtime_ns = o->mtime_ns};
    str file = discover_remote_last_part(o->key);
    if (!name_parse(file, &f.name)) name_of_any(file, &f.name);
    f.run_name = arena_str(a, discover_remote_last_part(folder_of(o->key)));
    f.run_path = arena_str(a, folder_of(remote_shown(o->url)));
    if (!f.run_name.p || !f.run_path.p) FAIL_MEMORY(err);
    return catalogue_of_files(a, &f, 1, out, err);
}

static status take_many(arena *a, const char *url, const remote_object *v, size_t n,
                        catalogue *out, error *err) {
    vec files = VEC_INIT(found_file);
    status st = OK;
    for (size_t i = 0; i < n && st == OK; i++)
        st = add_object(a, &files, str_of(url), &v[i], err);
    if (st == OK && !files.n)
        st = error_set(err, ERR_NOT_FOUND, NOPOS, MSG_NO_TRACES_IN, 1,
                       (arg[]){arg_text("path", remote_shown(str_of(url)))});
    if (st == OK) st = catalogue_of_files(a, VEC(&files, found_file), files.n, out, err);
    vec_fini(&files);
    return st;
}

status discover_remote(arena *a, const char *url, catalogue *out, error *err) {
    remote_object *v = NULL, one;
    size_t n = 0;
    error why = {0};
    status st = remote_list(a, url, &v, &n, &why);
    if (st == ERR_UNSUPPORTED && why.message == MSG_REMOTE_NO_LIST) {
        if (str_ends(remote_shown(str_of(url)), STR("/")))
            return error_set(err, st, why.offset, why.message, why.n_args, why.args);
        TRY(remote_look(a, url, &one, err));
        return take_one(a, &one, out, err);
    }
    if (st != OK) return error_set(err, st, why.offset, why.message, why.n_args, why.args);
    if (n == 1 && !v[0].name.n) return take_one(a, &v[0], out, err);
    return take_many(a, url, v, n, out, err);
}
