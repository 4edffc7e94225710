/* roofline.c: how far operators are from what the device can do.
 *
 * Every piece of device work has one owner (op_work.h), so times add up. Owners are added up by
 * name (or by name and shapes), data type and unit: a point of the chart has one roof.
 *
 *     operations/s
 *        │        ______ peak of the type    least time of a point: the longer of operations
 *        │      /                            over the peak and bytes over the bandwidth; what
 *        │    / ∙                            is missing to the roof is that over its time
 *        │  /        ∙
 *        └──────────────── operations per byte
 *
 * What is unknown is shown: the time without figures is in `coverage`. */
#include <math.h>

#include "analyse/cost/op_work.h"
#include "analyse/cost/step_mfu.h"
#include "analyse/device/step_limit.h"
#include "analyse/rules.h"
#include "analyse/steps/lost_work.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

#define COL_P(name) COL(roofline, points, name)
#define COL_R(name) COL(roofline, ridges, name)
#define COL_M(name) COL(roofline, mfu, name)

typedef struct {
    uint32_t name, shapes, type, on_matrix;
} point_key;

typedef struct {
    point_key key;
    int64_t calls, ns;
    work_sum work;
} point;

typedef struct {
    const trace *t;
    selection select;
    op_work work;
    op_claims claims;
    groups points;
    bool by_shape;
    int64_t all_ns; /* of all kernels, or of all points on a host */
} roofline;

static bool same_point(const void *row, const void *key) {
    return memcmp(row, key, sizeof(point_key)) == 0;
}

static status add_claim(roofline *r, const op_claim *c, error *err) {
    const trace *t = r->t;
    point_key key = {.name = t->slice.name[t->op.slice[c->op_row]],
                     .shapes = r->by_shape ? t->op.shapes[c->op_row] : 0,
                     .type = c->done.cost.type,
                     .on_matrix = c->done.on_matrix};
    bool is_new;
    uint64_t hash =
        hash_pair(hash_pair(key.name, key.shapes), (uint64_t)key.type << 1 | key.on_matrix);
    uint32_t at = groups_at(&r->points, hash, same_point, &key, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    point *p = GROUP_ROW(&r->points, point, at);
    p->key = key;
    p->calls++;
    p->ns = add_i64(p->ns, c->done.ns);
    work_sum_add(&p->work, &c->done, 1, c->done.ns);
    return OK;
}

static int compare_points(uint32_t a, uint32_t b, const void *context) {
    const roofline *r = context;
    const point *x = GROUP_ROW(&r->points, point, a), *y = GROUP_ROW(&r->points, point, b);
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    int names = str_cmp(trace_str(r->t, x->key.name), trace_str(r->t, y->key.name));
    if (names) return names;
    int shapes = str_cmp(trace_str(r->t, x->key.shapes), trace_str(r->t, y->key.shapes));
    if (shapes) return shapes;
    if (x->key.type != y->key.type) return x->key.type < y->key.type ? -1 : 1;
    return (x->key.on_matrix > y->key.on_matrix) - (x->key.on_matrix < y->key.on_matrix);
}

/* The longer of the two least times over the time; NaN when one is not known. */
static double roof_share(const point *p) {
    const work_sum *w = &p->work;
    if (!w->has_bound || p->ns <= 0) return NAN;
    return fmax(w->bound_compute, w->bound_memory) / (double)p->ns;
}

static str unit_word(bool on_matrix) {
    return on_matrix ? STR("matrix") : STR("vector");
}

static status write_point(table *t, const roofline *r, const point *p, error *err) {
    size_t row;
    const work_sum *w = &p->work;
    const char *type = kernel_type_word(p->key.type);
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_P(name), trace_str(r->t, p->key.name));
    if (r->by_shape) table_set_text(t, row, COL_P(shapes), trace_str(r->t, p->key.shapes));
    if (type) table_set_text(t, row, COL_P(type), str_of(type));
    table_set_text(t, row, COL_P(unit), unit_word(p->key.on_matrix));
    table_set_int(t, row, COL_P(calls), p->calls);
    table_set_int(t, row, COL_P(time), p->ns);
    if (r->all_ns > 0) table_set_real(t, row, COL_P(share), (double)p->ns / (double)r->all_ns);
    if (w->has_flops) table_set_real(t, row, COL_P(flops), w->flops);
    if (w->has_bytes) table_set_int(t, row, COL_P(bytes), work_bytes(w));
    table_set_real(t, row, COL_P(intensity), work_intensity(w));
    table_set_real(t, row, COL_P(flops_per_s), work_flops_per_s(w));
    table_set_real(t, row, COL_P(bytes_per_s), work_bytes_per_s(w));
    table_set_real(t, row, COL_P(peak_share), work_peak_share(w));
    table_set_real(t, row, COL_P(bandwidth_share), work_bandwidth_share(w));
    table_set_real(t, row, COL_P(roof_share), roof_share(p));
    table_set_text(t, row, COL_P(bound), work_bound(w));
    return OK;
}

