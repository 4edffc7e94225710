/* distributed.c: which rank, doing what, and what it costs the others.
 *
 * Looks at all workers of a run at once. For each: how much of the average step it computes,
 * communicates, does both, or neither (overlap); and how long it spends in collectives
 * moving data or waiting for others (synchronization). All members of a collective are taken
 * to end it together and to need as long as the fastest of them for the transfer itself:
 * what a member takes longer than that, it waited. A collective whose partners are not in
 * the traces is all transfer.
 *
 *   rank 0   |──── waiting ────|── transfer ──|
 *   rank 1        |── waiting ─|── transfer ──|
 *   rank 2                     |── transfer ──|    the last to arrive waits for nobody
 *
 * Times of different machines are compared after their clocks have been aligned
 * (meetings.h). */
#include <math.h>

#include "analyse/breakdown.h"
#include "analyse/cluster.h"
#include "analyse/group.h"
#include "analyse/meetings.h"
#include "analyse/rules.h"
#include "analyse/worker_devices.h"
#include "base/hash.h"
#include "base/sort.h"

#define COL_D(table, name) COL(distributed, table, name)

typedef struct {
    const analysis_trace *at;
    selection select;
    step_spans steps;
    worker_clock clock;
    int64_t computation, overlapping, communication, other; /* of all its steps */
    int64_t transfer, waiting;                              /* inside its steps */
    int64_t caused_ns;                                      /* time the others waited for it */
    int64_t n_last; /* collectives it was the last to join */
} worker;

typedef struct {
    worker *workers;
    uint32_t n_workers;
    collective_list list;
    meetings meetings;
    interval *transfer; /* parallel to list.ranges */
    arena *arena;
    answer *out;
    int64_t n_shared; /* meetings of at least two */
} question;

static int64_t length(interval r) {
    return max_i64(0, sub_i64(r.end, r.start));
}

/* ---- workers ----------------------------------------------------------------------------- */

static status open_worker(question *q, uint32_t i, const analysis_trace *at, const params *p,
                          error *err) {
    worker *w = &q->workers[i];
    w->at = at;
    select_init(&w->select, at->trace, p);
    w->clock.base = at->trace->base_unix_ns == ABSENT_I64 ? 0 : at->trace->base_unix_ns;
    TRY(trace_require(at->trace,
                      SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(comm) | TRACE_TABLE(group),
                      err));
    TRY(step_spans_make(at->trace, &w->select, q->arena, &w->steps, err));
    return collectives_add(&q->list, at->trace, i, err);
}

/* Computation, communication and both, over the worker's steps. */
static status add_overlap(question *q, worker *w, error *err) {
    const trace *t = w->at->trace;
    role_ranges ranges;
    if (!w->steps.n) return OK;
    interval window = {w->steps.v[0].start, w->steps.v[w->steps.n - 1].end};
    TRY(role_ranges_make(t, window, q->arena, &ranges, err));
    bool kernels = ranges.at[ROLE_KERNEL].n != 0;
    const intervals *compute = &ranges.at[kernels ? ROLE_KERNEL : ROLE_CPU_EXEC],
                    *comm = &ranges.at[ROLE_COMMUNICATION];
    intervals both = intervals_and(compute, comm);
    if (both.failed) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < w->steps.n; i++) {
        int64_t start = w->steps.v[i].start, end = w->steps.v[i].end;
        int64_t computed = intervals_ns_in(compute, start, end),
                sent = intervals_ns_in(comm, start, end);
        int64_t shared = intervals_ns_in(&both, start, end);
        w->computation = add_i64(w->computation, computed - shared);
        w->overlapping = add_i64(w->overlapping, shared);
        w->communication = add_i64(w->communication, sent - shared);
        w->other = add_i64(w->other, sub_i64(end, start) - (computed + sent - shared));
    }
    return OK;
}

/* ---- transfer and waiting ---------------------------------------------------------------- */

/* The time the fastest member needed: for each range, or as a whole where their numbers
 * differ. */
