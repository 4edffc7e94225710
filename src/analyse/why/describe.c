/* describe.c: a list of numbers in seven; see describe.h. */
#include "analyse/why/describe.h"

#include <math.h>
#include <stdlib.h>

status numbers_add(numbers *s, arena *a, double value, error *err) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        double *more = arena_grow(a, s->v, s->cap * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        s->v = more;
        s->cap = cap;
    }
    s->v[s->n++] = value;
    return OK;
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const numbers *s, double part) {
    double at = part * (double)(s->n - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < s->n ? low + 1 : low;
    return s->v[low] + (s->v[high] - s->v[low]) * (at - (double)low);
}

description numbers_describe(numbers *s) {
    description d = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    double sum = 0, squares = 0;
    if (!s->n) return d;
    qsort(s->v, s->n, sizeof *s->v, compare_numbers);
    for (size_t i = 0; i < s->n; i++) sum += s->v[i];
    d.mean = sum / (double)s->n;
    for (size_t i = 0; i < s->n; i++) squares += (s->v[i] - d.mean) * (s->v[i] - d.mean);
    d.std = s->n > 1 ? sqrt(squares / (double)(s->n - 1)) : 0;
    d.min = s->v[0];
    d.p25 = quantile(s, 0.25);
    d.p50 = quantile(s, 0.5);
    d.p75 = quantile(s, 0.75);
    d.max = s->v[s->n - 1];
    return d;
}
