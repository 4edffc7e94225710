/* kineto.h: the trace-event JSON of PyTorch's profiler (Kineto), of those built on it for other
 * devices, and of anybody else who writes Chrome's format. */
#ifndef INGEST_KINETO_H
#define INGEST_KINETO_H

#include "ingest/ingest.h"

/* Object or bare list. Whether it is Kineto's or plain Chrome's comes from its keys and
 * categories. ERR_FORMAT when it holds no trace at all. */
status ingest_trace_json(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

/* Class of one of Kineto's categories: the words that other profilers use, too. */
uint8_t kineto_class(str category);

#endif
