/* file_check.c: may the columns of a file be believed?
 *
 * Analyses index columns with the ids they find in columns, without looking; so before a table
 * is used its checksums must hold (damage) and every id must point into its table, parents must
 * come before their children, enumerations must be known, ends of intervals must not overflow
 * (malice: anyone can write a file with right checksums). trace_int.h lists the promises.
 *
 * A table is read and checked once, at its first use, under a mutex; afterwards the question is
 * one atomic load. Tables below SMALL_BYTES are checked when the file is opened: that is
 * everything `info` needs. Strings are checked as a whole before any large table; when they are
 * large themselves, the small tables' own strings are looked at one by one, so that opening
 * never costs a pass over all. Arguments: only the borders of their blocks and the shapes;
 * args.c checks each byte it reads. */
#include "base/hash.h"
#include "base/mem.h"
#include "base/pool.h"
#include "store/args.h"
#include "store/file_int.h"

/* 1 MiB: hashing and scanning take about 0.5 ms from a warm page cache. */
enum { SMALL_BYTES = 1 << 20 };
/* From here on threads are worth their start, tens of microseconds. */
enum { LARGE_BYTES = 16 << 20, MOST_THREADS = 8 };

static bool is_checked(const open_file *f, uint64_t bits) {
    return (atomic_load_explicit(&f->checked, memory_order_acquire) & bits) == bits;
}

static bool sum_holds(const open_file *f, int section) {
    const file_section *s = f->toc[section];
    return !s || hash_bytes64(f->copy + s->offset, (size_t)s->size_bytes) == s->checksum;
}

/* ---- plain columns ----------------------------------------------------------------------- */

/* The largest value. No early end: this loop runs as wide as the machine allows. */
static uint32_t max_u32(const uint32_t *p, uint32_t n) {
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++) m = p[i] > m ? p[i] : m;
    return m;
}

static uint32_t max_u16(const uint16_t *p, uint32_t n) {
    uint16_t m = 0;
    for (uint32_t i = 0; i < n; i++) m = p[i] > m ? p[i] : m;
    return m;
}

static uint32_t max_u8(const uint8_t *p, uint32_t n) {
    uint8_t m = 0;
    for (uint32_t i = 0; i < n; i++) m = p[i] > m ? p[i] : m;
    return m;
}

static bool strings_are_valid(const trace *t, const uint32_t *ids, uint32_t n) {
    uint64_t total = t->string_offset[t->n_strings];
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t *o = t->string_offset + ids[i];
        if (o[0] > o[1] || o[1] > total) return false;
    }
    return true;
}

/* The first value that a column must not hold; UINT64_MAX when every value is fine. */
static uint64_t find_limit(const trace *t, int column) {
    const column_info *c = &COLUMN_INFO[column];
    switch (column) {
    case COLUMN_track_first:
    case COLUMN_track_end: return (uint64_t)t->slice.n + 1;
    case COLUMN_slice_category:
    case COLUMN_instant_category: return t->category.n;
    case COLUMN_slice_kind: return N_KINDS;
    case COLUMN_track_kind: return TRACK_SPAN + 1;
    case COLUMN_flow_kind: return N_FLOW_KINDS;
    case COLUMN_kernel_link: return LINK_CAPTURED + 1;
    case COLUMN_op_phase: return PHASE_COMMUNICATION + 1;
    case COLUMN_memory_kind: return MEMORY_SEGMENT_EXISTING + 1;
    case COLUMN_sample_state: return N_SAMPLE_STATES;
    case COLUMN_quality_cause: return N_CAUSES;
    default: break;
    }
    if (c->type == TYPE_STR) return t->n_strings;
    return c->type == TYPE_REF ? trace_rows(t, c->target) : UINT64_MAX;
}

static bool column_is_valid(const trace *t, int column) {
    const open_file *f = t->owner->file;
    const column_info *c = &COLUMN_INFO[column];
    uint64_t limit = find_limit(t, column);
    const void *p = trace_column(t, column);
    uint32_t n = trace_rows(t, c->table);
    if (!sum_holds(f, column)) return false;
    if (limit == UINT64_MAX) return true;
    uint64_t largest = c->elem_bytes == 4   ? max_u32(p, n)
                       : c->elem_bytes == 2 ? max_u16(p, n)
                                            : max_u8(p, n);
    if (largest >= limit ||
        (f->toc[column] && c->elem_bytes == 4 && largest != f->toc[column]->maximum))
        return false;
    return c->type != TYPE_STR || is_checked(f, FILE_STRINGS) || strings_are_valid(t, p, n);
}

/* ---- promises between rows --------------------------------------------------------------- */

