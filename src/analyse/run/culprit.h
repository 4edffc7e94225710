/* culprit.h: the rank that costs the job most, by what, and the sentence about it.
 *
 * Which ranks are late, and what that costs, is in stragglers.h; what each rank spends its own
 * time on is in own_work.h. The place whose time exceeds that of the median of the other ranks
 * most is what makes a rank late. Where no place has a third of it, everything takes longer:
 * the rank is slower at the same work. A rank is accused only if it is late again and again,
 * or by far, and if the others are not late as much: otherwise the waiting moves around. */
#ifndef ANALYSE_CULPRIT_H
#define ANALYSE_CULPRIT_H

#include "analyse/rules.h"
#include "analyse/run/own_work.h"
#include "analyse/run/stragglers.h"

typedef struct {
    const straggler *rank; /* NULL: no rank is to blame */
    const straggler *next; /* the next one; NULL: there is none */
    int64_t cost_ns;       /* a step would be shorter by this without any late rank */
    int64_t after_ns;      /* of it, what is left without this rank alone */
    int64_t step_ns;       /* mean step of all ranks */
    int64_t least_ns;      /* what a rank must cost in all steps to be accused, too */
    uint32_t n_steps;
    int64_t before_ns; /* it begins its first step that much later than the others */
    const job_step *since, *until; /* the first and the last step of a habit; NULL: always */
    const summary_own *place;      /* where it spends it; NULL: not known */
    bool saves; /* it takes out its parameters there, as saving a checkpoint does */
    str caller; /* the function around it that only this rank runs; may be empty */
    int64_t place_ns, usual_ns; /* of that place in a step: here, on the median of the others */
    str shapes;                 /* of the others there, if different */
    double slower;              /* everything takes longer by this factor; 0: it does not */
    bool slower_gaps;           /* only the time between operators does */
    bool slower_kernels;        /* work of the device does */
} culprit;

status culprit_find(const summary *s, const worker_order *who, const stragglers *late, arena *a,
                    culprit *out, error *err) MUST_USE;
/* Is this rank accused, as the first or next to it? */
bool culprit_includes(const culprit *c, const straggler *r);
/* The same about another rank that is: by what it is late, and when. */
status culprit_look(const summary *s, const worker_order *who, const stragglers *late,
                    const culprit *first, const straggler *r, arena *a, culprit *out,
                    error *err) MUST_USE;
/* The values of MSG_VERDICT_STRAGGLER and of the advice about it. */
void culprit_describe(const culprit *c, const worker_order *who, verdict *v);

#endif
