/* stragglers.c: which worker, host or step holds up the job, why, and what it costs.
 *
 * A cell is one worker in one step. Cells are sorted by step and class of workers that do the
 * same; the medians of each run of cells are what is usual there. Medians and not means, so
 * that what is looked for does not move the measure. All workers of a slow group are late
 * together and none of them is the cause: their network time counts for the group
 * (comm_groups.h), not here.
 *
 * Linear but for the sorts. Not here: which collective (table arrivals), which operator. */
#include "analyse/run/stragglers.h"

#include "analyse/group.h"
#include "analyse/run/chain.h"
#include "analyse/run/clocks.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/schema.h"

#define LATE_SHARE 20 /* a twentieth of the step */
#define LATE_SPREAD 6

str late_name(late_cause c) {
    static const char *const names[N_LATE] = {"compute", "data", "memory", "network", "host"};
    return c < N_LATE ? str_of(names[c]) : STR_NONE;
}

typedef struct {
    const summary *s;
    const worker_order *who;
    const comm_groups *groups;
    arena *arena;
    stragglers *out;
    bool *in_slow;     /* by worker: in a slow group */
    int64_t *caused;   /* by worker: waiting of the others in a step in which it is late */
    sort_pair *pairs;  /* of cells */
    uint32_t *by_step; /* cells by step, then by class, then by worker */
} finding;

/* ---- cells ------------------------------------------------------------------------------- */

/* Files of before 0.3 do not say when a worker was blocked: what it waited, as far as nothing
 * hid it. */
static int64_t blocked_in(const summary_step *s, const summary_step_sync *sync) {
    if (!sync) return 0;
    if (sync->blocked != ABSENT_I64) return max_i64(0, sync->blocked);
    return min_i64(max_i64(0, sync->waiting), max_i64(0, s->communication));
}

/* What is left of `rest` after a part of at most `ns` was taken out. */
static int64_t take_part(int64_t *rest, int64_t ns) {
    int64_t part = min_i64(*rest, max_i64(0, ns));
    *rest = sub_i64(*rest, part);
    return part;
}

static step_cell cell_of(const summary_step *s, const summary_step_sync *sync) {
    step_cell c = {.start = s->start, .total = max_i64(0, sub_i64(s->end, s->start))};
    c.computation = add_i64(s->computation, s->overlapping);
    c.communication = add_i64(s->exposed, s->overlapping);
    c.transfer = sync ? sync->transfer : 0;
    c.waiting = sync ? sync->waiting : 0;
    int64_t blocked = blocked_in(s, sync), rest = max_i64(0, sub_i64(c.total, blocked));
    int64_t device = add_i64(s->kernel, add_i64(s->memcpy_ns, s->memset_ns));
    c.own = rest;
    c.part[LATE_COMPUTE] = take_part(&rest, device ? device : s->work);
    c.part[LATE_NETWORK] = take_part(&rest, sub_i64(s->exposed, blocked));
    c.part[LATE_DATA] = take_part(&rest, s->data_loader);
    c.part[LATE_MEMORY] = take_part(&rest, s->allocator);
    c.part[LATE_HOST] = rest;
    return c;
}

static int compare_cells(uint32_t a, uint32_t b, const void *context) {
    const step_cell *v = context;
    if (v[a].worker != v[b].worker) return v[a].worker < v[b].worker ? -1 : 1;
    return (v[a].start > v[b].start) - (v[a].start < v[b].start);
}

