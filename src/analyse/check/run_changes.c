/* run_changes.c: see run_changes.h. */
#include "analyse/check/run_changes.h"

#include <math.h>

/* A part of the host must change by this much of itself: the speed of the host is an
 * estimate. */
#define LEAST_PART 0.1

double cause_number(const table *causes, size_t row, const char *name) {
    uint32_t col = table_column(causes, str_of(name));
    if (col == UINT32_MAX || table_is_null(causes, row, col)) return NAN;
    const column_type type = causes->columns[col].type;
    return type == TYPE_REAL ? causes->columns[col].v.d[row]
                             : (double)causes->columns[col].v.i[row];
}

str cause_text(const table *causes, size_t row, const char *name) {
    uint32_t col = table_column(causes, str_of(name));
    bool none = col == UINT32_MAX || table_is_null(causes, row, col);
    return none ? STR_NONE : causes->columns[col].v.s[row];
}

/* ---- two traces -------------------------------------------------------------------------- */

/* Causes that are the device's alone. */
static bool is_of_device(str id) {
    return str_eq(id, STR("shapes_changed")) || str_eq(id, STR("other_kernels")) ||
           str_eq(id, STR("kernel_time")) || str_eq(id, STR("communication"));
}

static void add_causes(run_changes *c) {
    for (size_t i = 0; i < c->causes->n_rows; i++) {
        str id = cause_text(c->causes, i, "id");
        double ns = cause_number(c->causes, i, "change");
        if (isnan(ns)) continue;
        if (str_eq(id, STR("host_speed"))) c->host_speed_ns += ns;
        if (!(cause_number(c->causes, i, "certain") > 0)) continue;
        c->certain_ns += ns;
        if (!is_of_device(id)) c->certain_host_ns += ns;
    }
}

static status find_causes(const analysis_input *in, const params *p, arena *a, run_changes *c,
                          error *err) {
    const analysis_info *diff = registry_find(STR("diff"));
    answer *found = ARENA_NEW(a, answer);
    analysis_input both = *in;
    params plain = *p;
    plain.n_extra = 0;
    plain.tables = STR_NONE;
    if (!diff) BUG("there is no diff");
    if (!found) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_also; i++) /* a baseline has no calls to compare */
        if (input_is_summary(&in->also[i])) both.n_also = 0;
    TRY(diff->run(&both, &plain, a, found, err));
    for (uint32_t i = 0; i < found->n_tables; i++)
        if (strcmp(found->tables[i]->name, "causes") == 0) c->causes = found->tables[i];
    if (!c->causes) BUG("diff has no causes");
    const char *id = found->verdict.id;
    if (id && strcmp(id, "diff_other_workload") == 0) {
        c->other_work = true;
        for (uint32_t i = 0; i < found->verdict.n_args; i++) /* what diff itself says */
            if (strcmp(found->verdict.args[i].name, "share") == 0)
                c->reshaped = found->verdict.args[i].u.d;
    }
    add_causes(c);
    return OK;
}

/* ---- a baseline -------------------------------------------------------------------------- */

static status find_parts(const measures *a, const measures *b, arena *scratch, run_changes *c,
                         error *err) {
    double ratio;
    TRY(measures_host_ratio(a, b, scratch, &ratio, err));
    for (int p = 0; p < N_PARTS; p++) {
        double speed = p == PART_DEVICE ? 1 : ratio;
        noise_samples x = a->part[p], y = b->part[p];
        noise_change change;
        if (p != PART_DEVICE) c->host_speed_ns += (ratio - 1) * x.mean;
        y.mean /= speed;
        y.variance /= speed * speed;
        if (!noise_compare(&x, &y, 0, &change) || !noise_is_real(&change)) continue;
        if (p != PART_DEVICE && fabs(change.change) < LEAST_PART * x.mean) continue;
        c->certain_ns += change.change;
        if (p != PART_DEVICE) c->certain_host_ns += change.change;
    }
    return OK;
}

status run_changes_find(const analysis_input *in, const params *p, const measures *base,
                        const measures *candidate, arena *a, run_changes *out, error *err) {
    double reshaped = measures_reshaped(base, candidate);
    run_changes c = {.other_work = reshaped > MEASURES_OTHER_WORK, .reshaped = reshaped};
    bool traces = !input_is_summary(in) && !input_is_summary(in->against);
    TRY(traces ? find_causes(in, p, a, &c, err) : find_parts(base, candidate, a, &c, err));
    *out = c;
    return OK;
}
