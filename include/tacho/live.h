/* tacho/live.h: how a recorded process is doing now, for `tacho watch`, and what became of the
 * processes of a `tacho record`.
 *
 * Each process that records into a folder keeps one such page in FOLDER/.live/WORKER, written
 * once a second, and removes it when its recording ends. A killed process does not remove it: a
 * page whose time is old and whose process is gone is of no use.
 *
 * What happened to one process can be of interest to all: a trigger that fired leaves a line in
 * FOLDER/.triggers/NUMBER, and every process of the folder writes its evidence, too. */
#ifndef TACHO_LIVE_H
#define TACHO_LIVE_H

#include <stdint.h>

#define TACHO_LIVE_MAGIC "TACHOLV1"
#define TACHO_LIVE_FOLDER ".live"
#define TACHO_TRIGGER_FOLDER ".triggers"

/* -1: not known, also of the shares. */
typedef struct {
    uint8_t magic[8];
    int64_t pid, rank, world_size;
    int64_t written_unix_ns; /* when this page was */
    int64_t n_steps;         /* ended */
    int64_t step_unix_ns;    /* the last end of a step */
    int64_t step_ns, median_step_ns;
    int64_t busy_ppm; /* of the time the device records since the page before cover */
    int64_t device_bytes, host_bytes;
    int64_t n_lost;                            /* events */
    int64_t n_triggers;                        /* evidence written */
    char worker[256], host[128], trigger[256]; /* why it was written last; all end in NUL */
} tacho_live_page;

/* `tacho record` makes this page in memory before the program runs and reads it afterwards: a
 * process that cannot write a file can still say why. TACHO_STATUS names it as
 * /proc/PID/fd/N, so there is no file that could be full, removed or forgotten. It is sealed
 * against shrinking, each process maps it when the recorder is loaded, and all numbers only
 * grow. */
#define TACHO_STATUS_MAGIC "TACHOST1"
enum { TACHO_STATUS_FAILURES = 48 };

/* A process that could not begin its recording. */
typedef struct {
    uint32_t is_written; /* last */
    int32_t code;        /* errno */
    int64_t pid;
    uint32_t uid; /* its effective user */
    uint32_t reserved;
    char program[16]; /* ends in NUL */
} tacho_status_failure;

typedef struct {
    uint8_t magic[8];
    uint64_t n_loaded;   /* programs that loaded the recorder */
    uint64_t n_python;   /* those of them that are Python interpreters */
    uint64_t n_begun;    /* recordings */
    uint64_t n_failures; /* the first ones are below */
    uint64_t end_ns;     /* the longest that a program waited for its recorder to end */
    tacho_status_failure failures[TACHO_STATUS_FAILURES];
} tacho_status_page;

#endif
