/* rec_events.c: what a program calls while it runs: one event, one append.
 *
 * Every function looks at tacho_on first, so that it costs a load and a branch when nothing is
 * recorded (the macros of recorder.h do the same before they call). Then it finds its place,
 * reads the counter as late as it can at a beginning and as early as it can at an end, writes
 * the slots that follow the head, and publishes the head. Nothing is allocated, locked, hashed
 * (but names made at run time) or converted. */
#include <math.h>
#include <string.h>

#include "record/rec_live.h"
#include "record/rec_trigger.h"

#define IS_OFF() (REC_LIKELY(!__atomic_load_n(&tacho_on, __ATOMIC_RELAXED)))
enum { MOST_STACK = 32 };

/* ---- ranges ---- */

static uint32_t site_id(tacho_site *site) {
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    if (REC_LIKELY(id)) return id;
    id = rec_name(site->name);
    __atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
    return id;
}

static inline bool put(uint32_t name, uint32_t what) {
    tacho_slot *s = rec_open(1);
    if (REC_LIKELY(s != NULL)) rec_close(s, rec_tick(), name, what);
    return s != NULL;
}

/* The first of them begins the first step; it may be the first event of all. */
static inline void rec_stage_begins(void) {
    uint32_t on = __atomic_load_n(&tacho_on, __ATOMIC_RELAXED);
    if (REC_UNLIKELY(on == REC_PENDING) && !rec_self.in_slow) rec_start_pending();
    if (REC_UNLIKELY(__atomic_load_n(&rec_awaits_batch, __ATOMIC_RELAXED))) rec_first_batch();
}

static bool rec_events_begin(uint32_t name, uint32_t kind) {
    if (kind >= TACHO_RANGE_DATA && kind <= TACHO_RANGE_OPTIMIZER) rec_stage_begins();
    return put(name, rec_what(TACHO_EVENT_BEGIN, 0, kind));
}

void tacho_site_begin(tacho_site *site) {
    if (IS_OFF()) return;
    rec_events_begin(site_id(site), site->kind);
}

void tacho_site_end(tacho_site *site) {
    if (IS_OFF()) return;
    put(__atomic_load_n(&site->id, __ATOMIC_RELAXED), rec_what(TACHO_EVENT_END, 0, 0));
}

uint32_t tacho_name(const char *text) {
    return rec_name(text);
}

void tacho_begin_id(uint32_t name, tacho_range_kind kind) {
    if (IS_OFF()) return;
    rec_events_begin(name, (uint32_t)kind);
}

bool rec_begin_text(const char *name, tacho_range_kind kind) {
    return !IS_OFF() && rec_events_begin(rec_name(name), (uint32_t)kind);
}

void tacho_begin_text(const char *name, tacho_range_kind kind) {
    (void)rec_begin_text(name, kind);
}

void tacho_end_range(void) {
    if (IS_OFF()) return;
    put(0, rec_what(TACHO_EVENT_END, 0, 0));
}

void tacho_op_end(void) {
    tacho_end_range();
}

void tacho_collective_end(void) {
    tacho_end_range();
}

void tacho_mark(const char *name) {
    if (IS_OFF()) return;
    put(rec_name(name), rec_what(TACHO_EVENT_INSTANT, 0, 0));
}

void rec_instant(uint32_t name) {
    put(name, rec_what(TACHO_EVENT_INSTANT, 0, 0));
}

/* An event with a fixed number of bytes after its head. */
static bool put_with(uint32_t name, uint32_t what, const void *payload, size_t bytes) {
    tacho_slot *s = rec_open((uint32_t)(1 + bytes / TACHO_SLOT_BYTES));
    if (!s) return false;
    memcpy(s + 1, payload, bytes);
    rec_close(s, rec_tick(), name, what | (uint32_t)(bytes / TACHO_SLOT_BYTES) << 8);
    return true;
}

void tacho_launch_begin(const char *name, uint64_t correlation) {
    if (IS_OFF()) return;
    tacho_flow_slot slot = {.id = correlation};
    put_with(rec_name(name), rec_what(TACHO_EVENT_BEGIN, 0, TACHO_RANGE_RUNTIME), &slot,
             sizeof slot);
}

/* ---- operators ---- */

static double elements(const tacho_tensor *t) {
    double n = 1;
    for (uint32_t i = 0; t->dims && i < t->n_dims; i++) n *= (double)t->dims[i];
    return n;
}

static double element_bytes(tacho_type type) {
    static const uint8_t BYTES[] = {
        [TACHO_F64] = 8, [TACHO_F32] = 4, [TACHO_F16] = 2, [TACHO_BF16] = 2, [TACHO_I64] = 8,
        [TACHO_I32] = 4, [TACHO_I16] = 2, [TACHO_I8] = 1,  [TACHO_U8] = 1,   [TACHO_BOOL] = 1,
    };
    uint32_t plain = (uint32_t)type & 255;
    return plain < sizeof BYTES ? BYTES[plain] : 0;
}

