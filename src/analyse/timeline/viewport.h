/* viewport.h: what a timeline shows of some lanes in a range of time, in at most this many
 * bytes.
 *
 * The answer is columns, ready to be sent: runs of boxes (one run for each row of a lane that
 * has any), names used in it, points of counters. docs/SERVER.md says what each column
 * holds. */
#ifndef ANALYSE_VIEWPORT_H
#define ANALYSE_VIEWPORT_H

#include "analyse/timeline/lanes.h"
#include "analyse/timeline/slice_tags.h"

typedef struct {
    uint32_t id;
    uint32_t coarser; /* buckets this many powers of two wider than the others' */
} viewport_lane;

typedef struct {
    int64_t from_ns, to_ns; /* absolute; from < to */
    uint32_t width_px;      /* at least 1 */
    const viewport_lane *lanes;
    uint32_t n_lanes;
    uint32_t max_rows;  /* of each lane; 0 = all */
    uint32_t max_bytes; /* 0: VIEWPORT_BYTES */
    tagger *tagger;     /* NULL: names carry no tags */
} viewport_question;

enum { VIEWPORT_BYTES = 200000, VIEWPORT_NAME_BYTES = 200, VIEWPORT_INSTANT = N_KINDS };

enum { /* flags of a box */
       BOX_BEFORE = 1,
       BOX_AFTER = 2,
       BOX_UNFINISHED = 4,
       BOX_SPILLED = 8,
       BOX_CLOCK_SUSPECT = 16,
       BOX_SYNTHETIC = 32,
};

typedef struct {
    int64_t from_ns, to_ns;
    int shift;      /* a bucket is 2^shift ns */
    int unit_shift; /* a unit of start, end and time is 2^unit_shift ns */
    bool cut;       /* so many lanes that not all fit: those at the end are missing */

    uint32_t n_runs;
    uint32_t *run_lane, *run_first; /* n_runs + 1 */
    uint16_t *run_row;

    uint32_t n_boxes;
    uint32_t *start, *end, *slice;
    float *time;
    uint16_t *count, *name;
    uint8_t *flags;

    uint32_t n_names;
    uint32_t *name_string, *name_at; /* n_names + 1 */
    uint32_t *name_tag;              /* see slice_tags.h; NULL without a tagger */
    uint8_t *name_kind;
    char *name_text;

    uint32_t n_counters;
    uint32_t *counter_lane, *counter_first; /* n_counters + 1 */
    uint32_t n_points;
    uint32_t *point_time;
    float *point_min, *point_max, *point_last;
} viewport;

/* The columns live in the arena. ERR_ARG when a lane does not exist. */
status viewport_make(const lod *l, const viewport_question *q, arena *a, viewport *out,
                     error *err) MUST_USE;

#endif
