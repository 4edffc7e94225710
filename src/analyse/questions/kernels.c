/* kernels.c: which kernels cost the device's time.
 *
 * Table kernel holds all device work; here are its kernels (copies and memsets are not
 * kernels), added up by name, by name and operator, or by launch configuration (name, operator,
 * grid, block, registers, shared memory). Most time first, ties by the bytes of the names and
 * then by the launch configuration.
 *
 *   blocks_per_sm, occupancy   means weighted by duration over the kernels that have the
 *                              value (plain means where all of them last 0 ns)
 *   op                         grouped by name: the operator that launched it, null when
 *                              several did
 *   share                      of the time of all kernels
 *   source, fused              of a compiler's kernel: file and line, and the operators it
 *                              fused
 *
 * --module NAME leaves the kernels that a module caused, forward and backward (module_work.h).
 *
 * --roofline adds what a kernel computed and moved: its part of its operator's work
 * (op_work.h).
 *
 * An op that is in one of its own name has the name of the outer one, so the name is
 * enough to group by. A kernel without an operator has a null there. */
#include <math.h>

#include "analyse/cost/op_work.h"
#include "analyse/device/step_limit.h"
#include "analyse/group.h"
#include "analyse/kind_names.h"
#include "analyse/lexicon.h"
#include "analyse/operators/kernel_arch.h"
#include "analyse/operators/kernel_source.h"
#include "analyse/operators/module_work.h"
#include "analyse/rules.h"
#include "analyse/run/summary_answers.h"
#include "analyse/select.h"
#include "analyse/steps/lost_work.h"
#include "analyse/vendor/producer_ops.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

#define COL_K(name) COL(kernels, kernels, name)

/* All fields are 32 bits wide but one pair: no padding, so keys compare as bytes. */
typedef struct {
    uint32_t name, op; /* op: string id + 1, 0 = none */
    uint32_t dims[6];  /* grid, block */
    int64_t shared_memory;
    int32_t registers;
    uint32_t zero;
} kernel_key;

typedef struct {
    double sum, plain; /* Σ value·duration; Σ value */
    int64_t ns, n;     /* of the kernels that have it */
} weighted_kernel;

typedef struct {
    kernel_key key;
    int64_t calls, total, max_ns, min_ns;
    uint32_t longest; /* slice of the call that takes longest, 0 = none */
    weighted_kernel blocks, occupancy;
    work_sum work;         /* its share of what its operators did */
    uint8_t class, matrix; /* kernel_class, matrix_use; unknown where the calls differ */
    uint32_t op;           /* string id + 1 of the only op seen so far, 0 = none yet */
    bool several;          /* more than one */
    bool fresh;            /* no call seen yet */
} kernel_group;

typedef struct {
    const trace *t;
    selection select;
    group_by group;
    groups rows;
    int64_t total;
    const module_work *only; /* work of one module; NULL: all */
    lexicon lexicon;
    const uint32_t *source_of; /* name → row of kernel_source; NULL: there are none */
    bool roofline;             /* asked for */
    op_work work;
    op_claims claims;
} totals;

static bool same_key(const void *row, const void *key) {
    return memcmp(row, key, sizeof(kernel_key)) == 0;
}

static uint64_t hash_key(const kernel_key *k) {
    uint64_t h = hash_pair(k->name, k->op);
    for (int i = 0; i < 6; i += 2)
        h = hash_pair(h, (uint64_t)k->dims[i] << 32 | k->dims[i + 1]);
    return hash_pair(hash_pair(h, (uint64_t)k->shared_memory), (uint32_t)k->registers);
}

static kernel_key key_of(const totals *o, uint32_t k, group_by group) {
    const trace *t = o->t;
    kernel_key key = {.name = t->slice.name[t->kernel.slice[k]]};
    if (group == GROUP_NAME) return key;
    if (t->kernel.op[k]) key.op = t->slice.name[t->kernel.op[k]] + 1;
    if (group != GROUP_LAUNCH) return key;
    key.dims[0] = t->kernel.grid_x[k], key.dims[1] = t->kernel.grid_y[k];
    key.dims[2] = t->kernel.grid_z[k], key.dims[3] = t->kernel.block_x[k];
    key.dims[4] = t->kernel.block_y[k], key.dims[5] = t->kernel.block_z[k];
    key.shared_memory = t->kernel.shared_memory[k];
    key.registers = t->kernel.registers[k];
    return key;
}

