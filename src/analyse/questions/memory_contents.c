/* memory_contents.c: what memory holds at a moment: at the peak, or when a reader asks for.
 *
 *   peak_contents  by operator, at the peak of each device
 *   contents       at the moment of parameter `at` (the peak of each device if not given),
 *                  by operator, by module or by size
 *
 * A block is alive from its allocation to its release; rows are in order of time, so the order
 * of rows decides about events of one moment. What is allocated but no allocation of the
 * recording accounts for is from before it (name null). */
#include "analyse/memory/memory_view.h"
#include "analyse/questions/memory_owner.h"
#include "base/buf.h"
#include "base/fmt.h"
#include "base/intern.h"
#include "base/sort.h"

#define COL_M(table, name) COL(memory, table, name)

typedef enum { BY_OP, BY_MODULE, BY_SIZE } contents_by;

typedef struct {
    uint32_t device;
    str name; /* NULL: not known */
    int64_t bytes, allocations;
    int64_t since;       /* of the bytes: allocated in the recording */
    uint32_t slice;      /* that allocated the largest block, 0 = not known */
    int64_t slice_bytes; /* of that block */
} holder;

/* The moment asked for, on one device. */
typedef struct {
    uint32_t row;      /* the last event at or before it; 0 = none */
    int64_t allocated; /* ABSENT_I64: not known */
} moment;

typedef struct {
    memory_view *m;
    contents_by by;
    moment *moments; /* by device */
    groups rows;
    const uint32_t *rank; /* by device: place in the reader's order */
    memory_owner owner;
    int64_t *known; /* by device: bytes of blocks that are listed */
    bool *follows;  /* by device: blocks can be followed */
} holders;

static bool same_holder(const void *row, const void *key) {
    const holder *x = row, *y = key;
    return x->device == y->device && !x->name.p == !y->name.p && str_eq(x->name, y->name);
}

static status add_holder(holders *h, holder one, error *err) {
    bool is_new;
    uint64_t hash = hash_pair(intern_hash(one.name), one.device);
    uint32_t at = groups_at(&h->rows, hash, same_holder, &one, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    holder *row = GROUP_ROW(&h->rows, holder, at);
    if (is_new) {
        row->device = one.device;
        row->name = one.name;
    }
    row->bytes = add_i64(row->bytes, one.bytes);
    row->allocations += one.allocations;
    row->since = add_i64(row->since, one.since);
    if (one.slice && (!row->slice || one.bytes > row->slice_bytes)) {
        row->slice = one.slice;
        row->slice_bytes = one.bytes;
    }
    return OK;
}

/* ---- names of holders -------------------------------------------------------------------- */

/* The power of 16 the size is in: "64 KiB – 1 MiB". */
static str size_of(const holders *h, int64_t bytes) {
    int64_t low = 1;
    buf text = {0};
    while (low <= INT64_MAX / 16 && low * 16 <= bytes) low *= 16;
    fmt_bytes(&text, bytes < 1 ? 0 : low);
    buf_add_cstr(&text, " – ");
    fmt_bytes(&text, low <= INT64_MAX / 16 ? low * 16 : INT64_MAX);
    str made = buf_ok(&text) ? arena_str(h->m->arena, buf_str(&text)) : STR_NONE;
    buf_fini(&text);
    return made;
}

static str holder_name(const holders *h, uint32_t row, bool *ok) {
    const trace *t = h->m->t;
    bool existing = t->memory.kind[row] == MEMORY_EXISTING;
    str name = STR_NONE;
    switch (h->by) {
    case BY_OP: name = memory_name(h->m, row, ok); break;
    case BY_SIZE:
        name = size_of(h, t->memory.bytes[row]);
        *ok = *ok && name.p;
        return name;
    case BY_MODULE:
        if (memory_op(t, row)) name = memory_owner_module(&h->owner, memory_op(t, row));
        break;
    }
    if (!name.p && !existing) name = STR("");
    return name;
}

/* ---- together ---------------------------------------------------------------------------- */

static status find_holders(holders *h, error *err) {
    const trace *t = h->m->t;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t device = h->m->device_of[i];
        if (!memory_is_followed(t, i)) continue;
        h->follows[device] = true;
        if (!h->moments[device].row || !memory_is_alive(t, i, h->moments[device].row)) continue;
        bool ok = true;
        holder one = {.device = device, .bytes = t->memory.bytes[i], .allocations = 1};
        if (t->memory.kind[i] == MEMORY_ALLOC) one.since = one.bytes;
        one.slice = memory_op(t, i);
        one.name = holder_name(h, i, &ok);
        if (!ok) FAIL_MEMORY(err);
        h->known[device] = add_i64(h->known[device], one.bytes);
        TRY(add_holder(h, one, err));
    }
    for (uint32_t d = 0; d < h->m->devices.n; d++) {
        if (h->moments[d].allocated == ABSENT_I64) continue;
        int64_t before = sub_i64(h->moments[d].allocated, h->known[d]);
        if (before > 0)
            TRY(add_holder(h, (holder){.device = d, .name = STR_NONE, .bytes = before}, err));
    }
    return OK;
}

static int compare_holders(uint32_t a, uint32_t b, const void *context) {
    const holders *h = context;
    const holder *x = GROUP_ROW(&h->rows, holder, a), *y = GROUP_ROW(&h->rows, holder, b);
    if (x->device != y->device) return h->rank[x->device] < h->rank[y->device] ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return str_cmp(x->name, y->name);
}

