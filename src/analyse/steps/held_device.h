/* held_device.h: how long a device works on what was launched before the recording.
 *
 *   host     ▐launch▌
 *   device   ?????????????????????▐ first work of the stream
 *                    |── held ────|
 *
 * A profiler that is switched on while the device has a full queue records nothing of what was
 * queued before. Seen in the recording: a stream starts its first piece of work long after its
 * launch, and nothing recorded runs on the device that it could have waited for. Something
 * without a record held the stream, so the device was not idle: nothing is known of it. */
#ifndef ANALYSE_HELD_DEVICE_H
#define ANALYSE_HELD_DEVICE_H

#include "analyse/analysis.h"

/* The time until which the devices were held from the start of the recording on: of several
 * devices the earliest. INT64_MIN: they were not. Reads SELECT_TABLES and tracks. */
status held_device_until(const trace *t, arena *a, int64_t *out, error *err) MUST_USE;

#endif
