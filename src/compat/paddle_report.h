/* paddle_report.h: the numbers of Paddle's `Profiler.summary()`, for any trace.
 *
 * TOTAL is the length of the union of the steps over all threads. Times of a type of event are
 * unions over threads (streams); of operators, inner ranges, kernels and the user's ranges they
 * are sums. `kernel` counts kernels only, `work` copies and memsets as well, launched anywhere
 * inside. */
#ifndef ANALYSE_PADDLE_REPORT_H
#define ANALYSE_PADDLE_REPORT_H

#include "analyse/group.h"
#include "analyse/intervals.h"
#include "analyse/select.h"

/* Paddle's types of events, by its numbers. */
#define PADDLE_TYPES(X)    \
    X(Operator)            \
    X(Dataloader)          \
    X(ProfileStep)         \
    X(CudaRuntime)         \
    X(Kernel)              \
    X(Memcpy)              \
    X(Memset)              \
    X(UserDefined)         \
    X(OperatorInner)       \
    X(Forward)             \
    X(Backward)            \
    X(Optimization)        \
    X(Communication)       \
    X(PythonOp)            \
    X(PythonUserDefined)   \
    X(DygraphKernelLaunch) \
    X(StaticKernelLaunch)
typedef enum {
#define PADDLE_TYPE(name) TYPE_##name,
    PADDLE_TYPES(PADDLE_TYPE)
#undef PADDLE_TYPE
        N_PADDLE_TYPES
} paddle_type;
const char *paddle_type_name(paddle_type type);

typedef struct {
    int64_t total, max, min; /* ns */
} report_time;

/* Calls of one name. */
typedef struct {
    uint32_t thread, owner, name; /* key; owner: index of the row above, of its own table */
    bool is_inner_work;           /* device work of an inner range, not of the operator */
    int64_t calls;
    report_time host, kernel, work;
    double flops;
} report_item;

typedef struct {
    paddle_type type;
    int64_t calls, ns;
} report_type;

typedef struct {
    uint32_t device, name; /* key: index of the place; string id */
    bool reserved;
    int64_t allocations, releases, allocated, released;
} report_memory;

typedef struct {
    uint8_t type;
    int32_t id;
    str name; /* Place(gpu:0) */
    int64_t peak_allocated, peak_reserved;
} report_place;

typedef struct {
    int32_t device;
    str name; /* GPU0 */
    int64_t busy_ns;
} report_device;

typedef struct {
    const trace *t;
    int64_t total_ns;
    groups devices;                                         /* report_device, by number */
    report_type host[N_PADDLE_TYPES], work[N_PADDLE_TYPES]; /* in the order to print */
    uint32_t n_host, n_work;
    report_item stage[N_PADDLE_TYPES]; /* by type: step and stages, outermost only */
    int64_t communication_ns, computation_ns, overlap_ns;
    bool has_communication;
    groups threads; /* uint32_t: tracks */
    groups ops;     /* report_item; thread 0 unless asked for by thread */
    groups inner;   /* report_item: owner is the op */
    groups works;   /* report_item: owner is the op, or the inner range */
    groups kernels; /* report_item */
    groups copies;  /* report_item: ranges that move or set memory */
    groups users;   /* report_item: the user's ranges */
    groups places;  /* report_place */
    groups memory;  /* report_memory */
} paddle_report;

typedef struct {
    bool by_thread;
} report_options;

status paddle_report_make(const selection *s, report_options o, arena *a, paddle_report *out,
                          error *err) MUST_USE;

#endif
