/* reduce_tables.c: operators, kernels, histograms, memory and advice of one worker's summary.
 *
 * Names are kept whole up to 400 bytes and the thousand that cost most of each sort; the others
 * are added up under the name "…" and counted, so that totals stay right. A histogram has the
 * fixed buckets of summary.h: operators by the host's time of a call, kernels by their
 * duration. */
#include "analyse/advise/advice.h"
#include "analyse/advise/advice_evidence.h"
#include "analyse/group.h"
#include "analyse/memory/memory_view.h"
#include "analyse/operators/op_scan.h"
#include "analyse/run/reduce.h"
#include "base/sort.h"

enum { MAX_NAMES = 1000, MAX_NAME_BYTES = 400, MAX_BUCKETS = 512, MAX_HISTOGRAMS = 20000 };

#define OTHER_NAMES STR("…")

/* All calls of one name. */
typedef struct {
    int64_t calls, total, self, device_total, device_self, max, min;
    uint32_t name;  /* string id */
    uint32_t *hist; /* MAX_BUCKETS counts */
} name_row;

typedef struct {
    const trace *t;
    selection select;
    uint32_t *by_name; /* string id → row + 1 */
    uint32_t *spill;   /* histogram of the names after MAX_HISTOGRAMS, together */
    groups rows;
    arena *arena;
    bool kernels;
    bool has_device; /* device work was recorded: else its times are absent, not 0 */
    str worker;
    summary *out;
} name_rows;

static status init_rows(name_rows *n, const reduce_question *q, arena *a, summary *out,
                        error *err) {
    *n = (name_rows){.t = q->at->trace, .arena = a, .out = out};
    n->has_device = n->t->kernel.n > 1;
    select_init(&n->select, n->t, q->params);
    n->worker = summary_text(out, q->at->worker);
    n->by_name = ARENA_ARRAY(a, uint32_t, (size_t)n->t->n_strings + 1);
    n->spill = ARENA_ARRAY(a, uint32_t, MAX_BUCKETS);
    if (!n->by_name || !n->spill || !n->worker.p) FAIL_MEMORY(err);
    return groups_init(&n->rows, a, sizeof(name_row), err);
}

static name_row *row_of(name_rows *n, uint32_t name) {
    if (name >= n->t->n_strings) name = 0;
    if (!n->by_name[name]) {
        uint32_t row = groups_add(&n->rows);
        uint32_t *hist = n->rows.n <= MAX_HISTOGRAMS
                             ? ARENA_ARRAY(n->arena, uint32_t, MAX_BUCKETS)
                             : n->spill;
        if (row == GROUP_NONE || !hist) return NULL;
        *GROUP_ROW(&n->rows, name_row, row) = (name_row){.name = name, .hist = hist};
        n->by_name[name] = row + 1;
    }
    return GROUP_ROW(&n->rows, name_row, n->by_name[name] - 1);
}

static void count_call(name_row *r, int64_t ns) {
    uint32_t bucket = summary_bucket(ns);
    r->max = max_i64(r->max, ns);
    r->min = r->calls ? min_i64(r->min, ns) : ns;
    r->calls++;
    if (bucket < MAX_BUCKETS && r->hist[bucket] < UINT32_MAX) r->hist[bucket]++;
}

static status add_op(void *context, const op_call *c, error *err) {
    name_rows *n = context;
    bool counts = select_counts(&n->select, c->slice);
    int64_t device = add_i64(c->device_self, c->device_children);
    if (!c->is_op || (!counts && !c->ns && !device)) return OK;
    name_row *r = row_of(n, c->name);
    if (!r) FAIL_MEMORY(err);
    if (counts) count_call(r, c->ns);
    r->total = add_i64(r->total, c->ns);
    r->self = add_i64(r->self, max_i64(0, op_call_self_ns(c)));
    r->device_self = add_i64(r->device_self, c->device_self);
    r->device_total = add_i64(r->device_total, device);
    return OK;
}

static status add_kernels(name_rows *n, error *err) {
    const trace *t = n->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        bool counts = select_work_counts(&n->select, k);
        int64_t ns = select_work_ns(&n->select, k);
        if (t->slice.kind[slice] != KIND_KERNEL || (!counts && !ns)) continue;
        name_row *r = row_of(n, t->slice.name[slice]);
        if (!r) FAIL_MEMORY(err);
        if (counts) count_call(r, ns);
        r->total = r->self = add_i64(r->total, ns);
    }
    return OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

static int compare_cost(uint32_t a, uint32_t b, const void *context) {
    const name_rows *n = context;
    const name_row *x = GROUP_ROW(&n->rows, name_row, a), *y = GROUP_ROW(&n->rows, name_row, b);
    int64_t cx = max_i64(x->self, x->device_self), cy = max_i64(y->self, y->device_self);
    if (cx != cy) return cx > cy ? -1 : 1;
    return str_cmp(trace_str(n->t, x->name), trace_str(n->t, y->name));
}

