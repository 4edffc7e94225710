/* open.h: from the TRACE arguments of a command to sealed traces, ready for an analysis. */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H

#include "cli/options.h"

typedef struct {
    analysis_input input;       /* the chosen worker first */
    analysis_trace *traces;     /* the same, as they are filled */
    const run_listing *listing; /* what else is in the folder */
    pool *pool;
    arena arena;       /* of the command: holds the traces, and the answer too */
    uint64_t refusals; /* of arenas before */
} opened_input;

/* Finds, reads and seals what the options choose. open_end in any case. */
status open_traces(const options *o, opened_input *out, error *err) MUST_USE;
/* Gives everything back. An error caused by the memory limit then says what the limit was;
 * NULL: it has been reported already. */
void open_end(opened_input *x, error *err);
/* All that were opened on one clock (store/merge.h), to be released; says on standard error
 * which of them tell no time of day. */
status open_merged(const options *o, opened_input *x, trace **merged, error *err) MUST_USE;

/* Is the file or folder, whatever links lead there, below a folder given by its real path? */
bool open_is_within(const char *path, const char *folder);

#endif
