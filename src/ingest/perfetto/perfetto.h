/* perfetto.h: traces of Perfetto as it writes them itself: a stream of protobuf packets
 * (*.pftrace, *.perfetto-trace), from any tool: rocprofv3, Chrome, programs with its SDK,
 * tacho's own export. */
#ifndef INGEST_PERFETTO_H
#define INGEST_PERFETTO_H

#include "ingest/ingest.h"

/* Do these first bytes begin such a stream? */
bool perfetto_head(str head);

/* ERR_FORMAT when the file is empty. */
status ingest_perfetto(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

#endif
