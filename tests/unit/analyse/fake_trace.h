/* fake_trace.h: small sealed traces written down in a test.
 *
 *     fake f;
 *     fake_init(&f);
 *     int host = fake_thread(&f), gpu = fake_stream(&f, 0);
 *     int mm = fake_add(&f, host, KIND_OP, "aten::mm", 100, 50);
 *     int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 110, 5);
 *     fake_work(&f, gpu, KIND_KERNEL, "gemm", 130, 20, call);
 *     const trace *t = fake_seal(&f);
 *     …
 *     fake_fini(&f);
 *
 * Slices may be added in any order; fake_seal sorts and nests them by the rules of the
 * store, written a second time here in the plainest way, so that a test of an analysis does not
 * depend on the seal that feeds it. Device work without an explicit op gets the innermost op
 * around its call. */
#ifndef TESTS_FAKE_TRACE_H
#define TESTS_FAKE_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyse/analysis.h"
#include "base/num.h"

enum { FAKE_MAX = 512 };

typedef struct {
    int track;
    uint8_t kind;
    const char *name;
    int64_t start, dur;
    int launch; /* handle of the call, -1 = none; of device work */
    int op;     /* handle of the op, -1 = the innermost around the call */
    int32_t registers;
    uint32_t grid[3], block[3];
    int64_t shared_memory;
    double blocks_per_sm, occupancy;
    const char *shapes, *types, *inputs;
    double flops;
    int64_t sequence, forward_thread;
    uint8_t phase;
    uint32_t frame;
    bool has_op_row, unfinished;
    const char *module;
    int64_t module_id;
    int64_t device_bytes, graph_node;
} fake_slice;

typedef struct {
    int64_t time;
    int track;
    uint64_t address;
    int64_t bytes, allocated, reserved;
    uint8_t device_type;
    int32_t device;
} fake_memory;

typedef struct {
    arena arena;
    trace t;
    fake_memory memories[FAKE_MAX];
    int n_memories;
    fake_slice slices[FAKE_MAX];
    int n_slices;
    uint32_t id[FAKE_MAX]; /* handle → slice id, after fake_seal */
    char *bytes;
    uint64_t *offsets;
    size_t n_bytes;
} fake;

/* Sets a cell of a column the readers see as constant. */
#define FAKE_SET(f, table, column, row, value)                              \
    do {                                                                    \
        __typeof__((f)->t.table.column[0] + 0) fake_value_ =                \
            (__typeof__((f)->t.table.column[0] + 0))(value);                \
        __typeof__(*(f)->t.table.column) fake_cell_ =                       \
            (__typeof__(*(f)->t.table.column))fake_value_;                  \
        memcpy((void *)(uintptr_t) & (f)->t.table.column[row], &fake_cell_, \
               sizeof fake_cell_);                                          \
    } while (0)

static inline uint32_t fake_str(fake *f, const char *s) {
    if (!s) return 0;
    for (uint32_t i = 0; i < f->t.n_strings; i++)
        if (str_eq(trace_str(&f->t, i), str_of(s))) return i;
    size_t n = strlen(s);
    assert_true(f->t.n_strings + 1 < FAKE_MAX && f->n_bytes + n < FAKE_MAX * 64);
    memcpy(f->bytes + f->n_bytes, s, n);
    f->n_bytes += n;
    f->offsets[f->t.n_strings + 1] = f->n_bytes;
    return f->t.n_strings++;
}

