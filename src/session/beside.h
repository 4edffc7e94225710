/* beside.h: the execution trace that belongs to a trace of PyTorch's profiler. */
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

#endif
