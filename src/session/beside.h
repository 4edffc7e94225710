/* beside.h: files next to a trace that belong to it: an execution trace of PyTorch, a log of
 * the requests that a server answered meanwhile. */
#ifndef SESSION_BESIDE_H
#define SESSION_BESIDE_H

#include <limits.h>

#include "base/str.h"

typedef struct {
    char path[PATH_MAX];
} beside_file;

/* The one in the same folder, by its name and its content; false when there is none, and when
 * it may be any of several. */
bool beside_find(const char *path, beside_file *out);
/* Is the file an execution trace, by name and content? */
bool beside_is_execution_trace(const char *path);

/* The log of requests in the folder of a trace, by its name (a word such as `requests` or
 * `access`) and its content; of several the first by name. Never of another log. */
bool beside_find_log(const char *path, beside_file *out);
/* Is the file such a log, by name and content? By its name alone? */
bool beside_is_log(const char *path);
bool beside_may_be_log(str name);

#endif
