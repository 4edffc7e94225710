/* reduce.c: from a worker's trace to its summary: the worker, its steps, its collectives.
 *
 * Everything is what other analyses compute of one trace (step_spans, breakdown, collectives),
 * written down as whole nanoseconds. What depends on other workers (which worker waited for
 * which, clocks) is not here: comm_resolve.h finds it from the collectives of all summaries.
 *
 * The collectives of a step come first by number, and those after the limit are left out, so
 * that a worker's summary stays below a megabyte. */
#include "analyse/run/reduce.h"

#include "analyse/device/device_metrics.h"
#include "analyse/input_quality.h"
#include "analyse/run/own_work.h"
#include "analyse/run/step_lanes.h"
#include "analyse/vendor/device_report.h"
#include "analyse/vendor/producer_rows.h"
#include "analyse/vendor/untraced_steps.h"
#include "base/bisect.h"
#include "store/traits.h"

#define MAX_COLLECTIVES 20000
#define LEAST_ALONE_NS 100

typedef struct {
    const reduce_question *q;
    const trace *t;
    selection select;
    step_spans steps;
    role_ranges ranges;
    step_parts *parts;
    intervals
        comm; /* when a collective runs, also where a step trace hides it (untraced_steps.h) */
    intervals allocator;
    str worker; /* in the summary */
    arena *arena;
    summary *out;
} reduce_ctx;

/* ---- who --------------------------------------------------------------------------------- */

str reduce_host(const trace *t, str worker) {
    str host = trace_fact(t, FACT_HOST);
    if (host.n) return host;
    size_t bar = str_rfind_byte(worker, '_');
    int64_t pid;
    if (bar == SIZE_MAX || bar == 0 || !str_to_i64(str_from(worker, bar + 1), &pid) || pid <= 0)
        return STR("");
    /* rank_3 is a rank, not a host. */
    str front = str_n(worker.p, bar);
    return str_eq(front, STR("rank")) || str_eq(front, STR("worker")) ? STR("") : front;
}

static status add_worker(reduce_ctx *r, uint32_t n_comms, error *err) {
    const trace *t = r->t;
    summary_worker *w = summary_add_worker(r->out);
    if (!w) FAIL_MEMORY(err);
    *w = (summary_worker){
        .name = r->worker,
        .rank = r->q->at->rank,
        .host = summary_text(r->out, reduce_host(t, r->q->at->worker)),
        .format = summary_text(r->out, t->format),
        .start = t->start_ns,
        .end = t->end_ns,
        .base = t->base_unix_ns,
        .events_read = sat_i64(t->events_read),
        .events_dropped = sat_i64(t->events_dropped),
        .input_bytes = sat_i64(t->input_bytes),
        .has_device = t->kernel.n > 1,
        .marked = r->steps.marked,
        .steps = r->steps.n,
        .steps_left_out = r->steps.n_left_out,
        .collectives = n_comms,
        .collectives_left_out = max_i64(0, (int64_t)n_comms - MAX_COLLECTIVES),
    };
    if (!w->host.p || !w->format.p) FAIL_MEMORY(err);
    return OK;
}

