/* tacho/format.h: the bytes of a recording, the *.tacho file of profile 1.
 *
 * A recording is written in place by the recorded program through a shared map, so it is whole
 * at any moment: nothing is converted, nothing is flushed, and a killed program leaves what it
 * had recorded. docs/FORMAT.md says the same in words. Everything is little-endian.
 *
 *     0        4096       4096 + 64 Ki
 *     | header | chunk 0  | chunk 1 | … | chunk n_chunks - 1 | (room prepared, zero)
 *
 * A chunk is a header of 64 bytes and slots of 16. Chunks of events belong to one thread at a
 * time; side chunks hold records of any length (names, threads, clocks, metadata). A slot or
 * record whose first word is zero has not been written: there the chunk ends.
 */
#ifndef TACHO_FORMAT_H
#define TACHO_FORMAT_H

#include <stdint.h>

#define TACHO_FILE_MAGIC "\x89TACHO\r\n"

enum {
    TACHO_FILE_VERSION = 1,
    TACHO_FILE_RECORDING = 1, /* the profile */
    TACHO_FILE_HEADER_BYTES = 4096,
    TACHO_CHUNK_BYTES = 65536,
    TACHO_CHUNK_HEADER_BYTES = 64,
    TACHO_SLOT_BYTES = 16,
    TACHO_CHUNK_SLOTS = (TACHO_CHUNK_BYTES - TACHO_CHUNK_HEADER_BYTES) / TACHO_SLOT_BYTES,
    TACHO_MOST_EXTRA = 255, /* slots that may follow the head of an event */
    TACHO_RUN_BYTES = 96,
};

/* ---- words of the interface and of the file ---- */

/* What a range is. The numbers are those of the file. */
typedef enum {
    TACHO_RANGE_PLAIN = 0,
    TACHO_RANGE_OP = 1,
    TACHO_RANGE_MODULE = 2,
    TACHO_RANGE_DATA = 3, /* waiting for data or loading them */
    TACHO_RANGE_FORWARD = 4,
    TACHO_RANGE_BACKWARD = 5,
    TACHO_RANGE_OPTIMIZER = 6,
    TACHO_RANGE_COMMUNICATION = 7,
    TACHO_RANGE_PYTHON = 8,
    TACHO_RANGE_RUNTIME = 9, /* a call that gives work to a device */
    TACHO_RANGE_KERNEL = 10, /* device ranges only, and the two below */
    TACHO_RANGE_COPY = 11,
    TACHO_RANGE_SET = 12,
    TACHO_RANGE_SYNC = 13,    /* a stream waits */
    TACHO_RANGE_GARBAGE = 14, /* Python collects garbage */
    TACHO_RANGE_COMPILE = 15, /* a program or a kernel is compiled; inside of it: why */
    TACHO_RANGE_IMPORT = 16,  /* a module of Python is imported */
} tacho_range_kind;

typedef enum {
    TACHO_TYPE_UNKNOWN = 0,
    TACHO_F64,
    TACHO_F32,
    TACHO_F16,
    TACHO_BF16,
    TACHO_I64,
    TACHO_I32,
    TACHO_I16,
    TACHO_I8,
    TACHO_U8,
    TACHO_BOOL,
    /* Bits added to the type: the tensor is an element of a list, and the last one of it. */
    TACHO_TYPE_IN_LIST = 1 << 8,
    TACHO_TYPE_ENDS_LIST = 1 << 9,
} tacho_type;

/* What a memory event says; the numbers are those of the file. */
typedef enum {
    TACHO_MEMORY_ALLOC = 1,
    TACHO_MEMORY_FREE = 2,
    TACHO_MEMORY_SEGMENT_ALLOC = 3, /* from the driver: what the allocator deals out */
    TACHO_MEMORY_SEGMENT_FREE = 4,
} tacho_memory_kind;

/* What recording costs; the numbers are those of the file. The first ones are trials: so many
 * took so long, and a recording has more of them. The others happened once each. */
