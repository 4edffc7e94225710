/* recording_events.c: the events of one thread of a recording as slices and points.
 *
 * A thread's events come in the order of time, so a stack of open ranges is all that nesting
 * needs. An end without a name closes the innermost range that is not a frame of Python. An end
 * with a name that is not the innermost range's closes everything up to its own (a program that
 * jumped out of ranges), and is itself dropped when there is none: in a flight recorder its
 * begin has been overwritten, elsewhere it is damage. What is open at the end of the recording
 * is kept, marked unfinished.
 *
 * Steps, memory events and queue samples are only collected here: they need all threads. */
#include <stdio.h>

#include "base/buf.h"
#include "base/num.h"
#include "ingest/recording/recording_int.h"

typedef struct {
    const tacho_slot *head;
    int64_t start;
    uint32_t tie;
    uint32_t frame; /* of an operator that is in no other */
} open_event;

typedef struct {
    recording *r;
    part *part;
    uint32_t track;
    int64_t tid;
    uint32_t row;
    vec open;              /* open_event */
    uint32_t stack, n_ops; /* of what begins next; operators among those that are open */
    uint32_t n;            /* events so far: the order among equal times */
    size_t line;
    int64_t now;
    buf text;
} thread_reader;

/* ---- arguments --------------------------------------------------------------------------- */

/* Kineto's keys, so that tools that read the Chrome form find what they look for. */
enum {
    KEY_EXTERNAL,
    KEY_SEQUENCE,
    KEY_FORWARD,
    KEY_DIMS,
    KEY_TYPES,
    KEY_FLOPS,
    KEY_BYTES,
    N_KEYS
};
static const char *const KEYS[N_KEYS] = {"External id", "Sequence number", "Fwd thread id",
                                         "Input Dims",  "Input type",      "flops",
                                         "bytes"};

typedef struct {
    raw_value values[N_KEYS];
    size_t n;
    uint32_t shape;
} arguments;

static status add_argument(thread_reader *t, arguments *a, int key, uint8_t tag, int64_t v) {
    uint32_t name = recording_string(t->r, str_of(KEYS[key]));
    if (name == UINT32_MAX) return ERR_MEMORY;
    a->shape = builder_shape(t->r->b, a->shape, name);
    if (!a->shape) return ERR_MEMORY;
    a->values[a->n++] = (raw_value){.place = a->shape, .tag = tag, .v = v};
    return OK;
}

/* ---- operators --------------------------------------------------------------------------- */

/* The slots after a head, as bytes; fewer than wanted when the event is damaged. */
static bool payload(const tacho_slot *head, void *to, size_t n) {
    size_t there = (size_t)(head->what >> 8 & 255) * TACHO_SLOT_BYTES;
    if (there < n) return false;
    memcpy(to, head + 1, n);
    return true;
}

static str type_name(uint32_t type) {
    static const char *const NAMES[] = {[TACHO_TYPE_UNKNOWN] = "",
                                        [TACHO_F64] = "double",
                                        [TACHO_F32] = "float",
                                        [TACHO_F16] = "c10::Half",
                                        [TACHO_BF16] = "c10::BFloat16",
                                        [TACHO_I64] = "long int",
                                        [TACHO_I32] = "int",
                                        [TACHO_I16] = "short int",
                                        [TACHO_I8] = "signed char",
                                        [TACHO_U8] = "unsigned char",
                                        [TACHO_BOOL] = "bool"};
    return str_of(type < sizeof NAMES / sizeof *NAMES ? NAMES[type] : "");
}

typedef struct {
    tacho_op_slots fixed;
    const uint8_t *p, *end; /* tensors, then frames */
} op_event;

/* Recorders write as much as they know: nothing, the sequence, or all. */
static void open_op(const tacho_slot *head, op_event *op) {
    tacho_sequence_slot only;
    op->p = op->end = NULL;
    if (payload(head, &op->fixed, sizeof op->fixed)) {
        op->p = (const uint8_t *)(head + 1) + sizeof op->fixed;
        op->end =
            (const uint8_t *)(head + 1) + (size_t)(head->what >> 8 & 255) * TACHO_SLOT_BYTES;
        return;
    }
    op->fixed = (tacho_op_slots){.flops = NAN, .bytes = -1, .sequence = -1};
    if (payload(head, &only, sizeof only)) op->fixed.sequence = only.sequence;
}

