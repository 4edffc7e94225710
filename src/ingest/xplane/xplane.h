/* xplane.h: profiles of XLA (JAX, TensorFlow, PyTorch/XLA): HOST.xplane.pb. */
#ifndef INGEST_XPLANE_H
#define INGEST_XPLANE_H

#include "ingest/ingest.h"

/* Whether a file begins like one: a plane with a name that XLA gives. `head` may be cut
 * anywhere. */
bool xplane_head(str head);

status ingest_xplane(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

/* A profile that was made during a recording of ours, for its reader to add. Threads that say
 * which of the system's they are (an event XPLANE_THREAD with its number) are those of the
 * recording; steps are those of the recording, where it has any. */
#define XPLANE_THREAD "tacho thread"
typedef struct {
    int64_t pid;
    int64_t start_unix_ns; /* of the profile, where it does not say it itself */
    int64_t (*time_of)(const void *context, int64_t unix_ns); /* in the trace */
    const void *context;
    bool has_steps;
    uint64_t described;    /* bit of each device that the recording describes itself */
    int32_t first_cpu;     /* number of its first CPU, where CPUs are devices … */
    bool *computes_on_cpu; /* … which is set here */
} xplane_recording;
status xplane_add(source *src, const ingest_options *o, const xplane_recording *in, builder *b,
                  error *err) MUST_USE;

#endif
