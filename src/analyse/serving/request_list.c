/* request_list.c: rows of table request, checked and sorted. A file may hold any times: one
 * whose end is before its arrival is left out. */
#include "analyse/serving/request_list.h"

#include <stdlib.h>

static int compare(const void *pa, const void *pb) {
    const served_request *a = pa, *b = pb;
    if (a->arrival != b->arrival) return a->arrival < b->arrival ? -1 : 1;
    return str_cmp(a->id, b->id);
}

static bool is_inside(const served_request *r, int64_t at) {
    return at != ABSENT_I64 && at >= r->arrival && at <= r->end;
}

static served_request of_row(const trace *t, uint32_t i) {
    served_request r = {.id = trace_str(t, t->request.id[i]),
                        .arrival = t->request.arrival[i],
                        .end = t->request.end[i],
                        .scheduled = t->request.scheduled[i],
                        .first_token = t->request.first_token[i],
                        .prompt_tokens = t->request.prompt_tokens[i],
                        .output_tokens = t->request.output_tokens[i]};
    int64_t cached = t->request.cached_tokens[i];
    if (!is_inside(&r, r.scheduled)) r.scheduled = ABSENT_I64;
    if (!is_inside(&r, r.first_token)) r.first_token = ABSENT_I64;
    if (r.prompt_tokens < 0) r.prompt_tokens = ABSENT_I64;
    if (r.output_tokens < 0) r.output_tokens = ABSENT_I64;
    /* At least one token of a prompt is computed, however much of it is known. */
    if (r.prompt_tokens != ABSENT_I64 && cached > 0)
        r.prompt_tokens = max_i64(1, sub_i64(r.prompt_tokens, cached));
    return r;
}

status request_list_make(const trace *t, arena *a, request_list *out, error *err) {
    TRY(trace_require(t, REQUEST_TABLES, err));
    *out = (request_list){.v = ARENA_ARRAY(a, served_request, (size_t)t->request.n + 1),
                          .last_end = INT64_MIN};
    if (!out->v) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->request.n; i++) {
        served_request r = of_row(t, i);
        if (r.arrival == ABSENT_I64 || r.end == ABSENT_I64 || r.end < r.arrival) continue;
        out->v[out->n++] = r;
        out->last_end = max_i64(out->last_end, r.end);
    }
    if (out->n) qsort(out->v, out->n, sizeof *out->v, compare);
    return OK;
}