/* Shapes as "[[2, 3], [3]]" into shapes, types as ["float", …] into types; p moves on. */
static void write_tensors(op_event *op, buf *shapes, buf *types) {
    buf_add_byte(shapes, '[');
    buf_add_byte(types, '[');
    bool was_in_list = false;
    for (uint32_t i = 0; i < op->fixed.n_tensors; i++) {
        tacho_tensor_word word;
        if ((size_t)(op->end - op->p) < sizeof word) break;
        memcpy(&word, op->p, sizeof word);
        if ((size_t)(op->end - op->p) < sizeof word + word.n_dims * sizeof(int64_t)) break;
        op->p += sizeof word;
        bool in_list = word.flags & 1;
        if (i) buf_add_cstr(shapes, ", ");
        if (in_list && !was_in_list) buf_add_byte(shapes, '[');
        was_in_list = in_list && !(word.flags & 2);
        buf_add_byte(shapes, '[');
        for (uint32_t d = 0; d < word.n_dims; d++, op->p += sizeof(int64_t)) {
            int64_t v;
            memcpy(&v, op->p, sizeof v);
            if (d) buf_add_cstr(shapes, ", ");
            buf_add_i64(shapes, v);
        }
        buf_add_cstr(shapes, in_list && !was_in_list ? "]]" : "]");
        if (i) buf_add_cstr(types, ", ");
        buf_add_json(types, type_name(word.type));
    }
    buf_add_cstr(shapes, was_in_list ? "]]" : "]");
    buf_add_byte(types, ']');
}

/* Frames outermost first, joined by ";", as Kineto writes them. */
static uint32_t call_stack(thread_reader *t, const uint8_t *p, const uint8_t *end, uint32_t n) {
    buf *text = &t->text;
    size_t there = (size_t)(end - p) / sizeof(uint64_t);
    if (n > there) n = (uint32_t)there;
    if (n == 0) return 0;
    buf_clear(text);
    for (uint32_t i = n; i > 0; i--) {
        uint64_t address;
        memcpy(&address, p + (i - 1) * sizeof address, sizeof address);
        uint32_t name = map_get(&t->r->frames, address);
        if (i < n) buf_add_byte(text, ';');
        if (name == MAP_NONE)
            buf_printf(text, "0x%llx", (unsigned long long)address);
        else
            buf_add_str(text, intern_get(builder_strings(t->r->b), name));
    }
    return buf_ok(text) ? recording_string(t->r, buf_str(text)) : UINT32_MAX;
}

static uint8_t phase_of(uint32_t kind) {
    switch (kind) {
    case TACHO_RANGE_DATA: return PHASE_DATA;
    case TACHO_RANGE_FORWARD: return PHASE_FORWARD;
    case TACHO_RANGE_BACKWARD: return PHASE_BACKWARD;
    case TACHO_RANGE_OPTIMIZER: return PHASE_OPTIMIZER;
    case TACHO_RANGE_COMMUNICATION: return PHASE_COMMUNICATION;
    default: return PHASE_NONE;
    }
}

static status add_shapes(thread_reader *t, op_event *op, raw_op *row, arguments *a) {
    buf shapes = {0}, types = {0};
    write_tensors(op, &shapes, &types);
    row->shapes = buf_ok(&shapes) ? recording_string(t->r, buf_str(&shapes)) : UINT32_MAX;
    row->types = buf_ok(&types) ? recording_string(t->r, buf_str(&types)) : UINT32_MAX;
    buf_fini(&shapes);
    buf_fini(&types);
    if (row->shapes == UINT32_MAX || row->types == UINT32_MAX) return ERR_MEMORY;
    TRY(add_argument(t, a, KEY_DIMS, VALUE_RAW, row->shapes));
    return add_argument(t, a, KEY_TYPES, VALUE_RAW, row->types);
}

static status add_work(thread_reader *t, const op_event *op, uint32_t stage, raw_slice *slice,
                       arguments *a) {
    double flops = op->fixed.flops;
    bool has_flops = flops >= 0 && flops < 1e300;
    raw_op_cost cost = {.phase = phase_of(stage),
                        .flops = has_flops ? flops : (double)NAN,
                        .bytes = op->fixed.bytes < 0 ? ABSENT_I64 : op->fixed.bytes};
    if (has_flops && flops < 9e18)
        TRY(add_argument(t, a, KEY_FLOPS, VALUE_INT, (int64_t)flops));
    if (op->fixed.bytes >= 0) TRY(add_argument(t, a, KEY_BYTES, VALUE_INT, op->fixed.bytes));
    slice->args = part_args(t->part, a->values, a->n);
    cost.op = slice->extra;
    return part_op_cost(t->part, &cost);
}

