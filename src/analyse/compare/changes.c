/* changes.c: see changes.h. */
#include "analyse/compare/changes.h"

#include <math.h>

#include "analyse/compare/parity.h"
#include "analyse/rows.h"

typedef struct {
    const char *name, *unit;
    measure measure;
} changed_info;

/* The peak of memory is of a run, not of its steps. */
static const changed_info INFO[N_CHANGED] = {
    [CHANGED_STEP] = {"step", "ns", MEASURE_STEP},
    [CHANGED_SAME_DATA] = {"step_for_same_data", "ns", MEASURE_STEP},
    [CHANGED_DEVICE] = {"device", "ns", MEASURE_DEVICE},
    [CHANGED_HOST] = {"host", "ns", MEASURE_HOST},
    [CHANGED_LAUNCH] = {"host_per_launch", "ns", MEASURE_LAUNCH},
    [CHANGED_KERNELS] = {"kernels", "count", MEASURE_KERNELS},
    [CHANGED_MEMORY] = {"memory_peak", "bytes", N_MEASURES},
};

/* ---- memory ------------------------------------------------------------------------------ */

/* The largest peak of the workers of each run, as samples. */
static status memory_samples(const compared_side *s, arena *a, noise_samples *out, error *err) {
    double *most = ARENA_ARRAY(a, double, (size_t)s->n_runs + 1);
    uint32_t n = 0;
    if (!most) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].memory_bytes != ABSENT_I64)
            most[s->v[i].run] = fmax(most[s->v[i].run], (double)s->v[i].memory_bytes);
    for (uint32_t i = 0; i < s->n_runs; i++)
        if (most[i] > 0) most[n++] = most[i];
    *out = noise_of_reals(most, n);
    return OK;
}

static status make_memory(const compared_side sides[N_SIDES], arena *a, measured_change *out,
                          error *err) {
    noise_samples s[N_SIDES];
    for (int k = 0; k < N_SIDES; k++) {
        TRY(memory_samples(&sides[k], a, &s[k], err));
        out->of[k] = s[k].n ? s[k].mean : NAN;
    }
    out->known = noise_compare_runs(&s[SIDE_A], &s[SIDE_B], &out->change);
    return OK;
}

/* ---- certainty --------------------------------------------------------------------------- */

static bool is_on_device(change_kind k) {
    return k == CHANGE_SHAPES || k == CHANGE_OTHER_KERNELS || k == CHANGE_KERNEL_TIME ||
           k == CHANGE_COMMUNICATION;
}

/* Do certain causes explain at least half of it? */
static bool is_explained(const change_causes *causes, changed what, double change) {
    double sum = 0;
    for (uint32_t i = 0; i < causes->n; i++) {
        const change_cause *c = &causes->v[i];
        if (c->certain && !(what == CHANGED_HOST && is_on_device(c->kind))) sum += cause_ns(c);
    }
    return change > 0 ? sum >= change / 2 : sum <= change / 2;
}

static change_judgment judge(const compared_side sides[N_SIDES], const change_causes *causes,
                             changed what, const measured_change *m) {
    double change = measured_ns(m);
    bool of_host = what == CHANGED_STEP || what == CHANGED_HOST || what == CHANGED_LAUNCH;
    if (!m->known) return CHANGE_UNKNOWN;
    if (change == 0) return CHANGE_NONE;
    if (!noise_is_real(&m->change)) return CHANGE_CHANCE;
    if (parity_is_other_work(causes) || !causes->in_common) return CHANGE_OTHER_WORK;
    if (what != CHANGED_KERNELS && fabs(change) < CHANGES_LEAST * fabs(m->of[SIDE_A]))
        return CHANGE_SMALL;
    if (!of_host || sides[SIDE_A].n_runs > 1) return CHANGE_CERTAIN;
    return what != CHANGED_LAUNCH && is_explained(causes, what, change) ? CHANGE_CERTAIN
                                                                        : CHANGE_MACHINE;
}

/* How much more data a step of the second run takes; NaN: as much, or not known. */
static double data_factor(const change_causes *causes) {
    return parity_is_other_work(causes) ? causes->factor : NAN;
}

status changes_make(const compared_side sides[N_SIDES], const change_causes *causes, arena *a,
                    measured_change out[N_CHANGED], error *err) {
    for (changed k = 0; k < N_CHANGED; k++) {
        measured_change *m = &out[k];
        *m = (measured_change){.known = false};
        if (k == CHANGED_MEMORY) {
            TRY(make_memory(sides, a, m, err));
        } else {
            double size = k == CHANGED_SAME_DATA ? data_factor(causes) : 1;
            for (int s = 0; s < N_SIDES; s++) m->of[s] = side_mean(&sides[s], INFO[k].measure);
            m->of[SIDE_B] /= size;
            if (isnan(size)) m->of[SIDE_A] = NAN;
            TRY(sides_compare(sides, INFO[k].measure, size, a, &m->change, &m->known, err));
        }
        m->judgment = judge(sides, causes, k, m);
    }
    return OK;
}

/* ---- the table --------------------------------------------------------------------------- */

/* Times and sizes are integers; the kernels of a mean step may be a fraction. */
static double shown_value(changed what, double v) {
    return what == CHANGED_KERNELS ? v : nearbyint(v);
}

static void set_measured(row_diff_changes *row, changed what, const measured_change *m) {
    row->a = shown_value(what, m->of[SIDE_A]);
    row->b = shown_value(what, m->of[SIDE_B]);
    row->change = shown_value(what, measured_ns(m));
    if (!m->known) return;
    row->low = shown_value(what, m->change.low);
    row->high = shown_value(what, m->change.high);
    row->detectable = shown_value(what, m->change.detectable);
    row->certain = measured_is_certain(m);
}

static const char *const JUDGMENTS[] = {
    [CHANGE_UNKNOWN] = "too_few_steps",  [CHANGE_NONE] = "none",
    [CHANGE_CHANCE] = "chance",          [CHANGE_SMALL] = "too_small",
    [CHANGE_MACHINE] = "may_be_machine", [CHANGE_OTHER_WORK] = "other_workload",
    [CHANGE_CERTAIN] = "certain",
};

/* What neither run has recorded has no row. */
status changes_write(const measured_change v[N_CHANGED], table *out, error *err) {
    for (changed k = 0; k < N_CHANGED; k++) {
        if (isnan(v[k].of[SIDE_A]) && isnan(v[k].of[SIDE_B])) continue;
        row_diff_changes row = row_diff_changes_none();
        row.metric = str_of(INFO[k].name);
        row.unit = str_of(INFO[k].unit);
        set_measured(&row, k, &v[k]);
        row.judgment = str_of(JUDGMENTS[v[k].judgment]);
        TRY(put_diff_changes(out, &row, err));
    }
    return OK;
}
