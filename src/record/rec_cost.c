/* rec_cost.c: see the header.
 *
 * An event is too short to be timed each time: reading a clock costs as much. So hooks are
 * tried: a thread that has got a new chunk writes events into the last page of it, by the same
 * calls as the program, and removes them again. That happens in the first chunk of a process
 * and then in one of EVERY. Readers stop at the first slot that was not written, so the events
 * of a trial are never seen. Hooks of frameworks are tried by those who know them (rec_torch.c;
 * hooks/cost.py in Python), when they are in place.
 *
 * A reader multiplies by how many of a kind a recording has. What happens once (loading, files,
 * stopping) is timed as it is. */
#include "record/rec_cost.h"

enum { TRIAL_SLOTS = 256, EVERY = 64 };
_Static_assert(TRIAL_SLOTS * sizeof(tacho_slot) == 4096, "a page of slots");

/* rec_lock */
static tacho_cost_row known[TACHO_N_COSTS];   /* trials of the process, for each of its files */
static tacho_cost_row pending[TACHO_N_COSTS]; /* of what happens once: for the next file */
static uint32_t n_chunks;

static bool is_trial(tacho_cost_kind kind) {
    return kind <= TACHO_COST_LAST_TRIAL;
}

static void add_to(tacho_cost_row *row, int64_t ns, uint64_t n) {
    row->ns += ns > 0 ? (uint64_t)ns : 0;
    row->n += n;
}

void rec_cost_put(rec_file *f, tacho_cost_kind kind, int64_t ns, uint64_t n) {
    if ((uint32_t)kind >= TACHO_N_COSTS) return;
    if (is_trial(kind)) add_to(&known[kind], ns, n);
    add_to(f ? &f->header->cost[kind] : &pending[kind], ns, n);
}

void rec_cost_add(tacho_cost_kind kind, int64_t ns, uint64_t n) {
    bool before = rec_enter(&rec_lock);
    rec_cost_put(rec_current, kind, ns, n);
    rec_leave(&rec_lock, before);
}

void rec_cost_begin(rec_file *f) {
    for (uint32_t i = 0; i < TACHO_N_COSTS; i++) {
        f->header->cost[i] = is_trial((tacho_cost_kind)i) ? known[i] : pending[i];
        pending[i] = (tacho_cost_row){0, 0};
    }
}

void rec_cost_helper(rec_file *f) {
    static uint32_t epoch;
    static int64_t begun_ns;
    int64_t now = rec_cpu_ns();
    if (epoch != f->epoch) begun_ns = now;
    epoch = f->epoch;
    bool before = rec_enter(&rec_lock);
    f->header->cost[TACHO_COST_HELPER] = (tacho_cost_row){(uint64_t)(now - begun_ns), 1};
    rec_leave(&rec_lock, before);
}

void rec_cost_forked(void) {
    memset(pending, 0, sizeof pending);
    n_chunks = 0;
}

/* ---- trials ---- */

/* Under rec_lock: its file must not be put away meanwhile. */
static bool begin_trial(rec_thread *t) {
    bool before = rec_enter(&rec_lock);
    bool fits = rec_current && t->at && t->epoch == rec_current->epoch &&
                t->epoch == __atomic_load_n(&tacho_on, __ATOMIC_RELAXED) &&
                t->end - t->at > TRIAL_SLOTS;
    if (fits) {
        t->trial_at = t->at;
        t->at = t->end - TRIAL_SLOTS;
    }
    rec_leave(&rec_lock, before);
    return fits;
}

uint32_t tacho_trial_begin(void) {
    rec_thread *t = &rec_self;
    if (t->in_slow || t->busy || t->trial_at) return 0;
    return begin_trial(t) ? TRIAL_SLOTS : 0;
}

void tacho_trial_end(void) {
    rec_thread *t = &rec_self;
    if (!t->trial_at) return;
    bool before = rec_enter(&rec_lock);
    if (rec_current && t->epoch == rec_current->epoch)
        memset(t->end - TRIAL_SLOTS, 0, TRIAL_SLOTS * sizeof(tacho_slot));
    t->at = t->trial_at;
    t->trial_at = NULL;
    rec_leave(&rec_lock, before);
}

/* By the calls of the program, not by what a compiler makes of them here. */
static void make_ranges(int n) {
    void (*volatile begin)(uint32_t, tacho_range_kind) = tacho_begin_id;
    void (*volatile end)(void) = tacho_end_range;
    for (int i = 0; i < n; i++) {
        begin(0, TACHO_RANGE_PLAIN);
        end();
    }
}

/* A processor that comes out of the system is slow at first, which events of a program seldom
 * are: the first ones are not timed. */
void rec_cost_try(void) {
    enum { WARM_UP = 32, TIMED = TRIAL_SLOTS / 2 - WARM_UP }; /* ranges */
    if (!begin_trial(&rec_self)) return;
    int64_t first = rec_cpu_ns(), read_ns = rec_cpu_ns() - first;
    make_ranges(WARM_UP);
    int64_t from = rec_cpu_ns();
    make_ranges(TIMED);
    int64_t ns = rec_cpu_ns() - from - read_ns;
    tacho_trial_end();
    rec_cost_add(TACHO_COST_EVENT, ns, 2 * TIMED);
}

bool rec_cost_is_due(void) {
    return n_chunks++ % EVERY == 0;
}

void tacho_measure(void) {
    int64_t ns = 0;
    if (!tacho_is_recording() || rec_self.in_slow) return;
    uint64_t n = rec_torch_try(&ns);
    if (n) rec_cost_add(TACHO_COST_OP, ns, n);
}

void tacho_cost(tacho_cost_kind kind, uint64_t ns, uint64_t n) {
    if (rec_self.in_slow || kind > TACHO_COST_START) return; /* the rest is ours */
    rec_cost_add(kind, ns < INT64_MAX ? (int64_t)ns : 0, n);
}
