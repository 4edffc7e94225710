/* torch_npu.h: what the profiler of PyTorch on Ascend left in a folder. */
#ifndef INGEST_TORCH_NPU_H
#define INGEST_TORCH_NPU_H

#include "ingest/ingest.h"

/* A timeline (trace_view.json, under any name) and the tables next to options.path. */
status ingest_torch_npu(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

/* WORKER_TIME_ascend_pt: the worker's name and the time; false: another folder. */
bool torch_npu_folder_parse(str folder, str *worker, str *stamp);
/* profiler_info_RANK.json: the rank; false: another name. */
bool torch_npu_rank_parse(str file, int64_t *rank);
/* A file of such a folder's results that is read, or known not to be needed: it is no trace by
 * itself. */
bool torch_npu_is_part(str file);
/* Is this the beginning of such a timeline? */
bool torch_npu_head(str head);

#endif
