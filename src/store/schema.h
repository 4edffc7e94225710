/* schema.h: the words of the trace model: kinds, flags, and the column structs made from
 * schema.def. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <math.h>
#include <stdint.h>

#include "base/num.h"

#define ABSENT_I32 INT32_MIN

/* Ours, not the framework's. Append only: files hold the numbers. For ties see kind_rank. */
typedef enum {
    KIND_OTHER = 0,
    KIND_SPAN,       /* the whole recording */
    KIND_STEP,       /* host step marker */
    KIND_ANNOTATION, /* user range on the host */
    KIND_COLLECTIVE, /* host range of a collective */
    KIND_PYTHON,     /* python frame */
    KIND_MODULE,     /* python frame that is a module call */
    KIND_DATA,       /* data loading */
    KIND_FORWARD,
    KIND_BACKWARD,
    KIND_OPTIMIZER,
    KIND_OP,
    KIND_RUNTIME,           /* runtime API call */
    KIND_DRIVER,            /* driver API call */
    KIND_SYNC,              /* synchronization record */
    KIND_OVERHEAD,          /* the profiler's own cost */
    KIND_DEVICE_ANNOTATION, /* projection of a user range on a stream */
    KIND_KERNEL,
    KIND_MEMCPY,
    KIND_MEMSET,
    KIND_ASYNC,     /* nestable async range (b/e) */
    KIND_OP_PHASE,  /* a part of an operator: infer shape, compute, make the backward node */
    KIND_FRAMEWORK, /* a range of the framework's own around its operators */
    KIND_GARBAGE,   /* Python collects garbage */
    KIND_COMPILE,   /* a program or a kernel is compiled */
    KIND_IMPORT,    /* a module of Python is imported */
    N_KINDS,
} slice_kind;

enum {                       /* slice flags */
       SLICE_UNFINISHED = 1, /* begin without end, or the producer said so */
       SLICE_SPILLED = 2,    /* overlaps a neighbor partially: shown on a sub-row */
       SLICE_CLIPPED = 4,
       SLICE_CLOCK_SUSPECT = 8,
       SLICE_SYNTHETIC = 16,
};

typedef enum {
    TRACK_THREAD = 1,
    TRACK_STREAM,
    TRACK_COUNTER,
    TRACK_ASYNC,
    TRACK_SPAN
} track_kind;

typedef enum {
    LINK_NONE = 0,    /* no launch call found */
    LINK_EXACT,       /* the op named by the external id; with a call: it contains the call */
    LINK_CONTAINED,   /* correlation, and the innermost op around the call */
    LINK_ORDER,       /* by order only */
    LINK_GRAPH,       /* a node of a launched graph */
    LINK_LAUNCH_ONLY, /* correlation found a call that no op contains */
    /* an op of another step with the same launches: its name, shapes, stack and module, neither
     * its time nor its arguments */
    LINK_INFERRED,
    LINK_CAPTURED, /* a node of a launched graph: the op in which it was captured; as above */
} link_how;

