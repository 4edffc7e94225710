/* hash.h: XXH3, for what is written down: checksums of columns, keys of the cache. The same
 * bytes give the same value on every machine and for ever. Tables in memory use map.h and
 * intern.h. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/status.h"

uint64_t hash_bytes64(const void *p, size_t n);

#endif