static kernel_group *find_group(groups *rows, const kernel_key *key) {
    bool is_new;
    uint32_t row = groups_at(rows, hash_key(key), same_key, key, &is_new);
    if (row == GROUP_NONE) return NULL;
    kernel_group *g = GROUP_ROW(rows, kernel_group, row);
    if (is_new) *g = (kernel_group){.key = *key, .min_ns = INT64_MAX, .fresh = true};
    return g;
}

static void add_weighted(weighted_kernel *w, double value, int64_t ns) {
    if (!(value >= 0)) return;
    w->sum += value * (double)ns;
    w->plain += value;
    w->ns = add_i64(w->ns, ns);
    w->n++;
}

static double mean_of(const weighted_kernel *w) {
    if (w->ns) return w->sum / (double)w->ns;
    return w->n ? w->plain / (double)w->n : NAN;
}

/* Calls of one name may differ by the types of their inputs. */
static void add_class(totals *o, kernel_group *g, uint32_t k) {
    lexicon_entry e = lexicon_kernel_row(&o->lexicon, k);
    bool same_class = g->fresh || g->class == e.class;
    bool same_matrix = g->fresh || g->matrix == e.matrix;
    g->class = same_class ? e.class : (uint8_t)CLASS_UNKNOWN;
    g->matrix = same_matrix ? e.matrix : (uint8_t)MATRIX_UNKNOWN;
    g->fresh = false;
}

/* Operators' work is shared among the kernels that do it, by time. */
static void add_work(totals *o, kernel_group *g, uint32_t k) {
    uint32_t of = o->roofline ? o->claims.of_kernel[k] : 0;
    if (!of) return;
    const op_claim *c = &o->claims.v[of - 1];
    int64_t ns = o->t->slice.dur[o->t->kernel.slice[k]];
    if (c->main_ns <= 0 || !op_work_is_main(&o->work, c, k)) return;
    work_sum_add(&g->work, &c->done, (double)ns / (double)c->main_ns, ns);
}

static status add_kernel(totals *o, uint32_t k, error *err) {
    bool counts = select_work_counts(&o->select, k);
    int64_t ns = select_work_ns(&o->select, k);
    if (!counts && !ns) return OK;
    kernel_key key = key_of(o, k, o->group);
    uint32_t op = o->t->kernel.op[k] ? o->t->slice.name[o->t->kernel.op[k]] + 1 : 0;
    kernel_group *g = find_group(&o->rows, &key);
    if (!g) FAIL_MEMORY(err);
    add_class(o, g, k);
    if (counts) {
        g->calls++;
        add_work(o, g, k);
        if (!g->longest || ns > g->max_ns) g->longest = o->t->kernel.slice[k];
        g->max_ns = max_i64(g->max_ns, ns);
        g->min_ns = min_i64(g->min_ns, ns);
    }
    g->total = add_i64(g->total, ns);
    o->total = add_i64(o->total, ns);
    add_weighted(&g->blocks, o->t->kernel.blocks_per_sm[k], ns);
    add_weighted(&g->occupancy, o->t->kernel.occupancy[k], ns);
    if (op && !g->op) g->op = op;
    g->several |= op && g->op != op;
    return OK;
}

static str op_text(const trace *t, uint32_t op) {
    return op ? trace_str(t, op - 1) : STR_NONE;
}

static int compare_keys(const trace *t, const kernel_key *x, const kernel_key *y) {
    int names = str_cmp(trace_str(t, x->name), trace_str(t, y->name));
    if (names) return names;
    int ops = str_cmp(op_text(t, x->op), op_text(t, y->op));
    if (ops) return ops;
    for (int i = 0; i < 6; i++)
        if (x->dims[i] != y->dims[i]) return x->dims[i] < y->dims[i] ? -1 : 1;
    if (x->registers != y->registers) return x->registers < y->registers ? -1 : 1;
    return (x->shared_memory > y->shared_memory) - (x->shared_memory < y->shared_memory);
}

static int compare_groups(uint32_t a, uint32_t b, const void *context) {
    const totals *o = context;
    const kernel_group *x = GROUP_ROW(&o->rows, kernel_group, a);
    const kernel_group *y = GROUP_ROW(&o->rows, kernel_group, b);
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    return compare_keys(o->t, &x->key, &y->key);
}