/* Keeps it for the arrows; the system's number of the forward pass's thread. */
static status add_sequence(thread_reader *t, const tacho_slot *head, const raw_slice *slice,
                           raw_op *row) {
    uint32_t forward = head->what >> 24;
    bool is_backward = (head->what >> 16 & 255) == TACHO_RANGE_BACKWARD;
    recording_link *link = vec_push(&t->r->links);
    if (!link) return ERR_MEMORY;
    *link = (recording_link){.time = slice->start,
                             .sequence = row->sequence,
                             .row = is_backward && forward ? forward : t->row,
                             .track = t->track,
                             .is_backward = is_backward};
    if (!is_backward) return OK;
    uint32_t known = forward ? map_get(&t->r->thread_of, forward) : MAP_NONE;
    int64_t tid = known != MAP_NONE ? VEC(&t->r->threads, recording_thread)[known].tid : t->tid;
    row->forward_thread = max_i64(1, tid);
    return OK;
}

static status add_op(thread_reader *t, const tacho_slot *head, uint32_t frame,
                     raw_slice *slice) {
    op_event op;
    arguments a = {.n = 0};
    raw_op row = {
        .external = ++t->r->n_ops, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    row.frame = frame;
    TRY(add_argument(t, &a, KEY_EXTERNAL, VALUE_INT, row.external));
    if ((head->what & 255) != TACHO_EVENT_OP) {
        slice->args = part_args(t->part, a.values, a.n);
        return part_op(t->part, &row, slice);
    }
    open_op(head, &op);
    if (op.fixed.sequence >= 0) {
        row.sequence = op.fixed.sequence;
        TRY(add_sequence(t, head, slice, &row));
        TRY(add_argument(t, &a, KEY_SEQUENCE, VALUE_INT, row.sequence));
        if (row.forward_thread != ABSENT_I64)
            TRY(add_argument(t, &a, KEY_FORWARD, VALUE_INT, row.forward_thread));
    }
    if (op.fixed.n_tensors) TRY(add_shapes(t, &op, &row, &a));
    row.call_stack = call_stack(t, op.p, op.end, op.fixed.n_frames);
    if (row.call_stack == UINT32_MAX) return ERR_MEMORY;
    if (row.call_stack) row.frame = 0;
    TRY(part_op(t->part, &row, slice));
    return add_work(t, &op, head->what >> 16 & 255, slice, &a);
}

static status add_comm(thread_reader *t, const tacho_slot *head) {
    tacho_comm_slots c;
    if (!payload(head, &c, sizeof c)) return OK;
    uint32_t type = recording_string(t->r, type_name(c.type));
    if (type == UINT32_MAX) return ERR_MEMORY;
    raw_comm row = {.slice = part_next_slice(t->part),
                    .name = recording_name(t->r, head->name),
                    .group_name = recording_name(t->r, c.group),
                    .dtype = type,
                    .src = c.root >= 0 ? c.root : ABSENT_I32,
                    .dst = ABSENT_I32,
                    .sequence = c.sequence,
                    .comms_id = ABSENT_I64,
                    .in_elements = c.in_elements,
                    .out_elements = c.out_elements,
                    .group_size = c.rank_count};
    return part_comm(t->part, &row);
}

/* ---- ranges ------------------------------------------------------------------------------ */

static uint8_t kind_of(const tacho_slot *head) {
    static const uint8_t KINDS[] = {
        [TACHO_RANGE_PLAIN] = KIND_ANNOTATION,    [TACHO_RANGE_OP] = KIND_OP,
        [TACHO_RANGE_MODULE] = KIND_MODULE,       [TACHO_RANGE_DATA] = KIND_DATA,
        [TACHO_RANGE_FORWARD] = KIND_FORWARD,     [TACHO_RANGE_BACKWARD] = KIND_BACKWARD,
        [TACHO_RANGE_OPTIMIZER] = KIND_OPTIMIZER, [TACHO_RANGE_COMMUNICATION] = KIND_COLLECTIVE,
        [TACHO_RANGE_PYTHON] = KIND_PYTHON,       [TACHO_RANGE_RUNTIME] = KIND_RUNTIME,
        [TACHO_RANGE_KERNEL] = KIND_KERNEL,       [TACHO_RANGE_COPY] = KIND_MEMCPY,
        [TACHO_RANGE_SET] = KIND_MEMSET,          [TACHO_RANGE_SYNC] = KIND_SYNC,
        [TACHO_RANGE_GARBAGE] = KIND_GARBAGE,     [TACHO_RANGE_COMPILE] = KIND_COMPILE,
        [TACHO_RANGE_IMPORT] = KIND_IMPORT};
    uint32_t argument = head->what >> 16;
    if ((head->what & 255) == TACHO_EVENT_OP) return KIND_OP;
    if ((head->what & 255) == TACHO_EVENT_COMM) return KIND_COLLECTIVE;
    return argument < sizeof KINDS ? KINDS[argument] : KIND_ANNOTATION;
}

static status add_call(thread_reader *t, const tacho_slot *head, raw_slice *slice) {
    tacho_flow_slot link;
    raw_call call = {.correlation = ABSENT_I64, .external = ABSENT_I64};
    if (payload(head, &link, sizeof link)) call.correlation = sat_i64(link.id);
    return part_call(t->part, &call, slice);
}

static bool is_op(const tacho_slot *head) {
    return (head->what & 255) == TACHO_EVENT_OP;
}

static status close_range(thread_reader *t, const open_event *e, int64_t end, uint8_t flags) {
    const tacho_slot *head = e->head;
    raw_slice slice = {.start = e->start,
                       .dur = max_i64(0, sub_i64(end, e->start)),
                       .name = recording_name(t->r, head->name),
                       .track = t->track,
                       .tie = e->tie,
                       .kind = kind_of(head),
                       .flags = flags};
    if (kind_is_device(slice.kind)) slice.kind = KIND_ANNOTATION; /* not on a host thread */
    if (slice.kind == KIND_OP) TRY(add_op(t, head, e->frame, &slice));
    if (is_op(head)) t->n_ops--;
    if (slice.kind == KIND_RUNTIME) TRY(add_call(t, head, &slice));
    if (slice.kind == KIND_MODULE) {
        raw_module module = {.id = head->name};
        TRY(part_module(t->part, &module, &slice));
    }
    if (slice.kind == KIND_COLLECTIVE && (head->what & 255) == TACHO_EVENT_COMM)
        TRY(add_comm(t, head));
    return part_slice(t->part, &slice);
}

static status open_range(thread_reader *t, const tacho_slot *head) {
    open_event *e = vec_push(&t->open);
    if (!e) return ERR_MEMORY;
    *e = (open_event){.head = head, .start = t->now, .tie = t->n};
    if (is_op(head) && t->n_ops++ == 0) e->frame = recording_frame(t->r, t->stack);
    return OK;
}

static bool is_frame(const open_event *e) {
    return (e->head->what & 255) == TACHO_EVENT_BEGIN &&
           e->head->what >> 16 == TACHO_RANGE_PYTHON;
}

/* The range that the end belongs to, counted from 1; 0: it has no begin. Ranges further out
 * than 256 are not searched, so that a hostile file cannot make this slow. */
static size_t range_of(const thread_reader *t, uint32_t name) {
    enum { MOST_SEARCHED = 256 };
    const open_event *all = VEC(&t->open, open_event);
    size_t n = t->open.n;
    for (size_t i = n; i > 0 && n - i < MOST_SEARCHED; i--)
        if (name == 0 ? !is_frame(&all[i - 1]) : all[i - 1].head->name == name) return i;
    return 0;
}

/* PyTorch's gloo ends its range when the exchange is over, after the operator around it has
 * returned. Ends have no names, so the first one is the operator's. */
static bool outlives_operator(const thread_reader *t, size_t at) {
    const open_event *all = VEC(&t->open, open_event);
    if (at < 2 || (all[at - 1].head->what & 255) != TACHO_EVENT_BEGIN) return false;
    if ((all[at - 2].head->what & 255) != TACHO_EVENT_OP) return false;
    const intern *names = builder_strings(t->r->b);
    return str_starts(intern_get(names, recording_name(t->r, all[at - 1].head->name)),
                      STR("gloo:")) &&
           str_starts(intern_get(names, recording_name(t->r, all[at - 2].head->name)),
                      STR("c10d::"));
}

/* Frames of Python always end by name and may end while a range that was begun inside is still
 * open (a function that enters it for its caller), so each of the two kinds closes only its
 * own. */
static status end_range(thread_reader *t, const tacho_slot *head) {
    size_t at = range_of(t, head->name), n = t->open.n;
    if (at == 0) {
        if (t->r->header.flags & (TACHO_FILE_FLIGHT | TACHO_FILE_WINDOW)) return OK;
        if (head->name && t->r->samplings.n) return OK; /* a function that was left before */
        part_lost(t->part, CAUSE_UNMATCHED_END, NOPOS, recording_name(t->r, head->name));
        part_count(t->part, 0, 1);
        return OK;
    }
    open_event *all = VEC(&t->open, open_event);
    if (!head->name && outlives_operator(t, at)) {
        open_event inner = all[at - 1];
        all[at - 1] = all[at - 2];
        all[at - 2] = inner;
    }
    bool frame = is_frame(&all[at - 1]);
    for (size_t i = n; i > at; i--) { /* innermost first */
        if (is_frame(&all[i - 1]) != frame) continue;
        part_lost(t->part, CAUSE_UNMATCHED_BEGIN, NOPOS, 0);
        TRY(close_range(t, &all[i - 1], t->now, SLICE_UNFINISHED));
    }
    TRY(close_range(t, &all[at - 1], t->now, 0));
    size_t kept = at - 1;
    for (size_t i = at; i < n; i++)
        if (is_frame(&all[i]) != frame) all[kept++] = all[i];
    t->open.n = kept;
    return OK;
}

/* ---- points ------------------------------------------------------------------------------ */

static status take_sampling(thread_reader *t, int64_t sampling, bool is_change) {
    if (sampling != TACHO_STEP_SAMPLED && sampling != TACHO_STEP_LEFT_OUT) return OK;
    recording_sampling *s = vec_push(&t->r->samplings);
    if (!s) return ERR_MEMORY;
    *s = (recording_sampling){t->now, sampling == TACHO_STEP_LEFT_OUT, is_change};
    return OK;
}

static status take_change(thread_reader *t, const tacho_slot *head) {
    tacho_step_slot slot;
    return payload(head, &slot, sizeof slot) ? take_sampling(t, slot.sampling, true) : OK;
}

/* Stacks are left out from here on: the recorder leaves the functions that run a moment later,
 * when the interpreter comes to it. So they end with the step, not in the next one. */
static status leave_frames(thread_reader *t) {
    open_event *all = VEC(&t->open, open_event);
    size_t n = t->open.n, kept = 0;
    for (size_t i = n; i > 0; i--) /* innermost first */
        if (is_frame(&all[i - 1])) TRY(close_range(t, &all[i - 1], t->now, 0));
    for (size_t i = 0; i < n; i++)
        if (!is_frame(&all[i])) all[kept++] = all[i];
    t->open.n = kept;
    return OK;
}

static status take_step(thread_reader *t, const tacho_slot *head) {
    tacho_step_slot slot;
    if (!payload(head, &slot, sizeof slot)) return OK;
    TRY(take_sampling(t, slot.sampling, false));
    if (slot.sampling == TACHO_STEP_LEFT_OUT) TRY(leave_frames(t));
    recording_step *s = vec_push(&t->r->steps);
    if (!s) return ERR_MEMORY;
    *s = (recording_step){t->now, slot.number, t->track, (head->what >> 16 & 1) != 0,
                          (head->what >> 16 & 2) != 0};
    return OK;
}

static status take_memory(thread_reader *t, const tacho_slot *head) {
    tacho_memory_slots m;
    uint32_t kind = head->what >> 16;
    if (!payload(head, &m, sizeof m) || kind < MEMORY_ALLOC || kind > MEMORY_SEGMENT_FREE)
        return OK;
    raw_memory *row = vec_push(&t->r->memories);
    if (!row) return ERR_MEMORY;
    bool frees = kind == MEMORY_FREE || kind == MEMORY_SEGMENT_FREE;
    int64_t bytes = m.bytes < 0 ? sub_i64(0, m.bytes) : m.bytes;
    *row = (raw_memory){.time = m.unix_ns > 0 ? recording_unix(t->r, m.unix_ns) : t->now,
                        .address = m.address,
                        .bytes = frees ? sub_i64(0, bytes) : bytes,
                        .allocated = m.allocated < 0 ? ABSENT_I64 : m.allocated,
                        .reserved = m.reserved < 0 ? ABSENT_I64 : m.reserved,
                        .track = t->track,
                        .tie = t->n,
                        .device = m.device < 0 ? 0 : m.device,
                        .device_type = m.device < 0 ? DEVICE_CPU : DEVICE_CUDA,
                        .kind = (uint8_t)kind};
    const uint8_t *p = (const uint8_t *)(head + 1) + sizeof m;
    const uint8_t *end =
        (const uint8_t *)(head + 1) + (head->what >> 8 & 255) * TACHO_SLOT_BYTES;
    size_t n = (size_t)(end - p) / sizeof(uint64_t);
    for (n = m.n_frames < n ? m.n_frames : n; n > 0; n--) { /* outermost first */
        uint64_t address;
        memcpy(&address, p + (n - 1) * sizeof address, sizeof address);
        uint32_t name = map_get(&t->r->frames, address);
        if (name == MAP_NONE) continue;
        row->frame = builder_frame(t->r->b, row->frame, name);
        if (row->frame == UINT32_MAX) return ERR_MEMORY;
    }
    return OK;
}

/* Adds the slice of device work, from `start` to `end` on the device and stream of `k`; what
 * runs there is a kernel unless it says something else that does. */
static status add_device_work(thread_reader *t, const tacho_slot *head, int64_t start,
                              int64_t end, const raw_kernel *k) {
    raw_slice slice = {.start = start,
                       .dur = sub_i64(end, start),
                       .name = recording_name(t->r, head->name),
                       .tie = t->n,
                       .kind = kind_of(head)};
    if (end < start) {
        part_lost(t->part, CAUSE_NEGATIVE_DURATION, NOPOS, slice.name);
        part_count(t->part, 0, 1);
        return OK;
    }
    if (!kind_is_device(slice.kind) && slice.kind != KIND_SYNC) slice.kind = KIND_KERNEL;
    slice.track = part_track(t->part, (ident){.v = k->device}, (ident){.v = k->stream});
    uint32_t *seen = map_at(&t->r->devices, (uint64_t)(int64_t)k->device);
    if (slice.track == UINT32_MAX || !seen) return ERR_MEMORY;
    *seen = 1;
    if (slice.kind != KIND_SYNC) TRY(part_kernel(t->part, k, &slice));
    return part_slice(t->part, &slice);
}

static status take_device(thread_reader *t, const tacho_slot *head) {
    tacho_device_slots d;
    if (!payload(head, &d, sizeof d)) return OK;
    size_t line = t->line;
    int64_t start = recording_ns(t->r, d.start_tick, &line),
            end = recording_ns(t->r, d.end_tick, &line);
    raw_kernel k = RAW_KERNEL_NONE;
    if (d.correlation) k.correlation = sat_i64(d.correlation);
    k.stream = d.stream;
    k.device = d.device;
    return add_device_work(t, head, start, end, &k);
}

static status take_gpu(thread_reader *t, const tacho_slot *head) {
    tacho_gpu_slots w;
    if (!payload(head, &w, sizeof w)) return OK;
    bool kernel =
        w.registers >= 0 && kind_of(head) != KIND_MEMCPY && kind_of(head) != KIND_MEMSET;
    raw_kernel k = {.correlation = w.correlation ? sat_i64(w.correlation) : ABSENT_I64,
                    .external = ABSENT_I64,
                    .stream = w.stream,
                    .context = w.context,
                    .bytes = w.bytes < 0 ? ABSENT_I64 : w.bytes,
                    .graph_node = w.graph_node ? sat_i64(w.graph_node) : ABSENT_I64,
                    .shared_memory = kernel ? (int64_t)w.shared_bytes : ABSENT_I64,
                    .occupancy = (double)NAN,
                    .blocks_per_sm = (double)NAN,
                    .device = w.device,
                    .registers = w.registers < 0 ? ABSENT_I32 : w.registers};
    memcpy(k.grid, w.grid, sizeof k.grid);
    memcpy(k.block, w.block, sizeof k.block);
    return add_device_work(t, head, recording_unix(t->r, w.start_ns),
                           recording_unix(t->r, w.end_ns), &k);
}

/* A call of the thread it names, recorded by another one: the helper. */
static status take_api(thread_reader *t, const tacho_slot *head) {
    tacho_api_slots c;
    if (!payload(head, &c, sizeof c)) return OK;
    int64_t start = recording_unix(t->r, c.start_ns), end = recording_unix(t->r, c.end_ns);
    raw_slice slice = {.start = start,
                       .dur = max_i64(0, sub_i64(end, start)),
                       .name = recording_name(t->r, head->name),
                       .tie = t->n,
                       .kind = c.domain == TACHO_API_OVERHEAD ? KIND_OVERHEAD
                               : c.domain == TACHO_API_DRIVER ? KIND_DRIVER
                                                              : KIND_RUNTIME};
    slice.track =
        part_track(t->part, (ident){.v = t->r->header.pid}, (ident){.v = (int64_t)c.thread});
    if (slice.track == UINT32_MAX) return ERR_MEMORY;
    if (slice.kind == KIND_OVERHEAD) return part_slice(t->part, &slice);
    raw_call call = {.correlation = sat_i64(c.correlation), .external = ABSENT_I64};
    TRY(part_call(t->part, &call, &slice));
    return part_slice(t->part, &slice);
}

static status take_node(thread_reader *t, const tacho_slot *head) {
    tacho_node_slots slot;
    if (!payload(head, &slot, sizeof slot)) return OK;
    recording_node *n = vec_push(&t->r->nodes);
    if (!n) return ERR_MEMORY;
    *n = (recording_node){slot.node, slot.original, slot.correlation};
    return OK;
}

static status take_queue(thread_reader *t, const tacho_slot *head) {
    tacho_queue_slot slot;
    if (!payload(head, &slot, sizeof slot)) return OK;
    recording_queue *q = vec_push(&t->r->queues);
    if (!q) return ERR_MEMORY;
    *q = (recording_queue){head->name, t->now, slot.size, slot.capacity};
    return OK;
}

static status take_counter(thread_reader *t, const tacho_slot *head) {
    tacho_counter_slot slot;
    if (!payload(head, &slot, sizeof slot)) return OK;
    uint32_t name = recording_name(t->r, head->name);
    return part_counter(t->part, &(raw_counter){.time = t->now,
                                                .value = slot.value,
                                                .name = name,
                                                .series = name,
                                                .track = t->track});
}

/* A moment inside the range that is open: its end may have the same tick as what came before
 * it, and arrows are found by time. */
static int64_t inside_open(const thread_reader *t) {
    if (!t->open.n) return t->now;
    return max_i64(VEC(&t->open, open_event)[t->open.n - 1].start, sub_i64(t->now, 1));
}

static status take_flow(thread_reader *t, const tacho_slot *head) {
    tacho_flow_slot slot;
    if (!payload(head, &slot, sizeof slot)) return OK;
    char end = (char)(head->what >> 16);
    if (end != 's' && end != 't' && end != 'f') return OK;
    return part_arrow(t->part, &(raw_arrow){.time = inside_open(t),
                                            .offset = t->n,
                                            .id = (int64_t)slot.id,
                                            .name = recording_name(t->r, head->name),
                                            .track = t->track,
                                            .kind = FLOW_OTHER,
                                            .phase = end});
}

/* A range that may end on another thread; the seal joins the two by their id. */
static status take_async(thread_reader *t, const tacho_slot *head) {
    tacho_flow_slot slot;
    char text[32], which = (char)(head->what >> 16);
    if (!payload(head, &slot, sizeof slot) || (which != 'b' && which != 'e')) return OK;
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)slot.id);
    uint32_t id = recording_string(t->r, str_n(text, (size_t)n));
    if (id == UINT32_MAX) return ERR_MEMORY;
    return part_mark(t->part, &(raw_mark){.time = t->now,
                                          .offset = t->n,
                                          .name = recording_name(t->r, head->name),
                                          .track = t->track,
                                          .id = id,
                                          .kind = KIND_ASYNC,
                                          .end = which == 'e'});
}

