/* baseline.c: from a run to what others are compared with.
 *
 * Steps, operators, kernels and peaks of memory are those of a summary (run/reduce.h). In
 * addition: how much a step launched, which shapes the operators were called with (as a hash:
 * two runs are asked whether they are the same work, not what it was), what the model needs in
 * operations, and what was known of program and machine. */
#include "analyse/check/baseline.h"

#include "analyse/cost/step_mfu.h"
#include "analyse/run/reduce.h"
#include "base/hash.h"
#include "base/sort.h"
#include "store/traits.h"

enum { MAX_SHAPES = 2000 };

#define KEPT                                                                               \
    (SUMMARY_BIT(worker) | SUMMARY_BIT(damage) | SUMMARY_BIT(step) | SUMMARY_BIT(op) |     \
     SUMMARY_BIT(kernel) | SUMMARY_BIT(peak) | SUMMARY_BIT(device) | SUMMARY_BIT(launch) | \
     SUMMARY_BIT(shape) | SUMMARY_BIT(model) | SUMMARY_BIT(about) | SUMMARY_BIT(failure))

typedef struct {
    const analysis_trace *at;
    const trace *t;
    const params *params;
    selection select;
    arena *arena;
    summary *out;
} baseline_ctx;

status baseline_say(summary *s, str key, str value, error *err) {
    if (!value.n) return OK;
    str k = summary_text(s, key), v = summary_text(s, value);
    summary_about *row = k.p && v.p ? summary_add_about(s) : NULL;
    if (!row) FAIL_MEMORY(err);
    *row = (summary_about){.key = k, .value = v};
    return OK;
}

str baseline_about(const summary *s, str key) {
    for (uint32_t i = 0; i < SUMMARY_N(s, about); i++)
        if (str_eq(SUMMARY_ROWS(s, about)[i].key, key)) return SUMMARY_ROWS(s, about)[i].value;
    return STR_NONE;
}

/* ---- what a step launched ---------------------------------------------------------------- */

static status add_launches(baseline_ctx *b, error *err) {
    step_spans steps;
    str worker = summary_text(b->out, b->at->worker);
    if (!worker.p) FAIL_MEMORY(err);
    if (b->t->kernel.n <= 1) return OK;
    TRY(step_spans_make(b->t, &b->select, b->arena, &steps, err));
    for (uint32_t i = 0; i < steps.n && steps.marked; i++) {
        summary_launch *row = summary_add_launch(b->out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_launch){.worker = worker,
                                .number = steps.v[i].number,
                                .start = steps.v[i].start,
                                .pieces = steps.v[i].n_work};
    }
    return OK;
}

/* ---- shapes ------------------------------------------------------------------------------ */

typedef struct {
    uint32_t name, shapes; /* string ids */
    int64_t calls;
} shape_row;

static bool same_shape(const void *row, const void *key) {
    const shape_row *r = row, *k = key;
    return r->name == k->name && r->shapes == k->shapes;
}

static int compare_calls(uint32_t a, uint32_t b, const void *context) {
    const groups *g = context;
    const shape_row *x = GROUP_ROW(g, shape_row, a), *y = GROUP_ROW(g, shape_row, b);
    if (x->calls != y->calls) return x->calls > y->calls ? -1 : 1;
    return a < b ? -1 : a > b;
}

static status write_shapes(baseline_ctx *b, const groups *g, error *err) {
    uint32_t *order = groups_order(g), *scratch = groups_order(g);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, g->n, compare_calls, g);
    for (uint32_t i = 0; i < g->n && i < MAX_SHAPES; i++) {
        const shape_row *r = GROUP_ROW(g, shape_row, order[i]);
        str shapes = trace_str(b->t, r->shapes);
        summary_shape *row = summary_add_shape(b->out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_shape){.name = summary_text(b->out, trace_str(b->t, r->name)),
                               .shapes = (int64_t)(hash_bytes64(shapes.p, shapes.n) >> 1),
                               .calls = r->calls};
        if (!row->name.p) FAIL_MEMORY(err);
    }
    return OK;
}

