/* distributed_compare.c: what follows from comparing the workers of a run.
 *
 * The heat map (rank × step), stragglers by rank, by host and by step, groups and links slower
 * than their like, clocks, and what the job would take without what was found. Definitions are
 * in stragglers.h, comm_groups.h and clocks.h; here they become tables and notes. */
#include "analyse/rules.h"
#include "analyse/run/clocks.h"
#include "analyse/run/distributed.h"
#include "analyse/run/summary_filter.h"
#include "base/message_ids_advice.h"

#define COL_D(table, name) COL(distributed, table, name)

static int64_t dist_compare_rank_of(const run_question *q, uint32_t worker) {
    return q->who.v[worker]->rank;
}

static void set_optional(table *t, size_t row, uint32_t col, int64_t v) {
    if (v != ABSENT_I64) table_set_int(t, row, col, v);
}

/* ---- by rank and step -------------------------------------------------------------------- */

/* Steps of one worker that are in one column of the map. */
typedef struct {
    step_cell sum;
    int64_t n;
} joined_cell;

static void join_cell(joined_cell *j, const step_cell *c) {
    if (!j->n++) {
        j->sum = *c;
        return;
    }
    j->sum.total = add_i64(j->sum.total, c->total);
    j->sum.computation = add_i64(j->sum.computation, c->computation);
    j->sum.communication = add_i64(j->sum.communication, c->communication);
    j->sum.transfer = add_i64(j->sum.transfer, c->transfer);
    j->sum.waiting = add_i64(j->sum.waiting, c->waiting);
    if (c->late <= j->sum.late) return;
    j->sum.late = c->late;
    j->sum.cause = c->cause;
}

static status write_cell(run_question *q, table *t, const joined_cell *j, error *err) {
    const step_cell *c = &j->sum;
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_D(heat_map, worker), q->who.v[c->worker]->name);
    set_optional(t, row, COL_D(heat_map, rank), dist_compare_rank_of(q, c->worker));
    table_set_int(t, row, COL_D(heat_map, step), q->late.steps[c->step].number);
    table_set_int(t, row, COL_D(heat_map, total), mean_i64(c->total, j->n));
    table_set_int(t, row, COL_D(heat_map, computation), mean_i64(c->computation, j->n));
    table_set_int(t, row, COL_D(heat_map, communication), mean_i64(c->communication, j->n));
    table_set_int(t, row, COL_D(heat_map, transfer), mean_i64(c->transfer, j->n));
    table_set_int(t, row, COL_D(heat_map, waiting), mean_i64(c->waiting, j->n));
    table_set_int(t, row, COL_D(heat_map, late), c->late);
    if (c->late) table_set_text(t, row, COL_D(heat_map, cause), late_name(c->cause));
    return OK;
}

/* Cells are by worker, then by step. With --map-steps a few steps share a column, which has the
 * number of its first one in all rows. */
static status write_heat_map(run_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "heat_map");
    int64_t most = 0;
    if (!t) FAIL_MEMORY(err);
    TRY(param_count(q->params, STR("map_steps"), &most, err));
    uint32_t each = 1;
    if (most > 0 && most < q->late.n_steps)
        each = (uint32_t)((q->late.n_steps + most - 1) / most);
    for (uint32_t i = 0, end; i < q->late.n_cells; i = end) {
        const step_cell *first = &q->late.cells[i];
        joined_cell j = {.n = 0};
        for (end = i; end < q->late.n_cells; end++) {
            const step_cell *c = &q->late.cells[end];
            if (c->worker != first->worker || c->step / each != first->step / each) break;
            join_cell(&j, c);
        }
        j.sum.step = first->step / each * each;
        TRY(write_cell(q, t, &j, err));
    }
    return OK;
}

static int64_t job_time(const run_question *q) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < q->late.n_steps; i++) sum = add_i64(sum, q->late.steps[i].total);
    return sum;
}

