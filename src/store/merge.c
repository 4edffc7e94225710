/* merge.c: several sealed traces as one: the rows of all inputs after each other.
 *
 * The promises of a trace (trace_int.h) make this a copy: tracks share the slices out in order,
 * so the tracks of the second input after those of the first keep every slice table sorted, and
 * each row id only needs the number of rows before it added. Four tables are sorted by time and
 * are merged by it.
 *
 *     column      becomes
 *     str         the id of the same bytes in one table of strings
 *     ref_X       the row moved by the rows of X before it
 *     times       moved by the difference of the times of day
 *     ids         moved apart (merge_ids.c), so that what matches in one input matches
 *                 nothing in another
 *     args        the argument blocks after each other, their string ids replaced
 *
 * What the producers said about losses is added up by cause. Totals of host memory are those of
 * all inputs together, because all processes of a machine share it. */
#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/args.h"
#include "store/merge_int.h"

typedef enum {
    RULE_COPY,
    RULE_STRING,
    RULE_ROW,
    RULE_TIME,
    RULE_ID,
    RULE_ARGS,
    RULE_CATEGORY,
    RULE_DEVICE,
    RULE_DEVICE_TYPE
} rule;

static rule rule_of(int column) {
    switch (column) {
    case COLUMN_slice_start:
    case COLUMN_instant_time:
    case COLUMN_counter_time:
    case COLUMN_memory_time:
    case COLUMN_sample_time:
    case COLUMN_step_start:
    case COLUMN_step_end:
    case COLUMN_queue_sample_time:
    case COLUMN_producer_step_start:
    case COLUMN_request_arrival:
    case COLUMN_request_scheduled:
    case COLUMN_request_first_token:
    case COLUMN_request_end: return RULE_TIME;
    case COLUMN_kernel_correlation:
    case COLUMN_call_correlation:
    case COLUMN_op_external:
    case COLUMN_op_sequence:
    case COLUMN_flow_id: return RULE_ID;
    case COLUMN_slice_args:
    case COLUMN_instant_args:
    case COLUMN_memory_args: return RULE_ARGS;
    case COLUMN_slice_category:
    case COLUMN_instant_category: return RULE_CATEGORY;
    case COLUMN_track_device:
    case COLUMN_kernel_device:
    case COLUMN_memory_device:
    case COLUMN_device_id: return RULE_DEVICE;
    case COLUMN_memory_device_type:
    case COLUMN_device_type: return RULE_DEVICE_TYPE;
    default: break;
    }
    if (COLUMN_INFO[column].type == TYPE_STR) return RULE_STRING;
    return COLUMN_INFO[column].type == TYPE_REF ? RULE_ROW : RULE_COPY;
}

/* ---- tables ------------------------------------------------------------------------------ */

