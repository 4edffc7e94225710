/* advice_claims.c: every moment of a step can be saved once.
 *
 * A rule that estimates a saving claims moments: gaps of the device, data loading, exposed
 * communication, copies. What a rule before it has claimed it cannot save again; its saving
 * shrinks in proportion. Rules about slow kernels save a part of the kernels' time and share
 * one amount, and so do those about the interval before the forward pass, and of a run's
 * summaries, which have no moments, those about exposed communication. What has no moments of
 * its own (long steps) gets what is left of the step. */
#include "analyse/advise/advice.h"

/* ---- moments ----------------------------------------------------------------------------- */

/* The sort that claims what a blocking call cost. */
static claim_sort claim_of_block(block_sort sort) {
    static const claim_sort claims[] = {[BLOCK_OTHER] = CLAIM_BLOCKED,
                                        [BLOCK_COPY] = CLAIM_COPIES,
                                        [BLOCK_ITEM] = CLAIM_ITEM,
                                        [BLOCK_VALUE] = CLAIM_VALUE};
    return claims[sort];
}

/* Does it claim an idle piece? */
static bool takes_piece(const advice_facts *f, claim_sort sort, const idle_piece *p) {
    if (p->cause == IDLE_BLOCKED) return claim_of_block(advice_block_sort(f, p->slice)) == sort;
    if (sort == CLAIM_LATE) return p->cause == IDLE_HOST_LATE;
    if (sort == CLAIM_DEPENDENCY)
        return p->cause == IDLE_DEPENDENCY && !idle_piece_is_between(p);
    return sort == CLAIM_SMALL_KERNELS && p->after &&
           (p->cause == IDLE_HOST_LATE || idle_piece_is_between(p)) &&
           f->t->slice.dur[f->t->kernel.slice[p->after]] < SMALL_KERNEL_NS;
}

static void add_gaps(const advice_facts *f, claim_sort sort, bool late_too, intervals *out) {
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_piece *p = &f->idle.v[i];
        if (takes_piece(f, sort, p) || (late_too && takes_piece(f, CLAIM_LATE, p)))
            intervals_add(out, p->range.start, p->range.end);
    }
    intervals_merge(out);
    const intervals *taken[N_TAKEN];
    advice_taken(f, taken);
    for (int i = 0; i < N_TAKEN; i++)
        if (taken[i]) *out = intervals_minus(out, taken[i]);
}

static void add_all(const intervals *from, intervals *out) {
    for (size_t i = 0; i < from->n; i++) intervals_add(out, from->v[i].start, from->v[i].end);
    out->failed |= from->failed;
    intervals_merge(out);
}

/* Gaps while the host was in the optimizer, and its kernels. */
static void add_optimizer(const advice_facts *f, intervals *out) {
    intervals gaps = intervals_in(f->arena), stages = intervals_in(f->arena);
    for (size_t i = 0; i < f->idle.n; i++)
        if (f->idle.v[i].cause != IDLE_COMMUNICATION)
            intervals_add(&gaps, f->idle.v[i].range.start, f->idle.v[i].range.end);
    for (size_t i = 0; i < f->stages.n; i++)
        if (f->stages.v[i].stage == STAGE_OPTIMIZER)
            intervals_add(&stages, f->stages.v[i].range.start, f->stages.v[i].range.end);
    intervals_merge(&gaps);
    intervals_merge(&stages);
    intervals inside = intervals_and(&gaps, &stages);
    add_all(&inside, out);
    add_all(&f->optimizer_at, out);
}

/* Loading while nothing of a higher rank in the breakdown ran. */
static void add_loading(const advice_facts *f, intervals *out) {
    intervals left = f->ranges.at[ROLE_DATA_LOADER];
    for (int r = 0; r < ROLE_DATA_LOADER; r++) left = intervals_minus(&left, &f->ranges.at[r]);
    add_all(&left, out);
}

static intervals moments_of(const advice_facts *f, const advice_claim *v,
                            const intervals *steps) {
    claim_sort sort = v->sort;
    intervals out = intervals_in(f->arena);
    switch (sort) {
    case CLAIM_LOADING: add_loading(f, &out); break;
    case CLAIM_LINE: add_all(&f->line.at, &out); break;
    case CLAIM_LOAD_PAUSES: add_all(&f->load_pause.at, &out); break;
    case CLAIM_PAUSES: add_all(&f->pause.at, &out); break;
    case CLAIM_OPTIMIZER: add_optimizer(f, &out); break;
    case CLAIM_PAGEABLE: add_all(&f->pageable.at, &out); break;
    case CLAIM_TRANSFER: add_all(&f->transfer.at, &out); break;
    case CLAIM_ALLOCATOR: add_all(&f->allocator_at, &out); break;
    case CLAIM_EXPOSED_FIRST:
    case CLAIM_EXPOSED:
    case CLAIM_STAGES: add_all(&f->ranges.exposed, &out); break;
    default: add_gaps(f, sort, v->advice->holds_back, &out);
    }
    if (sort == CLAIM_COPIES) add_all(&f->copy_at, &out);
    return intervals_and(&out, steps);
}

