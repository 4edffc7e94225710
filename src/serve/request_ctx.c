/* request_ctx.c: from a request to its reply, without HTTP.
 *
 * What a request needs is held first: the snapshot of the catalogue it was chosen from, the
 * traces and their indexes. Then it is answered from these, without locks, from an arena with a
 * limit. An answer that only depends on its traces and its request line carries a tag made of
 * both; a client that sends the tag back gets "not modified" without any computation.
 *
 * The question decides which traces: the chosen worker, or all ranks of the run, the first one
 * first, as on the command line: when no worker is named and the analysis can, or with
 * all-workers. Then summaries are held where they are enough, and joined once for all questions
 * (run_cache.h); a file that cannot be read is left out and named. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analyse/ask.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/message_ids_advice.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "base/stop.h"
#include "present/present.h"
#include "serve/answer_cache.h"
#include "serve/compared.h"
#include "serve/facts.h"
#include "serve/json_put.h"
#include "serve/run_cache.h"
#include "serve/service.h"
#include "session/loaders.h"
#include "table/arrange.h"

#define LEFT_AFTER_NS INT64_C(250000000)

void request_begin(request_ctx *x, service *s) {
    *x = (request_ctx){.service = s, .client_fd = -1, .asked_ns = clock_ns(CLOCK_MONOTONIC)};
    x->reply.fd = -1;
    x->request.route = ROUTE_FILE;
    arena_init(&x->arena, s->memory_bytes);
}

bool request_is_left(const request_ctx *x) {
    char byte;
    if (x->client_fd < 0 || sub_i64(clock_ns(CLOCK_MONOTONIC), x->asked_ns) < LEFT_AFTER_NS)
        return false;
    ssize_t n = recv(x->client_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void request_end(request_ctx *x) {
    for (uint32_t i = 0; i < x->n_held; i++) held_release(x->held[i]);
    upload_drop(&x->upload);
    trace_release(x->run_cache);
    snapshot_release(x->snapshot);
    buf_fini(&x->reply.body);
    if (x->reply.fd >= 0) close(x->reply.fd);
    if (x->reply.exports) {
        atomic_fetch_sub(&x->service->n_exports, 1);
        atomic_fetch_sub(&x->service->export_bytes, x->reply.fd_bytes);
    }
    arena_fini(&x->arena);
}

status request_ctx_parse(request_ctx *x, error *err) {
    return request_parse(&x->arena, x->target, &x->request, err);
}

/* ---- holding ----------------------------------------------------------------------------- */

static run_plan plan_of(const request *r, const span_choice *c) {
    plan_question q = {.analysis = r->analysis, .question = &r->question};
    return plan_run(&q, c);
}

/* Processes of the data loaders of all traces, where the question follows batches into them. */
static status find_loaders(request_ctx *x, error *err) {
    const run_entry *run = x->chosen.run;
    if (x->summaries || x->compared.n || !analysis_has(x->request.analysis, JOINS_LOADERS))
        return OK;
    x->loaders = ARENA_ARRAY(&x->arena, held_loader, (size_t)run->n_workers + 1);
    if (!x->loaders) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < x->n_traces; i++) {
        span_choice owner = plan_worker(&x->plan, i);
        for (const worker_entry *w = NULL; (w = loader_after(run, owner.worker, w)) != NULL;)
            x->loaders[x->n_loaders++] = (held_loader){plan_loader(&owner, w), i};
    }
    return OK;
}

