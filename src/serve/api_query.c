/* api_query.c: any question in SQL. What a request may take is less than on the command line: a
 * server has other readers. */
#include "base/message_ids_query.h"
#include "base/num.h"
#include "query/query.h"
#include "serve/service.h"

enum { MOST_ROWS = 10000 };
#define MOST_NS (INT64_C(10) * 1000000000)
#define MOST_BYTES ((uint64_t)256 << 20)

static bool is_left(const void *context) {
    return request_is_left(context);
}

static query_options limits_of(const request_ctx *x) {
    query_options o = {.params = x->request.question.params,
                       .words = x->request.words,
                       .limit_ns = MOST_NS,
                       .limit_bytes = MOST_BYTES,
                       .limit_rows = MOST_ROWS,
                       .is_left = is_left,
                       .context = x};
    o.params.pool = x->service->pool;
    if (x->service->memory_bytes && x->service->memory_bytes < MOST_BYTES)
        o.limit_bytes = x->service->memory_bytes;
    return o;
}

status route_query(request_ctx *x, error *err) {
    answer a;
    query *q;
    analysis_input in = {.traces = x->traces, .n_traces = 1};
    query_options o = limits_of(x);
    if (!x->request.sql.n) FAIL0(err, ERR_ARG, NOPOS, MSG_QUERY_EMPTY);
    TRY(query_open(&in, &o, &q, err));
    status s = query_ask(q, x->request.sql, &x->arena, &a, err);
    if (s == OK) s = request_present(x, &a, err);
    query_close(q);
    return s;
}
