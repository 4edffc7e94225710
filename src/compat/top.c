/* top.c: the operators that take longest: filter, aggregate, sort, cut.
 *
 * The order of things is profile_analyze's: the filters choose executions, the bounds of time
 * drop some, then they are aggregated, sorted (stable: equal ones keep the producer's order)
 * and cut. Totals are those of all executions whatever the filters say. Where the original
 * gives up because one figure is not recorded, such a figure sorts last and is left out of
 * sums. */
#include "compat/top.h"

#include <regex.h>

#include "analyse/registry.h"
#include "analyse/rows.h"
#include "base/message_ids_cli.h"
#include "base/sort.h"
#include "compat/top_record.h"
#include "store/op_text.h"

enum { MOST_REGEX = 256 };

/* ---- options ----------------------------------------------------------------------------- */

static status read_order(const params *p, str v, top_options *o, error *err) {
    static const char *const names[] = {"time",  "computation", "memory",
                                        "flops", "bandwidth",   "opr_id"};
    o->ascending = v.n && v.p[0] == '+';
    str name = o->ascending ? str_from(v, 1) : v;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq_nocase(name, str_of(names[i]))) {
            o->order = (top_column)i;
            return OK;
        }
    return param_fail(p, STR("order_by"), "[+]time|computation|memory|flops|bandwidth|opr_id",
                      err);
}

static status read_bound(const params *p, str name, double *out, error *err) {
    str v = param_text(p, name);
    if (v.p && !str_to_f64(v, out)) return param_fail(p, name, "SECONDS", err);
    return OK;
}

status top_options_of(const params *p, top_options *out, error *err) {
    static const char *const aggregates[] = {"none", "max", "min", "sum", "mean"};
    top_options o = {.top = 3, .min_time = -INFINITY, .max_time = INFINITY};
    str top = param_text(p, STR("top")), aggregate = param_text(p, STR("aggregate")),
        order = param_text(p, STR("order_by"));
    if (top.p && !str_to_i64(top, &o.top)) return param_fail(p, STR("top"), "N", err);
    for (uint32_t i = 0; i < p->n_extra && o.n_types < TOP_MOST_TYPES; i++)
        if (str_eq(p->extra[i].name, STR("type"))) o.types[o.n_types++] = p->extra[i].value;
    o.name = param_text(p, STR("opr_name"));
    o.dtype = param_text(p, STR("input_dtype"));
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
        if (str_eq(aggregate, str_of(aggregates[i]))) o.aggregate = (top_aggregate)i;
    o.by_type = str_eq(param_text(p, STR("aggregate_by")), STR("type"));
    if (o.by_type && o.aggregate == TOP_ALL) o.aggregate = TOP_SUM; /* groups want one */
    o.kern = str_eq(param_text(p, STR("top_end_key")), STR("kern"));
    o.copy_time = param_flag(p, STR("copy_time"));
    if (order.p) TRY(read_order(p, order, &o, err));
    TRY(read_bound(p, STR("min_time"), &o.min_time, err));
    TRY(read_bound(p, STR("max_time"), &o.max_time, err));
    *out = o;
    return OK;
}

/* ---- filters ----------------------------------------------------------------------------- */

typedef struct {
    const top_options *o;
    regex_t regex;
    bool has_regex;
    arena *arena;
} filter;

/* Python's way of writing that POSIX has another for: \d, \D and (?:. Back references and large
 * counts could take for ever and are refused. */
static bool translate_regex(str from, buf *out) {
    int counts = 0;
    if (from.n > MOST_REGEX) return false;
    buf_add_cstr(out, "^(");
    for (size_t i = 0; i < from.n; i++) {
        char c = from.p[i], next = i + 1 < from.n ? from.p[i + 1] : 0;
        if (c == 0 || (c == '{' && ++counts > 2)) return false;
        if (c == '\\' && next >= '1' && next <= '9') return false;
        if (c == '\\' && (next == 'd' || next == 'D')) {
            buf_add_cstr(out, next == 'd' ? "[0-9]" : "[^0-9]");
            i++;
        } else if (c == '\\' && next) {
            buf_add_byte(out, c);
            buf_add_byte(out, next);
            i++;
        } else if (c == '(' && str_starts(str_from(from, i), STR("(?:"))) {
            buf_add_byte(out, '(');
            i += 2;
        } else {
            buf_add_byte(out, c);
        }
    }
    buf_add_byte(out, ')');
    buf_add_byte(out, 0);
    return buf_ok(out);
}

static status filter_init(filter *f, const top_options *o, arena *a, error *err) {
    *f = (filter){.o = o, .arena = a};
    if (!o->name.p) return OK;
    buf b = {0};
    bool good = translate_regex(o->name, &b);
    f->has_regex = good && regcomp(&f->regex, b.p, REG_EXTENDED | REG_NOSUB) == 0;
    buf_fini(&b);
    if (!f->has_regex)
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_REGEX, arg_cstr("name", "--opr-name"),
             arg_text("value", o->name));
    return OK;
}

