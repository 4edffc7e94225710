/* rocm.h: what AMD's rocprofv3 writes: JSON (`*_results.json`), rocpd (`*_results.db`, SQLite)
 * and tables (`*_trace.csv`). */
#ifndef INGEST_ROCM_H
#define INGEST_ROCM_H

#include "ingest/ingest.h"

bool rocm_json_head(str head);
bool rocpd_head(str head);
bool rocm_csv_head(str head);
/* Is it named like one of rocprofv3's tables? Those with the same prefix, which may be empty or
 * have folders in front, are one recording. */
bool rocm_csv_name(str file, str *prefix);
/* Of them the one without times: it is read with the others and is nothing by itself. */
bool rocm_csv_is_part(str file);

/* A kernel's name without the end that AMD's compiler gives it; a part of `name`. */
str rocm_kernel_name(str name);
/* "…HOST_TO_DEVICE", roctracer's "CopyHostToDevice" → "Memcpy HtoD"; any other name as it
 * is. */
str rocm_copy_name(str operation);

ingest_function ingest_rocm_json;
ingest_function ingest_rocpd;
ingest_function ingest_rocm_csv;

#endif
