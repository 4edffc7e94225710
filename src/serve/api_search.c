/* api_search.c: search and area: slices by name, over the whole trace or in a range. */
#include "analyse/kind_names.h"
#include "analyse/timeline/range_stats.h"
#include "analyse/timeline/search.h"
#include "base/num.h"
#include "serve/refs.h"

enum { DEFAULT_HITS = 50, MOST_HITS = 1000 };

static void put_name(const request_ctx *x, buf *b, const search_name *n) {
    put_comma(b);
    buf_add_byte(b, '{');
    put_text(b, "name", trace_str(x->traces[0].trace, n->string));
    put_text(b, "kind", kind_name(n->kind));
    put_int(b, "count", n->count);
    put_int(b, "total", n->total_ns);
    ref_put_key(x, b, "longest", n->longest);
    buf_add_byte(b, '}');
}

static void put_result(const request_ctx *x, buf *b, const search_result *r) {
    buf_add_byte(b, '{');
    put_text(b, "q", x->request.q);
    put_int(b, "total", sat_i64(r->total));
    put_int(b, "n_names", r->n_names);
    put_key(b, "names");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < r->n_listed; i++) put_name(x, b, &r->names[i]);
    buf_add_byte(b, ']');
    put_int(b, "index", sat_i64(r->before));
    put_key(b, "hits");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < r->n_hits; i++) ref_put(x, b, r->hits[i]);
    buf_add_byte(b, ']');
    put_key(b, "ticks");
    buf_add_byte(b, '[');
    for (int64_t i = 0; r->ticks && i < x->request.width; i++) {
        if (!r->ticks[i]) continue;
        put_comma(b);
        buf_add_i64(b, i);
    }
    buf_add_byte(b, ']');
    put_bool(b, "ticks_complete", true);
    buf_add_cstr(b, "}\n");
}

status route_search(request_ctx *x, error *err) {
    const request *r = &x->request;
    const trace *t = x->traces[0].trace;
    search_question q = {.limit = DEFAULT_HITS};
    search_result found;
    if (r->question.limit != ABSENT_I64)
        q.limit = (uint32_t)min_i64(r->question.limit, MOST_HITS);
    if (r->width > 0) q.width_px = (uint32_t)r->width;
    TRY(search_parse(r->q, &q.query, err));
    TRY(request_window(x, &q.from_ns, &q.to_ns, err));
    if (r->question.to == OPEN_END)
        q.to_ns = add_i64(q.to_ns, 1); /* what starts at the very end too */
    TRY(lanes_wanted(x, &q.lanes, err));
    q.backwards = r->before != ABSENT_I64;
    q.at_ns = q.from_ns;
    if (q.backwards) q.at_ns = offset_to_time(r->before, t->start_ns);
    if (r->after != ABSENT_I64) q.at_ns = offset_to_time(r->after, t->start_ns);
    TRY(search_make(request_lod(x), &q, &x->arena, &found, err));
    put_result(x, &x->reply.body, &found);
    return OK;
}

status route_area(request_ctx *x, error *err) {
    answer a;
    analysis_input in = {.traces = x->traces, .n_traces = 1};
    range_question q = {.lod = request_lod(x), .input = &in};
    TRY(request_window(x, &q.from_ns, &q.to_ns, err));
    TRY(lanes_wanted(x, &q.lanes, err));
    bool idle = str_eq(x->request.question.table, STR("idle"));
    TRY(idle ? range_idle(&q, &x->arena, &a, err) : range_stats_make(&q, &x->arena, &a, err));
    return request_present(x, &a, err);
}
