/* change_points.c: see change_points.h.
 *
 * The spread of one run is estimated from the differences of neighbors: half of those of a
 * normal distribution are below 0.954 of its standard deviation. That ignores levels, and
 * single outliers, and is as good as about a third of the runs would be without them, which
 * gives its degrees of freedom. The best of many places is chosen, so the 1 % of false alarms
 * is shared among them. */
#include "analyse/check/change_points.h"

#include <math.h>

#include "analyse/compare/noise.h"
#include "base/num.h"
#include "base/sort.h"

enum { LEAST_SEGMENT = 3, WINDOW = 5 };
#define FALSE_ALARMS 0.01
#define HALF_OF_DIFFERENCES 0.954
#define EFFICIENCY 0.37
#define OUTLIER 4         /* times the spread */
#define LEAST_SPREAD 1e-3 /* of the level: what is counted has no noise at all */

typedef struct {
    const series_point *given;
    double *v; /* without outliers */
    uint32_t n;
    double spread, freedom, least_share;
    uint32_t *cuts; /* first points of levels, in the order they are found */
    uint32_t n_cuts;
} change_finder;

static int compare_values(uint32_t a, uint32_t b, const void *context) {
    const double *v = context;
    return v[a] < v[b] ? -1 : v[a] > v[b];
}

/* The middle one; `scratch` has room for 2 n. */
static double median(const double *v, uint32_t n, uint32_t *scratch) {
    for (uint32_t i = 0; i < n; i++) scratch[i] = i;
    sort_index(scratch, scratch + n, n, compare_values, v);
    return n ? (v[scratch[n / 2]] + v[scratch[(n - 1) / 2]]) / 2 : 0;
}

static status measure_spread(change_finder *f, arena *a, error *err) {
    double *apart = ARENA_ARRAY(a, double, (size_t)f->n + 1), of_steps = 0;
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, 2 * (size_t)f->n + 2);
    if (!apart || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < f->n; i++) {
        apart[i] = i ? fabs(f->given[i].value - f->given[i - 1].value) : 0;
        of_steps += f->given[i].variance / f->n;
        f->v[i] = f->given[i].value;
    }
    double level = fabs(median(f->v, f->n, scratch));
    double between = f->n > 1 ? median(apart + 1, f->n - 1, scratch) / HALF_OF_DIFFERENCES : 0;
    f->spread = fmax(fmax(between, sqrt(of_steps)), LEAST_SPREAD * level);
    f->freedom = fmax(1, EFFICIENCY * (f->n - 1));
    return OK;
}

/* Those at the ends have less than two neighbors on a side and stay. */
static void replace_outliers(change_finder *f) {
    uint32_t scratch[2 * WINDOW];
    double around[WINDOW];
    for (uint32_t i = WINDOW / 2; i + WINDOW / 2 < f->n; i++) {
        for (uint32_t k = 0; k < WINDOW; k++) around[k] = f->given[i + k - WINDOW / 2].value;
        double middle = median(around, WINDOW, scratch);
        if (fabs(f->given[i].value - middle) > OUTLIER * f->spread) f->v[i] = middle;
    }
}

static double mean_of(const change_finder *f, uint32_t from, uint32_t end) {
    double sum = 0;
    for (uint32_t i = from; i < end; i++) sum += f->v[i];
    return sum / (end - from);
}

/* How far apart the levels on both sides of a cut are, in standard errors. */
static double distance(const change_finder *f, uint32_t from, uint32_t cut, uint32_t end) {
    double error_of = f->spread * sqrt(1.0 / (cut - from) + 1.0 / (end - cut));
    double apart = fabs(mean_of(f, cut, end) - mean_of(f, from, cut));
    return error_of > 0 ? apart / error_of : 0;
}

/* Does the new level begin here? A few runs at the end, too few to be one, must not draw the
 * runs before them with them. */
static bool begins_here(const change_finder *f, uint32_t from, uint32_t cut, uint32_t end) {
    double left = mean_of(f, from, cut), right = mean_of(f, cut, end);
    return fabs(f->v[cut] - right) < fabs(f->v[cut] - left) &&
           fabs(f->v[cut - 1] - left) < fabs(f->v[cut - 1] - right);
}

static bool is_large(const change_finder *f, double from, double to) {
    double apart = fabs(to - from);
    return apart > 0 && apart >= f->least_share * fabs(from);
}