typedef enum {
    FLOW_OTHER = 0,
    FLOW_FORWARD_BACKWARD,
    FLOW_LAUNCH,   /* host call to device work; kept as kernel.launch, not as a flow */
    FLOW_DISPATCH, /* where an operator was asked for to where it runs */
    FLOW_TENSOR,   /* the life of a tensor: made, used, released */
    FLOW_VALUE,    /* from where a value is made to what waits for it */
    FLOW_OWNER,    /* operator to device work, in addition to its launch; stored as kernel.op */
    N_FLOW_KINDS,
} flow_kind;
typedef enum {
    PHASE_NONE = 0,
    PHASE_DATA,
    PHASE_FORWARD,
    PHASE_BACKWARD,
    PHASE_OPTIMIZER,
    PHASE_COMMUNICATION
} phase;
typedef enum {
    MEMORY_ALLOC = 1,
    MEMORY_FREE,
    MEMORY_SEGMENT_ALLOC,
    MEMORY_SEGMENT_FREE,
    MEMORY_OOM,
    MEMORY_EXISTING,        /* allocated before the recording: reported once, at its start */
    MEMORY_SEGMENT_EXISTING /* the same of a segment */
} memory_kind;
/* How the steps of a trace are known. Append only: files hold the numbers. */
typedef enum {
    STEP_MARKED = 0,   /* the program or its framework marks them */
    STEP_BY_OPTIMIZER, /* from one optimizer step to the next */
    STEP_BY_RANGE,     /* a range of the user's that repeats around nearly all work */
    STEP_BY_KERNELS,   /* device work repeats */
    STEP_BY_OPERATORS, /* without device work: operators repeat */
    N_STEP_HOW
} step_how;
/* What a thread did when a sampler saw it. Append only: files hold the numbers. */
typedef enum {
    SAMPLE_RUNNING = 0,
    SAMPLE_GIL,    /* waits for the interpreter's lock */
    SAMPLE_LOCK,   /* waits for another lock */
    SAMPLE_FILE,   /* reads or writes a file */
    SAMPLE_SOCKET, /* waits for a socket or pipe */
    SAMPLE_SLEEP,
    SAMPLE_CHILD, /* waits for another process */
    SAMPLE_UNKNOWN,
    N_SAMPLE_STATES
} sample_state;
/* What a row of pipe_op stands for. */
typedef enum {
    PIPE_OPERATOR = 0, /* an operator and the queue after it */
    PIPE_HOST_QUEUE,   /* batches on the host, waiting for the device */
    PIPE_DATA_QUEUE    /* batches on the device, waiting for the graph */
} pipe_role;
/* What a row of producer_op adds up. */
typedef enum { PRODUCER_OPERATOR = 0, PRODUCER_TYPE, PRODUCER_KERNEL } producer_level;
/* What a sample of processors is about. */
typedef enum { CPU_MACHINE = 0, CPU_PROCESS, CPU_OPERATOR } cpu_scope;
/* What another program's finding is about, where a rule of ours knows what to do. */
typedef enum { FINDING_OTHER = 0, FINDING_AI_CPU } finding_topic;
/* Points of a step by which a producer cuts it. */
typedef enum { POINT_FORWARD_START = 1, POINT_BACKWARD_END } step_point_kind;
/* c10's numbers where it has one. */
typedef enum {
    DEVICE_CPU = 0,
    DEVICE_CUDA = 1,
    DEVICE_HIP = 6,
    DEVICE_XPU = 12,
    DEVICE_MPS = 13,
    DEVICE_HPU = 15,
    DEVICE_MTIA = 19,
    DEVICE_PRIVATE = 20,
    DEVICE_ASCEND = 64,
    DEVICE_MLU = 65,
    DEVICE_MUSA = 66,
    DEVICE_NAMED = 128, /* and on: the words of table device_word */
    DEVICE_UNKNOWN = 255,
} device_type;

/* The key of our own trace-event files that has the rows of device_word: a list of names. */
#define TRACE_DEVICE_WORDS "device words"

/* Why something was lost or repaired. The words are messages MSG_CAUSE_* (text/messages.def),
 * in this order; the JSON name is the lower-case identifier. */