/* Rows step and step_sync are in the same order: worker, number, start. */
static status make_cells(finding *f, int64_t *numbers, error *err) {
    const summary_step *steps = SUMMARY_ROWS(f->s, step);
    const summary_step_sync *syncs = SUMMARY_ROWS(f->s, step_sync);
    uint32_t n = SUMMARY_N(f->s, step), n_syncs = SUMMARY_N(f->s, step_sync), at = 0, last = 0;
    step_cell *v = ARENA_ARRAY(f->arena, step_cell, (size_t)n + 1),
              *sorted = ARENA_ARRAY(f->arena, step_cell, (size_t)n + 1);
    uint32_t *order = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    int64_t *number = ARENA_ARRAY(f->arena, int64_t, (size_t)n + 1);
    if (!v || !sorted || !order || !scratch || !number) FAIL_MEMORY(err);
    uint32_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (at < n_syncs &&
               (str_cmp(syncs[at].worker, steps[i].worker) < 0 ||
                (str_eq(syncs[at].worker, steps[i].worker) &&
                 (syncs[at].number < steps[i].number ||
                  (syncs[at].number == steps[i].number && syncs[at].start < steps[i].start)))))
            at++;
        bool mine = at < n_syncs && str_eq(syncs[at].worker, steps[i].worker) &&
                    syncs[at].start == steps[i].start;
        bool same = i && steps[i].worker.p == steps[i - 1].worker.p;
        last = same ? last : worker_order_find(f->who, steps[i].worker);
        if (last == UINT32_MAX) continue;
        v[used] = cell_of(&steps[i], mine ? &syncs[at] : NULL);
        v[used].worker = last;
        number[used] = steps[i].number;
        order[used] = used;
        used++;
    }
    sort_index(order, scratch, used, compare_cells, v);
    for (uint32_t i = 0; i < used; i++) {
        sorted[i] = v[order[i]];
        numbers[i] = number[order[i]];
    }
    f->out->cells = sorted;
    f->out->n_cells = used;
    return OK;
}

static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

/* ---- before the step --------------------------------------------------------------------- */

/* The first step of all: how much later than the others a worker begins it, as far as they were
 * blocked there; it itself was not. Of fewer than three workers one cannot tell the odd one. */
static status find_late_starts(const finding *f, error *err) {
    const stragglers *o = f->out;
    worker_clock *clocks = clocks_read(f->s, f->who, f->arena);
    uint32_t n = 0;
    if (!clocks) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->n_cells && o->cells[f->by_step[i]].step == 0; i++) {
        const step_cell *c = &o->cells[f->by_step[i]];
        if (!clocks[c->worker].aligned) return OK;
        f->pairs[n++] =
            (sort_pair){sort_key(clock_apply(&clocks[c->worker], c->start)), f->by_step[i]};
    }
    if (n < 3) return OK;
    sort_radix(f->pairs, f->pairs + n, n);
    const step_cell *last = &o->cells[f->pairs[n - 1].row], *usual = last;
    int64_t blocked = INT64_MAX;
    for (uint32_t i = 0; i + 1 < n; i++) {
        const step_cell *c = &o->cells[f->pairs[i].row];
        blocked = min_i64(blocked, sub_i64(c->total, c->own));
        if (i == (n - 1) / 2) usual = c;
    }
    int64_t late = sub_i64(clock_apply(&clocks[last->worker], last->start),
                           clock_apply(&clocks[usual->worker], usual->start));
    late = min_i64(late, sub_i64(blocked, sub_i64(last->total, last->own)));
    if (late <= last->total / LATE_SHARE) return OK;
    step_cell *c = &o->cells[f->pairs[n - 1].row];
    c->before = late;
    c->own = add_i64(c->own, late);
    c->part[LATE_HOST] = add_i64(c->part[LATE_HOST], late);
    return OK;
}

/* The class of a worker: its data-parallel group when it has at least four members, else its
 * stage of the pipeline when that has, else all that have neither. */
static uint32_t class_of(const finding *f, uint32_t cell) {
    const comm_groups *g = f->groups;
    uint32_t worker = f->out->cells[cell].worker, group = g->data_of[worker];
    if (group && g->v[group - 1].n_members >= 4) return group;
    uint32_t own_stage = g->stage_of[worker];
    return g->n_stages > 1 && g->in_stage[own_stage] >= 4 ? g->n + 1 + own_stage : 0;
}

