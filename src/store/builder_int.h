/* builder_int.h: what builder.c and the seal_*.c files share: raw rows as they arrived. */
#ifndef STORE_BUILDER_INT_H
#define STORE_BUILDER_INT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/map.h"
#include "store/builder.h"
#include "store/trace.h"

/* A track as one part knows it. */
typedef struct {
    ident pid, tid;
    bool async;         /* ranges that may overlap: on a separate row next to the thread's */
    uint32_t sealed;    /* row in the sealed track table, filled by the seal */
    uint32_t n_slices;  /* on it */
    uint32_t n_runs;    /* of slices whose starts do not fall; never fewer than there are */
    int64_t last_start; /* of the last slice */
    uint32_t at, run;   /* for seal_marks, then for seal_sort */
    bool is_dealt;      /* in seal_sort: one of its slices is */
} part_track_row;

/* Loss of one cause. */
typedef struct {
    int64_t count;
    uint64_t offset;
    uint32_t example;
} part_loss;

/* The previous integer of a place in the current block. */
typedef struct {
    int64_t previous;
    uint32_t epoch; /* block_number + 1 it belongs to */
} place_state;

/* What a part collects: name of the vec, type of its rows. `places` is by shape. */
#define PART_ROWS(X)          \
    X(slices, raw_slice)      \
    X(ops, raw_op)            \
    X(op_costs, raw_op_cost)  \
    X(kernels, raw_kernel)    \
    X(calls, raw_call)        \
    X(comms, raw_comm)        \
    X(modules, raw_module)    \
    X(memories, raw_memory)   \
    X(instants, raw_instant)  \
    X(counters, raw_counter)  \
    X(samples, raw_sample)    \
    X(marks, raw_mark)        \
    X(arrows, raw_arrow)      \
    X(labels, raw_label)      \
    X(tracks, part_track_row) \
    X(places, place_state)

struct part {
    builder *b;
    part *next;
#define PART_VEC(name, type) vec name;
    PART_ROWS(PART_VEC)
#undef PART_VEC
    map track_map;
    ident last_pid, last_tid; /* the track asked for last: nearly always the next one too */
    uint32_t last_track;
    part_loss losses[N_CAUSES];
    uint64_t events_read, events_dropped;
    bool failed; /* an argument was lost for want of memory: the trace must not be believed */
    /* The argument block being written; blocks are numbered over all parts. */
    uint8_t *block, *block_at;
    uint32_t block_number, block_records;
    uint32_t n_blocks;              /* begun by this part */
    uint32_t first_slice, n_slices; /* in the seal: its raw rows, counted over all parts */
    uint32_t first_mark;            /* in the seal, of its marks */
    uint32_t *op_rows; /* in the seal, of a part with op_costs: op row by raw row + 1 */
};

/* One finished argument block. */
typedef struct {
    uint8_t *p;
    uint32_t n, room; /* bytes of records; of the block */
} arg_block;

/* Key of the global shape trie. */
typedef struct {
    uint32_t parent, key;
} shape_row;

/* A frame of the call-stack tree. */
typedef struct {
    uint32_t parent, name;
} frame_row;

typedef struct {
    uint32_t key, value;
} raw_meta;

typedef struct {
    int64_t start, end;
} raw_left_out;

/* What a builder holds for all parts: name of the vec, type of its rows. shapes: 0 unused, 1 raw;
 * categories: string ids; row 0 of categories and frames is the null row; left_outs: ascending;
 * captured_by: correlation of the call that made a node. */
#define BUILDER_ROWS(X)                  \
    X(shapes, shape_row)                 \
    X(categories, uint32_t)              \
    X(frames, frame_row)                 \
    X(blocks, arg_block)                 \
    X(metas, raw_meta)                   \
    X(left_outs, raw_left_out)           \
    X(devices, raw_device)               \
    X(kernel_sources, raw_kernel_source) \
    X(groups, raw_group)                 \
    X(captured_by, int64_t)

struct builder {
    intern *strings;
    pthread_mutex_t lock; /* guards parts, shapes, categories, frames, blocks */
    part *parts;          /* newest first */
#define BUILDER_VEC(name, type) vec name;
    BUILDER_ROWS(BUILDER_VEC)
#undef BUILDER_VEC
    map shape_map, category_map;
    map frame_map;      /* parent << 32 | name → frame */
    map captured;       /* node of a graph → captured_by */
    vec rows[N_TABLES]; /* row_x, of the tables that readers fill as they are */
    const char *format;
    int64_t base_unix_ns;
    uint64_t input_bytes;
    bool external_may_be_correlation, memory_in_ranges, other_is_op, launch_by_arrow,
        work_names_op;
    uint32_t stage_track; /* string id, 0 = all threads */
    bool failed;          /* a category was lost for want of memory; guarded by the lock */
};

/* Where a column is in the row of its table. */
extern const uint16_t ROW_OFFSET[N_COLUMNS];

