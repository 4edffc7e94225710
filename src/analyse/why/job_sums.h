/* job_sums.h: pieces of a job's path added up by kind and a text. Ranks number their names each
 * in its own way, so the text itself is the key. */
#ifndef ANALYSE_JOB_SUMS_H
#define ANALYSE_JOB_SUMS_H

#include "analyse/scan/group.h"
#include "analyse/why/critical_path.h"

typedef struct {
    str text; /* of a rank's trace */
    int64_t ns, n, longest_ns;
    uint32_t slice; /* of the longest piece */
    uint16_t rank;  /* the same: place in job_graph.ranks */
    uint8_t kind;
} job_sum;

typedef struct {
    groups rows;
} job_sums;

status job_sums_init(job_sums *s, arena *a, error *err) MUST_USE;
status job_sums_add(job_sums *s, uint8_t kind, str text, const path_piece *p,
                    error *err) MUST_USE;
/* Row of the sum, 0 … rows.n - 1; valid until the next job_sums_add. */
const job_sum *job_sums_at(const job_sums *s, uint32_t row);
/* Rows from the largest sum to the smallest, of equal ones the first on the path; NULL when out
 * of memory. */
const uint32_t *job_sums_order(const job_sums *s);

#endif
