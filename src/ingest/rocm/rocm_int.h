/* rocm_int.h: what the files of this room share. */
#ifndef INGEST_ROCM_INT_H
#define INGEST_ROCM_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/rocm/rocm.h"

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    const ingest_options *o;
    int32_t n_gpus;
    uint64_t n_events;
    bool failed; /* out of memory */
} rocm;

typedef struct {
    int64_t start, end;
    str name;
    slice_kind kind;
    int32_t device;
    int64_t queue, stream, correlation, bytes, shared_memory;
    int64_t grid[3], block[3]; /* the grid in work-items, as AMD counts it */
} rocm_work;

/* A call, a marker or a range of a thread. */
typedef struct {
    int64_t start, end, pid, tid, correlation;
    str name, domain; /* domain: HIP_RUNTIME_API, MARKER_CORE_API, … */
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

uint32_t rocm_string(rocm *r, str s);
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

#endif
