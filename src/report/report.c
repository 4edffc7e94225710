/* report.c: from the paths to the file: opens what is asked about, has everything answered, and
 * writes it.
 *
 * The answers are those of the server's routes: the service is asked as the server asks it, on
 * one thread, and nothing listens anywhere. */
#include "report/report_int.h"

#include <stdio.h>

#include "analyse/run/reduce.h"
#include "base/mem.h"
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "serve/facts.h"
#include "serve/run_cache.h"

#define REQUEST_BYTES ((size_t)2 << 30)
#define ANSWER_BYTES ((size_t)256 << 20)

/* About what answers take, measured (bench/report): those about any worker, each name of an
 * operator or kernel more, each event of a step (the path, the picture of a step); each slice
 * that can be selected. Answers cut to a step are smaller. */
enum {
    BYTES_PER_WORKER = 150000,
    BYTES_PER_NAME = 1500,
    BYTES_PER_EVENT = 100,
    MOST_EVENTS = 20000, /* of a step; tables are cut */
    BYTES_PER_SLICE = 205,
    PERCENT_OF_CUT = 70
};

/* ---- opening ----------------------------------------------------------------------------- */

static void hear(void *context, const live_event *e) {
    report *r = context;
    (void)e;
    pthread_mutex_lock(&r->lock);
    r->wakes++;
    pthread_cond_broadcast(&r->woken);
    pthread_mutex_unlock(&r->lock);
}

static status open_service(report *r, const char *path, error *err) {
    service *s = &r->service;
    int threads = r->o->threads > 0 ? r->o->threads : pool_cpus();
    *s = (service){.memory_bytes = REQUEST_BYTES, .answer_bytes = ANSWER_BYTES};
    s->facts = facts_new();
    s->run_cache = run_cache_new();
    s->pool = pool_new(threads);
    if (!s->facts || !s->run_cache || !s->pool) FAIL_MEMORY(err);
    live_options how = {.path = path,
                        .threads = r->o->threads,
                        .no_cache = r->o->no_cache,
                        .follow_links = r->o->follow_links || r->o->n_paths > 1,
                        .memory_limit_bytes = r->o->memory_limit_bytes,
                        .reduce = reduce_worker,
                        .event = hear,
                        .context = r};
    TRY(live_open(&how, &s->live, err));
    return live_start(s->live, err);
}

static void close_service(service *s) {
    live_close(s->live);
    facts_free(s->facts);
    run_cache_free(s->run_cache);
    if (s->pool) pool_free(s->pool);
}

static status take_run(report *r, const catalogue *found, const choice *wanted, error *err) {
    span_choice c;
    TRY(span_choose(found, wanted, &c, err));
    report_run *run = &r->runs[r->n_runs];
    *run = (report_run){.name = arena_str(&r->arena, c.run->name), .job = run_has_ranks(c.run)};
    uint32_t whole = run_whole(c.run), most = wanted->worker.n || !run->job ? 1 : whole;
    for (uint32_t i = 0; i < most && i < REPORT_MOST_WORKERS; i++) {
        str name = most == 1 ? c.worker->name : c.run->workers[i].name;
        run->workers[run->n_workers++] = arena_str(&r->arena, name);
    }
    r->names[r->n_runs++] = run->name;
    return OK;
}

static status take_runs(report *r, const str names[2], error *err) {
    snapshot *now = live_snapshot(r->service.live);
    status st = OK;
    if (now->found.n_runs == 0)
        st = error_set(err, ERR_NOT_FOUND, NOPOS, MSG_NO_TRACES_IN, 1,
                       (arg[]){arg_cstr("path", r->o->paths[0])});
    for (uint32_t i = 0; st == OK && i < r->o->n_paths; i++) {
        choice wanted = i ? (choice){.run = names[i]} : r->o->wanted;
        if (r->o->n_paths > 1) wanted.run = names[i];
        st = take_run(r, &now->found, &wanted, err);
    }
    snapshot_release(now);
    r->service.only = r->names;
    r->service.n_only = r->n_runs;
    return st;
}

/* ---- asking ------------------------------------------------------------------------------ */

