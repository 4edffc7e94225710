/* profiler_cost.c: what recording cost the host, taken out by --unprofiled; and what else the
 * changes of a scenario rest on, as notes.
 *
 * One cost for each kind of event, measured with torch.profiler of PyTorch 2.11 on a machine
 * with an H200 (bench/profiler_cost): an event of the host in a training step adds 3.0 µs (2.6
 * to 3.3 in six runs; 1.0 µs when nothing else uses the caches), a Python frame 0.23 µs.
 * Nothing is fitted to the recordings with known steps that tests/truth/whatif holds it
 * against; docs/WHY.md has how far it is off. */
#include "analyse/replay/scenario.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "store/traits.h"

enum { EVENT_COST_NS = 3000, FRAME_COST_NS = 230 };

static int64_t cost_of(uint8_t kind) {
    switch (kind) {
    case KIND_OP:
    case KIND_RUNTIME:
    case KIND_DRIVER:
    case KIND_ANNOTATION:
    case KIND_COLLECTIVE:
    case KIND_OPTIMIZER:
    case KIND_DATA: return EVENT_COST_NS;
    case KIND_PYTHON:
    case KIND_MODULE: return FRAME_COST_NS;
    default: return 0;
    }
}

status profiler_cost_find(scenario *s, arena *a, error *err) {
    const trace *t = s->g->t;
    if (format_framework(t->format) != FRAMEWORK_PYTORCH)
        FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_NO_COST, arg_text("format", t->format));
    s->cost_ns = ARENA_ARRAY(a, int64_t, (size_t)t->slice.n + 2);
    if (!s->cost_ns) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++)
        s->cost_ns[i + 1] = add_i64(s->cost_ns[i], cost_of(t->slice.kind[i]));
    return OK;
}

static status note_network(const scenario *s, arena *a, answer *out, error *err) {
    const network_fit *n = &s->network;
    verdict note = {.message =
                        n->sizes > 1 ? MSG_NOTE_WHATIF_NETWORK : MSG_NOTE_WHATIF_NETWORK_ONE};
    verdict_add(&note, arg_int("count", n->sized));
    verdict_add(&note, arg_int("all", n->collectives));
    verdict_add(&note, arg_time("latency", n->latency_ns));
    if (n->ns_per_byte > 0)
        verdict_add(&note, arg_bytes("bandwidth", real_i64(1e9 / n->ns_per_byte)));
    if (!s->of_many) verdict_add(&note, arg_int("alone", 1)); /* nobody knows what others do */
    return answer_note(out, a, &note, err);
}

static status note_batch(const scenario *s, arena *a, answer *out, error *err) {
    const batch_found *b = &s->batch;
    verdict note = {.message = MSG_NOTE_WHATIF_BATCH};
    verdict_add(&note, arg_int("size", b->size));
    verdict_add(&note, arg_int("count", b->works_with_it));
    verdict_add(&note, arg_int("all", b->works));
    if (b->device_ns > 0)
        verdict_add(&note,
                    arg_share("share", (double)b->device_ns_with_it / (double)b->device_ns));
    if (b->unclear) verdict_add(&note, arg_int("unclear", b->unclear));
    return answer_note(out, a, &note, err);
}

status scenario_notes(const scenario *s, arena *a, answer *out, error *err) {
    for (uint32_t c = 0; c < s->n; c++) {
        verdict note = {0};
        switch (s->v[c].kind) {
        case CHANGE_NETWORK: TRY(note_network(s, a, out, err)); break;
        case CHANGE_BATCH: TRY(note_batch(s, a, out, err)); break;
        case CHANGE_OVERLAP: note.message = MSG_NOTE_WHATIF_OVERLAP; break;
        case CHANGE_UNPROFILED:
            note.message = MSG_NOTE_WHATIF_UNPROFILED;
            verdict_add(&note, arg_time("event", EVENT_COST_NS));
            verdict_add(&note, arg_time("frame", FRAME_COST_NS));
            break;
        default: break;
        }
        if (note.message) TRY(answer_note(out, a, &note, err));
    }
    return OK;
}