static void set_transfer(question *q, const uint32_t *members, uint32_t n) {
    collective_list *l = &q->list;
    const collective *first = &l->v[members[0]];
    bool alike = true;
    for (uint32_t i = 1; i < n; i++) alike &= l->v[members[i]].n_ranges == first->n_ranges;
    for (uint32_t r = 0; alike && r < first->n_ranges; r++) {
        int64_t least = INT64_MAX;
        for (uint32_t i = 0; i < n; i++)
            least = min_i64(least, length(l->ranges[l->v[members[i]].first_range + r]));
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = l->v[members[i]].first_range + r;
            q->transfer[at] = (interval){sub_i64(l->ranges[at].end, least), l->ranges[at].end};
        }
    }
    if (alike) return;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) least = min_i64(least, length(l->v[members[i]].hull));
    for (uint32_t i = 0; i < n; i++) {
        const collective *c = &l->v[members[i]];
        for (uint32_t r = 0; r < c->n_ranges; r++)
            q->transfer[c->first_range + r] = (interval){0, 0};
        q->transfer[c->first_range] = (interval){sub_i64(c->hull.end, least), c->hull.end};
    }
}

/* Arrival on the first worker's clock. */
static int64_t arrival(const question *q, const collective *c) {
    const worker_clock *clock = &q->workers[c->worker].clock;
    return sub_i64(add_i64(clock->base, collective_arrival(&q->list, c)), clock->offset);
}

static void blame_the_last(question *q, const uint32_t *members, uint32_t n) {
    int64_t last = INT64_MIN, sum = 0;
    uint32_t who = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t at = arrival(q, &q->list.v[members[i]]);
        if (at <= last) continue;
        last = at;
        who = q->list.v[members[i]].worker;
    }
    for (uint32_t i = 0; i < n; i++)
        sum = add_i64(sum, sub_i64(last, arrival(q, &q->list.v[members[i]])));
    q->workers[who].caused_ns = add_i64(q->workers[who].caused_ns, sum);
    q->workers[who].n_last++;
    q->n_shared++;
}

/* The worker's step (index + 1) in which a collective starts. */
static uint32_t step_of(const worker *w, const collective *c) {
    uint32_t low = 0, high = w->steps.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->steps.v[middle].start > c->hull.start)
            high = middle;
        else
            low = middle + 1;
    }
    return low && c->hull.start < w->steps.v[low - 1].end ? low : 0;
}

/* Does the collective count in this question? Without a selection all do. */
static bool is_selected(const question *q, const collective *c) {
    const worker *w = &q->workers[c->worker];
    if (!w->select.by_step && !w->select.by_time) return true;
    return step_of(w, c) != 0;
}

/* Adds the ranges of a collective to a set, whole or as transferred. */
static void add_ranges(const question *q, const collective *c, intervals *whole,
                       intervals *moved) {
    for (uint32_t r = c->first_range; r < c->first_range + c->n_ranges; r++) {
        intervals_add(whole, q->list.ranges[r].start, q->list.ranges[r].end);
        intervals_add(moved, q->transfer[r].start, q->transfer[r].end);
    }
}

static status add_synchronization(question *q, error *err) {
    for (uint32_t at = 0, i = 0; i < q->n_workers; i++) {
        intervals whole = intervals_in(q->arena), moved = intervals_in(q->arena);
        for (; at < q->list.n && q->list.v[at].worker == i; at++)
            if (step_of(&q->workers[i], &q->list.v[at]))
                add_ranges(q, &q->list.v[at], &whole, &moved);
        intervals_merge(&whole);
        intervals_merge(&moved);
        if (whole.failed || moved.failed) FAIL_MEMORY(err);
        q->workers[i].transfer = intervals_ns(&moved);
        q->workers[i].waiting = sub_i64(intervals_ns(&whole), q->workers[i].transfer);
    }
    return OK;
}

static status match(question *q, error *err) {
    q->list.arena = q->arena;
    TRY(meetings_find(&q->list, q->n_workers, q->arena, &q->meetings, err));
    q->transfer = ARENA_ARRAY(q->arena, interval, (size_t)q->list.n_ranges + 1);
    worker_clock *clocks = ARENA_ARRAY(q->arena, worker_clock, (size_t)q->n_workers + 1);
    if (!q->transfer || !clocks) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n_workers; i++) clocks[i] = q->workers[i].clock;
    TRY(clocks_align(&q->list, &q->meetings, clocks, q->n_workers, err));
    for (uint32_t i = 0; i < q->n_workers; i++) q->workers[i].clock = clocks[i];
    for (uint32_t i = 0; i < q->meetings.n; i++) {
        const uint32_t *members = q->meetings.member + q->meetings.first[i];
        uint32_t n = q->meetings.first[i + 1] - q->meetings.first[i];
        set_transfer(q, members, n);
        if (n > 1) blame_the_last(q, members, n);
    }
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

