/* builder.h: the write side of the store.
 *
 * A reader appends rows through parts (one for each thread, no locks between them) and hands
 * the builder to builder_seal, which sorts, nests, links and finds steps, once, for all
 * formats. The order in which rows arrive and the part they arrive through do not matter: order
 * comes from time and from the tie keys; where the producer's order is all there is (begin/end
 * pairs, arrows) the row carries its offset in the input.
 */
#ifndef STORE_BUILDER_H
#define STORE_BUILDER_H

#include "base/intern.h"
#include "base/pool.h"
#include "base/vec.h"
#include "store/schema.h"

typedef struct builder builder;
typedef struct part part;
struct trace;

/* NULL when out of memory. */
builder *builder_new(void);
void builder_free(builder *b);
/* A separate part for one thread; freed with the builder. NULL when out of memory. */
part *builder_part(builder *b);
/* Shared by all parts; adding is thread safe. */
intern *builder_strings(builder *b);
/* Forgets all rows (strings stay): a reader that starts again. */
void builder_clear(builder *b);
/* Bytes held by raw rows, for the memory limit. */
uint64_t builder_size_bytes(const builder *b);
/* Of them those of one part; for the thread that fills it, others may be filling theirs. */
uint64_t part_size_bytes(const part *p);

/* ---- whole-trace facts; call from one thread at a time ---- */
void builder_set_format(builder *b, const char *name); /* static string */
void builder_set_base_unix_ns(builder *b, int64_t ns);
int64_t builder_base_unix_ns(const builder *b); /* ABSENT_I64: not set */
void builder_set_input_bytes(builder *b, uint64_t n);
/* Kineto of 2022–2024 wrote the correlation id as external id; the seal finds out (spec
 * 1.8). */
void builder_set_external_may_be_correlation(builder *b, bool yes);
/* Slices of no known kind are what the producer timed: operators (plain Chrome traces). */
void builder_set_other_is_op(builder *b, bool yes);
/* Memory events outside every operator belong to the innermost range around them. */
void builder_set_memory_in_ranges(builder *b, bool yes);
/* Device work finds its launch by arrows of kind FLOW_LAUNCH, not by correlation ids. */
void builder_set_launch_by_arrow(builder *b, bool yes);
/* Device work names the operator it belongs to by its external id, no matter which operator
 * launched it: one call may launch the work of many. */
void builder_set_work_names_op(builder *b, bool yes);
/* A node of a graph was made by the call with this correlation. Not thread safe. */
status builder_captured(builder *b, int64_t node, int64_t correlation) MUST_USE;
/* Ranges that say what the program does (modules, forward, backward, optimizer) are drawn on
 * several threads at once: only those of threads with this name (string id) count, the others
 * are plain annotations. */
void builder_set_stage_track(builder *b, uint32_t name);
/* Operators, modules and stacks of these times were left out by the producer, on all threads;
 * what the device did was not. Ranges ascend and do not overlap. */
status builder_add_left_out(builder *b, int64_t start, int64_t end, error *err) MUST_USE;
status builder_add_meta(builder *b, uint32_t key, uint32_t value, error *err) MUST_USE;
typedef struct {
    int32_t id;
    uint8_t type;
    uint32_t name, properties;
    int64_t memory;
    int32_t compute_major, compute_minor, sm_count, threads_per_sm, warp_size;
} raw_device;
/* Nothing is known of it: a reader sets what its producer recorded. */
#define RAW_DEVICE_NONE                         \
    ((raw_device){.id = ABSENT_I32,             \
                  .type = DEVICE_UNKNOWN,       \
                  .memory = ABSENT_I64,         \
                  .compute_major = ABSENT_I32,  \
                  .compute_minor = ABSENT_I32,  \
                  .sm_count = ABSENT_I32,       \
                  .threads_per_sm = ABSENT_I32, \
                  .warp_size = ABSENT_I32})
