/* intern.h: every distinct byte string once, by a dense id; id 0 is the empty string.
 *
 * Several threads may intern at once: looking up a known string takes no lock, adding a new one
 * takes the interner's mutex. Ids follow the order of insertion, so with several threads they
 * are not the same from run to run; nothing a user sees depends on their order. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/status.h"

typedef struct intern intern;

intern *intern_new(void); /* NULL when out of memory */
void intern_free(intern *t);

/* The id of s; UINT32_MAX when out of memory or ids. */
uint32_t intern_add(intern *t, str s);
/* The same in two halves, for a caller that sees a key before it needs the id or looks it up in
 * several places. The hash must be intern_hash(s); it differs from process to process. */
uint64_t intern_hash(str s);
uint32_t intern_add_hashed(intern *t, str s, uint64_t hash);
/* The id of s, or UINT32_MAX when it was never interned. */
uint32_t intern_find(const intern *t, str s);
/* Valid while the interner lives; a NUL follows the bytes. An id that was never given out is
 * the empty string. After any other text INTERN_PAD more bytes may be read: it can be compared
 * in vectors. */
#define INTERN_PAD 16
str intern_get(const intern *t, uint32_t id);
uint32_t intern_count(const intern *t);
uint64_t intern_bytes(const intern *t); /* sum of lengths */

#endif