static status find_trace(request_ctx *x, error *err) {
    const request *r = &x->request;
    if (str_eq(r->question.worker, STR("*")) && r->analysis &&
        r->analysis->workers == WORKERS_ALL)
        x->request.question.worker = STR_NONE; /* in words: all ranks */
    choice wanted = {
        .run = r->question.run, .worker = r->question.worker, .span = r->question.span};
    if (x->snapshot->found.n_runs == 0)
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_NO_TRACES_IN,
             arg_text("path", shown_path(x->snapshot->found.path)));
    if (r->question.all_workers && !(r->analysis && r->analysis->workers))
        FAIL(err, ERR_ARG, NOPOS, MSG_HTTP_NOT_ALL_WORKERS,
             arg_cstr("route", r->analysis ? r->analysis->name : route_name(r->route)));
    TRY(span_choose(&x->snapshot->found, &wanted, &x->chosen, err));
    x->plan = plan_of(r, &x->chosen);
    x->chosen = x->plan.first;
    x->n_traces = x->plan.n;
    TRY(compared_find(x, err));
    for (uint32_t i = 1; i < x->compared.n; i++) x->n_traces += x->compared.runs[i].n;
    x->summaries = x->plan.summaries && !x->compared.n;
    TRY(find_loaders(x, err));
    x->held = ARENA_ARRAY(&x->arena, held_trace *, (size_t)x->n_traces + x->n_loaders);
    x->traces = ARENA_ARRAY(&x->arena, analysis_trace, x->n_traces);
    if (!x->held || !x->traces) FAIL_MEMORY(err);
    return OK;
}

/* The i-th trace of the question; after those the processes of data loaders. */
static span_choice nth_worker(const request_ctx *x, uint32_t i) {
    uint32_t run = 0;
    if (i >= x->n_traces) return x->loaders[i - x->n_traces].chosen;
    if (!x->compared.n) return plan_worker(&x->plan, i);
    while (run + 1 < x->compared.n && i >= x->compared.runs[run].n)
        i -= x->compared.runs[run++].n;
    return plan_worker(&x->compared.runs[run], i);
}

/* All summaries that are there are held, and all others asked for at once. */
static status hold_summaries(request_ctx *x, bool *waits, error *err) {
    uint32_t n_there = 0;
    bool all = true;
    for (uint32_t i = x->n_held; i < x->n_traces; i++) {
        span_choice c = nth_worker(x, i);
        held_trace *h;
        span_state s =
            live_hold_summary(x->service->live, snapshot_entry(x->snapshot, c.span), &h, err);
        all &= h || s == SPAN_FAILED;
        if (all)
            x->held[x->n_held++] = h;
        else
            held_release(h);
    }
    for (uint32_t i = 0; i < x->n_held; i++) n_there += x->held[i] != NULL;
    *waits = !all;
    if (*waits || n_there) return OK;
    x->unusable = true;
    return err && err->status != OK ? err->status : ERR_FORMAT;
}

static uint64_t key_of(const request_ctx *x) {
    const params *p = &x->request.question.params;
    int64_t cut[] = {p->from_ns, p->to_ns, p->first_step, p->last_step};
    uint64_t parts[2] = {hash_bytes64(cut, sizeof cut), 0};
    for (uint32_t i = 0; i < x->n_held; i++) {
        parts[1] = x->held[i] ? x->held[i]->generation : 0;
        parts[0] = hash_bytes64(parts, sizeof parts);
    }
    return parts[0];
}

/* Files that could not be read, as rows of a summary. */
static status list_failures(request_ctx *x, summary *to, error *err) {
    for (uint32_t i = 0; i < x->n_held; i++) {
        span_choice c = nth_worker(x, i);
        error why = {.status = OK};
        held_trace *h;
        buf reason = {0};
        if (x->held[i]) continue;
        (void)live_hold_summary(x->service->live, snapshot_entry(x->snapshot, c.span), &h,
                                &why);
        held_release(h);
        if (why.status != OK) text_reason(&reason, LANG_EN, &why);
        status st = summary_fail_file(to, shown_path(c.span->path), buf_str(&reason), err);
        buf_fini(&reason);
        TRY(st);
    }
    return OK;
}

