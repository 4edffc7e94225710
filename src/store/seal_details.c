/* seal_details.c: the tables that hang on slices (op, kernel, call, module_call; seal_comms.c:
 * comm), each in the order of its slices. s->detail holds for every slice its row in the table
 * of its kind, for the steps that follow; before, it holds the row + 1 in its part's raw table
 * (raw_slice.extra).
 *
 * An operator always has a row. Ranges of other kinds (annotations, phases, stages) have one
 * when there is something to keep: what the reader gave, or a call stack, which only a trace
 * with Python or module slices can give them.
 *
 * Slices are taken in pieces, side by side: first each piece counts its rows, then, when it is
 * known where they start, it writes them. */
#include "base/bisect.h"
#include "base/num.h"
#include "store/builder_int.h"

enum { PIECE = 32768 }; /* slices of one job */

typedef enum {
    DETAIL_NONE,
    DETAIL_OP,
    DETAIL_KERNEL,
    DETAIL_CALL,
    DETAIL_MODULE,
    DETAIL_BARE, /* an op row with nothing to keep but a call stack */
    N_DETAILS
} detail_table;

/* Rows of each table in a piece; then the first of them. */
typedef struct {
    uint32_t n[N_DETAILS];
    uint32_t n_python; /* slices that are frames of a call stack */
} detail_count;

typedef struct {
    seal_ctx *s;
    detail_count *counts; /* by piece */
    size_t n_pieces;
} details_seal_ctx;

static detail_table table_of(uint8_t kind) {
    switch (kind) {
    case KIND_KERNEL:
    case KIND_MEMCPY:
    case KIND_MEMSET: return DETAIL_KERNEL;
    case KIND_RUNTIME:
    case KIND_DRIVER: return DETAIL_CALL;
    case KIND_MODULE: return DETAIL_MODULE;
    case KIND_SPAN:
    case KIND_PYTHON:
    case KIND_SYNC:
    case KIND_OVERHEAD:
    case KIND_DEVICE_ANNOTATION:
    case KIND_ASYNC: return DETAIL_NONE;
    default: return DETAIL_OP;
    }
}

/* The table a slice has a row in: an op or module always, the others when the reader gave one.
 * A slice of unknown kind is not a call. */
static inline detail_table table_of_slice(const seal_ctx *s, uint32_t i) {
    uint8_t kind = s->slice.kind[i];
    detail_table t = table_of(kind);
    if (s->detail[i] || t == DETAIL_MODULE || kind == KIND_OP) return t;
    return t == DETAIL_OP && kind != KIND_OTHER ? DETAIL_BARE : DETAIL_NONE;
}

const part *seal_find_part(const seal_ctx *s, uint32_t raw_row) {
    return s
        ->part_list[SEARCH_FIRST(i, 1, s->n_parts, s->part_list[i]->first_slice <= raw_row) -
                    1];
}

static void write_op(seal_ctx *s, uint32_t row, uint32_t slice, const raw_op *o) {
    s->op.slice[row] = slice;
    s->op.external[row] = o->external;
    s->op.sequence[row] = o->sequence;
    s->op.forward_thread[row] = o->forward_thread;
    s->op.shapes[row] = o->shapes;
    s->op.types[row] = o->types;
    s->op.inputs[row] = o->inputs;
    /* seal_frames turns the text into a frame */
    s->op.frame[row] = o->frame ? o->frame | SEAL_FRAME_GIVEN : o->call_stack;
    s->op.flops[row] = NAN;
    s->op.bytes[row] = ABSENT_I64;
}

/* Rows of the kernel table that follow each other: they are written column by column, since
 * twenty columns at once are more than a processor's caches follow. */
enum { KERNEL_BATCH = 256 };
typedef struct {
    uint32_t row, n; /* the first of them in the table; how many */
    uint32_t slice[KERNEL_BATCH];
    const raw_kernel *from[KERNEL_BATCH];
} kernel_batch;

#define KERNEL_COLUMNS(X)           \
    X(device, device)               \
    X(stream, stream)               \
    X(context, context)             \
    X(correlation, correlation)     \
    X(grid_x, grid[0])              \
    X(grid_y, grid[1])              \
    X(grid_z, grid[2])              \
    X(block_x, block[0])            \
    X(block_y, block[1])            \
    X(block_z, block[2])            \
    X(registers, registers)         \
    X(shared_memory, shared_memory) \
    X(occupancy, occupancy)         \
    X(blocks_per_sm, blocks_per_sm) \
    X(bytes, bytes)                 \
    X(graph_node, graph_node)

static void copy_kernels(const seal_ctx *s, const kernel_batch *q) {
    const uint32_t row = q->row, n = q->n;
#define COPY(column, field) \
    for (uint32_t i = 0; i < n; i++) s->kernel.column[row + i] = q->from[i]->field;
    KERNEL_COLUMNS(COPY)
#undef COPY
    for (uint32_t i = 0; i < n; i++) s->kernel_external[row + i] = q->from[i]->external;
}