status merge_table(merge_ctx *m, int table, size_t n) {
    if (n > UINT32_MAX - 1) FAIL0(m->err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    const table_info *info = &TABLE_INFO[table];
    size_t bytes = 0;
    for (int c = info->first_column; c < info->end_column; c++)
        bytes += (n * COLUMN_INFO[c].elem_bytes + 63) & ~(size_t)63;
    char *p = mem_map(bytes);
    if (!p) FAIL_MEMORY(m->err);
    trace_own_map(m->t, p, bytes);
    for (int c = info->first_column; c < info->end_column; c++) {
        *trace_column_slot(m->t, c) = p;
        p += (n * COLUMN_INFO[c].elem_bytes + 63) & ~(size_t)63;
    }
    *trace_rows_slot(m->t, table) = (uint32_t)n;
    return OK;
}

static const int TIMED[] = {COLUMN_memory_time, COLUMN_instant_time, COLUMN_counter_time,
                            COLUMN_step_start};
enum { N_TIMED = sizeof TIMED / sizeof *TIMED };

/* Rows of an input that are taken, with row 0. */
static uint32_t rows_of(const merge_source *in, int table) {
    return in->helper && table == TABLE_step ? 1 : trace_rows(in->t, table);
}

/* Times beyond what a slice may have (a forged base) stop there. */
static int64_t move_time(const merge_source *in, int64_t ns) {
    if (ns == ABSENT_I64) return ns;
    return max_i64(min_i64(add_i64(ns, in->shift_ns), TRACE_TIME_LIMIT - 1),
                   1 - TRACE_TIME_LIMIT);
}

/* Where each row of a table that is sorted by time goes. Rows of one time keep the order of the
 * inputs. */
static status sort_table(merge_ctx *m, int column) {
    int table = COLUMN_INFO[column].table;
    size_t n = trace_rows(m->t, table) - 1, at = 0, bytes = (2 * n + 1) * sizeof(sort_pair);
    sort_pair *pairs = mem_map(bytes);
    if (!pairs) FAIL_MEMORY(m->err);
    for (uint32_t k = 0; k < m->n; k++) {
        const int64_t *times = trace_column(m->in[k].t, column);
        for (uint32_t i = 1; i < rows_of(&m->in[k], table); i++, at++)
            pairs[at] = (sort_pair){(uint64_t)move_time(&m->in[k], times[i]) ^ 1ull << 63,
                                    (uint32_t)at};
    }
    sort_radix(pairs, pairs + n, n);
    uint32_t *to = ARENA_ARRAY(&m->scratch, uint32_t, n + 1);
    for (size_t i = 0; to && i < n; i++) to[pairs[i].row + 1] = (uint32_t)i + 1;
    mem_unmap(pairs, bytes);
    if (!to) FAIL_MEMORY(m->err);
    for (uint32_t k = 0; k < m->n; k++) m->in[k].sorted[table] = to + m->in[k].rows[table];
    return OK;
}

static bool is_own_table(int table) {
    return table == TABLE_category || table == TABLE_meta || table == TABLE_quality ||
           table == TABLE_device_word;
}

static status make_tables(merge_ctx *m) {
    for (int table = 0; table < N_TABLES; table++) {
        size_t n = 1;
        for (uint32_t k = 0; k < m->n; k++) {
            m->in[k].rows[table] = sat_u32(n - 1);
            if (rows_of(&m->in[k], table) > 1) n += rows_of(&m->in[k], table) - 1;
        }
        if (!is_own_table(table)) TRY(merge_table(m, table, n));
    }
    for (int i = 0; i < N_TIMED; i++) TRY(sort_table(m, TIMED[i]));
    return OK;
}

/* ---- columns ----------------------------------------------------------------------------- */

static uint32_t row_of(const merge_source *in, int table, uint32_t row) {
    if (row == 0) return 0;
    return in->sorted[table] ? in->sorted[table][row] : in->rows[table] + row;
}

static int64_t move_id(const merge_source *in, int column, int64_t id) {
    int64_t by = column == COLUMN_op_external   ? in->external
                 : column == COLUMN_op_sequence ? in->sequence
                 : column == COLUMN_flow_id     ? in->flow
                                                : in->correlation;
    return id < 0 || id > INT64_MAX - by ? id : id + by;
}

static uint32_t move_u32(const merge_source *in, rule r, int column, uint32_t v) {
    switch (r) {
    case RULE_STRING: return v < in->t->n_strings ? in->strings[v] : 0;
    case RULE_ROW: return row_of(in, COLUMN_INFO[column].target, v);
    case RULE_ARGS: return v ? v + (in->n_blocks << 16) : 0;
    case RULE_DEVICE: return (uint32_t)merge_device(in, (int32_t)v);
    default: return v;
    }
}

static void copy_cells(const merge_source *in, int column, void *to_column) {
    const column_info *info = &COLUMN_INFO[column];
    const char *from = trace_column(in->t, column);
    rule r = rule_of(column);
    for (uint32_t i = 1; i < rows_of(in, info->table); i++) {
        size_t row = row_of(in, info->table, i);
        if (info->elem_bytes == 8) {
            int64_t v = ((const int64_t *)(const void *)from)[i];
            if (r == RULE_TIME) v = move_time(in, v);
            if (r == RULE_ID) v = move_id(in, column, v);
            ((int64_t *)to_column)[row] = v;
        } else if (info->elem_bytes == 4) {
            uint32_t v = ((const uint32_t *)(const void *)from)[i];
            ((uint32_t *)to_column)[row] = move_u32(in, r, column, v);
        } else if (info->elem_bytes == 2) {
            uint16_t v = ((const uint16_t *)(const void *)from)[i];
            if (r == RULE_CATEGORY) v = v < in->t->category.n ? in->categories[v] : 0;
            ((uint16_t *)to_column)[row] = v;
        } else {
            uint8_t v = (uint8_t)from[i];
            ((uint8_t *)to_column)[row] = r == RULE_DEVICE_TYPE ? in->types[v] : v;
        }
    }
}

static void copy_columns(merge_ctx *m) {
    for (int c = 0; c < N_COLUMNS; c++)
        for (uint32_t k = 0; k < m->n && !is_own_table(COLUMN_INFO[c].table); k++)
            copy_cells(&m->in[k], c, (void *)(uintptr_t)trace_column(m->t, c));
    /* The host has no number that could be changed. */
    for (uint32_t k = 0; k < m->n; k++) {
        const merge_source *in = &m->in[k];
        int32_t *device = MERGED(m, memory, device);
        for (uint32_t i = 1; i < in->t->memory.n; i++)
            if (in->t->memory.device_type[i] == DEVICE_CPU)
                device[row_of(in, TABLE_memory, i)] = in->t->memory.device[i];
    }
}

/* The totals of host memory: what each input had last, added up. */
static status add_host_memory(merge_ctx *m) {
    const trace *t = m->t;
    int64_t *allocated = MERGED(m, memory, allocated);
    int64_t *last = ARENA_ARRAY(&m->scratch, int64_t, m->n);
    uint32_t *owner = ARENA_ARRAY(&m->scratch, uint32_t, t->memory.n);
    if (!last || !owner) FAIL_MEMORY(m->err);
    for (uint32_t k = 0; k < m->n; k++) {
        last[k] = 0;
        for (uint32_t i = 1; i < m->in[k].t->memory.n; i++)
            owner[row_of(&m->in[k], TABLE_memory, i)] = k;
    }
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (t->memory.device_type[i] != DEVICE_CPU || allocated[i] == ABSENT_I64) continue;
        int64_t sum = 0;
        last[owner[i]] = allocated[i];
        for (uint32_t k = 0; k < m->n; k++) sum = add_i64(sum, last[k]);
        allocated[i] = sum;
    }
    return OK;
}

