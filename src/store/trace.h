/* trace.h: the read side of the store: a sealed, immutable trace.
 *
 * All columns are plain arrays of `n` rows; row 0 is the null row, rows of interest are 1 …
 * n-1. A trace may be read by any number of threads without locks. All pointers and strings are
 * valid while the trace is open (while a reference is held).
 *
 *     for (uint32_t i = 1; i < t->slice.n; i++) total_ns += t->slice.dur[i];
 */
#ifndef STORE_TRACE_H
#define STORE_TRACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "store/schema.h"

typedef struct trace {
    /* t->slice.n rows, t->slice.start[i], t->kernel.op[i], … */
#define TABLE(t, doc) \
    struct {          \
        uint32_t n;
#define COLUMN(t, c, type, doc) const col_##type *c;
#define END(t) \
    }          \
    t;
#include "store/schema.def"
    /* Strings: id → bytes. */
    uint32_t n_strings;
    const uint64_t *string_offset; /* n_strings + 1 */
    const char *string_bytes;
    /* Argument records, see args.h. */
    const uint8_t *arg_bytes;
    const uint64_t *arg_block; /* offset of each block; n_arg_blocks + 1 */
    uint32_t n_arg_blocks;
    const uint32_t *shape_parent; /* layout trie: shape → parent shape, 0 at the root */
    const uint32_t *shape_key;    /* string id of the key of that place */
    uint32_t n_shapes;
    /* Facts about the whole. */
    int64_t start_ns,
        end_ns;           /* range of all slices, instants and memory events, base-relative */
    int64_t base_unix_ns; /* Unix time of 0, ABSENT_I64 when the producer did not say */
    uint64_t events_read; /* events of the producer, all phases */
    uint64_t events_dropped;
    uint64_t input_bytes;         /* of JSON, after decompression */
    uint64_t kind_count[N_KINDS]; /* slices of each kind: known without a scan */
    str format;                   /* "kineto", "chrome", … */
    struct trace_owner *owner;    /* private: what holds the memory */
    /* What was opened are merged summaries (summary.h): all tables are empty. NULL
     * otherwise. */
    const struct summary *summary;
} trace;

/* Reference counting; the last release frees. Thread safe. */
trace *trace_retain(trace *t);
void trace_release(trace *t);

/* A trace without events that holds a summary and frees it. NULL when out of memory, then the
 * summary is freed at once. */
trace *trace_of_summary(struct summary *s);

/* A trace from a file is read and checked table by table before its first use: file_open has
 * checked the small tables (process, track, device, meta, quality and all others below 1 MiB),
 * which with the row counts and kind_count is all that `info` needs. Call this before reading
 * any other table: it checks checksums, ids, parents and enumerations of these tables and the
 * strings. Done once, free afterwards and for a trace made in memory. ERR_FORMAT when the file
 * is damaged.
 *     TRY(trace_require(t, TRACE_TABLE(slice) | TRACE_TABLE(kernel), err)); */
#define TRACE_TABLE(table) ((uint64_t)1 << TABLE_##table)
#define TRACE_ALL (((uint64_t)1 << N_TABLES) - 1)
#define TRACE_ARGUMENTS ((uint64_t)1 << 63) /* args_reader_new asks for it itself */
status trace_require(const trace *t, uint64_t tables, error *err) MUST_USE;

static inline str trace_str(const trace *t, uint32_t id) {
    return id < t->n_strings ? (str){t->string_bytes + t->string_offset[id],
                                     (size_t)(t->string_offset[id + 1] - t->string_offset[id])}
                             : STR_NONE;
}
static inline str trace_slice_name(const trace *t, uint32_t slice) {
    return trace_str(t, t->slice.name[slice]);
}
static inline int64_t trace_slice_end(const trace *t, uint32_t slice) {
    return t->slice.start[slice] + t->slice.dur[slice];
}
/* Unix time of 0: what the producer said, or 0 where the times themselves can only be Unix
 * times; ABSENT_I64 when unknown. */
int64_t trace_base_unix_ns(const trace *t);
/* The track a slice is on: binary search over the tracks' ranges. */
uint32_t trace_track_of(const trace *t, uint32_t slice);
/* First slice of the track that starts at or after time (track end if none). */
uint32_t trace_lower_bound(const trace *t, uint32_t track, int64_t time_ns);
/* One past the last slice of the subtree of `slice` on its track. Spilled slices that are not
 * descendants may be in between: look at their parents. */
uint32_t trace_subtree_end(const trace *t, uint32_t slice);
/* Row of the slice in the op, kernel, call, comm or module_call table; 0 when it has none. */
uint32_t trace_op_of(const trace *t, uint32_t slice);
uint32_t trace_kernel_of(const trace *t, uint32_t slice);
/* An operator right inside one of its own name is that call once more: the second time after
 * autocast. */
static inline bool trace_is_call_again(const trace *t, uint32_t slice) {
    uint32_t parent = t->slice.parent[slice];
    return parent && t->slice.kind[slice] == KIND_OP && t->slice.kind[parent] == KIND_OP &&
           t->slice.name[slice] == t->slice.name[parent];
}
/* The operator that row `kernel` was launched in, 0: none was recorded. kernel.op may be one of
 * another step (LINK_INFERRED) or of a graph's capture (LINK_CAPTURED), whose time and
 * arguments are not those of this launch. */
static inline uint32_t trace_own_op(const trace *t, uint32_t kernel) {
    uint8_t how = t->kernel.link[kernel];
    return how == LINK_INFERRED || how == LINK_CAPTURED ? 0 : t->kernel.op[kernel];
}
uint32_t trace_call_of(const trace *t, uint32_t slice);
uint32_t trace_comm_of(const trace *t, uint32_t slice);
uint32_t trace_module_call_of(const trace *t, uint32_t slice);
/* Value (JSON text) of a top-level key, or STR_NONE. */
str trace_meta(const trace *t, str key);
/* The step (row) that contains a host time; 0 when none does. */
uint32_t trace_step_at(const trace *t, int64_t time_ns);
/* The step (row) that a slice belongs to; 0 when none. The one definition for all questions: a
 * host slice belongs to the step that holds its start; device work to the step of the call that
 * launched it, because a kernel often runs after its step has ended on the host. Device work
 * without a known call was launched before the recording and belongs to no step, unless the
 * trace has no calls at all: then it belongs to the step that holds its start. */
uint32_t trace_step_of(const trace *t, uint32_t slice);
/* The same for a row of table kernel, without searching for it. */
uint32_t trace_step_of_work(const trace *t, uint32_t kernel);
/* Count of a cause in the quality table. */
int64_t trace_quality(const trace *t, cause c);
/* Resident size of all columns, strings and arguments. */
uint64_t trace_size_bytes(const trace *t);

/* Everything the producer wrote in `args` of this record, as a JSON object appended to `out`.
 * Record 0 writes {}. ERR_FORMAT when a foreign file's record is damaged. */
status trace_args_json(const trace *t, uint32_t record, buf *out, error *err) MUST_USE;

/* Is there nothing that a question could be about: no summary, and no rows but those that
 * describe the file, its devices and its damage? */
bool trace_is_empty(const trace *t);

#endif
