/* advice_facts.c: what the rules of `advise` look at, found in a few passes.
 *
 *   steps     spans, breakdown, median (step_spans, breakdown)
 *   host      one pass over the slices; a name is looked up once and remembered by its id
 *   kernels   one pass over device work
 *   ops       device work in the order of its operators: is there a tensor-core kernel in the
 *             call
 *   idle      when no device computes, by cause (idle_causes.h)
 *   memory    peaks
 * Only what belongs to the steps that are kept counts: host events by their start, device work
 * by its launch. Nothing here decides anything: thresholds are in advice_rules.def. */
#include "analyse/advise/advice.h"
#include "analyse/lexicon.h"

#include "analyse/comm/comm_kind.h"
#include "analyse/kind_names.h"
#include "analyse/operators/tensor_core.h"
#include "analyse/operators/work_by_op.h"
#include "analyse/vendor/untraced_steps.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "store/traits.h"

#define LOW_OCCUPANCY 0.25

void tally_add(const trace *t, tally *sum, uint32_t slice) {
    sum->n++;
    sum->ns = add_i64(sum->ns, t->slice.dur[slice]);
    if (!sum->longest || t->slice.dur[slice] > t->slice.dur[sum->longest]) sum->longest = slice;
    event_list_add_slice(&sum->top, t, slice, t->slice.dur[slice]);
}

uint32_t advice_step_at(const advice_facts *f, int64_t host_ns) {
    uint32_t low = SEARCH_FIRST(i, 0, f->steps.n, f->steps.v[i].host_start <= host_ns);
    return low && host_ns < f->steps.v[low - 1].host_end ? low - 1 : UINT32_MAX;
}

/* ---- steps ------------------------------------------------------------------------------- */

static int64_t step_length(const advice_facts *f, uint32_t i) {
    return step_span_ns(&f->steps.v[i]);
}

static int compare_steps(uint32_t a, uint32_t b, const void *context) {
    int64_t x = step_length(context, a), y = step_length(context, b);
    return x < y ? -1 : x > y;
}

/* The median of the steps; mean and longest of those but the first. */
static status find_median(advice_facts *f, error *err) {
    uint32_t n = f->steps.n;
    int64_t sum = 0;
    if (n < 2) return OK;
    uint32_t *order = ARENA_ARRAY(f->arena, uint32_t, n),
             *scratch = ARENA_ARRAY(f->arena, uint32_t, n);
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < n; i++) {
        order[i - 1] = i;
        sum = add_i64(sum, step_length(f, i));
    }
    sort_index(order, scratch, n - 1, compare_steps, f);
    TRY(step_spans_median(&f->steps, f->arena, &f->median_ns, err));
    f->longest = order[n - 2];
    f->later_ns = mean_i64(sum, n - 1);
    return OK;
}

/* A step without kernels has none of the facts that rules need; overview leaves it out, too. */
static void drop_bare(advice_facts *f, const untraced_steps *bare) {
    uint32_t n = 0;
    if (bare->n == f->steps.n) return;
    for (uint32_t i = 0; i < f->steps.n; i++)
        if (!bare->bare[i]) f->steps.v[n++] = f->steps.v[i];
    f->steps.n = n;
}

static status find_steps(advice_facts *f, error *err) {
    int64_t sum[N_ROLES] = {0}, total = 0, exposed = 0, busy = 0;
    untraced_steps bare;
    selection select;
    select_init(&select, f->t, f->params);
    step_spans all;
    TRY(step_spans_make(f->t, &select, f->arena, &all, err));
    TRY(step_spans_with_ops(&all, f->arena, &f->steps, err));
    uint32_t n = f->steps.n;
    interval window = {n ? f->steps.v[0].start : 0, n ? f->steps.v[n - 1].end : 0};
    TRY(role_ranges_make(f->t, window, f->arena, &f->ranges, err));
    TRY(untraced_steps_find(f->t, &f->steps, &f->ranges, &bare, err));
    drop_bare(f, &bare);
    n = f->steps.n;
    TRY(breakdown_make(&f->ranges, &f->steps, f->arena, &f->parts, err));
    TRY(device_metrics_make(f->t, window, f->arena, &f->devices, err));
    TRY(stages_find(f->t, f->arena, &f->stages, err));
    for (uint32_t i = 0; i < n; i++)
        for (int r = 0; r < N_ROLES; r++) {
            sum[r] = add_i64(sum[r], f->parts[i].ns[r]);
            total = add_i64(total, f->parts[i].ns[r]);
        }
    for (uint32_t i = 0; i < n; i++) {
        const step_span *s = &f->steps.v[i];
        exposed = add_i64(exposed, intervals_ns_in(&f->ranges.exposed, s->start, s->end));
        busy = add_i64(busy, intervals_ns_in(&f->ranges.device, s->start, s->end));
    }
    f->exposed_ns = mean_i64(exposed, n);
    f->busy_ns = mean_i64(busy, n);
    mean_parts(sum, n, f->part_ns, N_ROLES);
    f->step_ns = mean_i64(total, n);
    if (n >= 4) f->has |= NEED_STEPS;
    return find_median(f, err);
}

