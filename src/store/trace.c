/* trace.c: the life of a sealed trace and the small questions every analysis asks of it.
 *
 * A trace is a struct of plain column pointers and an owner that knows what to give back when
 * the last reference goes: blocks of anonymous memory for a trace that was just sealed, one
 * file map for a trace that was written before. Readers see no difference.
 *
 * The questions are binary searches over the order that seal promises (trace_int.h): tracks
 * share the slices out in order, slices of a track ascend by start, side tables ascend by
 * slice. On a trace that breaks the promise they may answer wrongly, but they end and stay
 * inside the columns. Counting and adding up is not done here: that is analyse/. */
#include <stddef.h>

#include "base/bisect.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pages.h"
#include "store/summary.h"
#include "store/trace_int.h"

/* What a ref_x column points to, and the code of a type, by the name of the type. */
enum {
    TARGET_i64 = N_TABLES,
    TARGET_u64 = N_TABLES,
    TARGET_f64 = N_TABLES,
    TARGET_u32 = N_TABLES,
    TARGET_i32 = N_TABLES,
    TARGET_u16 = N_TABLES,
    TARGET_u8 = N_TABLES,
    TARGET_str = N_TABLES,
#define TABLE(t, doc) TARGET_ref_##t = TABLE_##t,
#include "store/schema.def"
    CODE_i64 = TYPE_I64,
    CODE_u64 = TYPE_U64,
    CODE_f64 = TYPE_F64,
    CODE_u32 = TYPE_U32,
    CODE_i32 = TYPE_I32,
    CODE_u16 = TYPE_U16,
    CODE_u8 = TYPE_U8,
    CODE_str = TYPE_STR,
#define TABLE(t, doc) CODE_ref_##t = TYPE_REF,
#include "store/schema.def"
};

