/* hash.h: XXH3, for what is written down: checksums of columns, keys of the cache. The same
 * bytes give the same value on every machine and for ever. Tables in memory use map.h and
 * intern.h. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/num.h"
#include "base/status.h"

uint64_t hash_bytes64(const void *p, size_t n);

/* What was hashed, whatever its order: a sum that wraps, and n times the same. */
WRAPS static inline uint64_t hash_add(uint64_t sum, uint64_t hash) {
    return sum + hash;
}
WRAPS static inline uint64_t hash_times(uint64_t hash, uint64_t n) {
    return hash * n;
}

#endif
