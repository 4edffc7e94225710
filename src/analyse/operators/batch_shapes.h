/* batch_shapes.h: which operators' work grows with the batch, by their input shapes.
 *
 * Which numbers of the shapes hold the batch is found out. Activations lead with it, weights do
 * not: of tensors with three dimensions or more the first one that most calls have is the batch
 * (without such tensors, that of the inputs of products). Products see it joined with what
 * follows it: 16 × 1,024 rows of [16, 1024, 512] are 16,384. So a tensor grows with the batch
 * when it leads with it or has such a joined number. Where that number is also one of the other
 * dimensions of activations, a width or a length, the operators around it tell, which see the
 * batch by itself; in the backward pass the matching forward operator does. A matrix that leads
 * with it and does not have the shape of any weight is an activation. */
#ifndef ANALYSE_BATCH_SHAPES_H
#define ANALYSE_BATCH_SHAPES_H

#include "base/arena.h"
#include "store/trace.h"

typedef struct batch_shapes batch_shapes;

/* UNCLEAR: a number may be the joined batch or a width. NO_SIZES: no shapes were recorded. */
typedef enum { GROWS_NOT = 1, GROWS_UNCLEAR, GROWS, NO_SIZES } batch_growth;

/* `batch`: as recorded, 0: to be found. Needs the tables slice, op and flow. */
status batch_shapes_init(batch_shapes **out, const trace *t, int64_t batch, arena *a,
                         error *err) MUST_USE;
/* 0: not found. */
int64_t batch_shapes_size(const batch_shapes *z);
/* For an operator (a slice): by the innermost one around it that has any sizes. */
batch_growth batch_shapes_growth(batch_shapes *z, uint32_t slice);

#endif