/* Whole characters of a name that is too long, and a sign that it is. */
static str short_name(name_rows *n, str name) {
    size_t end = 0;
    if (name.n <= MAX_NAME_BYTES) return summary_text(n->out, name);
    for (size_t step; end < MAX_NAME_BYTES; end += step) {
        step = str_utf8(name, end);
        if (!step) step = 1;
        if (end + step > MAX_NAME_BYTES) break;
    }
    str cut = arena_printf(n->arena, "%.*s…", (int)end, name.p);
    return cut.p ? summary_text(n->out, cut) : STR_NONE;
}

static status write_histogram(name_rows *n, const name_row *r, str name, error *err) {
    for (uint32_t b = 0; b < MAX_BUCKETS && r->hist != n->spill; b++) {
        if (!r->hist[b]) continue;
        summary_histogram *h = summary_add_histogram(n->out);
        if (!h) FAIL_MEMORY(err);
        *h = (summary_histogram){
            .what = n->kernels, .name = name, .bucket = b, .count = r->hist[b]};
    }
    return OK;
}

/* What the worker spent in a name: of an operator on the side that took longer. */
static int64_t worker_ns(const name_row *r) {
    return max_i64(0, max_i64(r->self, r->device_self));
}

static status write_worker_time(name_rows *n, const name_row *r, str name, error *err) {
    summary_worker_time *w = summary_add_worker_time(n->out);
    if (!w) FAIL_MEMORY(err);
    *w = (summary_worker_time){.what = n->kernels,
                               .name = name,
                               .bucket = summary_fine_bucket(worker_ns(r)),
                               .count = 1};
    return OK;
}

static status write_op(name_rows *n, const name_row *r, str name, error *err) {
    summary_op *o = summary_add_op(n->out);
    if (!o) FAIL_MEMORY(err);
    *o = (summary_op){.name = name,
                      .calls = r->calls,
                      .host_total = max_i64(0, r->total),
                      .host_self = max_i64(0, r->self),
                      .device_total = n->has_device ? max_i64(0, r->device_total) : ABSENT_I64,
                      .device_self = n->has_device ? max_i64(0, r->device_self) : ABSENT_I64,
                      .max = r->max,
                      .min = r->calls ? r->min : ABSENT_I64,
                      .workers = 1,
                      .least = worker_ns(r),
                      .worst = worker_ns(r),
                      .worst_worker = n->worker};
    return OK;
}

static status write_kernel(name_rows *n, const name_row *r, str name, error *err) {
    summary_kernel *k = summary_add_kernel(n->out);
    if (!k) FAIL_MEMORY(err);
    *k = (summary_kernel){.name = name,
                          .calls = r->calls,
                          .total = max_i64(0, r->total),
                          .max = r->max,
                          .min = r->calls ? r->min : ABSENT_I64,
                          .workers = 1,
                          .least = worker_ns(r),
                          .worst = worker_ns(r),
                          .worst_worker = n->worker};
    return OK;
}

/* All that is after the limit becomes one row. */
static name_row fold_rest(name_rows *n, const uint32_t *order, uint32_t *hist) {
    name_row rest = {.hist = hist};
    for (uint32_t i = MAX_NAMES; i < n->rows.n; i++) {
        const name_row *r = GROUP_ROW(&n->rows, name_row, order[i]);
        rest.max = max_i64(rest.max, r->max);
        if (r->calls) rest.min = rest.calls ? min_i64(rest.min, r->min) : r->min;
        rest.calls = add_i64(rest.calls, r->calls);
        rest.total = add_i64(rest.total, r->total);
        rest.self = add_i64(rest.self, r->self);
        rest.device_total = add_i64(rest.device_total, r->device_total);
        rest.device_self = add_i64(rest.device_self, r->device_self);
        for (uint32_t b = 0; b < MAX_BUCKETS && r->hist != n->spill; b++)
            hist[b] = sat_u32((uint64_t)hist[b] + r->hist[b]);
    }
    for (uint32_t b = 0; b < MAX_BUCKETS; b++)
        hist[b] = sat_u32((uint64_t)hist[b] + n->spill[b]);
    return rest;
}

static status write_rows(name_rows *n, error *err) {
    uint32_t *order = groups_order(&n->rows), *scratch = groups_order(&n->rows);
    uint32_t *hist = ARENA_ARRAY(n->arena, uint32_t, MAX_BUCKETS);
    if (!order || !scratch || !hist) FAIL_MEMORY(err);
    sort_index(order, scratch, n->rows.n, compare_cost, n);
    for (uint32_t i = 0; i < n->rows.n && i <= MAX_NAMES; i++) {
        bool last = i == MAX_NAMES;
        name_row r =
            last ? fold_rest(n, order, hist) : *GROUP_ROW(&n->rows, name_row, order[i]);
        str name =
            last ? summary_text(n->out, OTHER_NAMES) : short_name(n, trace_str(n->t, r.name));
        if (!name.p) FAIL_MEMORY(err);
        TRY(n->kernels ? write_kernel(n, &r, name, err) : write_op(n, &r, name, err));
        TRY(write_histogram(n, &r, name, err));
        TRY(write_worker_time(n, &r, name, err));
    }
    summary_worker *w = &SUMMARY_ROWS(n->out, worker)[SUMMARY_N(n->out, worker) - 1];
    w->names_left_out += max_i64(0, (int64_t)n->rows.n - MAX_NAMES);
    return OK;
}

