/* seed_int.h: secrets of this process that keep hash tables fast on hostile input.
 *
 * The author of a trace file chooses the keys our tables see. With a fixed hash function a file
 * can be made whose keys all collide, and a linear import becomes quadratic; so hashes are
 * mixed with numbers that no one outside the process knows. Nothing a user sees may depend on
 * them: never walk a table in the order of its places, never write such a hash to a file
 * (hash.h is for that). */
#ifndef BASE_SEED_INT_H
#define BASE_SEED_INT_H

#include <stdint.h>

extern uint64_t seeds[4]; /* set before main, odd */

/* Folds the 128-bit product of two words into one. */
static inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
