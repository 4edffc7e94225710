/* paddle_pb.c: Paddle's protobuf trace.
 *
 *     NodeTreesProto    1 version  2 span  3 thread…  4 extra_info…  5 device…
 *       ThreadNodeTree  1 thread_id  2 host_node…
 *         HostNode      1 id  2 parent  3 event  4 runtime_node…  5 mem_node…  6 op_supplement…
 *
 * The two outermost messages are walked as a stream, so that a thread of any size needs no more
 * memory than its largest host node. Times are Unix times in nanoseconds. Node 0 of each thread
 * is a helper around everything; what hangs on it is taken, itself it is nothing. Types of
 * events that the published schema does not know are kept.
 *
 * Nodes come level by level, so an operator comes before its inner ranges: shapes and call
 * stack that Paddle 2.6 hangs on an inner range are handed up to the operator when they come.
 * Memory events get the range they were recorded in. Damage inside a node costs that node;
 * damage of the stream itself ends the file, and what was read is kept. */
#include "ingest/paddle/paddle_pb.h"

#include <stdio.h>

#include "base/num.h"
#include "ingest/paddle/paddle_facts.h"
#include "ingest/paddle/paddle_shapes.h"
#include "ingest/paddle/paddle_text.h"
#include "ingest/paddle/paddle_wire.h"

_Static_assert((int)WIRE_ROOM <= (int)SOURCE_PAD,
               "messages are read where the source has them");

enum { MAX_NODE_BYTES = 256 << 20, PIECE_BYTES = 1 << 20, MAX_HEAD = 20, TYPE_LIMIT = 64 };

/* By Paddle's numbers. */
static const struct {
    const char *name;
    uint8_t kind;
} TYPES[] = {
    {"Operator", KIND_OP},
    {"Dataloader", KIND_DATA},
    {"ProfileStep", KIND_STEP},
    {"CudaRuntime", KIND_RUNTIME},
    {"Kernel", KIND_KERNEL},
    {"Memcpy", KIND_MEMCPY},
    {"Memset", KIND_MEMSET},
    {"UserDefined", KIND_FRAMEWORK},
    {"OperatorInner", KIND_OP_PHASE},
    {"Forward", KIND_FORWARD},
    {"Backward", KIND_BACKWARD},
    {"Optimization", KIND_OPTIMIZER},
    {"Communication", KIND_COLLECTIVE},
    {"PythonOp", KIND_PYTHON},
    {"PythonUserDefined", KIND_ANNOTATION},
    {"DygraphKernelLaunch", KIND_OP_PHASE},
    {"StaticKernelLaunch", KIND_OP_PHASE},
};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES, TYPE_CUDA_RUNTIME = 3 };

enum { PLACE, INCREASE, FIRST_TOTAL, N_MEMORY_VALUES = FIRST_TOTAL + 4 };

/* The arguments of a memory event with and without a place: keys and tags are the same for all
 * events. */
typedef struct {
    bool known;
    raw_value with_place[N_MEMORY_VALUES], without[N_MEMORY_VALUES];
} memory_keys;

/* Where the last memory event was: nearly always where the next one is. */
typedef struct {
    str text; /* as the store keeps it */
    uint32_t id;
    uint8_t device_type;
    int32_t device;
} memory_place;

/* A name that was met before, by some of its bytes. */
enum { NAME_BITS = 8, N_NAMES = 1 << NAME_BITS };
typedef struct {
    str text; /* as the store keeps it */
    uint32_t id;
} known_name;

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    paddle_facts *facts;
    source *src;
    const ingest_options *o;
    uint16_t categories[TYPE_LIMIT]; /* row + 1 */
    vec ops;                         /* uint32_t by node id: raw slice + 1 of an operator */
    uint64_t n_memory;
    uint64_t n_read;
    uint64_t pid, tid; /* of the last event, and its track; UINT32_MAX: none yet */
    uint32_t track;
    wire_state wire;
    known_name names[N_NAMES];
    memory_keys keys;
    memory_place place;
    uint64_t offset; /* of the current field */
    bool failed;     /* out of memory */
    piece pc;
    const char *p;       /* the next byte of it */
    uint64_t thread_end; /* offset where the current thread ends, 0: between threads */
    bool at_end;
} reader;