static double dim(const tacho_tensor *t, uint32_t from_end) {
    return t->dims && from_end <= t->n_dims ? (double)t->dims[t->n_dims - from_end] : NAN;
}

/* All that goes in and out, once. */
static double moved_bytes(const tacho_op *op) {
    double n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        n += elements(&op->inputs[i]) * element_bytes(op->inputs[i].type);
    return op->output ? n + elements(op->output) * element_bytes(op->output->type) : n;
}

static double formula(const tacho_op *op) {
    const tacho_tensor *a = op->inputs, *b = op->inputs + 1;
    switch (op->work) {
    case TACHO_WORK_MATMUL: return op->n_inputs >= 2 ? 2 * elements(a) * dim(b, 1) : NAN;
    case TACHO_WORK_CONV2D: /* each output element: one dot product over c · r · s */
        return op->n_inputs >= 2 && op->output && b->n_dims == 4
                   ? 2 * elements(op->output) * elements(b) / dim(b, 4)
                   : NAN;
    case TACHO_WORK_ELEMENTWISE: return op->n_inputs >= 1 ? elements(a) : NAN;
    default: return NAN;
    }
}

static void fill_work(const tacho_op *op, tacho_op_slots *to) {
    to->flops = NAN;
    to->bytes = -1;
    if (op->work == TACHO_WORK_NONE) return;
    if (op->work == TACHO_WORK_GIVEN) {
        if (op->flops >= 0) to->flops = op->flops;
        to->bytes = op->bytes;
        return;
    }
    double bytes = moved_bytes(op);
    to->flops = formula(op);
    if (bytes > 0 && bytes < 9e18) to->bytes = (int64_t)bytes;
}

/* Copies shapes; what does not fit is counted. */
static size_t put_tensors(const tacho_op *op, uint8_t *to, uint32_t *n) {
    uint8_t *at = to;
    *n = op->n_inputs;
    if (REC_UNLIKELY(*n > TACHO_MOST_TENSORS)) {
        rec_count_lost(TACHO_LOST_SHAPES, *n - TACHO_MOST_TENSORS);
        *n = TACHO_MOST_TENSORS;
    }
    for (uint32_t i = 0; i < *n; i++) {
        const tacho_tensor *t = &op->inputs[i];
        uint32_t dims = !t->dims                      ? 0
                        : t->n_dims < TACHO_MOST_DIMS ? t->n_dims
                                                      : TACHO_MOST_DIMS;
        tacho_tensor_word word = {.type = (uint8_t)t->type,
                                  .n_dims = (uint8_t)dims,
                                  .flags = (uint16_t)((uint32_t)t->type >> 8)};
        memcpy(at, &word, sizeof word);
        if (dims) memcpy(at + sizeof word, t->dims, dims * sizeof *t->dims);
        at += sizeof word + dims * sizeof *t->dims;
    }
    return (size_t)(at - to);
}

static bool has_all(size_t said, size_t needed) {
    return said >= needed;
}

bool rec_op_begin(const tacho_op *op, uint32_t forward_row) {
    enum { MOST_BYTES = TACHO_MOST_TENSORS * (8 + 8 * TACHO_MOST_DIMS) + 8 * MOST_STACK + 64 };
    _Static_assert(MOST_BYTES / TACHO_SLOT_BYTES < TACHO_MOST_EXTRA, "fits into an event");
    if (IS_OFF() || !op || !has_all(op->size, sizeof *op)) return false;
    struct {
        tacho_op_slots fixed;
        uint8_t rest[MOST_BYTES];
    } payload;
    payload.fixed = (tacho_op_slots){.sequence = op->sequence};
    fill_work(op, &payload.fixed);
    size_t n = 0;
    uint32_t flags = __atomic_load_n(&rec_flags, __ATOMIC_RELAXED);
    if (flags & TACHO_FILE_SHAPES) n = put_tensors(op, payload.rest, &payload.fixed.n_tensors);
    if (flags & TACHO_FILE_STACKS) {
        uint64_t frames[MOST_STACK];
        payload.fixed.n_frames = rec_frames(frames, MOST_STACK);
        memcpy(payload.rest + n, frames, payload.fixed.n_frames * sizeof *frames);
        n += payload.fixed.n_frames * sizeof *frames;
    }
    uint32_t name = rec_name(op->name), argument = rec_op_argument(op->phase, forward_row);
    if (n == 0 && op->work == TACHO_WORK_NONE)
        return rec_op_short(name, argument, op->sequence);
    if (n % TACHO_SLOT_BYTES) memset(payload.rest + n, 0, 8);
    n = (n + TACHO_SLOT_BYTES - 1) / TACHO_SLOT_BYTES * TACHO_SLOT_BYTES;
    return put_with(name, rec_what(TACHO_EVENT_OP, 0, argument), &payload,
                    sizeof payload.fixed + n);
}

