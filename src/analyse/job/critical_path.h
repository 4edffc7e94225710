/* critical_path.h: the critical path of a step: one chain of pieces from its end back to its
 * start.
 *
 * From the end of the step the walk goes to what the end waited for, from there to what that
 * waited for, and so on (why_graph.h). Pieces are adjacent and add up to the step. Where the
 * recording does not say what something waited for, the rest of the step is one unknown
 * piece. */
#ifndef ANALYSE_CRITICAL_PATH_H
#define ANALYSE_CRITICAL_PATH_H

#include "analyse/job/job_graph.h"

typedef enum {
    PATH_DEVICE,        /* a kernel */
    PATH_COPY,          /* a copy or memset on the device */
    PATH_COMMUNICATION, /* a collective */
    PATH_QUEUE,         /* between two pieces of work on the device */
    PATH_LATENCY,       /* from the call that launches to the start of its work */
    PATH_CALL,          /* in a call of the runtime that launches */
    PATH_SYNC,          /* in a call that waits, after what it waited for was done */
    PATH_OPERATOR,      /* the host in an operator */
    PATH_DATA,          /* the host loads data */
    PATH_BETWEEN,       /* the host outside of operators: Python, the framework, a lock */
    PATH_UNKNOWN,
    N_PATH_KINDS
} path_kind;

typedef struct {
    int64_t start, end;
    uint32_t slice; /* what it is part of, or what it comes before; 0: nothing */
    uint16_t rank;  /* of a job: place in job_graph.ranks */
    uint8_t kind;
} path_piece;

/* A part of a stretch of a thread: inside an operator or data loading, or in none (slice 0). */
typedef struct {
    int64_t start;
    uint32_t slice;
} host_part;

typedef struct {
    host_part *v;
    size_t cap;
} path_parts;

typedef struct {
    path_piece *v; /* of one step, from its start */
    size_t n, cap;
    path_parts parts, joined; /* room of the walk */
} path_pieces;

/* The word of tables: "device", "communication", … */
str path_kind_name(path_kind k);
/* PATH_DEVICE, PATH_COPY or PATH_COMMUNICATION. */
path_kind path_kind_of_work(comm_names *names, uint32_t work);

/* The path of step `i`; `out` is used again for the next one. */
status critical_path_find(const why_graph *g, comm_names *names, uint32_t i, arena *a,
                          path_pieces *out, error *err) MUST_USE;
/* The path of step `i` of a job, from rank to rank where they meet. Times are the job's. */
status critical_path_of_job(const job_graph *jg, uint32_t i, arena *a, path_pieces *out,
                            error *err) MUST_USE;

#endif
