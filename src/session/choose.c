/* choose.c: one span out of a catalogue, by what the user asked for.
 *
 * Without a wish: the newest run, its first worker, that worker's last span. A wish that fits
 * nothing is an error that names the nearest one or a few that exist. A number for --span
 * counts from 1; the producer's own stamp is understood too. */
#include <stdio.h>

#include "session/discover.h"

#include "base/nearest.h"
#include "io/remote.h"
#include "store/traits.h"

static str choose_last_part(str name) {
    size_t slash = str_rfind_byte(name, '/');
    return slash == SIZE_MAX ? name : str_from(name, slash + 1);
}

bool run_is_newer(const run_entry *a, const run_entry *b) {
    return a->newest_ns != b->newest_ns ? a->newest_ns > b->newest_ns : a > b;
}

uint32_t run_number(const catalogue *c, const run_entry *r) {
    uint32_t n = 1;
    for (uint32_t i = 0; i < c->n_runs; i++) n += run_is_newer(r, &c->runs[i]);
    return n;
}

static bool is_in_folder(const run_entry *r, str folder) {
    return r->name.n > folder.n && str_starts(r->name, folder) && r->name.p[folder.n] == '/';
}

static const run_entry *find_newest(const catalogue *c, str folder) {
    const run_entry *newest = NULL;
    for (uint32_t i = 0; i < c->n_runs; i++)
        if ((!folder.n || is_in_folder(&c->runs[i], folder)) &&
            (!newest || run_is_newer(&c->runs[i], newest)))
            newest = &c->runs[i];
    return newest;
}

/* By its last part when only one run ends so. */
static const run_entry *find_by_last_part(const catalogue *c, str name) {
    const run_entry *found = NULL;
    for (uint32_t i = 0; i < c->n_runs; i++) {
        if (!str_eq(choose_last_part(c->runs[i].name), name)) continue;
        if (found) return NULL;
        found = &c->runs[i];
    }
    return found;
}

static const run_entry *find_by_number(const catalogue *c, str text) {
    int64_t number;
    if (!str_to_i64(text, &number) || number < 1 || number > c->n_runs) return NULL;
    for (uint32_t i = 0; i < c->n_runs; i++)
        if (run_number(c, &c->runs[i]) == number) return &c->runs[i];
    return NULL;
}

static const run_entry *choose_find_run(const catalogue *c, str name) {
    for (uint32_t i = 0; i < c->n_runs; i++)
        if (str_eq(c->runs[i].name, name)) return &c->runs[i];
    const run_entry *r = find_by_last_part(c, name);
    if (!r) r = find_newest(c, name);
    return r ? r : find_by_number(c, name);
}

static status fail_no_run(const catalogue *c, str name, error *err) {
    name_hint hint = hint_for(name);
    for (uint32_t i = 0; i < c->n_runs; i++) {
        hint_offer(&hint, c->runs[i].name);
        hint_consider(&hint, choose_last_part(c->runs[i].name));
    }
    FAIL(err, ERR_ARG, NOPOS, MSG_NO_SUCH_RUN, arg_text("name", name),
         arg_text("path", c->path), HINT_ARGS(&hint));
}

static status choose_run(const catalogue *c, str name, const run_entry **out, error *err) {
    const run_entry *r = name.n ? choose_find_run(c, name) : find_newest(c, STR_NONE);
    if (r) {
        *out = r;
        return OK;
    }
    return fail_no_run(c, name, err);
}

static status choose_worker(const run_entry *r, str name, const worker_entry **out,
                            error *err) {
    int64_t rank;
    bool number = str_to_i64(name, &rank) && rank >= 0;
    const worker_entry *w = name.n ? NULL : r->workers;
    for (uint32_t i = 0; i < r->n_workers && !w; i++)
        if (str_eq(r->workers[i].name, name)) w = &r->workers[i];
    for (uint32_t i = 0; i < r->n_workers && !w && number; i++)
        if (r->workers[i].rank == rank) w = &r->workers[i];
    if (w) {
        *out = w;
        return OK;
    }
    name_hint hint = hint_for(name);
    for (uint32_t i = 0; i < r->n_workers; i++) hint_offer(&hint, r->workers[i].name);
    FAIL(err, ERR_ARG, NOPOS, MSG_NO_SUCH_WORKER, arg_text("name", name),
         arg_text("run", r->name), HINT_ARGS(&hint));
}

static status choose_span(const worker_entry *w, str name, const span_entry **out, error *err) {
    int64_t number;
    const span_entry *s = name.n ? NULL : &w->spans[w->n_spans - 1];
    if (!s && str_to_i64(name, &number) && number >= 1 && number <= w->n_spans)
        s = &w->spans[number - 1];
    for (uint32_t i = 0; i < w->n_spans && !s; i++)
        if (str_eq(w->spans[i].own, name) || str_eq(w->spans[i].stamp, name)) s = &w->spans[i];
    if (s) {
        *out = s;
        return OK;
    }
    name_hint hint = hint_for(STR_NONE); /* numbers are not mistyped, they are wrong */
    for (uint32_t i = 0; i < w->n_spans; i++) {
        char text[96];
        const span_entry *e = &w->spans[i];
        str own = e->own.n ? e->own : e->stamp;
        int n = snprintf(text, sizeof text, own.n ? "%u (%.64s)" : "%u", e->number, own.p);
        hint_offer(&hint, str_n(text, (size_t)n));
    }
    FAIL(err, ERR_ARG, NOPOS, MSG_NO_SUCH_SPAN, arg_text("name", name),
         arg_text("worker", w->name), HINT_ARGS(&hint));
}

status span_choose(const catalogue *c, const choice *wanted, span_choice *out, error *err) {
    span_choice ch = {0};
    TRY(choose_run(c, wanted->run, &ch.run, err));
    TRY(choose_worker(ch.run, wanted->worker, &ch.worker, err));
    TRY(choose_span(ch.worker, wanted->span, &ch.span, err));
    *out = ch;
    return OK;
}

status chosen_describe(const span_choice *c, const trace *t, arena *a, trace_source *out,
                       error *err) {
    str number = arena_printf(a, "%u", c->span->number);
    /* A data loader's process is not one of the ranks. */
    bool counts = c->worker->role == WORKER_RANK || c->worker->role == WORKER_TRACE;
    if (!number.p) FAIL_MEMORY(err);
    *out = (trace_source){
        .trace = t,
        .worker = c->worker->name,
        .rank = c->worker->rank != ABSENT_I64 ? c->worker->rank : trace_rank(t),
        .path = shown_path(c->span->path),
        .run = c->run->name,
        .span = number,
        .run_workers = counts && run_whole(c->run) ? run_whole(c->run) : 1,
        .run_ranks = counts ? c->run->n_ranks : 0,
    };
    return OK;
}

const span_entry *worker_span(const worker_entry *w, uint32_t number) {
    return &w->spans[number >= 1 && number <= w->n_spans ? number - 1 : w->n_spans - 1];
}

str shown_path(str path) {
    return path.n && remote_is_url(path.p) ? remote_shown(path) : path;
}
