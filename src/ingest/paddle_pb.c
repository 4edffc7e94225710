/* paddle_pb.c: Paddle's protobuf trace.
 *
 *     NodeTreesProto     1 version  2 span  3 thread…  4 extra_info…  5 device…
 *       ThreadNodeTree   1 thread_id  2 host_node…
 *         HostNode       1 id  2 parent  3 event  4 runtime_node…  5 mem_node…  6 op_supplement…
 *
 * The two outermost messages are walked as a stream, so that a thread of any size needs no more memory
 * than its largest host node. Times are Unix times in nanoseconds. Node 0 of each thread is a helper
 * around everything; what hangs on it is taken, itself it is nothing. Types of events that the
 * published schema does not know are kept.
 *
 * Nodes come level by level, so an operator comes before its inner ranges: shapes and call stack that
 * Paddle 2.6 hangs on an inner range are handed up to the operator when they come. Memory events are
 * told which range they were recorded in. Damage inside a node costs that node; damage of the stream
 * itself ends the file, and what was read is kept. */
#include "ingest/paddle_pb.h"

#include <stdio.h>

#include "base/num.h"
#include "ingest/paddle_facts.h"
#include "ingest/paddle_text.h"
#include "ingest/protobuf.h"

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

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    paddle_facts *facts;
    source *src;
    const ingest_options *o;
    uint16_t categories[TYPE_LIMIT]; /* row + 1 */
    vec ops;                         /* uint32_t by node id of the thread: its op row */
    uint64_t thread_id;
    uint64_t n_memory;
    uint64_t offset; /* of the field at hand */
    bool failed;     /* out of memory */
    piece pc;
    const char *p;       /* the next byte of it */
    uint64_t thread_end; /* offset where the thread at hand ends, 0: between threads */
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

static uint16_t category_of(reader *r, uint64_t type) {
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
    uint32_t track =
        part_track(r->part, (ident){(int64_t)pid, false}, (ident){(int64_t)tid, false});
    r->failed |= track == UINT32_MAX;
    return track;
}

static status memory_status(const reader *r) {
    return r->failed ? ERR_MEMORY : OK;
}

/* ---- arguments ---- */

typedef struct {
    raw_value values[16];
    size_t n;
} arguments;

static void add_argument(reader *r, arguments *a, const char *key, uint8_t tag, int64_t v) {
    uint32_t last = a->n ? a->values[a->n - 1].place : 0, id = add_string(r, str_of(key));
    uint32_t place = r->failed ? 0 : builder_shape(r->b, last, id);
    r->failed |= !place;
    if (place && a->n < sizeof a->values / sizeof *a->values)
        a->values[a->n++] = (raw_value){.place = place, .tag = tag, .v = v};
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
        if (key.number != 1 || key.wire != WIRE_BYTES) continue;
        bool found = false;
        while (!found && pb_next(&lists, &list))
            found = list.number == 2 && list.wire == WIRE_BYTES;
        if (!found) break;
        if (!first) buf_add_cstr(&text, ", ");
        first = false;
        buf_add_json(&text, key.bytes);
        buf_add_cstr(&text, ": ");
        inner(&text, list.bytes);
    }
    buf_add_byte(&text, '}');
    r->failed |= !buf_ok(&text);
    uint32_t id = first || r->failed ? 0 : add_string(r, buf_str(&text));
    buf_fini(&text);
    return id;
}

static void put_size(buf *b, uint64_t v, bool first) {
    if (!first) buf_add_cstr(b, ", ");
    buf_add_i64(b, (int64_t)v); /* negative dimensions are their two's complement */
}

