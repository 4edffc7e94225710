/* xplane.h: profiles of XLA (JAX, TensorFlow, PyTorch/XLA): HOST.xplane.pb. */
#ifndef INGEST_XPLANE_H
#define INGEST_XPLANE_H

#include "ingest/ingest.h"

/* Whether a file begins like one: a plane with a name that XLA gives. `head` may be cut
 * anywhere. */
bool xplane_head(str head);

status ingest_xplane(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

#endif
