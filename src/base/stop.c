/* stop.c: the request that this thread answers, and whether its reader was found to have left.
 * Once found, it is not asked again: a request does not resume halfway. */
#include "base/stop.h"

#include <stddef.h>

static _Thread_local struct {
    const arena *arena; /* NULL: no request */
    bool (*is_left)(const void *context);
    const void *context;
    bool found;
} current;

void stop_begin(const arena *a, bool (*is_left)(const void *context), const void *context) {
    current.arena = a;
    current.is_left = is_left;
    current.context = context;
    current.found = false;
}

bool stop_end(void) {
    current.arena = NULL;
    return current.found;
}

bool stop_is_asked(const arena *a) {
    if (!a || a != current.arena) return false;
    if (!current.found) current.found = current.is_left(current.context);
    return current.found;
}
