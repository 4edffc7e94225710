/* report.h: a run as one HTML file that opens without a server: the page, and its answers.
 *
 *     report_options how = {.paths = {"log"}, .n_paths = 1, .output = "run.html", …};
 *     TRY(report_write(&how, &made, err));
 *
 * With two paths it is a comparison: both runs are inside, and the page opens on what
 * changed. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "question/window.h"
#include "session/discover.h"
#include "text/text.h"

typedef struct {
    const char *paths[2]; /* traces, runs or folders of runs */
    uint32_t n_paths;
    choice wanted;      /* of the first path */
    step_range detail;  /* steps whose every slice is inside; STEPS_ALL: none */
    const char *output; /* "-" is standard output */
    int threads;        /* 0: as many as there are processors */
    bool no_cache, follow_links;
    uint64_t memory_limit_bytes; /* of traces in memory; 0: mem_usual_limit_bytes */
    lang words;
    /* Called before the answers are made and packed: about how large the file will be. May be
     * NULL, like the next. */
    void (*estimate)(void *context, uint64_t bytes);
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
} report_options;

typedef struct {
    uint64_t bytes;
    uint32_t n_answers;
    uint64_t n_slices; /* that can be selected */
} report_result;

/* *writing: the traces were read; a failure from now on is one of the disk. The file appears as
 * a whole, or not at all. */
status report_write(const report_options *o, report_result *out, bool *writing,
                    error *err) MUST_USE;

#endif