static status join_held(request_ctx *x, const summary *failures, error *err) {
    uint32_t n = 0;
    run_question q = {.key = key_of(x),
                      .params = &x->request.question.params,
                      .limit_bytes = x->service->memory_bytes,
                      .failures = failures,
                      .in = {.traces = x->traces}};
    for (uint32_t i = 0; i < x->n_held; i++) {
        span_choice c = nth_worker(x, i);
        if (x->held[i])
            TRY(chosen_describe(&c, x->held[i]->trace, &x->arena, &x->traces[n++], err));
    }
    q.in.n_traces = n;
    TRY(run_cache_get(x->service->run_cache, &q, &x->run_cache, err));
    x->traces[0].trace = x->run_cache;
    x->n_traces = 1;
    return OK;
}

static status join_summaries(request_ctx *x, error *err) {
    summary *failures = summary_new();
    if (!failures) FAIL_MEMORY(err);
    status st = list_failures(x, failures, err);
    if (st == OK) st = join_held(x, failures, err);
    summary_free(failures);
    return st;
}

static void release_joined(void *t) {
    trace_release(t);
}

/* The trace of one worker with those of its data loader. */
static status join_loaders_of(request_ctx *x, uint32_t of, loader_trace *room, error *err) {
    analysis_trace *to = &x->traces[of];
    trace *joined;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_loaders; i++) {
        const held_trace *h = x->held[x->n_traces + i];
        if (x->loaders[i].of != of) continue;
        room[n++] = (loader_trace){h ? h->trace : NULL, x->loaders[i].chosen.worker->name};
    }
    TRY(loaders_join(to->trace, to->worker, room, n, &joined, err));
    if (!joined) return OK;
    if (!arena_on_reset(&x->arena, release_joined, joined)) {
        trace_release(joined);
        FAIL_MEMORY(err);
    }
    to->own_slices = to->trace->slice.n;
    to->trace = joined;
    return OK;
}

static status join_loaders(request_ctx *x, error *err) {
    loader_trace *room = ARENA_ARRAY(&x->arena, loader_trace, (size_t)x->n_loaders);
    if (!room) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < x->n_traces; i++) TRY(join_loaders_of(x, i, room, err));
    return OK;
}

status request_open(request_ctx *x, bool *waits, error *err) {
    *waits = false;
    if (x->request.work != WORK_TRACE) return OK;
    if (!x->snapshot) {
        x->snapshot = live_snapshot(x->service->live);
        TRY(find_trace(x, err));
    }
    if (x->summaries) return hold_summaries(x, waits, err);
    while (x->n_held < x->n_traces + x->n_loaders) {
        span_choice c = nth_worker(x, x->n_held);
        bool loader = x->n_held >= x->n_traces;
        held_trace *h;
        uint32_t entry = snapshot_entry(x->snapshot, c.span);
        span_state s = live_hold(x->service->live, entry, &h, loader ? NULL : err);
        if (s == SPAN_FAILED && !loader) {
            x->unusable = true;
            return err && err->status != OK ? err->status : ERR_FORMAT;
        }
        if (!h && s != SPAN_FAILED) {
            *waits = true;
            return OK;
        }
        x->held[x->n_held++] = h;
        if (!loader)
            TRY(chosen_describe(&c, h->trace, &x->arena, &x->traces[x->n_held - 1], err));
    }
    return x->n_loaders ? join_loaders(x, err) : OK;
}

void request_loading(request_ctx *x) {
    span_choice c = nth_worker(x, x->n_held);
    const span_progress *p =
        live_progress(x->service->live, snapshot_entry(x->snapshot, c.span));
    uint64_t done = atomic_load(&p->done_bytes), total = atomic_load(&p->total_bytes);
    buf *b = &x->reply.body;
    if (x->summaries) {
        live_totals sum = live_sum(x->service->live);
        done = sum.n_summarised;
        total = sum.n_summaries;
    }
    buf_add_cstr(b, "{\"loading\":{");
    put_text(b, "run", c.run->name);
    put_text(b, "worker", c.worker->name);
    put_int(b, "span", c.span->number);
    put_real(b, "share", total ? (double)done / (double)total : 0);
    if (x->summaries) put_int(b, "summaries", sat_i64(total));
    buf_add_cstr(b, "}}\n");
    x->reply.code = 202;
    x->reply.media = "application/json";
}

