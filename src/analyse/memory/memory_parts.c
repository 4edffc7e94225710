/* memory_parts.c: what the memory of a device is made of.
 *
 * Every block gets its part once, from the phases of the events that made and released it
 * (memory_phases.h); the split of a moment adds up the blocks that are alive then. What remains
 * of the allocator's total is older than the recording. */
#include "analyse/memory/memory_parts.h"

#include "analyse/memory/memory_segments.h"
#include "analyse/memory/memory_view.h"
#include "base/map.h"
#include "base/num.h"

str memory_part_name(uint8_t part) {
    static const str NAMES[N_MEMORY_PARTS] = {
        [PART_WEIGHTS] = STR("weights"),
        [PART_GRADIENTS] = STR("gradients"),
        [PART_OPTIMIZER_STATE] = STR("optimizer_state"),
        [PART_ACTIVATIONS] = STR("activations"),
        [PART_TEMPORARY] = STR("temporary"),
        [PART_COMMUNICATION] = STR("communication"),
        [PART_KEPT] = STR("kept"),
        [PART_UNKNOWN] = STR("unknown"),
        [PART_CACHED] = STR("cached"),
        [PART_FRAGMENTED] = STR("fragmented"),
        [PART_UNUSED] = STR("unused"),
    };
    return part < N_MEMORY_PARTS ? NAMES[part] : STR_NONE;
}

/* ---- one block --------------------------------------------------------------------------- */

/* Backward passes that begin after the row and no later than its release. */
static uint32_t backwards_survived(const memory_phases *p, uint32_t row) {
    uint32_t release = p->t->memory.partner[row];
    uint32_t until = release ? p->backwards[p->pass[release]] : p->n_backwards;
    return until - p->backwards[p->pass[row]];
}

static int64_t first_step(const trace *t) {
    return t->step.n > 1 ? t->step.start[1] : INT64_MIN;
}

/* Steps that begin after a block is made and no later than its release: two are enough. */
static bool survives_steps(const trace *t, uint32_t row) {
    uint32_t release = t->memory.partner[row], n = 0;
    int64_t until = release ? t->memory.time[release] : INT64_MAX;
    for (uint32_t s = 1; s < t->step.n && n < 2; s++)
        n += t->step.start[s] > t->memory.time[row] && t->step.start[s] <= until;
    return n >= 2;
}

/* Made in the forward pass or before it: what it is follows from how long it lives. */
static uint8_t part_by_life(const memory_phases *p, uint32_t row) {
    const trace *t = p->t;
    bool released = t->memory.partner[row] != 0, setup = p->own[row] == MEMORY_PHASE_SETUP;
    if (setup) return released && !backwards_survived(p, row) ? PART_TEMPORARY : PART_WEIGHTS;
    bool early = p->own[row] != MEMORY_PHASE_FORWARD && !p->backwards[p->pass[row]];
    if (p->n_backwards) {
        bool long_lived =
            backwards_survived(p, row) >= 2 || (!released && !p->pass_phase[p->pass[row]]);
        if (!long_lived) return PART_ACTIVATIONS;
        return early ? PART_WEIGHTS : PART_KEPT;
    }
    if (early && !released && t->memory.time[row] < first_step(t)) return PART_WEIGHTS;
    if (survives_steps(t, row)) return PART_KEPT;
    return released || p->own[row] ? PART_ACTIVATIONS : PART_UNKNOWN;
}

static uint8_t part_of_allocation(memory_phases *p, uint32_t row) {
    uint32_t release = p->t->memory.partner[row];
    bool same_pass = release && p->pass[release] == p->pass[row];
    if (p->own[row] == MEMORY_PHASE_COMM) return PART_COMMUNICATION;
    if (memory_is_inside_op(p, row) || memory_is_workspace(p, row)) return PART_TEMPORARY;
    switch (p->own[row]) {
    case MEMORY_PHASE_OPTIMIZER: return same_pass ? PART_TEMPORARY : PART_OPTIMIZER_STATE;
    case MEMORY_PHASE_BACKWARD: return same_pass ? PART_TEMPORARY : PART_GRADIENTS;
    case MEMORY_PHASE_ZERO: return PART_GRADIENTS;
    case MEMORY_PHASE_RECOMPUTE: return PART_ACTIVATIONS;
    default: return part_by_life(p, row);
    }
}