static bool parents_precede(const uint32_t *parent, uint32_t n) {
    bool ok = parent[0] == 0;
    for (uint32_t i = 1; i < n; i++) ok &= parent[i] < i;
    return ok;
}

/* Follows each row up to a row that is known to end; a circle comes back to the row's own
 * mark. */
static status check_no_circle(const uint32_t *parent, uint32_t n, bool *ok, error *err) {
    *ok = parents_precede(parent, n);
    if (*ok || parent[0] != 0) return OK;
    uint32_t *mark = mem_zalloc((size_t)n * sizeof *mark);
    if (!mark) FAIL_MEMORY(err);
    *ok = true;
    for (uint32_t i = 1; i < n && *ok; i++) {
        uint32_t at = i;
        while (at && !mark[at]) {
            mark[at] = i;
            at = parent[at];
        }
        /* A mark of this walk means a circle; one of an earlier walk ended well. */
        *ok = !(at && mark[at] == i);
    }
    mem_free(mark);
    return OK;
}

static bool ascends(const uint32_t *slices, uint32_t n) {
    bool ok = true;
    for (uint32_t i = 1; i < n; i++) ok &= slices[i] > slices[i - 1];
    return ok;
}

static bool tracks_partition(const trace *t) {
    uint32_t at = 1;
    for (uint32_t i = 1; i < t->track.n; i++) {
        if (t->track.first[i] != at || t->track.end[i] < at) return false;
        at = t->track.end[i];
    }
    return at == t->slice.n;
}

static bool times_are_valid(const trace *t) {
    bool ok = true;
    for (uint32_t i = 0; i < t->slice.n; i++) {
        int64_t start = t->slice.start[i], dur = t->slice.dur[i];
        ok &= start > -TRACE_TIME_LIMIT && start < TRACE_TIME_LIMIT && dur >= 0 &&
              dur < TRACE_TIME_LIMIT;
    }
    return ok;
}

/* Those of a thread ascend and do not overlap. */
static bool samples_are_sound(const trace *t) {
    bool ok = true;
    for (uint32_t i = 1; i < t->sample.n; i++) {
        int64_t time = t->sample.time[i], dur = t->sample.dur[i];
        if (time <= -TRACE_TIME_LIMIT || time >= TRACE_TIME_LIMIT || dur < 0 ||
            dur >= TRACE_TIME_LIMIT)
            return false;
        if (i == 1) continue;
        ok &= t->sample.track[i] > t->sample.track[i - 1] ||
              (t->sample.track[i] == t->sample.track[i - 1] &&
               time >= add_i64(t->sample.time[i - 1], t->sample.dur[i - 1]));
    }
    return ok;
}

static status check_rows(const trace *t, int table, bool *ok, error *err) {
    switch (table) {
    case TABLE_track: *ok = tracks_partition(t); break;
    case TABLE_slice:
        *ok = parents_precede(t->slice.parent, t->slice.n) && times_are_valid(t);
        break;
    case TABLE_frame: *ok = parents_precede(t->frame.parent, t->frame.n); break;
    case TABLE_module: return check_no_circle(t->module.parent, t->module.n, ok, err);
    case TABLE_pipe_op: return check_no_circle(t->pipe_op.parent, t->pipe_op.n, ok, err);
    case TABLE_kernel: *ok = ascends(t->kernel.slice, t->kernel.n); break;
    case TABLE_op: *ok = ascends(t->op.slice, t->op.n); break;
    case TABLE_call: *ok = ascends(t->call.slice, t->call.n); break;
    case TABLE_comm: *ok = ascends(t->comm.slice, t->comm.n); break;
    case TABLE_module_call: *ok = ascends(t->module_call.slice, t->module_call.n); break;
    case TABLE_sample: *ok = samples_are_sound(t); break;
    default: *ok = true;
    }
    return OK;
}

/* ---- groups: a table, the strings, the arguments ----------------------------------------- */

typedef struct {
    const trace *t;
    int first_column;
    status *done; /* one for each column */
} columns_check;

static void check_column(void *context, size_t i, int thread) {
    const columns_check *c = context;
    int column = c->first_column + (int)i;
    (void)thread;
    c->done[i] = file_read_section(c->t->owner->file, column, NULL);
    if (c->done[i] == OK && !column_is_valid(c->t, column)) c->done[i] = ERR_FORMAT;
}

/* Checks all columns at once, by several threads: part of what reading costs more than mapping
 * is won back. False when one is damaged, or there are no threads: then they are checked one
 * after the other, to say which. */