/* The same for rows of which the same is known. */
static void repeat_kernel(const seal_ctx *s, const kernel_batch *q) {
    const uint32_t row = q->row, n = q->n;
    const raw_kernel k = *q->from[0];
#define REPEAT(column, field) \
    for (uint32_t i = 0; i < n; i++) s->kernel.column[row + i] = k.field;
    KERNEL_COLUMNS(REPEAT)
#undef REPEAT
    for (uint32_t i = 0; i < n; i++) s->kernel_external[row + i] = k.external;
}

/* Every column: seal_link, seal_flows or seal_infer fills the four that are empty here. */
static void write_kernels(const seal_ctx *s, kernel_batch *q) {
    const uint32_t row = q->row, n = q->n;
    uint32_t same = 0;
    if (!n) return;
    while (same < n && q->from[same] == q->from[0]) same++;
    if (same == n)
        repeat_kernel(s, q);
    else
        copy_kernels(s, q);
    memcpy(s->kernel.slice + row, q->slice, n * sizeof *q->slice);
    memset(s->kernel.launch + row, 0, n * sizeof *s->kernel.launch);
    memset(s->kernel.op + row, 0, n * sizeof *s->kernel.op);
    memset(s->kernel.link + row, 0, n * sizeof *s->kernel.link);
    memset(s->kernel.confidence + row, 0, n * sizeof *s->kernel.confidence);
    q->row += n;
    q->n = 0;
}

static inline void add_kernel(const seal_ctx *s, kernel_batch *q, uint32_t slice,
                              const raw_kernel *from) {
    q->slice[q->n] = slice;
    q->from[q->n++] = from;
    if (q->n == KERNEL_BATCH) write_kernels(s, q);
}

/* The device of a stream of which no label says it: that of its first work that does (kernels
 * [k, end)), else the number of its process, which is a device's in many formats. */
static int32_t find_device(const seal_ctx *s, uint32_t track, uint32_t k, uint32_t end) {
    int64_t pid = s->process.pid[s->track.process[track]];
    for (; k < end; k++)
        if (s->kernel.device[k] != ABSENT_I32) return s->kernel.device[k];
    return s->track.kind[track] == TRACK_STREAM && pid != ABSENT_I64 ? sat_i32(pid)
                                                                     : ABSENT_I32;
}

/* Device work that does not say where it ran did so on its track's device. */
static void fill_devices(seal_ctx *s) {
    uint32_t k = 1;
    for (uint32_t t = 1; t < s->track.n; t++) {
        uint32_t end = k;
        while (end < s->kernel.n && s->kernel.slice[end] < s->track.end[t]) end++;
        if (s->track.device[t] == ABSENT_I32) s->track.device[t] = find_device(s, t, k, end);
        for (; k < end; k++)
            if (s->kernel.device[k] == ABSENT_I32) s->kernel.device[k] = s->track.device[t];
    }
}

static const raw_op NO_OP = {
    .external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};

static uint32_t end_of_piece(const seal_ctx *s, size_t i) {
    return (i + 1) * PIECE < s->slice.n ? (uint32_t)((i + 1) * PIECE) : s->slice.n;
}

static void count_piece(void *context, size_t piece, int worker) {
    details_seal_ctx *q = context;
    const seal_ctx *s = q->s;
    detail_count c = {.n_python = 0};
    (void)worker;
    for (uint32_t i = piece ? (uint32_t)(piece * PIECE) : 1; i < end_of_piece(s, piece); i++) {
        c.n[table_of_slice(s, i)]++;
        c.n_python += s->slice.kind[i] == KIND_PYTHON;
    }
    q->counts[piece] = c;
}

static status make_tables(details_seal_ctx *q, error *err) {
    seal_ctx *s = q->s;
    uint32_t at[N_DETAILS] = {0, 1, 1, 1, 1, 0};
    pool_for(s->pool, q->n_pieces, count_piece, q);
    for (size_t i = 0; i < q->n_pieces; i++)
        s->has_callers |= q->counts[i].n_python || q->counts[i].n[DETAIL_MODULE];
    for (size_t i = 0; i < q->n_pieces; i++) {
        uint32_t *n_rows = q->counts[i].n;
        if (s->has_callers) n_rows[DETAIL_OP] += n_rows[DETAIL_BARE];
        for (int t = 0; t < N_DETAILS; t++) {
            uint32_t n = n_rows[t];
            n_rows[t] = at[t];
            at[t] += n;
        }
    }
    TRY(seal_written_table(s, TABLE_kernel, at[DETAIL_KERNEL], err));
    seal_done_with_kernels(s);
    TRY(seal_table(s, TABLE_op, at[DETAIL_OP], err));
    TRY(seal_table(s, TABLE_call, at[DETAIL_CALL], err));
    TRY(seal_table(s, TABLE_module_call, at[DETAIL_MODULE], err));
    s->kernel_external = seal_scratch(s, at[DETAIL_KERNEL], sizeof(int64_t));
    s->call_external = seal_scratch(s, at[DETAIL_CALL], sizeof(int64_t));
    s->module_id = seal_scratch(s, at[DETAIL_MODULE], sizeof(int64_t));
    if (!s->kernel_external || !s->call_external || !s->module_id) FAIL_MEMORY(err);
    return OK;
}

