/* dynamic_shapes.h: operators whose shapes change, step by step. */
#ifndef ANALYSE_DYNAMIC_SHAPES_H
#define ANALYSE_DYNAMIC_SHAPES_H

#include "analyse/analysis.h"

/* The table by_step of the analysis operators; none where the producer did not record it. */
status dynamic_shapes_write(const trace *t, const params *p, arena *a, answer *out,
                            error *err) MUST_USE;

#endif