/* The best cut of a stretch; 0: none is more than chance. */
static uint32_t best_cut(const change_finder *f, uint32_t from, uint32_t end) {
    uint32_t best = 0;
    double most = 0;
    if (end - from < 2 * LEAST_SEGMENT) return 0;
    for (uint32_t i = from + LEAST_SEGMENT; i + LEAST_SEGMENT <= end; i++) {
        double d = distance(f, from, i, end);
        if (d <= most || !begins_here(f, from, i, end)) continue;
        most = d;
        best = i;
    }
    uint32_t places = end - from - 2 * LEAST_SEGMENT + 1;
    double needed = noise_t(1 - FALSE_ALARMS / 2 / places, f->freedom);
    bool real =
        best && most > needed && is_large(f, mean_of(f, from, best), mean_of(f, best, end));
    return real ? best : 0;
}

/* Stretches still to be looked at are pairs after the cuts; each cut makes two of one. */
static void cut_all(change_finder *f, uint32_t *stretches) {
    uint32_t n = 0;
    stretches[n++] = 0;
    stretches[n++] = f->n;
    while (n) {
        uint32_t end = stretches[--n], from = stretches[--n], cut = best_cut(f, from, end);
        if (!cut) continue;
        f->cuts[f->n_cuts++] = cut;
        uint32_t next[] = {from, cut, cut, end};
        for (size_t i = 0; i < N_OF(next); i++) stretches[n++] = next[i];
    }
}

/* The last one or two runs, too few to be a level: are they out of line? */
static void cut_end(change_finder *f, uint32_t from) {
    for (uint32_t late = LEAST_SEGMENT - 1; late > 0; late--) {
        if (f->n < from + late + LEAST_SEGMENT) continue;
        uint32_t cut = f->n - late;
        double needed = noise_t(1 - FALSE_ALARMS / 2, f->freedom);
        bool away = distance(f, from, cut, f->n) > needed;
        /* One alone may be an outlier of two: both must be beyond. */
        for (uint32_t i = cut; i < f->n; i++)
            away &= fabs(f->v[i] - mean_of(f, from, cut)) > needed / 2 * f->spread;
        if (!away || !is_large(f, mean_of(f, from, cut), mean_of(f, cut, f->n))) continue;
        f->cuts[f->n_cuts++] = cut;
        return;
    }
}

static void sort_cuts(change_finder *f) {
    for (uint32_t i = 1; i < f->n_cuts; i++)
        for (uint32_t k = i; k && f->cuts[k] < f->cuts[k - 1]; k--) {
            uint32_t t = f->cuts[k];
            f->cuts[k] = f->cuts[k - 1];
            f->cuts[k - 1] = t;
        }
}

static change_point describe(const change_finder *f, uint32_t i) {
    uint32_t from = i ? f->cuts[i - 1] : 0, at = f->cuts[i];
    uint32_t end = i + 1 < f->n_cuts ? f->cuts[i + 1] : f->n;
    change_point c = {.at = at, .before = at - from, .after = end - at};
    c.from = mean_of(f, from, at);
    c.to = mean_of(f, at, end);
    double half = noise_t(0.975, f->freedom) * f->spread * sqrt(1.0 / c.before + 1.0 / c.after);
    c.low = c.to - c.from - half;
    c.high = c.to - c.from + half;
    c.certain = c.before >= LEAST_SEGMENT && c.after >= LEAST_SEGMENT;
    return c;
}

status change_points_find(const series_point *v, uint32_t n, double least_share, arena *a,
                          change_points *out, error *err) {
    change_finder f = {.given = v, .n = n, .least_share = least_share};
    f.v = ARENA_ARRAY(a, double, (size_t)n + 1);
    f.cuts = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    uint32_t *stretches = ARENA_ARRAY(a, uint32_t, 4 * (size_t)n + 8);
    change_points made = {.v = ARENA_ARRAY(a, change_point, (size_t)n + 1)};
    if (!f.v || !f.cuts || !stretches || !made.v) FAIL_MEMORY(err);
    TRY(measure_spread(&f, a, err));
    replace_outliers(&f);
    cut_all(&f, stretches);
    sort_cuts(&f);
    cut_end(&f, f.n_cuts ? f.cuts[f.n_cuts - 1] : 0);
    for (uint32_t i = 0; i < f.n_cuts; i++) made.v[made.n++] = describe(&f, i);
    *out = made;
    return OK;
}