typedef enum {
    TACHO_COST_EVENT = 0,  /* an event */
    TACHO_COST_OP = 1,     /* an operator of a framework, with its end */
    TACHO_COST_MODULE = 2, /* a call of a module, with its end */
    TACHO_COST_FRAME = 3,  /* a call of a Python function, with its end */
    TACHO_COST_ROOM = 4,   /* a chunk for events */
    TACHO_COST_LAST_TRIAL = TACHO_COST_ROOM,
    TACHO_COST_START = 5,  /* loading, installing hooks, beginning the file */
    TACHO_COST_STOP = 6,   /* ending the file */
    TACHO_COST_HELPER = 7, /* CPU time of the recorder's own thread */
    TACHO_N_COSTS = 8,
} tacho_cost_kind;

typedef struct {
    uint64_t ns, n;
} tacho_cost_row;

/* ---- the file ---- */

enum { TACHO_FILE_RUNNING = 1, TACHO_FILE_STOPPED = 2 };
enum { TACHO_CLOCK_TSC = 1, TACHO_CLOCK_CNTVCT = 2, TACHO_CLOCK_MONOTONIC = 3 };
enum { /* header.flags */
       TACHO_FILE_SHAPES = 1,
       TACHO_FILE_MEMORY = 2,
       TACHO_FILE_STACKS = 4,
       TACHO_FILE_DEVICE = 8,
       TACHO_FILE_GRAPH_NODES = 32, /* each node of a CUDA graph, not the graph as one */
       TACHO_FILE_SYNC = 128,       /* what each synchronization waited for */
       TACHO_FILE_FLIGHT = 16,      /* old chunks are used again: begins may be missing */
       TACHO_FILE_WINDOW =
           64, /* copied out of a recording: what is before start_tick and after stop_tick does
                                * not count, begins and ends may be missing */
};
enum {                    /* header.lost */
       TACHO_LOST_FULL,   /* events: the file had reached its size, or the disk was full */
       TACHO_LOST_NAMES,  /* events whose name did not fit into the table of names */
       TACHO_LOST_SIDE,   /* side records that found no room */
       TACHO_LOST_SHAPES, /* tensors of an operator beyond the most that are kept */
       TACHO_LOST_DEVICE, /* device records the driver dropped or there was no room for */
       TACHO_LOST_INSIDE, /* events of a signal handler or an allocator that was called inside
                           * the recorder, or on a stack too small for it */
       TACHO_N_LOST = 8,
};

typedef struct {
    uint8_t magic[8];
    uint32_t version, profile;
    uint64_t header_bytes, chunk_bytes;
    uint64_t n_chunks; /* handed out so far */
    uint32_t state, clock;
    uint64_t ticks_per_s; /* 0: from the clock pairs */
    int64_t pid, parent_pid;
    int64_t start_unix_ns, stop_unix_ns;
    uint64_t start_tick, stop_tick;
    uint64_t n_steps; /* steps ended so far */
    uint64_t flight_ns;
    uint32_t flags, memory_every;
    uint64_t lost[TACHO_N_LOST];
    char worker[256]; /* ends in NUL */
    /* Files written before November 2026 end here; what follows is zero in them. */
    char run[TACHO_RUN_BYTES]; /* which `tacho record` made it: NAME.NUMBER, or empty; ends in
                                * NUL. All processes of it have the same */
    uint64_t flight_asked_ns; /* flight recorder: how much of the past is wanted; flight_ns adds
                               * what triggers need */
    uint64_t forgotten_tick;  /* events up to here may have been overwritten; 0: none were */
    tacho_cost_row cost[TACHO_N_COSTS];
} tacho_file_header;

enum { TACHO_CHUNK_EVENTS = 1, TACHO_CHUNK_SIDE = 2, TACHO_CHUNK_CUPTI = 3 };

typedef struct {
    uint32_t type;
    uint32_t thread; /* of events: row of the first thread that writes here */
    uint64_t order; /* of events: position among all chunks, by the time they were handed out */
    uint64_t tick;  /* when it was handed out */
    uint64_t bytes; /* of CUPTI records: how many follow the header, over several chunks */
    uint64_t reserved[4];
} tacho_chunk_header;

