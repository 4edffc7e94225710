/* recording_int.h: what the files of the reader of recordings share. */
#ifndef INGEST_RECORDING_INT_H
#define INGEST_RECORDING_INT_H

#include <tacho/format.h>

#include "base/map.h"
#include "base/vec.h"
#include "ingest/recording/recording.h"

/* From `tick` on, until the next one: ns + (t - tick) · scale / 2^SCALE_BITS. */
enum { SCALE_BITS = 40 };
typedef struct {
    uint64_t tick;
    int64_t ns;
    uint64_t scale;
} clock_line;

/* What one thread wrote into one chunk, or into a part of one. */
typedef struct {
    uint32_t row;
    uint32_t n_slots;
    uint64_t tick; /* of its first event: pieces of a thread are read in this order */
    const tacho_slot *slots;
} recording_piece;

typedef struct {
    uint32_t row, name;
    int64_t tid;
} recording_thread;

/* Rows that can only be made when all threads have been read. */
typedef struct {
    int64_t time, number;
    uint32_t track;
    bool is_end, restarts; /* none begins; everything before it is void */
} recording_step;
/* From here on operators are recorded, or left out. */
typedef struct {
    int64_t time;
    bool is_left_out, is_change; /* a change: before it was the opposite */
} recording_sampling;
typedef struct {
    uint32_t name; /* string */
    int64_t time, size, capacity;
} recording_queue;
typedef struct { /* as tacho_node_slots */
    uint64_t node, original, correlation;
} recording_node;
typedef struct {
    uint32_t name, parent;
    int64_t workers;
} recording_pipe;

/* Code of Python and its file and function. */
typedef struct {
    uint32_t file, name; /* strings; 0: not known */
} recording_code;
/* A stack of Python: a line and its caller's stack. */
typedef struct {
    uint32_t id, caller, code, line;
    uint32_t frame, depth; /* builder_frame */
} recording_stack;

/* An operator with a sequence number; row: of the thread that ran the forward pass. */
typedef struct {
    int64_t time, sequence;
    uint32_t row, track;
    bool is_backward;
} recording_link;

/* Events by what they cost. */
typedef struct {
    uint64_t all, of[TACHO_COST_LAST_TRIAL + 1]; /* begins of operators, …; chunks */
    uint64_t first_tick, last_tick;
    int64_t driver_ns; /* which the driver says it needed for itself */
} recording_counts;

typedef struct {
    builder *b;
    part *part;
    const ingest_options *o;
    const uint8_t *bytes;
    size_t n_bytes;
    bool is_whole; /* all chunks that were handed out are there */
    bool is_jax;
    tacho_file_header header;
    vec names;   /* uint32_t: string of name id */
    vec lines;   /* clock_line */
    vec clocks;  /* tacho_side_clock */
    vec pieces;  /* recording_piece */
    vec threads; /* recording_thread; the last of a row counts */
    vec steps, queues, pipes, samplings;
    vec memories;         /* raw_memory */
    vec links;            /* recording_link */
    vec nodes;            /* recording_node */
    map thread_of;        /* row -> index in threads */
    map frames;           /* address -> string */
    vec codes;            /* recording_code */
    vec stacks;           /* recording_stack */
    map code_of;          /* id -> index in codes */
    map stack_of;         /* id -> index in stacks */
    vec source;           /* char: a file of which not all pieces have come */
    map devices;          /* device number -> 1 */
    vec gpus;             /* raw_device: those that the driver described */
    uint64_t described;   /* bit of each of them */
    bool computes_on_cpu; /* XLA's profile has the CPU as device */
    uint32_t shape[16];   /* places of arguments */
    int64_t last_ns, last_event_ns;
    str profile; /* name of XLA's profile next to the file, as JSON */
    str said[4]; /* of what a process says of itself more than once: the last */
    uint64_t last_tick;
    uint32_t n_ops, n_steps;
    recording_counts counts;
} recording;

int64_t recording_ns(const recording *r, uint64_t tick, size_t *line);
static inline uint32_t recording_name(const recording *r, uint32_t id) {
    return id < r->names.n ? VEC(&r->names, uint32_t)[id] : 0;
}
/* The same for the Unix clock of a device's driver. */
int64_t recording_unix(const recording *r, int64_t unix_ns);
uint32_t recording_string(recording *r, str s); /* UINT32_MAX: no memory */
/* The events of one thread; its pieces in order. */
status recording_read_thread(recording *r, const recording_piece *pieces, size_t n, error *err);
/* An event that is in the recording, for what recording cost (recording_cost.c). */
void recording_count(recording *r, const tacho_slot *head);
/* What it cost, as facts cost_…; none when the recorder did not measure it. */
status recording_add_cost(recording *r, error *err);
status recording_add_number(recording *r, const char *key, int64_t value, error *err);
/* Arrows between forward and backward. */
status recording_finish_links(recording *r);
/* Stacks of Python as frames (recording_stacks.c): side records, whose texts may hold NUL. */
status recording_take_code(recording *r, const uint8_t *p, size_t n, error *err);
status recording_take_stack(recording *r, const uint8_t *p, size_t n, error *err);
/* What has been read is within the limit of memory. */
status recording_check_memory(const recording *r, error *err);
/* When all side records have been read. */
status recording_finish_stacks(recording *r, error *err);
/* builder_frame of a stack; 0: not known. */
uint32_t recording_frame(const recording *r, uint32_t stack);
/* A piece of a source file; the pieces of one follow each other. */
status recording_take_source(recording *r, const uint8_t *p, size_t n, error *err);
/* A note for readers of the trace. */
status recording_add_note(recording *r, str value, error *err);
/* What XLA's profiler recorded at the same time. */
status recording_add_profile(recording *r, error *err);
/* Steps, memory, queues. */
status recording_finish(recording *r, error *err);
/* Devices, when XLA's profile has been read. */
status recording_finish_devices(recording *r, error *err);

#endif
