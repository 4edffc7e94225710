/* top_record.c: executions of operators out of a trace, for `top`.
 *
 * Two kinds of traces. The profile of a static graph has samples, each with everything about its
 * operator among the arguments; those of one operator are joined by its id, the longest counts.
 * Elsewhere an execution is an operator's slice: the kernels it launched itself are its device time
 * (from launch to start they waited), its time without operators inside is its host time. */
#include "analyse/compat/top_record.h"

#include "analyse/scan/work_by_op.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/sort.h"
#include "store/args.h"

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
    *e = (top_execution){.device = {NAN, NAN}, .host = {NAN, NAN}, .order = (int64_t)x->n};
    e->about.computation = e->about.memory = NAN;
    e->about.id = ABSENT_I64;
    return e;
}

/* ---- samples ----------------------------------------------------------------------------- */

typedef struct {
    const trace *t;
    arena *arena;
    args_reader *args;
    map by_id; /* hash of the operator's id → execution + 1 */
    top_executions *out;
} top_record_ctx;

static double number_of(str json, const char *key) {
    double v;
    return json_f64(json_member(json, str_of(key)), &v) ? v : NAN;
}

static str text_of(arena *a, str json, const char *key, bool *ok) {
    buf b = {0};
    json_decode(json_text(json_member(json, str_of(key))), &b);
    str made = arena_str(a, buf_str(&b));
    *ok &= buf_ok(&b) && made.p;
    buf_fini(&b);
    return made;
}

/* json: in the arena. */
static status describe(top_record_ctx *s, top_execution *e, str json, error *err) {
    bool ok = true;
    int64_t n;
    e->about.name = text_of(s->arena, json, "name", &ok);
    e->about.type = text_of(s->arena, json, "type", &ok);
    if (!ok) FAIL_MEMORY(err);
    if (json_i64(json_member(json, STR("id")), &n)) e->about.id = n;
    if (json_i64(json_member(json, STR("order")), &n)) e->order = n;
    e->about.has_footprint = json_member(json, STR("footprint")).n != 0;
    e->about.computation = number_of(json, "computation");
    if (e->about.computation == 0) e->about.computation = NAN;
    e->about.memory = number_of(json, "memory");
    e->about.in_shapes = json_member(json, STR("in_shapes"));
    e->about.in_layouts = json_member(json, STR("in_layouts"));
    e->about.out_shapes = json_member(json, STR("out_shapes"));
    e->dtypes = json_member(json, STR("input_dtypes"));
    return OK;
}

static void take_longest(top_times *to, double end, double kern) {
    if (!(to->end >= end)) to->end = end;
    if (!(to->kern >= kern)) to->kern = kern;
}

static status add_sample(top_record_ctx *s, uint32_t slice, error *err) {
    buf b = {0};
    status st = args_read_json(s->args, s->t->slice.args[slice], &b, err);
    str json = st == OK ? arena_str(s->arena, buf_str(&b)) : STR_NONE;
    buf_fini(&b);
    TRY(st);
    if (!json.p) FAIL_MEMORY(err);
    str id = json_member(json, STR("id"));
    uint32_t *at = map_at(&s->by_id, hash_bytes64(id.p, id.n));
    if (!at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) {
        *at = 0;
        top_execution *e = add_execution(s->out, s->arena);
        if (!e) FAIL_MEMORY(err);
        TRY(describe(s, e, json, err));
        *at = (uint32_t)s->out->n;
    }
    double start = number_of(json, "start");
    bool device = kind_is_device(s->t->slice.kind[slice]);
    top_execution *e = &s->out->v[*at - 1];
    take_longest(device ? &e->device : &e->host, number_of(json, "end") - start,
                 number_of(json, "kern") - start);
    return OK;
}

static int compare_order(uint32_t a, uint32_t b, const void *context) {
    const top_executions *x = context;
    return x->v[a].order < x->v[b].order ? -1 : x->v[a].order > x->v[b].order;
}

static status put_in_order(top_executions *x, arena *a, error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, 2 * x->n + 1);
    top_execution *sorted = ARENA_ARRAY(a, top_execution, x->n + 1);
    if (!order || !sorted) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < x->n; i++) order[i] = i;
    sort_index(order, order + x->n, x->n, compare_order, x);
    for (uint32_t i = 0; i < x->n; i++) sorted[i] = x->v[order[i]];
    x->v = sorted;
    return OK;
}

static status collect_samples(const trace *t, arena *a, top_executions *out, error *err) {
    top_record_ctx s = {.t = t, .arena = a, .out = out};
    TRY(args_reader_new(t, &s.args, err));
    status st = OK;
    for (uint32_t i = 1; i < t->slice.n && st == OK; i++)
        if (t->slice.args[i]) st = add_sample(&s, i, err);
    args_reader_free(s.args);
    map_fini(&s.by_id);
    return st == OK ? put_in_order(out, a, err) : st;
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
        self[i] += t->slice.dur[i];
        if (op) self[op] -= t->slice.dur[i];
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
    /* The reader of static profiles leaves this key. */
    if (trace_meta(t, STR("graph_exec")).n) return collect_samples(t, a, out, err);
    return collect_slices(t, select, a, out, err);
}
