/* mindspore.h: what MindSpore's profiler left in a folder, for one device.
 *
 * A worker is a folder and a device (or rank) number: all files of the folder whose name ends
 * in that number, and those that have none. Every layout from r0.5 to 2.10 is read: csv and
 * text tables, the raw binaries of an Ascend, the folders NAME_PID_TIME_ascend_ms of 2.7 and
 * later. */
#ifndef INGEST_MINDSPORE_H
#define INGEST_MINDSPORE_H

#include "ingest/ingest.h"

enum { MINDSPORE_ANY_ID = -1 };

/* What the name of a file says: is it one of MindSpore's, and of which device. */
typedef struct {
    int kind;   /* row of the table of files, for the reader */
    int64_t id; /* MINDSPORE_ANY_ID: the name has no number */
} mindspore_name;
bool mindspore_name_parse(str file, mindspore_name *out);
/* A name that alone makes a folder one of MindSpore's. */
bool mindspore_name_is_sure(str file);

/* NAME_PID_TIME_ascend_ms: the worker's name and the time; false: another folder. */
bool mindspore_folder_parse(str folder, str *worker, str *stamp);
/* Folders inside a worker's folder that belong to it. */
bool mindspore_is_part(str folder);
/* Where a worker's files are read from, after the path of its folder: itself, and some of
 * those. */
enum { N_MINDSPORE_PLACES = 5 };
extern const char *const MINDSPORE_PLACES[N_MINDSPORE_PLACES];

/* Reads the worker of options.path, the path of any of its files. The source is that file; when
 * its name says nothing, its content decides and it is read alone. */
status ingest_mindspore(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;
/* Is this the beginning of one of the text tables? */
bool mindspore_is_table(str head);

#endif
