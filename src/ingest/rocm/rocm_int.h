/* rocm_int.h: what the files of this room share. */
#ifndef INGEST_ROCM_INT_H
#define INGEST_ROCM_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/rocm/rocm.h"

/* A queue or stream of a device. */
typedef struct {
    int64_t stream;
    int32_t device;
    uint32_t track;
} rocm_row;

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    const ingest_options *o;
    map row_map; /* device and stream → rows */
    vec rows;    /* rocm_row */
    int32_t n_gpus;
    uint64_t n_events;
    uint32_t domain;   /* of the last call, a string id */
    uint16_t category; /* of that domain */
    uint8_t kind;      /* of that domain: slice_kind */
    bool failed;       /* out of memory */
} rocm;

typedef struct {
    int64_t start, end;
    uint32_t name; /* string id */
    slice_kind kind;
    int32_t device;
    int64_t queue, stream, correlation, bytes, shared_memory;
    int64_t grid[3], block[3]; /* the grid in work-items, as AMD counts it */
} rocm_work;

/* A call, a marker or a range of a thread. */
typedef struct {
    int64_t start, end, pid, tid, correlation;
    uint32_t name, domain; /* string ids; domain: HIP_RUNTIME_API, MARKER_CORE_API, … */
} rocm_call;

#define ROCM_WORK_NONE                      \
    ((rocm_work){.start = ABSENT_I64,       \
                 .end = ABSENT_I64,         \
                 .device = ABSENT_I32,      \
                 .queue = ABSENT_I64,       \
                 .stream = ABSENT_I64,      \
                 .correlation = ABSENT_I64, \
                 .bytes = ABSENT_I64,       \
                 .shared_memory = ABSENT_I64})
#define ROCM_CALL_NONE                \
    ((rocm_call){.start = ABSENT_I64, \
                 .end = ABSENT_I64,   \
                 .pid = 0,            \
                 .tid = 0,            \
                 .correlation = ABSENT_I64})

rocm rocm_begin(builder *b, const ingest_options *o);
void rocm_end(rocm *r);
uint32_t rocm_string(rocm *r, str s);
/* "0x7f00"; false: it is no such number. */
bool rocm_read_address(str text, int64_t *out);
status rocm_put_work(rocm *r, const rocm_work *w) MUST_USE;
status rocm_put_call(rocm *r, const rocm_call *c) MUST_USE;
/* The next GPU of the file: its number; properties: a JSON object or nothing. */
status rocm_put_device(rocm *r, str name, int64_t cu_count, int64_t wave_size,
                       int64_t waves_per_cu, str properties, int32_t *device,
                       error *err) MUST_USE;
status rocm_put_memory(rocm *r, int64_t time, int64_t address, int64_t bytes, int32_t device,
                       bool release, int64_t pid) MUST_USE;
status rocm_name_thread(rocm *r, int64_t pid, int64_t tid, str name) MUST_USE;
status rocm_name_process(rocm *r, int64_t pid, str name) MUST_USE;
status rocm_put_fact(rocm *r, const char *key, str value, error *err) MUST_USE;

/* ---- records of the JSON: rocm_record.c ---- */

/* What a record says, ABSENT_I64 where it does not. */
enum {
    ROCM_START,
    ROCM_END,
    ROCM_THREAD,
    ROCM_KIND,
    ROCM_OPERATION,
    ROCM_CORRELATION,
    ROCM_STREAM,
    ROCM_BYTES,
    ROCM_TARGET,
    ROCM_SOURCE,
    ROCM_ADDRESS,
    ROCM_SIZE,
    ROCM_AGENT,
    ROCM_QUEUE,
    ROCM_KERNEL,
    ROCM_SHARED,
    ROCM_BLOCK,                    /* x, y, z */
    ROCM_GRID = ROCM_BLOCK + 3,    /* x, y, z */
    ROCM_DISPATCH = ROCM_GRID + 3, /* an object around others */
    ROCM_NOTHING,
    N_ROCM_FIELDS,
    ROCM_MOST_VALUES = 64, /* remembered of a record; a dispatch has 21 */
    ROCM_DEEPEST = 4
};

typedef struct {
    int64_t v[N_ROCM_FIELDS];
} rocm_record;

/* What comes before a value, from the end of the one before it, and what the value is. */
typedef struct {
    const char *p;
    uint32_t n;
    uint8_t field;
} rocm_lead;

/* How the last record was written; slices of its text. */
typedef struct {
    rocm_lead leads[ROCM_MOST_VALUES];
    size_t n; /* 0: none is known */
    str rest; /* after the last value */
} rocm_layout;

/* The record whose bracket is at p: one past its end, NULL when it has none or is not an
 * object. A layout begins as zeros. SOURCE_PAD bytes after `end` can be read. */
const char *rocm_read_record(const char *p, const char *end, rocm_layout *l, rocm_record *out);

#endif
