/* num.c: integer arithmetic that must not surprise anyone.
 *
 * Means are rounded half to even on exact integers; a detour over double would lose nanoseconds
 * on sums above 2^53. The remainder's magnitude is compared unsigned, so no sum can
 * overflow. */
#include "base/num.h"

int64_t mean_i64(int64_t sum, int64_t n) {
    if (n <= 0) return 0;
    int64_t quotient = sum / n, rest = sum % n;
    uint64_t magnitude = abs_u64(rest);
    uint64_t other = (uint64_t)n - magnitude; /* distance to the next integer away from zero */
    if (magnitude > other || (magnitude == other && (quotient & 1)))
        quotient += sum < 0 ? -1 : 1;
    return quotient;
}
