/* advice_cluster.c: rules that compare the devices of a run by what their producer measured:
 * step traces, links, operations (device_report.h).
 *
 * They are those of MindInsight's cluster helper: a device, link or stage is compared with the
 * mean of all, so each rule needs the figures of every worker that is looked at. What each rule
 * looks at, its threshold and when it stays silent are in advice_rules.def. */
#include <math.h>

#include "analyse/advise/advice.h"

static int64_t part_of(const device_report_worker *w, device_report_part part) {
    const device_report_step *s = device_report_average(w);
    return s ? s->part[part] : ABSENT_I64;
}

/* Sum over all workers; false when one lacks it. */
static bool sum_part(const device_report *c, device_report_part part, int64_t *sum) {
    *sum = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t ns = part_of(&c->v[i], part);
        if (ns == ABSENT_I64) return false;
        *sum = add_i64(*sum, ns);
    }
    return c->n > 0;
}

static void name_rank(const device_report_worker *w, advice *out) {
    if (w->at->rank != ABSENT_I64)
        advice_name_rank(arg_id("rank", w->at->rank), out);
    else
        verdict_add(&out->words, arg_text("rank", w->at->worker));
    out->name = w->at->worker;
}

/* ---- devices ----------------------------------------------------------------------------- */

bool advice_interval_imbalance(const advice_facts *f, double limit, advice *out) {
    const device_report *c = &f->device_report;
    int64_t sum, most = -1;
    uint32_t worst = 0;
    if (!sum_part(c, REPORT_INTERVAL, &sum) || sum <= 0) return false;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t ns = part_of(&c->v[i], REPORT_INTERVAL);
        if (ns <= most) continue;
        most = ns;
        worst = i;
    }
    double mean = (double)sum / c->n, over = (double)most / mean - 1;
    if (over <= limit) return false;
    advice_cost(f, out, min_i64(f->step_ns, sub_i64(most, real_i64(mean))));
    name_rank(&c->v[worst], out);
    verdict_add(&out->words, arg_time("interval", most));
    verdict_add(&out->words, arg_time("mean", round_i64(mean)));
    verdict_add(&out->words, arg_share("over", over));
    return true;
}

bool advice_slow_device(const advice_facts *f, double limit, advice *out) {
    const device_report *c = &f->device_report;
    double sum = 0;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (isnan(c->v[i].flops_per_s)) return false;
        sum += c->v[i].flops_per_s;
        if (c->v[i].flops_per_s < c->v[worst].flops_per_s) worst = i;
    }
    double mean = sum / c->n, below = mean > 0 ? 1 - c->v[worst].flops_per_s / mean : 0;
    if (below <= limit) return false;
    out->severity = SEVERITY_WARNING;
    name_rank(&c->v[worst], out);
    verdict_add(&out->words, arg_real("gflops", c->v[worst].flops_per_s / 1e9));
    verdict_add(&out->words, arg_real("mean", mean / 1e9));
    verdict_add(&out->words, arg_share("below", below));
    return true;
}

/* ---- links ------------------------------------------------------------------------------- */

typedef struct {
    const device_report_worker *worker;
    const summary_link *link;
    double below;
} slow_link;

/* Averages count; where a producer gave none, its steps do. */
static bool has_average(const device_report_worker *w) {
    for (uint32_t i = 0; i < w->n_links; i++)
        if (w->links[i].step == ABSENT_I64) return true;
    return false;
}

static bool is_between(const summary_link *l, bool average, str kind) {
    return (l->step == ABSENT_I64) == average && l->source != l->target &&
           str_eq(l->kind, kind) && !isnan(device_link_rate(l));
}

/* The slowest link of a kind and how much it is below their mean. */
static slow_link slowest_of(const device_report *c, str kind) {
    slow_link s = {.below = 0};
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        bool average = has_average(&c->v[i]);
        for (uint32_t k = 0; k < c->v[i].n_links; k++) {
            const summary_link *l = &c->v[i].links[k];
            if (!is_between(l, average, kind)) continue;
            sum += device_link_rate(l);
            n++;
            if (s.link && device_link_rate(l) >= device_link_rate(s.link)) continue;
            s.link = l;
            s.worker = &c->v[i];
        }
    }
    if (s.link && sum > 0) s.below = 1 - device_link_rate(s.link) / (sum / n);
    return s;
}

/* Kinds are a handful; each is looked at when it is first met. */
static slow_link slowest(const device_report *c) {
    enum { MOST_KINDS = 16 };
    str seen[MOST_KINDS];
    int n = 0;
    slow_link worst = {.below = 0};
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < c->v[i].n_links && n < MOST_KINDS; k++) {
            str kind = c->v[i].links[k].kind;
            bool known = false;
            for (int s = 0; s < n; s++) known |= str_eq(seen[s], kind);
            if (known) continue;
            seen[n++] = kind;
            slow_link one = slowest_of(c, kind);
            if (one.below > worst.below) worst = one;
        }
    return worst;
}

