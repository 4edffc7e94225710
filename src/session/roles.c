/* roles.c: which workers of a run are its ranks.
 *
 * People point at a folder and mean the run: all ranks of it, and nothing that is not one. Five
 * things tell, the first that says anything decides:
 *
 *     the name's role    host_7.loader_9, host_5.launcher: not ranks, no matter which
 *     ranks in names     rank0, rank-1, …: those are the ranks, whatever is next to them is not
 *     ranks in files     distributedInfo of PyTorch, or the recording's: at least two
 *                        different ones
 *     numbered workers   worker0, worker1, …, when the files say nothing
 *     hosts              profiles of XLA: one file for each host of a run, in the order of
 *                        names
 *
 * Otherwise each is a trace by itself: two runs of a script into one folder are not two ranks.
 * When several workers have one rank, the last recorded is the rank; a program was run again
 * into the same folder. A file next to ranks that says nothing because it is damaged is a rank
 * of unknown number. A picture of memory is not a rank. */
#include <stdlib.h>

#include "session/discover_int.h"
#include "session/sniff.h"

const char *role_word(worker_role r) {
    static const char *const words[N_WORKER_ROLES] = {"rank",  "trace",    "loader",
                                                      "child", "launcher", "other"};
    return words[r];
}

static bool may_be_rank(const worker_entry *w) {
    return w->role == WORKER_TRACE && !w->memory;
}

static void take_names(run_entry *r) {
    for (uint32_t i = 0; i < r->n_workers; i++) {
        worker_entry *w = &r->workers[i];
        w->role = name_role(w->name, &w->owner);
        w->rank = w->role == WORKER_TRACE ? name_rank(w->name) : INT64_MIN;
    }
}

static bool is_newer(const worker_entry *a, const worker_entry *b) {
    const span_entry *x = &a->spans[a->n_spans - 1], *y = &b->spans[b->n_spans - 1];
    int c = name_compare_stamps(x->stamp, y->stamp);
    return c ? c > 0 : x->mtime_ns > y->mtime_ns;
}

static int compare_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* Those that may be ranks first, equal ranks together and the newest of them first. */
static int compare_claims(const void *pa, const void *pb) {
    const worker_entry *a = pa, *b = pb;
    if (may_be_rank(a) != may_be_rank(b)) return may_be_rank(a) ? -1 : 1;
    int c = compare_i64(a->rank, b->rank);
    if (c) return c;
    return is_newer(b, a) - is_newer(a, b);
}

/* How many may be ranks, and how many different ranks they have. Sorts them by rank. */
static uint32_t roles_own_count(run_entry *r, uint32_t *n_different) {
    uint32_t n = 0;
    int64_t last = INT64_MIN;
    *n_different = 0;
    qsort(r->workers, r->n_workers, sizeof *r->workers, compare_claims);
    for (; n < r->n_workers && may_be_rank(&r->workers[n]); n++) {
        *n_different += r->workers[n].rank != last;
        last = r->workers[n].rank;
    }
    return n;
}

/* Ranks the files tell; nothing is kept unless they tell at least two. */
static void ask_files(run_entry *r) {
    uint32_t n_different;
    for (uint32_t i = 0; i < r->n_workers; i++) {
        worker_entry *w = &r->workers[i];
        if (may_be_rank(w)) w->rank = sniff_rank(w->spans[w->n_spans - 1].path.p);
    }
    (void)roles_own_count(r, &n_different);
    for (uint32_t i = 0; i < r->n_workers && n_different < 2; i++)
        r->workers[i].rank = INT64_MIN;
}

static void take_numbers(run_entry *r) {
    for (uint32_t i = 0; i < r->n_workers; i++)
        if (may_be_rank(&r->workers[i]) && name_number(r->workers[i].name) == INT64_MIN) return;
    for (uint32_t i = 0; i < r->n_workers; i++)
        if (may_be_rank(&r->workers[i])) r->workers[i].rank = name_number(r->workers[i].name);
}

static int compare_names(const void *pa, const void *pb) {
    const worker_entry *a = pa, *b = pb;
    return name_compare(a->name, b->name);
}

static void take_hosts(run_entry *r) {
    for (uint32_t i = 0; i < r->n_workers; i++)
        if (may_be_rank(&r->workers[i]) && !r->workers[i].host) return;
    int64_t rank = 0;
    qsort(r->workers, r->n_workers, sizeof *r->workers, compare_names);
    for (uint32_t i = 0; i < r->n_workers; i++)
        if (may_be_rank(&r->workers[i])) r->workers[i].rank = rank++;
}

/* A file that was cut or overwritten tells nothing; it is one of them, so that it is missed. */
static bool is_damaged(const worker_entry *w) {
    return w->role == WORKER_TRACE && !w->memory &&
           !sniff_is_trace(w->spans[w->n_spans - 1].path.p);
}

/* A worker with a rank is one, the newest of equal ones; next to ranks nothing else is a trace
 * of the run itself. The workers are sorted by rank. */