/* ---- the host ---------------------------------------------------------------------------- */

enum { /* what a name on the host says; bit 0: looked at */
       NAME_KNOWN = 1,
       NAME_BLOCKS = 2,
       NAME_COPIES = 4, /* a copy the host waits for */
       NAME_ALLOCATES = 8,
       NAME_ITEM = 16,
       NAME_DATA_PARALLEL = 32,
       NAME_DISTRIBUTED = 64,
       NAME_NCCL = 128,
       NAME_COLLECTIVE = 256,
       NAME_SINGLE_LOADER = 512,
       NAME_WORKER_LOADER = 1024,
       NAME_WAITS = 2048, /* for a value or shape of a tensor */
       NAME_COMPILES = 4096,
       NAME_ZEROES = 8192, /* gradients */
};

static const struct {
    name_meaning meaning;
    uint16_t says;
} host_names[] = {
    {MEANS_AWAITS_VALUE, NAME_WAITS},
    {MEANS_COPIES, NAME_COPIES},
    {MEANS_ALLOCATES, NAME_ALLOCATES},
    {MEANS_READS_VALUE, NAME_ITEM},
    {MEANS_DATA_PARALLEL, NAME_DATA_PARALLEL},
    {MEANS_DISTRIBUTED, NAME_DISTRIBUTED},
    {MEANS_BLOCKS, NAME_BLOCKS},
    {MEANS_NCCL, NAME_NCCL},
    {MEANS_SINGLE_LOADER, NAME_SINGLE_LOADER},
    {MEANS_WORKER_LOADER, NAME_WORKER_LOADER},
    {MEANS_COMPILES, NAME_COMPILES},
    {MEANS_ZEROES_GRADIENTS, NAME_ZEROES},
};

static uint16_t read_name(str name) {
    uint16_t says = NAME_KNOWN;
    for (size_t i = 0; i < N_OF(host_names); i++)
        if (lexicon_means(name, host_names[i].meaning)) says |= host_names[i].says;
    if (comm_host_name(name)) says |= NAME_COLLECTIVE;
    return says;
}

/* Kinds whose names are looked at. */
static const bool is_named[N_KINDS] = {
    [KIND_OP] = true,      [KIND_ANNOTATION] = true, [KIND_DATA] = true,
    [KIND_RUNTIME] = true, [KIND_DRIVER] = true,     [KIND_COLLECTIVE] = true,
    [KIND_FORWARD] = true, [KIND_SYNC] = true,       [KIND_OPTIMIZER] = true,
};

typedef struct {
    advice_facts *f;
    uint16_t *says; /* by string id */
    comm_names comm;
    intervals copies, allocator, overhead, waits;
    size_t cap_blocking, cap_calls;
    int64_t warm; /* end of the first step when there are more */
    interval span;
} host_scan;

static uint16_t name_says(host_scan *h, uint32_t slice) {
    const trace *t = h->f->t;
    uint32_t name = t->slice.name[slice];
    if (name >= t->n_strings) return 0;
    if (!h->says[name]) h->says[name] = read_name(trace_str(t, name));
    return h->says[name];
}

static void add_named(host_scan *h, uint32_t i, uint16_t says) {
    advice_facts *f = h->f;
    const trace *t = f->t;
    int64_t start = t->slice.start[i], end = slice_end(t, i);
    f->data_parallel |= (says & NAME_DATA_PARALLEL) != 0;
    f->distributed |= (says & NAME_DISTRIBUTED) != 0;
    f->nccl |= (says & NAME_NCCL) != 0;
    if (says & NAME_BLOCKS && f->n_blocking < h->cap_blocking) f->blocking[f->n_blocking++] = i;
    if (advice_step_at(f, start) == UINT32_MAX || end <= h->span.start) return;
    if (says & NAME_ITEM) {
        tally_add(t, &f->item, i);
        intervals_add(&f->item_at, start, end);
    }
    if (says & NAME_COMPILES) intervals_add(&f->compiler_at, start, end);
    if (says & NAME_ZEROES) intervals_add(&f->zero_at, start, end);
    if (says & NAME_COLLECTIVE && !comm_is_call(&h->comm, i)) tally_add(t, &f->collective, i);
    if (says & NAME_SINGLE_LOADER) tally_add(t, &f->single_loader, i);
    if (says & NAME_WORKER_LOADER) tally_add(t, &f->worker_loader, i);
    if (says & NAME_WAITS) {
        tally_add(t, &f->value_wait, i);
        intervals_add(&h->waits, start, end);
    }
    if (says & NAME_COPIES) {
        tally_add(t, &f->sync_copy, i);
        intervals_add(&h->copies, start, end);
    }
    if (says & NAME_ALLOCATES && start >= h->warm) {
        if ((size_t)f->allocator_call.n < h->cap_calls)
            f->allocator_calls[f->allocator_call.n] = i;
        tally_add(t, &f->allocator_call, i);
        intervals_add(&h->allocator, start, end);
    }
}

