/* own_work.h: what a worker spent its own time on, so that workers can be compared.
 *
 * Own time is what is left of the steps without exposed communication. The device's part is
 * its kernels by name. Any other moment belongs to the innermost event of the thread that
 * makes the steps:
 *
 *   an operator of a library       the operator, in its stage
 *   a frame of Python              the innermost function of the program, and its caller
 *   the data loader                loading
 *   anything else                  a gap: the stage, and what surrounds it or came before
 *
 * The places that take most are kept, with the shapes of the longest call. */
#ifndef ANALYSE_OWN_WORK_H
#define ANALYSE_OWN_WORK_H

#include "analyse/analysis.h"
#include "analyse/device/breakdown.h"
#include "store/summary.h"

enum { OWN_MOST_PLACES = 32, OWN_MOST_FRAMES = 24 }; /* of a worker; around a place */

typedef enum { OWN_OPERATOR, OWN_FRAME, OWN_DATA, OWN_GAP, OWN_KERNEL, N_OWN } own_kind;

/* Rows `own` of one worker, whose name is a text of the summary. */
status own_work_reduce(const trace *t, const step_spans *steps, const role_ranges *ranges,
                       str worker, summary *out, error *err) MUST_USE;

#endif
