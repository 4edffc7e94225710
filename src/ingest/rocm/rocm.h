/* rocm.h: what AMD's rocprofv3 writes: JSON (`*_results.json`) and rocpd (`*_results.db`,
 * SQLite). */
#ifndef INGEST_ROCM_H
#define INGEST_ROCM_H

#include "ingest/ingest.h"

bool rocm_json_head(str head);
bool rocpd_head(str head);

ingest_function ingest_rocm_json;
ingest_function ingest_rocpd;

#endif
