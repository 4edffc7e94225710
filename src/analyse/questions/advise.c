/* advise.c: what to change first: the rules of the room advise/, asked of a trace or of a
 * run. */
#include "analyse/advise/advice.h"
#include "analyse/run/advice_workers.h"

status analyse_advise(const analysis_input *in, const params *p, arena *a, answer *out,
                      error *err) {
    advice_workers workers;
    TRY(advice_workers_find(in, p, a, &workers, err));
    return advice_answer(in, p, &workers, a, out, err);
}
