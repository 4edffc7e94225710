/* api_runs.c: ping, and the list of runs with the state of every file. */
#include "base/num.h"
#include "serve/facts.h"
#include "serve/json_put.h"

status route_ping(request_ctx *x, error *err) {
    buf *b = &x->reply.body;
    (void)err;
    buf_add_byte(b, '{');
    put_text(b, "tacho", STR(TACHO_VERSION));
    put_int(b, "api", 1);
    put_text(b, "instance", str_of(x->service->instance));
    buf_add_cstr(b, "}\n");
    return OK;
}

static double share_of(const span_progress *p, span_state s) {
    uint64_t done = atomic_load(&p->done_bytes), total = atomic_load(&p->total_bytes);
    if (s == SPAN_READY) return 1;
    if (s != SPAN_LOADING || total == 0) return 0;
    return done >= total ? 1 : (double)done / (double)total;
}

static void put_span(request_ctx *x, const span_entry *span) {
    buf *b = &x->reply.body;
    uint32_t entry = snapshot_entry(x->snapshot, span);
    const span_progress *p = live_progress(x->service->live, entry);
    span_state s = (span_state)atomic_load(&p->state);
    error why;
    put_comma(b);
    buf_add_byte(b, '{');
    put_int(b, "number", span->number);
    put_text_or_null(b, "stamp", span->stamp);
    put_int(b, "bytes", sat_i64(span->size_bytes));
    put_big(b, "date", span->mtime_ns);
    put_text(b, "state", str_of(span_state_name(s)));
    put_bool(b, "growing", atomic_load(&p->grows));
    put_real(b, "share", share_of(p, s));
    put_key(b, "error");
    if (live_error(x->service->live, entry, &why))
        failure_json(b, x->request.words, &why, failure_code(&why, true));
    else
        buf_add_cstr(b, "null");
    put_key(b, "facts");
    facts_put(x->service->facts, entry, b);
    buf_add_byte(b, '}');
}

/* How far it is while it is being recorded. */
static void put_recording(buf *b, const recording_state *now) {
    put_key(b, "recording");
    if (!now->n_processes) {
        buf_add_cstr(b, "null");
        return;
    }
    buf_add_byte(b, '{');
    put_int(b, "processes", now->n_processes);
    put_int(b, "steps", max_i64(now->n_steps, 0));
    buf_add_byte(b, '}');
}

static void put_run(request_ctx *x, const run_entry *run) {
    buf *b = &x->reply.body;
    put_comma(b);
    buf_add_byte(b, '{');
    put_text(b, "name", run->name);
    put_text(b, "path", run->path);
    put_key(b, "workers");
    buf_add_byte(b, '[');
    for (uint32_t w = 0; w < run->n_workers; w++) {
        const worker_entry *worker = &run->workers[w];
        put_comma(b);
        buf_add_byte(b, '{');
        put_text(b, "name", worker->name);
        put_key(b, "rank");
        if (worker->rank == INT64_MIN)
            buf_add_cstr(b, "null");
        else
            buf_add_i64(b, worker->rank);
        put_text(b, "role", str_of(role_word(worker->role)));
        put_text_or_null(b, "owner", worker->owner);
        put_key(b, "spans");
        buf_add_byte(b, '[');
        for (uint32_t i = 0; i < worker->n_spans; i++) put_span(x, &worker->spans[i]);
        buf_add_cstr(b, "]}");
    }
    buf_add_byte(b, ']');
    put_int(b, "ranks", run->n_ranks);
    put_recording(b, &run->recording);
    put_big(b, "date", run->newest_ns);
    buf_add_byte(b, '}');
}

static void put_refused(request_ctx *x) {
    buf *b = &x->reply.body;
    put_key(b, "refused");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < x->snapshot->n_refused; i++) {
        const refused_path *r = &x->snapshot->refused[i];
        buf why = {0};
        text_put(&why, x->request.words, r->message, arg_text("path", r->path));
        put_comma(b);
        buf_add_byte(b, '{');
        put_text(b, "path", r->path);
        put_text(b, "why", buf_str(&why));
        buf_add_byte(b, '}');
        buf_fini(&why);
    }
    buf_add_byte(b, ']');
}

/* Files of the folder that are not read, and why. */
static void put_passed(request_ctx *x) {
    buf *b = &x->reply.body;
    const catalogue *c = &x->snapshot->found;
    put_key(b, "passed");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < c->n_passed; i++) {
        const passed_file *p = &c->passed[i];
        buf why = {0};
        if (p->message != MSG_NONE)
            text_put(&why, x->request.words, p->message, arg_text("path", p->path));
        put_comma(b);
        buf_add_byte(b, '{');
        put_text(b, "path", p->path);
        put_text(b, "what", str_of(text_get(p->what, x->request.words)));
        put_text_or_null(b, "why", buf_str(&why));
        buf_add_byte(b, '}');
        buf_fini(&why);
    }
    buf_add_byte(b, ']');
}

/* How much a page may send; null when it may not. */
static void put_upload(request_ctx *x) {
    buf *b = &x->reply.body;
    uint64_t used, limit;
    put_key(b, "upload");
    if (!x->service->uploads) {
        buf_add_cstr(b, "null");
        return;
    }
    uploads_room(x->service->uploads, &used, &limit);
    buf_printf(b, "{\"used\":%llu,\"limit\":%llu}", (unsigned long long)used,
               (unsigned long long)limit);
}

static bool is_listed(const service *s, str run) {
    for (uint32_t i = 0; i < s->n_only; i++)
        if (str_eq(s->only[i], run)) return true;
    return !s->only;
}

status route_runs(request_ctx *x, error *err) {
    buf *b = &x->reply.body;
    live_totals sum = live_sum(x->service->live);
    (void)err;
    if (!x->snapshot) x->snapshot = live_snapshot(x->service->live);
    buf_add_byte(b, '{');
    put_int(b, "version", sat_i64(sum.version));
    put_text(b, "path", shown_path(x->snapshot->found.path));
    put_text_or_null(b, "source_root", x->service->source_root);
    put_key(b, "loading");
    buf_printf(b, "{\"done\":%llu,\"total\":%llu}", (unsigned long long)sum.done_bytes,
               (unsigned long long)sum.total_bytes);
    put_key(b, "summaries");
    buf_printf(b, "{\"done\":%u,\"total\":%u}", sum.n_summarised, sum.n_summaries);
    put_key(b, "memory");
    buf_printf(b, "{\"used\":%llu,\"limit\":%llu}", (unsigned long long)sum.used_bytes,
               (unsigned long long)sum.limit_bytes);
    put_upload(x);
    put_key(b, "runs");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < x->snapshot->found.n_runs; i++)
        if (is_listed(x->service, x->snapshot->found.runs[i].name))
            put_run(x, &x->snapshot->found.runs[i]);
    buf_add_byte(b, ']');
    put_refused(x);
    put_passed(x);
    buf_add_cstr(b, "}\n");
    return OK;
}
