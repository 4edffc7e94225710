/* progress.h: one line on a terminal's stderr that says how far the reading is. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/options.h"

typedef struct {
    bool on; /* a terminal listens and --quiet was not given */
    lang words;
    const char *path;
    int64_t start_ns, last_ns; /* monotonic; of the first call, of the last line */
    bool shown;
} progress;

void progress_begin(progress *p, const options *o, const char *path);
/* For the readers: never asks to stop. `context` is a progress. */
bool progress_step(void *context, uint64_t done_bytes, uint64_t total_bytes);
/* Takes the line away. */
void progress_end(progress *p);

#endif