const column_info COLUMN_INFO[N_COLUMNS] = {
#define COLUMN(t, c, kind, doc_text)            \
    {                                           \
        .name = #c,                             \
        .table_name = #t,                       \
        .type_name = #kind,                     \
        .doc = doc_text,                        \
        .pointer_offset = offsetof(trace, t.c), \
        .table = TABLE_##t,                     \
        .elem_bytes = sizeof(col_##kind),       \
        .type = CODE_##kind,                    \
        .target = TARGET_##kind,                \
    },
#include "store/schema.def"
};

/* Columns of a table are together. START and STOP take the number of the next column without
 * using it up: the enumerator after each steps back by one. */
enum {
#define TABLE(t, doc) START_##t, BACK_1_##t = START_##t - 1,
#define COLUMN(t, c, kind, doc) NUMBER_##t##_##c,
#define END(t) STOP_##t, BACK_2_##t = STOP_##t - 1,
#include "store/schema.def"
};

const table_info TABLE_INFO[N_TABLES] = {
#define TABLE(t, doc_text)                   \
    {                                        \
        .name = #t,                          \
        .doc = doc_text,                     \
        .rows_offset = offsetof(trace, t.n), \
        .first_column = START_##t,           \
        .end_column = STOP_##t,              \
    },
#include "store/schema.def"
};

const void **trace_column_slot(trace *t, int column) {
    return (const void **)((char *)t + COLUMN_INFO[column].pointer_offset);
}

uint32_t *trace_rows_slot(trace *t, int table) {
    return (uint32_t *)((char *)t + TABLE_INFO[table].rows_offset);
}

/* ---- life -------------------------------------------------------------------------------- */

typedef struct {
    trace trace; /* first: the one pointer stands for both */
    struct trace_owner owner;
} owned_trace;

trace *trace_alloc(void) {
    owned_trace *o = mem_zalloc(sizeof *o);
    if (!o) return NULL;
    atomic_init(&o->owner.n_references, 1);
    o->trace.owner = &o->owner;
    o->trace.base_unix_ns = ABSENT_I64;
    return &o->trace;
}

void trace_own(trace *t, void *p, size_t bytes, void (*release)(void *p, size_t bytes)) {
    if (!p) return;
    struct trace_owner *o = t->owner;
    if (o->n_owned == TRACE_MAX_OWNED) BUG("a trace owns too many blocks");
    o->owned[o->n_owned++] = (owned_block){.p = p, .bytes = bytes, .release = release};
}

static void release_summary(void *p, size_t bytes) {
    (void)bytes;
    summary_free(p);
}

void trace_own_summary(trace *t, summary *s) {
    static const uint64_t null_row[2];
    for (int i = 0; i < N_COLUMNS; i++) *trace_column_slot(t, i) = null_row;
    for (int i = 0; i < N_TABLES; i++) *trace_rows_slot(t, i) = 1;
    t->format = STR("tacho_summary");
    t->summary = s;
    for (uint32_t i = 0; i < SUMMARY_N(s, worker); i++) {
        const summary_worker *w = &SUMMARY_ROWS(s, worker)[i];
        t->events_read += (uint64_t)max_i64(0, w->events_read);
        t->events_dropped += (uint64_t)max_i64(0, w->events_dropped);
        t->input_bytes += (uint64_t)max_i64(0, w->input_bytes);
    }
    if (SUMMARY_N(s, worker) == 1) {
        const summary_worker *w = SUMMARY_ROWS(s, worker);
        t->start_ns = w->start;
        t->end_ns = w->end;
        t->base_unix_ns = w->base;
        t->format = w->format;
    }
    trace_own(t, s, 0, release_summary);
}

trace *trace_of_summary(summary *s) {
    trace *t = trace_alloc();
    if (t)
        trace_own_summary(t, s);
    else
        summary_free(s);
    return t;
}

void trace_own_map(trace *t, void *p, size_t bytes) {
    trace_own(t, p, bytes, mem_unmap);
}

void trace_own_pages(trace *t, void *p, size_t bytes) {
    trace_own(t, p, bytes, pages_give);
}

trace *trace_retain(trace *t) {
    if (t) atomic_fetch_add_explicit(&t->owner->n_references, 1, memory_order_relaxed);
    return t;
}

void trace_release(trace *t) {
    if (!t) return;
    struct trace_owner *o = t->owner;
    /* Release on the way down, acquire at zero: the one that frees sees every other's reads
     * done. */
    if (atomic_fetch_sub_explicit(&o->n_references, 1, memory_order_acq_rel) != 1) return;
    while (o->n_owned > 0) {
        owned_block *b = &o->owned[--o->n_owned];
        b->release(b->p, b->bytes);
    }
    mem_free(t);
}

void trace_finish(trace *t) {
    memset(t->kind_count, 0, sizeof t->kind_count);
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (t->slice.kind[i] < N_KINDS) t->kind_count[t->slice.kind[i]]++;
}

status trace_require(const trace *t, uint64_t tables, error *err) {
    return t->owner && t->owner->require ? t->owner->require(t, tables, err) : OK;
}

/* ---- questions --------------------------------------------------------------------------- */

/* Before 2024 Kineto wrote times since 1970 and no base; no other clock is past this. */
#define SURELY_UNIX_NS INT64_C(1000000000000000000)

int64_t trace_base_unix_ns(const trace *t) {
    if (t->base_unix_ns != ABSENT_I64) return t->base_unix_ns;
    return t->start_ns > SURELY_UNIX_NS ? 0 : ABSENT_I64;
}

uint32_t trace_track_of(const trace *t, uint32_t slice) {
    uint32_t low = SEARCH_FIRST(i, 1, t->track.n, t->track.end[i] <= slice);
    return slice != 0 && low < t->track.n ? low : 0;
}

/* First slice in [low, high) that starts at or after the time; high when none does. */
static uint32_t find_start(const trace *t, uint32_t low, uint32_t high, int64_t time_ns) {
    return SEARCH_FIRST(i, low, high, t->slice.start[i] < time_ns);
}

uint32_t trace_lower_bound(const trace *t, uint32_t track, int64_t time_ns) {
    return find_start(t, t->track.first[track], t->track.end[track], time_ns);
}

/* The outermost slice around this one, or itself, that comes after `other`. */
static uint32_t outermost_after(const trace *t, uint32_t slice, uint32_t other) {
    while (t->slice.parent[slice] > other) slice = t->slice.parent[slice];
    return slice;
}

uint32_t trace_subtree_end(const trace *t, uint32_t slice) {
    uint32_t track = trace_track_of(t, slice);
    if (!track) return slice + 1;
    /* Nothing inside starts after the end; what starts exactly there may be empty and inside,
     * or the next sibling. */
    int64_t end_ns = trace_slice_end(t, slice);
    uint32_t end = t->track.end[track];
    if (end_ns < INT64_MAX) end = find_start(t, slice + 1, end, end_ns + 1);
    while (end > slice + 1) { /* a sibling is skipped with all that is inside it */
        uint32_t last = outermost_after(t, end - 1, slice);
        if (t->slice.parent[last] == slice) break;
        end = last;
    }
    return end;
}

/* Row whose slice is the one given, in a table that ascends by slice. */
static uint32_t find_row(const uint32_t *slices, uint32_t n, uint32_t slice) {
    uint32_t low = SEARCH_FIRST(i, 1, n, slices[i] < slice);
    return slice != 0 && low < n && slices[low] == slice ? low : 0;
}

uint32_t trace_op_of(const trace *t, uint32_t slice) {
    return find_row(t->op.slice, t->op.n, slice);
}

uint32_t trace_kernel_of(const trace *t, uint32_t slice) {
    return find_row(t->kernel.slice, t->kernel.n, slice);
}

uint32_t trace_call_of(const trace *t, uint32_t slice) {
    return find_row(t->call.slice, t->call.n, slice);
}

uint32_t trace_comm_of(const trace *t, uint32_t slice) {
    return find_row(t->comm.slice, t->comm.n, slice);
}

uint32_t trace_module_call_of(const trace *t, uint32_t slice) {
    return find_row(t->module_call.slice, t->module_call.n, slice);
}

str trace_meta(const trace *t, str key) {
    for (uint32_t i = 1; i < t->meta.n; i++)
        if (str_eq(trace_str(t, t->meta.key[i]), key)) return trace_str(t, t->meta.value[i]);
    return STR_NONE;
}

uint32_t trace_step_at(const trace *t, int64_t time_ns) {
    uint32_t low = SEARCH_FIRST(i, 1, t->step.n, t->step.start[i] <= time_ns);
    return low > 1 && time_ns < t->step.end[low - 1] ? low - 1 : 0;
}

uint32_t trace_step_of_work(const trace *t, uint32_t kernel) {
    uint32_t launch = t->kernel.launch[kernel];
    if (!launch && t->call.n > 1) return 0;
    return trace_step_at(t, t->slice.start[launch ? launch : t->kernel.slice[kernel]]);
}

uint32_t trace_step_of(const trace *t, uint32_t slice) {
    uint32_t kernel = kind_is_device(t->slice.kind[slice]) ? trace_kernel_of(t, slice) : 0;
    return kernel ? trace_step_of_work(t, kernel) : trace_step_at(t, t->slice.start[slice]);
}

int64_t trace_quality(const trace *t, cause c) {
    int64_t count = 0;
    for (uint32_t i = 1; i < t->quality.n; i++)
        if (t->quality.cause[i] == c) count = add_i64(count, t->quality.count[i]);
    return count;
}

uint64_t trace_size_bytes(const trace *t) {
    uint64_t bytes = 0;
    for (int c = 0; c < N_COLUMNS; c++)
        bytes += (uint64_t)COLUMN_INFO[c].elem_bytes * trace_rows(t, COLUMN_INFO[c].table);
    if (t->n_strings)
        bytes += 8 * ((uint64_t)t->n_strings + 1) + t->string_offset[t->n_strings];
    if (t->n_arg_blocks)
        bytes += 8 * ((uint64_t)t->n_arg_blocks + 1) + t->arg_block[t->n_arg_blocks];
    if (t->summary) bytes += summary_size_bytes(t->summary);
    return bytes + 8 * (uint64_t)t->n_shapes;
}

bool trace_is_empty(const trace *t) {
    static const uint64_t describing =
        TRACE_TABLE(process) | TRACE_TABLE(track) | TRACE_TABLE(category) |
        TRACE_TABLE(device) | TRACE_TABLE(meta) | TRACE_TABLE(quality) | TRACE_TABLE(clock) |
        TRACE_TABLE(note) | TRACE_TABLE(device_word);
    for (int i = 0; i < N_TABLES; i++)
        if (trace_rows(t, i) > 1 && !(describing >> i & 1)) return false;
    return !t->summary;
}
