/* discover.h: from a path to what lies there: runs, their workers, the workers' spans.
 *
 * A run is a directory that directly holds trace files; a log directory is a tree of them. A
 * trace file is recognised by its name (WORKER[.STAMP].pt.trace.json[.gz|.zst],
 * WORKER[.STAMP].tacho[.gz|.zst], WORKER[_time_STAMP].paddle_trace.json|pb[.gz|.zst]); in a directory without such names, by content. Names that begin with a
 * dot or end in .tmp are not looked at, symbolic links are followed. A span is one recording
 * cycle of a worker; spans are numbered from 1 by their stamp (as a number; without a stamp
 * first).
 *
 *     catalogue c;
 *     chosen ch;
 *     TRY(discover(a, path, &c, err));
 *     TRY(choose(&c, &(choice){.worker = STR("rank0")}, &ch, err));
 *     load(ch.span->path.p, …)
 */
#ifndef SESSION_DISCOVER_H
#define SESSION_DISCOVER_H

#include "base/arena.h"
#include "base/status.h"
#include "store/trace_source.h"

/* All strings end in NUL and are valid until the arena is reset. */
typedef struct {
    str path;
    str stamp;       /* digits from the file's name; empty when it has none */
    str own;         /* the producer's number of the span, from the file; empty: not told */
    uint32_t number; /* 1 … n by time */
    uint64_t size_bytes;
    int64_t mtime_ns;
} span_entry;

typedef struct {
    str name;
    int64_t rank; /* from the name (rank3, rank-3, rank_3), else INT64_MIN */
    span_entry *spans;
    uint32_t n_spans;
} worker_entry;

typedef struct {
    str name; /* path below the log directory, or the directory's own name */
    str path;
    worker_entry *workers; /* by rank, then by name with numbers in it counted */
    uint32_t n_workers;
} run_entry;

typedef struct {
    str path; /* as given */
    run_entry *runs;
    uint32_t n_runs; /* at least 1 */
} catalogue;

/* path: a trace file, a directory of one run, a log directory of many, or "-". A file is taken
 * as it is, whatever its name. ERR_NOT_FOUND when a directory holds no trace, ERR_IO when the
 * path is not there or cannot be read. */
status discover(arena *a, const char *path, catalogue *out, error *err) MUST_USE;

/* What the user asked for; an empty text is "not asked". */
typedef struct {
    str run;    /* name of the run, or its last part when that is unique */
    str worker; /* name, or rank */
    str span;   /* number from 1, the producer's own when it is no such number, or stamp */
} choice;

typedef struct {
    const run_entry *run;
    const worker_entry *worker;
    const span_entry *span;
} chosen;

/* The only run or the one asked for; the first worker; the last span. ERR_ARG with a list of
 * what is there when the choice is not possible or not unique. */
status choose(const catalogue *c, const choice *wanted, chosen *out, error *err) MUST_USE;
/* A path as it may be shown: a URL without its query, which may hold a token. */
str shown_path(str path);
/* What an analysis is told about a trace that was chosen and loaded; texts live as long as the
 * catalogue and the arena. */
status chosen_describe(const chosen *c, const trace *t, arena *a, trace_source *out,
                       error *err) MUST_USE;
/* The span of another worker that belongs to the same cycle as `number` of the chosen one: the
 * one with that number, else its last. For analyses over all workers. */
const span_entry *worker_span(const worker_entry *w, uint32_t number);

#endif
