/* host_doing.h: what a thread of the host did in a stretch of time.
 *
 * The stretch is cut where the innermost recorded event changes. Every piece is what that event
 * says: a call of the runtime by what it does, else the operator, else a frame or range outside
 * of operators. Pieces are adjacent and add up to the stretch. */
#ifndef ANALYSE_HOST_DOING_H
#define ANALYSE_HOST_DOING_H

#include "analyse/intervals.h"
#include "analyse/select.h"

typedef enum {
    DOING_PYTHON,    /* outside of operators and calls: Python, the framework */
    DOING_OPERATOR,  /* in an operator, outside of calls */
    DOING_ALLOCATOR, /* a call that allocates or frees */
    DOING_LAUNCH,    /* a call that launches or copies */
    DOING_CALL,      /* any other call of the runtime */
    DOING_SYNC,      /* a call that waits for the device */
    DOING_GARBAGE,   /* Python's collector of garbage */
    DOING_LOCK,      /* Python waits for a lock */
    DOING_COMPILER,  /* a program is compiled */
    DOING_IMPORT,    /* a module of Python is imported */
    N_DOINGS,
} host_doing;

typedef struct {
    interval range;
    int64_t longest_ns; /* of the part that `slice` is of */
    uint32_t slice;     /* call, operator or frame; 0: nothing is recorded there */
    uint32_t op;        /* operator around it, 0: none */
    uint8_t doing;
    bool active; /* an operator or a call, not only a frame or a range */
} host_piece;

/* What an event and those around it say. */
typedef struct {
    uint32_t slice;           /* the innermost */
    uint32_t call, frame, op; /* the call the program made, the innermost frame, the operator */
} host_place;

enum { MOST_PLACES = 64 };

typedef struct {
    const trace *t;
    arena *arena;
    bool coarse; /* only calls that wait are cut out: others are one piece */
    uint8_t
        *means; /* by string: host_doing + 1 of a call or a frame of this name; 0: not known */
    uint32_t *blocking; /* calls that wait for the device, by thread, then start */
    size_t n_blocking;
    uint32_t *cursor; /* by track: the first event that the next question may start at */
    host_place open[MOST_PLACES]; /* of the events around the walk, innermost last */
    uint32_t n_open;
    host_piece *v; /* of the last question */
    size_t n, cap;
} host_view;

status host_view_init(host_view *h, const trace *t, arena *a, error *err) MUST_USE;
/* Questions about earlier times may follow. */
void host_view_rewind(host_view *h);
/* Cuts a stretch of a thread; h->v is valid until the next call. Stretches of a thread
 * ascend. */
status host_view_cut(host_view *h, uint32_t track, interval range, error *err) MUST_USE;
/* Does any call of the thread that waits for the device reach into the stretch? */
bool host_view_blocks(const host_view *h, uint32_t track, interval range);
/* What an event and those around it say; `range` stays empty. */
host_piece host_view_at(host_view *h, uint32_t slice);

#endif