static void filter_fini(filter *f) {
    if (f->has_regex) regfree(&f->regex);
}

static bool has_dtype(str list, str wanted) {
    op_list it = op_list_open(list);
    str value;
    while (op_list_next(&it, &value))
        if (str_eq(op_item_text(value), wanted)) return true;
    return false;
}

static bool passes(const filter *f, const top_execution *e, bool *failed) {
    bool type = f->o->n_types == 0;
    for (uint32_t i = 0; i < f->o->n_types && !type; i++)
        type = str_eq(e->about.type, f->o->types[i]);
    if (!type || (f->o->dtype.p && !has_dtype(e->dtypes, f->o->dtype))) return false;
    if (!f->has_regex) return true;
    str name = arena_str(f->arena, e->about.name); /* ends in NUL */
    *failed |= !name.p;
    return name.p && regexec(&f->regex, name.p, 0, NULL, 0) == 0;
}

/* ---- aggregation ------------------------------------------------------------------------- */

/* One figure over the executions of a group; NaN takes no part. */
typedef struct {
    double v;
    bool any;
} figure;

static void figure_add(figure *f, double v, top_aggregate how) {
    if (isnan(v)) return;
    if (!f->any)
        f->v = v;
    else if (how == TOP_MAX)
        f->v = v > f->v ? v : f->v;
    else if (how == TOP_MIN)
        f->v = v < f->v ? v : f->v;
    else
        f->v += v;
    f->any = true;
}

static double figure_end(const figure *f, top_aggregate how, int64_t count) {
    if (!f->any) return NAN;
    return how == TOP_MEAN ? f->v / (double)count : f->v;
}

static void derive(top_record *r) {
    r->flops = r->computation / r->time;
    r->bandwidth = r->memory / r->time;
}

typedef struct {
    str type;
    figure time, computation, memory;
    int64_t count;
} group_sum;

static bool same_type(const group_sum *g, str type) {
    return str_eq(g->type, type);
}

static status aggregate(const top_options *o, top_list *l, arena *a, error *err) {
    group_sum *groups = ARENA_ARRAY(a, group_sum, l->n + 1);
    size_t n = 0;
    if (!groups) FAIL_MEMORY(err);
    for (size_t i = 0; i < l->n; i++) {
        const top_record *r = &l->v[i];
        size_t at = 0;
        str type = o->by_type ? r->type : STR("all");
        while (at < n && !same_type(&groups[at], type)) at++;
        group_sum *g = &groups[at];
        if (at == n) {
            n++;
            g->type = type;
        }
        figure_add(&g->time, r->time, o->aggregate);
        figure_add(&g->computation, r->computation, o->aggregate);
        figure_add(&g->memory, r->memory, o->aggregate);
        g->count++;
    }
    for (size_t i = 0; i < n; i++) {
        const group_sum *g = &groups[i];
        top_record r = {.time = figure_end(&g->time, o->aggregate, g->count),
                        .computation = figure_end(&g->computation, o->aggregate, g->count),
                        .memory = figure_end(&g->memory, o->aggregate, g->count),
                        .type = g->type,
                        .id = ABSENT_I64,
                        .count = g->count};
        derive(&r);
        l->v[i] = r;
    }
    l->n = n;
    return OK;
}

/* ---- order ------------------------------------------------------------------------------- */

typedef struct {
    const top_record *v;
    const top_options *o;
} top_order;

static double key_of(const top_record *r, top_column by) {
    switch (by) {
    case TOP_BY_TIME: return r->time;
    case TOP_BY_COMPUTATION: return r->computation;
    case TOP_BY_MEMORY: return r->memory;
    case TOP_BY_FLOPS: return r->flops;
    case TOP_BY_BANDWIDTH: return r->bandwidth;
    case TOP_BY_ID: return r->id == ABSENT_I64 ? NAN : (double)r->id;
    }
    return NAN;
}

static int compare(uint32_t a, uint32_t b, const void *context) {
    const top_order *q = context;
    double x = key_of(&q->v[a], q->o->order), y = key_of(&q->v[b], q->o->order);
    if (isnan(x) || isnan(y)) return (int)isnan(x) - (int)isnan(y);
    int c = x < y ? -1 : x > y;
    return q->o->ascending ? c : -c;
}

static status sort_and_cut(const top_options *o, top_list *l, arena *a, error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, 2 * l->n + 1);
    top_record *sorted = ARENA_ARRAY(a, top_record, l->n + 1);
    if (!order || !sorted || l->n > UINT32_MAX / 2) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n; i++) order[i] = i;
    top_order q = {l->v, o};
    sort_index(order, order + l->n, l->n, compare, &q);
    for (size_t i = 0; i < l->n; i++) sorted[i] = l->v[order[i]];
    l->v = sorted;
    l->n_all = l->n;
    int64_t keep = o->top > 0 ? o->top : (int64_t)l->n + o->top;
    l->n = (size_t)max_i64(0, min_i64(keep, (int64_t)l->n));
    return OK;
}

