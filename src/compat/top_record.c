/* top_record.c: executions of operators out of a trace, for `top`.
 *
 * Two kinds of traces. The profile of a static graph has its operators with the longest of
 * their samples (table graph_op). Elsewhere an execution is an operator's slice: the kernels it
 * launched itself are its device time (from launch to start they waited), its time without
 * operators inside is its host time. */
#include "compat/top_record.h"

#include "analyse/operators/work_by_op.h"

#define SECOND 1e9

static top_execution *add_execution(top_executions *x, arena *a) {
    if (x->n == x->cap) {
        size_t cap = x->cap ? x->cap * 2 : 256;
        void *grown = arena_grow(a, x->v, x->cap * sizeof *x->v, cap * sizeof *x->v);
        if (!grown) return NULL;
        x->v = grown;
        x->cap = cap;
    }
    top_execution *e = &x->v[x->n++];
    *e = (top_execution){.device = {NAN, NAN}, .host = {NAN, NAN}};
    e->about.computation = e->about.memory = NAN;
    e->about.id = ABSENT_I64;
    return e;
}

/* ---- samples ----------------------------------------------------------------------------- */

static str known(const trace *t, uint32_t id) {
    return id ? trace_str(t, id) : STR_NONE;
}

static status collect_samples(const trace *t, arena *a, top_executions *out, error *err) {
    for (uint32_t i = 1; i < t->graph_op.n; i++) {
        top_execution *e = add_execution(out, a);
        if (!e) FAIL_MEMORY(err);
        e->about.id = t->graph_op.id[i];
        e->about.name = trace_str(t, t->graph_op.name[i]);
        e->about.type = trace_str(t, t->graph_op.type[i]);
        e->about.has_footprint = t->graph_op.has_footprint[i] != 0;
        e->about.computation = t->graph_op.flops[i] == 0 ? NAN : t->graph_op.flops[i];
        e->about.memory = t->graph_op.bytes[i];
        e->about.in_shapes = known(t, t->graph_op.in_shapes[i]);
        e->about.in_layouts = known(t, t->graph_op.in_layouts[i]);
        e->about.out_shapes = known(t, t->graph_op.out_shapes[i]);
        e->dtypes = known(t, t->graph_op.in_types[i]);
        e->device = (top_times){t->graph_op.device_end[i], t->graph_op.device_kern[i]};
        e->host = (top_times){t->graph_op.host_end[i], t->graph_op.host_kern[i]};
    }
    return OK;
}

/* ---- slices ------------------------------------------------------------------------------ */

/* Own host time of each operator: without the operators inside. */
static status find_self_times(const trace *t, arena *a, int64_t **out, error *err) {
    int64_t *self = ARENA_ARRAY(a, int64_t, (size_t)t->slice.n + 1);
    uint32_t *around = ARENA_ARRAY(a, uint32_t, (size_t)t->slice.n + 1); /* nearest operator */
    if (!self || !around) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t parent = t->slice.parent[i];
        uint32_t op = parent && t->slice.kind[parent] == KIND_OP ? parent : around[parent];
        around[i] = op;
        if (t->slice.kind[i] != KIND_OP) continue;
        self[i] = add_i64(self[i], t->slice.dur[i]);
        if (op) self[op] = sub_i64(self[op], t->slice.dur[i]);
    }
    *out = self;
    return OK;
}

static void add_work(const trace *t, uint32_t k, top_execution *e) {
    uint32_t work = t->kernel.slice[k], launch = t->kernel.launch[k];
    double dur = (double)t->slice.dur[work] / SECOND;
    e->device.end = isnan(e->device.end) ? dur : e->device.end + dur;
    if (!launch) return;
    double wait = (double)sub_i64(t->slice.start[work], t->slice.start[launch]) / SECOND;
    if (!(e->device.kern >= wait)) e->device.kern = wait;
}

static void describe_op(const trace *t, uint32_t r, top_execution *e) {
    if (t->op.external[r] != ABSENT_I64) e->about.id = t->op.external[r];
    e->about.computation = t->op.flops[r] > 0 ? t->op.flops[r] : NAN;
    if (t->op.bytes[r] != ABSENT_I64) e->about.memory = (double)t->op.bytes[r];
    if (t->op.shapes[r]) e->about.in_shapes = trace_str(t, t->op.shapes[r]);
    if (t->op.types[r]) e->dtypes = trace_str(t, t->op.types[r]);
    e->about.has_footprint = t->op.shapes[r] != 0;
}

static status collect_slices(const trace *t, const selection *select, arena *a,
                             top_executions *out, error *err) {
    int64_t *self = NULL;
    uint32_t *row_of = ARENA_ARRAY(a, uint32_t, (size_t)t->slice.n + 1);
    if (!row_of) FAIL_MEMORY(err);
    TRY(find_self_times(t, a, &self, err));
    for (uint32_t slice = 1, at = 1; slice < t->slice.n; slice++) {
        int64_t start = t->slice.start[slice];
        bool inside =
            start >= select->from_ns && start < select->to_ns && select_step(select, start);
        if (t->slice.kind[slice] != KIND_OP || !inside) continue;
        top_execution *e = add_execution(out, a);
        if (!e) FAIL_MEMORY(err);
        row_of[slice] = (uint32_t)out->n;
        e->host.end = (double)self[slice] / SECOND;
        e->about.name = e->about.type = trace_slice_name(t, slice);
        e->about.id = slice;
        while (at < t->op.n && t->op.slice[at] < slice) at++;
        if (at < t->op.n && t->op.slice[at] == slice) describe_op(t, at, e);
    }
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t row = row_of[trace_own_op(t, k)];
        if (row) add_work(t, k, &out->v[row - 1]);
    }
    return OK;
}

status top_collect(const trace *t, const selection *select, arena *a, top_executions *out,
                   error *err) {
    *out = (top_executions){0};
    TRY(trace_require(t, TRACE_TABLE(graph_op), err));
    if (t->graph_op.n > 1) return collect_samples(t, a, out, err);
    return collect_slices(t, select, a, out, err);
}
