/* idle_streams.h: the tables of `idle` that look at one stream or one launch at a time,
 * whatever the steps: gaps of each stream, the length of its queue, launches by kernel, copies
 * by kind. Their definitions are those of Holistic Trace Analysis, so that figures can be
 * compared; where that one counts something that does not exist (overlapping work as negative
 * gaps, waits as work), these do not. */
#ifndef ANALYSE_IDLE_STREAMS_H
#define ANALYSE_IDLE_STREAMS_H

#include "analyse/select.h"

/* Tables `streams` and `queue`. */
status idle_streams_write(const selection *s, arena *a, answer *out, error *err) MUST_USE;
/* Tables `launches` and `copies`. */
status idle_launches_write(const selection *s, arena *a, answer *out, error *err) MUST_USE;
/* Table op_launches: calls of operators by name and the works they launch. */
status idle_ops_write(const selection *s, arena *a, answer *out, error *err) MUST_USE;

#endif
