/* launch_match.h: which launches of one step are those of another. */
#ifndef STORE_LAUNCH_MATCH_H
#define STORE_LAUNCH_MATCH_H

#include "base/arena.h"
#include "base/status.h"

/* Launches of a thread in a step, in their order; equal keys: the same kernel, grid and
 * stream. */
typedef struct {
    const uint64_t *key;
    uint32_t n;
} launch_list;

#define LAUNCH_UNKNOWN UINT32_MAX

/* match[i] becomes the launch of `known` that launch i of `other` is, or LAUNCH_UNKNOWN where
 * that is not certain; *n_matched how many are certain. Time and memory are linear but for a
 * logarithm. */
status launch_match(launch_list known, launch_list other, uint32_t *match, uint32_t *n_matched,
                    error *err) MUST_USE;

#endif