/* One shape; sizes stand one by one or packed. */
static void put_shape(buf *b, str message) {
    pb_reader r = pb_open(message);
    pb_field f;
    bool first = true;
    buf_add_byte(b, '[');
    while (pb_next(&r, &f)) {
        if (f.number != 1) continue;
        if (f.wire == WIRE_VARINT) put_size(b, f.v, first);
        const char *p = f.bytes.p, *end = p ? p + f.bytes.n : p;
        while (f.wire == WIRE_BYTES && p < end) {
            uint64_t v = 0;
            for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
                v |= (uint64_t)((uint8_t)*p & 0x7f) << shift;
                if ((uint8_t)*p++ < 0x80) break;
            }
            put_size(b, v, first);
            first = false;
        }
        first = false;
    }
    buf_add_byte(b, ']');
}

/* The list of what stands in the fields numbered 1, each written by `put`. */
static void put_list(buf *b, str message, void (*put)(buf *b, str value)) {
    pb_reader r = pb_open(message);
    pb_field f;
    bool first = true;
    buf_add_byte(b, '[');
    while (pb_next(&r, &f)) {
        if (f.number != 1 || f.wire != WIRE_BYTES) continue;
        if (!first) buf_add_cstr(b, ", ");
        first = false;
        put(b, f.bytes);
    }
    buf_add_byte(b, ']');
}

static void put_shapes(buf *b, str message) {
    put_list(b, message, put_shape);
}

static void put_types(buf *b, str message) {
    put_list(b, message, buf_add_json);
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
        if (f.number != 1 || f.wire != WIRE_BYTES) continue;
        pb_reader inner = pb_open(f.bytes);
        pb_field g;
        while (pb_next(&inner, &g)) {
            if (g.wire != WIRE_BYTES) continue;
            if (g.number == 5 && !op->shapes) op->shapes = read_lists(r, g.bytes, put_shapes);
            if (g.number == 6 && !op->types) op->types = read_lists(r, g.bytes, put_types);
            if (g.number == 7 && !op->call_stack) op->call_stack = read_stack(r, g.bytes);
        }
    }
}

/* ---- memory ---- */

static status take_memory(reader *r, str message, const raw_slice *owner) {
    static const uint8_t kinds[] = {MEMORY_ALLOC, MEMORY_FREE, MEMORY_SEGMENT_ALLOC,
                                    MEMORY_SEGMENT_FREE};
    static const char *const keys[] = {"current_allocated", "current_reserved",
                                       "peak_allocated", "peak_reserved"};
    uint64_t v[12] = {0};
    str place = STR_NONE;
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        if (f.number < 12 && f.wire == WIRE_VARINT) v[f.number] = f.v;
        if (f.number == 7 && f.wire == WIRE_BYTES) place = f.bytes;
    }
    part_count(r->part, 1, 0);
    if (in.damaged || v[1] >= (uint64_t)1 << 61) {
        lose(r, in.damaged ? CAUSE_BAD_SYNTAX : CAUSE_NUMBER_RANGE, true, 0);
        return OK;
    }
    raw_memory m = {.time = (int64_t)v[1],
                    .address = v[3],
                    .bytes = (int64_t)v[6],
                    .allocated = sat_i64(v[8]),
                    .reserved = sat_i64(v[9]),
                    .track = track_at(r, v[4], v[5]),
                    .tie = sat_u32(++r->n_memory),
                    .device = ABSENT_I32,
                    .device_type = DEVICE_UNKNOWN,
                    .kind = v[2] < 4 ? kinds[v[2]] : (uint8_t)MEMORY_ALLOC};
    if (owner) {
        m.has_owner = true;
        m.owner_start = owner->start;
        m.owner_name = owner->name;
    }
    arguments a = {.n = 0};
    uint32_t place_id = place.p ? add_string(r, place) : 0;
    if (place.p) add_argument(r, &a, "place", VALUE_STRING, place_id);
    add_argument(r, &a, "increase_bytes", VALUE_INT, m.bytes);
    for (int i = 0; i < 4; i++) add_argument(r, &a, keys[i], VALUE_INT, sat_i64(v[8 + i]));
    TRY(memory_status(r));
    m.args = part_args(r->part, a.values, a.n);
    if (place_id) TRY(paddle_find_place(r->facts, place_id, &m.device_type, &m.device));
    return part_memory(r->part, &m);
}

