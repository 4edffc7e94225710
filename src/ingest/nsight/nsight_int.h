/* nsight_int.h: what the files of this room share. */
#ifndef INGEST_NSIGHT_INT_H
#define INGEST_NSIGHT_INT_H

#include <stdio.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/nsight/nsight.h"
#include "ingest/sqlite/database.h"

typedef struct {
    int64_t global; /* globalPid */
    int64_t pid;
} process_row;

typedef struct {
    int32_t id, sm_count;
} gpu_row;

/* A stream, or the row of a device for what has no stream. */
typedef struct {
    int64_t global, context, stream;
    int32_t device;
    uint32_t track;
} stream_row;

typedef struct {
    uint32_t name; /* string id */
    /* of a library of NVIDIA's: its ranges are operators where no framework has any */
    bool library;
    bool collective;
    uint16_t category; /* of its ranges; 0: not asked for yet */
} domain_row;

/* What NCCL tells with its ranges. */
typedef enum {
    NCCL_COMMUNICATOR,
    NCCL_BYTES,
    NCCL_PEER,
    NCCL_N_RANKS,
    NCCL_RANK,
    N_NCCL_FIELDS
} nsight_nccl_field;

typedef struct {
    int64_t v[N_NCCL_FIELDS]; /* ABSENT_I64: unknown */
} nccl_payload;

/* Where a number is in payloads of a schema. */
typedef struct {
    int64_t schema;
    uint32_t offset;
    uint8_t width, what; /* what: nsight_nccl_field */
} payload_field;

typedef struct {
    int64_t n_ranks, rank;
} nccl_group;

typedef struct {
    int64_t thread, start, bytes, peer, communicator;
    uint32_t name; /* string id */
} nccl_call;

typedef struct {
    uint64_t slice;           /* in the part */
    int64_t thread, launched; /* of its launch; thread ABSENT_I64: not recorded */
    uint32_t before;          /* another one of the same launch, UINT32_MAX: none */
} nccl_kernel;

typedef struct {
    int64_t node, original, thread, start;
} graph_node;

typedef struct {
    int64_t thread, start, end, correlation;
} graph_call;

typedef struct {
    database *db;
    builder *b;
    part *part;
    intern *strings;
    map names;             /* id of StringIds → string id */
    map clean;             /* string id → string id as others write it */
    map pid_map;           /* globalPid → processes */
    vec processes;         /* process_row */
    map stream_map;        /* process, device, context, stream → streams */
    vec streams;           /* stream_row */
    map first_user;        /* device → streams: those whose numbers are unique */
    map gpu_map;           /* process, its number of a GPU → gpu id */
    vec gpus;              /* gpu_row */
    map thread_map;        /* globalTid → track */
    map domain_map;        /* process, domain → domains */
    vec domains;           /* domain_row */
    const char *call_word; /* category of the last call */
    uint16_t call_category;
    uint16_t plain_category; /* of ranges without a domain; 0: not asked for yet */
    map metric_map;          /* type and number of a counter → string id */
    vec payload_fields;      /* payload_field */
    map nccl_group_map;      /* communicator → nccl_groups */
    vec nccl_groups;         /* nccl_group */
    vec nccl_calls;          /* nccl_call */
    vec nccl_kernels;        /* nccl_kernel */
    map nccl_launches;       /* correlation → the last of its nccl_kernels */
    vec nodes;               /* graph_node */
    map node_map;            /* number of a node → nodes */
    vec graph_calls;         /* graph_call, when there are nodes */
    int64_t process;         /* whose rows are read, 0: those of all */
    vec workers;             /* int64_t: the processes that are read apart */
    bool takes_rest;         /* it is the first of them: what is of none of them is its */
    int64_t end_ns;          /* of the last event that has one */
    bool torch;              /* PyTorch's operators are among the ranges */
    bool failed;             /* out of memory */
} reader;

/* One table; its rows go to `take` with the reader as context. */
status nsight_table(reader *r, const char *table, const char *const *columns, size_t n,
                    db_row_function *take, error *err) MUST_USE;