static double dist_compare_share_of(int64_t part, int64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* What both tables of the late say; the columns are in the same order after `cause`. */
static void set_late(table *t, size_t row, uint32_t first, const straggler *s, int64_t whole) {
    table_set_text(t, row, first, late_name(s->cause));
    table_set_int(t, row, first + 1, s->steps);
    table_set_int(t, row, first + 2, mean_i64(s->late, s->steps));
    table_set_int(t, row, first + 3, s->cost);
    table_set_real(t, row, first + 4, dist_compare_share_of(s->cost, whole));
}

#define SAME_ORDER(table)                              \
    (COL_D(table, steps) == COL_D(table, cause) + 1 && \
     COL_D(table, late) == COL_D(table, cause) + 2 &&  \
     COL_D(table, cost) == COL_D(table, cause) + 3 &&  \
     COL_D(table, share) == COL_D(table, cause) + 4)
_Static_assert(SAME_ORDER(stragglers) && SAME_ORDER(hosts), "set_late counts columns");

static status write_stragglers(run_question *q, error *err) {
    table *ranks = answer_table(q->out, q->arena, "stragglers");
    table *hosts = answer_table(q->out, q->arena, "hosts");
    int64_t whole = job_time(q);
    size_t row;
    if (!ranks || !hosts) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->late.n_ranks; i++) {
        const straggler *s = &q->late.ranks[i];
        TRY(table_add_row(ranks, &row, err));
        table_set_text(ranks, row, COL_D(stragglers, worker), q->who.v[s->worker]->name);
        set_optional(ranks, row, COL_D(stragglers, rank), dist_compare_rank_of(q, s->worker));
        if (s->host.n) table_set_text(ranks, row, COL_D(stragglers, host), s->host);
        set_late(ranks, row, COL_D(stragglers, cause), s, whole);
    }
    for (uint32_t i = 0; i < q->late.n_hosts; i++) {
        const straggler *s = &q->late.hosts[i];
        TRY(table_add_row(hosts, &row, err));
        table_set_text(hosts, row, COL_D(hosts, host), s->host);
        table_set_int(hosts, row, COL_D(hosts, ranks), s->n_workers);
        set_late(hosts, row, COL_D(hosts, cause), s, whole);
    }
    return OK;
}

static status write_slow_steps(run_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "slow_steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->late.n_steps; i++) {
        const job_step *s = &q->late.steps[i];
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_int(t, row, COL_D(slow_steps, step), s->number);
        table_set_int(t, row, COL_D(slow_steps, total), s->total);
        table_set_int(t, row, COL_D(slow_steps, usual), s->usual);
        table_set_int(t, row, COL_D(slow_steps, cost), s->cost);
        if (s->who == UINT32_MAX) continue;
        table_set_text(t, row, COL_D(slow_steps, worker), q->who.v[s->who]->name);
        set_optional(t, row, COL_D(slow_steps, rank), dist_compare_rank_of(q, s->who));
        table_set_text(t, row, COL_D(slow_steps, cause), late_name(s->cause));
    }
    return OK;
}

/* ---- groups and links -------------------------------------------------------------------- */

/* "0-7", "0,8,16,…,120", or the names' count when ranks are not known. */
static str members_text(const run_question *q, const comm_group *g) {
    const uint32_t *m = q->groups.member + g->first_member;
    if (!g->n_members) return STR_NONE;
    int64_t first = dist_compare_rank_of(q, m[0]),
            last = dist_compare_rank_of(q, m[g->n_members - 1]);
    if (first == ABSENT_I64 || last == ABSENT_I64) return STR_NONE;
    if (sub_i64(last, first) == (int64_t)g->n_members - 1 && g->n_members > 1)
        return arena_printf(q->arena, "%lld-%lld", (long long)first, (long long)last);
    if (g->n_members == 1) return arena_printf(q->arena, "%lld", (long long)first);
    const char *dots = g->n_members > 3 ? "…," : "";
    if (g->n_members == 2)
        return arena_printf(q->arena, "%lld,%lld", (long long)first, (long long)last);
    return arena_printf(q->arena, "%lld,%lld,%s%lld", (long long)first,
                        (long long)dist_compare_rank_of(q, m[1]), dots, (long long)last);
}

/* What groups and links have in common; the columns are in the same order from `calls` on. */
static void set_traffic(table *t, size_t row, uint32_t calls, const comm_group *g) {
    enum { BYTES = 1, TRANSFER, WAITING, BANDWIDTH, SLOWER_BY, SLOW, COST };
    table_set_int(t, row, calls, g->calls);
    if (g->bytes != ABSENT_I64) table_set_int(t, row, calls + BYTES, g->bytes);
    table_set_int(t, row, calls + TRANSFER, g->transfer);
    table_set_int(t, row, calls + WAITING, g->waiting);
    if (g->bytes > 0 && g->transfer > 0)
        table_set_real(t, row, calls + BANDWIDTH,
                       (double)g->bytes / ((double)g->transfer * 1e-9));
    table_set_real(t, row, calls + SLOWER_BY, g->slower_by);
    table_set_int(t, row, calls + SLOW, g->slow);
    if (g->slow) table_set_int(t, row, calls + COST, g->excess);
}

#define SAME_TRAFFIC(table)                                \
    (COL_D(table, bytes) == COL_D(table, calls) + 1 &&     \
     COL_D(table, transfer) == COL_D(table, calls) + 2 &&  \
     COL_D(table, waiting) == COL_D(table, calls) + 3 &&   \
     COL_D(table, bandwidth) == COL_D(table, calls) + 4 && \
     COL_D(table, slower_by) == COL_D(table, calls) + 5 && \
     COL_D(table, slow) == COL_D(table, calls) + 6 &&      \
     COL_D(table, cost) == COL_D(table, calls) + 7)