/* ---- device work and runtime calls ---- */

static void read_kernel_info(str message, raw_kernel *k) {
    uint64_t shared = 0;
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        if (f.number >= 1 && f.number <= 3) k->block[f.number - 1] = sat_u32(f.v);
        if (f.number >= 4 && f.number <= 6) k->grid[f.number - 4] = sat_u32(f.v);
        if (f.number == 7 || f.number == 8) shared += (uint32_t)f.v;
        if (f.number == 9) k->registers = sat_i32((int64_t)(f.v & 0x7fffffff));
        if (f.number == 15 && f.wire == WIRE_FIXED32) k->blocks_per_sm = pb_float(&f);
        if (f.number == 17 && f.wire == WIRE_FIXED32) k->occupancy = pb_float(&f);
    }
    k->shared_memory = (int64_t)shared;
}

static status take_work(reader *r, str message) {
    event_fields e = {0};
    raw_kernel k = RAW_KERNEL_NONE;
    uint64_t device = 0, stream = 0;
    pb_reader in = pb_open(message);
    pb_field f, g;
    while (pb_next(&in, &f)) {
        if (f.number == 1 && f.wire == WIRE_BYTES) e.name = add_string(r, f.bytes);
        if (f.number == 2) e.type = f.v;
        if (f.number == 3) e.start = f.v;
        if (f.number == 4) e.end = f.v;
        if (f.number == 5) device = f.v;
        if (f.number == 6) k.context = sat_i64(f.v);
        if (f.number == 7) stream = f.v;
        if (f.number == 8) k.correlation = sat_i64(f.v);
        if (f.number == 9 && f.wire == WIRE_BYTES) read_kernel_info(f.bytes, &k);
        if ((f.number == 10 || f.number == 11) && f.wire == WIRE_BYTES) {
            pb_reader info = pb_open(f.bytes);
            while (pb_next(&info, &g))
                if (g.number == 1 && g.wire == WIRE_VARINT) k.bytes = sat_i64(g.v);
        }
    }
    raw_slice row = {.name = e.name, .kind = kind_of(e.type)};
    part_count(r->part, 1, 0);
    if (in.damaged) lose(r, CAUSE_BAD_SYNTAX, true, e.name);
    if (in.damaged || !set_times(r, &e, &row)) return OK;
    k.device = sat_i32(sat_i64(device));
    k.stream = sat_i64(stream);
    row.category = category_of(r, e.type);
    row.track = track_at(r, device, stream);
    row.tie = (uint32_t)k.correlation;
    TRY(memory_status(r));
    if (!kind_is_device(row.kind))
        row.kind = KIND_KERNEL; /* whatever it is, it is on a device */
    TRY(part_kernel(r->part, &k, &row));
    return part_slice(r->part, &row);
}

/* name, start, end, process, thread: the same in both host events, `shift` fields later in one. */
static void read_host_field(reader *r, const pb_field *f, uint32_t shift, event_fields *e) {
    uint32_t n = f->number;
    if (n == 1 && f->wire == WIRE_BYTES) e->name = add_string(r, f->bytes);
    if (f->wire != WIRE_VARINT) return;
    if (n == 2 + shift) e->start = f->v;
    if (n == 3 + shift) e->end = f->v;
    if (n == 4 + shift) e->pid = f->v;
    if (n == 5 + shift) e->tid = f->v;
}

static status take_call(reader *r, str message) {
    event_fields e = {0};
    raw_call call = {.correlation = ABSENT_I64, .external = ABSENT_I64};
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        read_host_field(r, &f, 0, &e);
        if (f.number == 6 && f.wire == WIRE_VARINT) call.correlation = sat_i64(f.v);
    }
    raw_slice row = {.name = e.name, .kind = KIND_RUNTIME};
    part_count(r->part, 1, 0);
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
        if (f.wire != WIRE_BYTES) continue;
        if (f.number == 1) TRY(take_call(r, f.bytes));
        if (f.number != 2) continue;
        pb_reader node = pb_open(f.bytes);
        while (pb_next(&node, &g))
            if (g.number == 1 && g.wire == WIRE_BYTES) TRY(take_work(r, g.bytes));
    }
    if (in.damaged) lose(r, CAUSE_BAD_SYNTAX, false, 0);
    return OK;
}