/* One event of any kind: the fields we know. */
typedef struct {
    uint32_t name;
    uint64_t type, start, end, pid, tid;
} event_fields;

/* ---- helpers ---- */

static uint32_t add_string(reader *r, str s) {
    uint32_t id = intern_add(r->strings, s.p ? s : STR(""));
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

static uint64_t eight_bytes(const char *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Texts of the usual lengths, by words. */
enum { SHORTEST_WORDS = 8, LONGEST_WORDS = 64 };

static inline bool same_words(const char *p, const char *q, size_t n) {
    uint64_t differ = eight_bytes(p + n - 8) ^ eight_bytes(q + n - 8);
    for (size_t i = 0; i + 8 < n; i += 8) differ |= eight_bytes(p + i) ^ eight_bytes(q + i);
    return !differ;
}

static inline bool same_text(str a, str b) {
    if (a.n != b.n) return false;
    return a.n < SHORTEST_WORDS ? str_eq(a, b) : same_words(a.p, b.p, a.n);
}

WRAPS static uint64_t name_place(str s) {
    uint64_t key = eight_bytes(s.p) * 0x9e3779b97f4a7c15u ^ eight_bytes(s.p + s.n - 8);
    return key * 0xff51afd7ed558ccdu >> (64 - NAME_BITS);
}

/* The same for a name: a trace has few of them and each many times. Those of the usual
 * lengths are remembered, so that they can be compared by words. */
static uint32_t add_name(reader *r, str s) {
    if (s.n < SHORTEST_WORDS || s.n > LONGEST_WORDS) return add_string(r, s);
    known_name *at = &r->names[name_place(s)];
    if (at->text.n == s.n && same_words(s.p, at->text.p, s.n)) return at->id;
    uint32_t id = add_string(r, s);
    *at = (known_name){intern_get(r->strings, id), id};
    return id;
}

static uint16_t make_category(reader *r, uint64_t type) {
    char text[32] = "";
    str name = {text, 0};
    if (type < N_TYPES)
        name = str_of(TYPES[type].name);
    else
        name.n = (size_t)snprintf(text, sizeof text, "type %llu", (unsigned long long)type);
    if (type >= TYPE_LIMIT) return builder_category(r->b, add_string(r, name));
    if (!r->categories[type])
        r->categories[type] = (uint16_t)(builder_category(r->b, add_string(r, name)) + 1);
    return (uint16_t)(r->categories[type] - 1);
}

static inline uint16_t category_of(reader *r, uint64_t type) {
    if (type < TYPE_LIMIT && r->categories[type]) return (uint16_t)(r->categories[type] - 1);
    return make_category(r, type);
}

static uint8_t kind_of(uint64_t type) {
    return type < N_TYPES ? TYPES[type].kind : (uint8_t)KIND_OTHER;
}

static void lose(reader *r, cause why, bool dropped, uint32_t example) {
    part_lost(r->part, why, r->offset, example);
    if (dropped) part_count(r->part, 0, 1);
}

/* Start and duration; false when there is no such time, and that is counted. */
static bool set_times(reader *r, const event_fields *e, raw_slice *row) {
    static const uint64_t limit = (uint64_t)1 << 61;
    cause why = e->end < e->start ? CAUSE_NEGATIVE_DURATION
                : e->end >= limit ? CAUSE_NUMBER_RANGE
                                  : CAUSE_NONE;
    if (why != CAUSE_NONE) {
        lose(r, why, true, e->name);
        return false;
    }
    row->start = (int64_t)e->start;
    row->dur = (int64_t)(e->end - e->start);
    return true;
}

static uint32_t track_at(reader *r, uint64_t pid, uint64_t tid) {
    if (pid == r->pid && tid == r->tid && r->track != UINT32_MAX) return r->track;
    r->pid = pid;
    r->tid = tid;
    r->track = part_track(r->part, (ident){(int64_t)pid, false}, (ident){(int64_t)tid, false});
    r->failed |= r->track == UINT32_MAX;
    return r->track;
}

static status memory_status(const reader *r) {
    return r->failed ? ERR_MEMORY : OK;
}

/* ---- operators: shapes, types, call stack ---- */

/* {"X": [[1, 2]], …} out of keys and parallel lists; `inner` writes one list. */
static uint32_t read_lists(reader *r, str message, void (*inner)(buf *b, str list)) {
    buf text = {0};
    pb_reader keys = pb_open(message), lists = pb_open(message);
    pb_field key, list;
    bool first = true;
    buf_add_byte(&text, '{');
    while (pb_next(&keys, &key)) {
        if (key.tag != PB_BYTES(1)) continue;
        bool found = false;
        while (!found && pb_next(&lists, &list)) found = list.tag == PB_BYTES(2);
        if (!found) break;
        if (!first) buf_add_cstr(&text, ", ");
        first = false;
        buf_add_json(&text, pb_bytes(&key));
        buf_add_cstr(&text, ": ");
        inner(&text, pb_bytes(&list));
    }
    buf_add_byte(&text, '}');
    r->failed |= !buf_ok(&text);
    uint32_t id = first || r->failed ? 0 : add_string(r, buf_str(&text));
    buf_fini(&text);
    return id;
}

static uint32_t read_stack(reader *r, str text) {
    buf b = {0};
    paddle_stack(text, &b);
    r->failed |= !buf_ok(&b);
    uint32_t id = b.n && !r->failed ? add_string(r, buf_str(&b)) : 0;
    buf_fini(&b);
    return id;
}

/* op_supplement_nodes: what is known of the operator is added to its row. */
static void read_supplement(reader *r, str message, raw_op *op) {
    pb_reader outer = pb_open(message);
    pb_field f;
    while (pb_next(&outer, &f)) {
        if (f.tag != PB_BYTES(1)) continue;
        pb_reader inner = pb_open(pb_bytes(&f));
        pb_field g;
        while (pb_next(&inner, &g)) {
            str bytes = pb_bytes(&g);
            if (g.tag == PB_BYTES(5) && !op->shapes)
                op->shapes = read_lists(r, bytes, paddle_put_shapes);
            if (g.tag == PB_BYTES(6) && !op->types)
                op->types = read_lists(r, bytes, paddle_put_types);
            if (g.tag == PB_BYTES(7) && !op->call_stack) op->call_stack = read_stack(r, bytes);
        }
    }
}

/* ---- memory ---- */

/* The arguments of memory events have the same keys throughout: they are looked up once. */
static status find_keys(reader *r) {
    static const char *const names[N_MEMORY_VALUES] = {
        "place",          "increase_bytes", "current_allocated", "current_reserved",
        "peak_allocated", "peak_reserved"};
    uint32_t with = 0, without = 0;
    for (int i = 0; i < N_MEMORY_VALUES; i++) {
        uint32_t id = add_string(r, str_of(names[i]));
        TRY(memory_status(r));
        with = builder_shape(r->b, with, id);
        if (i != PLACE) without = builder_shape(r->b, without, id);
        if (!with || (i != PLACE && !without)) return ERR_MEMORY;
        uint8_t tag = i == PLACE ? VALUE_STRING : VALUE_INT;
        r->keys.with_place[i] = (raw_value){.place = with, .tag = tag};
        r->keys.without[i] = (raw_value){.place = without, .tag = tag};
    }
    r->keys.known = true;
    return OK;
}

static status find_place(reader *r, str place) {
    memory_place at = {.id = add_string(r, place), .device = ABSENT_I32};
    TRY(memory_status(r));
    at.device_type = DEVICE_UNKNOWN;
    at.text = intern_get(r->strings, at.id);
    if (at.id) TRY(paddle_find_place(r->facts, at.id, &at.device_type, &at.device));
    r->place = at;
    return OK;
}

/* What no column holds, as a record. */
static uint32_t put_memory_arguments(reader *r, const wire_memory *m) {
    raw_value *values = m->place.p ? r->keys.with_place : r->keys.without;
    values[PLACE].v = r->place.id;
    values[INCREASE].v = (int64_t)m->increase;
    for (int i = 0; i < 4; i++) values[FIRST_TOTAL + i].v = sat_i64(m->totals[i]);
    int first = m->place.p ? PLACE : INCREASE;
    return part_args(r->part, values + first, (size_t)(N_MEMORY_VALUES - first));
}

/* The range of a node that memory events hang on. */
typedef struct {
    bool taken; /* it is a slice */
    uint32_t name;
    int64_t start;
} node_range;

static status take_memory(reader *r, str message, const node_range *owner) {
    static const uint8_t kinds[] = {MEMORY_ALLOC, MEMORY_FREE, MEMORY_SEGMENT_ALLOC,
                                    MEMORY_SEGMENT_FREE};
    wire_memory f;
    bool whole = r->wire.read_memory(message, &r->wire, &f);
    r->n_read++;
    if (!whole || f.time >= (uint64_t)1 << 61) {
        lose(r, whole ? CAUSE_NUMBER_RANGE : CAUSE_BAD_SYNTAX, true, 0);
        return OK;
    }
    if (!r->keys.known) TRY(find_keys(r));
    if (f.place.p && !same_text(f.place, r->place.text)) TRY(find_place(r, f.place));
    const uint32_t track = track_at(r, f.pid, f.tid);
    TRY(memory_status(r));
    const uint32_t args = put_memory_arguments(r, &f);
    raw_memory *m = part_memory_room(r->part);
    if (!m) return ERR_MEMORY;
    *m = (raw_memory){.time = (int64_t)f.time,
                      .address = f.address,
                      .bytes = (int64_t)f.increase,
                      .allocated = sat_i64(f.totals[0]),
                      .reserved = sat_i64(f.totals[1]),
                      .track = track,
                      .args = args,
                      .tie = sat_u32(++r->n_memory),
                      .device = f.place.p ? r->place.device : ABSENT_I32,
                      .device_type = f.place.p ? r->place.device_type : (uint8_t)DEVICE_UNKNOWN,
                      .kind = f.type < 4 ? kinds[f.type] : (uint8_t)MEMORY_ALLOC,
                      .has_owner = owner->taken,
                      .owner_name = owner->name,
                      .owner_start = owner->start};
    return OK;
}

/* ---- device work and runtime calls ---- */

static void read_kernel_info(str message, raw_kernel *k) {
    uint64_t shared = 0;
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        switch (f.tag) {
        case PB_VARINT(1):
        case PB_VARINT(2):
        case PB_VARINT(3): k->block[(f.tag >> 3) - 1] = sat_u32(f.v); break;
        case PB_VARINT(4):
        case PB_VARINT(5):
        case PB_VARINT(6): k->grid[(f.tag >> 3) - 4] = sat_u32(f.v); break;
        case PB_VARINT(7):
        case PB_VARINT(8): shared += (uint32_t)f.v; break;
        case PB_VARINT(9): k->registers = sat_i32((int64_t)(f.v & 0x7fffffff)); break;
        case PB_TAG(15, WIRE_FIXED32): k->blocks_per_sm = pb_float(&f); break;
        case PB_TAG(17, WIRE_FIXED32): k->occupancy = pb_float(&f); break;
        default: break;
        }
    }
    k->shared_memory = (int64_t)shared;
}

/* A copy or a set: how many bytes. */
static void read_copy_info(str message, raw_kernel *k) {
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f))
        if (f.tag == PB_VARINT(1)) k->bytes = sat_i64(f.v);
}