/* ---- nsight_names.c ---- */

uint32_t nsight_string(reader *r, str s);
/* Text of StringIds; 0: there is none. */
uint32_t nsight_name(const reader *r, int64_t id);
/* A kernel's name in the spelling of other profilers. */
uint32_t nsight_kernel_name(reader *r, uint32_t name);
/* "cudaLaunchKernel_v7000" → "cudaLaunchKernel" */
uint32_t nsight_call_name(reader *r, uint32_t name);
status nsight_read_names(reader *r, error *err) MUST_USE;

/* ---- nsight_tracks.c ---- */

/* Number of the process in the file, from 0; -1 when out of memory. */
int64_t nsight_process(reader *r, int64_t global);
ident nsight_pid(reader *r, int64_t global);
/* A correlation id that is one in the file: theirs are in a process. */
int64_t nsight_correlation(reader *r, int64_t global, int64_t id);
uint32_t nsight_thread(reader *r, int64_t global_tid);
int32_t nsight_device(reader *r, int64_t global, int64_t device);
uint32_t nsight_stream(reader *r, int64_t global, int32_t device, int64_t context,
                       int64_t stream);
/* A row of a device for what is not on a stream. */
uint32_t nsight_device_row(reader *r, int32_t device, str name);
status nsight_label_tracks(reader *r, error *err) MUST_USE;
/* Start and duration from two columns; false, and counted, when they are none. */
bool nsight_time(reader *r, db_rows *row, int start, int end, raw_slice *out);

static inline int64_t nsight_global_pid(int64_t global_tid) {
    return global_tid & ~(int64_t)0xffffff;
}

/* ---- nsight_processes.c ---- */

status nsight_list_processes(database *db, vec *out, error *err) MUST_USE;
status nsight_choose_process(reader *r, int64_t process, error *err) MUST_USE;
/* Is a row of this process (a global id of it or of a thread) to be read? */
bool nsight_is_mine(const reader *r, int64_t global);

/* ---- nsight_nccl.c ---- */

status nsight_read_payloads(reader *r, error *err) MUST_USE;
/* A communicator as text, a string id. */
uint32_t nsight_communicator(reader *r, int64_t communicator);
/* False: it is none of NCCL's. */
bool nsight_payload(const reader *r, str data, nccl_payload *out);
status nsight_nccl_range(reader *r, int64_t thread, int64_t start, uint32_t name,
                         const nccl_payload *p) MUST_USE;
/* Before part_slice of a kernel. */
status nsight_nccl_kernel(reader *r, str name, int64_t correlation) MUST_USE;
void nsight_nccl_launch(reader *r, int64_t correlation, int64_t thread, int64_t start);
status nsight_join_nccl(reader *r, error *err) MUST_USE;

/* ---- nsight_graphs.c ---- */

status nsight_read_nodes(reader *r, error *err) MUST_USE;
status nsight_graph_call(reader *r, int64_t thread, const raw_slice *s,
                         int64_t correlation) MUST_USE;
status nsight_join_nodes(reader *r, error *err) MUST_USE;

/* ---- the tables ---- */

status nsight_read_facts(reader *r, error *err) MUST_USE;   /* nsight_facts.c */
status nsight_read_metrics(reader *r, error *err) MUST_USE; /* nsight_facts.c */
status nsight_name_unread(reader *r, error *err) MUST_USE;  /* nsight_facts.c */
status nsight_read_devices(reader *r, error *err) MUST_USE; /* nsight_device.c */
status nsight_read_calls(reader *r, error *err) MUST_USE;   /* nsight_calls.c */
status nsight_read_domains(reader *r, error *err) MUST_USE; /* nsight_nvtx.c */
status nsight_read_ranges(reader *r, error *err) MUST_USE;  /* nsight_nvtx.c */
status nsight_put_fact(reader *r, const char *key, str value, error *err) MUST_USE;

#endif
