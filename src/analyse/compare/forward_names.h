/* forward_names.h: the operator of the forward pass that a node of the backward pass undoes, by
 * name: `autograd::engine::evaluate_function: ToCopyBackward0` undoes `aten::_to_copy`. */
#ifndef ANALYSE_FORWARD_NAMES_H
#define ANALYSE_FORWARD_NAMES_H

#include "base/arena.h"
#include "base/str.h"

/* Is it a call of the backward pass? */
bool name_is_backward(str name);
/* What an operator and its backward node have in common: "tocopy" of both above. STR_NONE when
 * out of memory. */
str name_without_pass(str name, arena *a);
/* Without the words of the engine around it: "ToCopyBackward0". */
str name_without_engine(str name);

#endif
