/* paddle_flops.h: floating-point operations of Paddle's operators, as far as shapes alone tell
 * them. */
#ifndef ANALYSE_PADDLE_FLOPS_H
#define ANALYSE_PADDLE_FLOPS_H

#include "base/str.h"

/* shapes: JSON text, {"X": [[32, 64]], …}. 0 for operators that are not in the table, or whose
 * count needs more than shapes (a convolution's strides). */
double paddle_flops(str op, str shapes);

#endif
