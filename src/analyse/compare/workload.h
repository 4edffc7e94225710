/* workload.h: what a run computes, apart from how fast: data types of its products, modules. */
#ifndef ANALYSE_WORKLOAD_H
#define ANALYSE_WORKLOAD_H

#include "analyse/lexicon.h"
#include "analyse/select.h"

typedef struct {
    /* Time of matrix products, convolutions and attention by data type: of kernels where a
     * device works, else of operators. */
    int64_t type_ns[N_DTYPES]; /* DTYPE_UNKNOWN: everything else */
    uint32_t n_modules;
    uint64_t module_names; /* a sum of hashes */
} workload;

status workload_read(const selection *s, arena *scratch, workload *out, error *err) MUST_USE;

/* "bf16", "fp32 + tf32": types with at least a tenth of the time, most first; empty when none
 * is known. */
str workload_precision(const workload *w, arena *a);

#endif