/* Numbers the steps of the job, and puts the cells in order of step, class and worker. */
static status make_steps(finding *f, const int64_t *numbers, error *err) {
    stragglers *o = f->out;
    o->steps = ARENA_ARRAY(f->arena, job_step, (size_t)o->n_cells + 1);
    f->by_step = ARENA_ARRAY(f->arena, uint32_t, (size_t)o->n_cells + 1);
    f->pairs = ARENA_ARRAY(f->arena, sort_pair, 2 * (size_t)o->n_cells + 2);
    if (!o->steps || !f->by_step || !f->pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->n_cells; i++) f->pairs[i] = (sort_pair){class_of(f, i), i};
    if (!sort_radix_in(f->arena, f->pairs, o->n_cells)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->n_cells; i++)
        f->pairs[i].key = sort_key(numbers[f->pairs[i].row]);
    if (!sort_radix_in(f->arena, f->pairs, o->n_cells)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->n_cells; i++) {
        uint32_t cell = f->pairs[i].row;
        if (!i || f->pairs[i].key != f->pairs[i - 1].key)
            o->steps[o->n_steps++] = (job_step){.number = numbers[cell], .who = UINT32_MAX};
        o->cells[cell].step = o->n_steps - 1;
        f->by_step[i] = cell;
    }
    return OK;
}

/* ---- what is usual ----------------------------------------------------------------------- */

/* The median of a value of the cells by_step[first … end). */
static int64_t median_of(const finding *f, uint32_t first, uint32_t end,
                         int64_t (*value)(const step_cell *c, int64_t with), int64_t with) {
    uint32_t n = end - first;
    sort_pair *pairs = f->pairs;
    for (uint32_t i = 0; i < n; i++) {
        const step_cell *c = &f->out->cells[f->by_step[first + i]];
        pairs[i] = (sort_pair){sort_key(value(c, with)), i};
    }
    sort_radix(pairs, pairs + n, n);
    return value(&f->out->cells[f->by_step[first + pairs[(n - 1) / 2].row]], with);
}

static int64_t total_of(const step_cell *c, int64_t with) {
    (void)with;
    return c->total;
}
static int64_t own_of(const step_cell *c, int64_t with) {
    (void)with;
    return c->own;
}
static int64_t part_of(const step_cell *c, int64_t part) {
    return c->part[part];
}
static int64_t distance_of(const step_cell *c, int64_t from) {
    return c->own > from ? sub_i64(c->own, from) : sub_i64(from, c->own);
}

/* Judges the cells of one step and one class. */
static void judge_class(const finding *f, uint32_t first, uint32_t end) {
    int64_t total = median_of(f, first, end, total_of, 0),
            own = median_of(f, first, end, own_of, 0), usual[N_LATE];
    int64_t spread = median_of(f, first, end, distance_of, own);
    for (int i = 0; i < N_LATE; i++) usual[i] = median_of(f, first, end, part_of, i);
    for (uint32_t i = first; i < end; i++) {
        step_cell *c = &f->out->cells[f->by_step[i]];
        int64_t most = INT64_MIN, late = sub_i64(c->own, own);
        for (int k = 0; k < N_LATE; k++) {
            int64_t beyond = sub_i64(c->part[k], usual[k]);
            if (beyond <= most) continue;
            most = beyond;
            c->cause = (late_cause)k;
        }
        bool slow_link = c->cause == LATE_NETWORK && f->in_slow[c->worker];
        c->beyond = slow_link ? 0 : max_i64(0, late);
        if (late > total / LATE_SHARE && late / LATE_SPREAD > spread && !slow_link)
            c->late = late;
    }
}

/* A worker that is late in most steps is late in all. Cells are by worker. */
static void judge_habits(const finding *f) {
    const stragglers *o = f->out;
    for (uint32_t first = 0, end; first < o->n_cells; first = end) {
        uint32_t n = 0;
        for (end = first; end < o->n_cells && o->cells[end].worker == o->cells[first].worker;
             end++)
            n += o->cells[end].late > 0;
        if (n < 3 || n * 4 < (end - first) * 3) continue;
        for (uint32_t i = first; i < end; i++) o->cells[i].late = o->cells[i].beyond;
    }
}

static void judge_all(const finding *f) {
    const stragglers *o = f->out;
    for (uint32_t first = 0, end; first < o->n_cells; first = end) {
        uint32_t step = o->cells[f->by_step[first]].step;
        for (end = first; end < o->n_cells && o->cells[f->by_step[end]].step == step &&
                          class_of(f, f->by_step[end]) == class_of(f, f->by_step[first]);
             end++) {}
        /* Two cannot tell which of them is the odd one; a run of two is compared all the same:
         * the lower median is the faster one. */
        if (end - first > 1) judge_class(f, first, end);
    }
    judge_habits(f);
}

/* ---- what is hidden ---------------------------------------------------------------------- */

