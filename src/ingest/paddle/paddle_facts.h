/* paddle_facts.h: what has to be known of a whole Paddle trace before its rows are final: the
 * zero of its clock and the devices its memory events name. Each thread of the reader collects
 * its own; at the end they are put together and the rows are set right. */
#ifndef INGEST_PADDLE_FACTS_H
#define INGEST_PADDLE_FACTS_H

#include "store/builder.h"

typedef struct paddle_facts paddle_facts;

/* NULL when out of memory, or when there is no part. */
paddle_facts *paddle_facts_new(builder *b, part *p);
void paddle_facts_free(paddle_facts *f);

/* Sets start and duration of a slice whose start is still that of `ts` (a time of day in
 * microseconds). from, to: ns since the trace's zero, ABSENT_I64 when the event does not
 * say. */
status paddle_set_times(paddle_facts *f, raw_slice *row, int64_t from, int64_t to) MUST_USE;
/* Device of a memory event by its place ("Place(gpu:0)", string id), and its order among the
 * events of one microsecond, which is the order in the file. */
status paddle_set_place(paddle_facts *f, raw_memory *m, uint32_t place, int64_t tid,
                        uint64_t offset) MUST_USE;
/* A host range that is not a runtime call: the memory events that follow it in the file were
 * recorded in it. `offset` of its event. */
void paddle_begin_owner(paddle_facts *f, const raw_slice *row, int64_t tid, uint64_t offset);
/* The bytes that follow are from another place of the file: the owner is not known until the
 * end. */
status paddle_begin_piece(paddle_facts *f) MUST_USE;
/* Empty shapes and types are none, a call stack is turned into frames. */
status paddle_set_op(paddle_facts *f, raw_op *op) MUST_USE;
/* String id of the thread's own name in a label; UINT32_MAX when out of memory. */
uint32_t paddle_set_thread_name(paddle_facts *f, uint32_t label);

/* Device type and number of a place; types of plug-ins are numbered by the order in which they
 * are met, from DEVICE_OTHER on. ERR_MEMORY. */
status paddle_find_place(paddle_facts *f, uint32_t place, uint8_t *type, int32_t *id) MUST_USE;

/* Sets all rows right: zero of the clock, names of plug-in devices. */
status paddle_facts_finish(builder *b, paddle_facts **all, int n, error *err) MUST_USE;

#endif
