/* nsight.h: exports of NVIDIA Nsight Systems as SQLite (`nsys export --type sqlite`). */
#ifndef INGEST_NSIGHT_H
#define INGEST_NSIGHT_H

#include "base/vec.h"
#include "ingest/ingest.h"

/* Begins like one: the texts of its schema are near the start. */
bool nsight_head(str head);

/* The ids of its processes that used a device, ascending, as a vec of int64_t for the caller to
 * free. Fewer than two when there is nothing to tell apart. */
status nsight_processes(source *src, const ingest_options *o, vec *out, error *err) MUST_USE;

/* o->process: only the rows of that one; the first of them takes those of processes that used
 * no device, too. */
ingest_function ingest_nsight;

#endif
