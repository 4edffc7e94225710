/* recording_cost.c: what recording cost the program, from what the recorder measured.
 *
 * The header has trials: so many events, operators, calls of modules or of Python functions
 * took so long when they were recorded. The recording has how many there were; the product is
 * what they cost. An operator whose hook was not tried counts as two plain events, and a fact
 * says so. Starting and stopping are timed as they happen. CPU time of the recorder's own
 * thread is a figure by itself: it is no time of the program's threads.
 *
 * A flight recorder is counted from where nothing was overwritten, a window within its ends. */
#include "base/num.h"
#include "ingest/recording/recording_int.h"

enum { PART = TACHO_FILE_FLIGHT | TACHO_FILE_WINDOW };

static const struct {
    const char *tried, *not_tried;
} NAMES[] = {[TACHO_COST_OP] = {"cost_operators_ns", "cost_operators_not_tried"},
             [TACHO_COST_MODULE] = {"cost_modules_ns", "cost_modules_not_tried"},
             [TACHO_COST_FRAME] = {"cost_frames_ns", "cost_frames_not_tried"}};

/* Which hook made it; TACHO_COST_EVENT: none. */
static tacho_cost_kind kind_of(const tacho_slot *head) {
    uint32_t kind = head->what & 255, argument = head->what >> 16;
    if (kind == TACHO_EVENT_OP) return TACHO_COST_OP;
    if (kind != TACHO_EVENT_BEGIN) return TACHO_COST_EVENT;
    if (argument == TACHO_RANGE_MODULE) return TACHO_COST_MODULE;
    return argument == TACHO_RANGE_PYTHON ? TACHO_COST_FRAME : TACHO_COST_EVENT;
}

static void count_overhead(recording *r, const tacho_slot *head) {
    tacho_api_slots call;
    size_t there = (size_t)(head->what >> 8 & 255) * TACHO_SLOT_BYTES;
    if ((head->what & 255) != TACHO_EVENT_API || there < sizeof call) return;
    memcpy(&call, head + 1, sizeof call);
    if (call.domain != TACHO_API_OVERHEAD) return;
    int64_t ns = max_i64(0, sub_i64(call.end_ns, call.start_ns));
    r->counts.driver_ns = add_i64(r->counts.driver_ns, ns);
}

void recording_count(recording *r, const tacho_slot *head) {
    recording_counts *c = &r->counts;
    const tacho_file_header *h = &r->header;
    if (h->flags & TACHO_FILE_WINDOW &&
        (head->tick < h->start_tick || head->tick > h->stop_tick))
        return;
    if (h->flags & PART && head->tick <= h->forgotten_tick) return;
    c->all++;
    c->of[kind_of(head)]++;
    if (!c->first_tick || head->tick < c->first_tick) c->first_tick = head->tick;
    if (head->tick > c->last_tick) c->last_tick = head->tick;
    count_overhead(r, head);
}

/* n of a kind, as long as those that were tried. */
static int64_t product(const recording *r, tacho_cost_kind kind, uint64_t n) {
    const tacho_cost_row *row = &r->header.cost[kind];
    return row->n ? real_i64((double)n * ((double)row->ns / (double)row->n)) : 0;
}

/* Time from the first to the last that is counted: of a recording from its beginning. */
static int64_t covered_ns(const recording *r) {
    size_t line = 0;
    uint64_t from = r->header.flags & PART ? r->counts.first_tick : r->header.start_tick;
    return max_i64(0, sub_i64(r->last_ns, recording_ns(r, from, &line)));
}

status recording_add_cost(recording *r, error *err) {
    static const struct {
        tacho_cost_kind kind;
        const char *key;
    } ONCE[] = {{TACHO_COST_START, "cost_start_ns"},
                {TACHO_COST_STOP, "cost_stop_ns"},
                {TACHO_COST_HELPER, "cost_helper_ns"}};
    const tacho_cost_row *rows = r->header.cost;
    uint64_t plain = r->counts.all;
    if (!rows[TACHO_COST_EVENT].n) return OK;
    TRY(recording_add_number(r, "cost_events", sat_i64(r->counts.all), err));
    for (int k = TACHO_COST_OP; k <= TACHO_COST_FRAME; k++) {
        uint64_t n = r->counts.of[k];
        if (n && !rows[k].n) TRY(recording_add_number(r, NAMES[k].not_tried, sat_i64(n), err));
        if (!n || !rows[k].n) continue;
        int64_t ns = product(r, (tacho_cost_kind)k, n);
        TRY(recording_add_number(r, NAMES[k].tried, ns, err));
        plain -= plain > 2 * n ? 2 * n : plain;
    }
    int64_t ns = product(r, TACHO_COST_EVENT, plain);
    TRY(recording_add_number(r, "cost_events_ns", ns, err));
    ns = product(r, TACHO_COST_ROOM, r->counts.of[TACHO_COST_ROOM]);
    TRY(recording_add_number(r, "cost_room_ns", ns, err));
    for (size_t i = 0; i < sizeof ONCE / sizeof *ONCE; i++)
        TRY(recording_add_number(r, ONCE[i].key, sat_i64(rows[ONCE[i].kind].ns), err));
    if (r->counts.driver_ns)
        TRY(recording_add_number(r, "cost_driver_ns", r->counts.driver_ns, err));
    return recording_add_number(r, "cost_covered_ns", covered_ns(r), err);
}
