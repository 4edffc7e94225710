/* advice_code.h: the change a rule suggests, as code to copy. */
#ifndef ANALYSE_ADVICE_CODE_H
#define ANALYSE_ADVICE_CODE_H

#include "analyse/advise/advice_evidence.h"

/* The code of a rule for a framework, with the values filled in; *out is empty when it has
 * none. In the arena. */
status advice_code(const char *rule, advice_dialect dialect, const verdict *values, arena *a,
                   str *out, error *err) MUST_USE;

#endif
