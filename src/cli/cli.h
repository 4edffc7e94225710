/* cli.h: what the commands share: exit statuses, complaints, output, the terminal. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "cli/options.h"

/* Exit statuses of the contract. */
enum { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_RESOURCES = 3, EXIT_REGRESSION = 4 };

/* Which exit status a failure ends in. */
int cli_exit_status(status s);
/* From now on a reader that leaves is a failed write, not SIGPIPE; a program that we start gets
 * the signal as it was before. */
void cli_ignore_pipes(void);
void cli_restore_pipes(void);
/* Says the error on stderr, in the language of the options; returns its exit status. */
int cli_complain(const options *o, const error *err);

/* Refuses to write over a file that is read, named or in a folder that is named: another form
 * of it in the place of the only copy is seldom meant. path.p may be NULL. */
status cli_check_output(const options *o, str path, error *err) MUST_USE;

/* Prints a sentence on stderr, like an error. */
void cli_say(const options *o, str sentence);
/* Says on stderr, unless --quiet, which command is better for this trace, when one is. */
void cli_note_better(const options *o, const trace *t);

/* The way out: a buffer before a file descriptor. A reader that went away (a closed pipe) is
 * not an error: `closed` is set, the flush returns ERR_CANCELLED, and the command ends
 * quietly. */
typedef struct {
    int fd;
    const char *name; /* for the complaint */
    bool closed, failed;
    buf buf;
} output;

/* present_options.flush: writes the buffer to the output's descriptor and clears it. */
status output_flush(void *to, buf *b, error *err) MUST_USE;
/* Flushes what is left, gives the buffer back, and returns the exit status of the whole:
 * `so_far` and `err` are what the command ended with. */
int output_end(output *out, const options *o, status so_far, error *err);

/* Writes out (\x1b) the control characters of what is in the buffer, all but line breaks and
 * tabs: for reports in the layout of other programs, which hold names as a file has them. */
void output_make_safe(output *out);

/* How to write for the reader of this output. */
present_options cli_present(const options *o, output *out);

#endif
