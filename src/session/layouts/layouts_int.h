/* layouts_int.h: the folders of each profiler, for the table in layouts.c. */
#ifndef SESSION_LAYOUTS_INT_H
#define SESSION_LAYOUTS_INT_H

#include "session/folder_walk_int.h"

/* What results are read from: the timeline with its tables, which say more about collectives
 * than a database of the same run; otherwise that database; otherwise the table of tasks
 * alone. NULL: there are none. */
const dir_item *ascend_results_choose(const vec *items);
/* The same of the folder of results below `folder`; *file is STR_NONE when there are none. */
status ascend_results_find(walk *w, str folder, str *file, struct stat *st,
                           error *err) MUST_USE;

/* See folder_layout. */
status mindspore_folders_take(walk *w, const vec *items, const found_file *run, bool *mine,
                              error *err) MUST_USE;
bool mindspore_folders_skip(str name, const folder_layout *taken);
status torch_npu_folders_take(walk *w, const vec *items, const found_file *run, bool *mine,
                              error *err) MUST_USE;
bool torch_npu_folders_skip(str name, const folder_layout *taken);

#endif
