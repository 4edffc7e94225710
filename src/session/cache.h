/* cache.h: sealed traces of files that were read before.
 *
 * A folder ($XDG_CACHE_HOME/tacho, else ~/.cache/tacho) of *.tacho files, each named after a
 * hash of its key and with the key in its header. A key says what a trace was made from: size,
 * time and inode of the file, a hash over samples of its content, and the program that read it.
 * An entry that does not match is ignored: after a change of the file or the program, or when
 * it is damaged, it is rebuilt, never trusted.
 *
 * Every failure here is harmless: the trace is read from its file instead. */
#ifndef SESSION_CACHE_H
#define SESSION_CACHE_H

#include <limits.h>

#include "store/trace.h"

typedef struct {
    char text[256]; /* ends in NUL */
    uint32_t n;     /* 0: this file is not to be cached */
} cache_key;

/* The key of a file as it is now. n == 0 when the file is not a plain file, changed during the
 * last two seconds (it may still be written), or cannot be read. Cost: twenty small reads.
 * */
cache_key cache_key_of(const char *path);
/* The key of something that was made of the file; one that has no room for it becomes none. */
void cache_key_extend(cache_key *key, const char *word, uint64_t value);

/* The trace of this key (the caller's reference) or NULL. These tables of it (as for
 * trace_require) have been checked; an entry that is damaged is removed. A hit counts as used
 * now. */
trace *cache_find(const cache_key *key, uint64_t tables);
/* Keeps t under this key and removes the entries longest unused until all fit into the limit
 * (TACHO_CACHE_LIMIT, by default 10 GiB; 0 turns the cache off). A failure leaves no entry. */
status cache_keep(const cache_key *key, const trace *t, error *err) MUST_USE;
/* The folder, made where it is missing; false when there is none. */
bool cache_folder(char to[PATH_MAX]);
/* False when the environment turns it off or names no folder. */
bool cache_enabled(void);

#endif