#define CAUSES(X)                                                                          \
    X(TRUNCATED)          /* the file ends in the middle of an event */                    \
    X(BAD_SYNTAX)         /* an event that is not JSON, skipped */                         \
    X(UNESCAPED_QUOTE)    /* repaired */                                                   \
    X(BAD_ESCAPE)         /* repaired */                                                   \
    X(CONTROL_CHARACTER)  /* accepted */                                                   \
    X(BAD_LITERAL)        /* N/A, NaN, Infinity: accepted as text */                       \
    X(TRAILING_COMMA)     /* accepted */                                                   \
    X(DUPLICATE_KEY)      /* last one wins */                                              \
    X(BAD_UTF8)           /* kept as it is */                                              \
    X(MISSING_NAME)       /* event skipped */                                              \
    X(MISSING_CATEGORY)   /* kept as other */                                              \
    X(MISSING_TIME)       /* event skipped */                                              \
    X(NEGATIVE_DURATION)  /* event skipped */                                              \
    X(UNKNOWN_PHASE)      /* event skipped */                                              \
    X(UNMATCHED_BEGIN)    /* kept, unfinished, to the end of the trace */                  \
    X(UNMATCHED_END)      /* event skipped */                                              \
    X(PARTIAL_OVERLAP)    /* kept on a sub-row */                                          \
    X(ORPHAN_CORRELATION) /* device work without a launch call */                          \
    X(NUMBER_RANGE)       /* a number too large for its column, kept as text */            \
    X(TOO_DEEP)           /* nesting beyond the limit, kept as text */                     \
    X(DANGLING_FLOW)      /* an arrow with one end */                                      \
    X(STREAM_DAMAGED)     /* the compressed stream is damaged: what came before is kept */ \
    X(TRAILING_GARBAGE)   /* bytes after the end of the trace */                           \
    X(ARGUMENTS_DROPPED)  /* argument store full */                                        \
    X(MEMORY_STATE)       /* replayed memory events do not lead to the recorded state */   \
    X(RECORDER_FULL)      /* the recorder had no room for an event */                      \
    X(RECORDER_NAMES)     /* a name the recorder had no room for */                        \
    X(DEVICE_DROPPED)     /* device records the driver dropped */                          \
    X(DATABASE_DAMAGED)   /* rows of a database that cannot be read */                     \
    X(OTHER_CLOCK)        /* far from the session because of a different clock, skipped */ \
    X(ROWS_MISSING)       /* a task before which others are missing: an excerpt */         \
    X(RECORDER_INSIDE)    /* an event of a signal handler that interrupted the recorder */

typedef enum {
    CAUSE_NONE = 0,
#define CAUSE_ENUM(name) CAUSE_##name,
    CAUSES(CAUSE_ENUM)
#undef CAUSE_ENUM
        N_CAUSES
} cause;

/* C types of the column types. */
typedef int64_t col_i64;
typedef uint64_t col_u64;
typedef double col_f64;
typedef uint32_t col_u32;
typedef int32_t col_i32;
typedef uint16_t col_u16;
typedef uint8_t col_u8;
typedef uint32_t col_str;
typedef uint32_t col_ref_process, col_ref_track, col_ref_slice, col_ref_frame, col_ref_group,
    col_ref_memory, col_ref_module, col_ref_pipe_op, col_ref_comm_cost, col_ref_finding;

enum { /* TABLE_process, … */
#define TABLE(t, doc) TABLE_##t,
#include "store/schema.def"
       N_TABLES
};
enum { /* COLUMN_slice_start, … */
#define COLUMN(t, c, type, doc) COLUMN_##t##_##c,
#include "store/schema.def"
       N_COLUMNS
};

/* Of two equal ranges the one of smaller rank encloses the other. */
static inline unsigned kind_rank(uint8_t k) {
    if (k == KIND_FRAMEWORK) return 2 * KIND_OP - 1;
    return k == KIND_OP_PHASE ? 2 * KIND_OP + 1 : 2u * k;
}

static inline bool kind_is_device(uint8_t k) {
    return k == KIND_KERNEL || k == KIND_MEMCPY || k == KIND_MEMSET;
}

/* Is an event of this memory_kind about a segment? */
static inline bool kind_is_segment(uint8_t k) {
    return k == MEMORY_SEGMENT_ALLOC || k == MEMORY_SEGMENT_FREE ||
           k == MEMORY_SEGMENT_EXISTING;
}

/* A call into the device's runtime or driver. */
static inline bool kind_is_call(uint8_t k) {
    return k == KIND_RUNTIME || k == KIND_DRIVER;
}

#endif