/* ---- strings, categories, arguments, losses ---------------------------------------------- */

uint32_t merge_text(merge_ctx *m, str text) {
    return intern_add(m->strings, text);
}

static status read_strings(merge_ctx *m) {
    for (uint32_t k = 0; k < m->n; k++) {
        const trace *t = m->in[k].t;
        m->in[k].strings = ARENA_ARRAY(&m->scratch, uint32_t, t->n_strings + 1);
        if (!m->in[k].strings) FAIL_MEMORY(m->err);
        for (uint32_t i = 0; i < t->n_strings; i++) {
            m->in[k].strings[i] = merge_text(m, trace_str(t, i));
            if (m->in[k].strings[i] == UINT32_MAX) FAIL_MEMORY(m->err);
        }
    }
    return OK;
}

static status write_strings(merge_ctx *m) {
    uint32_t n = intern_count(m->strings);
    size_t bytes = sat_size(intern_bytes(m->strings)),
           offset_bytes = ((size_t)n + 1) * sizeof(uint64_t);
    uint64_t *offsets = mem_map(offset_bytes), at = 0;
    trace_own_map(m->t, offsets, offset_bytes);
    char *text = mem_map(bytes + 1);
    trace_own_map(m->t, text, bytes + 1);
    if (!offsets || !text) FAIL_MEMORY(m->err);
    for (uint32_t i = 0; i < n; i++) {
        str s = intern_get(m->strings, i);
        offsets[i] = at;
        if (s.n) memcpy(text + at, s.p, s.n);
        at += s.n;
    }
    offsets[n] = at;
    m->t->n_strings = n;
    m->t->string_offset = offsets;
    m->t->string_bytes = text;
    m->t->format = trace_str(m->t, m->format); /* the input's own may end with its file */
    return OK;
}

