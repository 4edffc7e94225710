/* stop.h: work that no one waits for ends at its next check point.
 *
 * The code that answers a request names the arena of its answer and a function that says
 * whether the reader has left. The arena asks it before each new block and then refuses, so
 * that every analysis ends as if its memory had run out, without extra code. What several
 * requests share is made in other arenas and is not affected. One request at a time for each
 * thread. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <stdbool.h>

#include "base/arena.h"

/* From here to stop_end, on this thread. */
void stop_begin(const arena *a, bool (*is_left)(const void *context), const void *context);
/* Whether the reader was found to have left. */
bool stop_end(void);
/* For arena.c: true when this arena shall give nothing more. */
bool stop_is_asked(const arena *a);

#endif
