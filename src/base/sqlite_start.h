/* sqlite_start.h: SQLite, set up once. Two layers use it (query/ answers SQL, ingest/ reads
 * databases), and its memory can be configured only before the first of them opens anything. */
#ifndef BASE_SQLITE_START_H
#define BASE_SQLITE_START_H

#include "base/status.h"

/* To be called before anything else of SQLite, as often as one likes, by any thread. Its memory
 * comes from base/counted.h then. ERR_MEMORY. */
status sqlite_start(error *err) MUST_USE;

#endif
