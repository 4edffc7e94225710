/* change_points.h: where a series of measurements, one a run, changes its level.
 *
 * Binary segmentation: the place that parts a stretch of runs into the two levels that differ
 * most, in units of the noise, is a change when chance would not do that; then the same for
 * both parts. The noise is that between neighboring runs, so it holds what steps of one run do
 * not show (another machine, another load), and a change of level does not count as noise. A
 * single run that falls out of line is set to the median of the five around it. */
#ifndef ANALYSE_CHANGE_POINTS_H
#define ANALYSE_CHANGE_POINTS_H

#include "base/arena.h"
#include "base/status.h"

typedef struct {
    double value;
    double variance; /* of the value itself, by its steps; 0: not known */
} series_point;

typedef struct {
    uint32_t at;            /* the first point of the new level */
    uint32_t before, after; /* runs on each side, up to the next change */
    double from, to;        /* the levels: means of these runs */
    double low, high;       /* the 95 % interval of to − from */
    bool certain;           /* at least three runs on each side */
} change_point;

typedef struct {
    change_point *v; /* by place */
    uint32_t n;
} change_points;

/* Changes of at least this share of the level before. A change in the last one or two runs is
 * listed and not certain. */
status change_points_find(const series_point *v, uint32_t n, double least_share, arena *a,
                          change_points *out, error *err) MUST_USE;

#endif
