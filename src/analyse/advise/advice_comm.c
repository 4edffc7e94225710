/* advice_comm.c: rules about several devices and workers.
 *
 * Rules that compare workers read the answer of `distributed`, by the names of its tables and
 * columns: that is its contract. What each rule looks at, its threshold and when it stays
 * silent are in advice_rules.def. */
#include "analyse/advise/advice.h"

bool advice_data_parallel(const advice_facts *f, double limit, advice *out) {
    if (!f->data_parallel || (double)f->n_devices < limit) return false;
    out->severity = SEVERITY_WARNING;
    verdict_add(&out->words, arg_int("devices", f->n_devices));
    return true;
}

static bool lacks_nccl(const advice_facts *f, double limit) {
    bool able =
        f->major > 3 || (f->major == 3 && f->minor >= 5); /* 3.5: the least NCCL takes */
    return f->distributed && !f->nccl && able && f->has & NEED_DEVICE && f->collective.n &&
           advice_share(f, f->exposed_ns) >= limit;
}

static void add_communication(const advice_facts *f, advice *out) {
    advice_cost(f, out, f->exposed_ns);
    advice_point_to(f, out, &f->collective);
    verdict_add(&out->words, arg_text("collective", out->name));
    verdict_add(&out->words, arg_int("count", mean_i64(f->collective.n, f->steps.n)));
}

/* Was anything recorded that could overlap with communication? */
static bool records_computation(const advice_facts *f) {
    int64_t ns = 0;
    for (uint32_t i = 0; i < f->steps.n; i++) ns = add_i64(ns, f->parts[i].ns[ROLE_CPU_EXEC]);
    return f->has & NEED_DEVICE || advice_share(f, advice_per_step(f, ns)) >= 0.01;
}

bool advice_nccl_missing(const advice_facts *f, double limit, advice *out) {
    if (!lacks_nccl(f, limit)) return false;
    add_communication(f, out);
    return true;
}

bool advice_communication_exposed(const advice_facts *f, double limit, advice *out) {
    if (lacks_nccl(f, advice_limit.nccl_missing) || !f->collective.n || advice_is_split(f) ||
        advice_share(f, f->exposed_ns) < limit)
        return false;
    add_communication(f, out);
    if (!records_computation(f)) { /* then what it costs is unknown */
        verdict_add(&out->words, arg_int("alone", 1));
        out->saves = ABSENT_I64;
        out->severity = SEVERITY_WARNING;
        out->weighs = true;
        return true;
    }
    advice_say_gradients(f, out);
    /* Which thread waits for collectives of the host is not recorded. */
    if (f->n_comm_work) out->change.how = REPLAY_COMMUNICATION;
    return true;
}

/* ---- several workers --------------------------------------------------------------------- */

static const table *table_of(const answer *a, const char *name) {
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (strcmp(a->tables[i]->name, name) == 0) return a->tables[i];
    return NULL;
}

static int64_t computed(const table *t, size_t row) {
    return add_i64(t->columns[COL(distributed, overlap, computation)].v.i[row],
                   t->columns[COL(distributed, overlap, overlapping)].v.i[row]);
}

bool advice_load_imbalance(const advice_facts *f, double limit, advice *out) {
    const table *t = table_of(f->distributed_answer, "overlap");
    int64_t sum = 0;
    size_t most = 0;
    if (!t || t->n_rows < 2) return false;
    for (size_t row = 0; row < t->n_rows; row++) {
        sum = add_i64(sum, computed(t, row));
        if (computed(t, row) > computed(t, most)) most = row;
    }
    int64_t mean = mean_i64(sum, (int64_t)t->n_rows), ns = sub_i64(computed(t, most), mean);
    ns = min_i64(ns, f->step_ns);
    if (advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    verdict_add(&out->words,
                arg_text("worker", t->columns[COL(distributed, overlap, worker)].v.s[most]));
    verdict_add(&out->words, arg_time("most", computed(t, most)));
    verdict_add(&out->words, arg_time("mean", mean));
    return true;
}

void advice_name_rank(arg rank, advice *out) {
    verdict_add(&out->words, rank);
    if (rank.type != ARG_TEXT) verdict_add(&out->words, arg_id("other_rank", rank.u.i == 0));
}

/* The sentence of `distributed` about the rank that costs most, with its values. */
bool advice_straggler(const advice_facts *f, double limit, advice *out) {
    const verdict *v = &f->distributed_answer->verdict;
    if (!v->id || strcmp(v->id, "straggler") != 0) return false;
    const arg *rank = verdict_value(v, "rank"), *cost = verdict_value(v, "cost");
    if (!rank || !cost) return false;
    int64_t ns = min_i64(cost->u.i, f->step_ns);
    if (advice_share(f, ns) < limit) return false;
    advice_cost(f, out, ns);
    advice_name_rank(*rank, out);
    for (uint32_t i = 0; i < v->n_args; i++) {
        const char *name = v->args[i].name;
        if (strcmp(name, "rank") != 0 && strcmp(name, "cost") != 0 &&
            strcmp(name, "step_time") != 0 && strcmp(name, "cause") != 0)
            verdict_add(&out->words, v->args[i]);
    }
    return true;
}
