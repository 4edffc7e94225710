/* request_log.h: logs of requests: when each came, had its first token, was done.
 *
 * JSON lines, a JSON document (a list of requests, OpenTelemetry spans) or a table with commas,
 * of any server that writes for each request an id, when it came, and when it was done. */
#ifndef INGEST_REQUEST_LOG_H
#define INGEST_REQUEST_LOG_H

#include "ingest/ingest.h"

/* Is there a request in these first bytes of a file? */
bool request_log_head(str head);
/* A log alone: rows of table request, and their ranges as slices. */
ingest_function ingest_request_log;

/* The log that is in the folder of a trace: its rows are added to what was read of the
 * trace, on the trace's clock. `how` is that of the trace. */
status request_log_join(const char *path, const ingest_options *how, builder *b,
                        error *err) MUST_USE;

#endif
