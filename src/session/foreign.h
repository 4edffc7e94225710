/* foreign.h: names for files that tacho does not read, so that a person learns what was found
 * and what to do with it. */
#ifndef SESSION_FOREIGN_H
#define SESSION_FOREIGN_H

#include "base/status.h"
#include "base/str.h"

typedef struct {
    bool (*is)(str head); /* NULL: only the name tells */
    const char *names;    /* patterns of its file's name, foreign.def */
    uint16_t message;     /* a sentence with {path} */
    uint16_t what;        /* a noun for lists */
} foreign;

/* By the first bytes, decompressed (64 KiB decide, of a database up to 4 MiB), then by the
 * name, which may be empty or a whole path. NULL when neither says anything. */
const foreign *foreign_of(str head, str name);
/* The same by the name alone. */
const foreign *foreign_of_name(str name);
/* What such a file is when no kind is known: empty, JSON, text or binary data; a noun for
 * lists. */
uint16_t foreign_noun(uint16_t found);

#endif
