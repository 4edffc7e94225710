/* catalogue.h: a folder of traces that is kept up to date while the program runs: new runs and
 * files appear, files are read in the background, unused ones are given up when memory is
 * short.
 *
 *     live *c;
 *     TRY(live_open(&(live_options){.path = dir}, &c, err));
 *     TRY(live_start(c, err));
 *     snapshot *s = live_snapshot(c);                      what there is now; does not change
 *     chosen ch;
 *     TRY(span_choose(&s->found, &wanted, &ch, err));
 *     held_trace *h;
 *     span_state state = live_hold(c, snapshot_entry(s, ch.span), &h, err);
 *     if (h) … h->trace, h->lod …                          stays as long as it is held
 *     held_release(h); snapshot_release(s); live_close(c);
 *
 * Of a run of many workers only the first one's trace is read without being asked; of the
 * others summaries are made instead, which is what questions about all workers need
 * (live_hold_summary).
 *
 * It has two threads: one watches and looks through the folder, one reads files, what was asked
 * for first. A caller never waits: an event announces what was not available yet. A snapshot
 * and a held trace are immutable and counted; evicting drops only the catalogue's own
 * reference. All functions may be called from any thread. */
#ifndef SESSION_CATALOGUE_H
#define SESSION_CATALOGUE_H

#include <stdatomic.h>

#include "session/discover.h"
#include "session/load.h"
#include "store/lod.h"

typedef enum {
    SPAN_GROWING, /* changed less than two seconds ago: not read yet */
    SPAN_WAITING, /* will be read */
    SPAN_LOADING,
    SPAN_READY,
    SPAN_FAILED,
    SPAN_RESTING, /* not in memory; is read when it is asked for */
    N_SPAN_STATES
} span_state;

/* "growing", "waiting", …. */
const char *span_state_name(span_state s);

typedef struct {
    trace *trace;
    lod *lod;            /* NULL: of a summary */
    uint64_t generation; /* differs from that of any other trace of this process */
    uint64_t bytes;
    _Atomic uint32_t references; /* private */
} held_trace;

held_trace *held_retain(held_trace *h);
void held_release(held_trace *h); /* NULL is allowed */

/* One file, as long as the catalogue lives. */
typedef struct {
    _Atomic int state;  /* span_state */
    _Atomic bool grows; /* still being written, even if a part of it was read */
    _Atomic uint64_t done_bytes, total_bytes;
} span_progress;

typedef struct {
    str path;
    uint16_t message; /* why it is not shown */
} refused_path;

typedef struct snapshot {
    uint64_t version;
    catalogue found; /* n_runs may be 0 */
    refused_path *refused;
    uint32_t n_refused;
    arena arena;                /* private, as what follows */
    const span_entry *base;     /* all spans lie after it, in one block */
    uint32_t *entries, n_spans; /* by place in that block */
    _Atomic uint32_t references;
} snapshot;

snapshot *snapshot_retain(snapshot *s);
void snapshot_release(snapshot *s);
/* The number of a span's file, the same in all snapshots. */
uint32_t snapshot_entry(const snapshot *s, const span_entry *span);

typedef enum {
    LIVE_CHANGED,  /* another snapshot, or another state of a file in it */
    LIVE_PROGRESS, /* at most ten a second */
    LIVE_READY,
    LIVE_FAILED,
    LIVE_SUMMARIES, /* more of them are made; at most ten a second, and when all are */
} live_what;

typedef struct {
    live_what what;
    uint32_t entry;   /* not with LIVE_CHANGED and LIVE_SUMMARIES */
    held_trace *held; /* with LIVE_READY; borrowed */
    bool renewed;     /* with LIVE_READY: an older state of the file was read before */
} live_event;

typedef struct {
    const char *path; /* as for discover; a folder that is still empty will do */
    const char *also; /* a folder whose runs are shown in addition to those of the path; NULL:
                         none */
    int threads;      /* for reading; 0: as many as there are processors */
    bool no_cache;
    bool follow_links;           /* also those that point outside the folder */
    uint64_t memory_limit_bytes; /* of all traces in memory; 0: mem_usual_limit_bytes */
    reduce_fn reduce;            /* makes summaries; NULL: they are not needed */
    /* Called from the catalogue's threads, one at a time, without its locks. */
    void (*event)(void *context, const live_event *e);
    void *context;
} live_options;

typedef struct live live;

/* Looks through the folder once before it returns; nothing is read or reported yet. ERR_IO when
 * the path does not exist. */
status live_open(const live_options *o, live **out, error *err) MUST_USE;
/* Starts reading, watching and telling. */
status live_start(live *c, error *err) MUST_USE;
/* Instead of live_start, for a program without threads: looks through the folder, and reads the
 * file that comes next, or makes summaries. live_look tells when another look is worth it;
 * live_read is false when there was nothing to read. Never both ways. */
status live_look(live *c, bool *again, error *err) MUST_USE;
bool live_read(live *c);
/* Stops reading and telling, waits for its threads; can still be asked. NULL is allowed. */
void live_stop(live *c);
/* Stops and frees. What is held stays. NULL is allowed. */
void live_close(live *c);

snapshot *live_snapshot(live *c); /* the caller's reference */
/* The trace of a file, or NULL in *out: then it is read next, and LIVE_READY or LIVE_FAILED
 * comes (when the state is SPAN_FAILED it has failed, *err says how, and nothing comes). A
 * growing file becomes ready when it has been quiet. */
span_state live_hold(live *c, uint32_t entry, held_trace **out, error *err);
/* The same for its summary: h->trace->summary, without lod; LIVE_SUMMARIES comes. It is kept
 * next to the sealed traces (load.h) and in memory, and made again when the file changes. */
span_state live_hold_summary(live *c, uint32_t entry, held_trace **out, error *err);
/* What is known of a file; valid as long as the catalogue. */
const span_progress *live_progress(const live *c, uint32_t entry);
/* Why reading it failed; false when it did not. */
bool live_error(live *c, uint32_t entry, error *err);

typedef struct {
    uint64_t version;                 /* grows with every change, also of a file's state */
    uint64_t used_bytes, limit_bytes; /* of memory */
    uint64_t done_bytes,
        total_bytes; /* of files that are read or will be, without being asked */
    uint32_t n_summaries, n_summarised; /* wanted; made, or failed */
} live_totals;
live_totals live_sum(live *c);
/* Gives up what is unused until the rest is below the limit: what was in use when memory became
 * short is dropped by a later call. */
void live_trim(live *c);
/* Looks through the folder soon; for tests, and for callers that know of a change. */
void live_rescan(live *c);

#endif