/* How much of the trace its answers are based on. */
static status add_quality(reduce_ctx *r, error *err) {
    quality_counts n;
    TRY(quality_count(r->t, true, &n, err));
    summary_worker *w = &SUMMARY_ROWS(r->out, worker)[SUMMARY_N(r->out, worker) - 1];
    w->device_work = n.device_work;
    w->with_launch = n.with_launch;
    w->kernels = n.kernels;
    w->kernels_with_op = n.kernels_with_op;
    for (int c = CAUSE_NONE + 1; c < N_CAUSES; c++) {
        if (n.cause[c] <= 0) continue;
        summary_damage *row = summary_add_damage(r->out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_damage){.worker = r->worker, .cause = c, .count = n.cause[c]};
    }
    return OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

/* Calls that take memory from the device's driver or give it back: the device is idle. */
static bool allocates(str name) {
    static const char *const starts[] = {
        "cudaMalloc", "cudaFree",  "cudaHostAlloc", "cuMemAlloc",  "cuMemFree",   "cuMemMap",
        "cuMemUnmap", "hipMalloc", "hipFree",       "cuMemCreate", "cuMemRelease"};
    if (str_ends(name, STR("Async"))) return false; /* these do not wait for the device */
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (str_starts(name, str_of(starts[i]))) return true;
    return false;
}

static status find_allocator(reduce_ctx *r, error *err) {
    const trace *t = r->t;
    uint8_t *memo = ARENA_ARRAY(r->arena, uint8_t, (size_t)t->n_strings + 1);
    if (!memo) FAIL_MEMORY(err);
    intervals calls = intervals_in(r->arena);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t name = t->slice.name[i];
        if (!kind_is_call(t->slice.kind[i])) continue;
        if (name >= t->n_strings) continue;
        if (!memo[name]) memo[name] = allocates(trace_str(t, name)) ? 2 : 1;
        if (memo[name] == 2) intervals_add(&calls, t->slice.start[i], slice_end(t, i));
    }
    intervals_merge(&calls);
    /* What the device did meanwhile was not held up. */
    calls = intervals_minus(&calls, &r->ranges.device);
    if (calls.failed) FAIL_MEMORY(err);
    r->allocator = calls;
    return OK;
}

/* How much of the step was computation, communication, both and neither; they add up to it.
 * What is exposed is defined in exposed.h. */
static void set_overlap(const reduce_ctx *r, const intervals *alone, summary_step *row) {
    int64_t sent = intervals_ns_in(&r->comm, row->start, row->end);
    row->computation = intervals_ns_in(alone, row->start, row->end);
    row->exposed = intervals_ns_in(&r->ranges.exposed, row->start, row->end);
    row->overlapping = sub_i64(sent, row->exposed);
    row->neither = sub_i64(sub_i64(row->end, row->start), add_i64(row->computation, sent));
}

static status add_step(reduce_ctx *r, uint32_t i, const intervals *alone, bool bare,
                       error *err) {
    const step_span *s = &r->steps.v[i];
    const int64_t *ns = r->parts[i].ns;
    summary_step *row = summary_add_step(r->out);
    if (!row) FAIL_MEMORY(err);
    *row = (summary_step){
        .worker = r->worker,
        .number = s->number,
        .start = s->start,
        .end = s->end,
        .kernel = ns[ROLE_KERNEL],
        .memcpy_ns = ns[ROLE_MEMCPY],
        .memset_ns = ns[ROLE_MEMSET],
        .communication = ns[ROLE_COMMUNICATION],
        .runtime = ns[ROLE_RUNTIME],
        .data_loader = ns[ROLE_DATA_LOADER],
        .cpu_exec = ns[ROLE_CPU_EXEC],
        .other = ns[ROLE_OTHER],
        .allocator = intervals_ns_in(&r->allocator, s->start, s->end),
        .device = intervals_ns_in(&r->ranges.device, s->start, s->end),
        .bare = bare,
        .work = intervals_ns_in(&r->ranges.work, s->start, s->end),
    };
    set_overlap(r, alone, row);
    return OK;
}

/* Stretches that could not change an answer are left out: a summary stays small. */
static status add_alone(reduce_ctx *r, error *err) {
    const intervals *all = &r->ranges.exposed;
    for (size_t i = 0; i < all->n && SUMMARY_N(r->out, alone) < MAX_COLLECTIVES; i++) {
        if (sub_i64(all->v[i].end, all->v[i].start) < LEAST_ALONE_NS) continue;
        summary_alone *row = summary_add_alone(r->out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_alone){r->worker, all->v[i].start, all->v[i].end};
    }
    return OK;
}

static status add_steps(reduce_ctx *r, error *err) {
    if (!r->steps.n) return OK;
    interval window = {r->steps.v[0].start, r->steps.v[r->steps.n - 1].end};
    untraced_steps bare;
    TRY(role_ranges_make(r->t, window, r->arena, &r->ranges, err));
    r->comm = r->ranges.at[ROLE_COMMUNICATION];
    TRY(untraced_steps_find(r->t, &r->steps, &r->ranges, &bare, err));
    TRY(breakdown_make(&r->ranges, &r->steps, r->arena, &r->parts, err));
    TRY(find_allocator(r, err));
    bool kernels = r->t->kind_count[KIND_KERNEL] != 0;
    intervals alone =
        intervals_minus(&r->ranges.at[kernels ? ROLE_KERNEL : ROLE_CPU_EXEC], &r->comm);
    if (alone.failed) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->steps.n; i++) TRY(add_step(r, i, &alone, bare.bare[i], err));
    return add_alone(r, err);
}

