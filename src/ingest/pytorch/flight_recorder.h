/* flight_recorder.h: dumps of PyTorch's flight recorder: the last collectives of one rank and
 * how far each came. A pickle or JSON. */
#ifndef INGEST_FLIGHT_RECORDER_H
#define INGEST_FLIGHT_RECORDER_H

#include "ingest/ingest.h"

/* ERR_FORMAT when it holds no list of collectives. Whose dump it is only its name says. */
status ingest_flight_recorder(source *src, const ingest_options *o, builder *b,
                              error *err) MUST_USE;
/* Is this the beginning of one? */
bool flight_recorder_head(str head);

#endif