/* ---- together ---------------------------------------------------------------------------- */

static status make_list(const filter *f, const top_executions *x, bool device, top_list *out,
                        error *err) {
    top_list l = {.v = ARENA_ARRAY(f->arena, top_record, x->n + 1), .total = NAN};
    bool failed = false;
    if (!l.v) FAIL_MEMORY(err);
    for (size_t i = 0; i < x->n; i++) {
        const top_times *times = device ? &x->v[i].device : &x->v[i].host;
        if (!isnan(times->end)) l.total = isnan(l.total) ? times->end : l.total + times->end;
        double time = f->o->kern ? times->kern : times->end;
        if (isnan(time) || !passes(f, &x->v[i], &failed)) continue;
        if (time < f->o->min_time || time > f->o->max_time) continue;
        top_record *r = &l.v[l.n++];
        *r = x->v[i].about;
        r->time = time;
        derive(r);
    }
    if (failed) FAIL_MEMORY(err);
    if (f->o->aggregate != TOP_ALL) TRY(aggregate(f->o, &l, f->arena, err));
    TRY(sort_and_cut(f->o, &l, f->arena, err));
    *out = l;
    return OK;
}

static void sum_copies(const filter *f, const top_executions *x, top_result *out,
                       bool *failed) {
    for (size_t i = 0; i < x->n; i++) {
        const top_execution *e = &x->v[i];
        if (!str_eq(e->about.type, STR("Copy")) || isnan(e->device.end) ||
            !passes(f, e, failed))
            continue;
        out->n_copies++;
        out->copy_total += e->device.end;
        if (!isnan(e->device.kern)) out->copy_wait_total += e->device.kern;
    }
}

status top_find(const analysis_input *in, const top_options *o, arena *a, top_result *out,
                error *err) {
    const trace *t = in->traces[0].trace;
    filter f;
    top_executions x;
    selection select;
    params whole = PARAMS_WHOLE;
    select_init(&select, t, o->window ? o->window : &whole);
    TRY(trace_require(t, SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(kernel), err));
    TRY(top_collect(t, &select, a, &x, err));
    TRY(filter_init(&f, o, a, err));
    bool failed = false;
    *out = (top_result){0};
    status st = make_list(&f, &x, true, &out->device, err);
    if (st == OK) st = make_list(&f, &x, false, &out->host, err);
    sum_copies(&f, &x, out, &failed);
    filter_fini(&f);
    if (st == OK && failed) FAIL_MEMORY(err);
    return st;
}

/* ---- as tables --------------------------------------------------------------------------- */

static int64_t ns_of(double seconds) {
    return round_i64(seconds * 1e9);
}

static double known_ratio(double v) {
    return isfinite(v) ? v : NAN;
}

static status write_list(answer *out, arena *a, const char *name, const top_list *l,
                         error *err) {
    table *t = answer_table(out, a, name);
    double sum = 0;
    if (!t) FAIL_MEMORY(err);
    for (size_t i = 0; i < l->n; i++) {
        const top_record *r = &l->v[i];
        sum += r->time;
        row_top_device row = row_top_device_none();
        row.rank = (int64_t)i;
        row.time = ns_of(r->time);
        row.cumulative = ns_of(sum);
        if (l->total > 0) {
            row.share = known_ratio(r->time / l->total);
            row.cumulative_share = known_ratio(sum / l->total);
        }
        row.name = r->name;
        row.type = r->type;
        row.id = r->id;
        if (r->count) row.count = r->count;
        row.computation = known_ratio(r->computation);
        row.flops = known_ratio(r->flops);
        row.memory = known_ratio(r->memory);
        row.bandwidth = known_ratio(r->bandwidth);
        row.in_shapes = r->in_shapes;
        row.out_shapes = r->out_shapes;
        TRY(put_top_device(t, &row, err));
    }
    t->total_rows = l->n_all;
    return OK;
}

static status add_total(table *t, const char *what, double seconds, error *err) {
    row_top_summary row = row_top_summary_none();
    row.what = str_of(what);
    if (!isnan(seconds)) row.time = ns_of(seconds);
    return put_top_summary(t, &row, err);
}

status analyse_top(const analysis_input *in, const params *p, arena *a, answer *out,
                   error *err) {
    top_options o;
    top_result r;
    TRY(top_options_of(p, &o, err));
    o.window = p;
    TRY(answer_begin("top", in, a, out, err));
    TRY(top_find(in, &o, a, &r, err));
    table *t = answer_table(out, a, "summary");
    if (!t) FAIL_MEMORY(err);
    TRY(add_total(t, "total_device_time", r.device.total, err));
    TRY(add_total(t, "total_host_time", r.host.total, err));
    if (o.copy_time) {
        TRY(add_total(t, "copy_time", r.copy_total, err));
        TRY(add_total(t, "copy_wait_time", r.copy_wait_total, err));
    }
    TRY(write_list(out, a, "device", &r.device, err));
    TRY(write_list(out, a, "host", &r.host, err));
    answer_finish(out, p);
    return OK;
}
