/* expected.h: the question that comes next.
 *
 * Who serves a folder of one run opens its overview: it is answered as soon as the trace is
 * there, while the browser starts. */
#ifndef SERVE_EXPECTED_H
#define SERVE_EXPECTED_H

#include "serve/service.h"

/* Answers what the page will ask about a trace that was just loaded, and keeps it; nothing when
 * the page begins with something else. Any thread. */
void expected_answer(service *s, uint32_t entry, lang words);

#endif
