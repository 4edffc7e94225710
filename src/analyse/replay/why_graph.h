/* why_graph.h: what of a recording had to wait for what: the graph that explains a step's
 * length.
 *
 *   host     ▐launch a▌──gap──▐launch b▌──gap──▐ synchronize ▌──gap──| next step
 *              └latency┐          └──────┐           ↑
 *   device             ▐──── a ────▌─gap─▐──── b ────▌
 *
 * A point is a moment at which host and device touch: a call that launches work, a call that
 * waits for it, the mark at the start or end of a step; and the start and the end of a
 * collective of the host, where ranks touch. A point follows one other point; the time from
 * that one's end is host time. Work follows its launch, the work before it on its stream and,
 * where it seems to have waited for one, work of another stream.
 *
 * Where the recording does not say what something waited for, the graph assumes it and counts
 * that (why_graph.assumed). Everything that a node depends on comes before it in `events`, so
 * that the times of nodes can be computed in one pass. */
#ifndef ANALYSE_WHY_GRAPH_H
#define ANALYSE_WHY_GRAPH_H

#include "analyse/steps/step_spans.h"

/* A collective on the host has two points without a length, where its thread enters it and
 * where it leaves it; so has data loading, where a thread that works ahead is recorded. */
typedef enum { POINT_LAUNCH, POINT_BLOCK, POINT_MARK, POINT_ENTER, POINT_LEAVE } why_point_kind;

typedef struct {
    int64_t start, end;
    int64_t active_from, active_until; /* of its thread without a pause, around the point */
    uint32_t slice;                    /* the call; 0: a mark */
    uint32_t track;                    /* 0: a mark that nothing on a thread stands for */
    uint32_t before;                   /* the point it follows, 0: none */
    uint32_t waits;                    /* work (row of table kernel) it waited for, 0: none */
    union {            /* of POINT_ENTER and POINT_LEAVE `fetched`, of all others `copy` */
        uint32_t copy; /* that it launched and stayed in until it was about done, 0: none */
        uint32_t fetched;
    };
    uint8_t kind;
    bool handed_over; /* `before` is a point of another thread */
} why_point;

/* By row of table kernel. */
typedef struct {
    int64_t latency_ns; /* from the start of the launch */
    int64_t gap_ns;     /* from the end of the work before it */
    uint32_t point;     /* 0: its launch is not known */
    uint32_t before;    /* on its stream, 0: none */
    uint32_t other;     /* of another stream, 0: none */
    uint32_t step;      /* index of the step it was launched in, + 1; 0: of none */
    bool queued;        /* it waited for the work before it */
} why_work;

typedef struct {
    int64_t number;
    uint32_t start, end; /* marks */
    int64_t start_ns,
        end_ns;         /* recorded; from the end of the device's work of the step before */
    uint32_t last_work; /* the work launched in it that ends last; 0: none */
} why_step;

enum { WAIT_CALL_NS = 5000 }; /* a call that does not have to wait takes at most this long */

typedef enum { EVENT_END, EVENT_BEGIN, EVENT_WORK } why_event;

/* How often the graph had to assume something. */
typedef struct {
    int64_t no_launch, typical_latency, hand_over, other_stream, queue_full;
    int64_t by_time; /* works whose step is known by their time alone */
    int64_t
        workers; /* batches of processes that are not recorded: waiting is the thread's own */
    int64_t fetched; /* batches that were waited for, by the time at which they were ready */
    int64_t
        queued; /* batches that a loader began when another thread had taken or loaded one */
} why_assumed;

enum { MOST_OP_THREADS = 64 };

typedef struct {
    const trace *t;
    why_point *points; /* from 1 */
    why_work *works;   /* from 1 */
    uint32_t *events;  /* in recorded order; why_event_kind, why_event_row */
    why_step *steps;
    uint32_t n_points, n_works, n_events, n_steps;
    uint32_t earlier;   /* of the works from before the first step the latest to end; 0: none */
    int64_t held_until; /* step_spans.h */
    uint32_t first_mark;                  /* points from here on are marks, by time */
    int64_t latency_ns;                   /* typical: of work whose stream was empty */
    int64_t gap_ns;                       /* typical: between two pieces of queued work */
    int64_t launch_ns;                    /* typical: of the call itself */
    uint32_t op_threads[MOST_OP_THREADS]; /* threads with operators, the first ones */
    uint32_t n_op_threads;
    uint32_t main_thread; /* that has most operators; 0: there are none */
    why_assumed assumed;
} why_graph;

static inline why_event why_event_kind(uint32_t event) {
    return (why_event)(event >> 30);
}
static inline uint32_t why_event_row(uint32_t event) {
    return event & 0x3fffffff;
}
/* When the device is done with what came before the first step; `earlier_end`: when with what
 * is recorded of that. */
static inline int64_t why_done_before(const why_graph *g, int64_t earlier_end) {
    return earlier_end > g->held_until ? earlier_end : g->held_until;
}
static inline bool why_is_range(const why_point *p) {
    return p->kind == POINT_ENTER || p->kind == POINT_LEAVE;
}
/* What came through a queue of a data loader while the thread waited for it, as the point of
 * the thread that put it there; 0: it waited for nothing. At the end of data loading a batch;
 * where a loader begins: the order for a batch, or the batch that another process has
 * loaded. */
static inline uint32_t why_fetched(const why_point *p) {
    return why_is_range(p) ? p->fetched : 0;
}
static inline uint32_t why_copy(const why_point *p) {
    return why_is_range(p) ? 0 : p->copy;
}
static inline int64_t why_work_start(const why_graph *g, uint32_t k) {
    return g->t->slice.start[g->t->kernel.slice[k]];
}
static inline int64_t why_work_end(const why_graph *g, uint32_t k) {
    return slice_end(g->t, g->t->kernel.slice[k]);
}

/* Work that nothing launched stays where it is whatever changes: is there too much of it? */
static inline bool why_lacks_launches(const why_graph *g) {
    return mul_i64(g->assumed.no_launch, 20) > g->n_works;
}

/* What the graph reads; for trace_require. */
#define WHY_TABLES (SELECT_TABLES | TRACE_TABLE(track) | TRACE_TABLE(op) | TRACE_TABLE(comm))

/* `steps` are those it is about. Linear but for sorting by time; allocates in `a`. */
status why_graph_make(const trace *t, const step_spans *steps, arena *a, why_graph *out,
                      error *err) MUST_USE;

void why_assumed_add(why_assumed *to, const why_assumed *from);
/* A sentence of the answer: what the graph had to assume. */
status why_graph_note(const why_graph *g, arena *a, answer *out, error *err) MUST_USE;

/* Does a slice of this kind mean that its thread is busy? Ranges around work do not: inside one
 * a thread may wait for another. */
static inline bool why_is_active(uint8_t kind) {
    return kind == KIND_OP || kind_is_call(kind) || kind == KIND_DATA ||
           kind == KIND_COLLECTIVE;
}

#endif
