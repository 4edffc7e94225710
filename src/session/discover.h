/* discover.h: from a path to what it contains: runs, their workers, the workers' spans.
 *
 * A run is a directory that directly holds trace files; a log directory is a tree of them. A
 * trace file is recognized by its name (WORKER[.STAMP].pt.trace.json[.gz|.zst],
 * WORKER[.STAMP].tacho[.gz|.zst], WORKER[_time_STAMP].paddle_trace.json|pb[.gz|.zst]), any
 * other file by content; what is not a trace is listed as skipped. Names that begin with a dot
 * or end in .tmp are not looked at, symbolic links are followed. A span is one recording cycle
 * of a worker; spans are numbered from 1 by their stamp (as a number; without a stamp first).
 *
 *     catalogue c;
 *     chosen ch;
 *     TRY(run_discover(a, path, &c, err));
 *     TRY(span_choose(&c, &(choice){.worker = STR("rank0")}, &ch, err));
 *     trace_load(ch.span->path.p, …)
 */
#ifndef SESSION_DISCOVER_H
#define SESSION_DISCOVER_H

#include "base/arena.h"
#include "base/status.h"
#include "session/live_page.h"
#include "store/trace_source.h"

/* All strings end in NUL and are valid until the arena is reset. */
typedef struct {
    str path;
    str stamp;       /* digits from the file's name; empty when it has none */
    str own;         /* the producer's number of the span, from the file; empty: not reported */
    int64_t process; /* of a file of several: whose rows are meant; 0: the whole file */
    uint32_t number; /* 1 … n by time */
    int64_t start_ns; /* when it was begun, by the file or its name; INT64_MIN: not known */
    uint64_t size_bytes;
    int64_t mtime_ns;
} span_entry;

/* What a worker is. Only ranks are looked at together; a process of a data loader or a launcher
 * belongs to a rank and is never taken for one. */
typedef enum {
    WORKER_RANK,
    WORKER_TRACE,    /* by itself: nothing says that it is part of a distributed run */
    WORKER_LOADER,   /* a process of a data loader */
    WORKER_CHILD,    /* another child of a recorded process */
    WORKER_LAUNCHER, /* torchrun, mpirun, …, or the parent of ranks */
    WORKER_OTHER,    /* next to ranks, but not a rank: an older recording, a memory snapshot */
    N_WORKER_ROLES
} worker_role;

/* "rank", "trace", "loader", …. */
const char *role_word(worker_role r);

typedef struct {
    str name;
    int64_t rank; /* from the name (rank3, rank-3, rank_3) or the file, else INT64_MIN */
    worker_role role;
    str owner;   /* the worker it belongs to, of loaders and children; may not be in the run */
    bool memory; /* a picture of memory, not a timeline */
    bool host;   /* a host of a run: those next to it are others of the same run */
    span_entry *spans;
    uint32_t n_spans;
} worker_entry;

typedef struct {
    str name; /* path below the log directory, or the directory's own name */
    str path;
    worker_entry *workers; /* ranks first, by rank; then traces, the newest first; the others by
                            * name, numbers counted */
    uint32_t n_workers;
    uint32_t n_ranks;  /* workers[0 … n_ranks - 1] are ranks */
    uint32_t n_traces; /* workers that are ranks or traces by themselves: the first ones */
    int64_t start_ns;  /* Unix ns, of the first file; INT64_MIN: not known */
    int64_t newest_ns; /* Unix ns, of the last file, by its change where nothing else tells */
    recording_state recording; /* filled by the live catalogue alone */
} run_entry;

typedef struct {
    str path; /* as given */
    run_entry *runs;
    uint32_t n_runs;     /* at least 1 */
    passed_file *passed; /* files that are not traces, or not ones that tacho reads */
    uint32_t n_passed;
} catalogue;

/* path: a trace file, a directory of one run, a log directory of many, or "-". A file is taken
 * as it is, whatever its name. ERR_NOT_FOUND when a directory holds no trace; *out then has
 * what was skipped. ERR_IO when the path does not exist or cannot be read. */
status run_discover(arena *a, const char *path, catalogue *out, error *err) MUST_USE;
/* Several files, as a shell gives them for a pattern: the workers of one run when they are in
 * one folder, each has a different rank, or the caller merges what it is given; otherwise each
 * folder is a run, as for the folder around them. ERR_ARG when one of them is a folder. */
typedef enum { FILES_BY_FOLDER, FILES_ONE_RUN } files_meant;
status discover_files(arena *a, const char *const *paths, uint32_t n, files_meant meant,
                      catalogue *out, error *err) MUST_USE;

/* What the user asked for; an empty text is "not asked". */
typedef struct {
    str run;    /* name of the run, its last part when that is unique, the name of a folder of
                 * recordings (the newest), or the number of a run by time, from 1 */
    str worker; /* name, or rank */
    str span;   /* number from 1, the producer's own when it is no such number, or stamp */
} choice;

typedef struct {
    const run_entry *run;
    const worker_entry *worker;
    const span_entry *span;
} span_choice;

/* Is a question about a run about all of its ranks, when no worker was chosen? */
static inline bool run_has_ranks(const run_entry *r) {
    return r->n_ranks > 1;
}
/* How many workers, from the first, are meant by "all": the ranks; without ranks every
 * trace. */
static inline uint32_t run_whole(const run_entry *r) {
    return r->n_ranks > 1 ? r->n_ranks : r->n_traces;
}

/* By time; of equal times the one that is listed later. */
bool run_is_newer(const run_entry *a, const run_entry *b);
/* Which of the runs it is, from 1 by time: the last one is the newest. */
uint32_t run_number(const catalogue *c, const run_entry *r);
/* The newest run or the one asked for; the first worker; the last span. ERR_ARG with a list of
 * what is there when the choice is not possible or not unique. */
status span_choose(const catalogue *c, const choice *wanted, span_choice *out,
                   error *err) MUST_USE;
/* The run as it is listed: its workers and what they are, and what was skipped. */
status run_list(const catalogue *c, const run_entry *r, arena *a, const run_listing **out,
                error *err) MUST_USE;
/* A path as it may be shown: a URL without its query, which may hold a token. */
str shown_path(str path);
/* What an analysis learns about a trace that was chosen and loaded; texts live as long as the
 * catalogue and the arena. */
status chosen_describe(const span_choice *c, const trace *t, arena *a, trace_source *out,
                       error *err) MUST_USE;
/* The span of another worker that belongs to the same cycle as `number` of the chosen one: the
 * one with that number, else its last. For analyses over all workers. */
const span_entry *worker_span(const worker_entry *w, uint32_t number);

#endif