static void scan_slice(host_scan *h, uint32_t i) {
    advice_facts *f = h->f;
    const trace *t = f->t;
    uint8_t kind = t->slice.kind[i];
    int64_t start = t->slice.start[i];
    if (is_named[kind]) {
        uint16_t says = name_says(h, i);
        if (kind == KIND_COLLECTIVE) says |= NAME_COLLECTIVE;
        if (says > NAME_KNOWN) add_named(h, i, says);
    }
    if (kind == KIND_DATA && advice_step_at(f, start) != UINT32_MAX &&
        slice_end(t, i) > h->span.start)
        tally_add(t, &f->data, i);
    if (kind == KIND_COMPILE) add_named(h, i, NAME_COMPILES);
    if (kind == KIND_OVERHEAD)
        intervals_add(&h->overhead, max_i64(start, h->span.start),
                      min_i64(slice_end(t, i), h->span.end));
    if ((kind == KIND_PYTHON || kind == KIND_MODULE) && start >= h->span.start &&
        start < h->span.end)
        f->n_frames++;
}

static int64_t total_ns(intervals *s, bool *failed) {
    intervals_merge(s);
    *failed |= s->failed;
    return intervals_ns(s);
}

/* The part of it that is in the steps and that no kernel covers. */
static intervals exposed_part(const advice_facts *f, intervals *s, bool *failed) {
    intervals steps = step_moments(&f->steps, f->arena);
    intervals_merge(s);
    intervals inside = intervals_and(s, &steps);
    intervals rest = intervals_minus(&inside, &f->ranges.at[ROLE_KERNEL]);
    *failed |= rest.failed;
    return rest;
}

/* When the first step begins on the host. What ended before the device was free, or while the
 * program was not warm, is of no step. */
static int64_t begin_of_steps(const step_spans *s) {
    int64_t begin = max_i64(s->v[0].host_start, s->held_until);
    return s->cold.is_before ? max_i64(begin, s->cold.until) : begin;
}

static status scan_host(advice_facts *f, error *err) {
    const trace *t = f->t;
    uint32_t n = f->steps.n;
    host_scan h = {.f = f,
                   .says = ARENA_ARRAY(f->arena, uint16_t, (size_t)t->n_strings + 1),
                   .copies = intervals_in(f->arena),
                   .allocator = intervals_in(f->arena),
                   .overhead = intervals_in(f->arena),
                   .waits = intervals_in(f->arena)};
    TRY(comm_names_init(&h.comm, t, f->arena, err));
    h.warm = n > 1 ? f->steps.v[0].host_end : INT64_MIN;
    if (n) h.span = (interval){begin_of_steps(&f->steps), f->steps.v[n - 1].host_end};
    h.cap_blocking = (size_t)min_i64(t->slice.n, sat_i64(t->kind_count[KIND_RUNTIME]) / 2 +
                                                     sat_i64(t->kind_count[KIND_DRIVER]) / 2 +
                                                     sat_i64(t->kind_count[KIND_SYNC]) + 64);
    f->blocking = ARENA_ARRAY(f->arena, uint32_t, h.cap_blocking + 1);
    h.cap_calls = (size_t)min_i64(t->slice.n, add_i64(sat_i64(t->kind_count[KIND_RUNTIME]),
                                                      sat_i64(t->kind_count[KIND_DRIVER])));
    f->allocator_calls = ARENA_ARRAY(f->arena, uint32_t, h.cap_calls + 1);
    if (!h.says || !f->blocking || !f->allocator_calls) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++) scan_slice(&h, i);
    bool failed = false;
    (void)total_ns(&f->item_at, &failed);
    (void)total_ns(&f->compiler_at, &failed);
    (void)total_ns(&f->zero_at, &failed);
    f->copy_at = exposed_part(f, &h.copies, &failed);
    f->sync_copy_ns = intervals_ns(&f->copy_at);
    f->allocator_at = exposed_part(f, &h.allocator, &failed);
    f->allocator_ns = intervals_ns(&f->allocator_at);
    f->overhead_ns = total_ns(&h.overhead, &failed);
    f->overhead_at = h.overhead;
    f->value_wait_ns = total_ns(&h.waits, &failed);
    if (failed) FAIL_MEMORY(err);
    return OK;
}

/* ---- device work ------------------------------------------------------------------------- */

typedef struct {
    advice_facts *f;
    comm_names comm;
    tensor_core_names tensor;
    uint8_t *names; /* by string id of a kernel or copy: KERNEL_… and COPY_… bits */
} work_scan;

enum {
    KERNEL_KNOWN = 1,
    KERNEL_LAYOUT = 2,
    KERNEL_FUSED = 4,
    COPY_PAGEABLE = 8,
    COPY_TRANSFERS = 16, /* between host and device */
};

