/* autopsy.c: adds up the iterations and gaps in the life of each request.
 *
 * Times of many iterations are differences of running sums, so that a request costs its own
 * prefills and a few searches. Who blocks a request is one more running sum: of each iteration
 * that decodes, the time of one token. The requests that were there at the same time are looked
 * at for each; a file of millions of them would cost their square, so there is a budget, and
 * those that took longest come first. */
#include "analyse/serving/autopsy.h"

#include "base/bisect.h"
#include "base/sort.h"

/* Pairs of requests that are looked at: a second of work. */
enum { MOST_PAIRS = 200000000 };

typedef struct {
    const served *s;
    const request_list *r;
    const prefills *p;
    int64_t *before;  /* iterations + 1: time of all iterations before */
    int64_t *decoded; /* the same of those that decode */
    double *token;    /* the same, of each the time of one token */
    double *blocked;  /* by request: scratch */
    uint32_t *seen;   /* requests with blocked > 0: scratch */
    uint32_t n_seen;
    int64_t pairs;
} body;

/* ---- parts ------------------------------------------------------------------------------- */

/* First iteration that ends after a time; first that starts at or after it. */
static uint32_t ends_after(const served *s, int64_t time) {
    return SEARCH_FIRST(i, 0, s->n, s->v[i].end <= time);
}

static uint32_t starts_from(const served *s, int64_t time) {
    return SEARCH_FIRST(i, 0, s->n, s->v[i].start < time);
}

static int64_t clip(const served_iteration *one, int64_t from, int64_t to) {
    return max_i64(0, sub_i64(min_i64(one->end, to), max_i64(one->start, from)));
}

/* Time of all iterations, or of those that decode, in a stretch of time. */
static int64_t iterations_ns(const body *b, const int64_t *sums, int64_t from, int64_t to) {
    const served *s = b->s;
    uint32_t low = ends_after(s, from), high = starts_from(s, to);
    if (low >= high) return 0;
    int64_t ns = sub_i64(sums[high], sums[low]);
    bool all = sums == b->before;
    const served_iteration *first = &s->v[low], *last = &s->v[high - 1];
    if (all || iteration_decodes(&first->it))
        ns = sub_i64(ns, max_i64(0, sub_i64(from, first->start)));
    if (all || iteration_decodes(&last->it))
        ns = sub_i64(ns, max_i64(0, sub_i64(last->end, to)));
    return max_i64(0, ns);
}

static int64_t prefill_ns(const body *b, const request_turns *of, const served_request *r) {
    int64_t ns = 0;
    for (uint32_t i = 0; i < of->n_turns; i++)
        ns = add_i64(ns, clip(&b->s->v[b->p->by_request[of->first_turn + i].iteration],
                              r->arrival, r->end));
    return ns;
}

/* The time from its first iteration's start on, as far as its arrival allows. */
static int64_t queue_ns(const served_request *r, const request_autopsy *out, const served *s) {
    if (r->scheduled != ABSENT_I64) return sub_i64(r->scheduled, r->arrival);
    return out->known ? max_i64(0, sub_i64(s->v[out->first].start, r->arrival)) : ABSENT_I64;
}

static void add_up(const body *b, uint32_t i, request_autopsy *out) {
    const served_request *r = &b->r->v[i];
    const request_turns *of = &b->p->of[i];
    const served *s = b->s;
    *out = (request_autopsy){.blocker = UINT32_MAX};
    out->known = of->last != NO_ITERATION && of->n_turns > 0;
    if (out->known) {
        out->first = b->p->by_request[of->first_turn].iteration;
        out->last = of->last;
        int64_t end = min_i64(r->end, s->v[out->last - 1].end);
        int64_t from = max_i64(r->arrival, s->v[0].start);
        int64_t in_iterations = iterations_ns(b, b->before, from, end);
        out->prefill = prefill_ns(b, of, r);
        int64_t after = max_i64(r->arrival, s->v[of->after_first - 1].end);
        if (end > after) out->decode = iterations_ns(b, b->decoded, after, end);
        out->waiting = max_i64(0, sub_i64(in_iterations, add_i64(out->prefill, out->decode)));
        out->scheduler = max_i64(0, sub_i64(sub_i64(end, from), in_iterations));
    }
    out->queue = queue_ns(r, out, s);
    out->other = sub_i64(request_latency(r), add_i64(add_i64(out->prefill, out->decode),
                                                     add_i64(out->waiting, out->scheduler)));
}

/* ---- blockers ---------------------------------------------------------------------------- */

static void blame(body *b, uint32_t blocker, double ns) {
    if (ns <= 0) return;
    if (b->blocked[blocker] == 0) b->seen[b->n_seen++] = blocker;
    b->blocked[blocker] += ns;
}

/* Prompts that are computed in iterations [from, end) without the request. */
static void blame_prefills(body *b, uint32_t i, uint32_t from, uint32_t end) {
    const served_request *r = &b->r->v[i];
    const uint32_t *first = b->p->first_of_iteration;
    for (uint32_t k = first[from]; k < first[end]; k++) {
        const prefill_turn *turn = &b->p->by_iteration[k];
        int64_t ns = clip(&b->s->v[turn->iteration], r->arrival, r->end);
        blame(b, turn->request,
              (double)ns * (double)turn->tokens / (double)b->p->weight[turn->iteration]);
    }
}

/* Tokens of others in iterations [from, end) without the request. What is
 * before the arrival in the first one does not count. */
