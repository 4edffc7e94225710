/* prove_run.h: programs that run in turns: one moves while the others are stopped. */
#ifndef CLI_PROVE_RUN_H
#define CLI_PROVE_RUN_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "cli/prove_pairs.h"

typedef struct {
    char *const *argv;  /* the program and its arguments, NULL at the end */
    const char *python; /* the folder that Python programs look into first */
    const char *folder; /* for sockets and what the programs print */
    int64_t limit_ns;   /* for one answer of a program; a program that compiles takes long */
} prove_setup;

typedef struct {
    const prove_setup *setup;
    pid_t pid;
    int waits, talks; /* sockets: for its connection, and the connection; -1 */
    buf unread;
    char printed[4096]; /* the file with what it prints */
    bool is_over;
} prove_program;

/* What a program says of a block of steps. */
typedef struct {
    char unit[16]; /* "step", "call" of its model */
    int64_t ns;
    int64_t applied; /* how often its change had an effect so far */
} prove_block;

/* Starts it with changes (separated by commas, "" none) and an environment variable
 * (NAME=VALUE, NULL none). */
status prove_start(const prove_setup *setup, const char *changes, const char *environment,
                   prove_program *out, error *err) MUST_USE;
/* Waits until it is warm, and stops it. false: it ended, or the time is up. */
bool prove_warm(prove_program *p, prove_block *block, prove_losses *losses);
/* Lets it run this many steps and one before that is not counted, and stops it. false: as
 * above. */
bool prove_go(prove_program *p, uint32_t steps, prove_block *block, prove_losses *losses);
/* Waits until it ends by itself; `ask`: after SIGTERM, which a recorder of it passes on. false:
 * the time is up. */
bool prove_wait(prove_program *p, bool ask);
/* Ends it and all processes that it started. */
void prove_end(prove_program *p);
/* The last line it printed; empty when there is none. The arena's. */
str prove_last_line(const prove_program *p, arena *a);
/* Has the user asked to stop? From the first start on SIGINT and SIGTERM only set this. */
bool prove_is_cancelled(void);

#endif