#define ON_CHAIN 0.25 /* of what takes a worker longest */

/* Is this worker late in the step of this number? Its cells begin at `first`. */
static bool is_late_in(const stragglers *o, uint32_t first, int64_t number) {
    for (uint32_t i = first; i < o->n_cells && o->cells[i].worker == o->cells[first].worker;
         i++)
        if (o->steps[o->cells[i].step].number == number) return o->cells[i].late > 0;
    return false;
}

/* A worker is not late if what takes it longer is on no leg of the chain of waiting: it has the
 * time, as in the bubble of a pipeline. Not so if another late one is on the chain: behind that
 * one it may be the next. What holds for the step that is drawn holds for the others in which
 * it is late. */
static status leave_out_hidden(const finding *f, error *err) {
    const stragglers *o = f->out;
    bool *hidden = ARENA_ARRAY(f->arena, bool, (size_t)f->who->n + 1);
    lane_list lanes;
    chain found;
    if (!hidden) FAIL_MEMORY(err);
    if (!SUMMARY_N(f->s, lane)) return OK;
    TRY(lanes_read(f->s, f->who, f->arena, &lanes, err));
    TRY(chain_find(&lanes, f->who->n, f->arena, &found, err));
    for (uint32_t first = 0, end; lanes.n && first < o->n_cells; first = end) {
        uint32_t worker = o->cells[first].worker;
        for (end = first; end < o->n_cells && o->cells[end].worker == worker; end++) {}
        if (!is_late_in(o, first, lanes.v[0].step)) continue;
        double share = chain_share(&found, &lanes, f->who->n, worker);
        hidden[worker] = share < ON_CHAIN;
        if (!hidden[worker]) return OK;
    }
    for (uint32_t i = 0; i < o->n_cells; i++)
        if (hidden[o->cells[i].worker]) o->cells[i].late = 0;
    return OK;
}

/* ---- what it costs ----------------------------------------------------------------------- */

/* By worker: how long the others wait for it in each step in which it is late. */
static status find_caused(finding *f, error *err) {
    const stragglers *o = f->out;
    int64_t *steps = ARENA_ARRAY(f->arena, int64_t, (size_t)f->who->n + 1);
    f->caused = ARENA_ARRAY(f->arena, int64_t, (size_t)f->who->n + 1);
    if (!steps || !f->caused) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->n_cells; i++) steps[o->cells[i].worker] += o->cells[i].late > 0;
    for (uint32_t i = 0; i < SUMMARY_N(f->s, blame) && f->who->n > 1; i++) {
        const summary_blame *b = &SUMMARY_ROWS(f->s, blame)[i];
        uint32_t w = worker_order_find(f->who, b->worker);
        if (w == UINT32_MAX || !steps[w]) continue;
        f->caused[w] = max_i64(0, b->caused) / (f->who->n - 1) / steps[w];
    }
    return OK;
}

/* What several late workers cost a step together: the others wait for the latest, and again as
 * far as another one was the last to arrive. */
static int64_t find_all_late(const finding *f, uint32_t first, uint32_t end,
                             const job_step *step) {
    int64_t all = step->cost;
    uint32_t n = 0;
    for (uint32_t i = first; i < end; i++) {
        const step_cell *c = &f->out->cells[f->by_step[i]];
        if (c->late && c->worker != step->who)
            all = add_i64(all, min_i64(c->late, f->caused[c->worker]));
        if (!c->late) f->pairs[n++] = (sort_pair){(uint64_t)step_cell_blocked(c), i};
    }
    if (all == step->cost || !n) return step->cost;
    sort_radix(f->pairs, f->pairs + n, n);
    return max_i64(step->cost, min_i64(all, sat_i64(f->pairs[(n - 1) / 2].key)));
}

