/* advice_claims.c: every moment of a step can be saved once.
 *
 * A rule that estimates a saving claims moments: gaps of the device, data loading, exposed
 * communication, copies. What a rule before it has claimed it cannot save again; its saving shrinks
 * in proportion. Rules about slow kernels save a part of the kernels' time and share one amount, and
 * so do those about the interval before the forward pass. What has no moments of its own (long steps)
 * gets what is left of the step. */
#include "analyse/advice.h"

typedef enum { CLAIM_REST, CLAIM_MOMENTS, CLAIM_KERNELS, CLAIM_INTERVAL } claim_sort;

static const struct {
    const char *id;
    claim_sort sort;
} sorts[] = {
    {"data_loader_no_workers", CLAIM_MOMENTS},
    {"data_loader_slow", CLAIM_MOMENTS},
    {"host_late", CLAIM_MOMENTS},
    {"blocking_sync", CLAIM_MOMENTS},
    {"item_sync", CLAIM_MOMENTS},
    {"value_wait", CLAIM_MOMENTS},
    {"dependency_wait", CLAIM_MOMENTS},
    {"optimizer_not_fused", CLAIM_MOMENTS},
    {"small_kernels", CLAIM_MOMENTS},
    {"pageable_copies", CLAIM_MOMENTS},
    {"synchronous_copies", CLAIM_MOMENTS},
    {"allocator_calls", CLAIM_MOMENTS},
    {"nccl_missing", CLAIM_MOMENTS},
    {"communication_exposed", CLAIM_MOMENTS},
    {"straggler", CLAIM_MOMENTS},
    {"load_imbalance", CLAIM_MOMENTS},
    {"parallel_communication", CLAIM_MOMENTS},
    {"stage_receive", CLAIM_MOMENTS},
    {"stage_collective", CLAIM_MOMENTS},
    {"sm_efficiency_low", CLAIM_KERNELS},
    {"small_grid", CLAIM_KERNELS},
    {"occupancy_low", CLAIM_KERNELS},
    {"tensor_cores_unused", CLAIM_KERNELS},
    {"float32_matmul", CLAIM_KERNELS},
    {"odd_dimension", CLAIM_KERNELS},
    {"layout_conversion", CLAIM_KERNELS},
    {"step_interval", CLAIM_INTERVAL},
    {"host_queue_empty", CLAIM_INTERVAL},
    {"data_queue_empty", CLAIM_INTERVAL},
    {"pipeline_dataset", CLAIM_INTERVAL},
    {"pipeline_generator", CLAIM_INTERVAL},
    {"pipeline_map", CLAIM_INTERVAL},
    {"pipeline_batch", CLAIM_INTERVAL},
    {"pipeline_other", CLAIM_INTERVAL},
    {"interval_imbalance", CLAIM_INTERVAL},
};

static claim_sort sort_of(const char *id) {
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
        if (strcmp(sorts[i].id, id) == 0) return sorts[i].sort;
    return CLAIM_REST;
}

static bool is(const char *id, const char *other) {
    return strcmp(id, other) == 0;
}

/* ---- moments ----------------------------------------------------------------------------- */

/* Does the rule claim what a blocking call cost? */
static bool takes_blocked(const char *id, block_sort sort) {
    return is(id, sort == BLOCK_ITEM    ? "item_sync"
                  : sort == BLOCK_VALUE ? "value_wait"
                  : sort == BLOCK_COPY  ? "synchronous_copies"
                                        : "blocking_sync");
}

/* Does the rule claim what of a gap no blocking call cost? */
static bool takes_rest(const advice_facts *f, const char *id, const idle_gap *g) {
    if (is(id, "host_late")) return g->cause == IDLE_HOST;
    if (is(id, "dependency_wait")) return g->cause == IDLE_DEPENDENCY;
    return is(id, "small_kernels") && g->work &&
           (g->cause == IDLE_HOST || g->cause == IDLE_BETWEEN) &&
           f->t->slice.dur[f->t->kernel.slice[g->work]] < SMALL_KERNEL_NS;
}