/* The head of an event. what = kind | extra << 8 | argument << 16; `extra` slots follow it. */
typedef struct {
    uint64_t tick; /* written last; 0: not written */
    uint32_t name;
    uint32_t what;
} tacho_slot;

enum { /* kinds of events, with the slots that follow */
       TACHO_EVENT_BEGIN =
           1,           /* argument: a range kind; RUNTIME: tacho_flow_slot, its correlation */
       TACHO_EVENT_END, /* name: 0 or that of the range */
       TACHO_EVENT_INSTANT,
       TACHO_EVENT_STEP, /* tacho_step_slot; argument 1: none begins; 2: none ended */
       TACHO_EVENT_OP, /* nothing, tacho_sequence_slot, or tacho_op_slots and tensors; argument:
                        * phase, row of the forward thread << 8 (0: this one); ended by
                        * TACHO_EVENT_END */
       TACHO_EVENT_COMM,    /* tacho_comm_slots; ended by TACHO_EVENT_END */
       TACHO_EVENT_COUNTER, /* tacho_counter_slot */
       TACHO_EVENT_QUEUE,   /* tacho_queue_slot */
       TACHO_EVENT_FLOW,    /* tacho_flow_slot; argument 's', 't' or 'f' */
       TACHO_EVENT_MEMORY,  /* tacho_memory_slots; argument: a memory kind */
       TACHO_EVENT_DEVICE,  /* tacho_device_slots; argument: a range kind */
       TACHO_EVENT_THREAD,  /* name: from here on the chunk belongs to this row */
       TACHO_EVENT_LOST,    /* tacho_lost_slot */
       /* tacho_flow_slot; argument 'b' or 'e': a range that may cross threads */
       TACHO_EVENT_ASYNC,
       TACHO_EVENT_GPU,      /* tacho_gpu_slots; argument: a range kind */
       TACHO_EVENT_API,      /* tacho_api_slots: a call that gives work to the device */
       TACHO_EVENT_SAMPLING, /* tacho_step_slot: what is recorded changes, without a step */
       TACHO_EVENT_NODE,     /* tacho_node_slots: a node of a graph was made, or copied */
       /* tacho_sample_slots; name: a stack of Python, argument: TACHO_SAMPLE_* */
       TACHO_EVENT_SAMPLE,
       TACHO_EVENT_STACK, /* name: the stack of Python of the operators that this thread begins
                              * from here on, inside of no other; 0: none */
};

enum { /* which of a step's operators, modules and stacks the recorder's own hooks recorded */
       TACHO_STEP_WHOLE = 0,   /* all; the recording samples no steps */
       TACHO_STEP_SAMPLED = 1, /* all; those of other steps are left out */
       TACHO_STEP_LEFT_OUT =
           2, /* none; the device's work and the calls that launch it are there */
};
typedef struct {
    int64_t number, sampling; /* TACHO_STEP_* of the step that begins */
} tacho_step_slot;
typedef struct {
    double value;
    uint64_t reserved;
} tacho_counter_slot;
typedef struct {
    int64_t size, capacity;
} tacho_queue_slot;
typedef struct {
    uint64_t id, reserved;
} tacho_flow_slot;
typedef struct {
    uint64_t count, reserved;
} tacho_lost_slot;
typedef struct {
    double flops;  /* NaN: not known */
    int64_t bytes; /* < 0: not known */
    int64_t sequence;
    uint32_t n_tensors,
        n_frames; /* tensors follow, then addresses of frames, innermost first */
} tacho_op_slots;
typedef struct { /* instead of tacho_op_slots where nothing else is known */
    int64_t sequence;
    uint64_t reserved;
} tacho_sequence_slot;
typedef struct { /* n_dims numbers of 64 bits follow */
    uint8_t type, n_dims;
    uint16_t flags; /* 1: in a list, 2: the last one of it */
    uint32_t reserved;
} tacho_tensor_word;
typedef struct {
    int64_t in_elements, out_elements, sequence;
    uint32_t group, type; /* name id of the process group, a data type */
    int32_t rank_count, root;
    uint64_t reserved;
} tacho_comm_slots;
typedef struct {
    uint64_t address;
    int64_t bytes, allocated, reserved; /* totals after the event, < 0: not known */
    int32_t device;
    uint32_t n_frames; /* addresses of frames follow */
    int64_t unix_ns;   /* 0: at the event's own time */
} tacho_memory_slots;
typedef struct {
    uint64_t start_tick, end_tick;
    int32_t device, stream;
    uint64_t correlation;
} tacho_device_slots;

