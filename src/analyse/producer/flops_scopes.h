/* flops_scopes.h: operations of a network by scope. */
#ifndef ANALYSE_FLOPS_SCOPES_H
#define ANALYSE_FLOPS_SCOPES_H

#include "analyse/analysis.h"

/* The table flops_scopes of the analysis operators; none where no operations are known: most
 * producers tell none, and their users need not read of it. */
status flops_scopes_write(const trace *t, arena *a, answer *out, error *err) MUST_USE;

#endif