status builder_add_device(builder *b, const raw_device *d, error *err) MUST_USE;
typedef struct {
    uint32_t name, file, operators;
    int32_t line;
} raw_kernel_source;
status builder_add_kernel_source(builder *b, const raw_kernel_source *k, error *err) MUST_USE;
/* Applies to all devices added so far. */
void builder_set_device_type(builder *b, uint8_t type);
typedef struct {
    uint32_t name, description, backend, ranks;
    int64_t size;
} raw_group;
status builder_add_group(builder *b, const raw_group *g, error *err) MUST_USE;
/* Tables that a reader fills as schema.def has them: what a producer had added up itself. row_X
 * has the columns of table X, builder_put_X adds one; they keep the order they are added in.
 * Start from row_X_none(): what is not known is absent, not zero. A column ref_X holds the
 * number in which that row was added, from 1; it may come later, and one that is never added
 * becomes none. Not for tables that the seal makes from parts (slice, kernel, op, …).
 *
 *     row_producer_step row = row_producer_step_none();
 *     row.duration = ns;
 *     TRY(builder_put_producer_step(b, &row, err)); */
#define TABLE(t, doc) typedef struct {
#define COLUMN(t, c, type, doc) col_##type c;
#define END(t) \
    }          \
    row_##t;
#include "store/schema.def"

