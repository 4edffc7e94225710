/* lod.h: level of detail: what a timeline can draw of a trace of any size, at any zoom.
 *
 * A track is cut into lanes (work, calls, python, …), a lane into rows whose slices do not
 * overlap; row 0 holds the outermost slices of that lane. Each row has a tree of sums, so that
 * a row can be read in buckets of any power of two of nanoseconds, counted from the trace's own
 * zero:
 *
 *     lod_cursor c = lod_begin(l, row, from_ns, to_ns, shift);
 *     for (lod_box b; lod_next(&c, &b);) …
 *
 * A slice at least as long as a bucket is a separate box; shorter ones that start in the same
 * bucket, with none of the long ones between them, are one box: how many, how much time, which
 * is the longest. So a bucket gives at most two boxes, and counts and times of all boxes of a
 * row add up to those of its slices at every level. What many slices share is kept ready.
 *
 * Apart from the rows there are counters (and memory curves) with smallest and largest value of
 * any range; the slices of each name; covers, the share of time in which devices or the host
 * did something.
 *
 * Made once after loading (about 90 ns and 38 bytes a slice), read by any number of threads.
 * Holds no reference: the trace must live longer. */
#ifndef STORE_LOD_H
#define STORE_LOD_H

#include "base/pool.h"
#include "store/trace.h"

typedef enum {
    LANE_STEPS,    /* the training steps */
    LANE_STREAM,   /* device work of a stream */
    LANE_RANGES,   /* user ranges projected on a stream */
    LANE_WORK,     /* what a thread did, without calls and frames */
    LANE_CALLS,    /* runtime and driver calls of a thread */
    LANE_PYTHON,   /* Python and module frames of a thread */
    LANE_ASYNC,    /* ranges with an id */
    LANE_SPAN,     /* the producer's recording spans */
    LANE_INSTANTS, /* points of a track */
    N_LANE_KINDS
} lane_kind;

typedef struct {
    lane_kind kind;
    uint32_t track;             /* 0 for the steps */
    uint32_t first_row, n_rows; /* in rows[] */
    uint32_t n_slices;
    int64_t busy_ns; /* time of row 0 */
} lod_lane;

typedef struct {
    uint32_t lane, index; /* index 0 … n_rows - 1 of the lane */
    uint32_t first, end;  /* in entries[] */
    uint32_t node;        /* its first node */
    /* Boxes kept ready for buckets of 2^ready_shift ns and the n_ready - 1 wider ones. */
    uint32_t ready; /* in ready[] */
    uint8_t ready_shift, n_ready;
} lod_row;

/* A slice of a row (an instant in lanes of those). Start and duration are stored with the id,
 * because the slices of a row are far apart in the trace and each lookup would be a cache
 * miss. */
typedef struct {
    int64_t start_ns;
    uint32_t dur_ns; /* UINT32_MAX = that or more: look into the trace */
    uint32_t id;
} lod_entry;

/* A sum over consecutive entries of a row. */
typedef struct {
    int64_t last_start, time_ns;
    uint32_t longest; /* place in entries[] */
    uint32_t max_ns;  /* its duration, UINT32_MAX = that or more */
} lod_node;

typedef struct {
    int64_t start_ns, end_ns; /* of the first and of the last slice */
    int64_t time_ns;          /* sum of the durations */
    uint32_t count;
    uint32_t longest; /* slice (instant) id */
} lod_box;

/* The boxes of a row at one level. */
typedef struct {
    uint32_t first, n; /* in boxes[] */
} lod_level;

/* Samples of one series, by time. */
typedef struct {
    uint32_t track; /* of a counter; 0 for a memory curve */
    uint32_t name, series;
    uint8_t device_type; /* of a memory curve */
    int32_t device;
    bool reserved;       /* a memory curve: reserved, not allocated */
    uint32_t first, end; /* in point_time[] */
    double min, max;
} lod_series;

/* Moments in which something was the case, as a function: covered time before a moment. */
typedef struct {
    uint32_t n;
    int64_t *start;   /* of each range, ascending, not touching */
    int64_t *covered; /* n + 1: time covered before it */
    size_t bytes;
} lod_cover;

/* How much of a device its kernels filled, 0…1 (estimated), as the integral up to each
 * moment. */
typedef struct {
    uint32_t n;    /* 0: not recorded */
    int64_t *time; /* moments where it changes, ascending */
    double *before;
    size_t bytes;
} lod_load;

