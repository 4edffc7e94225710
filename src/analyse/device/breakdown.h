/* breakdown.h: what each moment of a step was spent on.
 *
 * Every moment counts once, for the first of these that was running: kernel (that is not
 * communication), memcpy, memset, communication (device kernels, and host ranges of collectives
 * that run on the host), runtime (runtime and driver calls), data_loader, cpu_exec (operators
 * and the framework's own ranges), other (none of them). So the parts of a step add up to it
 * exactly. */
#ifndef ANALYSE_BREAKDOWN_H
#define ANALYSE_BREAKDOWN_H

#include "analyse/intervals.h"
#include "analyse/steps/step_spans.h"

typedef enum {
    ROLE_KERNEL,
    ROLE_MEMCPY,
    ROLE_MEMSET,
    ROLE_COMMUNICATION,
    ROLE_RUNTIME,
    ROLE_DATA_LOADER,
    ROLE_CPU_EXEC,
    ROLE_OTHER,
    N_ROLES,
} role;
/* A device that does little else than copy is not called busy without a word about it: copies
 * alone, against its busy time, both as shares of the step. */
static inline bool copies_matter(double copies, double busy) {
    return busy > 0 && copies >= 0.5 * busy;
}

str role_name(role r);

/* When each role was active inside the window, whatever else was; ROLE_OTHER is empty. */
typedef struct {
    intervals at[N_ROLES];
    intervals device;  /* when a device did anything: what is left of a step is idle */
    intervals exposed; /* communication that no computation hides: exposed.h */
    intervals work;    /* without kernels: when the host computes: exposed.h */
} role_ranges;

status role_ranges_make(const trace *t, interval window, arena *a, role_ranges *out,
                        error *err) MUST_USE;

typedef struct {
    int64_t ns[N_ROLES]; /* adds up to the length of the step */
} step_parts;

/* One element for each step. */
status breakdown_make(const role_ranges *ranges, const step_spans *steps, arena *a,
                      step_parts **out, error *err) MUST_USE;

/* All moments of the steps. */
intervals step_moments(const step_spans *steps, arena *a);

/* Where a role costs most: the slice that contains most of its time. For ROLE_OTHER, which no
 * slice fills, the longest interval. */
typedef struct {
    interval range; /* empty: the role takes no time */
    int64_t own_ns; /* of it, what counts as the role's */
    uint32_t slice; /* 0 = none */
} role_place;
status breakdown_places(const trace *t, const role_ranges *ranges, const step_spans *steps,
                        arena *a, role_place out[N_ROLES], error *err) MUST_USE;

/* `parts` divided by n, each rounded to the nearest as every mean is: their sum may differ from
 * the mean of the sum by half a nanosecond for each part. All 0 when n is 0. */
void mean_parts(const int64_t *parts, int64_t n, int64_t *out, size_t n_parts);

/* Shares of the parts in their sum, with nine decimals: as written they add up to exactly 1
 * (largest remainders go up). All 0 when the sum is 0. At most 16 parts, none negative. */
void share_parts(const int64_t *parts, double *out, size_t n_parts);

#endif
