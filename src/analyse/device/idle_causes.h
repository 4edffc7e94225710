/* idle_causes.h: why a device is idle, nanosecond by nanosecond.
 *
 * The one home of idle time: overview, idle, advise and the timeline's area ask it, and its
 * names of causes are the ones of every table, sentence and page. A device is idle while it
 * runs no kernel, copy or memset; a collective on the device is not computing. Every such
 * nanosecond inside the steps belongs to exactly one piece, and a piece has one cause. Which
 * one follows from the work that ends the gap:
 *
 *   host     ▐sync▌ Python ▐op ▐launch▌          data: loading ran on the host then
 *   device  ─▌····················|··▐─ work     blocked, host late: what the thread did that
 *            gap                launched         launched the work, up to the launch
 *
 *   host late      the work was launched inside the gap; `doing` says what its thread did, or
 *                  the thread that handed over to it while that one did nothing
 *   blocked        the thread was in a call that waits for the device. A call that began before
 *                  the gap also costs what the host would have been ahead without it
 *   dependency     the work was launched long before: it waited for another stream, or for the
 *                  device to go from one piece to the next
 *   data           data loading on the host, of a process that launches work
 *   communication  only a collective runs on the device, or one on the host
 *   profiler       the profiler recorded that it was busy itself
 *   unknown        the launch of the work was not recorded */
#ifndef ANALYSE_IDLE_CAUSES_H
#define ANALYSE_IDLE_CAUSES_H

#include "analyse/comm/comm_kind.h"
#include "analyse/device/host_doing.h"
#include "analyse/steps/step_spans.h"

typedef enum {
    IDLE_HOST_LATE,
    IDLE_BLOCKED,
    IDLE_DEPENDENCY,
    IDLE_DATA,
    IDLE_COMMUNICATION,
    IDLE_PROFILER,
    IDLE_UNKNOWN,
    N_IDLE_CAUSES,
} idle_cause;

/* More exactly; the first are those of host_doing.h. */
enum {
    DOING_LATENCY = N_DOINGS, /* launched, on its way to the device */
    DOING_LOADING_CODE,       /* the driver loads the code of a kernel */
    DOING_BETWEEN,            /* the device's own time from one piece to the next */
    DOING_STREAM,             /* work of another stream had to end first */
    DOING_OTHER,              /* the cause says it all */
    N_IDLE_DOINGS,
};

str idle_cause_name(idle_cause c);
str idle_doing_name(uint8_t doing);

typedef struct {
    interval range;
    int64_t longest_ns;     /* of the part that `slice` is of */
    uint32_t step;          /* index in the steps */
    uint32_t device;        /* index in idle_devices */
    uint32_t slice, op;     /* what ran meanwhile and the operator around it; 0: none */
    uint32_t before, after; /* rows of table kernel around the gap; 0: none */
    uint8_t cause, doing;
} idle_piece;

typedef struct {
    int32_t *id; /* ABSENT_I32: not recorded */
    uint32_t n;
} idle_devices;

/* `visit` gets the pieces of one device after the other, each by time. */
typedef struct {
    const trace *t;
    const step_spans *steps;
    arena *arena;
    bool together; /* all devices as one: idle is when none of them computes */
    bool coarse;   /* what the host did while it was late is one piece, with its longest part */
    bool no_communication; /* known: there is none in the steps */
    status (*visit)(void *context, const idle_piece *p, error *err);
    void *context;
} idle_causes_question;

/* What it reads; for trace_require. */
#define IDLE_CAUSES_TABLES \
    (SELECT_TABLES | TRACE_TABLE(track) | TRACE_TABLE(op) | TRACE_TABLE(comm))

/* Devices with work; only forged files have more. */
enum { MOST_IDLE_DEVICES = 256 };

status idle_causes_find(const idle_causes_question *q, idle_devices *out, error *err) MUST_USE;

/* The same as a list: all devices as one, coarse. */
typedef struct {
    idle_piece *v; /* by time */
    size_t n, cap;
    int64_t ns[N_IDLE_CAUSES]; /* sums over all pieces */
} idle_pieces;

/* `comm`: when there is communication in the steps; NULL: not known yet. */
status idle_pieces_find(const trace *t, const step_spans *steps, const intervals *comm,
                        arena *a, idle_pieces *out, error *err) MUST_USE;

static inline int64_t idle_piece_ns(const idle_piece *p) {
    return sub_i64(p->range.end, p->range.start);
}

/* Is it the device's own time from one queued piece of work to the next? It is a part of
 * IDLE_DEPENDENCY that no change to the dependencies of the program would save. */
static inline bool idle_piece_is_between(const idle_piece *p) {
    return p->cause == IDLE_DEPENDENCY && p->doing == DOING_BETWEEN;
}

#endif
