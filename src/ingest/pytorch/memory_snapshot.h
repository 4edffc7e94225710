/* memory_snapshot.h: PyTorch's memory snapshots: what torch.cuda.memory._dump_snapshot writes,
 * in any pickle protocol, and the bare list of segments of torch.cuda.memory_snapshot(). */
#ifndef INGEST_MEMORY_SNAPSHOT_H
#define INGEST_MEMORY_SNAPSHOT_H

#include "ingest/ingest.h"

/* Blocks, segments and their history as memory events with totals and call stacks, annotations
 * as slices. ERR_FORMAT when it is another pickle, ERR_UNSUPPORTED when it asks for more than
 * data. */
status ingest_memory_snapshot(source *src, const ingest_options *o, builder *b,
                              error *err) MUST_USE;

#endif
