/* tensorflow_timeline.h: timelines of TensorFlow 1, and those that XLA's profiler writes for
 * JAX and TensorFlow: trace events in which names of processes and threads tell the streams. */
#ifndef INGEST_TENSORFLOW_TIMELINE_H
#define INGEST_TENSORFLOW_TIMELINE_H

#include "ingest/ingest.h"

status ingest_tensorflow(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

#endif