/* ---- host nodes ---- */

typedef struct {
    uint64_t id, parent;
    str event;
} node_head;

static node_head read_head(str message, bool *damaged) {
    node_head h = {.parent = UINT64_MAX};
    pb_reader in = pb_open(message);
    pb_field f;
    while (pb_next(&in, &f)) {
        if (f.number == 1 && f.wire == WIRE_VARINT) h.id = f.v;
        if (f.number == 2 && f.wire == WIRE_VARINT) h.parent = f.v;
        if (f.number == 3 && f.wire == WIRE_BYTES) h.event = f.bytes;
    }
    *damaged = in.damaged;
    return h;
}

/* Remembers the op row of a node; 0 = none. */
static void set_op(reader *r, uint64_t id, uint32_t row) {
    if (id > r->ops.n + 65536) return; /* ids are positions; anything else is no id */
    while (r->ops.n <= id) {
        uint32_t *at = vec_push(&r->ops);
        if (!at) {
            r->failed = true;
            return;
        }
        *at = 0;
    }
    VEC(&r->ops, uint32_t)[id] = row;
}

/* The range of a node; false when it is none (the root, or damaged). */
static status take_range(reader *r, const node_head *h, str node, raw_slice *row, bool *taken) {
    event_fields e = {0};
    pb_reader in = pb_open(h->event);
    pb_field f;
    while (pb_next(&in, &f)) {
        if (f.number == 2 && f.wire == WIRE_VARINT) e.type = f.v;
        read_host_field(r, &f, 1, &e);
    }
    part_count(r->part, 1, 0);
    if (in.damaged) lose(r, CAUSE_BAD_SYNTAX, true, e.name);
    if (in.damaged || !set_times(r, &e, row)) return memory_status(r);
    raw_op op = {.external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    pb_reader fields = pb_open(node);
    while (pb_next(&fields, &f))
        if (f.number == 6 && f.wire == WIRE_BYTES) read_supplement(r, f.bytes, &op);
    row->name = e.name;
    row->kind = kind_of(e.type);
    row->category = category_of(r, e.type);
    row->track = track_at(r, e.pid, e.tid);
    TRY(memory_status(r));
    uint32_t around = h->parent < r->ops.n ? VEC(&r->ops, uint32_t)[h->parent] : 0;
    if (row->kind == KIND_OP) {
        TRY(part_op(r->part, &op, row));
        set_op(r, h->id, row->extra);
    } else if (around && row->kind == KIND_OP_PHASE) {
        raw_op *outer = part_op_at(r->part, around - 1);
        if (!outer->shapes) outer->shapes = op.shapes;
        if (!outer->types) outer->types = op.types;
        if (!outer->call_stack) outer->call_stack = op.call_stack;
    }
    TRY(memory_status(r));
    *taken = true;
    return part_slice(r->part, row);
}

static status take_node(reader *r, str message) {
    bool damaged, taken = false;
    node_head h = read_head(message, &damaged);
    raw_slice row = {0};
    if (damaged) {
        lose(r, CAUSE_BAD_SYNTAX, true, 0);
        part_count(r->part, 1, 0);
        return OK;
    }
    if (h.event.p && h.parent != UINT64_MAX) TRY(take_range(r, &h, message, &row, &taken));
    pb_reader in = pb_open(message);
    pb_field f, g;
    while (pb_next(&in, &f)) {
        if (f.wire != WIRE_BYTES) continue;
        if (f.number == 4) TRY(take_runtime_node(r, f.bytes));
        if (f.number != 5) continue;
        pb_reader node = pb_open(f.bytes);
        while (pb_next(&node, &g))
            if (g.number == 1 && g.wire == WIRE_BYTES)
                TRY(take_memory(r, g.bytes, taken ? &row : NULL));
    }
    return memory_status(r);
}

/* ---- facts ---- */

static status take_extra(reader *r, str message, error *err) {
    str key = STR_NONE, value = STR_NONE;
    pb_reader in = pb_open(message);
    pb_field f;
    int64_t thread;
    while (pb_next(&in, &f)) {
        if (f.number == 1 && f.wire == WIRE_BYTES) key = f.bytes;
        if (f.number == 2 && f.wire == WIRE_BYTES) value = f.bytes;
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
        if (f.number == 1) d.id = v;
        if (f.number == 2 && f.wire == WIRE_BYTES) d.name = add_string(r, f.bytes);
        if (f.number == 3) d.memory = sat_i64(f.v);
        if (f.number == 4) d.compute_major = v;
        if (f.number == 5) d.compute_minor = v;
        if (f.number == 7) d.threads_per_sm = v;
        if (f.number == 10) d.warp_size = v;
        if (f.number == 13) d.sm_count = v;
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
    if (f->number == 1 && f->wire == WIRE_BYTES && f->bytes.n < 20) {
        snprintf(text, sizeof text, "\"%.*s\"", STR_ARG(f->bytes));
        return take_text(r, "schemaVersion", str_of(text), err);
    }
    if (f->number == 2 && f->wire == WIRE_VARINT) {
        snprintf(text, sizeof text, "\"%llu\"", (unsigned long long)f->v);
        return take_text(r, "span_indx", str_of(text), err);
    }
    if (f->wire != WIRE_BYTES) return OK;
    if (f->number == 4) return take_extra(r, f->bytes, err);
    return f->number == 5 ? take_device(r, f->bytes, err) : OK;
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

/* A field of a thread: its id, or a node. */
static status take_thread_field(reader *r, const pb_field *f, error *err) {
    if (f->number == 1 && f->wire == WIRE_VARINT) r->thread_id = f->v;
    if (f->number != 2 || f->wire != WIRE_BYTES) return OK;
    if (take_node(r, f->bytes) != OK) FAIL_MEMORY(err);
    return OK;
}

/* The next field of the stream; *more false when there is none. */
static status next_field(reader *r, bool *more, error *err) {
    pb_field f;
    bool cut;
    *more = false;
    if (r->thread_end && here(r) >= r->thread_end) r->thread_end = 0;
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
    if (!r->thread_end && f.number == 3 && f.wire == WIRE_BYTES) { /* a thread: go inside */
        r->thread_end = here(r) + f.v;
        if (f.v > UINT64_MAX / 2) r->thread_end = UINT64_MAX / 2;
        r->ops.n = 0;
        return OK;
    }
    if (f.wire == WIRE_BYTES) {
        if (f.v > MAX_NODE_BYTES) {
            lose(r, CAUSE_BAD_SYNTAX, false, 0);
            *more = false;
            return OK;
        }
        TRY(fill(r, (size_t)f.v, err));
        if (left(r) < f.v) {
            lose(r, CAUSE_TRUNCATED, false, 0);
            *more = false;
            return OK;
        }
        f.bytes = str_n(r->p, (size_t)f.v);
        r->p += f.v;
    }
    return r->thread_end ? take_thread_field(r, &f, err) : take_root(r, &f, err);
}

static status read_all(reader *r, error *err) {
    bool more = true;
    while (more) TRY(next_field(r, &more, err));
    uint64_t read = here(r);
    if (source_damaged(r->src)) part_lost(r->part, CAUSE_STREAM_DAMAGED, read, 0);
    if (read == 0) FAIL0(err, ERR_FORMAT, 0, MSG_EMPTY_FILE);
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
                .pc = {.p = ""},
                .p = ""};
    r.part = builder_part(b);
    r.facts = paddle_facts_new(b, r.part);
    status st = r.facts ? read_all(&r, err)
                        : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    source_release(src, &r.pc);
    paddle_facts_free(r.facts);
    vec_fini(&r.ops);
    return st;
}
