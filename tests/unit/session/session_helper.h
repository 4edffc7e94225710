/* session_helper.h: folders and files for the tests of session/. */
#ifndef UNIT_SESSION_HELPER_H
#define UNIT_SESSION_HELPER_H

#include "base/status.h"

/* A fresh folder for one test; also its cache folder and the home of nothing else. */
typedef struct {
    char path[256];
    char cache[320]; /* $XDG_CACHE_HOME/tacho; not made yet */
} folder;

folder folder_new(void);
void folder_gone(folder *f);

/* The path of a name in the folder; valid until the eighth call from here. */
const char *in_folder(const folder *f, const char *name);
/* Writes a file, with the folders on the way, that was last changed ten seconds ago. */
const char *put_file(const folder *f, const char *name, str bytes);
/* Number of files in a folder whose names end so; 0 when there is no such folder. */
size_t count_files(const char *path, const char *ending);
/* One of them, as a path; other_file: one that is not this. */
const char *first_file(const char *path, const char *ending);
const char *other_file(const char *path, const char *ending, const char *not_this);

/* A small trace with a few operators; `n` of them, so that different n are different traces. */
str small_trace(int n);

#endif
