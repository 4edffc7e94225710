/* fuzzy.h: how well a few typed letters fit a text. */
#ifndef BASE_FUZZY_H
#define BASE_FUZZY_H

#include "base/str.h"

enum { FUZZY_LETTERS = 64 }; /* longer needles must be in the text as they are */

/* 0: does not fit; more is better. A text that holds the needle as it is always scores higher
 * than one that only has its letters in order. ASCII case is ignored. Cost: a look at each byte
 * of the text, and needle × text for those that have all letters in order. */
int fuzzy_score(str needle, str text);

#endif