static inline void fake_init(fake *f) {
    *f = (fake){.n_bytes = 0};
    arena_init(&f->arena, 0);
#define TABLE(table, doc) f->t.table.n = 1;
#define COLUMN(table, column, type, doc)                                      \
    f->t.table.column = arena_array(&f->arena, FAKE_MAX, sizeof(col_##type)); \
    assert_non_null(f->t.table.column);
#include "store/schema.def"
    f->bytes = arena_array(&f->arena, FAKE_MAX, 64);
    f->offsets = ARENA_ARRAY(&f->arena, uint64_t, FAKE_MAX + 1);
    f->t.string_bytes = f->bytes;
    f->t.string_offset = f->offsets;
    f->t.n_strings = 1;
    f->t.base_unix_ns = ABSENT_I64;
    f->t.format = STR("kineto");
    FAKE_SET(f, process, pid, f->t.process.n++, 1);
}

/* A borrowed struct: nothing but the arena is owned. */
static inline void fake_fini(fake *f) {
    arena_fini(&f->arena);
}

static inline int fake_track(fake *f, track_kind kind, int64_t tid, int32_t device) {
    uint32_t row = f->t.track.n++;
    FAKE_SET(f, track, process, row, 1);
    FAKE_SET(f, track, kind, row, kind);
    FAKE_SET(f, track, tid, row, tid);
    FAKE_SET(f, track, device, row, device);
    return (int)row;
}
static inline int fake_thread(fake *f) {
    return fake_track(f, TRACK_THREAD, 100 + (int64_t)f->t.track.n, ABSENT_I32);
}
static inline int fake_stream(fake *f, int32_t device) {
    return fake_track(f, TRACK_STREAM, 7 + (int64_t)f->t.track.n, device);
}

/* A slice; its handle. */
static inline int fake_add(fake *f, int track, uint8_t kind, const char *name, int64_t start,
                           int64_t dur) {
    assert_true(f->n_slices < FAKE_MAX - 1);
    f->slices[f->n_slices] = (fake_slice){.track = track,
                                          .kind = kind,
                                          .name = name,
                                          .start = start,
                                          .dur = dur,
                                          .launch = -1,
                                          .op = -1,
                                          .registers = ABSENT_I32,
                                          .shared_memory = ABSENT_I64,
                                          .device_bytes = ABSENT_I64,
                                          .graph_node = ABSENT_I64,
                                          .blocks_per_sm = NAN,
                                          .occupancy = NAN,
                                          .flops = NAN,
                                          .sequence = ABSENT_I64,
                                          .forward_thread = ABSENT_I64};
    return f->n_slices++;
}

/* Device work launched by the call with that handle (-1: by an unknown one). */
static inline int fake_work(fake *f, int track, uint8_t kind, const char *name, int64_t start,
                            int64_t dur, int launch) {
    int h = fake_add(f, track, kind, name, start, dur);
    f->slices[h].launch = launch;
    return h;
}

static inline void fake_step(fake *f, int64_t number, int64_t start, int64_t end) {
    uint32_t row = f->t.step.n++;
    FAKE_SET(f, step, number, row, number);
    FAKE_SET(f, step, start, row, start);
    FAKE_SET(f, step, end, row, end);
}

/* An allocation (bytes > 0) or release; totals are ABSENT_I64 when the producer wrote none. */
static inline void fake_add_memory(fake *f, fake_memory m) {
    assert_true(f->n_memories < FAKE_MAX - 1);
    f->memories[f->n_memories++] = m;
}

static inline int fake_compare(const fake *f, int a, int b) {
    const fake_slice *x = &f->slices[a], *y = &f->slices[b];
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur) return x->dur > y->dur ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return a - b;
}

static inline int64_t fake_end(const fake *f, uint32_t slice) {
    return f->t.slice.start[slice] + f->t.slice.dur[slice];
}

/* Parent: the last slice before it on the track that holds it whole. */
static inline void fake_nest(fake *f, uint32_t i, uint32_t first) {
    for (uint32_t p = i - 1; p >= first && p; p--)
        if (f->t.slice.start[i] < fake_end(f, p) && fake_end(f, i) <= fake_end(f, p)) {
            FAKE_SET(f, slice, parent, i, p);
            FAKE_SET(f, slice, depth, i, f->t.slice.depth[p] + 1);
            return;
        }
}

static inline uint32_t fake_op_around(const fake *f, uint32_t call) {
    for (uint32_t p = call - 1; p; p--)
        if (f->t.slice.kind[p] == KIND_OP && f->t.slice.start[p] <= f->t.slice.start[call] &&
            fake_end(f, p) > f->t.slice.start[call] &&
            trace_track_of(&f->t, p) == trace_track_of(&f->t, call))
            return p;
    return 0;
}

static inline void fake_kernel_row(fake *f, int h) {
    const fake_slice *s = &f->slices[h];
    uint32_t row = f->t.kernel.n++, call = s->launch >= 0 ? f->id[s->launch] : 0;
    uint32_t op = s->op >= 0 ? f->id[s->op] : call ? fake_op_around(f, call) : 0;
    FAKE_SET(f, kernel, slice, row, f->id[h]);
    FAKE_SET(f, kernel, launch, row, call);
    FAKE_SET(f, kernel, op, row, op);
    FAKE_SET(f, kernel, link, row, op ? LINK_CONTAINED : call ? LINK_LAUNCH_ONLY : LINK_NONE);
    FAKE_SET(f, kernel, device, row, f->t.track.device[s->track]);
    FAKE_SET(f, kernel, stream, row, f->t.track.tid[s->track]);
    FAKE_SET(f, kernel, grid_x, row, s->grid[0]);
    FAKE_SET(f, kernel, grid_y, row, s->grid[1]);
    FAKE_SET(f, kernel, grid_z, row, s->grid[2]);
    FAKE_SET(f, kernel, block_x, row, s->block[0]);
    FAKE_SET(f, kernel, block_y, row, s->block[1]);
    FAKE_SET(f, kernel, block_z, row, s->block[2]);
    FAKE_SET(f, kernel, registers, row, s->registers);
    FAKE_SET(f, kernel, shared_memory, row, s->shared_memory);
    FAKE_SET(f, kernel, blocks_per_sm, row, s->blocks_per_sm);
    FAKE_SET(f, kernel, occupancy, row, s->occupancy);
    FAKE_SET(f, kernel, bytes, row, s->device_bytes);
    FAKE_SET(f, kernel, graph_node, row, s->graph_node);
}

static inline void fake_op_row(fake *f, int h) {
    const fake_slice *s = &f->slices[h];
    uint32_t row = f->t.op.n++;
    FAKE_SET(f, op, slice, row, f->id[h]);
    FAKE_SET(f, op, external, row, ABSENT_I64);
    FAKE_SET(f, op, sequence, row, s->sequence);
    FAKE_SET(f, op, forward_thread, row, s->forward_thread);
    FAKE_SET(f, op, shapes, row, fake_str(f, s->shapes));
    FAKE_SET(f, op, types, row, fake_str(f, s->types));
    FAKE_SET(f, op, inputs, row, fake_str(f, s->inputs));
    FAKE_SET(f, op, frame, row, s->frame);
    FAKE_SET(f, op, phase, row, s->phase);
    FAKE_SET(f, op, flops, row, s->flops);
    FAKE_SET(f, op, bytes, row, ABSENT_I64);
}

/* One module for each (name, number). */
static inline void fake_module_row(fake *f, int h) {
    const fake_slice *s = &f->slices[h];
    uint32_t name = fake_str(f, s->module), m = 1;
    while (m < f->t.module.n &&
           (f->t.module.name[m] != name || f->t.module.id[m] != s->module_id))
        m++;
    if (m == f->t.module.n) {
        f->t.module.n++;
        FAKE_SET(f, module, name, m, name);
        FAKE_SET(f, module, id, m, s->module_id);
    }
    uint32_t row = f->t.module_call.n++;
    FAKE_SET(f, module_call, slice, row, f->id[h]);
    FAKE_SET(f, module_call, module, row, m);
}

static inline void fake_place(fake *f, int h) {
    const fake_slice *s = &f->slices[h];
    uint32_t i = f->t.slice.n++;
    f->id[h] = i;
    if (!f->t.track.first[s->track]) FAKE_SET(f, track, first, s->track, i);
    FAKE_SET(f, track, end, s->track, i + 1);
    FAKE_SET(f, slice, start, i, s->start);
    FAKE_SET(f, slice, dur, i, s->dur);
    FAKE_SET(f, slice, name, i, fake_str(f, s->name));
    FAKE_SET(f, slice, kind, i, s->kind);
    FAKE_SET(f, slice, flags, i, s->unfinished ? SLICE_UNFINISHED : 0);
    fake_nest(f, i, f->t.track.first[s->track]);
    f->t.kind_count[s->kind]++;
    f->t.start_ns = i == 1 ? s->start : min_i64(f->t.start_ns, s->start);
    f->t.end_ns = i == 1 ? s->start + s->dur : max_i64(f->t.end_ns, s->start + s->dur);
}

/* Tracks without slices get empty ranges in place. */
static inline void fake_close_tracks(fake *f) {
    uint32_t at = 1;
    for (uint32_t k = 1; k < f->t.track.n; k++) {
        if (!f->t.track.first[k]) {
            FAKE_SET(f, track, first, k, at);
            FAKE_SET(f, track, end, k, at);
        }
        at = f->t.track.end[k];
    }
}

/* The innermost op that is running on the track. */
static inline uint32_t fake_op_at(const fake *f, int track, int64_t time) {
    uint32_t found = 0;
    for (uint32_t i = f->t.track.first[track]; i && i < f->t.track.end[track]; i++)
        if (f->t.slice.kind[i] == KIND_OP && f->t.slice.start[i] <= time &&
            time < fake_end(f, i))
            found = i;
    return found;
}

static inline void fake_memory_row(fake *f, const fake_memory *m) {
    uint32_t row = f->t.memory.n++;
    FAKE_SET(f, memory, time, row, m->time);
    FAKE_SET(f, memory, track, row, m->track);
    FAKE_SET(f, memory, op, row, fake_op_at(f, m->track, m->time));
    FAKE_SET(f, memory, address, row, m->address);
    FAKE_SET(f, memory, bytes, row, m->bytes);
    FAKE_SET(f, memory, allocated, row, m->allocated);
    FAKE_SET(f, memory, reserved, row, m->reserved);
    FAKE_SET(f, memory, device_type, row, m->device_type);
    FAKE_SET(f, memory, device, row, m->device);
    FAKE_SET(f, memory, kind, row, m->bytes > 0 ? MEMORY_ALLOC : MEMORY_FREE);
    for (uint32_t i = row - 1; i && m->bytes <= 0; i--) {
        if (f->t.memory.address[i] != m->address ||
            f->t.memory.device_type[i] != m->device_type || f->t.memory.device[i] != m->device)
            continue;
        if (f->t.memory.kind[i] == MEMORY_ALLOC) {
            FAKE_SET(f, memory, partner, row, i);
            FAKE_SET(f, memory, partner, i, row);
        }
        break;
    }
}

static inline void fake_place_memory(fake *f) {
    int order[FAKE_MAX];
    for (int i = 0; i < f->n_memories; i++) {
        int at = i;
        for (; at && f->memories[order[at - 1]].time > f->memories[i].time; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < f->n_memories; i++) fake_memory_row(f, &f->memories[order[i]]);
}

/* The trace; valid until fake_fini. */
/* "train.py(7): main": the name of a frame, with its file and line where it has them. */
static inline uint32_t fake_frame(fake *f, uint32_t parent, uint32_t name) {
    uint32_t row = 1;
    for (; row < f->t.frame.n; row++)
        if (f->t.frame.parent[row] == parent && f->t.frame.name[row] == name) return row;
    char text[256], file[128];
    unsigned line;
    str own = trace_str(&f->t, name);
    snprintf(text, sizeof text, "%.*s", (int)own.n, own.p);
    FAKE_SET(f, frame, parent, row, parent);
    FAKE_SET(f, frame, name, row, name);
    f->t.frame.n = row + 1;
    if (sscanf(text, "%127[^(](%u): ", file, &line) == 2) {
        FAKE_SET(f, frame, file, row, fake_str(f, file));
        FAKE_SET(f, frame, line, row, line);
    }
    return row;
}

/* The stacks of Python ranges, where a test has made none itself. */
static inline void fake_frames(fake *f) {
    uint32_t frame_of[FAKE_MAX + 1] = {0};
    bool given = f->t.frame.n > 1;
    for (uint32_t i = 1; i < f->t.slice.n && !given; i++) {
        uint8_t kind = f->t.slice.kind[i];
        frame_of[i] = frame_of[f->t.slice.parent[i]];
        if (kind == KIND_PYTHON || kind == KIND_MODULE)
            frame_of[i] = fake_frame(f, frame_of[i], f->t.slice.name[i]);
    }
}

static inline const trace *fake_seal(fake *f) {
    int order[FAKE_MAX];
    for (int i = 0; i < f->n_slices; i++) {
        int at = i;
        for (; at && fake_compare(f, order[at - 1], i) > 0; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < f->n_slices; i++) fake_place(f, order[i]);
    fake_close_tracks(f);
    for (int i = 0; i < f->n_slices; i++) {
        const fake_slice *s = &f->slices[order[i]];
        if (kind_is_device(s->kind)) fake_kernel_row(f, order[i]);
        if (s->has_op_row || s->shapes || s->phase || s->frame || !isnan(s->flops))
            fake_op_row(f, order[i]);
        if (s->module) fake_module_row(f, order[i]);
    }
    fake_place_memory(f);
    fake_frames(f);
    f->t.events_read = (uint64_t)f->n_slices;
    return &f->t;
}

static inline params fake_params(void) {
    return (params)PARAMS_WHOLE;
}

/* Runs an analysis on one trace; the answer lives in `a`. */
static inline answer fake_ask(analysis_fn fn, const trace *t, const params *p, arena *a) {
    analysis_trace one = {.trace = t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    answer out;
    error err;
    assert_int_equal(fn(&in, p, a, &out, &err), OK);
    return out;
}

static inline table *fake_table(const answer *out, const char *name) {
    for (uint32_t i = 0; i < out->n_tables; i++)
        if (strcmp(out->tables[i]->name, name) == 0) return out->tables[i];
    fail_msg("no table %s", name);
    return NULL;
}

static inline uint32_t fake_column(const table *t, const char *name) {
    uint32_t c = table_column(t, str_of(name));
    if (c == UINT32_MAX) fail_msg("no column %s in table %s", name, t->name);
    return c;
}

/* The row whose text in the first column is `key`. */
static inline size_t fake_row(const table *t, const char *key) {
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(t->columns[0].v.s[i], str_of(key))) return i;
    fail_msg("no row %s in table %s", key, t->name);
    return 0;
}

/* Cells; a null is a failure, fake_null asks for one. */
static inline int64_t fake_int(const table *t, size_t row, const char *name) {
    uint32_t c = fake_column(t, name);
    assert_true(row < t->n_rows);
    if (table_is_null(t, row, c)) fail_msg("%s of row %zu is null", name, row);
    return t->columns[c].v.i[row];
}
static inline double fake_real(const table *t, size_t row, const char *name) {
    uint32_t c = fake_column(t, name);
    assert_true(row < t->n_rows);
    if (table_is_null(t, row, c)) fail_msg("%s of row %zu is null", name, row);
    return t->columns[c].v.d[row];
}
static inline str fake_text(const table *t, size_t row, const char *name) {
    uint32_t c = fake_column(t, name);
    assert_true(row < t->n_rows);
    return t->columns[c].v.s[row];
}
static inline bool fake_null(const table *t, size_t row, const char *name) {
    return table_is_null(t, row, fake_column(t, name));
}

#define assert_text(value, expected)                                              \
    do {                                                                          \
        str got_ = (value);                                                       \
        if (!str_eq(got_, str_of(expected)))                                      \
            fail_msg("expected \"%s\", got \"%.*s\"", (expected), STR_ARG(got_)); \
    } while (0)
#define assert_near(value, expected)                            \
    do {                                                        \
        double got_ = (value), want_ = (expected);              \
        if (!(fabs(got_ - want_) <= 1e-9 * (1 + fabs(want_))))  \
            fail_msg("expected %.12g, got %.12g", want_, got_); \
    } while (0)

#endif