/* ---- memory and advice ------------------------------------------------------------------- */

status reduce_peaks(const reduce_question *q, arena *a, summary *out, error *err) {
    const trace *t = q->at->trace;
    memory_view m = {0};
    TRY(trace_require(t, TRACE_TABLE(memory) | TRACE_TABLE(frame), err));
    if (t->memory.n <= 1) return OK;
    TRY(memory_view_init(&m, t, q->params, a, err));
    memory_find_peaks(&m);
    for (uint32_t d = 0; d < m.devices.n; d++) {
        const memory_device *device = GROUP_ROW(&m.devices, memory_device, d);
        summary_peak *row = summary_add_peak(out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_peak){.worker = summary_text(out, q->at->worker),
                              .device = summary_text(out, device->name),
                              .allocated = device->peak,
                              .reserved = device->most_reserved,
                              .capacity = device->capacity};
        if (!row->worker.p || !row->device.p) FAIL_MEMORY(err);
    }
    return OK;
}

static int64_t cell(const table *t, size_t row, uint32_t col) {
    return table_is_null(t, row, col) ? ABSENT_I64 : t->columns[col].v.i[row];
}

/* The evidence of a row of advise as text; empty when there is no memory for it. */
static str evidence_of(const table *t, size_t row, summary *out) {
    const column *c = t->columns;
    const verdict *words = c[COL(advise, advice, values)].v.sentence[row],
                  *suggestion = c[COL(advise, advice, suggestion)].v.sentence[row];
    advice_evidence e = {.words = *words,
                         .from = cell(t, row, COL(advise, advice, from)),
                         .to = cell(t, row, COL(advise, advice, to)),
                         .step = cell(t, row, COL(advise, advice, step)),
                         .dialect = advice_dialect_of(suggestion)};
    if (!table_is_null(t, row, COL(advise, advice, name)))
        e.name = c[COL(advise, advice, name)].v.s[row];
    buf text = {0};
    evidence_write(&text, &e);
    str kept = buf_ok(&text) ? summary_text(out, buf_str(&text)) : STR_NONE;
    buf_fini(&text);
    return kept;
}

static status write_lacks(const answer *found, summary *out, error *err) {
    uint32_t missing = advice_lacks(found) & ~(uint32_t)NEED_WORKERS;
    for (uint32_t need = 1; need && need <= missing; need <<= 1) {
        if (!(missing & need)) continue;
        summary_lack *row = summary_add_lack(out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_lack){.need = need, .workers = 1};
    }
    return OK;
}

static status write_advice(const reduce_question *q, arena *a, summary *out, error *err) {
    answer *found = ARENA_NEW(a, answer);
    if (!found) FAIL_MEMORY(err);
    TRY(advice_answer(&(analysis_input){.traces = q->at, .n_traces = 1}, q->params,
                      &(advice_workers){0}, a, found, err));
    const table *t = found->tables[0];
    for (size_t i = 0; i < t->n_rows; i++) {
        summary_advice *row = summary_add_advice(out);
        if (!row) FAIL_MEMORY(err);
        int64_t saves = cell(t, i, COL(advise, advice, saves));
        if (saves != ABSENT_I64) saves = max_i64(0, saves);
        *row = (summary_advice){
            .id = summary_text(out, t->columns[COL(advise, advice, id)].v.s[i]),
            .workers = 1,
            .saves = saves,
            .worst = saves,
            .worst_worker = summary_text(out, q->at->worker),
            .evidence = evidence_of(t, i, out)};
        if (!row->id.p || !row->worst_worker.p || !row->evidence.p) FAIL_MEMORY(err);
    }
    return write_lacks(found, out, err);
}

status reduce_names(const reduce_question *q, arena *a, summary *out, error *err) {
    const trace *t = q->at->trace;
    tensor_core_names tensor;
    name_rows ops, kernels;
    TRY(tensor_core_init(&tensor, t, a, err));
    TRY(init_rows(&ops, q, a, out, err));
    op_scan scan = {.t = t,
                    .select = &ops.select,
                    .tensor = &tensor,
                    .arena = a,
                    .visit = add_op,
                    .context = &ops};
    TRY(op_scan_run(&scan, err));
    TRY(write_rows(&ops, err));
    TRY(init_rows(&kernels, q, a, out, err));
    kernels.kernels = true;
    TRY(add_kernels(&kernels, err));
    return write_rows(&kernels, err);
}

status reduce_tables(const reduce_question *q, arena *a, summary *out, error *err) {
    TRY(reduce_names(q, a, out, err));
    TRY(reduce_peaks(q, a, out, err));
    return write_advice(q, a, out, err);
}