/* DeviceTraceEventProto; false when it is damaged. */
static bool read_work(reader *r, str message, event_fields *e, raw_kernel *k) {
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        switch (f.tag) {
        case PB_BYTES(1): e->name = add_string(r, pb_bytes(&f)); break;
        case PB_VARINT(2): e->type = f.v; break;
        case PB_VARINT(3): e->start = f.v; break;
        case PB_VARINT(4): e->end = f.v; break;
        case PB_VARINT(5): e->pid = f.v; break; /* the device */
        case PB_VARINT(6): k->context = sat_i64(f.v); break;
        case PB_VARINT(7): e->tid = f.v; break; /* the stream */
        case PB_VARINT(8): k->correlation = sat_i64(f.v); break;
        case PB_BYTES(9): read_kernel_info(pb_bytes(&f), k); break;
        case PB_BYTES(10):
        case PB_BYTES(11): read_copy_info(pb_bytes(&f), k); break;
        default: break;
        }
    }
    return !in.damaged;
}

static status take_work(reader *r, str message) {
    event_fields e = {0};
    raw_kernel k = RAW_KERNEL_NONE;
    bool whole = read_work(r, message, &e, &k);
    raw_slice row = {.name = e.name, .kind = kind_of(e.type)};
    r->n_read++;
    if (!whole) lose(r, CAUSE_BAD_SYNTAX, true, e.name);
    if (!whole || !set_times(r, &e, &row)) return OK;
    k.device = sat_i32(sat_i64(e.pid));
    k.stream = sat_i64(e.tid);
    row.category = category_of(r, e.type);
    row.track = track_at(r, e.pid, e.tid);
    row.tie = (uint32_t)k.correlation;
    TRY(memory_status(r));
    if (!kind_is_device(row.kind))
        row.kind = KIND_KERNEL; /* whatever it is, it is on a device */
    TRY(part_kernel(r->part, &k, &row));
    return part_slice(r->part, &row);
}

