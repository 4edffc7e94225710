/* op_phases.h: the parts of operators: finding the shape, computing, making the backward node.
 *
 * A part is a range inside an operator that is not an operator itself. It belongs to the
 * innermost operator around it. Its phase comes from its name: `infer_shape` and `infer_meta`
 * are infer_shape, `compute` and `kernel launch` are compute, `node_creation` is node_creation,
 * anything else is other. Phases do not overlap, but a part that is `other` may have parts
 * itself. */
#ifndef ANALYSE_OP_PHASES_H
#define ANALYSE_OP_PHASES_H

#include "analyse/select.h"

/* Writes the table `phases` of the answer `operators`. */
status op_phases_write(const selection *s, const params *p, arena *a, answer *out,
                       error *err) MUST_USE;

#endif