_Static_assert(SAME_TRAFFIC(groups) && SAME_TRAFFIC(transfers), "set_traffic counts columns");

static status dist_compare_write_group(run_question *q, table *t, const comm_group *g,
                                       error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_D(groups, group), g->name);
    table_set_text(t, row, COL_D(groups, kind), comm_group_name(g->kind));
    table_set_int(t, row, COL_D(groups, size), g->size);
    table_set_text(t, row, COL_D(groups, ranks), members_text(q, g));
    set_traffic(t, row, COL_D(groups, calls), g);
    return OK;
}

static status write_group_link(table *t, const comm_group *g, error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_int(t, row, COL_D(transfers, from_rank), g->source);
    table_set_int(t, row, COL_D(transfers, to_rank), g->target);
    table_set_text(t, row, COL_D(transfers, group), g->name);
    set_traffic(t, row, COL_D(transfers, calls), g);
    return OK;
}

static status write_groups(run_question *q, error *err) {
    table *groups = answer_table(q->out, q->arena, "groups");
    table *transfers = answer_table(q->out, q->arena, "transfers");
    if (!groups || !transfers) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->groups.n; i++) {
        const comm_group *g = &q->groups.v[i];
        TRY(g->source == ABSENT_I64 ? dist_compare_write_group(q, groups, g, err)
                                    : write_group_link(transfers, g, err));
    }
    sort_by slow_first[] = {{COL_D(groups, slow), true}, {COL_D(groups, cost), true}};
    sort_by link_first[] = {{COL_D(transfers, slow), true}, {COL_D(transfers, cost), true}};
    TRY(table_sort_by(groups, slow_first, 2, err));
    return table_sort_by(transfers, link_first, 2, err);
}

/* ---- clocks ------------------------------------------------------------------------------ */

enum { MOST_CLOCK_NOTES = 8 };

static status note_clock(run_question *q, uint32_t worker, const summary_clock *c, error *err) {
    verdict note = {
        .id = "clock_shifted", .message = MSG_NOTE_CLOCK, .severity = SEVERITY_INFO};
    if (!c->aligned) {
        note.id = "clock_unknown";
        note.message = MSG_NOTE_CLOCK_UNKNOWN;
        note.severity = SEVERITY_WARNING;
    }
    int64_t rank = dist_compare_rank_of(q, worker);
    verdict_add(&note, rank != ABSENT_I64 ? arg_id("rank", rank)
                                          : arg_text("rank", q->who.v[worker]->name));
    if (c->aligned) {
        verdict_add(&note, arg_time("offset", c->offset));
        verdict_add(&note, arg_time("residual", c->residual));
    }
    return answer_note(q->out, q->arena, &note, err);
}

static status note_many(run_question *q, int64_t shifted, int64_t unknown, error *err) {
    verdict note = {.id = "clocks_shifted",
                    .message = unknown ? MSG_NOTE_CLOCKS : MSG_NOTE_CLOCKS_ALIGNED,
                    .severity = unknown ? SEVERITY_WARNING : SEVERITY_INFO};
    verdict_add(&note, arg_int("shifted", shifted));
    verdict_add(&note, arg_int("unknown", unknown));
    verdict_add(&note, arg_int("workers", q->who.n));
    return answer_note(q->out, q->arena, &note, err);
}

/* A worker that never communicates is not to be aligned with anybody, and nothing is lost. */
static bool is_unknown(const run_question *q, uint32_t worker, const summary_clock *c) {
    return !c->aligned && q->who.v[worker]->collectives > 0;
}

/* When a worker's trace begins, on the first worker's clock; false when either has no date. */
static bool find_start(const run_question *q, uint32_t worker, const summary_clock *c,
                       int64_t *start) {
    const summary_worker *first = q->who.v[0], *own = q->who.v[worker];
    if (first->base == ABSENT_I64 || own->base == ABSENT_I64) return false;
    worker_clock clock = {
        .base = own->base, .at = c->at, .offset = c->offset, .drift_ppb = c->drift_ppb};
    *start = sub_i64(clock_apply(&clock, own->start), add_i64(first->base, first->start));
    return true;
}

