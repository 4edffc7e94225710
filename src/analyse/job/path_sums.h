/* path_sums.h: the pieces of a critical path added up by a key: a name, a module, a line. */
#ifndef ANALYSE_PATH_SUMS_H
#define ANALYSE_PATH_SUMS_H

#include "analyse/group.h"
#include "analyse/job/critical_path.h"

typedef struct {
    uint64_t key;
    str text; /* a part of the key where ranks number their names each in its own way */
    int64_t ns, n, longest_ns;
    uint32_t slice; /* of the longest piece */
    uint16_t rank;  /* the same: place in job_graph.ranks */
} path_sum;

typedef struct {
    groups rows;
} path_sums;

status path_sums_init(path_sums *s, arena *a, error *err) MUST_USE;
/* The text is not copied; "" where the number says all. */
status path_sums_add(path_sums *s, uint64_t key, str text, const path_piece *p,
                     error *err) MUST_USE;
/* Row of the sum, 0 … rows.n - 1; valid until the next path_sums_add. */
const path_sum *path_sums_at(const path_sums *s, uint32_t row);
/* Rows from the largest sum to the smallest, of equal ones the first on the path; NULL when out
 * of memory. */
const uint32_t *path_sums_order(const path_sums *s);

#endif