/* The first part of a gap is what was blocked, the rest what was not. */
static void add_gaps(const advice_facts *f, const char *id, intervals *out) {
    for (size_t i = 0; i < f->idle.n; i++) {
        const idle_gap *g = &f->idle.v[i];
        int64_t split = min_i64(g->range.end, add_i64(g->range.start, g->blocked));
        if (g->blocked && takes_blocked(id, advice_block_sort(f->t, g->blocking)))
            intervals_add(out, g->range.start, split);
        if (takes_rest(f, id, g)) intervals_add(out, split, g->range.end);
    }
    intervals_merge(out);
    /* What the data loader or a collective on the host took of a gap is theirs. */
    *out = intervals_minus(out, &f->ranges.at[ROLE_DATA_LOADER]);
    *out = intervals_minus(out, &f->ranges.at[ROLE_COMMUNICATION]);
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

/* Loading while nothing of a higher rank in the breakdown went on. */
static void add_loading(const advice_facts *f, intervals *out) {
    intervals left = f->ranges.at[ROLE_DATA_LOADER];
    for (int r = 0; r < ROLE_DATA_LOADER; r++) left = intervals_minus(&left, &f->ranges.at[r]);
    add_all(&left, out);
}

static intervals moments_of(const advice_facts *f, const char *id) {
    intervals out = intervals_in(f->arena), steps = intervals_in(f->arena);
    for (uint32_t i = 0; i < f->steps.n; i++)
        intervals_add(&steps, f->steps.v[i].start, f->steps.v[i].end);
    intervals_merge(&steps);
    if (is(id, "data_loader_no_workers") || is(id, "data_loader_slow"))
        add_loading(f, &out);
    else if (is(id, "optimizer_not_fused"))
        add_optimizer(f, &out);
    else if (is(id, "pageable_copies"))
        add_all(&f->pageable_at, &out);
    else if (is(id, "allocator_calls"))
        add_all(&f->allocator_at, &out);
    else if (is(id, "nccl_missing") || is(id, "communication_exposed") || is(id, "straggler") ||
             is(id, "load_imbalance") || is(id, "parallel_communication") ||
             is(id, "stage_receive") || is(id, "stage_collective"))
        add_all(&f->ranges.exposed, &out);
    else
        add_gaps(f, id, &out);
    if (is(id, "synchronous_copies")) add_all(&f->copy_at, &out);
    return intervals_and(&out, &steps);
}

/* ---- settling ---------------------------------------------------------------------------- */

typedef struct {
    intervals moments;
    int64_t kernels, interval; /* left of the average step's */
    const char *kernels_by, *interval_by;
    int64_t left; /* of the step */
} claimed;

static const char *first_claimer(const advice_facts *f, const advice_claim *v, uint32_t n,
                                 const intervals *mine) {
    for (uint32_t i = 0; i < n; i++) {
        if (sort_of(v[i].id) != CLAIM_MOMENTS || v[i].advice->saves == ABSENT_I64) continue;
        intervals other = moments_of(f, v[i].id), shared = intervals_and(&other, mine);
        if (intervals_ns(&shared) > 0) return v[i].id;
    }
    return NULL;
}

static status claim_moments(const advice_facts *f, advice_claim *v, uint32_t at, claimed *c,
                            error *err) {
    advice *a = v[at].advice;
    intervals mine = moments_of(f, v[at].id), left = intervals_minus(&mine, &c->moments);
    int64_t size = intervals_ns(&mine), rest = intervals_ns(&left);
    if (mine.failed || left.failed) FAIL_MEMORY(err);
    if (size <= 0) return OK; /* of a run's summaries: nothing to compare with */
    if (rest < size) {
        v[at].included_in = first_claimer(f, v, at, &mine);
        a->saves = advice_ns((double)a->saves * ((double)rest / (double)size));
    }
    /* Of what it does not save a later one may. */
    if (a->saves > 0 || rest < size) add_all(&mine, &c->moments);
    if (c->moments.failed) FAIL_MEMORY(err);
    return OK;
}

static void claim_amount(advice_claim *v, int64_t *left, const char **by) {
    if (v->advice->saves > *left) {
        v->included_in = *by;
        v->advice->saves = max_i64(0, *left);
    }
    *left = sub_i64(*left, v->advice->saves);
    if (!*by) *by = v->id;
}

status advice_claims_settle(const advice_facts *f, advice_claim *v, uint32_t n, error *err) {
    claimed c = {.moments = intervals_in(f->arena),
                 .kernels = f->run ? f->step_ns : f->part_ns[ROLE_KERNEL],
                 .interval = 0,
                 .left = f->step_ns};
    for (uint32_t i = 0; i < n; i++)
        if (sort_of(v[i].id) == CLAIM_INTERVAL)
            c.interval = max_i64(c.interval, v[i].advice->saves);
    for (uint32_t i = 0; i < n; i++) {
        claim_sort sort = sort_of(v[i].id);
        if (v[i].advice->saves == ABSENT_I64) continue;
        if (sort == CLAIM_MOMENTS) TRY(claim_moments(f, v, i, &c, err));
        if (sort == CLAIM_KERNELS) claim_amount(&v[i], &c.kernels, &c.kernels_by);
        if (sort == CLAIM_INTERVAL) claim_amount(&v[i], &c.interval, &c.interval_by);
        if (v[i].advice->saves > c.left) v[i].advice->saves = max_i64(0, c.left);
        c.left = sub_i64(c.left, v[i].advice->saves);
    }
    return OK;
}
