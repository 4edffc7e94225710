/* ascend_db.h: databases of CANN's profiler: ascend_pytorch_profiler_RANK.db of torch_npu,
 * ascend_mindspore_profiler_RANK.db of MindSpore, msprof_TIME.db. */
#ifndef INGEST_ASCEND_DB_H
#define INGEST_ASCEND_DB_H

#include "ingest/ingest.h"

/* Is this the beginning of one? */
bool ascend_db_head(str head);
/* The database; of the folder around it only what the run says of itself. */
status ingest_ascend_db(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;
/* Names of databases in the same folder that have sums of its collectives, as CANN calls
 * them. */
enum { N_ASCEND_SUMS = 2 };
extern const char *const ASCEND_SUMS[N_ASCEND_SUMS];
/* By its name a database of a framework's results: the one to be opened. */
bool ascend_db_name(str file);

#endif
