/* record_run.h: running a program under the recorder, and what it left. */
#ifndef CLI_RECORD_RUN_H
#define CLI_RECORD_RUN_H

#include <tacho/live.h>

#include "cli/options.h"

enum { RECORD_PATH_BYTES = 4096 };

typedef struct {
    const options *o;
    const char *folder;        /* absolute; recordings go here */
    const char *library;       /* libtacho.so */
    const char *python;        /* the folder that Python programs look into first; NULL: none */
    char **argv;               /* the program and its arguments, NULL at the end */
    const char *run;           /* all its processes have it: NAME_DATE_TIME.NUMBER */
    const char *made;          /* the folder as it was named, */
    size_t made_from;          /* and how long the first part is that did not exist; 0: none */
    tacho_status_page *status; /* what became of the processes; NULL: unknown */
    int status_fd;
    const char *trigger;   /* its rules; NULL: none */
    uint32_t sample_every; /* operators of one step in so many; 0: of all */
    int64_t start_unix_ns;
} record_run;

/* How the program ended. */
typedef struct {
    int how;            /* as waitpid says it */
    int passed_on;      /* the signal that ended it was sent to us; 0: none was */
    int64_t ns;         /* how long it ran */
    int64_t oom_before; /* record_oom_kills before it ran */
} record_outcome;

/* Makes the folder and finds the recorder; the texts are valid until the arena is reset. */
status record_prepare(arena *a, const options *o, record_run *out, error *err) MUST_USE;
/* The rules of --trigger in the words of the recorder; nothing when there are none. */
status record_trigger(const options *o, buf *to, error *err) MUST_USE;
/* Says what was recorded into the folder before, when there is something. */
void record_say_earlier(arena *a, const record_run *r);
/* Runs the program to its end. */
status record_program(const record_run *r, record_outcome *end, error *err) MUST_USE;
/* Removes the folders that record_prepare made, as far as they are empty. */
void record_remove_folder(const record_run *r);
/* What recording cost one process, as its recorder measured it; ns (docs/FORMAT.md). */
typedef struct record_cost {
    int64_t pid, events;
    int64_t hooks_ns; /* events and hooks */
    int64_t start_ns, stop_ns, helper_ns, covered_ns;
    bool is_known;
    bool is_part;     /* of a flight recorder: only what was kept */
    bool has_untried; /* hooks that were not measured */
    bool has_device;
    bool has_cupti; /* where the device records come from; otherwise from XLA */
} record_cost;

typedef struct {
    const char **path;
    record_cost *cost; /* of each */
    uint32_t n;
    uint32_t room;
} record_paths;
/* The recordings of this run become sealed traces, or Chrome traces when --to asks; *out: the
 * files that there are then. */
status record_compact(arena *a, const record_run *r, record_paths *out, error *err) MUST_USE;
/* The file that a recording has become. */
typedef struct {
    char path[RECORD_PATH_BYTES];
    record_cost cost;
} record_made;
/* One recording, from one path to another or in its own place; made may be NULL. */
status record_compact_file(const options *o, const char *from, const char *to,
                           record_made *made, error *err) MUST_USE;
/* What the trace of a recording says of it. */
void record_cost_of(const trace *t, record_cost *out);
/* Says what recording cost, of the process in which it cost most; `run_ns`: how long the
 * program ran. */
void record_say_cost(const record_run *r, const record_paths *files, int64_t run_ns);
/* Only the folder of what record_prepare does; `name` goes before the time in its name. */
status record_folder(arena *a, const options *o, const char *name, record_run *out,
                     error *err) MUST_USE;
/* The folder that holds the Python package; NULL: it is not here. The arena's. */
const char *record_package(arena *a);
/* The folder of sitecustomize.py, in an installed package, in the source tree or below the
 * prefix; TACHO_PYTHON names another, and none when it is empty. */
const char *record_python(arena *a);
/* Sets an environment variable: the value, in front of what it has. */
void record_set_before(const char *name, const char *value);

/* What the recordings of the run say of themselves while they are being written. */
typedef struct {
    uint32_t n_files;
    uint64_t n_steps, n_events, n_bytes;
} record_state;
record_state record_look(const record_run *r);

/* What the n-th trigger of a run saw, from 1; false: there is none. */
bool record_trigger_line(const char *folder, uint32_t n, char *to, size_t size);
/* Removes what only a running recording needs, when none of its processes is left. */
void record_tidy(const record_run *r);

/* A file of the program: NAME in its own folder, otherwise in ../WHERE/; NULL when there is
 * none. */
const char *record_find(arena *a, const char *name, const char *where);

#endif
