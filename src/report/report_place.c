/* report_place.c: the two runs of a comparison as one folder, wherever they are.
 *
 * The service knows runs by their names in one folder. Two files of one folder would be workers
 * of one run there, two folders of one name the same run: so each gets a unique name, and a
 * link. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "report/report_int.h"

static status fail_place(const char *path, error *err) {
    FAIL(err, ERR_IO, NOPOS, MSG_CANNOT_OPEN, arg_cstr("path", path),
         arg_cstr("reason", strerror(errno)));
}

/* The last part of a path up to its first dot. */
static str short_name(str path) {
    while (path.n > 1 && path.p[path.n - 1] == '/') path.n--;
    size_t begin = path.n;
    while (begin > 0 && path.p[begin - 1] != '/') begin--;
    str name = str_from(path, begin);
    size_t dot = name.n > 1 ? str_find(name, STR("."), 1) : SIZE_MAX;
    return dot == SIZE_MAX ? name : str_n(name.p, dot);
}

/* The run's own name after that of its folder, where that contains others, too. */
static str part_of(const run_entry *run, const char *folder) {
    const char *own = strrchr(folder, '/');
    size_t slash = str_rfind_byte(run->name, '/');
    str last = slash == SIZE_MAX ? run->name : str_from(run->name, slash + 1);
    return own && str_eq(last, str_of(own + 1)) ? STR_NONE : last;
}

/* Which folder of runs, or file, a path means. */
typedef struct {
    char real[PATH_MAX];
    bool is_file;
    str part; /* of the runs in the folder; none: there is one */
} report_source;

static status find_source(arena *a, const report_options *o, uint32_t i, report_source *out,
                          error *err) {
    struct stat st;
    catalogue found = {.n_runs = 0};
    span_choice c;
    choice wanted = i ? (choice){.run = STR_NONE} : o->wanted;
    out->part = STR_NONE;
    if (!realpath(o->paths[i], out->real) || stat(out->real, &st) != 0)
        return fail_place(o->paths[i], err);
    out->is_file = S_ISREG(st.st_mode);
    if (out->is_file) return OK;
    TRY(run_discover(a, o->paths[i], &found, err));
    TRY(span_choose(&found, &wanted, &c, err));
    if (!realpath(c.run->path.p, out->real)) return fail_place(c.run->path.p, err);
    if (found.n_runs > 1) out->part = part_of(c.run, out->real);
    return OK;
}

static status add_link(arena *a, report_folder *f, uint32_t i, const char *real, bool is_file,
                       error *err) {
    str place = arena_printf(a, "%s/%s", f->folder.p, f->names[i].p), link = place;
    const char *slash = strrchr(real, '/');
    if (is_file && place.p) link = arena_printf(a, "%s/%s", place.p, slash ? slash + 1 : real);
    if (!link.p) FAIL_MEMORY(err);
    if (is_file) {
        if (mkdir(place.p, 0700) != 0) return fail_place(place.p, err);
        f->places[i] = place;
    }
    if (symlink(real, link.p) != 0) return fail_place(link.p, err);
    f->links[i] = link;
    return OK;
}

status report_place(arena *a, const report_options *o, report_folder *f, error *err) {
    report_source from[2];
    const char *tmp = getenv("TMPDIR");
    for (uint32_t i = 0; i < 2; i++) {
        TRY(find_source(a, o, i, &from[i], err));
        str name = short_name(str_of(from[i].real)), part = from[i].part;
        bool same = i && str_eq(name, f->names[0]);
        f->names[i] = arena_printf(a, "%.*s%s", STR_ARG(name), same ? "-2" : "");
        f->runs[i] = part.n && f->names[i].p
                         ? arena_printf(a, "%s/%.*s", f->names[i].p, STR_ARG(part))
                         : f->names[i];
        if (!f->runs[i].p) FAIL_MEMORY(err);
    }
    str made = arena_printf(a, "%s/tacho-report-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!made.p) FAIL_MEMORY(err);
    if (!mkdtemp((char *)(uintptr_t)made.p)) return fail_place(made.p, err);
    f->folder = made; /* from now on there is something to remove */
    for (uint32_t i = 0; i < 2; i++) TRY(add_link(a, f, i, from[i].real, from[i].is_file, err));
    return OK;
}

void report_place_gone(const report_folder *f) {
    for (uint32_t i = 0; i < 2; i++) {
        if (f->links[i].p) (void)unlink(f->links[i].p);
        if (f->places[i].p) (void)rmdir(f->places[i].p); /* of a file: the folder around it */
    }
    if (f->folder.p) (void)rmdir(f->folder.p);
}
