/* lanes.h: the lanes of a timeline in the order they are drawn, with what a reader needs to
 * name them.
 *
 * Lane ids are those of store/lod.h (1 … n_lanes - 1), then one for each series, then one for
 * the utilization and one for the SM efficiency of each device. They stay the same as long as
 * the trace is open. Names are the producer's own; the page has the words for kinds and
 * roles. */
#ifndef ANALYSE_LANES_H
#define ANALYSE_LANES_H

#include "base/arena.h"
#include "store/lod.h"

typedef struct {
    uint32_t id;
    const char *kind; /* "steps", "stream", "counter", "utilization", "memory", … */
    const char
        *role; /* "compute", "communication", "copy"; "training", "autograd", "other"; NULL */
    uint32_t group;    /* id of its group, 0 = above all groups */
    uint32_t track;    /* 0 = of no track */
    str name;          /* the producer's, may be empty */
    str series;        /* of a counter; "allocated", "reserved" of memory */
    const char *unit;  /* "bytes", "share" or NULL */
    const char *side;  /* of memory: "host", "device"; else NULL */
    uint32_t n_rows;   /* 0 for counters */
    uint64_t n_slices; /* or samples */
    double busy;       /* share of the trace in which row 0 runs */
    double max;        /* largest value of a counter; NaN for others */
    int32_t device;    /* ABSENT_I32 when it has none */
    int64_t number;    /* of the stream or thread; ABSENT_I64 when it has none */
    bool closed;       /* proposal */
} timeline_lane;

typedef struct {
    uint32_t id;
    bool is_device;
    str name, detail; /* of a device: GPU0, product name; of a process: name, labels */
    str pid;          /* of a process */
    int32_t device;
    bool closed;
} timeline_group;

typedef struct {
    timeline_lane *lanes;
    uint32_t n_lanes;
    timeline_group *groups; /* in drawing order */
    uint32_t n_groups;
} timeline_lanes;

status lanes_list(const lod *l, arena *a, timeline_lanes *out, error *err) MUST_USE;

/* What a lane id stands for. */
typedef enum {
    LANE_UNKNOWN,
    LANE_IS_SLICES,
    LANE_IS_SERIES,
    LANE_IS_UTILIZATION,
    LANE_IS_LOAD
} lane_class;
/* *index: in l->lanes, l->series or l->devices. */
lane_class lane_class_of(const lod *l, uint32_t id, uint32_t *index);
/* One past the last lane id. */
uint32_t lane_id_end(const lod *l);

#endif
