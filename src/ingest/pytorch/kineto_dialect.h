/* kineto_dialect.h: the words of Kineto, for readers that know more of the same file. */
#ifndef INGEST_KINETO_DIALECT_H
#define INGEST_KINETO_DIALECT_H

#include "ingest/ingest.h"
#include "ingest/trace_events/trace_event.h"

/* Its additional arguments. */
enum { FIELD_TASK_TYPE = FIELD_OWN, FIELD_CONNECTION, FIELD_LEVEL, FIELD_RECORD_FUNCTION };

/* They copy it and set its hooks. The format of such a file with tasks of an Ascend is
 * torch_npu. */
const dialect *kineto_dialect(void);
/* Its hook fill_kernel, where the number of the NPU is known. */
void kineto_fill_kernel(event_sink *s, const event *e, int32_t npu, raw_kernel *kernel);
/* Reads a trace together with its execution trace, `o->beside` (kineto_join.c). */
status kineto_join(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;
/* What a task of an Ascend is, by its type; older files write Other there and the name
 * tells. */
slice_kind kineto_task_kind(str type, str name);

#endif
