/* hash.c: the one file that knows xxhash.
 *
 * XXH3 with 64 bits and seed 0, whose values are fixed by its published specification, so they
 * may be in files. The header's code is compiled in rather than linked: calls on short keys are
 * inlined, and it builds for any processor. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes64(const void *p, size_t n) {
    return XXH3_64bits(n ? p : "", n);
}