static void mark_ranks(run_entry *r, bool told_by_files) {
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < r->n_workers && may_be_rank(&r->workers[i]); i++) {
        worker_entry *w = &r->workers[i];
        bool first = w->rank != last;
        last = w->rank;
        if (first || (told_by_files && w->rank == INT64_MIN && is_damaged(w)))
            w->role = WORKER_RANK;
    }
    for (uint32_t i = 0; i < r->n_workers; i++)
        if (r->workers[i].role == WORKER_TRACE) r->workers[i].role = WORKER_OTHER;
}

/* ---- order ------------------------------------------------------------------------------- */

static int group_of(const worker_entry *w) {
    if (w->role == WORKER_RANK) return 0;
    if (w->role == WORKER_TRACE) return w->memory ? 2 : 1; /* a timeline comes first */
    return 3;
}

static int64_t last_start(const worker_entry *w) {
    return w->spans[w->n_spans - 1].start_ns;
}

static int roles_compare_workers(const void *pa, const void *pb) {
    const worker_entry *a = pa, *b = pb;
    int c = group_of(a) - group_of(b);
    if (c) return c;
    bool unknown_a = a->rank == INT64_MIN, unknown_b = b->rank == INT64_MIN;
    if (a->role == WORKER_RANK && unknown_a != unknown_b) return unknown_a ? 1 : -1;
    if (a->role == WORKER_RANK && a->rank != b->rank) return compare_i64(a->rank, b->rank);
    /* Traces by themselves: the newest first, then those that tell no time. */
    if (a->role == WORKER_TRACE) c = compare_i64(last_start(b), last_start(a));
    return c ? c : name_compare(a->name, b->name);
}

void roles_count(run_entry *r) {
    r->n_ranks = r->n_traces = 0;
    for (uint32_t i = 0; i < r->n_workers; i++) {
        r->n_ranks += r->workers[i].role == WORKER_RANK;
        r->n_traces += group_of(&r->workers[i]) <= 1;
    }
}

void roles_settle(run_entry *r) {
    uint32_t n_different, n;
    bool told_by_files = false;
    take_names(r);
    n = roles_own_count(r, &n_different);
    if (!n) { /* only children, or only pictures of memory: then those are shown */
        for (uint32_t i = 0; i < r->n_workers; i++) r->workers[i].role = WORKER_TRACE;
        n = roles_own_count(r, &n_different);
    }
    if (!n_different && n > 1) {
        ask_files(r);
        (void)roles_own_count(r, &n_different);
        told_by_files = n_different > 0;
        if (!told_by_files) take_numbers(r);
        (void)roles_own_count(r, &n_different);
        if (!n_different) take_hosts(r);
        (void)roles_own_count(r, &n_different);
    }
    if (n_different) mark_ranks(r, told_by_files);
    qsort(r->workers, r->n_workers, sizeof *r->workers, roles_compare_workers);
    roles_count(r);
}

/* ---- for people -------------------------------------------------------------------------- */

static uint16_t words_of(const worker_entry *w) {
    switch (w->role) {
    case WORKER_RANK: return w->rank == INT64_MIN ? MSG_ROLE_RANK_UNNAMED : MSG_ROLE_RANK;
    case WORKER_LOADER: return MSG_ROLE_LOADER;
    case WORKER_CHILD: return MSG_ROLE_CHILD;
    case WORKER_LAUNCHER: return MSG_ROLE_LAUNCHER;
    case WORKER_OTHER: return MSG_ROLE_OTHER;
    default: return MSG_ROLE_TRACE;
    }
}

/* The owner as people call it: a rank by its number. */
static status name_owner(const worker_entry *w, arena *a, str *out, error *err) {
    int64_t rank = name_rank(w->owner);
    *out = w->owner;
    if (!w->owner.n || rank == INT64_MIN) return OK;
    *out = arena_printf(a, "rank %lld", (long long)rank);
    if (!out->p) FAIL_MEMORY(err);
    return OK;
}

/* All of them, by time. */
static status list_runs(const catalogue *c, arena *a, const run_line **out, error *err) {
    run_line *runs = ARENA_ARRAY(a, run_line, (size_t)c->n_runs + 1);
    if (!runs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->n_runs; i++) {
        const run_entry *r = &c->runs[i];
        runs[run_number(c, r) - 1] = (run_line){r->name, r->start_ns, r->n_ranks, r->n_workers};
    }
    *out = runs;
    return OK;
}

status run_list(const catalogue *c, const run_entry *r, arena *a, const run_listing **out,
                error *err) {
    run_listing *l = ARENA_ARRAY(a, run_listing, 1);
    listed_worker *v = ARENA_ARRAY(a, listed_worker, (size_t)r->n_workers + 1);
    if (!l || !v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->n_workers; i++) {
        const worker_entry *w = &r->workers[i];
        v[i] = (listed_worker){.name = w->name,
                               .role = role_word(w->role),
                               .words = words_of(w),
                               .rank = w->rank,
                               .n_spans = w->n_spans};
        TRY(name_owner(w, a, &v[i].owner, err));
    }
    *l = (run_listing){.workers = v,
                       .passed = c->passed,
                       .n_workers = r->n_workers,
                       .n_passed = c->n_passed,
                       .n_runs = c->n_runs};
    TRY(list_runs(c, a, &l->runs, err));
    *out = l;
    return OK;
}
