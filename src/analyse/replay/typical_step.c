/* typical_step.c: the median of steps, and whether it is typical of them. */
#include "analyse/replay/typical_step.h"

#include <math.h>

#include "base/num.h"

#define UNEVEN 0.1 /* steps whose mean is so far from the median differ in length */

bool lengths_differ(int64_t ns, int64_t from_ns, double by) {
    return from_ns > 0 && fabs((double)ns / (double)from_ns - 1) > by;
}

/* Of sorted lengths. A single slow step shall not count as unlike the others. */
static bool is_uneven(const sort_pair *sorted, uint32_t n, int64_t median) {
    uint32_t cut = n / 10 > 1 ? n / 10 : 1;
    double sum = 0;
    if (n < 4) return false;
    for (uint32_t i = cut; i < n - cut; i++) sum += (double)sorted[i].key;
    return lengths_differ(real_i64(sum / (n - 2 * cut)), median, UNEVEN);
}

typical_step typical_step_of(const int64_t *ns, uint32_t n, sort_pair *pairs,
                             sort_pair *scratch) {
    typical_step t = {0};
    double sum = 0;
    if (!n) return t;
    for (uint32_t i = 0; i < n; i++) {
        pairs[i] = (sort_pair){(uint64_t)max_i64(0, ns[i]), i};
        sum += (double)pairs[i].key;
    }
    sort_radix(pairs, scratch, n);
    t.median = (int64_t)pairs[(n - 1) / 2].key;
    t.mean = real_i64(sum / n);
    t.uneven = is_uneven(pairs, n, t.median);
    return t;
}