static status take_call(reader *r, str message) {
    event_fields e = {0};
    raw_call call = {.correlation = ABSENT_I64, .external = ABSENT_I64};
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        switch (f.tag) {
        case PB_BYTES(1): e.name = add_string(r, pb_bytes(&f)); break;
        case PB_VARINT(2): e.start = f.v; break;
        case PB_VARINT(3): e.end = f.v; break;
        case PB_VARINT(4): e.pid = f.v; break;
        case PB_VARINT(5): e.tid = f.v; break;
        case PB_VARINT(6): call.correlation = sat_i64(f.v); break;
        default: break;
        }
    }
    raw_slice row = {.name = e.name, .kind = KIND_RUNTIME};
    r->n_read++;
    if (in.damaged) lose(r, CAUSE_BAD_SYNTAX, true, e.name);
    if (in.damaged || !set_times(r, &e, &row)) return OK;
    row.category = category_of(r, TYPE_CUDA_RUNTIME);
    row.track = track_at(r, e.pid, e.tid);
    row.tie = (uint32_t)call.correlation;
    TRY(memory_status(r));
    TRY(part_call(r->part, &call, &row));
    return part_slice(r->part, &row);
}

static status take_runtime_node(reader *r, str message) {
    pb_reader in = pb_open(message);
    pb_field f, g;
    while (pb_next(&in, &f)) {
        if (f.tag == PB_BYTES(1)) TRY(take_call(r, pb_bytes(&f)));
        if (f.tag != PB_BYTES(2)) continue;
        pb_reader node = pb_open(pb_bytes(&f));
        while (pb_next(&node, &g))
            if (g.tag == PB_BYTES(1)) TRY(take_work(r, pb_bytes(&g)));
    }
    if (in.damaged) lose(r, CAUSE_BAD_SYNTAX, false, 0);
    return OK;
}

