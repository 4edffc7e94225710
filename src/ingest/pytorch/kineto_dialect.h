/* kineto_dialect.h: the words of Kineto, for readers that know more of the same file. */
#ifndef INGEST_KINETO_DIALECT_H
#define INGEST_KINETO_DIALECT_H

#include "ingest/trace_events/event_sink.h"

/* They copy it and set its hooks. The format of such a file with tasks of an Ascend is
 * torch_npu. */
const dialect *kineto_dialect(void);
/* Its hook fill_kernel, where the number of the NPU is known. */
void kineto_fill_kernel(event_sink *s, const event *e, int32_t npu, raw_kernel *kernel);
/* What a task of an Ascend is, by its type; older files write Other there and the name tells. */
slice_kind kineto_task_kind(str type, str name);

#endif
