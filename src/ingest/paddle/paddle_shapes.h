/* paddle_shapes.h: shapes and types of an operator's inputs, as JSON. */
#ifndef INGEST_PADDLE_SHAPES_H
#define INGEST_PADDLE_SHAPES_H

#include "base/buf.h"

/* The shapes of one input, as [[1, 2], …]. Appends to *b. */
void paddle_put_shapes(buf *b, str message);
/* Their types, as ["FLOAT32", …]. Appends to *b. */
void paddle_put_types(buf *b, str message);

#endif