/* Writes the row of slice i, unless it is device work; x is the row + 1 in the raw table, 0 =
 * none. */
static inline void write_detail(seal_ctx *s, detail_table t, uint32_t row, uint32_t i,
                                const part *p) {
    uint32_t x = s->detail[i];
    switch (t) {
    case DETAIL_OP:
        write_op(s, row, i, x ? &VEC(&p->ops, raw_op)[x - 1] : &NO_OP);
        if (x && p->op_rows) p->op_rows[x] = row;
        break;
    case DETAIL_CALL:
        s->call.slice[row] = i;
        s->call.correlation[row] = VEC(&p->calls, raw_call)[x - 1].correlation;
        s->call_external[row] = VEC(&p->calls, raw_call)[x - 1].external;
        break;
    case DETAIL_MODULE:
        s->module_call.slice[row] = i; /* seal_frames fills `module` */
        s->module_id[row] = x ? VEC(&p->modules, raw_module)[x - 1].id : ABSENT_I64;
        break;
    default: break;
    }
}

static void fill_piece(void *context, size_t piece, int worker) {
    details_seal_ctx *q = context;
    seal_ctx *s = q->s;
    const part *p = s->part_list[0];
    detail_count at = q->counts[piece];
    kernel_batch kernels = {.n = 0};
    kernels.row = at.n[DETAIL_KERNEL];
    (void)worker;
    for (uint32_t i = piece ? (uint32_t)(piece * PIECE) : 1; i < end_of_piece(s, piece); i++) {
        detail_table t = table_of_slice(s, i);
        if (t == DETAIL_BARE) t = s->has_callers ? DETAIL_OP : DETAIL_NONE;
        if (t == DETAIL_NONE) {
            s->detail[i] = 0;
            continue;
        }
        p = seal_part_of(s, s->raw_row[i], p);
        if (t == DETAIL_KERNEL)
            add_kernel(s, &kernels, i, &VEC(&p->kernels, raw_kernel)[s->detail[i] - 1]);
        else
            write_detail(s, t, at.n[t], i, p);
        s->detail[i] = at.n[t]++;
    }
    write_kernels(s, &kernels);
}

/* Cost and phase of the ops that have them: their raw rows name the raw op. */
static void write_op_costs(seal_ctx *s) {
    for (uint32_t k = 0; k < s->n_parts; k++) {
        const part *p = s->part_list[k];
        for (size_t i = 0; p->op_rows && i < p->op_costs.n; i++) {
            const raw_op_cost *c = &VEC(&p->op_costs, raw_op_cost)[i];
            uint32_t row = c->op <= p->ops.n ? p->op_rows[c->op] : 0;
            if (!row) continue;
            s->op.phase[row] = c->phase;
            s->op.flops[row] = c->flops;
            s->op.bytes[row] = c->bytes;
        }
    }
}

/* They are not read again, and the steps that follow need memory. */
static void free_raw_details(const seal_ctx *s) {
    for (uint32_t k = 0; k < s->n_parts; k++) {
        part *p = s->part_list[k];
        vec_fini(&p->ops);
        vec_fini(&p->op_costs);
        vec_fini(&p->kernels);
        vec_fini(&p->calls);
        vec_fini(&p->modules);
    }
}

/* Makes the tables of all slices. */
static status seal_by_kind(seal_ctx *s, error *err) {
    details_seal_ctx q = {.s = s, .n_pieces = ((size_t)s->slice.n + PIECE - 1) / PIECE};
    q.counts = seal_scratch(s, q.n_pieces, sizeof *q.counts);
    if (!q.counts) FAIL_MEMORY(err);
    TRY(make_tables(&q, err));
    for (uint32_t k = 0; k < s->n_parts; k++) { /* only for parts that know costs */
        part *p = s->part_list[k];
        if (p->op_costs.n == 0) continue;
        p->op_rows = seal_scratch(s, p->ops.n + 1, sizeof(uint32_t));
        if (!p->op_rows) FAIL_MEMORY(err);
    }
    pool_for(s->pool, s->n_parts ? q.n_pieces : 0, fill_piece, &q);
    write_op_costs(s);
    free_raw_details(s);
    return OK;
}

status seal_details(seal_ctx *s, error *err) {
    TRY(seal_by_kind(s, err));
    fill_devices(s);
    return seal_comms(s, err);
}