/* ---- settling ---------------------------------------------------------------------------- */

typedef struct {
    intervals moments;
    int64_t kernels, interval, exposed; /* left of the average step's */
    const char *kernels_by, *interval_by, *exposed_by;
    int64_t left;      /* of the step */
    const char *first; /* that claimed any of it */
} claimed_time;

static bool claims_moments(const advice_claim *v) {
    return v->sort >= CLAIM_EXPOSED_FIRST && v->advice->saves != ABSENT_I64;
}

/* The first of those before it that claims some of the same moments. */
static const char *first_claimer(const advice_claim *v, uint32_t at) {
    for (uint32_t i = 0; i < at; i++) {
        if (!claims_moments(&v[i])) continue;
        intervals shared = intervals_and(&v[i].moments, &v[at].moments);
        if (intervals_ns(&shared) > 0) return v[i].id;
    }
    return NULL;
}

static status claim_moments(advice_claim *v, uint32_t at, claimed_time *c, error *err) {
    advice *a = v[at].advice;
    const intervals *own = &v[at].moments;
    intervals left = intervals_minus(own, &c->moments);
    int64_t size = intervals_ns(own), rest = intervals_ns(&left);
    if (own->failed || left.failed) FAIL_MEMORY(err);
    if (size <= 0) return OK; /* of a run's summaries: nothing to compare with */
    if (rest < size) {
        v[at].included_in = first_claimer(v, at);
        a->saves = advice_ns((double)a->saves * ((double)rest / (double)size));
    }
    /* What it does not save, a later rule may. */
    if (a->saves > 0 || rest < size) add_all(own, &c->moments);
    if (c->moments.failed) FAIL_MEMORY(err);
    return OK;
}

static void find_moments(const advice_facts *f, advice_claim *v, uint32_t n) {
    intervals steps = step_moments(&f->steps, f->arena);
    for (uint32_t i = 0; i < n; i++)
        if (claims_moments(&v[i])) v[i].moments = moments_of(f, &v[i], &steps);
}

static void claim_amount(advice_claim *v, int64_t *left, const char **by) {
    if (v->advice->saves > *left) {
        v->included_in = *by;
        v->advice->saves = max_i64(0, *left);
    }
    *left = sub_i64(*left, v->advice->saves);
    if (!*by) *by = v->id;
}

/* Time of the host alone: a device that has so much to do would be busy all the same. */
static bool is_of_host(claim_sort sort) {
    return sort >= CLAIM_ALLOCATOR || sort == CLAIM_LOADING;
}

static void claim_idle(const advice_facts *f, advice_claim *v) {
    int64_t idle = max_i64(0, sub_i64(advice_saved_step_ns(f), f->busy_ns));
    if (f->has & NEED_DEVICE && !f->run && is_of_host(v->sort))
        v->advice->saves = min_i64(v->advice->saves, idle);
}

/* For a run each rule has the mean saving of the workers it holds for, and not all hold for the
 * same workers: savings that add up to more than the step belong to the first rules. */
static void claim_rest(advice_claim *v, claimed_time *c) {
    if (v->advice->saves > c->left) {
        v->advice->saves = max_i64(0, c->left);
        if (!v->included_in) v->included_in = c->first;
    }
    if (!c->first) c->first = v->id;
}

static bool is_exposed(const advice_claim *v) {
    return v->sort == CLAIM_EXPOSED_FIRST || v->sort == CLAIM_EXPOSED;
}

status advice_claims_settle(const advice_facts *f, advice_claim *v, uint32_t n, error *err) {
    claimed_time c = {.moments = intervals_in(f->arena),
                      .kernels = f->run ? f->step_ns : f->part_ns[ROLE_KERNEL],
                      .interval = 0,
                      .left = advice_saved_step_ns(f)};
    find_moments(f, v, n);
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].sort == CLAIM_INTERVAL) c.interval = max_i64(c.interval, v[i].advice->saves);
        if (is_exposed(&v[i])) c.exposed = max_i64(c.exposed, v[i].advice->saves);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].advice->saves == ABSENT_I64) continue;
        claim_idle(f, &v[i]);
        if (claims_moments(&v[i])) TRY(claim_moments(v, i, &c, err));
        if (v[i].sort == CLAIM_KERNELS) claim_amount(&v[i], &c.kernels, &c.kernels_by);
        if (v[i].sort == CLAIM_INTERVAL) claim_amount(&v[i], &c.interval, &c.interval_by);
        if (f->run && is_exposed(&v[i])) claim_amount(&v[i], &c.exposed, &c.exposed_by);
        claim_rest(&v[i], &c);
        c.left = sub_i64(c.left, v[i].advice->saves);
    }
    return OK;
}
