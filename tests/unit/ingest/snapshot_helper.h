/* snapshot_helper.h: pickles and traces from snapshots written down as text.
 *
 *     trace *t = trace_of("{'segments': [], 'device_traces': [[{'action': 'alloc', …}]]}");
 *
 * The text is JSON with single quotes, without escapes. */
#ifndef TESTS_SNAPSHOT_HELPER_H
#define TESTS_SNAPSHOT_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "ingest/pytorch/memory_snapshot.h"
#include "store/trace.h"

/* One value at p, as instructions of a pickle; what follows it. */
const char *write_pickle(buf *b, const char *p);
/* The whole pickle. */
buf pickle_of(const char *text);
/* Reads the bytes of a snapshot and seals it; NULL and *err when it is refused. */
trace *trace_of_bytes(str bytes, error *err);
/* The same for a text, which must be read. */
trace *trace_of(const char *text);
/* Name of a frame's frame, by row; "" for 0. */
const char *frame_name(const trace *t, uint32_t frame);

#endif