static void set_worker(table *t, size_t row, const worker *w) {
    table_set_text(t, row, 0, w->at->worker);
    if (w->at->rank != ABSENT_I64) table_set_int(t, row, 1, w->at->rank);
}

static status write_overlap(question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "overlap");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n_workers; i++) {
        const worker *w = &q->workers[i];
        const int64_t parts[] = {w->computation, w->overlapping, w->communication, w->other};
        int64_t mean[4];
        size_t row;
        mean_parts(parts, w->steps.n, mean, 4);
        TRY(table_add_row(t, &row, err));
        set_worker(t, row, w);
        table_set_int(t, row, COL_D(overlap, computation), mean[0]);
        table_set_int(t, row, COL_D(overlap, overlapping), mean[1]);
        table_set_int(t, row, COL_D(overlap, communication), mean[2]);
        table_set_int(t, row, COL_D(overlap, other), mean[3]);
    }
    return OK;
}

static status write_synchronization(question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "synchronization");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n_workers; i++) {
        const worker *w = &q->workers[i];
        size_t row;
        TRY(table_add_row(t, &row, err));
        set_worker(t, row, w);
        table_set_int(t, row, COL_D(synchronization, transfer),
                      mean_i64(w->transfer, w->steps.n));
        table_set_int(t, row, COL_D(synchronization, waiting),
                      mean_i64(w->waiting, w->steps.n));
    }
    return OK;
}

/* The collectives of one name of one worker. */
typedef struct {
    str name;
    int64_t calls, bytes, n_sized, group_size;
    intervals whole, moved;
} name_group;

static bool same_name(const void *row, const void *key) {
    return str_eq(((const name_group *)row)->name, *(const str *)key);
}

/* What the links carry for each byte of the collective (as nccl-tests define it). */
static double bus_factor(str name, int64_t n) {
    double size = (double)n;
    if (n < 2) return NAN;
    switch (comm_type_of(name)) {
    case COMM_ALL_REDUCE: return 2 * (size - 1) / size;
    case COMM_REDUCE_SCATTER:
    case COMM_ALL_GATHER:
    case COMM_ALL_TO_ALL:
    case COMM_GATHER:
    case COMM_SCATTER: return (size - 1) / size;
    default: return 1;
    }
}

static status write_name(question *q, table *t, const worker *w, name_group *g, error *err) {
    size_t row;
    intervals_merge(&g->whole);
    intervals_merge(&g->moved);
    if (g->whole.failed || g->moved.failed) FAIL_MEMORY(err);
    int64_t total = intervals_ns(&g->whole), moved = intervals_ns(&g->moved);
    TRY(table_add_row(t, &row, err));
    set_worker(t, row, w);
    table_set_text(t, row, COL_D(collectives, name), g->name);
    table_set_int(t, row, COL_D(collectives, calls), g->calls);
    table_set_int(t, row, COL_D(collectives, total), total);
    table_set_int(t, row, COL_D(collectives, transfer), moved);
    table_set_int(t, row, COL_D(collectives, waiting), sub_i64(total, moved));
    if (!g->n_sized) return OK;
    table_set_int(t, row, COL_D(collectives, bytes), g->bytes);
    table_set_int(t, row, COL_D(collectives, mean_bytes), mean_i64(g->bytes, g->n_sized));
    if (g->n_sized != g->calls || moved <= 0) return OK;
    double rate = (double)g->bytes / ((double)moved * 1e-9);
    int64_t members = g->group_size != ABSENT_I64 ? g->group_size : q->n_workers;
    table_set_real(t, row, COL_D(collectives, algorithm_bandwidth), rate);
    table_set_real(t, row, COL_D(collectives, bus_bandwidth),
                   rate * bus_factor(g->name, members));
    return OK;
}

