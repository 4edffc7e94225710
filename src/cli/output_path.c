/* output_path.c: -o FILE, -o DIR/, or no -o at all.
 *
 * A default name is made from the trace's: runs/first and runs/first.pt.trace.json.gz both give
 * first.html. Bytes that a file's name should not have become underscores, since a URL may hold
 * anything. */
#include "cli/output_path.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/folders.h"
#include "base/message_ids_cli.h"

bool output_is_folder(str given) {
    return str_ends(given, STR("/")) || folder_exists(given.p);
}

status output_make_folder(str folder, error *err) {
    int code = folders_make(folder.p, 0777);
    if (code)
        FAIL(err, ERR_IO, NOPOS, MSG_CLI_CANNOT_MAKE, arg_text("path", folder),
             arg_cstr("reason", strerror(code)));
    return OK;
}

status output_in_folder(arena *a, str folder, str name, str *out, error *err) {
    TRY(output_make_folder(folder, err));
    while (folder.n > 1 && folder.p[folder.n - 1] == '/') folder.n--;
    *out = arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name));
    if (!out->p) FAIL_MEMORY(err);
    return OK;
}

/* The last part of a path, without what a URL has after it. */
static str last_part(str path) {
    size_t end = 0;
    while (end < path.n && path.p[end] != '?' && path.p[end] != '#') end++;
    path.n = end;
    while (path.n > 1 && path.p[path.n - 1] == '/') path.n--;
    size_t slash = str_rfind_byte(path, '/');
    return slash == SIZE_MAX ? path : str_from(path, slash + 1);
}

/* A file's name up to its first dot, a folder's whole name. */
static str stem_of(arena *a, const char *path) {
    char real[PATH_MAX];
    bool folder = folder_exists(path) && realpath(path, real);
    str name = last_part(str_of(folder ? real : path));
    size_t dot = folder ? SIZE_MAX : str_find(name, STR("."), 1);
    if (dot != SIZE_MAX) name.n = dot;
    bool usable = name.n && !str_eq(name, STR("-")) && !str_eq(name, STR("/"));
    str kept = arena_str(a, usable ? name : STR("trace"));
    for (size_t i = 0; kept.p && i < kept.n; i++) {
        char *b = (char *)(uintptr_t)&kept.p[i];
        if ((unsigned char)*b <= ' ' || strchr("\\:*?\"<>|%&=", *b)) *b = '_';
    }
    return kept;
}

status output_choose(arena *a, const options *o, str given, const char *ending, str *out,
                     error *err) {
    if (given.p && !output_is_folder(given)) {
        *out = given;
        return OK;
    }
    str stem = stem_of(a, o->n_traces ? o->traces[0] : "-");
    str name = stem.p ? arena_printf(a, "%.*s%s", STR_ARG(stem), ending) : STR_NONE;
    if (!name.p) FAIL_MEMORY(err);
    if (given.p) return output_in_folder(a, given, name, out, err);
    if (access(name.p, F_OK) == 0)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_OUTPUT_EXISTS, arg_text("path", name));
    *out = name;
    return OK;
}
