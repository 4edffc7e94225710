/* catalogue_int.h: what the files of the live catalogue share. */
#ifndef SESSION_CATALOGUE_INT_H
#define SESSION_CATALOGUE_INT_H

#include <pthread.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "session/catalogue.h"

/* A summary is wanted when it was asked for, or the run is large. */
typedef enum {
    BRIEF_NONE,
    BRIEF_WAITING, /* will be made once the file is quiet */
    BRIEF_MAKING,
    BRIEF_READY,
    BRIEF_FAILED
} brief_state;

/* A file that was seen. Entries are never freed before the catalogue, so their numbers stay. */
typedef struct {
    span_progress progress;
    char *path;      /* valid while the catalogue is open */
    int64_t process; /* of a file of several, 0: all of it */
    uint64_t size_bytes;
    int64_t mtime_ns;
    int64_t changed_ns;       /* when a look found it changed; monotonic */
    int64_t growing_since_ns; /* the same; 0: it was quiet */
    int64_t patience_ns;      /* then it is read although it grows */
    bool present;             /* in the last look */
    bool latest;              /* last span of its worker: read without being asked */
    bool main_worker;         /* first worker of its run: read before the others */
    bool of_many;             /* a run of more than LIVE_MANY_WORKERS */
    uint64_t asked;           /* when it was asked for, 0 = not; smaller is earlier */
    uint64_t used;            /* when it was last held, 0 = never */
    held_trace *held;
    uint64_t read_bytes;  /* the file as it was read last */
    int64_t read_time_ns; /* 0: it never was */
    error *error;         /* of the last reading, NULL = none */
    str worker;           /* its name; valid while the catalogue is open */
    int64_t rank;
    brief_state brief;
    held_trace *summary; /* may be that of an older state of the file while a new one is made */
    error *brief_error;
    uint64_t brief_used; /* when it was last held, 0 = never */
    bool brief_asked;    /* a request waits for it: not given up before it was held */
} entry;

/* Runs of more workers are looked at by their summaries. */
#define LIVE_MANY_WORKERS 16

struct live {
    live_options o;
    char *path, *root;   /* as given; the real one, NULL for a file */
    char *also;          /* a second folder, or NULL */
    int64_t patience_ns; /* the first, of files that are not recordings */
    pool *pool;          /* of the reading thread */
    intern *paths;       /* path and process → entry; entry 0 means none */
    intern *names;       /* of workers */
    pthread_t reader, watcher;
    bool started_reader, started_watcher;
    int wake_fd; /* eventfd of the watcher */
    _Atomic bool quit;
    int64_t last_event_ns;           /* reader only: of the last LIVE_PROGRESS */
    _Atomic int64_t last_summary_ns; /* of the last LIVE_SUMMARIES */
    uint32_t loading_entry;          /* reader only */
    uint64_t recorders_seen;         /* watcher only: hash of the last look at them */

    pthread_mutex_t events; /* one event at a time; taken before `lock`, never inside it */
    pthread_mutex_t lock;   /* guards everything below */
    pthread_cond_t work;    /* something to read, or the end */
    entry **entries;
    uint32_t n_entries, cap_entries;
    snapshot *current;
    uint64_t version, clock, generations;
    bool rescan;
};

int64_t live_now_ns(void);  /* monotonic */
int64_t live_unix_ns(void); /* time of day, as files have it */

void live_emit(live *c, live_event e);
/* How soon the folder is worth another look. */
typedef enum {
    PACE_QUIET,
    PACE_WRITTEN, /* something is being written or recorded; what there is was read */
    PACE_GROWING, /* a file is being written and was not read yet */
} live_pace;

/* Looks through the folder. */
status live_scan(live *c, live_pace *pace, error *err);
/* Is there a summary to be made? The lock is held. */
bool live_has_summaries(const live *c);
/* Makes summaries until there are no more to make, or a trace is asked for. */
void live_make_summaries(live *c);
/* Puts an error where an entry keeps it. */
void live_keep_error(error **slot, const error *err);
bool live_is_asked(
    const live *c); /* is a trace asked for that is not loaded? The lock is held */
/* Takes what is longest unused out until all fits; true when there was something. */
bool live_make_room(live *c, const entry *fresh);
void *live_read_thread(void *c);
void *live_watch_thread(void *c);

#endif
