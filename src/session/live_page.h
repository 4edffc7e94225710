/* live_page.h: the pages that recorded processes write into the folder of their run while they
 * run (tacho/live.h). */
#ifndef SESSION_LIVE_PAGE_H
#define SESSION_LIVE_PAGE_H

#include <tacho/live.h>

#include "base/status.h"
#include "base/str.h"

/* A page is written once a second, but a shared folder may be late. */
#define LIVE_PAGE_SILENT_NS INT64_C(15000000000)

/* Reads the page NAME of an open folder; false when the file is not a page. */
bool live_page_read(int folder, const char *name, tacho_live_page *to);
/* Has its process been silent for so long that it must be gone? */
bool live_page_is_silent(const tacho_live_page *p, int64_t now_unix_ns);
/* Processes of data loaders and other children have no steps; they belong to their rank. */
bool live_page_is_helper(const tacho_live_page *p);

/* The progress of a run that is being recorded. */
typedef struct {
    uint32_t n_processes; /* recording now, without helpers; 0: the run is not being recorded */
    int64_t n_steps;      /* completed by the process that is furthest; -1: no steps */
} recording_state;

recording_state recording_look(const char *run_folder, int64_t now_unix_ns);

#endif
