/* tacho/live.h: how a recorded process is doing now, for `tacho watch`.
 *
 * Each process that records into a folder keeps one such page in FOLDER/.live/WORKER, written
 * once a second, and removes it when its recording ends. A process that was killed leaves it
 * behind: a page whose time is old and whose process is gone is of no use.
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

#endif