/* The seal at work: the builder, the trace being made and what the steps hand to each other. */
typedef struct {
    builder *b;
    pool *pool;
    trace *t;
    /* Writable columns of the trace, the same memory as t->table.column. */
#define TABLE(t, doc) \
    struct {          \
        uint32_t n;
#define COLUMN(t, c, type, doc) col_##type *c;
#define END(t) \
    }          \
    t;
#include "store/schema.def"
    uint32_t *raw_row;      /* raw row of each sealed slice, counted over all parts */
    uint32_t *detail;       /* row of each slice in the op, kernel, call or module_call table */
    uint32_t *by_slice[2];  /* two more numbers for each slice, for the passes that need them
                         (frames) */
    int64_t *call_external; /* by row of call: what links it to its op */
    int64_t *module_id;     /* by row of module_call: the producer's number */
    int64_t *kernel_external; /* by row of kernel */
    bool has_callers;         /* some slices are frames of a call stack, or modules */
    void *spare;              /* the memory of the arrays by slice */
    size_t spare_bytes;
    void *worn; /* where raw slices were, for a table; guarded by the lock. NULL: none */
    size_t worn_bytes;
    vec track_kinds;  /* uint8_t by sealed track */
    part **part_list; /* oldest first */
    uint32_t n_parts;
    pthread_mutex_t lock; /* guards losses, scratch and the trace's list of owned memory */
    part_loss losses[N_CAUSES];
    arena scratch;
} seal_ctx;

/* n zeroed elements that live until the seal is done; NULL when out of memory. Thread safe, as
 * are seal_table and seal_lost: the steps after seal_details run side by side. */
void *seal_scratch(seal_ctx *s, size_t n, size_t elem_bytes);
/* At most this many ancestors are searched for the slice that runs at a time. No real program
 * nests deeper, and a file made to nest a million levels must not cost a million looks for each
 * of a million arrows. */
enum { MAX_CLIMB = 10000 };

/* Makes room for n rows (row 0 included) in every column of a table, zeroed, owned by the
 * trace. */
status seal_table(seal_ctx *s, int table, size_t n, error *err) MUST_USE;
/* The same for a table of which every row but the first is written: only that one is zeroed.
 * Takes the memory of the raw slices when that is not much too large. */
status seal_written_table(seal_ctx *s, int table, size_t n, error *err) MUST_USE;
/* Gives the memory of the raw slices back, unless it is right for the memory events. */
void seal_done_with_kernels(seal_ctx *s);
void seal_lost(seal_ctx *s, cause c, int64_t count, uint64_t offset, uint32_t example);

/* builder_frame without the lock: the seal's call stacks join those the reader gave. */
#define SEAL_FRAME_GIVEN (1u << 31) /* in op.frame until seal_frames: not a text */
uint32_t builder_child_frame(builder *b, uint32_t parent, uint32_t name);

/* The part a raw slice is in; slices come in runs of one part, so `guess` is tried first. */
const part *seal_find_part(const seal_ctx *s, uint32_t raw_row);
static inline const part *seal_part_of(const seal_ctx *s, uint32_t raw_row, const part *guess) {
    if (raw_row >= guess->first_slice && raw_row - guess->first_slice < guess->n_slices)
        return guess;
    return seal_find_part(s, raw_row);
}

status seal_marks(seal_ctx *s, error *err) MUST_USE; /* begin/end → slices of one more part */
status seal_tracks(seal_ctx *s, error *err) MUST_USE; /* processes and tracks */
status seal_sort(seal_ctx *s, error *err) MUST_USE;   /* slices in order, with their raw rows */
status seal_nest(seal_ctx *s, error *err) MUST_USE;   /* parent, depth, row */
status seal_details(seal_ctx *s, error *err) MUST_USE; /* op, kernel, call, comm, module_call */
status seal_comms(seal_ctx *s, error *err) MUST_USE;   /* of seal_details: collectives */
status seal_link(seal_ctx *s, error *err) MUST_USE;    /* device work to launch and op */
status seal_flows(seal_ctx *s, error *err) MUST_USE;
status seal_steps(seal_ctx *s, error *err) MUST_USE; /* after seal_link and seal_flows */
status seal_unmarked_steps(seal_ctx *s,
                           error *err) MUST_USE;         /* of seal_steps: nothing marks them */
status seal_infer(seal_ctx *s, error *err) MUST_USE;     /* operators of steps that have none */
status seal_frames(seal_ctx *s, error *err) MUST_USE;    /* call stacks, modules */
status seal_memory(seal_ctx *s, error *err) MUST_USE;    /* memory events, instants, counters */
status seal_samples(seal_ctx *s, error *err) MUST_USE;   /* samples of threads */
status seal_arguments(seal_ctx *s, error *err) MUST_USE; /* argument blocks in a row */
status seal_producer(seal_ctx *s, error *err) MUST_USE;  /* given rows, input pipeline */
status seal_facts(seal_ctx *s,
                  error *err) MUST_USE; /* meta, devices, groups, quality, strings */

#endif