/* The latest and, of another host or worker, the next latest of a step. */
static void find_cost(finding *f, uint32_t first, uint32_t end, int64_t *by_rank,
                      int64_t *by_host, const uint32_t *host_of) {
    const stragglers *o = f->out;
    job_step *step = &o->steps[o->cells[f->by_step[first]].step];
    int64_t next_rank = 0, next_host = 0;
    for (uint32_t i = first; i < end; i++) {
        const step_cell *c = &o->cells[f->by_step[i]];
        step->total = max_i64(step->total, c->total);
        if (c->late <= step->cost) continue;
        step->cost = c->late;
        step->who = c->worker;
        step->cause = c->cause;
    }
    step->cost = find_all_late(f, first, end, step);
    step->usual = median_of(f, first, end, total_of, 0);
    step->hidden = median_of(f, first, end, part_of, LATE_NETWORK);
    if (step->who == UINT32_MAX) return;
    for (uint32_t i = first; i < end; i++) {
        const step_cell *c = &o->cells[f->by_step[i]];
        if (c->worker != step->who) next_rank = max_i64(next_rank, c->late);
        if (host_of[c->worker] != host_of[step->who]) next_host = max_i64(next_host, c->late);
    }
    by_rank[step->who] = add_i64(by_rank[step->who], step->cost - next_rank);
    uint32_t host = host_of[step->who];
    by_host[host] = add_i64(by_host[host], step->cost - next_host);
}

static void find_costs(finding *f, int64_t *by_rank, int64_t *by_host,
                       const uint32_t *host_of) {
    const stragglers *o = f->out;
    for (uint32_t first = 0, end; first < o->n_cells; first = end) {
        uint32_t step = o->cells[f->by_step[first]].step;
        for (end = first; end < o->n_cells && o->cells[f->by_step[end]].step == step; end++) {}
        find_cost(f, first, end, by_rank, by_host, host_of);
    }
}

static int compare_stragglers(uint32_t a, uint32_t b, const void *context) {
    const straggler *v = context;
    if (v[a].cost != v[b].cost) return v[a].cost > v[b].cost ? -1 : 1;
    if (v[a].late != v[b].late) return v[a].late > v[b].late ? -1 : 1;
    return (v[a].worker > v[b].worker) - (v[a].worker < v[b].worker);
}

static status sort_stragglers(finding *f, straggler *v, uint32_t n, straggler **out,
                              error *err) {
    uint32_t *order = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    straggler *sorted = ARENA_ARRAY(f->arena, straggler, (size_t)n + 1);
    if (!order || !scratch || !sorted) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, compare_stragglers, v);
    for (uint32_t i = 0; i < n; i++) sorted[i] = v[order[i]];
    *out = sorted;
    return OK;
}

/* The cause that made it late for longest. */
static late_cause main_cause(const int64_t *by_cause) {
    int best = 0;
    for (int i = 1; i < N_LATE; i++)
        if (by_cause[i] > by_cause[best]) best = i;
    return (late_cause)best;
}

static status list_ranks(finding *f, const int64_t *cost, error *err) {
    stragglers *o = f->out;
    straggler *v = ARENA_ARRAY(f->arena, straggler, (size_t)f->who->n + 1);
    uint32_t n = 0;
    if (!v) FAIL_MEMORY(err);
    for (uint32_t first = 0, end; first < o->n_cells; first = end) {
        straggler one = {.worker = o->cells[first].worker, .n_workers = 1};
        int64_t by_cause[N_LATE] = {0};
        for (end = first; end < o->n_cells && o->cells[end].worker == one.worker; end++) {
            const step_cell *c = &o->cells[end];
            if (!c->late) continue;
            if (!one.steps++) one.first = c->step;
            int64_t since = c->step - one.last;
            if (one.steps > 1) one.every = one.steps == 2 || one.every == since ? since : 0;
            one.last = c->step;
            one.late = add_i64(one.late, c->late);
            one.before = add_i64(one.before, min_i64(c->before, c->late));
            by_cause[c->cause] = add_i64(by_cause[c->cause], c->late);
        }
        if (!one.steps) continue;
        if (one.steps < 3 || one.every < 2) one.every = 0;
        one.host = f->who->v[one.worker]->host;
        one.cause = main_cause(by_cause);
        one.cost = cost[one.worker];
        v[n++] = one;
    }
    o->n_ranks = n;
    return sort_stragglers(f, v, n, &o->ranks, err);
}

