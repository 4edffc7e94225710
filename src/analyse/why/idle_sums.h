/* idle_sums.h: idle time of each device by cause, over the steps that count.
 *
 * The causes of a device add up to its idle time, in every step, in the sum and in the average
 * step: means are rounded so that they still do. */
#ifndef ANALYSE_IDLE_SUMS_H
#define ANALYSE_IDLE_SUMS_H

#include "analyse/device/idle_causes.h"

typedef struct {
    int64_t ns, n, longest_ns;
    uint32_t slice; /* of the longest piece, 0: none */
} idle_sum;

typedef idle_sum idle_row[N_IDLE_CAUSES];

typedef struct {
    const trace *t;
    idle_devices devices;
    idle_row *rows; /* by device */
    uint32_t n_steps;
    int64_t steps_ns; /* of all of them */
} idle_sums;

/* The steps of the selection: those with recorded operators and work, where others have
 * none. */
status idle_steps_choose(const trace *t, const selection *s, arena *a, step_spans *out,
                         error *err) MUST_USE;

/* `comm`: when there is communication in the steps; NULL: not known yet. */
status idle_sums_make(const trace *t, const step_spans *steps, const intervals *comm, arena *a,
                      idle_sums *out, error *err) MUST_USE;

/* The parts of the average step: each the mean, rounded up or down so that their sum is the
 * mean of the sum. */
void idle_sums_mean(const idle_sums *s, uint32_t device, int64_t out[N_IDLE_CAUSES]);
/* Share of the steps, for the average device; 0 without steps or devices. */
double idle_sums_share(const idle_sums *s, idle_cause why);
/* Rows of the tables overview.idle and idle.causes: largest cause first, device by device. */
status idle_sums_write(const idle_sums *s, table *t, error *err) MUST_USE;

#endif
