/* open_int.h: what the files that open traces share. */
#ifndef CLI_OPEN_INT_H
#define CLI_OPEN_INT_H

#include "cli/open.h"
#include "session/discover.h"

/* The next trace of the input. */
status open_describe(opened_input *x, const span_choice *c, const trace *t,
                     error *err) MUST_USE;
/* The summaries of all workers of a run, the chosen one first; `x` has room for them. A file
 * that cannot be read is complained about and is in its summary; ERR only when none can, or
 * with --strict. */
status open_summaries(const options *o, opened_input *x, const span_choice *first,
                      error *err) MUST_USE;

#endif
