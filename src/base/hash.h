/* hash.h: XXH3, for what is written down: checksums of columns, keys of the cache. The same bytes
 * give the same value on every machine and for ever. Tables in memory use map.h and intern.h. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/status.h"

uint64_t hash_bytes64(const void *p, size_t n);

/* The same value, fed piece by piece. */
typedef struct hash_stream hash_stream;

hash_stream *hash_stream_new(void); /* NULL when out of memory */
void hash_stream_free(hash_stream *s);
void hash_stream_reset(hash_stream *s);
void hash_stream_add(hash_stream *s, const void *p, size_t n);
/* Value of all bytes since new or reset; more may be added afterwards. */
uint64_t hash_stream_value(const hash_stream *s);

#endif
