/* record_run.h: running a program under the recorder, and what it left behind. */
#ifndef CLI_RECORD_RUN_H
#define CLI_RECORD_RUN_H

#include <tacho/live.h>

#include "cli/options.h"

typedef struct {
    const options *o;
    const char *folder;    /* absolute; recordings go here */
    const char *library;   /* libtacho.so */
    const char *python;    /* the folder that Python programs look into first; NULL: none */
    char **argv;           /* the program and its arguments, NULL at the end */
    const char *trigger;   /* its rules; NULL: none */
    uint32_t sample_every; /* operators of one step in so many; 0: of all */
    int64_t start_unix_ns;
} record_run;

/* Makes the folder and finds the recorder; the texts are valid until the arena is reset. */
status record_prepare(arena *a, const options *o, record_run *out, error *err) MUST_USE;
/* The rules of --trigger in the words of the recorder; nothing when there are none. */
status record_trigger(const options *o, buf *to, error *err) MUST_USE;
/* Runs the program to its end; *code is its exit status, as a shell would say it. */
status record_program(const record_run *r, int *code, error *err) MUST_USE;
/* Recordings made since the start become sealed traces, and Chrome traces when --to asks. *n:
 * how many there are. */
status record_compact(arena *a, const record_run *r, uint32_t *n, error *err) MUST_USE;
/* One recording, from one path to another or in its own place. */
status record_compact_file(const options *o, const char *from, const char *to,
                           error *err) MUST_USE;
/* Only the folder of what record_prepare does. */
status record_folder(arena *a, const options *o, record_run *out, error *err) MUST_USE;
/* The folder that holds the Python package; NULL: it is not here. The arena's. */
const char *record_package(arena *a);

/* What the recordings of the run say of themselves while they are being written. */
typedef struct {
    uint32_t n_files;
    uint64_t n_steps, n_events, n_bytes;
} record_state;
record_state record_look(const record_run *r);

/* What the n-th trigger of a run saw, from 1; false: there is none. */
bool record_trigger_line(const char *folder, uint32_t n, char *to, size_t size);
/* Removes what only a run that goes on needs, when none of its processes is left. */
void record_tidy(const record_run *r);

/* A file beside the program: NAME in its own folder, else in ../WHERE/; NULL when there is
 * none. */
const char *record_find(arena *a, const char *name, const char *where);

#endif
