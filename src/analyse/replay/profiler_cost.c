/* profiler_cost.c: what recording cost the host, taken out by --unprofiled; and the other
 * assumptions of a scenario, as notes.
 *
 * How fast the host was differs from recording to recording, by more than half for one program,
 * and recording an event is slow when everything is. So the cost of an event is a share of what
 * a launch takes in the same recording: 0.51 was fitted to 15 recordings with torch.profiler of
 * PyTorch 2.11 on an H200, whose step was timed in the same process before the profiler was
 * first started; single recordings of these had 0.30 to 0.69. A Python frame costs 0.03 of a
 * launch (0.23 µs, bench/profiler_cost), an allocation or release as much as an event. A kernel
 * that torch.compile generated is launched by Python, which prepares a record of its arguments
 * when a profiler runs: five launches more, the median of what 9 recordings of two programs
 * had (METHODS.md). Nothing is fitted to the recordings that tests/truth/whatif holds it
 * against; docs/METHODS.md has how far it is off. */
#include "analyse/replay/scenario.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "store/traits.h"

/* Hundredths of the typical launch of the recording. */
enum { EVENT_COST = 51, FRAME_COST = 3, GENERATED_COST = 500 };

static int64_t part_of_launch(const why_graph *g, int64_t hundredths) {
    return mul_i64(min_i64(g->launch_ns, LONGEST_LAUNCH_NS), hundredths) / 100;
}

static int64_t cost_of(const why_graph *g, uint8_t kind) {
    switch (kind) {
    case KIND_OP:
    case KIND_RUNTIME:
    case KIND_DRIVER:
    case KIND_ANNOTATION:
    case KIND_GARBAGE:
    case KIND_COMPILE:
    case KIND_IMPORT:
    case KIND_COLLECTIVE:
    case KIND_OPTIMIZER:
    case KIND_DATA: return part_of_launch(g, EVENT_COST);
    case KIND_PYTHON:
    case KIND_MODULE: return part_of_launch(g, FRAME_COST);
    default: return 0;
    }
}

/* Allocations and releases have no length: each counts where the last slice before it on its
 * thread begins. */
static status add_memory_events(const trace *t, int64_t event_ns, int64_t *cost_ns, arena *a,
                                error *err) {
    uint32_t *next = ARENA_ARRAY(a, uint32_t, (size_t)t->track.n + 1); /* by track */
    if (!next) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->track.n; i++) next[i] = t->track.first[i];
    for (uint32_t m = 1; m < t->memory.n; m++) {
        uint32_t track = t->memory.track[m];
        if (!track || track >= t->track.n || t->track.kind[track] != TRACK_THREAD) continue;
        uint32_t *at = &next[track];
        while (*at < t->track.end[track] && t->slice.start[*at] < t->memory.time[m]) ++*at;
        if (*at > t->track.first[track]) cost_ns[*at] = add_i64(cost_ns[*at], event_ns);
    }
    return OK;
}

/* Operators of kernels that torch.compile generated; it names them so. */
static status add_generated(const why_graph *g, int64_t *cost_ns, arena *a, error *err) {
    const trace *t = g->t;
    uint8_t *generated = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    int64_t ns = part_of_launch(g, GENERATED_COST);
    bool any = false;
    if (!generated) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < t->n_strings; i++) {
        generated[i] = str_starts(trace_str(t, i), STR("triton_"));
        any |= generated[i];
    }
    for (uint32_t i = 1; i < t->slice.n && any; i++)
        if (t->slice.kind[i] == KIND_OP && generated[t->slice.name[i]])
            cost_ns[i + 1] = add_i64(cost_ns[i + 1], ns);
    return OK;
}

/* From the cost of allocations before each slice to that of everything before it. */
static void add_up(const why_graph *g, int64_t *until_ns) {
    const uint8_t *kind = g->t->slice.kind;
    int64_t by_kind[N_KINDS], sum = 0;
    for (int k = 0; k < N_KINDS; k++) by_kind[k] = cost_of(g, (uint8_t)k);
    for (uint32_t i = 1; i < g->t->slice.n; i++) {
        sum = add_i64(sum, kind[i] < N_KINDS ? by_kind[kind[i]] : 0);
        if (until_ns[i + 1]) sum = add_i64(sum, until_ns[i + 1]);
        until_ns[i + 1] = sum;
    }
}

/* How many slices of the track begin before a time, as the row of the first that does not;
 * `near` is a row close to it. */
static uint32_t row_at(const trace *t, uint32_t track, uint32_t near, int64_t time) {
    while (near > t->track.first[track] && t->slice.start[near - 1] >= time) near--;
    while (near < t->track.end[track] && t->slice.start[near] < time) near++;
    return near;
}

/* The sums at both ends of each call, which every replay needs. */
static status sum_at_points(scenario *s, arena *a, error *err) {
    const why_graph *g = s->g;
    s->cost.at = ARENA_ARRAY(a, spent_recording, (size_t)g->first_mark + 1);
    if (!s->cost.at) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < g->first_mark; i++) {
        const why_point *p = &g->points[i];
        bool inside = !why_is_range(p); /* ranges hold any number of slices */
        uint32_t start = inside ? row_at(g->t, p->track, p->slice, p->start)
                                : trace_lower_bound(g->t, p->track, p->start);
        uint32_t end = inside ? row_at(g->t, p->track, start, p->end)
                              : trace_lower_bound(g->t, p->track, p->end);
        s->cost.at[i] = (spent_recording){s->cost.until_ns[start], s->cost.until_ns[end]};
    }
    return OK;
}

status profiler_cost_find(scenario *s, arena *a, error *err) {
    const trace *t = s->g->t;
    if (!trace_has(t, TRAIT_KNOWN_COST))
        FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_NO_COST, arg_text("format", t->format));
    if (s->cost.until_ns) return OK;
    s->cost.until_ns = ARENA_ARRAY(a, int64_t, (size_t)t->slice.n + 2);
    if (!s->cost.until_ns) FAIL_MEMORY(err);
    TRY(add_memory_events(t, part_of_launch(s->g, EVENT_COST), s->cost.until_ns, a, err));
    TRY(add_generated(s->g, s->cost.until_ns, a, err));
    add_up(s->g, s->cost.until_ns);
    return sum_at_points(s, a, err);
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
    if (!s->of_many) verdict_add(&note, arg_int("alone", 1)); /* what others do is unknown */
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
            verdict_add(&note, arg_time("event", part_of_launch(s->g, EVENT_COST)));
            verdict_add(&note, arg_time("frame", part_of_launch(s->g, FRAME_COST)));
            break;
        default: break;
        }
        if (note.message) TRY(answer_note(out, a, &note, err));
    }
    return OK;
}