/* Both tables have the same columns in front; `slice` is the column after them. */
static status write_holders(holders *h, table *out, uint32_t slice, error *err) {
    memory_view *m = h->m;
    TRY(groups_init(&h->rows, m->arena, sizeof(holder), err));
    h->known = ARENA_ARRAY(m->arena, int64_t, (size_t)m->devices.n + 1);
    h->follows = ARENA_ARRAY(m->arena, bool, (size_t)m->devices.n + 1);
    if (!h->known || !h->follows) FAIL_MEMORY(err);
    TRY(find_holders(h, err));
    uint32_t *rows = groups_order(&h->rows), *scratch = groups_order(&h->rows);
    if (!rows || !scratch) FAIL_MEMORY(err);
    sort_index(rows, scratch, h->rows.n, compare_holders, h);
    for (uint32_t i = 0; i < h->rows.n; i++) {
        const holder *one = GROUP_ROW(&h->rows, holder, rows[i]);
        size_t row;
        TRY(table_add_row(out, &row, err));
        table_set_text(out, row, COL_M(contents, device),
                       GROUP_ROW(&m->devices, memory_device, one->device)->name);
        table_set_text(out, row, COL_M(contents, name), one->name);
        table_set_int(out, row, COL_M(contents, bytes), one->bytes);
        if (one->allocations)
            table_set_int(out, row, COL_M(contents, allocations), one->allocations);
        if (one->slice) table_set_int(out, row, slice, one->slice);
    }
    return OK;
}

/* Parts of the peak: what is older than the recording, and who holds most of the rest. */
static void set_parts(holders *h) {
    groups *devices = &h->m->devices;
    for (uint32_t d = 0; d < devices->n; d++) {
        memory_device *to = GROUP_ROW(devices, memory_device, d);
        if (to->has_totals && h->follows[d]) to->before = to->peak;
    }
    for (uint32_t i = 0; i < h->rows.n; i++) {
        const holder *one = GROUP_ROW(&h->rows, holder, i);
        memory_device *to = GROUP_ROW(devices, memory_device, one->device);
        if (to->before != ABSENT_I64) to->before = max_i64(0, sub_i64(to->before, one->since));
        if (!one->name.p) to->older = one->bytes;
        bool more = one->bytes > to->holder_bytes ||
                    (one->bytes == to->holder_bytes && str_cmp(one->name, to->holder) < 0);
        if (!one->name.n || one->bytes <= 0 || !more) continue;
        to->holder = one->name;
        to->holder_bytes = one->bytes;
    }
}

static void set_peaks(holders *h) {
    for (uint32_t d = 0; d < h->m->devices.n; d++) {
        const memory_device *device = GROUP_ROW(&h->m->devices, memory_device, d);
        h->moments[d] = (moment){.row = device->has_totals ? device->peak_row : 0,
                                 .allocated = device->has_totals ? device->peak : ABSENT_I64};
    }
}

static void set_moments(holders *h, int64_t at_ns) {
    const trace *t = h->m->t;
    for (uint32_t d = 0; d < h->m->devices.n; d++)
        h->moments[d] = (moment){.allocated = ABSENT_I64};
    for (uint32_t i = 1; i < t->memory.n && t->memory.time[i] <= at_ns; i++) {
        moment *x = &h->moments[h->m->device_of[i]];
        x->row = i;
        if (t->memory.allocated[i] != ABSENT_I64) x->allocated = t->memory.allocated[i];
    }
}

static status add_time(holders *h, table *out, error *err) {
    for (size_t row = 0; row < out->n_rows; row++) {
        str name = out->columns[COL_M(contents, device)].v.s[row];
        for (uint32_t d = 0; d < h->m->devices.n; d++)
            if (str_eq(GROUP_ROW(&h->m->devices, memory_device, d)->name, name))
                table_set_int(
                    out, row, COL_M(contents, time),
                    sub_i64(h->m->t->memory.time[h->moments[d].row], h->m->t->start_ns));
    }
    (void)err;
    return OK;
}

status memory_write_contents(memory_view *m, const uint32_t *order, const params *p,
                             error *err) {
    uint32_t *rank = ARENA_ARRAY(m->arena, uint32_t, (size_t)m->devices.n + 1);
    holders h = {.m = m, .rank = rank};
    int64_t at = ABSENT_I64;
    h.moments = ARENA_ARRAY(m->arena, moment, (size_t)m->devices.n + 1);
    if (!rank || !h.moments) FAIL_MEMORY(err);
    TRY(param_time(p, STR("at"), &at, err));
    for (uint32_t i = 0; i < m->devices.n; i++) rank[order[i]] = i;
    table *peak = answer_table(m->out, m->arena, "peak_contents");
    table *contents = answer_table(m->out, m->arena, "contents");
    if (!peak || !contents) FAIL_MEMORY(err);
    set_peaks(&h);
    TRY(write_holders(&h, peak, COL_M(peak_contents, slice), err));
    set_parts(&h);
    str by = param_text(p, STR("by"));
    h.by = str_eq(by, STR("module")) ? BY_MODULE : str_eq(by, STR("size")) ? BY_SIZE : BY_OP;
    if (at != ABSENT_I64) set_moments(&h, offset_to_time(at, m->t->start_ns));
    if (h.by == BY_MODULE) {
        TRY(trace_require(m->t,
                          TRACE_TABLE(module) | TRACE_TABLE(module_call) | TRACE_TABLE(flow) |
                              TRACE_TABLE(kernel),
                          err));
        TRY(memory_owner_modules(&h.owner, m->t, m->arena, err));
    }
    TRY(write_holders(&h, contents, COL_M(contents, slice), err));
    return add_time(&h, contents, err);
}
