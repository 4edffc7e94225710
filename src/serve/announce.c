/* announce.c: writes the data of each event and publishes it. Names and members are those of
 * docs/SERVER.md. */
#include "serve/announce.h"

#include <stdio.h>

#include "base/num.h"
#include "serve/json_put.h"

/* Run, worker and span of a file, for the data of an event; false when it is not shown any
 * more. */
static bool put_place(const snapshot *s, uint32_t entry, buf *b) {
    for (uint32_t r = 0; r < s->found.n_runs; r++)
        for (uint32_t w = 0; w < s->found.runs[r].n_workers; w++) {
            const worker_entry *worker = &s->found.runs[r].workers[w];
            for (uint32_t i = 0; i < worker->n_spans; i++) {
                if (snapshot_entry(s, &worker->spans[i]) != entry) continue;
                put_text(b, "run", s->found.runs[r].name);
                put_text(b, "worker", worker->name);
                put_int(b, "span", worker->spans[i].number);
                return true;
            }
        }
    return false;
}

static void put_progress(service *s, uint32_t entry, buf *b) {
    const span_progress *p = live_progress(s->live, entry);
    uint64_t done = atomic_load(&p->done_bytes), total = atomic_load(&p->total_bytes);
    live_totals sum = live_sum(s->live);
    put_real(b, "share",
             total ? (double)min_i64((int64_t)done, (int64_t)total) / (double)total : 0);
    put_int(b, "done", sat_i64(sum.done_bytes));
    put_int(b, "total", sat_i64(sum.total_bytes));
}

static void announce_entry(service *s, const live_event *e) {
    static const char *const names[] = {
        [LIVE_PROGRESS] = "progress", [LIVE_READY] = "ready", [LIVE_FAILED] = "failed"};
    buf b = {0};
    error err;
    snapshot *now = live_snapshot(s->live);
    buf_add_byte(&b, '{');
    bool shown = put_place(now, e->entry, &b);
    if (e->what == LIVE_PROGRESS) put_progress(s, e->entry, &b);
    if (e->what == LIVE_READY) put_bool(&b, "renewed", e->renewed);
    if (e->what == LIVE_FAILED && live_error(s->live, e->entry, &err)) {
        put_key(&b, "error");
        failure_json(&b, LANG_EN, &err, failure_code(&err, true));
    }
    buf_add_byte(&b, '}');
    if (shown && buf_ok(&b)) event_bus_publish(s->event_bus, names[e->what], buf_str(&b));
    snapshot_release(now);
    buf_fini(&b);
}

void announce_runs(service *s) {
    char text[64];
    int n = snprintf(text, sizeof text, "{\"version\":%llu}",
                     (unsigned long long)live_sum(s->live).version);
    event_bus_publish(s->event_bus, "runs", str_n(text, (size_t)n));
}

static void announce_summaries(service *s) {
    char text[64];
    live_totals sum = live_sum(s->live);
    int n = snprintf(text, sizeof text, "{\"done\":%u,\"total\":%u}", sum.n_summarised,
                     sum.n_summaries);
    event_bus_publish(s->event_bus, "summaries", str_n(text, (size_t)n));
}

void announce(service *s, const live_event *e) {
    if (e->what == LIVE_CHANGED)
        announce_runs(s);
    else if (e->what == LIVE_SUMMARIES)
        announce_summaries(s);
    else
        announce_entry(s, e);
}