static void blame_decodes(body *b, uint32_t i, uint32_t from, uint32_t end) {
    const served_request *r = &b->r->v[i];
    const served_iteration *first = &b->s->v[from];
    double early =
        from < end && iteration_decodes(&first->it)
            ? (double)max_i64(0, sub_i64(r->arrival, first->start)) / (double)b->p->weight[from]
            : 0;
    for (uint32_t k = 0; k < b->r->n && b->r->v[k].arrival < r->end; k++) {
        const request_turns *of = &b->p->of[k];
        b->pairs++;
        if (k == i || of->last == NO_ITERATION) continue;
        uint32_t low = of->after_first > from ? of->after_first : from;
        uint32_t high = of->last < end ? of->last : end;
        if (low >= high) continue;
        blame(b, k, b->token[high] - b->token[low] - (low == from ? early : 0));
    }
}

/* Iterations before its first token that the request is not in, stretch by stretch. After it,
 * only iterations that prefill alone are without it. */
static void find_blockers(body *b, uint32_t i) {
    const request_turns *of = &b->p->of[i];
    uint32_t from = ends_after(b->s, b->r->v[i].arrival);
    for (uint32_t k = 0; k < of->n_turns; k++) {
        uint32_t own = b->p->by_request[of->first_turn + k].iteration;
        if (own > from) {
            blame_prefills(b, i, from, own);
            blame_decodes(b, i, from, own);
        }
        from = own + 1;
    }
    for (uint32_t k = of->after_first; k < of->last; k++)
        if (!iteration_decodes(&b->s->v[k].it)) blame_prefills(b, i, k, k + 1);
}

static int compare_blocked(uint32_t x, uint32_t y, const void *context) {
    const body *b = context;
    if (b->blocked[x] != b->blocked[y]) return b->blocked[x] > b->blocked[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The longest first, rounded down; the rest is that of the others. */
static void write_waits(body *b, uint32_t i, uint32_t most, uint32_t *scratch, autopsies *out) {
    request_autopsy *one = &out->v[i];
    int64_t left = one->waiting;
    sort_index(b->seen, scratch, b->n_seen, compare_blocked, b);
    for (uint32_t k = 0; k < b->n_seen && k < most; k++) {
        int64_t ns = min_i64(left, real_i64(b->blocked[b->seen[k]]));
        if (ns <= 0) break;
        if (k == 0) {
            one->blocker = b->seen[k];
            one->blocked = ns;
        }
        out->waits[out->n_waits++] = (request_wait){i, b->seen[k], ns};
        left = sub_i64(left, ns);
    }
    if (left > 0) out->waits[out->n_waits++] = (request_wait){i, UINT32_MAX, left};
    for (uint32_t k = 0; k < b->n_seen; k++) b->blocked[b->seen[k]] = 0;
    b->n_seen = 0;
}

static status slowest_first(const request_list *r, arena *a, sort_pair **out, error *err) {
    *out = ARENA_ARRAY(a, sort_pair, (size_t)r->n + 1);
    if (!*out) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->n; i++)
        (*out)[i] = (sort_pair){INT64_MAX - (uint64_t)request_latency(&r->v[i]), i};
    if (!sort_radix_in(a, *out, r->n)) FAIL_MEMORY(err);
    return OK;
}

static status find_all_blockers(body *b, uint32_t most, arena *a, autopsies *out, error *err) {
    sort_pair *order;
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)b->r->n + 1);
    b->blocked = ARENA_ARRAY(a, double, (size_t)b->r->n + 1);
    b->seen = ARENA_ARRAY(a, uint32_t, (size_t)b->r->n + 1);
    out->waits = ARENA_ARRAY(a, request_wait, (size_t)b->r->n * (most + 1) + 1);
    if (!scratch || !b->blocked || !b->seen || !out->waits) FAIL_MEMORY(err);
    TRY(slowest_first(b->r, a, &order, err));
    for (uint32_t i = 0; i < b->r->n; i++) {
        if (!out->v[order[i].row].known) continue;
        out->n_without += b->pairs > MOST_PAIRS;
        if (b->pairs > MOST_PAIRS) continue;
        find_blockers(b, order[i].row);
        write_waits(b, order[i].row, most, scratch, out);
    }
    return OK;
}

status autopsies_make(const served *s, const request_list *r, const prefills *p,
                      uint32_t most_waits, arena *a, autopsies *out, error *err) {
    body b = {.s = s, .r = r, .p = p};
    *out = (autopsies){.v = ARENA_ARRAY(a, request_autopsy, (size_t)r->n + 1)};
    b.before = ARENA_ARRAY(a, int64_t, (size_t)s->n + 1);
    b.decoded = ARENA_ARRAY(a, int64_t, (size_t)s->n + 1);
    b.token = ARENA_ARRAY(a, double, (size_t)s->n + 1);
    if (!out->v || !b.before || !b.decoded || !b.token) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t ns = served_ns(&s->v[i]);
        bool decodes = iteration_decodes(&s->v[i].it);
        b.before[i + 1] = add_i64(b.before[i], ns);
        b.decoded[i + 1] = add_i64(b.decoded[i], decodes ? ns : 0);
        b.token[i + 1] = b.token[i] + (decodes ? (double)ns / (double)p->weight[i] : 0);
    }
    for (uint32_t i = 0; i < r->n; i++) add_up(&b, i, &out->v[i]);
    return find_all_blockers(&b, most_waits, a, out, err);
}