bool advice_slow_link(const advice_facts *f, double limit, advice *out) {
    slow_link s = slowest(&f->device_report);
    if (!s.link || s.below <= limit) return false;
    out->severity = SEVERITY_WARNING;
    out->name = s.worker->at->worker;
    verdict_add(&out->words, arg_int("source", s.link->source));
    verdict_add(&out->words, arg_int("target", s.link->target));
    verdict_add(&out->words, arg_text("kind", s.link->kind));
    verdict_add(&out->words, arg_text("worker", s.worker->at->worker));
    verdict_add(&out->words, arg_bytes("rate", advice_ns(device_link_rate(s.link))));
    verdict_add(&out->words, arg_share("below", s.below));
    return true;
}

/* ---- how the network was split ----------------------------------------------------------- */

/* A part of all workers over their computation and communication; 0 when one lacks it. */
static double share_of_all(const device_report *c, device_report_part part, int64_t *mean) {
    int64_t computation, communication, sum;
    if (!sum_part(c, REPORT_COMPUTATION, &computation) ||
        !sum_part(c, REPORT_COMMUNICATION, &communication) || !sum_part(c, part, &sum))
        return 0;
    double whole = (double)add_i64(computation, communication);
    *mean = mean_i64(sum, c->n);
    return whole > 0 ? (double)sum / whole : 0;
}

bool advice_parallel_communication(const advice_facts *f, double limit, advice *out) {
    int64_t ns = 0, receive;
    const device_report *c = &f->device_report;
    double share = share_of_all(c, REPORT_COMMUNICATION, &ns);
    if (sum_part(c, REPORT_RECEIVE, &receive) || share <= limit) return false;
    advice_cost(f, out, min_i64(f->step_ns, ns));
    verdict_add(&out->words, arg_share("communication_share", share));
    return true;
}

bool advice_stage_receive(const advice_facts *f, double limit, advice *out) {
    int64_t ns = 0;
    double share = share_of_all(&f->device_report, REPORT_RECEIVE, &ns);
    if (share <= limit) return false;
    advice_cost(f, out, min_i64(f->step_ns, ns));
    verdict_add(&out->words, arg_share("receive_share", share));
    verdict_add(&out->words, arg_int("stages", f->device_report.n_stages));
    return true;
}

/* Sums of one stage. */
typedef struct {
    int64_t collective, whole, n, n_flops;
    double flops;
} stage_sums;

static stage_sums sums_of(const device_report *c, int64_t number) {
    stage_sums s = {0};
    for (uint32_t i = 0; i < c->n; i++) {
        const device_report_worker *w = &c->v[i];
        int64_t comp = part_of(w, REPORT_COMPUTATION), comm = part_of(w, REPORT_COMMUNICATION),
                own = part_of(w, REPORT_COLLECTIVE);
        if (w->stage != number) continue;
        if (!isnan(w->flops)) {
            s.flops += w->flops;
            s.n_flops++;
        }
        if (comp == ABSENT_I64 || comm == ABSENT_I64 || own == ABSENT_I64) continue;
        s.collective = add_i64(s.collective, own);
        s.whole = add_i64(s.whole, add_i64(comp, comm));
        s.n++;
    }
    return s;
}

/* Stages that can be distinguished: a forged number of them is not walked. */
static int64_t stages_of(const device_report *c) {
    return min_i64(c->n_stages, c->n);
}

bool advice_stage_collective(const advice_facts *f, double limit, advice *out) {
    const device_report *c = &f->device_report;
    double most = 0;
    int64_t ns = 0, worst = 0, all;
    if (!sum_part(c, REPORT_COLLECTIVE, &all)) return false;
    for (int64_t i = 1; i <= stages_of(c); i++) {
        stage_sums s = sums_of(c, i);
        double share = s.whole > 0 ? (double)s.collective / (double)s.whole : 0;
        if (share <= most) continue;
        most = share;
        worst = i;
        ns = mean_i64(s.collective, s.n);
    }
    if (most <= limit) return false;
    advice_cost(f, out, min_i64(f->step_ns, ns));
    verdict_add(&out->words, arg_int("stage", worst));
    verdict_add(&out->words, arg_share("collective_share", most));
    return true;
}

bool advice_stage_flops(const advice_facts *f, double limit, advice *out) {
    const device_report *c = &f->device_report;
    double sum = 0, most = 0;
    int64_t worst = 0, n = stages_of(c);
    if (n < 2) return false;
    for (int64_t i = 1; i <= n; i++) {
        stage_sums s = sums_of(c, i);
        if (!s.n_flops) return false;
        double mean = s.flops / (double)s.n_flops;
        sum += mean;
        if (mean <= most) continue;
        most = mean;
        worst = i;
    }
    double over = sum > 0 ? most / (sum / (double)n) - 1 : 0;
    if (over <= limit) return false;
    out->severity = SEVERITY_WARNING;
    verdict_add(&out->words, arg_int("stage", worst));
    verdict_add(&out->words, arg_real("flops", most));
    verdict_add(&out->words, arg_real("gflop", most / 1e9));
    verdict_add(&out->words, arg_share("over", over));
    return true;
}

bool advice_is_split(const advice_facts *f) {
    int64_t receive;
    return sum_part(&f->device_report, REPORT_RECEIVE, &receive) &&
           sum_part(&f->device_report, REPORT_COMMUNICATION, &receive);
}