/* ---- host nodes ---- */

/* Remembers the raw slice of a node that is an operator. */
static void set_op(reader *r, uint64_t id, uint64_t slice) {
    if (id > r->ops.n + 65536) return; /* ids are positions; anything else is not an id */
    while (r->ops.n <= id) {
        uint32_t *at = vec_push(&r->ops);
        if (!at) {
            r->failed = true;
            return;
        }
        *at = 0;
    }
    VEC(&r->ops, uint32_t)[id] = sat_u32(slice + 1); /* more rows than that are refused */
}

/* What hangs on a node is known of it when it is an operator, or of the operator around it.
 * Operators have a row of their own only when there is something to keep. */
static status take_supplement(reader *r, const wire_node *h, uint8_t kind, uint32_t *extra) {
    raw_op op = {.external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    pb_reader fields = pb_open(h->rest);
    pb_field f;
    while (pb_next(&fields, &f))
        if (f.tag == PB_BYTES(6)) read_supplement(r, pb_bytes(&f), &op);
    TRY(memory_status(r));
    if (kind == KIND_OP) {
        raw_slice row = {0};
        status st = part_op(r->part, &op, &row);
        *extra = row.extra;
        return st;
    }
    uint64_t parent = wire_number(h->parent);
    uint32_t around = parent < r->ops.n ? VEC(&r->ops, uint32_t)[parent] : 0;
    if (!around || kind != KIND_OP_PHASE) return OK;
    raw_slice *outer = part_slice_at(r->part, around - 1);
    if (!outer->extra) return part_op(r->part, &op, outer);
    raw_op *known = part_op_at(r->part, outer->extra - 1);
    if (!known->shapes) known->shapes = op.shapes;
    if (!known->types) known->types = op.types;
    if (!known->call_stack) known->call_stack = op.call_stack;
    return OK;
}

/* The range of a node; left as it is when there is none (the root, or damaged). */
static status take_range(reader *r, const wire_node *h, node_range *out) {
    wire_range f;
    raw_slice row;
    bool whole = r->wire.read_range(h->event, &r->wire, &f);
    event_fields e = {add_name(r, f.name), f.type, f.start, f.end, f.pid, f.tid};
    r->n_read++;
    if (!whole) lose(r, CAUSE_BAD_SYNTAX, true, e.name);
    if (!whole || !set_times(r, &e, &row)) return memory_status(r);
    const uint8_t kind = kind_of(e.type);
    const uint16_t category = category_of(r, e.type);
    const uint32_t track = track_at(r, e.pid, e.tid);
    uint32_t extra = 0;
    TRY(memory_status(r));
    if (h->has_supplement) TRY(take_supplement(r, h, kind, &extra));
    if (kind == KIND_OP) set_op(r, wire_number(h->id), part_next_slice(r->part));
    TRY(memory_status(r));
    raw_slice *to = part_slice_room(r->part, track, row.start);
    if (!to) return ERR_MEMORY;
    *to = (raw_slice){.start = row.start,
                      .dur = row.dur,
                      .name = e.name,
                      .track = track,
                      .extra = extra,
                      .category = category,
                      .kind = kind};
    *out = (node_range){.taken = true, .name = e.name, .start = row.start};
    return OK;
}

/* The memory events of a node: nearly always one, whose length is one byte. */
static status take_memories(reader *r, str message, const node_range *owner) {
    const char *p = message.p;
    if (message.n > 2 && (uint8_t)p[0] == PB_BYTES(1) && (uint8_t)p[1] < 0x80 &&
        (uint8_t)p[1] + (size_t)2 == message.n)
        return take_memory(r, str_from(message, 2), owner);
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f))
        if (f.tag == PB_BYTES(1)) TRY(take_memory(r, pb_bytes(&f), owner));
    return OK;
}