static uint8_t kernel_says(work_scan *w, uint32_t name) {
    static const char *const layout[] = {"nchwtonhwc",   "nhwctonchw", "ncdhwtondhwc",
                                         "ndhwctoncdhw", "transdata",  "batched_transpose_"};
    static const char *const fused[] = {"multi_tensor_apply", "fused", "foreach"};
    static const char *const pageable[] = {"pageable"};
    if (name >= w->f->t->n_strings) return 0;
    if (!w->names[name]) {
        str text = trace_str(w->f->t, name);
        uint8_t says = KERNEL_KNOWN;
        if (str_has_any_nocase(text, layout, sizeof layout / sizeof *layout))
            says |= KERNEL_LAYOUT;
        if (str_has_any_nocase(text, fused, sizeof fused / sizeof *fused)) says |= KERNEL_FUSED;
        if (str_has_any_nocase(text, pageable, 1)) says |= COPY_PAGEABLE;
        if (copy_way_of(text) != COPY_ELSEWHERE) says |= COPY_TRANSFERS;
        w->names[name] = says;
    }
    return w->names[name];
}

enum { COPY_SEEN_NS = 100000 }; /* shorter ones may end before their call by chance */

/* The producer does not say whether memory is pinned. A call that is asynchronous returns at
 * once if it is; if not, it stays until the copy is about done. */
static bool stays_in_call(const trace *t, uint32_t k) {
    uint32_t slice = t->kernel.slice[k], call = t->kernel.launch[k];
    if (!call || t->slice.dur[slice] < COPY_SEEN_NS ||
        str_find_nocase(trace_slice_name(t, call), STR("async"), 0) == SIZE_MAX)
        return false;
    return sub_i64(min_i64(slice_end(t, slice), slice_end(t, call)),
                   max_i64(t->slice.start[slice], t->slice.start[call])) >
           mul_i64(t->slice.dur[slice] / 10, 9);
}

static bool names_memory(str name) {
    static const char *const words[] = {"pageable", "pinned"};
    return str_has_any_nocase(name, words, N_OF(words));
}

/* By the types of the operator that copies. */
static bool is_float64(const trace *t, uint32_t k) {
    uint32_t op = t->kernel.op[k], row = op ? trace_op_of(t, op) : 0;
    return row && t->op.types[row] &&
           str_find(trace_str(t, t->op.types[row]), STR("double"), 0) != SIZE_MAX;
}

static void add_copy(work_scan *w, uint32_t k) {
    advice_facts *f = w->f;
    uint32_t slice = f->t->kernel.slice[k];
    str name = trace_slice_name(f->t, slice);
    uint8_t says = kernel_says(w, f->t->slice.name[slice]);
    if (says & COPY_TRANSFERS && !names_memory(name) && stays_in_call(f->t, k))
        says |= COPY_PAGEABLE;
    copy_sum *sum = says & COPY_PAGEABLE ? &f->pageable : &f->transfer;
    if (!(says & (COPY_PAGEABLE | COPY_TRANSFERS))) return;
    tally_add(f->t, &sum->copies, slice);
    int64_t bytes = max_i64(0, f->t->kernel.bytes[k]);
    sum->bytes = add_i64(sum->bytes, bytes);
    if (is_float64(f->t, k)) sum->wide_bytes = add_i64(sum->wide_bytes, bytes);
    if (copy_way_of(name) == COPY_TO_HOST) sum->host_bytes = add_i64(sum->host_bytes, bytes);
    intervals_add(&sum->at, f->t->slice.start[slice], slice_end(f->t, slice));
}

static void add_blocks(advice_facts *f, uint32_t k, double ns, double blocks) {
    f->has |= NEED_BLOCKS;
    for (uint32_t i = 0; i < f->devices.n; i++) {
        if (f->devices.v[i].device != f->t->kernel.device[k]) continue;
        f->fill[i].ns += ns;
        f->fill[i].used += ns * (blocks < 1 ? blocks : 1);
    }
}

/* Is a collective there most of the time? Then it has its own SMs, and a kernel that leaves
 * some free does so on purpose. */
static bool shares_device(const advice_facts *f, uint32_t slice) {
    int64_t start = f->t->slice.start[slice], end = slice_end(f->t, slice);
    return intervals_ns_in(&f->ranges.at[ROLE_COMMUNICATION], start, end) >
           sub_i64(end, start) / 2;
}