/* ---- the roofs ---- */

static status write_ridge(table *t, const roofline *r, kernel_type type, bool on_matrix,
                          error *err) {
    const device_peaks *d = &r->work.peaks;
    double peak = device_peak(d, type, on_matrix);
    size_t row;
    if (!(peak > 0)) return OK;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_R(type), str_of(kernel_type_word(type)));
    table_set_text(t, row, COL_R(unit), unit_word(on_matrix));
    table_set_real(t, row, COL_R(peak), peak);
    if (d->bytes_per_s > 0) {
        table_set_real(t, row, COL_R(bandwidth), d->bytes_per_s);
        table_set_real(t, row, COL_R(intensity), peak / d->bytes_per_s);
    }
    table_set_text(t, row, COL_R(source), d->given ? STR("given") : d->device);
    return OK;
}

/* The vector unit's, and those of the types that products are computed in. */
static status write_ridges(const roofline *r, answer *out, arena *a, error *err) {
    table *t = answer_table(out, a, "ridges");
    bool used[N_DTYPES] = {false};
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->points.n; i++) {
        const point *p = GROUP_ROW(&r->points, point, i);
        if (p->key.on_matrix) used[p->key.type] = true;
    }
    for (int i = 1; i < N_DTYPES; i++)
        if (used[i]) TRY(write_ridge(t, r, (kernel_type)i, true, err));
    return r->points.n ? write_ridge(t, r, DTYPE_FP32, false, err) : OK;
}

/* ---- what it is based on ---- */

enum { COVER_FLOPS, COVER_BYTES, COVER_COMMUNICATION, COVER_UNKNOWN, N_COVERS };

static void sum_kernels(roofline *r, int64_t ns[N_COVERS]) {
    const trace *t = r->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k], of = r->claims.of_kernel[k];
        if (t->slice.kind[slice] != KIND_KERNEL || !select_work_counts(&r->select, k)) continue;
        bool comm = !of && lexicon_kernel_row(&r->work.lexicon, k).class == CLASS_COMMUNICATION;
        int which = of     ? r->claims.v[of - 1].done.cost.flops > 0 ? COVER_FLOPS : COVER_BYTES
                    : comm ? COVER_COMMUNICATION
                           : COVER_UNKNOWN;
        ns[which] = add_i64(ns[which], t->slice.dur[slice]);
    }
}

static void sum_claims(roofline *r, int64_t ns[N_COVERS]) {
    for (uint32_t i = 0; i < r->claims.n; i++) {
        int which = r->claims.v[i].done.cost.flops > 0 ? COVER_FLOPS : COVER_BYTES;
        ns[which] = add_i64(ns[which], r->claims.v[i].done.ns);
    }
}

static status write_coverage(const roofline *r, const int64_t ns[N_COVERS], answer *out,
                             arena *a, error *err) {
    static const char *const words[] = {"flops", "bytes", "communication", "unknown"};
    table *t = answer_table(out, a, "coverage");
    if (!t) FAIL_MEMORY(err);
    for (int i = 0; i < N_COVERS; i++) {
        size_t row;
        if (i >= COVER_COMMUNICATION && !r->work.on_device) continue; /* the rest is unknown */
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL(roofline, coverage, known), str_of(words[i]));
        table_set_int(t, row, COL(roofline, coverage, time), ns[i]);
        if (r->all_ns > 0 && r->work.on_device)
            table_set_real(t, row, COL(roofline, coverage, share),
                           (double)ns[i] / (double)r->all_ns);
    }
    return OK;
}