/* What hangs on a node, which is whole; memory events by the hundred on some. */
static status take_children(reader *r, str rest, const node_range *owner) {
    pb_reader in = pb_open(rest);
    pb_field f;
    for (;;) {
        size_t n;
        const char *p =
            in.p < in.end && (uint8_t)*in.p == PB_BYTES(5) ? wire_length(in.p + 1, &n) : NULL;
        if (p && p <= in.end && n <= (size_t)(in.end - p)) {
            in.p = p + n;
            TRY(take_memories(r, str_n(p, n), owner));
            continue;
        }
        if (!pb_next(&in, &f)) return memory_status(r);
        if (f.tag == PB_BYTES(4)) TRY(take_runtime_node(r, pb_bytes(&f)));
        if (f.tag == PB_BYTES(5)) TRY(take_memories(r, pb_bytes(&f), owner));
    }
}

static status take_node(reader *r, str message) {
    node_range range = {.taken = false};
    wire_node h;
    if (!wire_read_node(message, &r->wire, &h)) {
        lose(r, CAUSE_BAD_SYNTAX, true, 0);
        r->n_read++;
        return OK;
    }
    if (h.event.p && !h.is_root) TRY(take_range(r, &h, &range));
    return h.rest.p ? take_children(r, h.rest, &range) : OK;
}

/* ---- facts ---- */