/* Device work as its driver reported it; times are Unix ns of the driver's clock. */
typedef struct {
    int64_t start_ns, end_ns;
    uint64_t correlation;
    int32_t device, stream, context;
    int32_t registers; /* < 0: not known, as bytes */
    uint32_t grid[3], block[3];
    int64_t bytes;
    uint64_t graph_node;
    uint32_t shared_bytes, reserved[3];
} tacho_gpu_slots;
enum { TACHO_API_DRIVER = 1, TACHO_API_RUNTIME = 2, TACHO_API_OVERHEAD = 3 };
typedef struct {
    int64_t start_ns, end_ns;
    uint64_t correlation;
    uint32_t thread, domain; /* the system's number of the thread; TACHO_API_* */
} tacho_api_slots;
typedef struct {
    uint64_t node, original; /* original: 0, or the node it is a copy of */
    uint64_t correlation;    /* of the call that made it; 0: not known */
    uint64_t reserved;
} tacho_node_slots;

/* What a thread was seen doing, n times in a row. */
typedef struct {
    uint64_t from_tick, to_tick; /* up to the look that saw something else */
    int64_t tid;
    uint64_t n;
} tacho_sample_slots;
enum {
    TACHO_SAMPLE_RUNNING = 0,
    TACHO_SAMPLE_GIL,    /* waits for the interpreter's lock */
    TACHO_SAMPLE_LOCK,   /* waits for another lock */
    TACHO_SAMPLE_FILE,   /* in a call about a file */
    TACHO_SAMPLE_SOCKET, /* waits for a socket or a pipe */
    TACHO_SAMPLE_SLEEP,
    TACHO_SAMPLE_CHILD, /* waits for another process */
    TACHO_SAMPLE_UNKNOWN,
};

/* A side record: its length in bytes with this head, a multiple of 8, written last. */
typedef struct {
    uint32_t bytes, type;
} tacho_side;
enum {
    TACHO_SIDE_NAME = 1,    /* u64 id, text */
    TACHO_SIDE_THREAD,      /* u64 row, i64 tid, text: its name; the last one counts */
    TACHO_SIDE_CLOCK,       /* tacho_side_clock */
    TACHO_SIDE_META,        /* u64 length of the key, key, text: JSON */
    TACHO_SIDE_FRAME,       /* u64 address, text: what is there */
    TACHO_SIDE_NOTE,        /* text: something that is off and why */
    TACHO_SIDE_PIPE,        /* u64 name id, u64 name id of the parent, i64 workers */
    TACHO_SIDE_KERNEL_NAME, /* u64 pointer of the driver, text */
    TACHO_SIDE_CODE,        /* u64 id, u64 first line, file NUL function: code of Python */
    TACHO_SIDE_STACK,  /* u32 id, u32 id of the caller's stack (0: none), u32 id of the code,
                             * u32 line */
    TACHO_SIDE_SOURCE, /* u64 size of the file, u64 where this piece begins, u64 its length, u64
                             * Unix ns of its last change; path NUL, the piece */
};
/* The three clocks read together; `window` is the ticks between the two reads around them. */
typedef struct {
    uint64_t tick;
    int64_t monotonic_ns, unix_ns;
    uint64_t window;
} tacho_side_clock;

#endif