/* What the helper saw another thread do. */
static status take_sample(thread_reader *t, const tacho_slot *head) {
    tacho_sample_slots s;
    size_t line = t->line;
    uint32_t state = head->what >> 16;
    if (!payload(head, &s, sizeof s)) return OK;
    uint32_t track = part_track(t->part, (ident){.v = t->r->header.pid}, (ident){.v = s.tid});
    if (track == UINT32_MAX) return ERR_MEMORY;
    int64_t from = recording_ns(t->r, s.from_tick, &line),
            to = recording_ns(t->r, s.to_tick, &line);
    _Static_assert((int)TACHO_SAMPLE_UNKNOWN == (int)SAMPLE_UNKNOWN, "the same numbers");
    return part_sample(
        t->part,
        &(raw_sample){.time = from,
                      .dur = max_i64(0, sub_i64(to, from)),
                      .track = track,
                      .frame = recording_frame(t->r, head->name),
                      .state = (uint8_t)(state < SAMPLE_UNKNOWN ? state : SAMPLE_UNKNOWN)});
}

static status take_event(thread_reader *t, const tacho_slot *head) {
    switch (head->what & 255) {
    case TACHO_EVENT_BEGIN:
    case TACHO_EVENT_OP:
    case TACHO_EVENT_COMM: return open_range(t, head);
    case TACHO_EVENT_END: return end_range(t, head);
    case TACHO_EVENT_INSTANT:
        return part_instant(t->part, &(raw_instant){.time = t->now,
                                                    .name = recording_name(t->r, head->name),
                                                    .track = t->track,
                                                    .scope = 't'});
    case TACHO_EVENT_STEP: return take_step(t, head);
    case TACHO_EVENT_COUNTER: return take_counter(t, head);
    case TACHO_EVENT_QUEUE: return take_queue(t, head);
    case TACHO_EVENT_FLOW: return take_flow(t, head);
    case TACHO_EVENT_ASYNC: return take_async(t, head);
    case TACHO_EVENT_MEMORY: return take_memory(t, head);
    case TACHO_EVENT_DEVICE: return take_device(t, head);
    case TACHO_EVENT_GPU: return take_gpu(t, head);
    case TACHO_EVENT_API: return take_api(t, head);
    case TACHO_EVENT_NODE: return take_node(t, head);
    case TACHO_EVENT_SAMPLING: return take_change(t, head);
    case TACHO_EVENT_SAMPLE: return take_sample(t, head);
    case TACHO_EVENT_STACK: t->stack = head->name; return OK;
    default: return OK; /* of a later version */
    }
}

