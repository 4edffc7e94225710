/* record_end.h: how the program of `tacho record` ended, and why nothing was recorded. */
#ifndef CLI_RECORD_END_H
#define CLI_RECORD_END_H

#include "cli/record_run.h"

/* The exit status as a shell would say it. */
int record_exit_status(const record_outcome *end);
/* Says how the program ended, unless it ended well. */
void record_say_end(const record_run *r, const record_outcome *end, uint64_t n_steps);
/* Says which processes could not be recorded, and why nothing was when n_files is 0. Also with
 * --quiet: a recording that is missing must not be missed. */
void record_say_losses(const record_run *r, uint32_t n_files);

/* Processes that the kernel killed because memory ran out, of our control group or else of the
 * machine; -1: not known. *from is where the number was read; static. */
int64_t record_oom_kills(const char **from);
/* The number after oom_kill in such a file; -1: there is none. */
int64_t record_oom_parse(const char *text);

#endif
