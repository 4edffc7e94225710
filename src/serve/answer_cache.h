/* answer_cache.h: the last answers about single traces, as they were sent.
 *
 * A page that is opened again, or opened for the first time where its first question was
 * expected (expected.h), does not have to wait. Answers are known by their question and the
 * generation of the trace, so a file that was loaded again is asked again. */
#ifndef SERVE_ANSWER_CACHE_H
#define SERVE_ANSWER_CACHE_H

#include "base/buf.h"

typedef struct answer_cache answer_cache;

answer_cache *answer_cache_new(void); /* NULL when out of memory */
void answer_cache_free(answer_cache *c);
/* True: *out is the answer; waits while another thread works on the same. False: the caller has
 * to answer, and to call answer_cache_keep. */
bool answer_cache_find(answer_cache *c, str question, uint64_t generation, buf *out);
/* An answer of no bytes is a failure: the next one who asks tries himself. */
void answer_cache_keep(answer_cache *c, str question, uint64_t generation, str answer);
/* How many answers were missing and had to be made. */
uint64_t answer_cache_made(answer_cache *c);

#endif