typedef struct {
    int32_t device;
    lod_cover busy;
    lod_load load;
} lod_device;

typedef struct lod {
    const trace *t;
    uint32_t n_lanes;
    lod_lane *lanes; /* lane 0 means none; steps first, then by track */
    uint32_t n_rows;
    lod_row *rows;
    uint32_t n_entries;
    lod_entry *entries; /* row by row, by start */
    lod_node *nodes;
    lod_level *ready; /* row by row, finest first */
    lod_box *boxes;

    uint32_t n_series;
    lod_series *series;
    int64_t *point_time;
    double *point_value;
    double *block_min, *block_max; /* of each LOD_BLOCK points, counted from 0 */

    uint32_t n_names;
    uint32_t *name_string; /* string id of each name, ascending */
    uint32_t *name_first;  /* n_names + 1: its slices in by_name[], ascending */
    uint32_t *by_name;
    int64_t *name_time;         /* sum of durations */
    int64_t kind_time[N_KINDS]; /* sum of durations */

    uint32_t n_devices;
    lod_device *devices; /* by number */
    lod_cover device;    /* any of them */
    lod_cover host;      /* operators and calls of any thread */
    lod_cover data;      /* data loading */
    size_t bytes[20];    /* private: sizes of what is mapped */
} lod;

enum { LOD_BLOCK = 64, LOD_MAX_ROWS = 512, LOD_MAX_SHIFT = 60 };

/* pool may be NULL. ERR_MEMORY; ERR_FORMAT when a mapped trace is damaged. */
status lod_new(const trace *t, pool *p, lod **out, error *err) MUST_USE;
void lod_free(lod *l); /* NULL is allowed */
uint64_t lod_size_bytes(const lod *l);

/* "stream", "work", …. */
const char *lane_kind_name(lane_kind k);
/* The lane of a track that a slice of this kind is on, by the track's kind. */
static inline lane_kind lod_lane_kind(uint8_t track, uint8_t slice) {
    if (track == TRACK_STREAM)
        return slice == KIND_DEVICE_ANNOTATION ? LANE_RANGES : LANE_STREAM;
    if (track == TRACK_ASYNC) return LANE_ASYNC;
    if (track == TRACK_SPAN) return LANE_SPAN;
    if (kind_is_call(slice)) return LANE_CALLS;
    return slice == KIND_PYTHON || slice == KIND_MODULE ? LANE_PYTHON : LANE_WORK;
}

/* Which lane and row a slice is drawn on; false for a slice that is not drawn. Cost: a binary
 * search for each row of the lane. */
bool lod_find(const lod *l, uint32_t slice, uint32_t *lane, uint32_t *row, uint32_t *place);

/* ---- rows ---- */

static inline bool lod_is_instants(const lod *l, const lod_row *r) {
    return l->lanes[r->lane].kind == LANE_INSTANTS;
}

typedef struct {
    const lod *l;
    const lod_row *row;
    const lod_level *ready; /* NULL: walk the entries */
    uint32_t at;            /* in entries[], or in boxes[] */
    int shift;
    int64_t end_ns;
} lod_cursor;

/* The boxes of a row that overlap the range, and the rest of the buckets at its borders. */
lod_cursor lod_begin(const lod *l, uint32_t row, int64_t from_ns, int64_t to_ns, int shift);
bool lod_next(lod_cursor *c, lod_box *out);

/* ---- series ---- */

typedef struct {
    int64_t time_ns; /* of the first sample */
    double min, max, last;
    uint32_t count;
} lod_point;

typedef struct {
    const lod *l;
    const lod_series *series;
    uint32_t at;
    int shift;
    int64_t end_ns;
} lod_point_cursor;

/* The samples of a series in the range by buckets, and the last one before it as the first. */
lod_point_cursor lod_points(const lod *l, uint32_t series, int64_t from_ns, int64_t to_ns,
                            int shift);
bool lod_next_point(lod_point_cursor *c, lod_point *out);

/* ---- names ---- */

/* Index of a string among the names of slices, or UINT32_MAX. */
uint32_t lod_name(const lod *l, uint32_t string);

/* ---- covers ---- */

/* Covered time in [from, to). */
int64_t lod_covered(const lod_cover *c, int64_t from_ns, int64_t to_ns);
/* Mean load in [from, to), 0…1. */
double lod_loaded(const lod_load *l, int64_t from_ns, int64_t to_ns);

#endif