/* ---- the thread -------------------------------------------------------------------------- */

static status begin_thread(thread_reader *t, uint32_t row) {
    recording *r = t->r;
    uint32_t known = map_get(&r->thread_of, row);
    t->row = row;
    t->tid = row;
    if (known != MAP_NONE) t->tid = VEC(&r->threads, recording_thread)[known].tid;
    t->track = part_track(t->part, (ident){.v = r->header.pid}, (ident){.v = t->tid});
    if (t->track == UINT32_MAX) return ERR_MEMORY;
    if (known == MAP_NONE) return OK;
    return part_label(t->part,
                      &(raw_label){.pid = {.v = r->header.pid},
                                   .tid = {.v = t->tid},
                                   .value = VEC(&r->threads, recording_thread)[known].name,
                                   .kind = LABEL_THREAD_NAME});
}

/* Flight recorder: what is older than asked for was kept only because there was room. Counted
 * from the last event: a program may take long to end after it. */
static bool is_too_old(const thread_reader *t) {
    uint64_t flight = t->r->header.flight_ns;
    return (t->r->header.flags & TACHO_FILE_FLIGHT) && flight < (uint64_t)INT64_MAX &&
           t->now < sub_i64(t->r->last_event_ns, (int64_t)flight);
}

/* When the event happened: device work is recorded later, by the helper. */
static int64_t time_of(const thread_reader *t, const tacho_slot *head) {
    tacho_gpu_slots gpu;
    tacho_api_slots api;
    tacho_device_slots device;
    tacho_memory_slots memory;
    size_t line = t->line;
    switch (head->what & 255) {
    case TACHO_EVENT_GPU:
        return payload(head, &gpu, sizeof gpu) ? recording_unix(t->r, gpu.start_ns) : t->now;
    case TACHO_EVENT_API:
        return payload(head, &api, sizeof api) ? recording_unix(t->r, api.start_ns) : t->now;
    case TACHO_EVENT_DEVICE:
        return payload(head, &device, sizeof device)
                   ? recording_ns(t->r, device.start_tick, &line)
                   : t->now;
    case TACHO_EVENT_MEMORY:
        return payload(head, &memory, sizeof memory) && memory.unix_ns > 0
                   ? recording_unix(t->r, memory.unix_ns)
                   : t->now;
    default: return t->now;
    }
}