static status set_launch(table *t, size_t row, const kernel_key *k, error *err) {
    if (k->dims[0] | k->dims[1] | k->dims[2]) {
        str grid = arena_printf(t->arena, "[%u, %u, %u]", k->dims[0], k->dims[1], k->dims[2]);
        if (!grid.p) FAIL_MEMORY(err);
        table_set_text(t, row, COL_K(grid), grid);
    }
    if (k->dims[3] | k->dims[4] | k->dims[5]) {
        str block = arena_printf(t->arena, "[%u, %u, %u]", k->dims[3], k->dims[4], k->dims[5]);
        if (!block.p) FAIL_MEMORY(err);
        table_set_text(t, row, COL_K(block), block);
    }
    if (k->registers != ABSENT_I32) table_set_int(t, row, COL_K(registers), k->registers);
    if (k->shared_memory != ABSENT_I64)
        table_set_int(t, row, COL_K(shared_memory), k->shared_memory);
    return OK;
}

static status set_source(table *t, size_t row, const totals *o, uint32_t name, error *err) {
    uint32_t k = o->source_of ? o->source_of[name] : 0;
    if (!k) return OK;
    str place = kernel_source_place(o->t, k, t->arena);
    if (!place.p) FAIL_MEMORY(err);
    table_set_text(t, row, COL_K(source), place);
    table_set_text(t, row, COL_K(fused), trace_str(o->t, o->t->kernel_source.operators[k]));
    return OK;
}

static void set_work(table *t, size_t row, const work_sum *w) {
    if (w->has_flops) table_set_real(t, row, COL_K(flops), w->flops);
    if (w->has_bytes) table_set_int(t, row, COL_K(bytes), work_bytes(w));
    table_set_real(t, row, COL_K(flops_per_s), work_flops_per_s(w));
    table_set_real(t, row, COL_K(bytes_per_s), work_bytes_per_s(w));
    table_set_real(t, row, COL_K(intensity), work_intensity(w));
    table_set_real(t, row, COL_K(peak_share), work_peak_share(w));
    table_set_real(t, row, COL_K(bandwidth_share), work_bandwidth_share(w));
    table_set_text(t, row, COL_K(bound), work_bound(w));
}

static status write_group(table *t, const totals *o, const kernel_group *g, error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    str name = trace_str(o->t, g->key.name);
    table_set_text(t, row, COL_K(name), name);
    table_set_text(t, row, COL_K(op), op_text(o->t, g->several ? 0 : g->op));
    table_set_int(t, row, COL_K(calls), g->calls);
    table_set_int(t, row, COL_K(total), g->total);
    if (g->calls) {
        table_set_int(t, row, COL_K(mean), mean_i64(g->total, g->calls));
        table_set_int(t, row, COL_K(max), g->max_ns);
        table_set_int(t, row, COL_K(min), g->min_ns);
    }
    if (o->total) table_set_real(t, row, COL_K(share), (double)g->total / (double)o->total);
    table_set_text(t, row, COL_K(class), kernel_class_word(g->class));
    if (g->matrix != MATRIX_UNKNOWN)
        table_set_int(t, row, COL_K(tensor_core), g->matrix == MATRIX_YES);
    table_set_real(t, row, COL_K(blocks_per_sm), mean_of(&g->blocks));
    table_set_real(t, row, COL_K(occupancy), mean_of(&g->occupancy));
    if (g->longest) {
        table_set_int(t, row, COL_K(slice), g->longest);
        table_set_int(t, row, COL_K(at),
                      sub_i64(o->t->slice.start[g->longest], o->t->start_ns));
    }
    TRY(set_source(t, row, o, g->key.name, err));
    if (o->roofline) set_work(t, row, &g->work);
    return o->group == GROUP_LAUNCH ? set_launch(t, row, &g->key, err) : OK;
}

/* ---- verdict ----------------------------------------------------------------------------- */

typedef struct {
    int64_t calls, total;
    str top;
    double top_share, top_blocks; /* blocks per SM, NaN when unknown */
    int64_t mean;
    str unit; /* what an SM is called there */
    uint32_t top_slice;
    /* Kernels that were built for an older generation than the device's. */
    int64_t older_ns, n_older, unaligned_ns;
    int older_arch; /* of the one that takes most of it */
    str older;      /* its name */
    uint32_t older_slice;
    int64_t n_names, n_half; /* names; those that take half of the time together */
} kernel_facts;

static bool is_nothing_recorded(const void *facts, verdict *v) {
    (void)v;
    return !((const kernel_facts *)facts)->calls;
}

/* The way to what a verdict names. */
static void say_slice(verdict *v, uint32_t slice) {
    if (slice) verdict_add(v, arg_id("slice", slice));
}

#define OLDER_SHARE 0.2

