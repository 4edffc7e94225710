/* clocks.c: offset and drift of every worker's clock, from the ends of shared collectives.
 *
 * A sample says: at this moment the second worker's clock showed so much more than the first's.
 * The samples of a pair give a line: the slope is the median of the slopes of all pairs of
 * samples, the height the median of what remains (both shrug off a third of outliers). A slope
 * that does not move the line by more than four times the residual is noise and is not used.
 *
 * Pairs are edges of a graph of workers. From the first worker (by rank) the others are reached
 * in as few hops as possible, among equals over the edge with the least residual; lines add up
 * along the way. Workers that are not reached get a separate first one, so that they are
 * comparable among themselves, and are not aligned.
 *
 * Offsets below 100 µs or four times their residual say more about the collectives than about
 * the clocks, and are not used. */
#include "analyse/run/clocks.h"

#include "analyse/comm/worker_order.h"
#include "base/sort.h"

#define LEAST_OFFSET_NS 100000

bool clock_counts(comm_type type) {
    return type == COMM_ALL_REDUCE || type == COMM_ALL_GATHER || type == COMM_REDUCE_SCATTER ||
           type == COMM_ALL_TO_ALL || type == COMM_BARRIER;
}

/* a · b / 1e9, for a of any size. */
static int64_t scale_ppb(int64_t ns, int64_t ppb) {
    return real_i64((double)ns * (double)ppb * 1e-9);
}

int64_t clock_apply(const worker_clock *c, int64_t ns) {
    int64_t t = sub_i64(add_i64(c->base, ns), c->offset);
    return c->drift_ppb ? sub_i64(t, scale_ppb(sub_i64(t, c->at), c->drift_ppb)) : t;
}

status clock_samples_trim(summary *s, error *err) {
    TRY(summary_settle(s, err));
    summary_sample *v = SUMMARY_ROWS(s, sample);
    uint32_t n = 0, same = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, sample); i++) {
        bool pair =
            n && str_eq(v[i].first, v[n - 1].first) && str_eq(v[i].second, v[n - 1].second);
        same = pair ? same + 1 : 0;
        if (same < CLOCK_SAMPLES) v[n++] = v[i];
    }
    s->tables[SUMMARY_sample].n = n;
    return OK;
}

/* ---- a line through the samples of a pair ------------------------------------------------ */

typedef struct {
    uint32_t from, to; /* workers of the roster */
    int64_t at, apart, drift_ppb, residual, samples;
} edge;

static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

static int64_t median_of(int64_t *v, sort_pair *pairs, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) pairs[i] = (sort_pair){sort_key(v[i]), i};
    sort_radix(pairs, pairs + n, n);
    return v[pairs[n / 2].row];
}

typedef struct {
    int64_t v[CLOCK_SAMPLES * CLOCK_SAMPLES / 2];
    sort_pair pairs[CLOCK_SAMPLES * CLOCK_SAMPLES];
} line_scratch;

static int64_t find_slope(const summary_sample *s, uint32_t n, line_scratch *x) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            double time = (double)sub_i64(s[k].at, s[i].at),
                   apart = (double)sub_i64(s[k].apart, s[i].apart);
            if (time == 0) continue;
            double ppb = apart / time * 1e9;
            if (ppb > -1e9 && ppb < 1e9) x->v[count++] = (int64_t)ppb;
        }
    return count ? median_of(x->v, x->pairs, count) : 0;
}

/* Median distance from a line through (at, apart). */
static int64_t find_residual(const summary_sample *s, uint32_t n, const edge *e,
                             line_scratch *x) {
    for (uint32_t i = 0; i < n; i++) {
        int64_t line = add_i64(e->apart, scale_ppb(sub_i64(s[i].at, e->at), e->drift_ppb));
        int64_t away = sub_i64(s[i].apart, line);
        x->v[i] = away < 0 ? sub_i64(0, away) : away;
    }
    return median_of(x->v, x->pairs, n);
}

static void fit_height(const summary_sample *s, uint32_t n, edge *e, line_scratch *x) {
    for (uint32_t i = 0; i < n; i++)
        x->v[i] = sub_i64(s[i].apart, scale_ppb(sub_i64(s[i].at, e->at), e->drift_ppb));
    e->apart = median_of(x->v, x->pairs, n);
    e->residual = find_residual(s, n, e, x);
}

static edge fit_line(const summary_sample *s, uint32_t n, line_scratch *x) {
    edge flat = {.at = s[0].at, .samples = n};
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t i = 0; i < n; i++) {
        first = min_i64(first, s[i].at);
        last = max_i64(last, s[i].at);
    }
    flat.at = first;
    fit_height(s, n, &flat, x);
    if (n < 8) return flat;
    edge line = flat;
    line.drift_ppb = find_slope(s, n, x);
    fit_height(s, n, &line, x);
    int64_t gained = scale_ppb(sub_i64(last, first), line.drift_ppb);
    if (gained < 0) gained = sub_i64(0, gained);
    return gained > 1000 && gained / 4 > line.residual ? line : flat;
}

/* ---- from the first worker to all others ------------------------------------------------- */

typedef struct {
    const worker_order *who;
    edge *edges; /* both ways */
    uint32_t n_edges;
    worker_clock *clocks;
    uint32_t *hops; /* UINT32_MAX: not reached */
} clocks_ctx;