/* How well one kernel fills the device. */
static void add_fill(work_scan *w, uint32_t k, uint32_t slice) {
    advice_facts *f = w->f;
    const trace *t = f->t;
    double blocks = t->kernel.blocks_per_sm[k], occupancy = t->kernel.occupancy[k];
    double ns = (double)t->slice.dur[slice];
    uint32_t name = t->slice.name[slice];
    if (blocks > 0) add_blocks(f, k, ns, blocks);
    if (occupancy >= 0) f->has |= NEED_OCCUPANCY;
    if (blocks > 0 && blocks < 1 && shares_device(f, slice)) return;
    if (blocks > 0 && blocks < 1 && name < t->n_strings) {
        f->name_ns[name] = add_i64(f->name_ns[name], t->slice.dur[slice]);
        f->name_lost[name] += ns * (1 - blocks);
    } else if (occupancy >= 0 && occupancy < LOW_OCCUPANCY &&
               !tensor_core_possible(&w->tensor, k)) {
        tally_add(t, &f->low_occupancy, slice);
        f->work_marks[k] |= WORK_LOW_OCCUPANCY;
        f->low_occupancy_lost += ns * (1 - occupancy / LOW_OCCUPANCY);
    }
}

/* Did a call that replays a graph launch it? */
static bool is_replayed(const trace *t, uint32_t k) {
    uint32_t call = t->kernel.launch[k];
    return call && lexicon_means(trace_slice_name(t, call), MEANS_REPLAYS);
}

static void add_kernel(work_scan *w, uint32_t k, int64_t launched) {
    advice_facts *f = w->f;
    uint32_t slice = f->t->kernel.slice[k];
    if (comm_kernel_row(&w->comm, k)) {
        tally_add(f->t, &f->collective, slice);
        f->n_comm_work++;
        if (stage_at(&f->stages, launched) == STAGE_BACKWARD)
            f->backward_comm_ns = add_i64(f->backward_comm_ns, f->t->slice.dur[slice]);
        f->nccl |= str_find_nocase(trace_slice_name(f->t, slice), STR("nccl"), 0) != SIZE_MAX;
        return;
    }
    uint8_t says = kernel_says(w, f->t->slice.name[slice]);
    tally_add(f->t, &f->kernel, slice);
    f->work_marks[k] |= WORK_COMPUTES;
    f->n_graph += is_replayed(f->t, k);
    if (f->t->slice.dur[slice] < SMALL_KERNEL_NS) tally_add(f->t, &f->small, slice);
    if (says & KERNEL_LAYOUT) {
        tally_add(f->t, &f->layout, slice);
        f->work_marks[k] |= WORK_LAYOUT;
    }
    if (stage_at(&f->stages, launched) == STAGE_OPTIMIZER) {
        tally_add(f->t, &f->optimizer, slice);
        intervals_add(&f->optimizer_at, f->t->slice.start[slice], slice_end(f->t, slice));
        if (says & KERNEL_FUSED) tally_add(f->t, &f->optimizer_fused, slice);
        if (intervals_ns_in(&f->zero_at, launched, add_i64(launched, 1)))
            tally_add(f->t, &f->zero_grad, slice);
    }
    add_fill(w, k, slice);
}

/* The host time that decides about the step of device work. */
static int64_t launch_time(const trace *t, uint32_t k) {
    return t->slice.start[t->kernel.launch[k] ? t->kernel.launch[k] : t->kernel.slice[k]];
}

/* When copies ran inside the steps and no kernel did; of those that are not pageable also what
 * no collective hides, and no rule about worse copies tells of. */
static void find_lone_copies(advice_facts *f) {
    intervals steps = step_moments(&f->steps, f->arena);
    copy_sum *sums[] = {&f->pageable, &f->transfer};
    for (int i = 0; i < 2; i++) {
        intervals_merge(&sums[i]->at);
        sums[i]->at = intervals_and(&sums[i]->at, &steps);
        sums[i]->at = intervals_minus(&sums[i]->at, &f->ranges.at[ROLE_KERNEL]);
    }
    f->transfer.at = intervals_minus(&f->transfer.at, &f->ranges.at[ROLE_COMMUNICATION]);
    f->transfer.at = intervals_minus(&f->transfer.at, &f->pageable.at);
    f->transfer.at = intervals_minus(&f->transfer.at, &f->copy_at);
}

static status scan_work(advice_facts *f, work_scan *w, error *err) {
    const trace *t = f->t;
    size_t n = (size_t)t->n_strings + 1;
    TRY(comm_names_init(&w->comm, t, f->arena, err));
    w->names = ARENA_ARRAY(f->arena, uint8_t, n);
    f->work_marks = ARENA_ARRAY(f->arena, uint16_t, (size_t)t->kernel.n + 1);
    f->name_ns = ARENA_ARRAY(f->arena, int64_t, n);
    f->name_lost = ARENA_ARRAY(f->arena, double, n);
    f->fill = ARENA_ARRAY(f->arena, kernel_fill, (size_t)f->devices.n + 1);
    if (!w->names || !f->work_marks || !f->name_ns || !f->name_lost || !f->fill)
        FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        int64_t launched = launch_time(t, k);
        uint8_t kind = t->slice.kind[t->kernel.slice[k]];
        if (advice_step_at(f, launched) == UINT32_MAX) continue;
        if (kind == KIND_MEMCPY)
            add_copy(w, k);
        else if (kind == KIND_KERNEL)
            add_kernel(w, k, launched);
    }
    intervals_merge(&f->optimizer_at);
    find_lone_copies(f);
    if (f->pageable.at.failed || f->transfer.at.failed || f->optimizer_at.failed)
        FAIL_MEMORY(err);
    return OK;
}