/* A library falls back on kernels of an older generation where it has none that fits. */
static bool are_older(const void *facts, verdict *v) {
    const kernel_facts *f = facts;
    if (f->total <= 0 || (double)f->older_ns < OLDER_SHARE * (double)f->total) return false;
    verdict_add(v, arg_share("share", (double)f->older_ns / (double)f->total));
    verdict_add(v, arg_int("count", f->n_older));
    verdict_add(v, arg_text("kernel", kernel_short_name(f->older)));
    verdict_add(v, arg_id("arch", f->older_arch));
    if (mul_i64(f->unaligned_ns, 2) > f->older_ns) verdict_add(v, arg_int("unaligned", 1));
    say_slice(v, f->older_slice);
    return true;
}

static bool grid_is_small(const void *facts, verdict *v) {
    const kernel_facts *f = facts;
    if (f->top_share < 0.1 || !(f->top_blocks < 1)) return false;
    verdict_add(v, arg_text("kernel", kernel_short_name(f->top)));
    verdict_add(v, arg_share("share", f->top_share));
    verdict_add(v, arg_real("blocks", f->top_blocks));
    verdict_add(v, arg_text("unit", f->unit));
    say_slice(v, f->top_slice);
    return true;
}

/* A launch costs the host some 5 µs: kernels shorter than that leave the device waiting. */
static bool are_tiny(const void *facts, verdict *v) {
    const kernel_facts *f = facts;
    if (f->calls < 1000 || f->mean >= 5000) return false;
    verdict_add(v, arg_int("count", f->calls));
    verdict_add(v, arg_time("mean", f->mean));
    return true;
}

static bool one_leads(const void *facts, verdict *v) {
    const kernel_facts *f = facts;
    verdict_add(v, arg_text("kernel", kernel_short_name(f->top)));
    verdict_add(v, arg_share("share", f->top_share));
    if (f->n_half > 1 && f->n_half < f->n_names) { /* of one its own share says more */
        verdict_add(v, arg_int("half", f->n_half));
        verdict_add(v, arg_int("names", f->n_names));
    }
    say_slice(v, f->top_slice);
    return true;
}

static const rule rules[] = {
    {"kernels_not_recorded", MSG_VERDICT_KERNELS_NONE, SEVERITY_INFO, is_nothing_recorded},
    {"kernel_small_grid", MSG_VERDICT_KERNEL_SMALL_GRID, SEVERITY_WARNING, grid_is_small},
    {"kernels_older", MSG_VERDICT_KERNELS_OLDER, SEVERITY_WARNING, are_older},
    {"kernels_tiny", MSG_VERDICT_KERNELS_TINY, SEVERITY_WARNING, are_tiny},
    {"kernel_leads", MSG_VERDICT_KERNEL_LEADS, SEVERITY_INFO, one_leads},
};

/* The generation of the newest device, as 90; 0 when it is not known. */
static int newest_arch(const trace *t) {
    int newest = 0;
    for (uint32_t i = 1; i < t->device.n; i++) {
        int32_t major = t->device.compute_major[i], minor = t->device.compute_minor[i];
        if (major == ABSENT_I32 || minor == ABSENT_I32) continue;
        int arch = sat_i32((int64_t)major * 10 + minor);
        if (arch > newest) newest = arch;
    }
    return newest;
}

/* Groups come with the longest first; of launches a name has several. */
static void find_older(const totals *o, const uint32_t *order, kernel_facts *f) {
    int own = newest_arch(o->t);
    for (uint32_t i = 0; i < o->rows.n && own; i++) {
        const kernel_group *g = GROUP_ROW(&o->rows, kernel_group, order[i]);
        str name = trace_str(o->t, g->key.name);
        int arch = kernel_arch(name);
        if (!arch || arch / 10 >= own / 10) continue;
        f->older_ns = add_i64(f->older_ns, g->total);
        if (kernel_is_unaligned(name)) f->unaligned_ns = add_i64(f->unaligned_ns, g->total);
        if (!f->n_older++) {
            f->older = name;
            f->older_arch = arch;
            f->older_slice = g->longest;
        }
    }
}

/* How many of the longest take half of the time together. */
static int64_t is_in_half(const totals *o, const uint32_t *order) {
    int64_t sum = 0;
    uint32_t n = 0;
    while (n < o->rows.n && sum < o->total / 2)
        sum = add_i64(sum, GROUP_ROW(&o->rows, kernel_group, order[n++])->total);
    return n;
}

