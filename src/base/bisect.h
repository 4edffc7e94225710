/* bisect.h: the one binary search.
 *
 *     uint32_t first = SEARCH_FIRST(i, 0, n, v[i].start < time);
 *
 * The first index i in [low, high) for which `is_before` does not hold; high when it holds for
 * all. It holds for a first part of them and for none after that. */
#ifndef BASE_BISECT_H
#define BASE_BISECT_H

#define SEARCH_FIRST(i, low, high, is_before)                                          \
    ({                                                                                 \
        __typeof__((high) + 0) search_low_ = (low), search_high_ = (high);             \
        while (search_low_ < search_high_) {                                           \
            __typeof__((high) + 0) i = search_low_ + (search_high_ - search_low_) / 2; \
            if (is_before)                                                             \
                search_low_ = i + 1;                                                   \
            else                                                                       \
                search_high_ = i;                                                      \
        }                                                                              \
        search_low_;                                                                   \
    })

#endif
