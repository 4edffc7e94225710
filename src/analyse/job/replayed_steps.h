/* replayed_steps.h: the answer of `whatif` from replays, of one rank or of all together: steps
 * as recorded, replayed as they are, and with changes; tables and verdict.
 *
 * Lengths are medians of the steps, as everywhere, unless the steps differ (typical_step.h):
 * halving the long ones would leave the median as it is. There they are means. */
#ifndef ANALYSE_REPLAYED_STEPS_H
#define ANALYSE_REPLAYED_STEPS_H

#include "analyse/rows.h"
#include "base/sort.h"

typedef struct {
    uint32_t n, n_changes;
    uint32_t n_ranks; /* replayed together; 0: it is about one */
    int64_t *number, *recorded_ns, *replayed_ns, *changed_ns; /* by step */
    int64_t *ranged_ns;                                       /* room */
    sort_pair *pairs, *scratch;
    int64_t recorded, changed; /* lengths of the last row: medians, or means of all steps */
    bool uneven;               /* means */
    int64_t median_recorded, median_changed;
    int64_t least, most; /* that `changed` may really be; 0: nothing in it is an estimate */
} replayed_steps;

/* Who replays. */
typedef struct {
    void *of;
    /* With these changes, one bit each: the length of every step. */
    void (*run)(void *of, uint64_t changes, int64_t *out_ns);
    str (*text)(const void *of, uint32_t change);
    /* What a change touches, in a row of the table whatif. */
    void (*set_matched)(const void *of, row_whatif_whatif *row, uint32_t change);
    /* Replays from here on take the estimated cost of recording times this. */
    void (*set_recording)(void *of, double times);
    uint64_t estimated; /* bits of the changes that are based on that estimate */
} step_replayer;

/* The caller fills in number and recorded_ns. */
status replayed_steps_init(replayed_steps *r, uint32_t n_steps, arena *a, error *err) MUST_USE;
/* Replays as recorded, each change alone and all together; the tables whatif and steps. */
status replayed_steps_write(replayed_steps *r, const step_replayer *by, answer *out, arena *a,
                            error *err) MUST_USE;
/* How far the replay without a change is from the recording, of the worst step. */
double replayed_steps_error(const replayed_steps *r);
/* Says so where the answer is of means. */
status replayed_steps_note(const replayed_steps *r, arena *a, answer *out, error *err) MUST_USE;
void replayed_steps_judge(const replayed_steps *r, verdict *v);

#endif
