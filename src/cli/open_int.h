/* open_int.h: what the files that open traces share. */
#ifndef CLI_OPEN_INT_H
#define CLI_OPEN_INT_H

#include "cli/open.h"
#include "plan/plan.h"

/* The next trace of the input. */
status open_describe(opened_input *x, const span_choice *c, const trace *t,
                     error *err) MUST_USE;
/* The summaries of the workers of a run; `x` has room for them. A file
 * that cannot be read is complained about and is in its summary; ERR only when none can, or
 * with --strict. */
status open_summaries(const options *o, opened_input *x, const run_plan *plan,
                      error *err) MUST_USE;

/* Says that it is the newest of several runs, unless it was chosen. */
void open_note_run(const options *o, const catalogue *found, const run_entry *run);
/* Finds a path and chooses in it, as the options say; `x` gets its listing. */
status open_path(const options *o, opened_input *x, const char *path, span_choice *c,
                 error *err) MUST_USE;
status open_choose(const options *o, opened_input *x, const catalogue *found, span_choice *c,
                   error *err) MUST_USE;
/* Opens the chosen worker, and all of its run where the question is about them. */
status open_run(const options *o, opened_input *x, const span_choice *c, error *err) MUST_USE;

/* The trace of a worker that was just opened together with those of its data loader's
 * processes, where the question follows batches from process to process. */
status open_loaders(const options *o, opened_input *x, const span_choice *c,
                    error *err) MUST_USE;
/* Reads and seals one file; the arena of `x` holds it. */
/* Does the user name this very file? What was found in a folder may be another thing by now. */
bool open_is_named(const options *o, str path);
status open_load(const options *o, opened_input *x, const span_choice *c, trace **out,
                 error *err) MUST_USE;

/* What a comparison takes in addition to its first run (open_compare.c). */
typedef struct {
    const char *other; /* NULL: nothing is compared */
} compared_paths;
/* Does the command compare two runs? */
bool compare_is_asked(const options *o);
status compare_paths(const options *o, compared_paths *out, error *err) MUST_USE;
/* Opens them like the first run and adds them to it. */
status open_compared(const options *o, opened_input *x, const compared_paths *paths,
                     error *err) MUST_USE;

#endif