/* ---- answering --------------------------------------------------------------------------- */

typedef status (*route_fn)(request_ctx *x, error *err);

static const route_fn ROUTE_FUNCTIONS[N_ROUTES] = {
#define ROUTE(name, work, groups, help) route_##name,
#include "serve/routes.def"
};

/* Pictures come in order of their numbers; a source file may change on the disk. */
static bool has_tag(const request *q) {
    return q->work == WORK_TRACE && q->route != NUMBER_viewport && q->route != NUMBER_source;
}

/* A tag of the instance, the traces and the request line. */
static void make_tag(request_ctx *x) {
    uint64_t h = hash_bytes64(x->service->instance, sizeof x->service->instance);
    uint64_t parts[3] = {h, hash_bytes64(x->target.p, x->target.n), 0};
    for (uint32_t i = 0; i < x->n_held; i++) {
        parts[2] = x->held[i] ? x->held[i]->generation : 0;
        parts[0] = hash_bytes64(parts, sizeof parts);
    }
    snprintf(x->reply.etag, sizeof x->reply.etag, "\"%016llx\"",
             (unsigned long long)hash_bytes64(parts, sizeof parts));
}

/* ---- answers that are kept --------------------------------------------------------------- */

/* Who is asked what, whether or not the request named the only run and its first worker. */
static void put_question(const request_ctx *x, buf *out) {
    static const str chosen[] = {STR("run="), STR("worker="), STR("span="), STR("wait=")};
    size_t mark = str_find(x->target, STR("?"), 0);
    str rest = mark == SIZE_MAX ? STR_NONE : str_from(x->target, mark + 1);
    buf_add_cstr(out, x->request.analysis->name);
    put_text(out, "run", x->chosen.run->name);
    put_text(out, "worker", x->chosen.worker->name);
    put_int(out, "span", x->chosen.span->number);
    while (rest.n) {
        size_t end = str_find(rest, STR("&"), 0);
        str piece = str_n(rest.p, end == SIZE_MAX ? rest.n : end);
        bool is_choice = false;
        for (size_t i = 0; i < N_OF(chosen); i++) is_choice |= str_starts(piece, chosen[i]);
        if (!is_choice) buf_printf(out, "&%.*s", (int)piece.n, piece.p);
        rest = str_from(rest, end == SIZE_MAX ? rest.n : end + 1);
    }
}

static status answer_and_keep(request_ctx *x, str asked, error *err) {
    answer_cache *kept = x->service->answers;
    uint64_t generation = x->held[0]->generation;
    form f = FORM_JSON;
    if (x->request.format.n) (void)form_of(x->request.format, &f);
    x->reply.media = form_media_type(f);
    if (answer_cache_find(kept, asked, generation, &x->reply.body)) return OK;
    status st = route_analysis(x, err);
    answer_cache_keep(kept, asked, generation, st == OK ? buf_str(&x->reply.body) : STR_NONE);
    return st;
}

static status answer_analysis(request_ctx *x, error *err) {
    buf asked = {0};
    if (!x->service->answers || x->n_held != 1 || x->summaries || x->compared.n)
        return route_analysis(x, err);
    put_question(x, &asked);
    status st =
        buf_ok(&asked) ? answer_and_keep(x, buf_str(&asked), err) : route_analysis(x, err);
    buf_fini(&asked);
    return st;
}

status request_answer(request_ctx *x, error *err) {
    reply *r = &x->reply;
    const request *q = &x->request;
    r->code = 200;
    r->media = "application/json";
    if (has_tag(q)) {
        make_tag(x);
        if (x->if_none_match.n && str_find(x->if_none_match, str_of(r->etag), 0) != SIZE_MAX) {
            r->code = 304;
            return OK;
        }
    }
    TRY(q->route == ROUTE_ANALYSIS ? answer_analysis(x, err)
                                   : ROUTE_FUNCTIONS[q->route](x, err));
    if (!buf_ok(&r->body)) FAIL_MEMORY(err);
    return OK;
}

