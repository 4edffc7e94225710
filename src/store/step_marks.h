/* step_marks.h: which names mark a step (step_marks.def). */
#ifndef STORE_STEP_MARKS_H
#define STORE_STEP_MARKS_H

#include "base/str.h"
#include "store/schema.h"

typedef struct {
    const char *pattern;
    uint8_t group; /* from 1; the smaller is trusted more */
    uint8_t least; /* marks of the group that a thread must have */
    bool frame;    /* a frame of a Python call stack; otherwise a range */
    bool numbered; /* the digits at its end are the number of the step */
} step_mark;

/* The mark with this name, NULL when there is none. */
const step_mark *step_mark_of(str name, bool frame);
/* One more than the largest group. */
unsigned step_mark_groups(void);
/* Is a range of this kind and name the step of an optimizer? */
bool is_optimizer_step(slice_kind kind, str name);
/* Does the name match the pattern as a whole? */
bool step_mark_matches(str pattern, str name);

#endif
