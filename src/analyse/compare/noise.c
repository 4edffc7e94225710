/* noise.c: see noise.h. Student's t is tan of an angle whose density is a power of the cosine,
 * so that its quantiles are found by adding up a bounded function. */
#include "analyse/compare/noise.h"

#include <math.h>

#include "base/sort.h"

enum { ANGLES = 2048, MOST_FREEDOM = 10000 }; /* beyond, t is the normal distribution */
static const double QUARTER_TURN = 1.57079632679489661923;

noise_samples noise_of_reals(const double *v, uint32_t n) {
    noise_samples s = {.n = n};
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) sum += v[i];
    if (n) s.mean = sum / n;
    for (uint32_t i = 0; i < n; i++) squares += (v[i] - s.mean) * (v[i] - s.mean);
    if (n > 1) s.variance = squares / (n - 1);
    return s;
}

noise_samples noise_of(const int64_t *ns, uint32_t n) {
    noise_samples s = {.n = n};
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) sum += (double)ns[i];
    if (n) s.mean = sum / n;
    for (uint32_t i = 0; i < n; i++)
        squares += ((double)ns[i] - s.mean) * ((double)ns[i] - s.mean);
    if (n > 1) s.variance = squares / (n - 1);
    return s;
}

/* The density of the angle, but for a factor, in the middle of one of ANGLES parts of a quarter
 * turn. */
static double density(uint32_t part, double freedom) {
    return pow(cos((part + 0.5) * QUARTER_TURN / ANGLES), freedom - 1);
}

double noise_t(double p, double freedom) {
    double all = 0, seen = 0;
    freedom = fmin(fmax(freedom, 1), MOST_FREEDOM);
    for (uint32_t i = 0; i < ANGLES; i++) all += density(i, freedom);
    double wanted = (2 * p - 1) * all;
    for (uint32_t i = 0; i < ANGLES; i++) {
        double part = density(i, freedom);
        if (seen + part >= wanted)
            return sqrt(freedom) * tan((i + (wanted - seen) / part) * QUARTER_TURN / ANGLES);
        seen += part;
    }
    return INFINITY;
}

/* error: the standard error of the difference. */
static void fill(double change, double standard_error, double freedom, noise_change *out) {
    double half = standard_error > 0 ? noise_t(0.975, freedom) * standard_error : 0;
    double power = standard_error > 0 ? noise_t(0.8, freedom) * standard_error : 0;
    *out = (noise_change){change, change - half, change + half, half + power};
}

bool noise_compare(const noise_samples *a, const noise_samples *b, double between_variance,
                   noise_change *out) {
    if (a->n < 2 || b->n < 2) return false;
    double x = fmax(a->variance / a->n, between_variance);
    double y = fmax(b->variance / b->n, between_variance);
    double freedom =
        x + y > 0 ? (x + y) * (x + y) / (x * x / (a->n - 1) + y * y / (b->n - 1)) : 1;
    fill(b->mean - a->mean, sqrt(x + y), freedom, out);
    return true;
}

bool noise_compare_runs(const noise_samples *runs, const noise_samples *b, noise_change *out) {
    if (runs->n < 2 || b->n < 1) return false;
    double one = fmax(runs->variance, b->variance / b->n);
    fill(b->mean - runs->mean, sqrt(runs->variance / runs->n + one), runs->n - 1, out);
    return true;
}

bool noise_is_real(const noise_change *c) {
    return c->low > 0 || c->high < 0;
}

/* ---- weighted ---------------------------------------------------------------------------- */

static int compare_values(uint32_t a, uint32_t b, const void *context) {
    const noise_weighted *v = context;
    return v[a].value < v[b].value ? -1 : v[a].value > v[b].value;
}

status noise_weighted_median(const noise_weighted *v, uint32_t n, double without, arena *a,
                             double *out, error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    double all = 0, seen = 0;
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        all += v[i].weight;
    }
    sort_index(order, scratch, n, compare_values, v);
    *out = without;
    for (uint32_t i = 0; i < n; i++) {
        seen += v[order[i]].weight;
        if (seen < all / 2) continue;
        *out = v[order[i]].value;
        break;
    }
    return OK;
}
