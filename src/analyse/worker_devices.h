/* worker_devices.h: the devices of all workers: what they are, how well they were used. */
#ifndef ANALYSE_WORKER_DEVICES_H
#define ANALYSE_WORKER_DEVICES_H

#include "analyse/analysis.h"
#include "analyse/step_spans.h"

/* Adds the devices of one worker to distributed's table `devices`: those that ran a kernel, measured
 * over its steps (device_metrics.h). */
status worker_devices_write(table *out, const analysis_trace *at, const step_spans *steps,
                            error *err) MUST_USE;

#endif
