/* recording.h: our own recordings, *.tacho of profile 1 (tacho/format.h). */
#ifndef INGEST_RECORDING_H
#define INGEST_RECORDING_H

#include "ingest/ingest.h"

/* True when the first bytes are those of a recording. */
bool recording_is_ours(str head);
/* A recording of a program that still runs or was killed is read as far as it goes. ERR_FORMAT
 * when it is another version or its header is damaged. */
status ingest_recording(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

#endif
