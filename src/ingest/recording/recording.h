/* recording.h: our own recordings, *.tacho of profile 1 (tacho/format.h). */
#ifndef INGEST_RECORDING_H
#define INGEST_RECORDING_H

#include "ingest/ingest.h"

/* True when the first bytes are those of a recording. */
bool recording_is_ours(str head);
/* What the header says of whose recording it is. */
typedef struct {
    char run[96];                       /* NAME.NUMBER of its `tacho record`; "": not known */
    int64_t start_unix_ns, end_unix_ns; /* end: ABSENT_I64 when it was not stopped */
} recording_origin;
/* False: the bytes are not those of a recording, or too few. */
bool recording_read_origin(str head, recording_origin *out);
/* A recording of a program that still runs or was killed is read as far as it goes. ERR_FORMAT
 * when it is another version or its header is damaged. */
status ingest_recording(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

#endif