static status take_extra(reader *r, str message, error *err) {
    str key = STR_NONE, value = STR_NONE;
    pb_reader in = pb_open(message);
    pb_field f;
    int64_t thread;
    while (pb_next(&in, &f)) {
        if (f.tag == PB_BYTES(1)) key = pb_bytes(&f);
        if (f.tag == PB_BYTES(2)) value = pb_bytes(&f);
    }
    if (!key.p || !value.p || str_to_i64(key, &thread)) return OK; /* the name of a thread */
    buf text = {0};
    buf_add_json(&text, value);
    r->failed |= !buf_ok(&text);
    uint32_t key_id = add_string(r, key),
             value_id = r->failed ? 0 : add_string(r, buf_str(&text));
    buf_fini(&text);
    if (r->failed) FAIL_MEMORY(err);
    return builder_add_meta(r->b, key_id, value_id, err);
}

static status take_device(reader *r, str message, error *err) {
    raw_device d = RAW_DEVICE_NONE;
    d.type = DEVICE_CUDA;
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        int32_t v = sat_i32(sat_i64(f.v));
        switch (f.tag) {
        case PB_VARINT(1): d.id = v; break;
        case PB_BYTES(2): d.name = add_string(r, pb_bytes(&f)); break;
        case PB_VARINT(3): d.memory = sat_i64(f.v); break;
        case PB_VARINT(4): d.compute_major = v; break;
        case PB_VARINT(5): d.compute_minor = v; break;
        case PB_VARINT(7): d.threads_per_sm = v; break;
        case PB_VARINT(10): d.warp_size = v; break;
        case PB_VARINT(13): d.sm_count = v; break;
        default: break;
        }
    }
    if (r->failed) FAIL_MEMORY(err);
    return builder_add_device(r->b, &d, err);
}

static status take_text(reader *r, const char *key, str json, error *err) {
    uint32_t key_id = add_string(r, str_of(key)), value = add_string(r, json);
    if (r->failed) FAIL_MEMORY(err);
    return builder_add_meta(r->b, key_id, value, err);
}

static status take_root(reader *r, const pb_field *f, error *err) {
    char text[48];
    if (f->tag == PB_BYTES(1) && f->v < 20) {
        snprintf(text, sizeof text, "\"%.*s\"", STR_ARG(pb_bytes(f)));
        return take_text(r, "schemaVersion", str_of(text), err);
    }
    if (f->tag == PB_VARINT(2)) {
        snprintf(text, sizeof text, "\"%llu\"", (unsigned long long)f->v);
        return take_text(r, "span_indx", str_of(text), err);
    }
    if (f->tag == PB_BYTES(4)) return take_extra(r, pb_bytes(f), err);
    return f->tag == PB_BYTES(5) ? take_device(r, pb_bytes(f), err) : OK;
}

/* ---- the stream ---- */

static size_t left(const reader *r) {
    return (size_t)(r->pc.p + r->pc.n - r->p);
}

/* Makes at least n bytes available, or all there are. */
static status fill(reader *r, size_t n, error *err) {
    while (left(r) < n && !r->at_end) {
        piece next;
        size_t keep = left(r), want = keep > PIECE_BYTES ? keep : PIECE_BYTES;
        if (r->o->piece_bytes) want = r->o->piece_bytes;
        TRY(source_next(r->src, want, keep, &next, err));
        if (next.n == 0) {
            r->at_end = true;
            break;
        }
        source_release(r->src, &r->pc);
        r->pc = next;
        r->p = next.p;
        if (r->o->progress &&
            r->o->progress(r->o->progress_context, source_bytes_consumed(r->src),
                           source_file_bytes(r->src)))
            FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
        uint64_t limit = r->o->memory_limit_bytes;
        if (limit && builder_size_bytes(r->b) > limit)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    }
    return OK;
}

static uint64_t here(const reader *r) {
    return r->pc.offset + (uint64_t)(r->p - r->pc.p);
}

static void leave_thread(reader *r) {
    if (here(r) >= r->thread_end) r->thread_end = 0;
}

