/* expected.c: asks the service as a page does that is about to be opened. */
#include "serve/expected.h"

#include "base/num.h"

/* The page of a folder of one run begins with the first worker and its last span. */
static bool is_first_seen(const snapshot *now, uint32_t entry, span_choice *out) {
    error err;
    return now->found.n_runs == 1 && span_choose(&now->found, &(choice){0}, out, &err) == OK &&
           snapshot_entry(now, out->span) == entry;
}

static void ask(service *s, str target) {
    request_ctx x;
    error err;
    bool waits = false;
    request_begin(&x, s);
    x.target = target;
    status st = request_ctx_parse(&x, &err);
    if (st == OK) st = request_open(&x, &waits, &err);
    if (st == OK && !waits) st = request_answer(&x, &err);
    (void)st; /* the actual request gets the error */
    request_end(&x);
}

void expected_answer(service *s, uint32_t entry, lang words) {
    snapshot *now = live_snapshot(s->live);
    span_choice first;
    buf target = {0};
    if (is_first_seen(now, entry, &first)) {
        buf_add_cstr(&target, "/api/v1/overview?");
        if (first.worker->rank != INT64_MIN)
            buf_printf(&target, "worker=%lld&", (long long)first.worker->rank);
        buf_printf(&target, "lang=%s&evidence=yes", lang_name(words));
        if (buf_ok(&target)) ask(s, buf_str(&target));
    }
    snapshot_release(now);
    buf_fini(&target);
}
