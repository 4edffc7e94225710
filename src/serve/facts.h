/* facts.h: what the list of runs shows of a trace, kept also when the trace is given up:
 * format, events, steps, mean step, the first verdict. */
#ifndef SERVE_FACTS_H
#define SERVE_FACTS_H

#include "serve/service.h"

facts *facts_new(void); /* NULL when out of memory */
void facts_free(facts *f);
/* Works them out (an overview of the trace) and keeps them; a failure keeps what needs no
 * analysis. Any thread. */
void facts_make(facts *f, uint32_t entry, const held_trace *h, pool *p);
/* The same out of an overview of the whole trace that was asked for. */
void facts_take(facts *f, uint32_t entry, const held_trace *h, const answer *overview);
/* Are there facts of the trace as it is held? */
bool facts_are_of(facts *f, uint32_t entry, const held_trace *h);
/* Appends them as a JSON object, or null. */
void facts_put(facts *f, uint32_t entry, buf *out);

#endif
