/* record_xla.h: profiles of XLA that belong to a recording and are next to it. */
#ifndef CLI_RECORD_XLA_H
#define CLI_RECORD_XLA_H

#include <limits.h>
#include <stdbool.h>
#include <tacho/format.h>

typedef struct {
    char folder[PATH_MAX];
    tacho_file_header header;
    bool is_known; /* the file is a recording */
} record_profiles;

/* Asked before the recording is replaced by its trace. */
record_profiles record_profiles_of(const char *recording);
/* Until all of them are written, or their process is gone. */
void record_wait_for_profiles(const record_profiles *p);
void record_remove_profiles(const record_profiles *p);

#endif