/* Older than the recording: what releases it, and in a snapshot its own call stack. */
static uint8_t part_of_release(const memory_phases *p, uint32_t release) {
    switch (release ? memory_phase_of(p, release) : MEMORY_PHASE_NONE) {
    case MEMORY_PHASE_ZERO: return PART_GRADIENTS;
    case MEMORY_PHASE_BACKWARD:
        return p->backwards[p->pass[release]] <= 1 ? PART_ACTIVATIONS : PART_UNKNOWN;
    default: return PART_UNKNOWN;
    }
}

static uint8_t part_of_existing(memory_phases *p, uint32_t row) {
    if (memory_is_workspace(p, row)) return PART_TEMPORARY;
    switch (p->own[row]) {
    case MEMORY_PHASE_SETUP: return PART_WEIGHTS;
    case MEMORY_PHASE_OPTIMIZER: return PART_OPTIMIZER_STATE;
    case MEMORY_PHASE_BACKWARD:
    case MEMORY_PHASE_ZERO: return PART_GRADIENTS;
    case MEMORY_PHASE_COMM: return PART_COMMUNICATION;
    case MEMORY_PHASE_RECOMPUTE: return PART_ACTIVATIONS;
    case MEMORY_PHASE_FORWARD: return backwards_survived(p, row) ? PART_KEPT : PART_ACTIVATIONS;
    default: return part_of_release(p, p->t->memory.partner[row]);
    }
}

/* ---- older than the recording ------------------------------------------------------------ */

static bool is_gradient(const memory_parts *m, uint32_t row) {
    return m->t->memory.kind[row] == MEMORY_ALLOC && m->part[row] == PART_GRADIENTS;
}

static uint32_t backward_of(const memory_parts *m, uint32_t row) {
    return m->phases.backwards[m->phases.pass[row]];
}

/* The backward pass that made most gradients. */
static uint32_t largest_backward(const memory_parts *m) {
    int64_t most = 0, sum = 0;
    uint32_t pass = 0, found = 0;
    for (uint32_t i = 1; i < m->t->memory.n; i++) {
        if (!is_gradient(m, i)) continue;
        if (backward_of(m, i) != pass) sum = 0;
        pass = backward_of(m, i);
        sum = add_i64(sum, m->t->memory.bytes[i]);
        if (sum <= most) continue;
        most = sum;
        found = pass;
    }
    return found;
}

static uint64_t size_key(const trace *t, uint32_t row) {
    return hash_pair((uint64_t)t->memory.device_type[row] << 32 |
                         (uint32_t)t->memory.device[row],
                     (uint64_t)t->memory.bytes[row]);
}

/* Blocks that a snapshot found and nothing is known of: as many of a size as there are
 * gradients with it are weights, as many again are states of the optimizer where it made none
 * itself. */
static status find_weights(memory_parts *m, error *err) {
    const trace *t = m->t;
    uint32_t pass = largest_backward(m);
    bool made = false;
    map left = {0}; /* a size → gradients of it × (1 + states) */
    status st = OK;
    for (uint32_t i = 1; i < t->memory.n && !made; i++)
        made = t->memory.kind[i] == MEMORY_ALLOC && m->part[i] == PART_OPTIMIZER_STATE;
    uint32_t each = made ? 1 : 1 + (uint32_t)m->phases.states;
    for (uint32_t i = 1; i < t->memory.n && pass && st == OK; i++) {
        if (!is_gradient(m, i) || backward_of(m, i) != pass) continue;
        uint32_t *n = map_at(&left, size_key(t, i));
        if (n) *n = (*n == MAP_NONE ? 0 : *n) + each;
        if (!n) st = ERR_MEMORY;
    }
    for (uint32_t i = 1; i < t->memory.n && left.n && st == OK; i++) {
        bool unknown = t->memory.kind[i] == MEMORY_EXISTING && m->part[i] == PART_UNKNOWN;
        if (!unknown || t->memory.partner[i]) continue;
        uint64_t key = size_key(t, i);
        uint32_t n = map_get(&left, key);
        if (n == MAP_NONE || !n) continue;
        *map_at(&left, key) = n - 1;
        m->part[i] = n % each == 0 ? PART_WEIGHTS : PART_OPTIMIZER_STATE;
        m->estimated[i] = true;
    }
    map_fini(&left);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

status memory_parts_init(memory_parts *m, const trace *t, arena *a, error *err) {
    *m = (memory_parts){.t = t};
    TRY(memory_phases_init(&m->phases, t, a, err));
    m->part = ARENA_ARRAY(a, uint8_t, (size_t)t->memory.n + 1);
    m->estimated = ARENA_ARRAY(a, bool, (size_t)t->memory.n + 1);
    if (!m->part || !m->estimated) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t partner = t->memory.partner[i];
        switch (t->memory.kind[i]) {
        case MEMORY_ALLOC: m->part[i] = part_of_allocation(&m->phases, i); break;
        case MEMORY_EXISTING: m->part[i] = part_of_existing(&m->phases, i); break;
        case MEMORY_FREE:
            m->part[i] = partner ? m->part[partner] : part_of_release(&m->phases, i);
            break;
        default: m->part[i] = PART_UNKNOWN; break;
        }
    }
    return find_weights(m, err);
}

