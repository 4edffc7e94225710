/* fit_model.h: how much memory a program would take with another batch or length.
 *
 * Every block of a recording has a law for its size (size_model.h), learned from the same block
 * of a second recording (alloc_sites.h), or assumed from the shapes of its operator. The events
 * are then replayed in their order with the new sizes, through an allocator
 * (caching_allocator.h).
 *
 * What is not exact has a doubt, and the range of the answer says how much it matters:
 *
 *   assumed    one recording only: the shapes of the operator say how it grows
 *   guessed    not even those: as if it grew with batch and length, or not at all
 *   unmatched  the second recording does not have this block
 *   varies     the recording itself has two sizes for it, in steps of the same batch
 *   older      allocated before the recording: as if it never changed */
#ifndef ANALYSE_FIT_MODEL_H
#define ANALYSE_FIT_MODEL_H

#include "analyse/fits/alloc_sites.h"
#include "analyse/fits/caching_allocator.h"
#include "analyse/fits/run_shapes.h"
#include "analyse/memory/memory_parts.h"

typedef enum {
    DOUBT_NONE,
    DOUBT_ASSUMED,
    DOUBT_GUESSED,
    DOUBT_UNMATCHED,
    DOUBT_VARIES,
    DOUBT_OLDER,
    N_FIT_DOUBTS
} fit_doubt;

/* One recording: its blocks on one device. */
typedef struct {
    memory_view view;
    memory_parts parts;
    alloc_sites sites;
    run_shapes shapes;
    uint32_t device;  /* row of view.devices; GROUP_NONE: no memory was recorded */
    int64_t older;    /* bytes that were allocated before the recording, in no row */
    int64_t grain;    /* sizes were recorded in steps of so many bytes */
    int64_t reserved; /* the most that was reserved; ABSENT_I64: not recorded */
} fit_run;

/* Finds the device that holds most; `view` must be initialized. */
status fit_run_init(fit_run *r, const trace *t, run_size given, const params *p, arena *a,
                    error *err) MUST_USE;

typedef struct {
    const fit_run *run;
    size_law *law;  /* by memory row that makes a block */
    uint8_t *doubt; /* likewise: fit_doubt */
    float *spread;  /* likewise: by what share its size varies */
    size_law older_law;
    uint32_t *rows; /* memory rows that make or release a block, in order */
    uint32_t n_rows, matched, blocks;
    uint32_t *held;      /* by memory row: scratch of a replay */
    double reserved_off; /* from fit_model_check: a share, for the range of all answers */
    arena *arena;
} fit_model;

/* `other`: a second recording, or NULL. */
status fit_model_learn(fit_model *f, const fit_run *run, const fit_run *other, arena *a,
                       error *err) MUST_USE;

typedef struct {
    run_size at;
    allocator_kind allocator;
    int64_t limit;
} fit_question;

typedef struct {
    int64_t allocated, reserved; /* the most at any moment */
    int64_t least, most;         /* range of `reserved` */
    uint32_t peak_row;           /* the event after which most was allocated */
    uint32_t retries;
    bool exhausted;
} fit_answer;

/* Once, for the allocator that is asked about. */
status fit_model_check(fit_model *f, allocator_kind kind, error *err) MUST_USE;
status fit_model_replay(fit_model *f, const fit_question *q, fit_answer *out,
                        error *err) MUST_USE;
/* The largest batch with which it fits into q->limit, at q->at.length; 0: none does,
 * INT64_MAX: any. */
status fit_model_largest(fit_model *f, const fit_question *q, int64_t *batch,
                         error *err) MUST_USE;

#endif
