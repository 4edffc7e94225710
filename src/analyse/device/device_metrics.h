/* device_metrics.h: how well a device was used between two moments.
 *
 *   utilization       time in which at least one kernel ran, over the whole time
 *   sm_efficiency     Σ over time of the blocks per SM of all running kernels, at most 1 at any
 *                     moment, over the whole time; NaN when no kernel there has the value
 *   occupancy         estimated occupancy, mean weighted by the kernels' time there; NaN
 *                     likewise
 *   tensor_core_share time of kernels that use Tensor Cores over the time of all kernels, of
 *                     the whole trace
 * Copies and memsets do not count, collectives do. */
#ifndef ANALYSE_DEVICE_METRICS_H
#define ANALYSE_DEVICE_METRICS_H

#include "analyse/intervals.h"
#include "analyse/operators/tensor_core.h"
#include "analyse/select.h"

typedef struct {
    int32_t device;
    double utilization, sm_efficiency, occupancy, tensor_core_share;
} device_metrics;

typedef struct {
    device_metrics *v; /* one for each device that ran a kernel, ascending by number */
    uint32_t n;
} device_metrics_list;

/* Between range.start and range.end, which may be empty. */
status device_metrics_make(const trace *t, interval range, arena *a, device_metrics_list *out,
                           error *err) MUST_USE;

#endif
