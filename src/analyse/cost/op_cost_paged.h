/* op_cost_paged.h: what attention over a cache of pages computes and moves. Shapes do not say
 * how long the texts are; servers (vLLM, SGLang) write the sums over their requests into the
 * name of the range around a batch:
 *
 *     execute_32_context_2(sq512sk900sqsq131072sqsk230400)
 *         _generation_30(sq30sk51000sqsq30sqsk51000)      in one word
 *
 * sq, sk: queries and keys; sqsq, sqsk: the sums of q·q and q·k. */
#ifndef ANALYSE_OP_COST_PAGED_H
#define ANALYSE_OP_COST_PAGED_H

#include "analyse/cost/op_cost.h"

typedef struct {
    double queries, keys;
    double pairs; /* of a query and a key that it sees: its own and all before it */
} paged_batch;

/* false when the name of the range does not say it. */
bool paged_batch_read(str range, paged_batch *out);
/* Is it an operator of this kind? */
bool op_cost_is_paged(str name);
/* Not known when the shapes do not show heads and their width. */
op_cost op_cost_paged(const paged_batch *batch, str shapes, str types);

#endif
