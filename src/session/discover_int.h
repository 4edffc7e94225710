/* discover_int.h: the list of trace files that a catalogue is made from. */
#ifndef SESSION_DISCOVER_INT_H
#define SESSION_DISCOVER_INT_H

#include "base/vec.h"
#include "session/discover.h"
#include "session/names_int.h"

/* A trace file, and what its place and its name say. */
typedef struct {
    str run_name, run_path;
    trace_name name;
    str path;
    int64_t process;  /* of a file of several: the one that is the worker; 0: all of it */
    str own;          /* the producer's own number of the span, as text */
    int64_t start_ns; /* when it was begun, in Unix ns; 0: not known */
    uint64_t size_bytes;
    int64_t mtime_ns;
} found_file;

/* Files that hold several processes become a worker for each (processes.c). named: one that
 * cannot be read is an error, as it is not in a folder of many. */
status processes_part(arena *a, vec *files, bool named, error *err) MUST_USE;
/* Says of each worker of a run what it is, puts the ranks first and counts them. */
void roles_settle(run_entry *r);
/* Counts again after workers were taken out. */
void roles_count(run_entry *r);
/* Sorts the files (n > 0) and cuts runs, workers and spans out of the list. */
status catalogue_of_files(arena *a, found_file *files, size_t n, catalogue *out,
                          error *err) MUST_USE;
/* Files in folders of one rank each become workers of the run around them (rank_folders.c). The
 * files are sorted by folder; `top` is the path of the folder that was asked for, `top_name`
 * its name. They are no longer sorted afterwards. */
status rank_folders_join(arena *a, str top, str top_name, found_file *f, size_t n,
                         error *err) MUST_USE;
/* Recordings that several `tacho record` made into one folder become a run each
 * (recordings.c). The files are sorted, and are no longer afterwards. */
status recordings_split(arena *a, found_file *f, size_t n, error *err) MUST_USE;
/* Files that were named, and all of the processes in them. */
status catalogue_of_given(arena *a, const found_file *f, size_t n, catalogue *out,
                          error *err) MUST_USE;

/* ---- what the walk and given_files.c share -------------------------------------------------
 */

struct stat;
/* When the file was last written, in Unix ns. */
int64_t found_mtime(const struct stat *st);
/* ERR_IO about a path. */
status found_fail(error *err, uint16_t message, const char *path, int code);
/* The last part of a folder's real path. */
str folder_own_name(arena *a, const char *path);
/* Are two files copies, or forms, of one span? */
bool found_same_span(const found_file *a, const found_file *b);
/* Asks the files for what their names do not say, and sorts them by run, worker and stamp. */
status found_sort(arena *a, found_file *f, size_t n, error *err) MUST_USE;
/* Cuts runs, workers and spans out of the sorted list (n > 0). */
status catalogue_cut(arena *a, const found_file *f, size_t n, catalogue *out,
                     error *err) MUST_USE;
/* For qsort: by run, worker, stamp. */
int found_compare(const void *a, const void *b);

/* discover for a URL. */
status discover_remote(arena *a, const char *url, catalogue *out, error *err) MUST_USE;

#endif