/* The nodes of a thread in the current piece; next_field reads everything else. */
static status take_nodes(reader *r, error *err) {
    const char *end = r->pc.p + r->pc.n;
    if (r->thread_end < r->pc.offset + r->pc.n) end = r->pc.p + (r->thread_end - r->pc.offset);
    while (r->p < end && *r->p == PB_BYTES(2)) {
        size_t n;
        const char *p = wire_length(r->p + 1, &n);
        if (!p || p > end || n > (size_t)(end - p)) break;
        r->offset = here(r);
        r->p = p + n;
        if (take_node(r, str_n(p, n)) != OK) FAIL_MEMORY(err);
    }
    return OK;
}

/* A field of any size at the cursor, where p is the end of its head. */
static status take_field(reader *r, pb_field *f, bool *more, error *err) {
    if ((f->tag & 7) == WIRE_BYTES) {
        bool fits = f->v <= MAX_NODE_BYTES;
        if (fits) TRY(fill(r, (size_t)f->v, err));
        if (!fits || left(r) < f->v) {
            lose(r, fits ? CAUSE_TRUNCATED : CAUSE_BAD_SYNTAX, false, 0);
            *more = false;
            return OK;
        }
        f->p = r->p;
        r->p += f->v;
    }
    if (!r->thread_end) return take_root(r, f, err);
    if (f->tag == PB_BYTES(2) && take_node(r, pb_bytes(f)) != OK) FAIL_MEMORY(err);
    return OK;
}

/* The next field of the stream, or all nodes of the piece; *more is false when there is
 * none. */
static status next_field(reader *r, bool *more, error *err) {
    pb_field f;
    bool cut;
    *more = false;
    leave_thread(r);
    if (r->thread_end) TRY(take_nodes(r, err));
    leave_thread(r);
    TRY(fill(r, MAX_HEAD, err));
    r->offset = here(r);
    if (left(r) == 0) return OK;
    const char *p = pb_head(r->p, r->pc.p + r->pc.n, &f, &cut);
    if (!p) {
        lose(r, cut ? CAUSE_TRUNCATED : CAUSE_BAD_SYNTAX, false, 0);
        return OK;
    }
    r->p = p;
    *more = true;
    if (r->thread_end || f.tag != PB_BYTES(3)) return take_field(r, &f, more, err);
    r->thread_end = f.v > UINT64_MAX / 2 ? UINT64_MAX / 2 : here(r) + f.v; /* go inside */
    r->ops.n = 0;
    return OK;
}

/* Bytes of the file for each row, on the safe side of what traces have. */
enum { BYTES_A_SLICE = 80, BYTES_A_MEMORY = 200 };

static status read_all(reader *r, error *err) {
    bool more = true;
    uint64_t size = source_file_bytes(r->src);
    part_expect(r->part, size / BYTES_A_SLICE, size / BYTES_A_MEMORY);
    while (more) TRY(next_field(r, &more, err));
    uint64_t read = here(r);
    if (source_damaged(r->src)) part_lost(r->part, CAUSE_STREAM_DAMAGED, read, 0);
    if (read == 0) FAIL0(err, ERR_FORMAT, 0, MSG_EMPTY_FILE);
    part_count(r->part, r->n_read, 0);
    part_finish(r->part);
    builder_set_input_bytes(r->b, read);
    builder_set_format(r->b, "paddle");
    builder_set_memory_in_ranges(r->b, true);
    return paddle_facts_finish(r->b, &r->facts, 1, err);
}

status ingest_paddle_pb(source *src, const ingest_options *o, builder *b, error *err) {
    reader r = {.b = b,
                .o = o,
                .src = src,
                .strings = builder_strings(b),
                .ops = VEC_INIT(uint32_t),
                .track = UINT32_MAX,
                .place = {.device_type = DEVICE_UNKNOWN, .device = ABSENT_I32},
                .pc = {.p = ""},
                .p = ""};
    r.part = builder_part(b);
    wire_init(&r.wire);
    r.facts = paddle_facts_new(b, r.part);
    status st = r.facts ? read_all(&r, err)
                        : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    source_release(src, &r.pc);
    paddle_facts_free(r.facts);
    vec_fini(&r.ops);
    return st;
}
