/* sample_answer.h: one answer with every type of column, a null, a hostile name, a verdict. */
#ifndef TESTS_PRESENT_SAMPLE_ANSWER_H
#define TESTS_PRESENT_SAMPLE_ANSWER_H

#include "present/present.h"

/* Made in the arena; two tables: things (2 rows of 3) and empty. */
answer sample_answer(arena *a);
/* present_answer into a text that ends in NUL, in the arena. */
const char *sample_written(arena *a, form f, const answer *x, const present_options *o);

#endif