void tacho_op_begin(const tacho_op *op) {
    rec_op_begin(op, 0);
}

void tacho_collective_begin(const tacho_collective *c) {
    if (IS_OFF() || !c || !has_all(c->size, sizeof *c)) return;
    tacho_comm_slots slots = {.in_elements = c->in_elements,
                              .out_elements = c->out_elements,
                              .sequence = c->sequence,
                              .group = rec_name(c->group ? c->group : "default"),
                              .type = (uint32_t)c->type,
                              .rank_count = c->n_ranks,
                              .root = c->root};
    put_with(rec_name(c->name), rec_what(TACHO_EVENT_COMM, 0, 0), &slots, sizeof slots);
}

/* ---- memory ---- */

/* Which allocations are kept is decided by their address, so that a release finds its
 * partner. */
static bool is_sampled(uint64_t address) {
    uint32_t every = __atomic_load_n(&rec_memory_every, __ATOMIC_RELAXED);
    return every <= 1 || ((address >> 4) * 0x9e3779b97f4a7c15u >> 32) % every == 0;
}

static void put_memory(const tacho_block *b, uint32_t kind) {
    if (IS_OFF() || !b || !has_all(b->size, sizeof *b)) return;
    uint32_t flags = __atomic_load_n(&rec_flags, __ATOMIC_RELAXED);
    /* 1 and 2: blocks, sampled; 3 and 4: segments, few and all kept. */
    if (!(flags & TACHO_FILE_MEMORY)) return;
    rec_live_memory(b->device, b->allocated);
    if (kind <= 2 && !is_sampled(b->address)) return;
    struct {
        tacho_memory_slots fixed;
        uint64_t frames[MOST_STACK];
    } payload;
    payload.fixed = (tacho_memory_slots){.address = b->address,
                                         .bytes = b->bytes,
                                         .allocated = b->allocated,
                                         .reserved = b->reserved,
                                         .device = b->device};
    size_t n = 0;
    if (flags & TACHO_FILE_STACKS) {
        n = payload.fixed.n_frames = rec_frames(payload.frames, MOST_STACK);
        if (n % 2) payload.frames[n++] = 0;
    }
    put_with(0, rec_what(TACHO_EVENT_MEMORY, 0, kind), &payload,
             sizeof payload.fixed + n * sizeof *payload.frames);
}

void tacho_alloc(const tacho_block *b) {
    put_memory(b, 1);
}
void tacho_release(const tacho_block *b) {
    put_memory(b, 2);
}
void tacho_reserve(const tacho_block *b) {
    put_memory(b, 3);
}
void tacho_unreserve(const tacho_block *b) {
    put_memory(b, 4);
}

/* ---- the rest ---- */

void tacho_counter(const char *name, double value) {
    if (IS_OFF()) return;
    tacho_counter_slot slot = {.value = value};
    if (REC_UNLIKELY(value != value)) rec_trigger_not_a_number(name);
    put_with(rec_name(name), rec_what(TACHO_EVENT_COUNTER, 0, 0), &slot, sizeof slot);
}

void tacho_queue(const char *name, int64_t size, int64_t capacity) {
    if (IS_OFF()) return;
    tacho_queue_slot slot = {.size = size, .capacity = capacity};
    put_with(rec_name(name), rec_what(TACHO_EVENT_QUEUE, 0, 0), &slot, sizeof slot);
}

static void put_flow(const char *name, uint64_t id, char phase) {
    tacho_flow_slot slot = {.id = id};
    put_with(rec_name(name), rec_what(TACHO_EVENT_FLOW, 0, (uint32_t)phase), &slot,
             sizeof slot);
}

void tacho_flow_begin(const char *name, uint64_t id) {
    if (IS_OFF()) return;
    put_flow(name, id, 's');
}

void tacho_flow_end(const char *name, uint64_t id) {
    if (IS_OFF()) return;
    put_flow(name, id, 'f');
}

void rec_put(uint32_t name, uint32_t what, const void *payload, size_t bytes) {
    put_with(name, what, payload, bytes);
}

void rec_async(uint32_t name, uint64_t id, char phase) {
    if (IS_OFF()) return;
    tacho_flow_slot slot = {.id = id};
    put_with(name, rec_what(TACHO_EVENT_ASYNC, 0, (uint32_t)phase), &slot, sizeof slot);
}

void tacho_device_range(const tacho_device_work *w) {
    if (IS_OFF() || !w || !has_all(w->size, sizeof *w)) return;
    tacho_device_slots slots = {.start_tick = w->start,
                                .end_tick = w->end,
                                .device = w->device,
                                .stream = w->stream,
                                .correlation = w->correlation};
    put_with(rec_name(w->name), rec_what(TACHO_EVENT_DEVICE, 0, (uint32_t)w->kind), &slots,
             sizeof slots);
}

uint64_t tacho_now(void) {
    return rec_tick();
}
