/* trace_event.h: what a trace event means in the words that most profilers share: classes of
 * categories, arguments that have a column, Chrome's phases. A dialect gives it its own
 * categories and hooks (event_sink.h) and adds its own arguments. */
#ifndef INGEST_TRACE_EVENT_H
#define INGEST_TRACE_EVENT_H

#include "ingest/trace_events/event_sink.h"

/* Arguments that have a column, under every spelling met. */
#define TRACE_EVENT_ARGS(X)                                                       \
    X(EXTERNAL, "External id", "external id")                                     \
    X(CORRELATION, "correlation", "correlation id")                               \
    X(INDEX, "Ev Idx", "Profiler Event Index")                                    \
    X(SEQUENCE, "Sequence number")                                                \
    X(FORWARD_THREAD, "Fwd thread id")                                            \
    X(DIMS, "Input Dims", "Input dims", "input_shapes")                           \
    X(TYPES, "Input type", "input_dtypes")                                        \
    X(INPUTS, "Concrete Inputs")                                                  \
    X(CALL_STACK, "Call stack", "callstack")                                      \
    X(FINISHED, "finished")                                                       \
    X(MODULE_ID, "Python module id")                                              \
    X(PYTHON_ID, "Python id")                                                     \
    X(FLOPS, "flops", "Flops")                                                    \
    X(DEVICE, "device")                                                           \
    X(CONTEXT, "context")                                                         \
    X(STREAM, "stream", "Stream Id")                                              \
    X(REGISTERS, "registers per thread")                                          \
    X(SHARED_MEMORY, "shared memory")                                             \
    X(BLOCKS_PER_SM, "blocks per SM")                                             \
    X(OCCUPANCY, "est. achieved occupancy %", "theoretical achieved occupancy %") \
    X(GRID, "grid")                                                               \
    X(BLOCK, "block")                                                             \
    X(BYTES, "bytes", "size")                                                     \
    X(GRAPH_NODE, "graph node id")                                                \
    X(DEVICE_TYPE, "Device Type")                                                 \
    X(DEVICE_ID, "Device Id")                                                     \
    X(ADDRESS, "Addr", "addr")                                                    \
    X(SIGNED_BYTES, "Bytes", "increase_bytes")                                    \
    X(ALLOCATED, "Total Allocated", "current_allocated")                          \
    X(RESERVED, "Total Reserved", "current_reserved")                             \
    X(COLLECTIVE, "Collective name")                                              \
    X(DTYPE, "dtype")                                                             \
    X(IN_ELEMENTS, "In msg nelems")                                               \
    X(OUT_ELEMENTS, "Out msg nelems")                                             \
    X(GROUP_NAME, "Process Group Name")                                           \
    X(GROUP_DESCRIPTION, "Process Group Description")                             \
    X(GROUP_RANKS, "Process Group Ranks")                                         \
    X(GROUP_SIZE, "Group size")                                                   \
    X(SEQ, "Seq")                                                                 \
    X(COMMS_ID, "Comms Id")                                                       \
    X(SRC_RANK, "Src Rank")                                                       \
    X(DST_RANK, "Dst Rank")                                                       \
    X(NAME, "name")                                                               \
    X(LABELS, "labels")                                                           \
    X(SORT_INDEX, "sort_index")                                                   \
    X(STEP_NUM, "step_num")

enum {
    FIELD_NONE = 0,
#define ARG_NUMBER(name, ...) FIELD_##name,
    TRACE_EVENT_ARGS(ARG_NUMBER)
#undef ARG_NUMBER
        FIELD_OWN, /* the first number that a dialect may give to its own arguments */
};
_Static_assert((int)FIELD_OWN + 4 < (int)MAX_ARG_FIELDS, "bits of event.fields");

/* What a category means. */
typedef enum {
    CLASS_OP = CLASS_UNKNOWN + 1,
    CLASS_ANNOTATION,
    CLASS_DEVICE_ANNOTATION,
    CLASS_KERNEL,
    CLASS_MEMCPY,
    CLASS_MEMSET,
    CLASS_RUNTIME,
    CLASS_DRIVER,
    CLASS_PYTHON_FUNCTION,
    CLASS_PYTHON,
    CLASS_INSTANT,
    CLASS_OVERHEAD,
    CLASS_SYNC,
    CLASS_SPAN,
    CLASS_LAUNCH_ARROW,
    CLASS_FORWARD_BACKWARD,
    CLASS_DEVICE_QUEUE, /* all a device does: work, copies, waits; the name tells which */
    CLASS_TASK_LAUNCH,  /* an arrow from a call to a task of the device */
    CLASS_TASK_OWNER,   /* an arrow from an operator to such a task */
    /* Categories that are one kind of slice whatever the name: */
    CLASS_STEP,
    CLASS_DATA,
    CLASS_FORWARD,
    CLASS_BACKWARD,
    CLASS_OPTIMIZER,
    CLASS_COLLECTIVE,
    CLASS_OP_PHASE,
    CLASS_FRAMEWORK,
    CLASS_PYTHON_OP,
    CLASS_SEGMENT, /* memory taken from or given back to the driver */
} category_class;

/* Number of an argument of the list above, FIELD_NONE when it is another. */
uint8_t trace_event_field(str key);
/* Class of a category by a table of such (compared without case), CLASS_UNKNOWN when it is not
 * in it. */
uint8_t trace_event_class(const event_word *table, size_t n, str category);
/* For dialect.take. An event is dropped, and counted, only when it has no name, no usable time,
 * a negative duration or an unknown phase. */
status trace_event_take(void *sink, event *e) MUST_USE;

#endif
