/* line_of.h: the line of a program that runs at a moment of a thread.
 *
 * The one home of the notion: lines, critical, idle, memory and advise ask it. What is known of
 * a moment is a call stack, a row of table frame (0: not known). It is, in this order:
 *
 *   1. the innermost Python frame recorded as a range around the moment
 *   2. the stack written on the operator around it
 *   3. in the backward pass: the stack of the matching forward operator
 *   4. the sample of the thread that stands for the moment
 *
 * The line of a stack is its innermost frame in a file of the program itself; where there is
 * none, the innermost in an installed package; then one of Python's own files. Frames of native
 * code and modules are never the line. */
#ifndef ANALYSE_LINE_OF_H
#define ANALYSE_LINE_OF_H

#include "analyse/intervals.h"
#include "analyse/select.h"

/* Whose file a frame is in, from what says least to what says most. */
typedef enum { OWNER_UNKNOWN, OWNER_STDLIB, OWNER_PACKAGE, OWNER_OWN, N_OWNERS } line_owner;

typedef struct {
    const trace *t;
    bool has_lines;     /* false: nothing is known, all frames are 0 */
    uint32_t *frame_of; /* by slice: its stack without samples; NULL: there is none at all */
    bool *is_backward;  /* by slice: the stack is that of a forward operator; NULL: none */
    uint32_t *site_of;  /* by frame: the frame that is its line */
    uint8_t *owner;     /* by frame: line_owner */
    uint32_t main;      /* the thread whose time nothing else tells: the main thread of the
                         * process, else the one with most samples; 0: none */
} line_view;

/* What it reads; for trace_require. */
#define LINE_TABLES                                                              \
    (SELECT_TABLES | TRACE_TABLE(track) | TRACE_TABLE(op) | TRACE_TABLE(frame) | \
     TRACE_TABLE(flow) | TRACE_TABLE(sample) | TRACE_TABLE(module_call) | TRACE_TABLE(source))

/* Takes four bytes for each slice and a few for each frame. Valid while the trace is open and
 * until the arena is reset. */
status line_view_init(line_view *v, const trace *t, arena *a, error *err) MUST_USE;

/* The stack at the start of a slice of the host. */
uint32_t line_frame_of(const line_view *v, uint32_t slice);
/* The stack that device work (row of table kernel) was launched from; of work of a captured
 * graph that of its capture. */
uint32_t line_frame_of_work(const line_view *v, uint32_t work);
/* Is that work of the backward pass that belongs to a line of the forward pass? */
bool line_is_backward(const line_view *v, uint32_t work);

/* A stretch of a thread, cut where its stack changes. Pieces ascend and add up to the stretch;
 * `idle`: neither a slice nor a sample says that the thread did anything. */
typedef struct {
    interval range;
    uint32_t frame;
    bool idle;
} line_piece;

typedef struct {
    const line_view *view;
    status (*visit)(void *context, const line_piece *p, error *err);
    void *context;
} line_cutter;

status line_cut(const line_cutter *c, uint32_t track, interval range, error *err) MUST_USE;
/* The same where a slice is known to run through all of the stretch: only samples cut it. */
status line_cut_slice(const line_cutter *c, uint32_t slice, interval range,
                      error *err) MUST_USE;

/* The line of a stack: a row of table frame, 0: not known. */
static inline uint32_t line_site(const line_view *v, uint32_t frame) {
    return v->has_lines ? v->site_of[frame] : 0;
}
/* "own", "package", "stdlib", "unknown". */
str line_owner_name(uint8_t owner);
/* "save" of "train.py(88): save"; all of a name that has no file. */
str line_function(const trace *t, uint32_t frame);
/* "train.py:88": the file without its folders; {NULL, 0} when out of memory. */
str line_short(const trace *t, uint32_t frame, arena *a);
/* "torch.save(model, path)": what is written there, without blanks around it and cut where it
 * is long; empty when the source is not in the trace, {NULL, 0} when out of memory. */
str line_code(const trace *t, uint32_t frame, arena *a);

#endif