/* ---- devices ----------------------------------------------------------------------------- */

static uint32_t find_device(const trace *t, int32_t id) {
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.id[i] == id && t->device.type[i] != DEVICE_CPU) return i;
    return 0;
}

static status set_properties(reduce_ctx *r, summary_device *row, uint32_t d, error *err) {
    const trace *t = r->t;
    row->name = summary_text(r->out, trace_str(t, t->device.name[d]));
    if (!row->name.p) FAIL_MEMORY(err);
    if (t->device.memory[d] > 0) row->memory = t->device.memory[d];
    if (t->device.sm_count[d] != ABSENT_I32) row->sm_count = t->device.sm_count[d];
    if (t->device.compute_major[d] == ABSENT_I32) return OK;
    str text = arena_printf(r->arena, "%d.%d", (int)t->device.compute_major[d],
                            (int)t->device.compute_minor[d]);
    row->capability = text.p ? summary_text(r->out, text) : STR_NONE;
    if (!row->capability.p) FAIL_MEMORY(err);
    return OK;
}

/* Those that ran a kernel: a producer lists all of its machine. */
static status add_devices(reduce_ctx *r, error *err) {
    device_metrics_list list = {0};
    interval range = {0, 0};
    if (r->steps.n) range = (interval){r->steps.v[0].start, r->steps.v[r->steps.n - 1].end};
    TRY(device_metrics_make(r->t, range, r->arena, &list, err));
    for (uint32_t i = 0; i < list.n; i++) {
        uint32_t device = find_device(r->t, list.v[i].device);
        summary_device *row = summary_add_device(r->out);
        if (!row) FAIL_MEMORY(err);
        row->worker = r->worker;
        row->device = list.v[i].device;
        row->memory = row->sm_count = ABSENT_I64;
        row->utilization = list.v[i].utilization;
        row->sm_efficiency = list.v[i].sm_efficiency;
        row->occupancy = list.v[i].occupancy;
        row->tensor_core = list.v[i].tensor_core_share;
        if (device) TRY(set_properties(r, row, device, err));
    }
    return OK;
}

/* ---- collectives ------------------------------------------------------------------------- */

/* The step (index + 1) in which a collective starts. */
static uint32_t step_of(const step_spans *steps, const collective *c) {
    uint32_t low = SEARCH_FIRST(i, 0, steps->n, steps->v[i].start <= c->hull.start);
    return low && c->hull.start < steps->v[low - 1].end ? low : 0;
}

static status add_comm(reduce_ctx *r, const collective_list *l, uint32_t i, error *err) {
    const collective *c = &l->v[i];
    summary_comm *row = summary_add_comm(r->out);
    if (!row) FAIL_MEMORY(err);
    uint32_t step = step_of(&r->steps, c);
    *row = (summary_comm){
        .worker = r->worker,
        .rank = r->q->at->rank,
        .number = i,
        .name = summary_text(r->out, c->name),
        .group = summary_text(r->out, c->group),
        .words = summary_text(r->out, c->words),
        .group_size = c->group_size,
        .source = c->source,
        .target = c->target,
        .sequence = c->sequence,
        .id = c->comms_id,
        .bytes = c->bytes,
        .step = step ? r->steps.v[step - 1].start : ABSENT_I64,
        .step_number = step && r->steps.marked ? r->steps.v[step - 1].number : ABSENT_I64,
        .counts = step || (!r->select.by_step && !r->select.by_time),
    };
    if (!row->name.p || !row->group.p || !row->words.p) FAIL_MEMORY(err);
    for (uint32_t k = 0; k < c->n_ranges; k++) {
        summary_range *range = summary_add_range(r->out);
        if (!range) FAIL_MEMORY(err);
        *range = (summary_range){.worker = r->worker,
                                 .comm = i,
                                 .number = k,
                                 .start = l->ranges[c->first_range + k].start,
                                 .end = l->ranges[c->first_range + k].end};
    }
    return OK;
}