#define ROW_NONE_i64 ABSENT_I64
#define ROW_NONE_i32 ABSENT_I32
#define ROW_NONE_f64 (double)NAN
enum {
    ROW_NONE_u64 = 0,
    ROW_NONE_u32 = 0,
    ROW_NONE_u16 = 0,
    ROW_NONE_u8 = 0,
    ROW_NONE_str = 0,
#define TABLE(t, doc) ROW_NONE_ref_##t = 0,
#include "store/schema.def"
};
status builder_put_row(builder *b, int table, const void *row, error *err) MUST_USE;
#define TABLE(t, doc)                            \
    static inline row_##t row_##t##_none(void) { \
        return (row_##t) {
#define COLUMN(t, c, type, doc) .c = ROW_NONE_##type,
#define END(t)                                                                    \
    }                                                                             \
    ;                                                                             \
    }                                                                             \
    static inline MUST_USE status builder_put_##t(builder *b, const row_##t *row, \
                                                  error *err) {                   \
        return builder_put_row(b, TABLE_##t, row, err);                           \
    }
#include "store/schema.def"

/* ---- argument records (store/args.h) ---- */
/* The place reached from `parent` (0 = root) by `key`; thread safe; 0 when out of memory. */
uint32_t builder_shape(builder *b, uint32_t parent, uint32_t key);
/* A record holds at most this many values; a larger object is kept raw. */
enum { MAX_VALUES = 256 };
enum { VALUE_INT = 0, VALUE_STRING = 1, VALUE_RAW = 2, VALUE_DECIMAL = 3 };
typedef struct {
    uint32_t place; /* shape of this key: places[n-1] is the shape of the whole */
    uint8_t tag;    /* VALUE_* */
    uint8_t digits; /* fraction digits of a decimal */
    int64_t v;      /* integer, mantissa, or string id */
} raw_value;
/* Record reference, or 0 when there is nothing to keep or no room (counted). The places of the
 * values are a path of the trie, so they rise. Without memory it returns 0 and the seal will
 * fail. */
uint32_t part_args(part *p, const raw_value *values, size_t n);
/* The whole object as raw JSON text. */
uint32_t part_args_raw(part *p, uint32_t text);

/* ---- call stacks ---- */
/* The frame `name` ("file.py(12): function", or as the producer writes it) called by the frame
 * `parent` (0 = the outermost); the same frame for the same two. Thread safe; UINT32_MAX when
 * out of memory. */
uint32_t builder_frame(builder *b, uint32_t parent, uint32_t name);

/* ---- rows ---- */
/* A process or thread id: a number, or a text (string id). Texts of digits are numbers. */
typedef struct {
    int64_t v;
    bool text;
} ident;
#define IDENT_NONE ((ident){ABSENT_I64, false})
static inline bool ident_eq(ident a, ident b) {
    return a.v == b.v && a.text == b.text;
}
/* The track of (pid, tid) in this part; UINT32_MAX when out of memory. */
uint32_t part_track(part *p, ident pid, ident tid);

typedef struct {
    int64_t start, dur;
    uint32_t name, track, args;
    uint32_t tie; /* the producer's own index, 0 = none; the smaller is the outer one */
    /* Row + 1 in the part's op, kernel, call or module table, by kind; 0 = none. Device work of
     * which the same is known may share one row. */
    uint32_t extra;
    uint16_t category;
    uint8_t kind, flags;
} raw_slice;
typedef struct {
    int64_t external, sequence, forward_thread;
    uint32_t shapes, types, inputs, call_stack;
    uint32_t
        frame; /* builder_frame of its call stack, where there is no text of it; 0 = none */
} raw_op;
/* What few producers know of an op; added after its part_op. */
typedef struct {
    uint32_t op; /* row + 1 in the part's op table, as in raw_slice.extra */
    uint8_t phase;
    double flops;
    int64_t bytes;
} raw_op_cost;
typedef struct {
    int64_t correlation, external, stream, context, bytes, graph_node, shared_memory;
    double occupancy, blocks_per_sm;
    uint32_t grid[3], block[3];
    int32_t device, registers;
} raw_kernel;
#define RAW_KERNEL_NONE                         \
    ((raw_kernel){.correlation = ABSENT_I64,    \
                  .external = ABSENT_I64,       \
                  .stream = ABSENT_I64,         \
                  .context = ABSENT_I64,        \
                  .bytes = ABSENT_I64,          \
                  .graph_node = ABSENT_I64,     \
                  .shared_memory = ABSENT_I64,  \
                  .occupancy = (double)NAN,     \
                  .blocks_per_sm = (double)NAN, \
                  .device = ABSENT_I32,         \
                  .registers = ABSENT_I32})
typedef struct {
    int64_t correlation, external;
} raw_call;
typedef struct {
    uint64_t slice; /* index of the raw slice in this part */
    uint32_t name, group_name, group_description, group_ranks, dtype;
    int32_t src, dst;
    int64_t sequence, comms_id, in_elements, out_elements, group_size;
} raw_comm;
typedef struct {
    int64_t id; /* the producer's number of the module instance */
} raw_module;
typedef struct {
    int64_t time;
    uint64_t address;
    int64_t bytes, allocated, reserved;
    uint32_t track, args;
    uint32_t tie;   /* order among equal times */
    uint32_t frame; /* builder_frame of its own call stack; 0 = none */
    uint32_t
        block; /* pairs a release with its allocation where there is no address; 0 = none */
    int32_t device;
    uint8_t device_type, kind;
    /* The slice on its track that it was recorded in, by start and name, when the producer says
     * so (has_owner); otherwise the time decides. */
    bool has_owner;
    uint32_t owner_name;
    int64_t owner_start;
} raw_memory;
typedef struct {
    int64_t time;
    uint32_t name, track, args;
    uint16_t category;
    uint8_t scope;
} raw_instant;
typedef struct {
    int64_t time;
    double value;
    uint32_t name, series, track;
} raw_counter;
/* What a thread did at one moment. */
typedef struct {
    int64_t time;
    int64_t
        dur; /* the longest it may stand for; the seal ends it at the thread's next sample */
    uint32_t track;
    uint32_t frame; /* builder_frame, innermost; 0 = not known */
    uint8_t state;  /* sample_state */
} raw_sample;
/* Begin or end of a range (B/E, b/e), matched by the seal in time order. */
typedef struct {
    int64_t time;
    uint64_t offset; /* in the input: order among equal times */
    uint32_t name, track, args;
    uint32_t id; /* async: string id of the id; 0 = B/E on the thread's stack */
    /* Row + 1 in the part's op or kernel table, by kind (part_mark_op, part_mark_kernel); 0 =
     * none. */
    uint32_t extra;
    uint16_t category;
    uint8_t kind;
    bool end : 1;
    bool decides : 1; /* an end that knows more: its kind, extra and args are the slice's */
} raw_mark;
/* One end of an arrow (s/t/f). */
typedef struct {
    int64_t time;
    uint64_t offset;
    int64_t id; /* number, or a hash of the text the producer wrote */
    uint32_t name, track;
    uint32_t scope; /* string id: arrows of one id in two scopes are two; 0 = none */
    uint16_t category;
    uint8_t kind; /* flow_kind */
    char phase;   /* s t f */
} raw_arrow;
/* Name, labels or sort key of a process or track. */
typedef enum {
    LABEL_PROCESS_NAME,
    LABEL_PROCESS_LABELS,
    LABEL_PROCESS_SORT,
    LABEL_THREAD_NAME,
    LABEL_THREAD_SORT,
    LABEL_THREAD_DEVICE
} label_kind;
typedef struct {
    ident pid, tid;
    int64_t value; /* string id, sort key or device */
    uint64_t offset;
    uint8_t kind; /* label_kind */
} raw_label;

/* Row of a category (its string id) for raw_slice.category; thread safe. 0 when there are too
 * many, or no memory: then the seal will fail. */
uint16_t builder_category(builder *b, uint32_t name);

/* Each adds one row and returns ERR_MEMORY when there is no room. extra rows come before their
 * slice: part_op(p, &op, &slice) fills slice->extra. */
status part_slice(part *p, const raw_slice *row) MUST_USE;
/* Room for a slice of this track and start, to be filled before the next call; NULL when out of
 * memory. For readers that add slices by the million: a row that is made elsewhere and copied
 * at once makes a processor wait for its own writes. */
raw_slice *part_slice_room(part *p, uint32_t track, int64_t start);
/* The same for a memory event. */
raw_memory *part_memory_room(part *p);
status part_op(part *p, const raw_op *row, raw_slice *slice) MUST_USE;
status part_op_cost(part *p, const raw_op_cost *row) MUST_USE;
status part_kernel(part *p, const raw_kernel *row, raw_slice *slice) MUST_USE;
status part_call(part *p, const raw_call *row, raw_slice *slice) MUST_USE;
/* Index the next part_slice of this part will get. */
uint64_t part_next_slice(const part *p);
status part_comm(part *p, const raw_comm *row) MUST_USE;
status part_module(part *p, const raw_module *row, raw_slice *slice) MUST_USE;
status part_memory(part *p, const raw_memory *row) MUST_USE;
status part_instant(part *p, const raw_instant *row) MUST_USE;
status part_counter(part *p, const raw_counter *row) MUST_USE;
status part_sample(part *p, const raw_sample *row) MUST_USE;
status part_mark(part *p, const raw_mark *row) MUST_USE;
/* What goes with a mark that is an op or device work; fill row->extra. */
status part_mark_op(part *p, const raw_op *op, raw_mark *row) MUST_USE;
status part_mark_kernel(part *p, const raw_kernel *kernel, raw_mark *row) MUST_USE;
status part_arrow(part *p, const raw_arrow *row) MUST_USE;
status part_label(part *p, const raw_label *row) MUST_USE;

/* Counts a loss or repair; offset of the first one and an example (string id) are kept. */
void part_lost(part *p, cause c, uint64_t offset, uint32_t example);
/* The same for n losses that the producer counted itself. */
void part_lost_many(part *p, cause c, uint64_t n);
int64_t part_loss_count(const part *p, cause c);
/* One more event read; one more event dropped. */
void part_count(part *p, uint64_t read, uint64_t dropped);

/* About this many rows will come: room for them is mapped at once, in large pages. Only a wish;
 * more rows and fewer cost nothing. */
void part_expect(part *p, uint64_t n_slices, uint64_t n_memories);
void part_expect_points(part *p, uint64_t n_counters, uint64_t n_marks, uint64_t n_arrows);

/* For a reader that knows only at the end what was meant. Moves everything that is a point in
 * time (memory, instants, counters, marks, arrows); one slice; device types of memory
 * events. */
void part_move_points(part *p, int64_t by_ns);
void part_move_slice(part *p, uint64_t slice, int64_t by_ns);
void part_rename_devices(part *p, const uint8_t types[256]);
/* A slice of this part by its index, for the reader to give it a row with part_op. Valid until
 * the next part_slice. */
raw_slice *part_slice_at(part *p, uint64_t index);
/* An op of this part (raw_slice.extra - 1), for the reader to set right. Valid until the next
 * part_op. */
raw_op *part_op_at(part *p, uint32_t index);
/* A memory row of this part, for the reader to set right. Valid until the next part_memory. */
raw_memory *part_memory_at(part *p, uint64_t index);
uint64_t part_next_memory(const part *p);

/* Hands over the last argument block; the thread that owns the part calls it when it is
 * done. */
void part_finish(part *p);

/* Makes the trace; the builder is used up whatever the result (call builder_free all the same).
 * workers may be NULL. */
status builder_seal(builder *b, pool *workers, struct trace **out, error *err) MUST_USE;

#endif
