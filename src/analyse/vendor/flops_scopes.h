/* flops_scopes.h: operations of a network by scope. */
#ifndef ANALYSE_FLOPS_SCOPES_H
#define ANALYSE_FLOPS_SCOPES_H

#include "analyse/analysis.h"

/* The table flops_scopes of the analysis operators; none where no operations are known: most
 * producers record none, and the table would only distract their users. */
status flops_scopes_write(const trace *t, arena *a, answer *out, error *err) MUST_USE;

#endif