/* A window was copied in complete chunks; time 0 is its beginning. */
static bool is_outside(const thread_reader *t, const tacho_slot *head) {
    if (!(t->r->header.flags & TACHO_FILE_WINDOW)) return false;
    int64_t time = time_of(t, head);
    return time < 0 || time > t->r->last_ns;
}

static status read_piece(thread_reader *t, const recording_piece *p) {
    for (uint32_t i = 0; i < p->n_slots;) {
        const tacho_slot *head = &p->slots[i];
        t->now = recording_ns(t->r, head->tick, &t->line);
        t->n++;
        part_count(t->part, 1, 0);
        if (!is_too_old(t) && !is_outside(t, head)) TRY(take_event(t, head));
        i += 1 + (head->what >> 8 & 255);
    }
    return OK;
}

status recording_read_thread(recording *r, const recording_piece *pieces, size_t n,
                             error *err) {
    thread_reader t = {.r = r, .part = r->part, .open = VEC_INIT(open_event)};
    status st = begin_thread(&t, pieces[0].row);
    for (size_t i = 0; i < n && st == OK; i++) {
        st = read_piece(&t, &pieces[i]);
        if (r->o->progress && st == OK && (i & 63) == 0 &&
            r->o->progress(r->o->progress_context,
                           (uint64_t)((const uint8_t *)pieces[i].slots - r->bytes), r->n_bytes))
            st = ERR_CANCELLED;
    }
    while (t.open.n && st == OK) {
        open_event e = VEC(&t.open, open_event)[--t.open.n];
        part_lost(t.part, CAUSE_UNMATCHED_BEGIN, NOPOS, recording_name(r, e.head->name));
        st = close_range(&t, &e, max_i64(t.now, r->last_ns), SLICE_UNFINISHED);
    }
    vec_fini(&t.open);
    buf_fini(&t.text);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