static status write_mfu(const step_mfu *m, answer *out, arena *a, error *err) {
    table *t = answer_table(out, a, "mfu");
    size_t row;
    if (!t) FAIL_MEMORY(err);
    if (!(m->flops > 0)) return OK;
    TRY(table_add_row(t, &row, err));
    int64_t steps = m->steps ? m->steps : 1;
    table_set_real(t, row, COL_M(mfu), m->mfu);
    if (m->steps) table_set_int(t, row, COL_M(steps), m->steps);
    table_set_int(t, row, COL_M(step_time), mean_i64(m->ns, steps));
    table_set_real(t, row, COL_M(flops), m->flops / (double)steps);
    if (m->type) table_set_text(t, row, COL_M(type), str_of(kernel_type_word(m->type)));
    table_set_real(t, row, COL_M(type_share), m->type_share);
    if (m->peak > 0) table_set_real(t, row, COL_M(peak), m->peak);
    return OK;
}

/* ---- verdict ---- */

typedef struct {
    const trace *t;
    uint32_t n_points;
    bool on_device, known; /* the device has peaks */
    str device;            /* its name as recorded */
    double mfu;
    double part; /* of the kernel time that has figures; NaN: enough */
    const char *type;
    str op;             /* the one that is farthest below its roof; {NULL, 0} = nothing */
    double roof, share; /* of that: share of its roof, of the time */
} roof_facts;

static bool nothing_known(const void *facts, verdict *v) {
    const roof_facts *f = facts;
    if (f->n_points) return false;
    verdict_add_recorder(v, f->t);
    return true;
}

static bool device_unknown(const void *facts, verdict *v) {
    const roof_facts *f = facts;
    if (f->known) return false;
    str name = f->on_device ? f->device : STR("CPU");
    if (name.n) verdict_add(v, arg_text("device", name));
    return true;
}

static void add_op(const roof_facts *f, verdict *v) {
    verdict_add(v, arg_text("op", f->op));
    verdict_add(v, arg_share("share", f->share));
    verdict_add(v, arg_share("roof", f->roof));
}

static bool add_mfu(const roof_facts *f, verdict *v) {
    if (isnan(f->mfu) || !f->type) return false;
    verdict_add(v, arg_share("mfu", f->mfu));
    verdict_add(v, arg_cstr("type", f->type));
    return true;
}

#define SMALL_SHARE 0.05 /* of the time: nothing to gain there is worth the headline */
#define LEAST_MFU 0.001  /* at least nothing says nothing */

static bool part_is_known(const void *facts, verdict *v) {
    const roof_facts *f = facts;
    if (isnan(f->part)) return false;
    verdict_add(v, arg_share("known", f->part));
    if (f->mfu >= LEAST_MFU) (void)add_mfu(f, v);
    if (f->op.n && f->share >= SMALL_SHARE) add_op(f, v);
    return true;
}

static bool step_reaches(const void *facts, verdict *v) {
    const roof_facts *f = facts;
    if (!f->op.n || !add_mfu(f, v)) return false;
    add_op(f, v);
    return true;
}

static bool one_loses(const void *facts, verdict *v) {
    const roof_facts *f = facts;
    if (!f->op.n) return false;
    add_op(f, v);
    return true;
}

static const rule rules[] = {
    {"roofline_no_shapes", MSG_VERDICT_ROOFLINE_NONE, SEVERITY_INFO, nothing_known},
    {"roofline_no_device", MSG_VERDICT_ROOFLINE_DEVICE, SEVERITY_INFO, device_unknown},
    {"roofline_part", MSG_VERDICT_ROOFLINE_PART, SEVERITY_INFO, part_is_known},
    {"roofline_step", MSG_VERDICT_ROOFLINE_STEP, SEVERITY_INFO, step_reaches},
    {"roofline_operator", MSG_VERDICT_ROOFLINE_OPERATOR, SEVERITY_INFO, one_loses},
};

