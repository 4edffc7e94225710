/* seed.c: draws the secrets of seed_int.h once, before main.
 *
 * The kernel hands every new process 16 random bytes (AT_RANDOM); reading them costs no system
 * call. They are spread over four words with an odd-increment counter and a bijective mixer, so
 * that even without them (a kernel that gives none) the words are usable, merely not secret.
 * This is not cryptography: it makes collisions unpredictable, nothing more. */
#include "base/seed_int.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/map.h"
#include "base/num.h"

uint64_t seeds[4];

__attribute__((constructor)) WRAPS static void draw_seeds(void) {
    uint64_t random[2] = {0x9AE16A3B2F90404FU, 0xC949D7C7509E6557U};
    const void *given = (const void *)getauxval(AT_RANDOM);
    if (given) memcpy(random, given, sizeof random);
    for (unsigned i = 0; i < 4; i++) {
        seeds[i] = hash_u64(random[i & 1] + (i + 1) * 0x9E3779B97F4A7C15U) | 1;
    }
}