static status write_worker_collectives(question *q, table *t, uint32_t worker_index,
                                       uint32_t *at, error *err) {
    groups names;
    TRY(groups_init(&names, q->arena, sizeof(name_group), err));
    for (; *at < q->list.n && q->list.v[*at].worker == worker_index; ++*at) {
        const collective *c = &q->list.v[*at];
        bool is_new;
        if (!is_selected(q, c)) continue;
        uint32_t row =
            groups_at(&names, hash_bytes64(c->name.p, c->name.n), same_name, &c->name, &is_new);
        if (row == GROUP_NONE) FAIL_MEMORY(err);
        name_group *g = GROUP_ROW(&names, name_group, row);
        if (is_new)
            *g = (name_group){.name = c->name,
                              .group_size = c->group_size,
                              .whole = intervals_in(q->arena),
                              .moved = intervals_in(q->arena)};
        g->calls++;
        if (c->bytes != ABSENT_I64) {
            g->bytes = add_i64(g->bytes, c->bytes);
            g->n_sized++;
        }
        add_ranges(q, c, &g->whole, &g->moved);
    }
    for (uint32_t i = 0; i < names.n; i++)
        TRY(write_name(q, t, &q->workers[worker_index], GROUP_ROW(&names, name_group, i), err));
    return OK;
}

static status write_collectives(question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "collectives");
    if (!t) FAIL_MEMORY(err);
    uint32_t at = 0;
    for (uint32_t i = 0; i < q->n_workers; i++)
        TRY(write_worker_collectives(q, t, i, &at, err));
    return table_sort(t, COL_D(collectives, worker), false, err);
}

static status write_arrival(question *q, table *t, const collective *c, int64_t first,
                            error *err) {
    const worker *w = &q->workers[c->worker];
    const worker *reference = &q->workers[0];
    uint32_t step = step_of(w, c);
    int64_t at = arrival(q, c),
            zero = add_i64(reference->clock.base, reference->at->trace->start_ns);
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_D(arrivals, group), c->group);
    if (c->sequence != ABSENT_I64)
        table_set_int(t, row, COL_D(arrivals, sequence), c->sequence);
    table_set_text(t, row, COL_D(arrivals, name), c->name);
    if (w->at->rank != ABSENT_I64) table_set_int(t, row, COL_D(arrivals, rank), w->at->rank);
    if (step && w->steps.marked)
        table_set_int(t, row, COL_D(arrivals, step), w->steps.v[step - 1].number);
    table_set_int(t, row, COL_D(arrivals, start), sub_i64(at, zero));
    table_set_int(t, row, COL_D(arrivals, late_by), sub_i64(at, first));
    table_set_int(t, row, COL_D(arrivals, duration),
                  max_i64(0, sub_i64(c->hull.end, collective_arrival(&q->list, c))));
    table_set_text(t, row, COL_D(arrivals, worker), w->at->worker);
    return OK;
}

static status write_arrivals(question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "arrivals");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->meetings.n; i++) {
        int64_t first = INT64_MAX;
        for (uint32_t k = q->meetings.first[i]; k < q->meetings.first[i + 1]; k++)
            first = min_i64(first, arrival(q, &q->list.v[q->meetings.member[k]]));
        for (uint32_t k = q->meetings.first[i]; k < q->meetings.first[i + 1]; k++) {
            const collective *c = &q->list.v[q->meetings.member[k]];
            if (is_selected(q, c)) TRY(write_arrival(q, t, c, first, err));
        }
    }
    return table_sort(t, COL_D(arrivals, start), false, err);
}

static status write_devices(question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "devices");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n_workers; i++)
        TRY(worker_devices_write(t, q->workers[i].at, &q->workers[i].steps, err));
    return OK;
}

/* ---- verdict and notes ------------------------------------------------------------------- */

typedef struct {
    const question *q;
    const worker *worst;  /* the others wait for it most */
    double worst_share;   /* of all waiting that was caused */
    int64_t wait_ns;      /* a step, mean over the other workers */
    int64_t step_ns;      /* mean over the workers */
    double exposed_share; /* communication that nothing hides, of the average step */
} distributed_facts;

static void name_worker(const worker *w, verdict *v) {
    if (w->at->rank != ABSENT_I64)
        verdict_add(v, arg_int("rank", w->at->rank));
    else
        verdict_add(v, arg_text("rank", w->at->worker));
}

static bool no_communication(const void *facts, verdict *v) {
    (void)v;
    return !((const distributed_facts *)facts)->q->list.n;
}

static bool one_is_late(const void *facts, verdict *v) {
    const distributed_facts *f = facts;
    if (!f->worst || f->worst_share < 0.5 || (double)f->wait_ns < 0.02 * (double)f->step_ns)
        return false;
    name_worker(f->worst, v);
    verdict_add(v, arg_time("waiting", f->wait_ns));
    verdict_add(v, arg_share("share", (double)f->worst->n_last / (double)f->q->n_shared));
    return true;
}