/* ---- a moment ---------------------------------------------------------------------------- */

static bool is_of(const memory_moment *at, const trace *t, uint32_t row) {
    return t->memory.device_type[row] == at->device_type && t->memory.device[row] == at->device;
}

static void add_block(memory_split *s, uint8_t part, int64_t bytes) {
    s->bytes[part] = add_i64(s->bytes[part], bytes);
    s->blocks[part]++;
}

/* The blocks that have rows; also those that are known by their release alone. */
static int64_t add_blocks(const memory_parts *m, const memory_moment *at, memory_split *s) {
    const trace *t = m->t;
    int64_t known = 0;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!is_of(at, t, i) || !memory_is_held(t, i, at->row)) continue;
        int64_t bytes = memory_bytes(t, i);
        add_block(s, m->part[i], bytes);
        s->estimated[m->part[i]] |= m->estimated[i];
        known = add_i64(known, bytes);
    }
    return known;
}

/* Bytes of gradients that one backward pass made: the most of any. */
static int64_t gradients_of_a_pass(const memory_parts *m, const memory_moment *at) {
    const trace *t = m->t;
    int64_t most = 0, sum = 0;
    uint32_t pass = 0;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!is_gradient(m, i) || !is_of(at, t, i)) continue;
        if (backward_of(m, i) != pass) sum = 0;
        pass = backward_of(m, i);
        sum = add_i64(sum, t->memory.bytes[i]);
        most = max_i64(most, sum);
    }
    return most;
}

/* Memory that is in no block: the allocator's total was larger from the start. */
static void estimate_older(const memory_parts *m, const memory_moment *at, int64_t older,
                           memory_split *s) {
    int64_t one = gradients_of_a_pass(m, at);
    int64_t weights = one > 0 && older >= one ? one : 0;
    int64_t states = weights ? min_i64(m->phases.states, sub_i64(older / one, 1)) : 0;
    int64_t state = mul_i64(states, one);
    if (weights) {
        s->bytes[PART_WEIGHTS] = add_i64(s->bytes[PART_WEIGHTS], weights);
        s->estimated[PART_WEIGHTS] = true;
    }
    if (state) {
        s->bytes[PART_OPTIMIZER_STATE] = add_i64(s->bytes[PART_OPTIMIZER_STATE], state);
        s->estimated[PART_OPTIMIZER_STATE] = true;
    }
    int64_t rest = sub_i64(sub_i64(older, weights), state);
    s->bytes[PART_UNKNOWN] = add_i64(s->bytes[PART_UNKNOWN], rest);
}

/* Blocks are more than the allocator's total where a recording lost releases: the total is the
 * truth, and what is too much goes where the most is. */
static void take_off(memory_split *s, int64_t excess) {
    while (excess > 0) {
        int most = 0;
        for (int i = 1; i < PART_CACHED; i++)
            if (s->bytes[i] > s->bytes[most]) most = i;
        int64_t cut = min_i64(excess, s->bytes[most]);
        if (cut <= 0) return;
        s->bytes[most] = sub_i64(s->bytes[most], cut);
        excess = sub_i64(excess, cut);
    }
}

status memory_split_at(const memory_parts *m, const memory_moment *at, arena *a,
                       memory_split *out, error *err) {
    *out = (memory_split){.bytes = {0}};
    int64_t known = add_blocks(m, at, out);
    int64_t allocated = at->allocated == ABSENT_I64 ? known : at->allocated;
    if (allocated >= known)
        estimate_older(m, at, sub_i64(allocated, known), out);
    else
        take_off(out, sub_i64(known, allocated));
    if (at->reserved == ABSENT_I64 || at->reserved <= allocated) return OK;
    int64_t cached, gaps;
    TRY(memory_free_space(m->t, at, a, &cached, &gaps, err));
    if (add_i64(cached, gaps) == sub_i64(at->reserved, allocated)) {
        out->bytes[PART_CACHED] = cached;
        out->bytes[PART_FRAGMENTED] = gaps;
    } else {
        out->bytes[PART_UNUSED] = sub_i64(at->reserved, allocated);
    }
    return OK;
}