static status write_clocks(run_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "clocks");
    const summary_clock **by_place =
        ARENA_ARRAY(q->arena, const summary_clock *, (size_t)q->who.n + 1);
    int64_t shifted = 0, unknown = 0;
    if (!t || !by_place) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < SUMMARY_N(q->s, clock); i++) {
        const summary_clock *c = &SUMMARY_ROWS(q->s, clock)[i];
        uint32_t w = worker_order_find(&q->who, c->worker);
        if (w != UINT32_MAX) by_place[w] = c;
    }
    for (uint32_t w = 0; w < q->who.n; w++) {
        const summary_clock *c = by_place[w];
        size_t row;
        if (!c) continue;
        shifted += c->aligned && c->offset;
        unknown += is_unknown(q, w, c);
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_D(clocks, worker), c->worker);
        set_optional(t, row, COL_D(clocks, rank), dist_compare_rank_of(q, w));
        table_set_int(t, row, COL_D(clocks, aligned), c->aligned);
        table_set_int(t, row, COL_D(clocks, collectives), c->samples);
        int64_t start;
        if (find_start(q, w, c, &start)) table_set_int(t, row, COL_D(clocks, start), start);
        if (!c->aligned) continue;
        table_set_int(t, row, COL_D(clocks, offset), c->offset);
        table_set_real(t, row, COL_D(clocks, drift_ppm), (double)c->drift_ppb * 1e-3);
        table_set_int(t, row, COL_D(clocks, residual), c->residual);
    }
    if (shifted + unknown > MOST_CLOCK_NOTES) return note_many(q, shifted, unknown, err);
    for (uint32_t w = 0; w < q->who.n; w++)
        if (by_place[w] && (by_place[w]->offset || is_unknown(q, w, by_place[w])))
            TRY(note_clock(q, w, by_place[w], err));
    return OK;
}

/* ---- what if ----------------------------------------------------------------------------- */

static status write_scenario(table *t, const char *name, int64_t total, int64_t without,
                             error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_D(what_if, scenario), str_of(name));
    table_set_int(t, row, COL_D(what_if, step_time), without);
    table_set_int(t, row, COL_D(what_if, saves), sub_i64(total, without));
    table_set_real(t, row, COL_D(what_if, share),
                   dist_compare_share_of(sub_i64(total, without), total));
    return OK;
}

static status write_what_if(run_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "what_if");
    int64_t total = 0, cost = 0, hidden = 0, n = q->late.n_steps;
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        const job_step *s = &q->late.steps[i];
        total = add_i64(total, s->total);
        cost = add_i64(cost, min_i64(s->cost, s->total));
        hidden = add_i64(hidden, min_i64(s->hidden, s->total));
    }
    if (!n) return OK;
    total = mean_i64(total, n);
    cost = mean_i64(cost, n);
    hidden = mean_i64(hidden, n);
    int64_t both = max_i64(0, sub_i64(total, add_i64(cost, hidden)));
    TRY(write_scenario(t, "as_recorded", total, total, err));
    TRY(write_scenario(t, "no_straggler", total, sub_i64(total, cost), err));
    TRY(write_scenario(t, "perfect_overlap", total, sub_i64(total, hidden), err));
    return write_scenario(t, "both", total, both, err);
}

/* ---- what is missing --------------------------------------------------------------------- */

static status note_losses(run_question *q, error *err) {
    int64_t left_out = 0;
    for (uint32_t i = 0; i < q->who.n; i++)
        left_out = add_i64(left_out, max_i64(0, q->who.v[i]->collectives_left_out));
    if (left_out) {
        verdict note = {.id = "collectives_left_out",
                        .message = MSG_NOTE_COLLECTIVES_LEFT_OUT,
                        .severity = SEVERITY_WARNING};
        verdict_add(&note, arg_int("count", left_out));
        TRY(answer_note(q->out, q->arena, &note, err));
    }
    int64_t given = run_fact(q->s, "given_left_out");
    if (given) {
        verdict note = {.id = "given_left_out",
                        .message = MSG_NOTE_GIVEN_LEFT_OUT,
                        .severity = SEVERITY_WARNING};
        verdict_add(&note, arg_int("count", given));
        TRY(answer_note(q->out, q->arena, &note, err));
    }
    if (!SUMMARY_N(q->s, failure)) return OK;
    verdict note = {
        .id = "files_failed", .message = MSG_NOTE_FILES_FAILED, .severity = SEVERITY_WARNING};
    verdict_add(&note, arg_int("count", SUMMARY_N(q->s, failure)));
    verdict_add(&note, arg_text("path", SUMMARY_ROWS(q->s, failure)[0].path));
    return answer_note(q->out, q->arena, &note, err);
}

status distributed_compare(run_question *q, error *err) {
    TRY(write_heat_map(q, err));
    TRY(write_stragglers(q, err));
    TRY(write_slow_steps(q, err));
    TRY(write_groups(q, err));
    TRY(write_clocks(q, err));
    TRY(write_what_if(q, err));
    return note_losses(q, err);
}