static void judge(const totals *o, const uint32_t *order, verdict *out) {
    kernel_facts f = {.total = o->total, .top_blocks = NAN, .unit = device_unit(o->t)};
    for (uint32_t i = 0; i < o->rows.n; i++)
        f.calls += GROUP_ROW(&o->rows, kernel_group, i)->calls;
    f.mean = mean_i64(o->total, f.calls);
    if (o->rows.n && o->total) {
        const kernel_group *top = GROUP_ROW(&o->rows, kernel_group, order[0]);
        f.top = trace_str(o->t, top->key.name);
        f.top_share = (double)top->total / (double)o->total;
        f.top_slice = top->longest;
        f.n_names = o->rows.n;
        f.n_half = is_in_half(o, order);
        find_older(o, order, &f);
        /* A collective takes a few blocks on purpose and leaves the others to those that
         * compute. */
        if (top->class != CLASS_COMMUNICATION) f.top_blocks = mean_of(&top->blocks);
    }
    rules_apply(rules, sizeof rules / sizeof *rules, &f, out);
}

static status sum_kernels(totals *o, arena *a, error *err) {
    TRY(groups_init(&o->rows, a, sizeof(kernel_group), err));
    TRY(lexicon_init(&o->lexicon, o->t, a, err));
    TRY(kernel_sources_by_name(o->t, a, &o->source_of, err));
    if (o->roofline) TRY(op_work_claim(&o->work, &o->claims, err));
    for (uint32_t k = 1; k < o->t->kernel.n; k++)
        if (o->t->slice.kind[o->t->kernel.slice[k]] == KIND_KERNEL &&
            (!o->only || module_work_has(o->only, k)))
            TRY(add_kernel(o, k, err));
    return OK;
}

/* The chart: the names with the longest mean. */
enum { TOP_KERNELS = 15 };

static status write_top(const table *kernels, answer *out, arena *a, error *err) {
    size_t n = kernels->n_rows;
    top_item *items = ARENA_ARRAY(a, top_item, n + 1);
    if (!items) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) {
        bool known = !table_is_null(kernels, i, COL_K(calls));
        items[i] =
            (top_item){.name = kernels->columns[COL_K(name)].v.s[i],
                       .calls = known ? kernels->columns[COL_K(calls)].v.i[i] : ABSENT_I64,
                       .total = kernels->columns[COL_K(total)].v.i[i]};
    }
    return top_list_write(out, a, items, n, TOP_KERNELS, err);
}

/* The module asked for, if one is. */
static status read_module(totals *o, const params *p, arena *a, module_work *found,
                          error *err) {
    str name = param_text(p, STR("module"));
    if (!name.n) return OK;
    TRY(trace_require(o->t, TRACE_TABLE(module) | TRACE_TABLE(module_call) | TRACE_TABLE(flow),
                      err));
    TRY(module_work_find(o->t, &o->select, name, a, found, err));
    o->only = found;
    return OK;
}

status analyse_kernels(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) {
    totals o = {.t = in->traces[0].trace, .group = p->group};
    if (o.group != GROUP_NAME_OP && o.group != GROUP_LAUNCH) o.group = GROUP_NAME;
    TRY(answer_begin("kernels", in, a, out, err));
    if (in->n_traces > 1 || input_is_summary(in)) {
        TRY(summary_kernels(in, p, a, out, err));
        answer_finish(out, p);
        return OK;
    }
    TRY(trace_require(o.t, SELECT_TABLES | TRACE_TABLE(producer_op), err));
    select_init(&o.select, o.t, p);
    module_work of_module;
    TRY(read_module(&o, p, a, &of_module, err));
    o.roofline = param_flag(p, STR("roofline"));
    if (o.roofline) TRY(op_work_init(&o.work, &o.select, p, a, err));
    TRY(sum_kernels(&o, a, err));
    uint32_t *order = groups_order(&o.rows), *scratch = groups_order(&o.rows);
    table *result = answer_table(out, a, "kernels");
    if (!order || !scratch || !result) FAIL_MEMORY(err);
    sort_index(order, scratch, o.rows.n, compare_groups, &o);
    for (uint32_t i = 0; i < o.rows.n; i++)
        TRY(write_group(result, &o, GROUP_ROW(&o.rows, kernel_group, order[i]), err));
    if (!o.rows.n && !o.only) TRY(producer_kernels_write(result, o.t, err));
    TRY(write_top(result, out, a, err));
    bool replaced;
    TRY(lost_work_judge(o.t, a, out, &replaced, err));
    if (!replaced) {
        judge(&o, order, &out->verdict);
        TRY(step_limit_say(o.t, &o.select, a, &out->verdict, err));
    }
    answer_finish(out, p);
    return OK;
}
