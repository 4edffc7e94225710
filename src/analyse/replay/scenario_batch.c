/* scenario_batch.c: what work would take with another size of the batch.
 *
 * Device work of an operator whose inputs grow with the batch (batch_shapes.h) takes FACTOR
 * times as long, but for what starts and ends a kernel and as far as the device was full: with
 * less than one block for each SM, more of them fit. Less work shrinks in proportion: libraries
 * choose smaller tiles for it. The host launches as much as before, parameters and their
 * collectives are as large as before. */
#include <math.h>

#include "analyse/operators/batch_shapes.h"
#include "analyse/replay/scenario.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"

enum { FIXED_NS = 2000 /* of a kernel, whatever its size */ };

static int64_t grown_ns(const trace *t, uint32_t k, double factor) {
    int64_t ns = t->slice.dur[t->kernel.slice[k]], fixed = min_i64(ns, FIXED_NS);
    double full = t->kernel.blocks_per_sm[k];
    double rest = (double)sub_i64(ns, fixed), grown = rest * factor;
    if (full > 0 && full < 1 && factor > 1) grown = rest * fmax(1, factor * full);
    return add_i64(fixed, real_i64(grown));
}

status scenario_match_batch(scenario *s, comm_names *names, uint32_t change, arena *a,
                            error *err) {
    const trace *t = s->g->t;
    scenario_change *v = &s->v[change];
    batch_found *b = &s->batch;
    batch_shapes *z;
    TRY(batch_shapes_init(&z, t, v->size, a, err));
    b->size = batch_shapes_size(z);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        int64_t ns = t->slice.dur[t->kernel.slice[k]];
        b->works++;
        b->device_ns = add_i64(b->device_ns, ns);
        if (comm_kernel_row(names, k) || !b->size) continue;
        batch_growth grows = batch_shapes_growth(z, t->kernel.op[k]);
        b->unclear += grows == GROWS_UNCLEAR;
        if (grows != GROWS) continue;
        s->own_ns[k] = grown_ns(t, k, v->factor);
        s->work_mask[k] |= (uint64_t)1 << change;
        v->kernels++;
        v->device_ns = add_i64(v->device_ns, ns);
    }
    b->works_with_it = v->kernels;
    b->device_ns_with_it = v->device_ns;
    if (!v->kernels) FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_NO_BATCH, arg_text("text", v->text));
    return OK;
}
