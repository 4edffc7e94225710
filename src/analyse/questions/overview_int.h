/* overview_int.h: what the parts of the overview share. */
#pragma once

#include "analyse/device/breakdown.h"
#include "analyse/run/advice_workers.h"
#include "analyse/steps/stage_times.h"
#include "analyse/vendor/untraced_steps.h"

#define COL_O(table, name) COL(overview, table, name)

/* Everything the rules of the verdict look at. */
typedef struct {
    bool has_device;
    bool only_device;      /* nothing of the host was recorded */
    bool only_timed;       /* of no step more than its step trace is known */
    double share[N_ROLES]; /* of the average step */
    double busy;           /* share of it in which a device did anything */
    double exposed;        /* share of exposed communication in it (exposed.h) */
    bool no_launches;      /* there is device work, and no launch of any of it, or of what
                              most of the idle time comes before */
    uint32_t n_devices;    /* with work */
    bool one_is_idle;      /* one of several does far less than another: */
    int32_t idlest;        /* its number, and how busy it is */
    double idlest_busy;
    double dependency; /* share in which launched work waited (idle_causes.h) */
    int64_t step_ns;
    str device;         /* what it is called */
    str unused;         /* a device that is there and did nothing; may be empty */
    advice_cause cause; /* what costs most: the first row of `advise` */
} overview_facts;

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    answer *out;
    step_spans steps;
    step_spans with_ops; /* of them those whose operators were recorded */
    step_parts *parts;
    untraced_steps bare;
    stage_times stages;
    table *uses; /* `in_use`, filled by what the cause found */
    role_ranges ranges;
    int64_t device_ns, exposed_ns; /* in the steps that count: devices work; exposed.h */
    bool evidence;                 /* asked for: where each part of a step costs most */
} overview;

/* Of no step more than its step trace is known. */
static inline bool overview_is_bare(const overview *o) {
    return o->bare.n && o->bare.n == o->steps.n;
}

/* Is the work of step i recorded, on the device and on the host, or is there nothing better? */
static inline bool overview_counts(const overview *o, uint32_t i) {
    bool some_have_ops = o->with_ops.n < o->steps.n;
    return untraced_step_counts(&o->bare, &o->steps, i) &&
           !(some_have_ops && o->steps.v[i].without_ops);
}

/* overview_verdict.c: the sentence. Each includes the rule of `advise` for its time and what
 * that saves; the rule is named in words where the sentence has none for it. */
void overview_add_cause(const overview_facts *f, verdict *v);
status overview_judge(overview *o, overview_facts *facts, error *err);

/* overview_stages.c: tables stages and stage_steps, then stage_events, then user_events. */
status overview_write_stages(overview *o, error *err);
status overview_write_stage_events(overview *o, error *err);
status overview_write_user_events(overview *o, error *err);

/* overview_basis.c: what the averages leave out, what of the host was not recorded, and what is
 * known of the run. */
status overview_note_left_out(overview *o, error *err);
status overview_note_coverage(overview *o, error *err);
status overview_write_configuration(overview *o, uint32_t n_workers, error *err);
/* The step without the profiler, as a table and a note; empty where it is not known. */
status overview_write_unprofiled(overview *o, const advice_cause *of, error *err);