static status add_shapes(baseline_ctx *b, error *err) {
    const trace *t = b->t;
    groups g;
    TRY(groups_init(&g, b->arena, sizeof(shape_row), err));
    for (uint32_t i = 1; i < t->op.n; i++) {
        uint32_t slice = t->op.slice[i];
        shape_row key = {.name = t->slice.name[slice], .shapes = t->op.shapes[i]};
        bool is_new;
        if (!key.shapes || t->slice.kind[slice] != KIND_OP || !select_counts(&b->select, slice))
            continue;
        uint32_t at = groups_at(&g, hash_pair(key.name, key.shapes), same_shape, &key, &is_new);
        if (at == GROUP_NONE) FAIL_MEMORY(err);
        shape_row *row = GROUP_ROW(&g, shape_row, at);
        if (is_new) *row = key;
        row->calls++;
    }
    return write_shapes(b, &g, err);
}

/* ---- the model, the machine, the program ------------------------------------------------- */

/* As the overview says it: of one device whose peak is known, from recorded shapes. */
static status add_model(baseline_ctx *b, error *err) {
    op_work work;
    op_claims claims;
    step_mfu m;
    const params plain = {.n_extra = 0};
    if (!SUMMARY_N(b->out, shape)) return OK;
    TRY(op_work_init(&work, &b->select, &plain, b->arena, err));
    if (!work.peaks.device.n) return OK;
    TRY(op_work_claim(&work, &claims, err));
    TRY(step_mfu_find(&work, &claims, &m, err));
    if (!(m.mfu > 0) || !m.steps || !(m.peak > 0)) return OK;
    str worker = summary_text(b->out, b->at->worker);
    summary_model *row = worker.p ? summary_add_model(b->out) : NULL;
    if (!row) FAIL_MEMORY(err);
    *row = (summary_model){
        .worker = worker, .flops = m.flops, .steps = m.steps, .peak_flops_per_s = m.peak};
    return OK;
}

static status add_about(baseline_ctx *b, error *err) {
    const trace *t = b->t;
    TRY(baseline_say(b->out, STR("format"), t->format, err));
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.type[i] != DEVICE_CPU)
            TRY(baseline_say(b->out, STR("device"), trace_str(t, t->device.name[i]), err));
    for (fact f = 0; f < N_FACTS; f++)
        if (fact_shown(f).n && f != FACT_PROCESS_CPU_USE && f != FACT_SYSTEM_CPU_USE)
            TRY(baseline_say(b->out, fact_shown(f), trace_fact(t, f), err));
    return OK;
}

/* ---- a run ------------------------------------------------------------------------------- */

static status add_parts(baseline_ctx *b, error *err) {
    reduce_question q = {.at = b->at, .params = b->params};
    TRY(reduce_trace(&q, b->arena->limit_bytes, b->out, err));
    TRY(trace_require(b->t,
                      SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(track) |
                          TRACE_TABLE(device) | TRACE_TABLE(meta),
                      err));
    TRY(reduce_names(&q, b->arena, b->out, err));
    TRY(reduce_peaks(&q, b->arena, b->out, err));
    TRY(add_launches(b, err));
    TRY(add_shapes(b, err));
    TRY(add_model(b, err));
    return add_about(b, err);
}

static status add_worker(const analysis_trace *at, const params *p, size_t limit_bytes,
                         summary *out, error *err) {
    arena scratch;
    if (at->trace->summary) return summary_append(out, at->trace->summary, KEPT, err);
    arena_init(&scratch, limit_bytes);
    baseline_ctx b = {.at = at, .t = at->trace, .params = p, .arena = &scratch, .out = out};
    select_init(&b.select, b.t, p);
    status st = add_parts(&b, err);
    arena_fini(&scratch);
    return st;
}

status baseline_make(const analysis_input *in, const params *p, size_t limit_bytes,
                     summary **out, error *err) {
    summary *s = summary_new();
    status st = OK;
    if (!s) FAIL_MEMORY(err);
    for (uint32_t i = 0; st == OK && i < in->n_traces; i++)
        st = add_worker(&in->traces[i], p, limit_bytes, s, err);
    if (st == OK) summary_drop(s, SUMMARY_ALL & ~(uint64_t)KEPT);
    if (st == OK) st = summary_settle(s, err);
    if (st == OK)
        *out = s;
    else
        summary_free(s);
    return st;
}

static void free_summary(void *s) {
    summary_free(s);
}

status baseline_keep(const analysis_input *in, const params *p, arena *a, const summary **out,
                     error *err) {
    summary *s;
    TRY(baseline_make(in, p, a->limit_bytes, &s, err));
    if (!arena_on_reset(a, free_summary, s)) FAIL_MEMORY(err);
    *out = s;
    return OK;
}