/* The words of all inputs, each once; one too many becomes none. */
static status merge_categories(merge_ctx *m) {
    vec names = VEC_INIT(uint32_t);
    map rows = {0};
    uint32_t *none = vec_push(&names);
    status st = none ? OK : ERR_MEMORY;
    if (none) *none = 0;
    for (uint32_t k = 0; k < m->n && st == OK; k++) {
        const trace *t = m->in[k].t;
        m->in[k].categories = ARENA_ARRAY(&m->scratch, uint16_t, t->category.n + 1);
        if (!m->in[k].categories) st = ERR_MEMORY;
        for (uint32_t i = 0; i < t->category.n && st == OK; i++) {
            uint32_t name = i ? m->in[k].strings[t->category.name[i]] : 0;
            uint32_t *at = i ? map_at(&rows, name) : NULL;
            m->in[k].categories[i] = 0;
            if (i && at && *at == MAP_NONE && names.n <= UINT16_MAX) {
                *at = (uint32_t)names.n;
                uint32_t *row = vec_push(&names);
                if (row) *row = name;
                if (!row) st = ERR_MEMORY;
            } else if (at && *at == MAP_NONE) {
                *at = 0;
            }
            if (i && !at) st = ERR_MEMORY;
            if (at) m->in[k].categories[i] = (uint16_t)*at;
        }
    }
    if (st == OK) st = merge_table(m, TABLE_category, names.n);
    if (st == OK) memcpy(MERGED(m, category, name), names.p, names.n * sizeof(uint32_t));
    vec_fini(&names);
    map_fini(&rows);
    if (st == ERR_MEMORY) FAIL_MEMORY(m->err);
    return st;
}