status request_window(const request_ctx *x, int64_t *from_ns, int64_t *to_ns, error *err) {
    const trace *t = x->traces[0].trace;
    const request *r = &x->request;
    time_window asked = window_at((time_window){r->question.from, r->question.to}, t->start_ns);
    time_window w = window_closed(asked, (time_window){t->start_ns, t->end_ns});
    if (asked.to_ns == OPEN_END && w.to_ns <= w.from_ns)
        w.to_ns = add_i64(w.from_ns, 1); /* an empty trace */
    if (w.from_ns >= w.to_ns || w.from_ns >= INT64_MAX / 2)
        FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_EMPTY_WINDOW);
    *from_ns = w.from_ns;
    *to_ns = w.to_ns;
    return OK;
}

/* ---- answers with tables ----------------------------------------------------------------- */

typedef struct {
    buf *body;
    size_t limit;
} sink;

/* Takes what was written so far, up to the limit. */
static status take_bytes(void *to, buf *b, error *err) {
    sink *s = to;
    if (s->body->n + b->n > s->limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_HTTP_TOO_LARGE, arg_bytes("limit", (int64_t)s->limit));
    buf_add_str(s->body, buf_str(b));
    buf_clear(b);
    return OK;
}

status request_present(request_ctx *x, answer *a, error *err) {
    const request *r = &x->request;
    form f = FORM_JSON;
    arrangement how = question_arrangement(&r->question);
    if (r->format.n) (void)form_of(r->format, &f);
    TRY(present_resolve(a, r->words, err));
    TRY(arrange_answer(a, &how, err));
    sink s = {.body = &x->reply.body, .limit = x->service->answer_bytes};
    present_options o = {.lang = r->words, .width = 120, .flush = take_bytes, .to = &s};
    buf piece = {0};
    status st = present_answer(f, a, &o, &piece, err);
    buf_fini(&piece);
    x->reply.media = form_media_type(f);
    return st;
}

/* An overview of one whole trace: the list of runs shows a few numbers of it. */
static bool gives_facts(const request_ctx *x) {
    const params whole = PARAMS_WHOLE, *p = &x->request.question.params;
    bool plain = x->request.analysis->run == analyse_overview && p->tables.n == 0;
    for (uint32_t i = 0; i < p->n_extra; i++)
        plain &= str_eq(p->extra[i].name, STR("evidence"));
    return plain && x->service->facts && x->n_held == 1 && !x->summaries && !x->compared.n &&
           x->chosen.span && p->from_ns == whole.from_ns && p->to_ns == whole.to_ns &&
           p->first_step == whole.first_step && p->last_step == whole.last_step;
}

static bool is_left(const void *context) {
    return request_is_left(context);
}

/* Until the reader has left: the analysis then ends at the next block of its arena. */
static status ask_while_waited_for(request_ctx *x, const analysis_input *in, const params *p,
                                   answer *a, error *err) {
    stop_begin(&x->arena, is_left, x);
    status st = analysis_ask(x->request.analysis, in, p, &x->arena, a, err);
    if (stop_end() && st != OK) FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    return st;
}

status route_analysis(request_ctx *x, error *err) {
    answer a;
    params p = x->request.question.params;
    analysis_input in;
    if (x->summaries) TRY(join_summaries(x, err));
    in = (analysis_input){.traces = x->traces, .n_traces = x->n_traces};
    if (x->compared.n) TRY(compared_input(x, &in, err));
    p.pool = x->service->pool;
    TRY(ask_while_waited_for(x, &in, &p, &a, err));
    if (gives_facts(x))
        facts_take(x->service->facts, snapshot_entry(x->snapshot, x->chosen.span), x->held[0],
                   &a);
    return request_present(x, &a, err);
}
