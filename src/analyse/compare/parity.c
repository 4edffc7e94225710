/* parity.c: what differs between two runs before anything is measured. */
#include "analyse/compare/parity.h"

#include <math.h>

#include "analyse/rows.h"
#include "store/traits.h"

bool parity_is_other_work(const change_causes *causes) {
    return causes->compared > 0 && causes->reshaped > causes->compared / 2;
}

static status add_row(table *t, str key, str a, str b, error *err) {
    if (!a.n && !b.n) return OK;
    row_diff_parity row = row_diff_parity_none();
    row.key = key;
    if (a.n) row.a = a;
    if (b.n) row.b = b;
    row.same = str_eq(a, b);
    return put_diff_parity(t, &row, err);
}

static status add_counts(table *t, const char *key, int64_t a, int64_t b, error *err) {
    str x = arena_printf(t->arena, "%lld", (long long)a);
    str y = arena_printf(t->arena, "%lld", (long long)b);
    if (!x.p || !y.p) FAIL_MEMORY(err);
    return add_row(t, str_of(key), x, y, err);
}

static str device_name(const trace *t) {
    return t->device.n > 1 ? trace_str(t, t->device.name[1]) : STR_NONE;
}

static int64_t per_step(int64_t n, const compared_side *s) {
    return s->n_steps ? (n + s->n_steps / 2) / s->n_steps : 0;
}

/* Numbers of steps may differ: what is compared is a mean. Where nothing is the same but shapes
 * are, a run with another batch is distinguished from one with another model. The values are
 * numbers, which need no language: calls with shapes, and those of them with the same ones; the
 * factor. */
static status add_shapes(table *t, const change_causes *c, error *err) {
    if (c->compared <= 0) return OK;
    TRY(add_counts(t, "shapes", round_i64(c->compared), round_i64(c->compared - c->reshaped),
                   err));
    if (isnan(c->factor)) return OK;
    str factor = arena_printf(t->arena, "%.4g", c->factor);
    if (!factor.p) FAIL_MEMORY(err);
    return add_row(t, STR("shapes_factor"), STR("1"), factor, err);
}

/* Modules of a model by number; by a digest of their names where these differ alone. */
static status add_modules(table *t, const workload *a, const workload *b, error *err) {
    if (!a->n_modules && !b->n_modules) return OK;
    TRY(add_counts(t, "modules", a->n_modules, b->n_modules, err));
    if (a->n_modules != b->n_modules || a->module_names == b->module_names) return OK;
    str x = arena_printf(t->arena, "%08x", (unsigned)(a->module_names >> 32));
    str y = arena_printf(t->arena, "%08x", (unsigned)(b->module_names >> 32));
    if (!x.p || !y.p) FAIL_MEMORY(err);
    return add_row(t, STR("module_names"), x, y, err);
}

/* What is computed: data types, modules, batch. */
static status add_workload(table *t, const compared_side sides[N_SIDES],
                           const change_causes *causes, error *err) {
    const workload *a = &sides[SIDE_A].v[0].workload, *b = &sides[SIDE_B].v[0].workload;
    str x = workload_precision(a, t->arena), y = workload_precision(b, t->arena);
    if (!x.p || !y.p) FAIL_MEMORY(err);
    TRY(add_row(t, STR("precision"), x, y, err));
    TRY(add_modules(t, a, b, err));
    if (causes->batch[SIDE_A])
        TRY(add_counts(t, "batch", causes->batch[SIDE_A], causes->batch[SIDE_B], err));
    return OK;
}

status parity_write(const compared_side sides[N_SIDES], const change_causes *causes, table *out,
                    error *err) {
    const compared_side *x = &sides[SIDE_A], *y = &sides[SIDE_B];
    const trace *a = x->v[0].t, *b = y->v[0].t;
    TRY(add_row(out, STR("format"), a->format, b->format, err));
    TRY(add_row(out, STR("device"), device_name(a), device_name(b), err));
    TRY(add_counts(out, "devices", (int64_t)max_i64(a->device.n, 1) - 1,
                   (int64_t)max_i64(b->device.n, 1) - 1, err));
    TRY(add_counts(out, "ranks", max_i64(1, x->v[0].from->run_ranks),
                   max_i64(1, y->v[0].from->run_ranks), err));
    for (fact f = 0; f < N_FACTS; f++)
        if (fact_shown(f).n && f != FACT_PROCESS_CPU_USE && f != FACT_SYSTEM_CPU_USE)
            TRY(add_row(out, fact_shown(f), trace_fact(a, f), trace_fact(b, f), err));
    TRY(add_workload(out, sides, causes, err));
    TRY(add_counts(out, "steps", x->n_steps / x->n, y->n_steps / y->n, err));
    TRY(add_counts(out, "calls_per_step", per_step(x->calls, x), per_step(y->calls, y), err));
    TRY(add_counts(out, "kernels_per_step", per_step(x->kernels, x), per_step(y->kernels, y),
                   err));
    return add_shapes(out, causes, err);
}
