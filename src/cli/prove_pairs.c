/* prove_pairs.c: medians and their intervals from pairs, without assumptions about noise. */
#include "cli/prove_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"

#define OUTSIDE 0.05 /* of all cases the true median is outside of the interval */

static int compare_reals(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median_of(const double *sorted, uint32_t n) {
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* How many sorted values to leave out at each end: the number of pairs below the true median is
 * that of heads of n coins. UINT32_MAX: even all of them are too few. */
static uint32_t left_out(uint32_t n) {
    double chance = pow(0.5, n), below = 0;
    uint32_t k = 0;
    for (; k < n / 2; k++) {
        below += chance;
        if (2 * below > OUTSIDE) break;
        chance = chance * (n - k) / (k + 1);
    }
    return k ? k - 1 : UINT32_MAX;
}

prove_saving prove_saving_of(const prove_pairs *p) {
    prove_saving s = {.first_ns = 0};
    double share[PAIRS_MOST], first[PAIRS_MOST];
    if (!p->n) return s;
    for (uint32_t i = 0; i < p->n; i++) {
        first[i] = (double)p->first_ns[i];
        share[i] = p->first_ns[i] > 0 ? 1 - (double)p->second_ns[i] / first[i] : 0;
    }
    qsort(share, p->n, sizeof *share, compare_reals);
    qsort(first, p->n, sizeof *first, compare_reals);
    uint32_t k = left_out(p->n);
    s.sure = k != UINT32_MAX;
    s.first_ns = real_i64(median_of(first, p->n));
    s.saved = median_of(share, p->n);
    s.low = share[s.sure ? k : 0];
    s.high = share[p->n - 1 - (s.sure ? k : 0)];
    return s;
}

double prove_loss_change(const prove_losses *a, const prove_losses *b) {
    uint32_t n = a->n < b->n ? a->n : b->n;
    double x = 0, y = 0;
    if (!n) return NAN;
    for (uint32_t i = 0; i < n; i++) {
        x += a->v[i];
        y += b->v[i];
    }
    if (x == y) return 0;
    return x != 0 ? fabs(x - y) / fabs(x) : 1;
}