static status reduce(reduce_ctx *r, error *err) {
    const trace *t = r->t;
    collective_list list = {.arena = r->arena};
    TRY(trace_require(t,
                      SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(comm) | TRACE_TABLE(group) |
                          TRACE_TABLE(device) | TRACE_TABLE(producer_step),
                      err));
    r->worker = summary_text(r->out, r->q->at->worker);
    if (!r->worker.p) FAIL_MEMORY(err);
    select_init(&r->select, t, r->q->params);
    TRY(step_spans_make(t, &r->select, r->arena, &r->steps, err));
    TRY(collectives_add(&list, t, 0, err));
    TRY(add_worker(r, list.n, err));
    TRY(add_quality(r, err));
    TRY(add_steps(r, err));
    if (r->steps.n) TRY(own_work_reduce(t, &r->steps, &r->ranges, r->worker, r->out, err));
    if (r->steps.n) TRY(lanes_reduce(t, &r->steps, &r->ranges, r->worker, r->out, err));
    TRY(add_devices(r, err));
    for (uint32_t i = 0; i < list.n && i < MAX_COLLECTIVES; i++)
        TRY(add_comm(r, &list, i, err));
    if (!r->q->tables) return OK;
    TRY(device_report_reduce(r->q->at, r->worker, r->arena, r->out, err));
    return reduce_tables(r->q, r->arena, r->out, err);
}

status reduce_trace(const reduce_question *q, size_t limit_bytes, summary *out, error *err) {
    arena scratch;
    arena_init(&scratch, limit_bytes);
    reduce_ctx r = {.q = q, .t = q->at->trace, .arena = &scratch, .out = out};
    status st = reduce(&r, err);
    arena_fini(&scratch);
    return st;
}

/* ---- a worker's file --------------------------------------------------------------------- */

/* What a producer had added up is the last to go. */
static void drop_longest(summary *s) {
    if (!producer_drop_longest(s)) return;
    summary_fact *f = summary_add_fact(s);
    if (f) *f = (summary_fact){summary_text(s, STR("given_left_out")), 1};
}

/* Half of the collectives go, and when that is not enough the histograms. */
static void shrink(summary *s) {
    uint32_t *n = &s->tables[SUMMARY_comm].n, *ranges = &s->tables[SUMMARY_range].n;
    if (!*n && !SUMMARY_N(s, histogram)) {
        drop_longest(s);
        return;
    }
    if (*n < 64) {
        summary_drop(s, SUMMARY_BIT(histogram) | SUMMARY_BIT(worker_time) | SUMMARY_BIT(comm) |
                            SUMMARY_BIT(range) | SUMMARY_BIT(alone));
        SUMMARY_ROWS(s, worker)->collectives_left_out = SUMMARY_ROWS(s, worker)->collectives;
        return;
    }
    *n /= 2;
    int64_t first = SUMMARY_ROWS(s, comm)[*n].number;
    while (*ranges && SUMMARY_ROWS(s, range)[*ranges - 1].comm >= first) --*ranges;
    summary_worker *w = SUMMARY_ROWS(s, worker);
    w->collectives_left_out = sub_i64(w->collectives, *n);
}

static status fit(summary *s, error *err) {
    for (int i = 0; i < 32; i++) {
        buf bytes = {0};
        status st = summary_encode(s, STR_NONE, &bytes, err);
        size_t n = bytes.n;
        buf_fini(&bytes);
        if (st != OK || n <= REDUCE_MAX_BYTES) return st;
        shrink(s);
    }
    return OK;
}

status reduce_worker(const analysis_trace *at, size_t limit_bytes, trace **out, error *err) {
    const params all = PARAMS_WHOLE;
    reduce_question q = {.at = at, .params = &all, .tables = true};
    summary *s = summary_new();
    if (!s) FAIL_MEMORY(err);
    status st = reduce_trace(&q, limit_bytes, s, err);
    if (st == OK) st = summary_settle(s, err);
    if (st == OK) st = fit(s, err);
    if (st != OK) {
        summary_free(s);
        return st;
    }
    *out = trace_of_summary(s);
    if (!*out) FAIL_MEMORY(err);
    return OK;
}
