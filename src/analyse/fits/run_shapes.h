/* run_shapes.h: the batch and the length that a program was recorded with, and how the size of
 * what an operator allocates depends on them, by the shapes of its inputs.
 *
 * The batch is that of batch_shapes.h. The length is what follows it in the first input of the
 * program that leads with it: tokens of a sequence, or the side of an image, on whose square
 * sizes then depend. */
#ifndef ANALYSE_RUN_SHAPES_H
#define ANALYSE_RUN_SHAPES_H

#include "analyse/fits/size_model.h"
#include "analyse/operators/batch_shapes.h"

typedef struct {
    const trace *t;
    batch_shapes *batch;
    run_size size; /* 0 where it is not known */
    bool is_image; /* the length is one of two sides */
} run_shapes;

/* `given`: what the user says, 0 where nothing. Needs the tables slice, op and flow. */
status run_shapes_find(run_shapes *r, const trace *t, run_size given, arena *a,
                       error *err) MUST_USE;

/* For an allocation of so many bytes in an operator (a slice, 0: none). */
size_guess run_shapes_guess(const run_shapes *r, uint32_t op, int64_t bytes);

#endif
