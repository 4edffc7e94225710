/* advice_requests.c: rules about the requests of a server. */
#include "analyse/advise/advice.h"
#include "analyse/device/other_traces.h"
#include "base/num.h"

bool advice_request_queue(const advice_facts *f, double limit, advice *out) {
    request_sums sum;
    if (requests_sum(f->t, &sum, NULL) != OK || !sum.n || sum.request_ns <= 0) return false;
    double share = (double)sum.queue_ns / (double)sum.request_ns;
    if (share < limit) return false;
    verdict_add(&out->words, arg_int("count", sum.n));
    verdict_add(&out->words, arg_time("queue", mean_i64(sum.queue_ns, sum.n)));
    verdict_add(&out->words, arg_share("share", share));
    verdict_add(&out->words, arg_time("request", mean_i64(sum.request_ns, sum.n)));
    verdict_add(&out->words, arg_time("compute", mean_i64(sum.compute_ns, sum.n)));
    out->severity = SEVERITY_CRITICAL;
    advice_point(f, out, sum.longest_queue);
    return true;
}

bool advice_request_serial(const advice_facts *f, double limit, advice *out) {
    request_sums sum;
    if (requests_sum(f->t, &sum, NULL) != OK || (double)sum.n < limit || sum.n_lanes != 1)
        return false;
    verdict_add(&out->words, arg_int("count", sum.n));
    verdict_add(&out->words,
                arg_share("share", (double)sum.request_ns / (double)max_i64(1, sum.span_ns)));
    verdict_add(&out->words, arg_time("total", sum.span_ns));
    advice_point(f, out, sum.longest);
    return true;
}
