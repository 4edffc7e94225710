/* open_summaries.c: the summaries of all workers of a run, from the cache or made now.
 *
 * Where there are more files than processors, each is read by one thread and several are read
 * side by side; a few large ones are read one after the other, each by all threads. Either way
 * the result is in the order of the workers.
 *
 * One worker's file that cannot be read must not hide the other thousand: it is named on
 * stderr, becomes a row `failure` of its summary, and the answer has a note. */
#include <pthread.h>

#include "analyse/run/reduce.h"
#include "cli/cli.h"
#include "cli/open_int.h"
#include "cli/progress.h"
#include "session/load.h"
#include "store/summary.h"

typedef struct {
    const options *o;
    opened_input *x;
    const run_plan *plan;
    trace **got;          /* by place */
    bool alone;           /* one file at a time, by all threads */
    pthread_mutex_t lock; /* guards what follows */
    progress progress;
    uint64_t done, n_failed, held_bytes;
    status fatal;
    error err; /* of the first failure */
} open_summaries_ctx;

static void release_trace(void *t) {
    trace_release(t);
}

/* A summary that says only that the file could not be read. */
static status placeholder(const span_choice *c, const error *failed, trace **out, error *err) {
    buf reason = {0};
    summary *s = summary_new();
    text_reason(&reason, LANG_EN, failed);
    status st = s ? summary_fail_file(s, shown_path(c->span->path), buf_str(&reason), err)
                  : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    buf_fini(&reason);
    if (st != OK) {
        summary_free(s);
        return st;
    }
    *out = trace_of_summary(s);
    if (!*out) FAIL_MEMORY(err);
    return OK;
}

static void keep_failure(open_summaries_ctx *q, status st, const error *failed) {
    pthread_mutex_lock(&q->lock);
    if (!q->n_failed++) error_copy(&q->err, failed);
    if (st == ERR_MEMORY || q->o->strict) q->fatal = st;
    if (q->fatal == OK) {
        progress_end(&q->progress);
        (void)cli_complain(q->o, failed);
    }
    pthread_mutex_unlock(&q->lock);
}

/* All summaries together stay below the limit, not only each of them. Under the lock. */
static status count_bytes(open_summaries_ctx *q, const trace *t) {
    uint64_t limit = options_memory_bytes(q->o);
    q->held_bytes += trace_size_bytes(t);
    if (!limit || q->held_bytes <= limit) return OK;
    arg most = arg_bytes("limit", sat_i64(limit));
    return error_set(&q->err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, 1, &most);
}

static bool has_ended(open_summaries_ctx *q) {
    pthread_mutex_lock(&q->lock);
    bool ended = q->fatal != OK;
    pthread_mutex_unlock(&q->lock);
    return ended;
}

static void load_one(void *context, size_t i, int thread) {
    open_summaries_ctx *q = context;
    const options *o = q->o;
    span_choice c = plan_worker(q->plan, (uint32_t)i);
    error failed = {0};
    loaded_trace l = {.trace = NULL};
    load_options how = {.pool = q->alone ? q->x->pool : NULL,
                        .threads = 1,
                        .no_cache = o->no_cache,
                        .strict = o->strict,
                        .process = c.span->process,
                        .named = open_is_named(o, c.span->path),
                        .memory_limit_bytes = options_memory_bytes(o),
                        .reduce = reduce_worker,
                        .who = {.worker = c.worker->name, .rank = c.worker->rank}};
    (void)thread;
    if (has_ended(q)) return;
    status st = trace_load(c.span->path.p, &how, &l, &failed);
    if (st != OK) {
        keep_failure(q, st, &failed);
        if (st != ERR_MEMORY) st = placeholder(&c, &failed, &l.trace, NULL);
    }
    q->got[i] = l.trace;
    pthread_mutex_lock(&q->lock);
    if (st == OK && l.trace && q->fatal == OK) st = count_bytes(q, l.trace);
    if (st != OK) q->fatal = st;
    q->done++;
    (void)progress_step(&q->progress, q->done, q->plan->n);
    pthread_mutex_unlock(&q->lock);
}

static status take_all(open_summaries_ctx *q, uint32_t n, error *err) {
    opened_input *x = q->x;
    status st = q->fatal;
    for (uint32_t i = 0; i < n; i++) {
        if (!q->got[i] || arena_on_reset(&x->arena, release_trace, q->got[i])) continue;
        q->got[i] = NULL; /* released already */
        st = ERR_MEMORY;
    }
    if (st == OK && q->n_failed == n) st = q->err.status;
    if (st != OK && err) error_copy(err, &q->err);
    TRY(st);
    for (uint32_t i = 0; i < n; i++) {
        span_choice c = plan_worker(q->plan, i);
        TRY(open_describe(x, &c, q->got[i], err));
    }
    return OK;
}

status open_summaries(const options *o, opened_input *x, const run_plan *plan, error *err) {
    uint32_t n = plan->n;
    open_summaries_ctx q = {.o = o, .x = x, .plan = plan};
    q.got = ARENA_ARRAY(&x->arena, trace *, n);
    if (!q.got) FAIL_MEMORY(err);
    q.alone = n < 2 * (uint32_t)pool_threads(x->pool);
    pthread_mutex_init(&q.lock, NULL);
    progress_begin(&q.progress, o, plan->run->path.p);
    if (q.alone)
        for (uint32_t i = 0; i < n; i++) load_one(&q, i, 0);
    else
        pool_for(x->pool, n, load_one, &q);
    progress_end(&q.progress);
    pthread_mutex_destroy(&q.lock);
    return take_all(&q, n, err);
}
