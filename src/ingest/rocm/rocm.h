/* rocm.h: what AMD's rocprofv3 writes: JSON (`*_results.json`) and rocpd (`*_results.db`,
 * SQLite). */
#ifndef INGEST_ROCM_H
#define INGEST_ROCM_H

#include "ingest/ingest.h"

bool rocm_json_head(str head);
bool rocpd_head(str head);

/* A kernel's name without the end that AMD's compiler gives it; a part of `name`. */
str rocm_kernel_name(str name);
/* "…HOST_TO_DEVICE", roctracer's "CopyHostToDevice" → "Memcpy HtoD"; any other name as it
 * is. */
str rocm_copy_name(str operation);

ingest_function ingest_rocm_json;
ingest_function ingest_rocpd;

#endif