static void judge(const roofline *r, const step_mfu *m, verdict *out) {
    const trace *t = r->t;
    const device_peaks *d = &r->work.peaks;
    roof_facts f = {.t = t,
                    .n_points = r->points.n,
                    .known = d->device.n || d->given,
                    .on_device = r->work.on_device,
                    .mfu = m->mfu,
                    .part = step_mfu_is_whole(m) ? NAN : m->known,
                    .type = kernel_type_word(m->type)};
    if (t->device.n > 1 && r->work.on_device) f.device = trace_str(t, t->device.name[1]);
    double most = 0;
    for (uint32_t i = 0; i < r->points.n; i++) {
        const point *p = GROUP_ROW(&r->points, point, i);
        double roof = roof_share(p), lost = (double)p->ns * (1 - roof);
        if (isnan(roof) || !(lost > most)) continue;
        most = lost;
        f.op = trace_str(t, p->key.name);
        f.roof = roof;
        f.share = r->all_ns > 0 ? (double)p->ns / (double)r->all_ns : 0;
    }
    rules_apply(rules, sizeof rules / sizeof *rules, &f, out);
    if (out->id && r->t->step.n <= 1) /* no step to speak of */
        verdict_add(out, arg_time("recording", sub_i64(r->t->end_ns, r->t->start_ns)));
}

/* How much of the time has figures, and what the MFU is based on. */
static status note_basis(const roofline *r, const int64_t ns[N_COVERS], const step_mfu *m,
                         answer *out, arena *a, error *err) {
    verdict known = {.id = "roofline_coverage", .message = MSG_NOTE_ROOFLINE_COVERAGE};
    if (r->work.on_device && r->all_ns > 0) {
        int64_t with = add_i64(ns[COVER_FLOPS], ns[COVER_BYTES]);
        verdict_add(&known, arg_share("share", (double)with / (double)r->all_ns));
        TRY(answer_note(out, a, &known, err));
    }
    if (isnan(m->mfu)) return OK;
    verdict basis = {.id = "roofline_mfu", .message = MSG_NOTE_ROOFLINE_MFU};
    verdict_add(&basis, arg_cstr("type", kernel_type_word(m->type)));
    verdict_add(&basis, arg_share("share", m->type_share));
    verdict_add(&basis, arg_real("peak", m->peak * 1e-12));
    return answer_note(out, a, &basis, err);
}

static status write_points(const roofline *r, answer *out, arena *a, error *err) {
    uint32_t *order = groups_order(&r->points), *scratch = groups_order(&r->points);
    table *t = answer_table(out, a, "points");
    if (!order || !scratch || !t) FAIL_MEMORY(err);
    sort_index(order, scratch, r->points.n, compare_points, r);
    for (uint32_t i = 0; i < r->points.n; i++)
        TRY(write_point(t, r, GROUP_ROW(&r->points, point, order[i]), err));
    return OK;
}

status analyse_roofline(const analysis_input *in, const params *p, arena *a, answer *out,
                        error *err) {
    roofline r = {.t = in->traces[0].trace, .by_shape = p->group == GROUP_NAME_SHAPE};
    int64_t ns[N_COVERS] = {0};
    step_mfu m;
    TRY(answer_begin("roofline", in, a, out, err));
    TRY(trace_require(r.t, OP_WORK_TABLES, err));
    select_init(&r.select, r.t, p);
    TRY(op_work_init(&r.work, &r.select, p, a, err));
    TRY(groups_init(&r.points, a, sizeof(point), err));
    TRY(op_work_claim(&r.work, &r.claims, err));
    for (uint32_t i = 0; i < r.claims.n; i++) TRY(add_claim(&r, &r.claims.v[i], err));
    if (r.work.on_device)
        sum_kernels(&r, ns);
    else
        sum_claims(&r, ns);
    for (int i = 0; i < N_COVERS; i++) r.all_ns = add_i64(r.all_ns, ns[i]);
    TRY(step_mfu_find(&r.work, &r.claims, &m, err));
    TRY(write_points(&r, out, a, err));
    TRY(write_ridges(&r, out, a, err));
    TRY(write_mfu(&m, out, a, err));
    TRY(write_coverage(&r, ns, out, a, err));
    TRY(note_basis(&r, ns, &m, out, a, err));
    bool lost; /* then nothing is known of what ran on a device */
    TRY(lost_work_judge(r.t, a, out, &lost, err));
    if (!lost) {
        judge(&r, &m, &out->verdict);
        TRY(step_limit_say(r.t, &r.select, a, &out->verdict, err));
    }
    answer_finish(out, p);
    return OK;
}
