/* div128.h: division of numbers of 128 bits, written out.
 *
 * Compilers call a function of their runtime library for it. The one that packages are made
 * with keeps it in one object with its own stack guard, the same in every process: linking one
 * links the other, instead of the C library's guard, which is random. */
#ifndef BASE_DIV128_H
#define BASE_DIV128_H

#include <stdint.h>

/* n / by, by > 0; *rest is what is left. */
static inline unsigned __int128 div_u128(unsigned __int128 n, uint64_t by, uint64_t *rest) {
    uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)(n & UINT64_MAX), quotient = 0;
    unsigned __int128 left = high % by;
    if (high == 0) {
        *rest = low % by;
        return low / by;
    }
    for (int bit = 63; bit >= 0; bit--) {
        left = left << 1 | (low >> bit & 1);
        if (left < by) continue;
        left -= by;
        quotient |= (uint64_t)1 << bit;
    }
    *rest = (uint64_t)left;
    return (unsigned __int128)(high / by) << 64 | quotient;
}

#endif
