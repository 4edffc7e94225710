/* folder_walk_int.h: what the walk through a directory and the layouts of profilers' folders
 * share.
 *
 * Most profilers write files, and each file is a worker. Some write folders, of which one file
 * stands for the worker: a row of FOLDER_LAYOUTS knows such folders. A new one is a file in
 * session/layouts and a row there; discover.c names no profiler. */
#ifndef SESSION_FOLDER_WALK_INT_H
#define SESSION_FOLDER_WALK_INT_H

#include <sys/stat.h>

#include "base/map.h"
#include "session/discover_int.h"
#include "session/sniff.h"

typedef struct {
    arena *a;
    vec files;  /* found_file */
    vec passed; /* passed_file */
    uint32_t n_looks;
    size_t n_seen; /* entries of all folders */
    size_t n_root; /* bytes of the root's path, with the slash after it */
} walk;

typedef struct {
    str name;
    struct stat st;
} dir_item;

/* Everything of interest in one directory, as dir_item, sorted by name. */
status walk_list(walk *w, const char *path, vec *items, error *err) MUST_USE;
/* FOLDER/NAME; p is NULL when memory is out. */
str walk_join(walk *w, str folder, str name);
/* A path that is not read, and why. */
status walk_skip(walk *w, str path, const sniff_result *as, error *err) MUST_USE;
/* The file that stands for a worker; `like` has the run and the worker's name. */
status walk_add_worker(walk *w, str path, const struct stat *st, const found_file *like,
                       error *err) MUST_USE;

typedef struct folder_layout folder_layout;
struct folder_layout {
    /* Adds the workers of a folder. *mine: the folder is the profiler's, read or not. May be
     * NULL. */
    status (*take)(walk *w, const vec *items, const found_file *run, bool *mine, error *err);
    bool names_all; /* in a folder it took nothing else is looked at for its content */
    /* A file, or a folder, that is a part of something else; taken: the layout that took the
     * folder around it, or NULL. May be NULL. */
    bool (*skips_file)(str name, const folder_layout *taken);
    bool (*skips_folder)(str name, const folder_layout *taken);
};

/* The first that takes a folder has it. */
extern const folder_layout FOLDER_LAYOUTS[];
extern const size_t N_FOLDER_LAYOUTS;

/* ---- other views of a trace in the same folder (layouts/duplicate_views.c) -------------- */

/* The workers whose traces are in a folder: another view of one of them is skipped. */
typedef struct {
    map workers; /* hash of how a worker is known, and its name → 1 */
    bool any_host;
} seen_workers;

/* *out: all zero; to be given to seen_workers_fini in any case. */
status seen_workers_find(const vec *items, seen_workers *out, error *err) MUST_USE;
void seen_workers_fini(seen_workers *s);
bool seen_workers_has_view(const seen_workers *s, str file);

#endif