/* A machine is late when more than half of its workers are, for the same cause. */
static status list_hosts(finding *f, const uint32_t *host_of, const int64_t *cost, error *err) {
    stragglers *o = f->out;
    uint32_t n = f->who->n, n_out = 0;
    uint32_t *size = ARENA_ARRAY(f->arena, uint32_t, (size_t)n + 1);
    straggler *v = ARENA_ARRAY(f->arena, straggler, (size_t)n + 1);
    int64_t(*by_cause)[N_LATE] = arena_array(f->arena, (size_t)n + 1, sizeof *by_cause);
    if (!size || !v || !by_cause) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) size[host_of[i]]++;
    for (uint32_t i = 0; i < o->n_ranks; i++) {
        const straggler *r = &o->ranks[i];
        straggler *h = &v[host_of[r->worker]];
        if (!h->n_workers || r->worker < h->worker) h->worker = r->worker;
        h->host = r->host;
        h->n_workers++;
        h->steps = max_i64(h->steps, r->steps);
        h->late = max_i64(h->late, r->late);
        int64_t *sum = &by_cause[host_of[r->worker]][r->cause];
        *sum = add_i64(*sum, r->late);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!v[i].host.n || v[i].n_workers < 2 || v[i].n_workers * 2 <= size[i]) continue;
        v[i].cost = cost[i];
        v[i].cause = main_cause(by_cause[i]);
        v[n_out++] = v[i];
    }
    o->n_hosts = n_out;
    return sort_stragglers(f, v, n_out, &o->hosts, err);
}

/* ---- all of it --------------------------------------------------------------------------- */

static bool same_host(const void *row, const void *key) {
    return str_eq(*(const str *)row, *(const str *)key);
}

/* A number for each worker's machine; a worker whose machine is not known has a separate
 * one. */
static status number_hosts(const finding *f, uint32_t *host_of, error *err) {
    groups hosts;
    TRY(groups_init(&hosts, f->arena, sizeof(str), err));
    for (uint32_t i = 0; i < f->who->n; i++) {
        str host = f->who->v[i]->host;
        bool is_new = true;
        uint32_t row = host.n ? groups_at(&hosts, intern_hash(host), same_host, &host, &is_new)
                              : groups_add(&hosts);
        if (row == GROUP_NONE) FAIL_MEMORY(err);
        if (is_new) *GROUP_ROW(&hosts, str, row) = host;
        host_of[i] = row;
    }
    return OK;
}

static void mark_slow(finding *f) {
    for (uint32_t g = 0; g < f->groups->n; g++) {
        const comm_group *p = &f->groups->v[g];
        for (uint32_t i = 0; p->slow && i < p->n_members; i++)
            f->in_slow[f->groups->member[p->first_member + i]] = true;
        /* A link: the workers of these ranks. */
        for (uint32_t i = 0; p->slow && p->source != ABSENT_I64 && i < f->who->n; i++)
            if (f->who->v[i]->rank == p->source || f->who->v[i]->rank == p->target)
                f->in_slow[i] = true;
    }
}

status stragglers_find(const summary *s, const worker_order *who, const comm_groups *all,
                       arena *a, stragglers *out, error *err) {
    finding f = {.s = s, .who = who, .groups = all, .arena = a, .out = out};
    *out = (stragglers){.n_cells = 0};
    int64_t *numbers = ARENA_ARRAY(a, int64_t, (size_t)SUMMARY_N(s, step) + 1);
    uint32_t *host_of = ARENA_ARRAY(a, uint32_t, (size_t)who->n + 1);
    int64_t *by_rank = ARENA_ARRAY(a, int64_t, (size_t)who->n + 1),
            *by_host = ARENA_ARRAY(a, int64_t, (size_t)who->n + 1);
    f.in_slow = ARENA_ARRAY(a, bool, (size_t)who->n + 1);
    if (!numbers || !host_of || !by_rank || !by_host || !f.in_slow) FAIL_MEMORY(err);
    TRY(number_hosts(&f, host_of, err));
    mark_slow(&f);
    TRY(make_cells(&f, numbers, err));
    TRY(make_steps(&f, numbers, err));
    TRY(find_late_starts(&f, err));
    judge_all(&f);
    TRY(leave_out_hidden(&f, err));
    TRY(find_caused(&f, err));
    find_costs(&f, by_rank, by_host, host_of);
    TRY(list_ranks(&f, by_rank, err));
    return list_hosts(&f, host_of, by_host, err);
}