static bool is_exposed(const void *facts, verdict *v) {
    const distributed_facts *f = facts;
    if (f->exposed_share < 0.1) return false;
    verdict_add(v, arg_share("share", f->exposed_share));
    return true;
}

static bool is_hidden(const void *facts, verdict *v) {
    const distributed_facts *f = facts;
    verdict_add(v, arg_share("share", f->exposed_share));
    verdict_add(v, arg_int("workers", f->q->n_workers));
    return true;
}

static const rule rules[] = {
    {"communication_none", MSG_VERDICT_DISTRIBUTED_NONE, SEVERITY_INFO, no_communication},
    {"straggler", MSG_VERDICT_STRAGGLER, SEVERITY_CRITICAL, one_is_late},
    {"communication_not_hidden", MSG_VERDICT_NOT_HIDDEN, SEVERITY_WARNING, is_exposed},
    {"communication_hidden", MSG_VERDICT_HIDDEN, SEVERITY_GOOD, is_hidden},
};

static void judge(question *q) {
    distributed_facts f = {.q = q};
    int64_t caused = 0, total = 0, exposed = 0, steps = 0;
    for (uint32_t i = 0; i < q->n_workers; i++) {
        const worker *w = &q->workers[i];
        caused = add_i64(caused, w->caused_ns);
        if (w->caused_ns > 0 && (!f.worst || w->caused_ns > f.worst->caused_ns)) f.worst = w;
        total = add_i64(total, add_i64(add_i64(w->computation, w->overlapping),
                                       add_i64(w->communication, w->other)));
        exposed = add_i64(exposed, w->communication);
        steps += w->steps.n;
    }
    f.step_ns = mean_i64(total, steps);
    f.exposed_share = total ? (double)exposed / (double)total : 0;
    int64_t waited = 0, others = 0;
    for (uint32_t i = 0; i < q->n_workers; i++) {
        if (f.worst == &q->workers[i] || !q->workers[i].steps.n) continue;
        waited = add_i64(waited, q->workers[i].waiting / q->workers[i].steps.n);
        others++;
    }
    f.wait_ns = mean_i64(waited, others);
    f.worst_share = caused ? (double)(f.worst ? f.worst->caused_ns : 0) / (double)caused : 0;
    rules_apply(rules, sizeof rules / sizeof *rules, &f, &q->out->verdict);
}

static status write_notes(question *q, error *err) {
    if (q->n_workers > 1 && q->list.n) {
        quality_link link = {.what = "collectives with their partners",
                             .message = MSG_LINK_COLLECTIVES,
                             .linked = q->meetings.n_matched,
                             .total = q->list.n};
        TRY(answer_link(q->out, q->arena, &link, err));
    }
    for (uint32_t i = 1; i < q->n_workers; i++) {
        const worker_clock *c = &q->workers[i].clock;
        if (!c->offset) continue;
        verdict note = {
            .id = "clock_shifted", .message = MSG_NOTE_CLOCK, .severity = SEVERITY_INFO};
        name_worker(&q->workers[i], &note);
        verdict_add(&note, arg_time("offset", c->offset));
        verdict_add(&note, arg_time("residual", c->residual));
        TRY(answer_note(q->out, q->arena, &note, err));
    }
    return OK;
}

status analyse_distributed(const analysis_input *in, const params *p, arena *a, answer *out,
                           error *err) {
    question q = {.n_workers = in->n_traces, .arena = a, .out = out, .list.arena = a};
    cluster devices;
    TRY(answer_begin("distributed", in, a, out, err));
    q.workers = ARENA_ARRAY(a, worker, (size_t)in->n_traces + 1);
    if (!q.workers) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_traces; i++) TRY(open_worker(&q, i, &in->traces[i], p, err));
    for (uint32_t i = 0; i < in->n_traces; i++) TRY(add_overlap(&q, &q.workers[i], err));
    TRY(match(&q, err));
    TRY(add_synchronization(&q, err));
    TRY(write_overlap(&q, err));
    TRY(write_synchronization(&q, err));
    TRY(write_collectives(&q, err));
    TRY(write_arrivals(&q, err));
    TRY(write_devices(&q, err));
    TRY(cluster_make(in, a, &devices, err));
    TRY(cluster_write(&devices, p, a, out, err));
    TRY(parallel_plan_write(in, a, out, err));
    TRY(write_notes(&q, err));
    judge(&q);
    answer_finish(out, p);
    return OK;
}