static uint64_t count_wakes(report *r) {
    pthread_mutex_lock(&r->lock);
    uint64_t n = r->wakes;
    pthread_mutex_unlock(&r->lock);
    return n;
}

static void wait_for_news(report *r, uint64_t since) {
    pthread_mutex_lock(&r->lock);
    while (r->wakes == since) pthread_cond_wait(&r->woken, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

status report_open(report *r, str target, request_ctx *x, bool *answered, error *err) {
    error why = {.status = OK};
    bool waits = true;
    request_begin(x, &r->service);
    x->target = target;
    if (!target.p) FAIL_MEMORY(err);
    status st = request_ctx_parse(x, &why);
    while (st == OK && waits) {
        uint64_t since = count_wakes(r);
        st = request_open(x, &waits, &why);
        if (st == OK && waits) wait_for_news(r, since);
    }
    *answered = st != OK;
    if (st == OK) return OK;
    if (x->unusable || st == ERR_MEMORY || st == ERR_IO) {
        if (err) error_copy(err, &why);
        return st;
    }
    request_fail(x, &why);
    return OK;
}

status report_ask(report *r, str target, request_ctx *x, error *err) {
    error why = {.status = OK};
    bool answered;
    TRY(report_open(r, target, x, &answered, err));
    if (answered) return OK;
    status st = request_answer(x, &why);
    if (st == ERR_MEMORY) {
        if (err) error_copy(err, &why);
        return st;
    }
    if (st != OK) request_fail(x, &why);
    if (!buf_ok(&x->reply.body)) FAIL_MEMORY(err);
    return OK;
}

static void put_escaped(buf *out, str s) {
    for (size_t i = 0; i < s.n; i++) buf_printf(out, "%%%02X", (uint8_t)s.p[i]);
}

str report_escaped(report *r, str name) {
    buf b = {0};
    put_escaped(&b, name);
    str escaped = buf_ok(&b) ? arena_str(&r->arena, buf_str(&b)) : STR_NONE;
    buf_fini(&b);
    return escaped;
}

str report_target(report *r, asked_of about, str asked) {
    buf b = {0};
    buf_add_cstr(&b, "/api/v1/");
    buf_add_str(&b, asked);
    buf_add_byte(&b, str_find(asked, STR("?"), 0) == SIZE_MAX ? '?' : '&');
    buf_add_cstr(&b, "run=");
    put_escaped(&b, about.run);
    if (str_eq(about.worker, STR("*"))) {
        buf_add_cstr(&b, "&all-workers=1");
    } else {
        buf_add_cstr(&b, "&worker=");
        put_escaped(&b, about.worker);
        if (r->o->wanted.span.n && r->n_runs == 1) {
            buf_add_cstr(&b, "&span=");
            put_escaped(&b, r->o->wanted.span);
        }
    }
    str target = buf_ok(&b) ? arena_str(&r->arena, buf_str(&b)) : STR_NONE;
    buf_fini(&b);
    return target;
}

void report_tell(report *r) {
    r->done++;
    if (r->o->progress) r->o->progress(r->o->context, r->done, r->total);
}

static status keep_one(report *r, asked_of about, str key, str asked, const char *words,
                       error *err) {
    request_ctx x;
    buf full = {0}, name = {0};
    buf_add_str(&full, asked);
    if (words[0])
        buf_printf(&full, "%slang=%s", str_find(asked, STR("?"), 0) == SIZE_MAX ? "?" : "&",
                   words);
    buf_printf(&name, "%.*s\n%.*s\n%.*s\n%s", STR_ARG(about.run), STR_ARG(about.worker),
               STR_ARG(key), words);
    status st = buf_ok(&full) && buf_ok(&name) ? OK : ERR_MEMORY;
    str target = st == OK ? report_target(r, about, buf_str(&full)) : STR_NONE;
    st = report_ask(r, target, &x, err);
    if (st == OK)
        st = report_store_answer(&r->store, buf_str(&name), buf_str(&x.reply.body), err);
    request_end(&x);
    buf_fini(&full);
    buf_fini(&name);
    return st;
}

status report_keep(report *r, asked_of about, str key, str asked, bool words, error *err) {
    status st = OK;
    for (int l = 0; st == OK && l < (words ? N_LANGS : 1); l++)
        st = keep_one(r, about, key, asked, words ? lang_name((lang)l) : "", err);
    if (st == OK) report_tell(r);
    return st;
}

/* ---- together ---------------------------------------------------------------------------- */

static uint64_t estimate_answers(const report_extent *e) {
    uint64_t per_step = e->n_events / (e->n_steps ? e->n_steps : 1);
    uint64_t about_all = BYTES_PER_WORKER + e->n_names * BYTES_PER_NAME;
    uint64_t events = per_step < MOST_EVENTS ? per_step : MOST_EVENTS;
    return about_all + events * BYTES_PER_EVENT + e->n_slices * BYTES_PER_SLICE +
           e->n_cuts * about_all * PERCENT_OF_CUT / 100;
}

/* The pictures and what is asked of all ranks are made before, so that only the answers about
 * single workers are estimated. */
static status say_estimate(report *r, error *err) {
    uint64_t bytes = report_page_bytes(), n_slices = 0;
    for (uint32_t i = 0; i < r->n_runs; i++)
        for (uint32_t w = 0; w < r->runs[i].n_workers; w++) {
            asked_of about = {r->runs[i].name, r->runs[i].workers[w]};
            report_extent e;
            TRY(report_measure(r, about, &e, err));
            n_slices += e.n_slices;
            bytes += estimate_answers(&e);
        }
    if (!n_slices && r->no_steps.status != OK) {
        error_copy(err, &r->no_steps);
        return r->no_steps.status;
    }
    for (uint32_t i = 0; i < r->n_runs; i++) {
        for (uint32_t w = 0; w < r->runs[i].n_workers; w++)
            TRY(report_pictures(r, (asked_of){r->runs[i].name, r->runs[i].workers[w]}, err));
        TRY(report_rank_answers(r, &r->runs[i], err));
    }
    if (r->o->estimate) r->o->estimate(r->o->context, bytes + r->store.parts.n);
    return OK;
}

/* The list of runs is asked for last: then it has the facts of all traces that were read. */
static status keep_runs(report *r, error *err) {
    request_ctx x;
    status st = report_ask(r, STR("/api/v1/runs"), &x, err);
    if (st == OK)
        st = report_store_answer(&r->store, STR("\n\nruns\n"), buf_str(&x.reply.body), err);
    request_end(&x);
    report_tell(r);
    return st;
}

static status answer_all(report *r, error *err) {
    for (uint32_t i = 0; i < r->n_runs; i++) TRY(report_answers(r, &r->runs[i], err));
    return keep_runs(r, err);
}

static status write_report(report *r, const char *path, const str names[2], report_result *out,
                           bool *writing, error *err) {
    TRY(open_service(r, path, err));
    TRY(take_runs(r, names, err));
    r->total = 1;
    for (uint32_t i = 0; i < r->n_runs; i++) r->total += report_count(r, &r->runs[i]);
    TRY(say_estimate(r, err));
    TRY(answer_all(r, err));
    *writing = true;
    TRY(report_file(r, &out->bytes, err));
    out->n_answers = r->store.n_answers;
    out->n_slices = r->store.n_slices;
    return OK;
}

status report_write(const report_options *o, report_result *out, bool *writing, error *err) {
    report_folder f = {.folder = STR_NONE};
    report *r = mem_zalloc(sizeof *r);
    if (!r) FAIL_MEMORY(err);
    r->o = o;
    arena_init(&r->arena, 0);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->woken, NULL);
    *out = (report_result){0};
    *writing = false;
    status st = o->n_paths > 1 ? report_place(&r->arena, o, &f, err) : OK;
    if (st == OK)
        st = write_report(r, f.folder.p ? f.folder.p : o->paths[0], f.runs, out, writing, err);
    close_service(&r->service);
    report_place_gone(&f);
    report_store_fini(&r->store);
    pthread_cond_destroy(&r->woken);
    pthread_mutex_destroy(&r->lock);
    arena_fini(&r->arena);
    mem_free(r);
    return st;
}