/* Shapes 0 and 1 mean the same everywhere; the others follow each other. */
static status merge_shapes(merge_ctx *m) {
    size_t n = 2;
    for (uint32_t k = 0; k < m->n; k++) {
        m->in[k].n_shapes = sat_u32(n - 2);
        if (m->in[k].t->n_shapes > 2) n += m->in[k].t->n_shapes - 2;
    }
    if (n > UINT32_MAX / 2) FAIL0(m->err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    uint32_t *parent = mem_map(2 * n * sizeof *parent), *key = parent + n;
    if (!parent) FAIL_MEMORY(m->err);
    trace_own_map(m->t, parent, 2 * n * sizeof *parent);
    for (uint32_t k = 0; k < m->n; k++) {
        const merge_source *in = &m->in[k];
        for (uint32_t s = 2; s < in->t->n_shapes; s++) {
            uint32_t p = in->t->shape_parent[s], old = in->t->shape_key[s];
            parent[s + in->n_shapes] = p < 2 ? p : p + in->n_shapes;
            key[s + in->n_shapes] = old < in->t->n_strings ? in->strings[old] : 0;
        }
    }
    m->t->shape_parent = parent;
    m->t->shape_key = key;
    m->t->n_shapes = (uint32_t)n;
    return OK;
}

static status copy_blocks(merge_ctx *m, buf *bytes, vec *offsets) {
    for (uint32_t k = 0; k < m->n; k++) {
        const merge_source *in = &m->in[k];
        args_reader *r;
        TRY(args_reader_new(in->t, &r, m->err));
        status st = OK;
        for (uint32_t b = 0; b < in->t->n_arg_blocks && st == OK; b++) {
            uint64_t *at = vec_push(offsets);
            if (at) *at = bytes->n;
            st = at ? args_copy_block(r, b, in->strings, in->n_shapes, bytes) : ERR_MEMORY;
        }
        args_reader_free(r);
        if (st == ERR_MEMORY) FAIL_MEMORY(m->err);
        if (st == ERR_LIMIT) FAIL0(m->err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
        TRY(st);
    }
    return OK;
}

static status merge_arguments(merge_ctx *m) {
    buf bytes = {0};
    vec offsets = VEC_INIT(uint64_t);
    uint64_t n = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        m->in[k].n_blocks = sat_u32(n);
        n += m->in[k].t->n_arg_blocks;
    }
    if (n > ARGS_MAX_BLOCKS) FAIL0(m->err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    status st = copy_blocks(m, &bytes, &offsets);
    uint8_t *p = st == OK ? mem_map(bytes.n + 1) : NULL;
    uint64_t *blocks = p ? mem_map((offsets.n + 1) * sizeof *blocks) : NULL;
    if (p) trace_own_map(m->t, p, bytes.n + 1);
    if (blocks) {
        trace_own_map(m->t, blocks, (offsets.n + 1) * sizeof *blocks);
        if (bytes.n) memcpy(p, bytes.p, bytes.n);
        if (offsets.n) memcpy(blocks, offsets.p, offsets.n * sizeof *blocks);
        blocks[offsets.n] = bytes.n;
        m->t->arg_bytes = p;
        m->t->arg_block = blocks;
        m->t->n_arg_blocks = (uint32_t)offsets.n;
    }
    buf_fini(&bytes);
    vec_fini(&offsets);
    TRY(st);
    if (!blocks) FAIL_MEMORY(m->err);
    return OK;
}

/* Losses by cause; of several inputs the place of the first counts. */
static status merge_quality(merge_ctx *m) {
    int64_t count[N_CAUSES] = {0}, offset[N_CAUSES];
    uint32_t example[N_CAUSES] = {0}, n = 1, row = 1;
    for (uint32_t k = 0; k < m->n; k++) {
        const trace *t = m->in[k].t;
        for (uint32_t i = 1; i < t->quality.n; i++) {
            uint16_t c = t->quality.cause[i];
            if (c >= N_CAUSES) continue;
            if (count[c] == 0) {
                n++;
                offset[c] = t->quality.offset[i];
                example[c] = m->in[k].strings[t->quality.example[i]];
            }
            count[c] = add_i64(count[c], t->quality.count[i]);
        }
    }
    TRY(merge_table(m, TABLE_quality, n));
    for (uint16_t c = 0; c < N_CAUSES; c++) {
        if (count[c] == 0) continue;
        ((uint16_t *)MERGED(m, quality, cause))[row] = c;
        ((int64_t *)MERGED(m, quality, count))[row] = count[c];
        ((int64_t *)MERGED(m, quality, offset))[row] = offset[c];
        ((uint32_t *)MERGED(m, quality, example))[row++] = example[c];
    }
    return OK;
}

/* ---- the clock --------------------------------------------------------------------------- */

static bool can_move(const trace *t, int64_t by_ns) {
    return add_i64(t->end_ns, by_ns) < TRACE_TIME_LIMIT &&
           add_i64(t->start_ns, by_ns) > -TRACE_TIME_LIMIT;
}

/* The base of the first input that has one is the base of all. */
static void set_clock(merge_ctx *m, uint32_t *n_clockless) {
    trace *t = m->t;
    bool begun = false;
    for (uint32_t k = m->n; COUNT_DOWN(k);) {
        int64_t base = trace_base_unix_ns(m->in[k].t);
        if (base != ABSENT_I64) t->base_unix_ns = base;
    }
    *n_clockless = 0;
    for (int pass = 0; pass < 2; pass++) /* first those that tell the time */
        for (uint32_t k = 0; k < m->n; k++) {
            merge_source *in = &m->in[k];
            int64_t base = trace_base_unix_ns(in->t);
            int64_t by = base == ABSENT_I64 ? 0 : sub_i64(base, t->base_unix_ns);
            bool reported = base != ABSENT_I64 && can_move(in->t, by);
            if (reported != (pass == 0)) continue;
            in->shift_ns = by;
            if (!reported && t->base_unix_ns != ABSENT_I64) {
                in->shift_ns = begun ? sub_i64(t->start_ns, in->t->start_ns) : 0;
                (*n_clockless)++;
            }
            int64_t start = add_i64(in->t->start_ns, in->shift_ns);
            int64_t end = add_i64(in->t->end_ns, in->shift_ns);
            t->start_ns = begun ? min_i64(t->start_ns, start) : start;
            t->end_ns = begun ? max_i64(t->end_ns, end) : end;
            begun = true;
        }
}

/* ---- the whole --------------------------------------------------------------------------- */

static status take_inputs(merge_ctx *m, const merge_input *in) {
    m->in = ARENA_ARRAY(&m->scratch, merge_source, m->n);
    if (!m->in) FAIL_MEMORY(m->err);
    for (uint32_t k = 0; k < m->n; k++)
        m->in[k] = (merge_source){.t = in[k].trace, .device_ids = VEC_INIT(int32_t)};
    bool same = true;
    for (uint32_t k = 0; k < m->n; k++) {
        m->in[k].name = in[k].name;
        m->in[k].helper = in[k].helper;
        TRY(trace_require(in[k].trace, TRACE_ALL, m->err));
        m->t->events_read += in[k].trace->events_read;
        m->t->events_dropped += in[k].trace->events_dropped;
        m->t->input_bytes += in[k].trace->input_bytes;
        same = same && str_eq(in[k].trace->format, in[0].trace->format);
    }
    m->format = merge_text(m, same ? in[0].trace->format : STR("mixed"));
    if (m->format == UINT32_MAX) FAIL_MEMORY(m->err);
    return OK;
}

/* Helpers do not make the recording longer: times stay offsets from where the first input
 * begins. */
static void keep_extent(merge_ctx *m) {
    const merge_source *first = &m->in[0];
    for (uint32_t k = 0; k < m->n; k++) {
        if (!m->in[k].helper) continue;
        m->t->start_ns = move_time(first, first->t->start_ns);
        m->t->end_ns = move_time(first, first->t->end_ns);
    }
}

static status merge_all(merge_ctx *m, const merge_input *in, uint32_t *n_clockless) {
    TRY(take_inputs(m, in));
    set_clock(m, n_clockless);
    TRY(read_strings(m));
    merge_types(m);
    TRY(merge_plan_ids(m));
    TRY(make_tables(m));
    TRY(merge_categories(m));
    TRY(merge_shapes(m));
    TRY(merge_arguments(m));
    copy_columns(m);
    TRY(add_host_memory(m));
    TRY(merge_quality(m));
    TRY(merge_processes(m));
    TRY(merge_metas(m));
    TRY(merge_device_words(m));
    TRY(write_strings(m));
    trace_finish(m->t);
    keep_extent(m);
    return OK;
}

status trace_merge(const merge_input *in, uint32_t n, trace **out, uint32_t *n_clockless,
                   error *err) {
    merge_ctx m = {.t = trace_alloc(), .n = n, .strings = intern_new(), .err = err};
    arena_init(&m.scratch, 0);
    status st = OK;
    if (m.t && m.strings)
        st = merge_all(&m, in, n_clockless);
    else
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    for (uint32_t k = 0; m.in && k < n; k++) {
        map_fini(&m.in[k].devices);
        vec_fini(&m.in[k].device_ids);
    }
    intern_free(m.strings);
    arena_fini(&m.scratch);
    if (st == OK)
        *out = m.t;
    else
        trace_release(m.t);
    return st;
}