static bool columns_are_valid(const trace *t, const table_info *info) {
    status done[N_COLUMNS];
    int n = info->end_column - info->first_column;
    columns_check c = {t, info->first_column, done};
    int threads = pool_cpus() < MOST_THREADS ? pool_cpus() : MOST_THREADS;
    pool *p = pool_new(threads < n ? threads : n);
    if (!p) return false;
    pool_for(p, (size_t)n, check_column, &c);
    pool_free(p);
    for (int i = 0; i < n; i++)
        if (done[i] != OK) return false;
    return true;
}

static uint64_t table_bytes(const trace *t, int table) {
    uint64_t bytes = 0;
    for (int c = TABLE_INFO[table].first_column; c < TABLE_INFO[table].end_column; c++)
        bytes += (uint64_t)COLUMN_INFO[c].elem_bytes * trace_rows(t, table);
    return bytes;
}

static status check_columns(const trace *t, const table_info *info, error *err) {
    open_file *f = t->owner->file;
    for (int c = info->first_column; c < info->end_column; c++) {
        TRY(file_read_section(f, c, err));
        if (!column_is_valid(t, c)) return file_damaged(f, section_describe(c).name, err);
    }
    return OK;
}

static status check_table(const trace *t, int table, error *err) {
    open_file *f = t->owner->file;
    const table_info *info = &TABLE_INFO[table];
    if (table_bytes(t, table) < LARGE_BYTES || !columns_are_valid(t, info))
        TRY(check_columns(t, info, err));
    bool ok = true;
    TRY(check_rows(t, table, &ok, err));
    return ok ? OK : file_damaged(f, info->name, err);
}

static status check_strings(const trace *t, error *err) {
    const open_file *f = t->owner->file;
    bool ok = sum_holds(f, SECTION_STRING_OFFSET) && sum_holds(f, SECTION_STRING_BYTES);
    for (uint32_t i = 0; i < t->n_strings; i++)
        ok &= t->string_offset[i] <= t->string_offset[i + 1];
    return ok ? OK : file_damaged(f, "string.bytes", err);
}

static status check_arguments(const trace *t, error *err) {
    open_file *f = t->owner->file;
    bool ok = true;
    for (int s = SECTION_ARG_BLOCK; s <= SECTION_SHAPE_KEY; s++) {
        TRY(file_read_section(f, s, err));
        ok &= sum_holds(f, s);
    }
    for (uint32_t i = 0; i < t->n_arg_blocks; i++)
        ok &= t->arg_block[i] <= t->arg_block[i + 1] &&
              t->arg_block[i + 1] - t->arg_block[i] <= ARGS_BLOCK_BYTES + ARGS_RECORD_BYTES;
    ok &= t->n_shapes == 0 || parents_precede(t->shape_parent, t->n_shapes);
    ok &= max_u32(t->shape_key, t->n_shapes) < t->n_strings;
    return ok ? OK : file_damaged(f, "argument.bytes", err);
}

static status check_group(const trace *t, uint64_t bit, error *err) {
    open_file *f = t->owner->file;
    if (is_checked(f, bit)) return OK;
    if (bit == FILE_STRINGS)
        TRY(check_strings(t, err));
    else if (bit == TRACE_ARGUMENTS)
        TRY(check_arguments(t, err));
    else
        TRY(check_table(t, __builtin_ctzll(bit), err));
    atomic_fetch_or_explicit(&f->checked, bit, memory_order_release);
    return OK;
}

static status check_groups(const trace *t, uint64_t groups, error *err) {
    TRY(check_group(t, FILE_STRINGS, err));
    for (int table = 0; table < N_TABLES; table++)
        if (groups >> table & 1) TRY(check_group(t, (uint64_t)1 << table, err));
    return groups & TRACE_ARGUMENTS ? check_group(t, TRACE_ARGUMENTS, err) : OK;
}

status file_require(const trace *t, uint64_t tables, error *err) {
    open_file *f = t->owner->file;
    uint64_t groups = (tables & (TRACE_ALL | TRACE_ARGUMENTS)) | FILE_STRINGS;
    if (is_checked(f, groups)) return OK;
    pthread_mutex_lock(&f->lock);
    status s = check_groups(t, groups, err);
    if (s == OK) file_close_when_read(f);
    pthread_mutex_unlock(&f->lock);
    return s;
}

status file_check_small(const trace *t, error *err) {
    if (8 * (uint64_t)t->n_strings + t->string_offset[t->n_strings] <= 4 * SMALL_BYTES)
        TRY(check_group(t, FILE_STRINGS, err));
    for (int table = 0; table < N_TABLES; table++)
        if (table_bytes(t, table) <= SMALL_BYTES)
            TRY(check_group(t, (uint64_t)1 << table, err));
    return OK;
}