/* ---- operators that could use Tensor Cores ----------------------------------------------- */

bool advice_is_float32(str types) {
    static const char *const others[] = {"Half", "BFloat16", "Float8", "double", "half"};
    if (str_find(types, STR("\"float\""), 0) == SIZE_MAX) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_find(types, str_of(others[i]), 0) != SIZE_MAX) return false;
    return true;
}

typedef struct {
    int64_t ns;
    uint32_t longest;                      /* slice of the longest kernel, 0 = none */
    bool tensor, unsure, missed, in_steps; /* matrix cores: used, not known, could be used */
} op_work;

/* What the call's kernels are to be known for. */
static uint16_t add_op(advice_facts *f, uint32_t op, const op_work *work) {
    const trace *t = f->t;
    uint32_t name = t->slice.name[op], row = trace_op_of(t, op);
    bool float32 = row && advice_is_float32(trace_str(t, t->op.types[row]));
    bool unused = !work->tensor && !work->unsure && work->missed;
    tally *sum = unused                    ? &f->tensor_unused
                 : work->tensor && float32 ? &f->tensor_float32
                                           : NULL;
    if (name < t->n_strings) f->op_ns[name] = add_i64(f->op_ns[name], work->ns);
    if (!sum) return 0;
    sum->n++;
    sum->ns = add_i64(sum->ns, work->ns);
    /* Calls are asynchronous: what their kernels take counts, not what the host takes. */
    if (!sum->top.n || work->ns > sum->top.v[0].cost_ns) sum->longest = work->longest;
    event_list_add_slice(&sum->top, t, work->longest, work->ns);
    if (name < t->n_strings) sum->name_ns[name] = add_i64(sum->name_ns[name], work->ns);
    return unused ? WORK_TENSOR_UNUSED : WORK_TENSOR_FLOAT32;
}

/* Products that no operator launched, as those of a replayed graph: their names tell the
 * type. */
static void add_bare_products(advice_facts *f, work_scan *w) {
    const trace *t = f->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (t->kernel.op[k] || t->slice.kind[slice] != KIND_KERNEL ||
            comm_kernel_row(&w->comm, k) || advice_step_at(f, launch_time(t, k)) == UINT32_MAX)
            continue;
        if (tensor_core_missed(&w->tensor, k)) {
            tally_add(t, &f->tensor_unused, slice);
            f->work_marks[k] |= WORK_TENSOR_UNUSED;
        } else if (tensor_core_is_tf32(&w->tensor, k)) {
            tally_add(t, &f->tensor_float32, slice);
            f->work_marks[k] |= WORK_TENSOR_FLOAT32;
        }
    }
}

static status scan_ops(advice_facts *f, work_scan *w, error *err) {
    const trace *t = f->t;
    work_list list;
    f->op_ns = ARENA_ARRAY(f->arena, int64_t, (size_t)t->n_strings + 1);
    f->tensor_unused.name_ns = ARENA_ARRAY(f->arena, int64_t, (size_t)t->n_strings + 1);
    f->tensor_float32.name_ns = ARENA_ARRAY(f->arena, int64_t, (size_t)t->n_strings + 1);
    if (!f->op_ns || !f->tensor_unused.name_ns || !f->tensor_float32.name_ns) FAIL_MEMORY(err);
    TRY(work_by_host(t, t->kernel.op, f->arena, &list, err));
    for (size_t i = 0; i < list.n;) {
        uint32_t op = (uint32_t)list.pairs[i].key;
        op_work work = {0};
        uint16_t marks = 0;
        size_t first = i;
        for (; i < list.n && list.pairs[i].key == op; i++) {
            uint32_t k = list.pairs[i].row, slice = t->kernel.slice[k];
            if (t->slice.kind[slice] != KIND_KERNEL || comm_kernel_row(&w->comm, k)) continue;
            if (advice_step_at(f, launch_time(t, k)) == UINT32_MAX) continue;
            work.in_steps = true;
            work.ns = add_i64(work.ns, t->slice.dur[slice]);
            if (!work.longest || t->slice.dur[slice] > t->slice.dur[work.longest])
                work.longest = slice;
            matrix_use use = tensor_core_work(&w->tensor, k);
            work.tensor |= use == MATRIX_YES;
            work.unsure |= use == MATRIX_UNKNOWN;
            work.missed |= tensor_core_missed(&w->tensor, k);
        }
        if (work.in_steps && tensor_core_op_id(&w->tensor, t->slice.name[op]))
            marks = add_op(f, op, &work);
        for (; marks && first < i; first++) f->work_marks[list.pairs[first].row] |= marks;
    }
    add_bare_products(f, w);
    for (uint32_t r = 1; r < t->op.n && !(f->has & NEED_SHAPES); r++)
        if (t->op.types[r] || t->op.shapes[r]) f->has |= NEED_SHAPES;
    return OK;
}