static status add_edges(clocks_ctx *s, const summary *samples, arena *a, error *err) {
    const summary_sample *v = SUMMARY_ROWS(samples, sample);
    uint32_t n = SUMMARY_N(samples, sample);
    line_scratch *x = ARENA_NEW(a, line_scratch);
    s->edges = ARENA_ARRAY(a, edge, 2 * (size_t)n + 2);
    if (!s->edges || !x) FAIL_MEMORY(err);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && str_eq(v[end].first, v[first].first) &&
                          str_eq(v[end].second, v[first].second);
             end++) {}
        uint32_t count = end - first < CLOCK_SAMPLES ? end - first : CLOCK_SAMPLES;
        edge e = fit_line(v + first, count, x);
        e.from = worker_order_find(s->who, v[first].first);
        e.to = worker_order_find(s->who, v[first].second);
        if (e.from == UINT32_MAX || e.to == UINT32_MAX) continue;
        edge back = e;
        back.from = e.to;
        back.to = e.from;
        back.apart = sub_i64(0, e.apart);
        back.drift_ppb = -e.drift_ppb;
        s->edges[s->n_edges++] = e;
        s->edges[s->n_edges++] = back;
    }
    return OK;
}

/* The line of `from` and the edge's, at the moment of `from`. */
static void follow(clocks_ctx *s, const edge *e) {
    const worker_clock *from = &s->clocks[e->from];
    worker_clock *to = &s->clocks[e->to];
    int64_t moment = from->at ? from->at : e->at;
    int64_t apart = add_i64(e->apart, scale_ppb(sub_i64(moment, e->at), e->drift_ppb));
    to->at = moment;
    to->offset = add_i64(from->offset, apart);
    to->drift_ppb = add_i64(from->drift_ppb, e->drift_ppb);
    to->residual = max_i64(from->residual, e->residual);
    to->samples = e->samples;
    to->aligned = from->aligned;
}

static int compare_edges(uint32_t a, uint32_t b, const void *context) {
    const clocks_ctx *s = context;
    const edge *x = &s->edges[a], *y = &s->edges[b];
    if (x->residual != y->residual) return x->residual < y->residual ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static status reach_all(clocks_ctx *s, arena *a, error *err) {
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)s->n_edges + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, (size_t)s->n_edges + 1);
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n_edges; i++) order[i] = i;
    sort_index(order, scratch, s->n_edges, compare_edges, s);
    for (uint32_t root = 0; root < s->who->n; root++) {
        if (s->hops[root] != UINT32_MAX) continue;
        s->hops[root] = 0;
        s->clocks[root].aligned = root == 0;
        bool more = true;
        for (uint32_t hop = 1; more; hop++) {
            more = false;
            for (uint32_t i = 0; i < s->n_edges; i++) {
                const edge *e = &s->edges[order[i]];
                if (s->hops[e->from] != hop - 1 || s->hops[e->to] != UINT32_MAX) continue;
                follow(s, e);
                s->hops[e->to] = hop;
                more = true;
            }
        }
    }
    return OK;
}

static void drop_small(worker_clock *c) {
    int64_t size = c->offset < 0 ? sub_i64(0, c->offset) : c->offset;
    if (size > LEAST_OFFSET_NS && size / 4 > c->residual) return;
    c->offset = c->drift_ppb = 0;
}

static status write_clock(const clocks_ctx *s, uint32_t i, summary *out, error *err) {
    const worker_clock *c = &s->clocks[i];
    summary_clock *row = summary_add_clock(out);
    if (!row) FAIL_MEMORY(err);
    *row = (summary_clock){.worker = summary_text(out, s->who->v[i]->name),
                           .aligned = c->aligned,
                           .at = c->at,
                           .offset = c->offset,
                           .drift_ppb = c->drift_ppb,
                           .residual = c->residual,
                           .samples = c->samples};
    if (!row->worker.p) FAIL_MEMORY(err);
    return OK;
}

status clocks_solve(const summary *all, const summary *samples, arena *a, summary *out,
                    error *err) {
    worker_order who;
    TRY(worker_order_make(&who, all, a, err));
    clocks_ctx s = {.who = &who};
    s.clocks = ARENA_ARRAY(a, worker_clock, (size_t)who.n + 1);
    s.hops = ARENA_ARRAY(a, uint32_t, (size_t)who.n + 1);
    if (!s.clocks || !s.hops) FAIL_MEMORY(err);
    memset(s.hops, 0xff, who.n * sizeof *s.hops);
    TRY(add_edges(&s, samples, a, err));
    TRY(reach_all(&s, a, err));
    for (uint32_t i = 0; i < who.n; i++) {
        drop_small(&s.clocks[i]);
        TRY(write_clock(&s, i, out, err));
    }
    return OK;
}

worker_clock *clocks_read(const summary *s, const worker_order *who, arena *a) {
    worker_clock *v = ARENA_ARRAY(a, worker_clock, (size_t)who->n + 1);
    for (uint32_t i = 0; v && i < SUMMARY_N(s, clock); i++) {
        const summary_clock *c = &SUMMARY_ROWS(s, clock)[i];
        uint32_t w = worker_order_find(who, c->worker);
        if (w == UINT32_MAX || who->v[w]->base == ABSENT_I64) continue;
        v[w] = (worker_clock){.base = who->v[w]->base,
                              .at = c->at,
                              .offset = c->offset,
                              .drift_ppb = c->drift_ppb,
                              .residual = c->residual,
                              .aligned = c->aligned};
    }
    return v;
}
