/* why_waits.h: what the profiler recorded of waiting for events.
 *
 *   host      ▐launch a▌ ▐record event▌   ▐wait for it▌ ▐launch b▌
 *   stream 7           ▐──── a ────▌
 *   stream 20                        ▐ b
 *
 * Where synchronization was recorded (PyTorch: enable_cuda_sync_events), a wait of a stream
 * names the stream it waits for and the call that recorded the event: the work it waits for is
 * the last that was launched there before that call, and what waits is the next launched on the
 * waiting stream. A call that waits for an event or a stream names it the same way. */
#ifndef ANALYSE_WHY_WAITS_H
#define ANALYSE_WHY_WAITS_H

#include "base/arena.h"
#include "store/trace.h"

typedef struct {
    bool streams;      /* waits of streams are recorded: when none is, there was none */
    uint32_t *of_work; /* by row of table kernel: the work it waits for, 0: none */
    uint32_t *of_call; /* by slice: the work that the call waits for; 0: not recorded */
} why_waits;

/* Both lists are NULL where nothing is recorded. Allocates in `a`. */
status why_waits_read(const trace *t, arena *a, why_waits *out, error *err) MUST_USE;

#endif
