/* judge.c: see judge.h. Everything is turned so that more is worse. */
#include "analyse/check/judge.h"

#include <math.h>

const char *check_result_name(check_result r) {
    static const char *const names[] = {"ok", "regression", "inconclusive", "not_recorded"};
    return names[r];
}

static double sign_of(const budget_rule *r) {
    return limit_is_upper(r->side) ? 1 : -1;
}

/* The value that is allowed. */
static double allowed(const budget_rule *r, double base) {
    return r->relative ? base + r->limit * fabs(base) : r->limit;
}

double judged_excess(const judged *j) {
    return sign_of(j->rule) * (j->candidate - j->limit);
}

/* At the limit itself < and > are not kept. */
static bool is_beyond(const judged *j) {
    double excess = judged_excess(j);
    bool strict = j->rule->side == LIMIT_BELOW || j->rule->side == LIMIT_ABOVE;
    return strict ? excess >= 0 : excess > 0;
}

static judged begin(const budget_rule *r, double base, double candidate) {
    judged j = {.rule = r, .base = base, .candidate = candidate};
    j.limit = allowed(r, base);
    j.change = candidate - base;
    j.low = j.high = NAN;
    if (isnan(candidate) || isnan(j.limit)) {
        j.result = CHECK_NOT_RECORDED;
        j.reason = REASON_NO_ROW;
    }
    return j;
}

judged judge_numbers(const budget_rule *r, double base, double candidate) {
    judged j = begin(r, base, candidate);
    if (j.result == CHECK_OK && is_beyond(&j)) j.result = CHECK_REGRESSION;
    return j;
}

/* worse: how much worse it became and its interval, L: what is allowed of that. */
static check_result judge_change(noise_change worse, double limit) {
    double half = (worse.high - worse.low) / 2;
    if (worse.low > limit) return CHECK_REGRESSION;
    if (worse.high > limit && half > limit) return CHECK_INCONCLUSIVE;
    return worse.change > limit ? CHECK_REGRESSION : CHECK_OK;
}

static noise_change turned(double sign, const judged *j) {
    return sign > 0 ? (noise_change){j->change, j->low, j->high, 0}
                    : (noise_change){-j->change, -j->high, -j->low, 0};
}

static check_result judge_relative(const judged *j) {
    double sign = sign_of(j->rule);
    return judge_change(turned(sign, j), sign * (j->limit - j->base));
}

/* Against the base, or against the limit itself. */
static bool compare(const judged *j, const measured *base, const noise_samples *b,
                    noise_change *out) {
    noise_samples fixed = {.n = UINT32_MAX, .mean = j->rule->limit};
    if (!j->rule->relative) return noise_compare(&fixed, b, 0, out);
    if (base->runs.n > 1) return noise_compare_runs(&base->runs, b, out);
    return noise_compare(&base->samples, b, 0, out);
}

static void judge_samples(judged *j, const measured *base, const noise_samples *b) {
    noise_change c;
    bool beyond = is_beyond(j);
    if (!compare(j, base, b, &c)) {
        if (beyond) j->result = CHECK_INCONCLUSIVE;
        if (beyond) j->reason = REASON_FEW_STEPS;
        return;
    }
    if (j->rule->relative) {
        j->low = c.low;
        j->high = c.high;
        j->result = judge_relative(j);
    } else if (beyond) {
        bool sure = limit_is_upper(j->rule->side) ? c.low >= 0 : c.high <= 0;
        j->result = sure ? CHECK_REGRESSION : CHECK_INCONCLUSIVE;
    }
    if (j->result == CHECK_INCONCLUSIVE) j->reason = REASON_NOISE;
}

judged judge_measure(const budget_rule *r, const measured *base, const measured *candidate,
                     double least) {
    double x = base && base->known ? base->value : NAN;
    judged j = begin(r, x, candidate->known ? candidate->value : NAN);
    if (j.result != CHECK_OK) return j;
    if (!candidate->samples.n || (r->relative && !base->samples.n))
        return judge_numbers(r, x, candidate->value);
    if (r->relative && limit_is_upper(r->side)) j.limit = fmax(j.limit, x + least);
    judge_samples(&j, base, &candidate->samples);
    return j;
}

bool judged_survives(const judged *j, double part) {
    judged rest = *j;
    rest.candidate -= part;
    rest.change -= part;
    rest.low -= part;
    rest.high -= part;
    if (!j->rule->relative || isnan(rest.low)) return is_beyond(&rest);
    return judge_relative(&rest) == CHECK_REGRESSION;
}
