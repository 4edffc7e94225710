/* compared.h: the runs of a comparison, by their names in the log folder. */
#ifndef SERVE_COMPARED_H
#define SERVE_COMPARED_H

#include "serve/service.h"

/* Fills x->compared for an analysis that compares: x->plan, which was made, the run `other`,
 * and those of `base_runs`, names separated by commas. */
status compared_find(request_ctx *x, error *err) MUST_USE;
/* What is held as the input of the analysis. */
status compared_input(request_ctx *x, analysis_input *in, error *err) MUST_USE;

#endif