static void find_devices(advice_facts *f) {
    const trace *t = f->t;
    f->n_devices = f->devices.n;
    f->major = f->minor = ABSENT_I32;
    for (uint32_t i = 1; i < t->device.n; i++) {
        int32_t major = t->device.compute_major[i], minor = t->device.compute_minor[i];
        if (major < f->major || (major == f->major && minor <= f->minor)) continue;
        f->major = major;
        f->minor = minor;
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

/* The device with the fullest memory; where no size is known the first one. */
static void choose_peak(advice_facts *f, const memory_view *m) {
    const int64_t *time = f->t->memory.time;
    double fullest = -1;
    for (uint32_t d = 0; d < m->devices.n; d++) {
        const memory_device *device = GROUP_ROW(&m->devices, memory_device, d);
        if (device->type == DEVICE_CPU || device->peak <= 0) continue;
        double share =
            device->capacity > 0 ? (double)device->peak / (double)device->capacity : 0;
        if (share <= fullest) continue;
        fullest = share;
        f->memory = (memory_peak){.recorded = true,
                                  .device = device->name,
                                  .allocated = device->peak,
                                  .reserved = max_i64(0, device->most_reserved),
                                  .capacity = device->capacity,
                                  .time = time[device->peak_row],
                                  .reserved_time = time[device->most_reserved_row]};
    }
    if (f->memory.recorded) f->has |= NEED_MEMORY;
    if (f->memory.recorded && f->memory.capacity > 0) f->has |= NEED_CAPACITY;
}

static status scan_memory(advice_facts *f, error *err) {
    memory_view m = {0};
    if (f->t->memory.n <= 1) return OK;
    TRY(memory_view_init(&m, f->t, f->params, f->arena, err));
    memory_find_peaks(&m);
    choose_peak(f, &m);
    return OK;
}

/* ---- all of it --------------------------------------------------------------------------- */

static status compare_workers(advice_facts *f, const answer *distributed, error *err) {
    if (!distributed) return OK;
    TRY(device_report_make(f->in, f->arena, &f->device_report, err));
    f->distributed_answer = distributed;
    f->has |= NEED_WORKERS;
    return OK;
}

/* Steps of the chosen worker as if they were of its trace, and the average step of all. */
static status take_run_steps(advice_facts *f, const summary *s, error *err) {
    const summary_step *v = SUMMARY_ROWS(s, step);
    str worker = f->in->traces[0].worker;
    int64_t total = 0, zero = 0, n_counted = 0;
    bool known = false, all_bare = untraced_steps_are_all(s);
    for (uint32_t i = 0; i < SUMMARY_N(s, worker); i++) {
        const summary_worker *w = &SUMMARY_ROWS(s, worker)[i];
        if (i && !str_eq(w->name, worker)) continue;
        known |= str_eq(w->name, worker);
        zero = w->start;
        f->steps.marked = w->marked == 1;
    }
    if (!known && SUMMARY_N(s, worker)) worker = SUMMARY_ROWS(s, worker)[0].name;
    f->steps.v = ARENA_ARRAY(f->arena, step_span, (size_t)SUMMARY_N(s, step) + 1);
    if (!f->steps.v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < SUMMARY_N(s, step); i++) {
        if (!untraced_row_counts(&v[i], all_bare)) continue;
        n_counted++;
        total = add_i64(total, max_i64(0, sub_i64(v[i].end, v[i].start)));
        if (!str_eq(v[i].worker, worker)) continue;
        int64_t shift = sub_i64(f->t->start_ns, zero);
        f->steps.v[f->steps.n++] = (step_span){.number = v[i].number,
                                               .start = add_i64(v[i].start, shift),
                                               .end = add_i64(v[i].end, shift)};
    }
    f->step_ns = mean_i64(total, n_counted);
    return OK;
}

status advice_facts_of_run(const analysis_input *in, const params *p,
                           const advice_workers *workers, arena *a, advice_facts *out,
                           error *err) {
    advice_facts f = {.in = in, .params = p, .t = in->traces[0].trace, .arena = a};
    const summary *s = workers->run;
    TRY(take_run_steps(&f, s, err));
    for (int i = 0; i < N_REPORT_PARTS; i++) f.average.part[i] = ABSENT_I64;
    TRY(compare_workers(&f, workers->distributed, err));
    f.dialect = FOR_OTHERS;
    if (SUMMARY_N(s, worker) &&
        !advice_dialect_of_format(SUMMARY_ROWS(s, worker)[0].format, &f.dialect))
        f.dialect = FOR_OTHERS;
    f.run = s;
    *out = f;
    return OK;
}

status advice_facts_find(const analysis_input *in, const params *p,
                         const advice_workers *workers, arena *a, advice_facts *out,
                         error *err) {
    const trace *t = in->traces[0].trace;
    advice_facts f = {.in = in, .params = p, .t = t, .arena = a};
    work_scan w = {.f = &f};
    f.pageable.at = intervals_in(a);
    f.transfer.at = intervals_in(a);
    f.optimizer_at = intervals_in(a);
    f.item_at = intervals_in(a);
    f.compiler_at = intervals_in(a);
    f.zero_at = intervals_in(a);
    TRY(trace_require(t,
                      IDLE_CAUSES_TABLES | TRACE_TABLE(memory) | TRACE_TABLE(producer_step) |
                          COMPILES_TABLES,
                      err));
    if (t->kernel.n > 1) f.has |= NEED_DEVICE;
    if (trace_has(t, TRAIT_REQUESTS)) f.has |= NEED_REQUESTS;
    TRY(in_use_find(t, a, &f.uses, err));
    TRY(compiles_find(t, a, &f.compiles, err));
    TRY(find_steps(&f, err));
    TRY(scan_host(&f, err));
    TRY(tensor_core_init(&w.tensor, t, a, err));
    TRY(scan_work(&f, &w, err));
    TRY(scan_ops(&f, &w, err));
    TRY(advice_chains_find(&f, err));
    find_devices(&f);
    if (f.busy_ns <= 0) f.has &= ~(uint32_t)NEED_DEVICE; /* all of it is outside of the steps */
    TRY(idle_pieces_find(t, &f.steps, &f.ranges.at[ROLE_COMMUNICATION], a, &f.idle, err));
    TRY(scan_memory(&f, err));
    TRY(compare_workers(&f, workers->distributed, err));
    TRY(advice_graph_find(&f, err));
    TRY(advice_pauses_find(&f, err)); /* looks up which users suggestions are written for */
    TRY(advice_cpu_find(&f, err));
    TRY(advice_repeats_find(&f, err));
    TRY(advice_lines_find(&f, err));
    TRY(served_find(t, a, &f.served, err));
    *out = f;
    return OK;
}

bool advice_replays(const advice_facts *f) {
    return f->n_graph > 0 && f->n_graph * 2 >= f->kernel.n;
}

/* ---- for the rules ----------------------------------------------------------------------- */

int64_t advice_per_step(const advice_facts *f, int64_t ns) {
    return max_i64(0, min_i64(f->step_ns, mean_i64(ns, f->steps.n)));
}

double advice_share(const advice_facts *f, int64_t per_step_ns) {
    return f->step_ns > 0 ? (double)per_step_ns / (double)f->step_ns : 0;
}

int64_t advice_saved_step_ns(const advice_facts *f) {
    return f->bare.sound ? f->bare.mean_ns : f->step_ns;
}

double advice_saved_share(const advice_facts *f, int64_t saves_ns) {
    int64_t step_ns = advice_saved_step_ns(f);
    return step_ns > 0 ? (double)saves_ns / (double)step_ns : 0;
}

int64_t advice_shown_ns(const advice_facts *f, int64_t saves_ns) {
    if (!f->bare.sound || f->bare.average_ns == f->bare.mean_ns) return saves_ns;
    return advice_ns(advice_saved_share(f, saves_ns) * (double)f->bare.average_ns);
}

void advice_point(const advice_facts *f, advice *out, uint32_t slice) {
    if (!slice) return;
    out->place = (interval){f->t->slice.start[slice], slice_end(f->t, slice)};
    out->name = trace_slice_name(f->t, slice);
}

void advice_list_call(buf *list, str name) {
    enum { MOST_BYTES = 40 };
    const str owners[] = {STR("aten::"), STR("autograd::engine::evaluate_function: ")};
    for (size_t i = 0; i < N_OF(owners); i++)
        if (str_starts(name, owners[i])) name = str_from(name, owners[i].n);
    if (list->n) buf_add_cstr(list, ", ");
    buf_add_str(list, str_n(name.p, sat_size(min_u64(name.n, MOST_BYTES))));
}

status advice_end_list(const advice_facts *f, buf *list, bool more, str *out, error *err) {
    if (more) buf_add_cstr(list, ", …");
    *out = buf_ok(list) ? arena_str(f->arena, buf_str(list)) : STR_NONE;
    buf_fini(list);
    if (!out->p) FAIL_MEMORY(err);
    return OK;
}

void advice_point_to(const advice_facts *f, advice *out, const tally *events) {
    advice_point(f, out, events->longest);
    out->events = events->top;
}

void advice_cost(const advice_facts *f, advice *out, int64_t per_step_ns) {
    verdict_add(&out->words, arg_time("time", per_step_ns));
    verdict_add(&out->words, arg_share("share", advice_share(f, per_step_ns)));
    verdict_add(&out->words, arg_time("step_time", f->step_ns));
    step_spans_say(&f->steps, f->step_ns, &out->words);
    out->saves = per_step_ns;
}
