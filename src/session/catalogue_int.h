/* catalogue_int.h: what the files of the live catalogue share. */
#ifndef SESSION_CATALOGUE_INT_H
#define SESSION_CATALOGUE_INT_H

#include <pthread.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "session/catalogue.h"

/* A file that was seen. Entries are never freed before the catalogue, so their numbers stay. */
typedef struct {
    span_progress progress;
    char *path; /* valid while the catalogue is open */
    uint64_t size_bytes;
    int64_t mtime_ns;
    bool present;     /* in the last look */
    bool latest;      /* last span of its worker: read without being asked */
    bool main_worker; /* first worker of its run: read before the others */
    uint64_t asked;   /* when it was asked for, 0 = not; smaller is earlier */
    uint64_t used;    /* when it was last held, 0 = never */
    held_trace *held;
    error *error; /* of the last reading, NULL = none */
} entry;

struct live {
    live_options o;
    char *path, *root; /* as given; the real one, NULL for a file */
    pool *pool;        /* of the reading thread */
    intern *paths;     /* path → entry; entry 0 is none */
    pthread_t reader, watcher;
    bool started_reader, started_watcher;
    int wake_fd; /* eventfd of the watcher */
    _Atomic bool quit;
    int64_t last_event_ns;  /* reader only: of the last LIVE_PROGRESS */
    uint32_t loading_entry; /* reader only */

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
/* Looks through the folder; *growing tells whether a file is not quiet yet. */
status live_scan(live *c, bool *growing, error *err);
void *live_read_thread(void *c);
void *live_watch_thread(void *c);

#endif
